"""What stays unchanged under the motion that is looked for: it decides which associations agree.

An invariant compares two landmarks of one set with the two that they are associated with. Each class here says in its
fields how much may differ, and takes its landmarks as its docstring says. :class:`Custom` takes any function; a class
of your own needs the two methods of :class:`Invariant`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
import numpy.typing as npt

from .errors import LandmarkError, OptionError
from .poses import adjoint, as_poses, inverse, logarithm, rotation_angles
from .validation import as_array, as_number, as_points, as_unit_vectors

__all__ = [
    "Custom",
    "Distance",
    "DistanceAndNormals",
    "Invariant",
    "Landmarks",
    "Lines",
    "LinesAndPlanes",
    "Pairs",
    "Planes",
    "RelativePoses",
]

Indices: TypeAlias = npt.NDArray[np.int64]
Vector: TypeAlias = npt.NDArray[np.float64]

POINT, LINE, PLANE = 0, 1, 2


@runtime_checkable
class Invariant(Protocol):
    """What :func:`clipperplus.consistency_graph` asks of an invariant. Any class with these two methods is one."""

    def landmarks(self, name: str, given: Any) -> Any:
        """Check one set of landmarks, called ``name`` in errors; return it in a form that has a length."""
        ...

    def residuals(self, source: Any, target: Any, first: Pairs, second: Pairs, epsilon: Vector) -> Vector:
        """Return how much pairs of associations disagree; they are consistent where this is below 1.

        ``first`` and ``second`` are the two associations of every pair, as numbers of their source and target
        landmarks; ``epsilon`` is the length by which distances may differ, for every pair.
        """
        ...


@dataclass(frozen=True, eq=False)
class Pairs:
    """One association of each of many pairs."""

    source: Indices
    """Its landmark in the first set, by number …"""
    target: Indices
    """… and in the second one."""
    association: Indices
    """Its own number."""


@dataclass(frozen=True, eq=False)
class Landmarks:
    """Points, lines and planes of one set. Numbers count through them in this order."""

    points: npt.ArrayLike = ()
    """``(k, 3)`` coordinates."""
    lines: tuple[npt.ArrayLike, npt.ArrayLike] = ((), ())
    """``(k, 3)`` points on the lines, and their ``(k, 3)`` directions; the sign of a direction means nothing."""
    planes: tuple[npt.ArrayLike, npt.ArrayLike] = ((), ())
    """``(k, 3)`` points on the planes, and their ``(k, 3)`` normals; the sign of a normal means nothing."""


@dataclass(frozen=True, eq=False)
class _Flats:
    """Points, lines and planes as arrays of equal length."""

    kind: npt.NDArray[np.int64]
    position: Vector
    direction: Vector
    """Unit vectors: along a line, across a plane; zero for a point."""

    def __len__(self) -> int:
        return len(self.kind)


@dataclass(frozen=True)
class Distance:
    """Two points keep their distance: ``| ‖a_i - a_j‖ - ‖b_i - b_j‖ | < epsilon``. The paper's invariant.

    Landmarks are ``(n, 3)`` or ``(n, 2)`` coordinates, or anything with such ``.points``.
    """

    def landmarks(self, name: str, given: Any) -> Vector:
        """Check the points."""
        return as_points(name, given)

    def residuals(self, source: Vector, target: Vector, first: Pairs, second: Pairs, epsilon: Vector) -> Vector:
        """Return the difference of the distances, by epsilon."""
        a = np.linalg.norm(source[first.source] - source[second.source], axis=1)
        b = np.linalg.norm(target[first.target] - target[second.target], axis=1)
        return np.asarray(np.abs(a - b) / epsilon)


@dataclass(frozen=True)
class DistanceAndNormals:
    """Two points keep their distance, and their normals the angle between them.

    Landmarks are pairs of ``(n, 3)`` points and ``(n, 3)`` normals of any length but zero.
    """

    angle: float = math.radians(15.0)
    """By how much the angles may differ, in radians."""
    oriented: bool = True
    """Whether the sign of a normal is known; if not, angles are between 0 and 90°."""

    def __post_init__(self) -> None:
        _set_angle(self, "angle")
        _check_bool(self, "oriented")

    def landmarks(self, name: str, given: Any) -> _Flats:
        """Check points and normals."""
        points, normals = _two_arrays(name, given, "points", "normals")
        position = as_points(name, points, dimensions=(3,))
        direction = as_unit_vectors(f"{name} normals", normals, len(position))
        return _Flats(np.full(len(position), POINT), position, direction)

    def residuals(self, source: _Flats, target: _Flats, first: Pairs, second: Pairs, epsilon: Vector) -> Vector:
        """Return the larger of the differences of distance and angle, each by its bound."""
        distances = Distance().residuals(source.position, target.position, first, second, epsilon)
        return np.maximum(distances, self.angle_residuals(source, target, first, second))

    def angle_residuals(self, source: _Flats, target: _Flats, first: Pairs, second: Pairs) -> Vector:
        """Return the difference of the angles, by its bound."""
        a = _angles(source.direction[first.source], source.direction[second.source], self.oriented)
        b = _angles(target.direction[first.target], target.direction[second.target], self.oriented)
        return np.asarray(np.abs(a - b) / self.angle)


@dataclass(frozen=True)
class LinesAndPlanes:
    """Points, lines and planes keep the distances and angles between each other.

    Between two of them: the angle of lines and planes (0 to 90°), and their distance where it means something: with a
    point always, between two lines always, between planes, or a line and a plane, only if they are nearly parallel.

    Landmarks are :class:`Landmarks`. Associations between different kinds agree with nothing.
    """

    angle: float = math.radians(5.0)
    """By how much angles may differ, in radians."""
    parallel: float = math.radians(5.0)
    """Below this angle, in radians, lines and planes count as parallel: their distance is taken at their points."""

    def __post_init__(self) -> None:
        _set_angle(self, "angle")
        _set_angle(self, "parallel")

    def landmarks(self, name: str, given: Any) -> _Flats:
        """Check all three kinds."""
        if not isinstance(given, Landmarks):
            raise LandmarkError(f"{name}: expected clipperplus.invariants.Landmarks, got {type(given).__name__}")
        lines = _two_arrays(f"{name} lines", given.lines, "points", "directions")
        planes = _two_arrays(f"{name} planes", given.planes, "points", "normals")
        empty = np.empty((0, 3))
        parts = [
            _flats(name, POINT, given.points if np.size(given.points) else empty, None),
            _flats(f"{name} lines", LINE, *(part if np.size(part) else empty for part in lines)),
            _flats(f"{name} planes", PLANE, *(part if np.size(part) else empty for part in planes)),
        ]
        return _Flats(
            np.concatenate([part.kind for part in parts]),
            np.concatenate([part.position for part in parts]),
            np.concatenate([part.direction for part in parts]),
        )

    def residuals(self, source: _Flats, target: _Flats, first: Pairs, second: Pairs, epsilon: Vector) -> Vector:
        """Return the larger of the differences of distance and angle, each by its bound."""
        kinds = source.kind[first.source], source.kind[second.source]
        mixed = (kinds[0] != target.kind[first.target]) | (kinds[1] != target.kind[second.target])
        angle_a, distance_a = self._compare(source, first.source, second.source)
        angle_b, distance_b = self._compare(target, first.target, second.target)
        by_angle = np.abs(angle_a - angle_b) / self.angle
        by_distance = np.abs(distance_a - distance_b) / epsilon
        # No number: the quantity says nothing for this pair, in one of the sets at least.
        worst = np.fmax(np.nan_to_num(by_angle), np.nan_to_num(by_distance))
        return np.where(mixed, np.inf, worst)

    def _compare(self, flats: _Flats, i: Indices, j: Indices) -> tuple[Vector, Vector]:
        """Return angle and distance of pairs of landmarks; NaN where there is none."""
        kind_i, kind_j = flats.kind[i], flats.kind[j]
        swap = kind_i > kind_j  # the simpler one first: six cases instead of nine
        i, j = np.where(swap, j, i), np.where(swap, i, j)
        low, high = flats.kind[i], flats.kind[j]
        angle, distance = np.full(len(i), np.nan), np.full(len(i), np.nan)
        gap = flats.position[j] - flats.position[i]
        d_i, d_j = flats.direction[i], flats.direction[j]

        def chosen(first: int, second: int) -> npt.NDArray[np.bool_]:
            return np.asarray((low == first) & (high == second))

        both = chosen(POINT, POINT)
        distance[both] = np.linalg.norm(gap[both], axis=1)
        both = chosen(POINT, LINE)
        distance[both] = np.linalg.norm(np.cross(gap[both], d_j[both]), axis=1)
        both = chosen(POINT, PLANE)
        distance[both] = np.abs(_dot(gap[both], d_j[both]))
        both = chosen(LINE, LINE)
        angle[both] = _angles(d_i[both], d_j[both], oriented=False)
        distance[both] = self._between_lines(gap[both], d_i[both], d_j[both], angle[both])
        both = chosen(LINE, PLANE)
        angle[both] = math.pi / 2.0 - _angles(d_i[both], d_j[both], oriented=False)
        distance[both] = np.where(angle[both] < self.parallel, np.abs(_dot(gap[both], d_j[both])), np.nan)
        both = chosen(PLANE, PLANE)
        angle[both] = _angles(d_i[both], d_j[both], oriented=False)
        across = (np.abs(_dot(gap[both], d_i[both])) + np.abs(_dot(gap[both], d_j[both]))) / 2.0
        distance[both] = np.where(angle[both] < self.parallel, across, np.nan)
        return angle, distance

    def _between_lines(self, gap: Vector, d_i: Vector, d_j: Vector, angle: Vector) -> Vector:
        normal = np.cross(d_i, d_j)
        length = np.linalg.norm(normal, axis=1)
        skew = np.abs(_dot(gap, normal)) / np.where(length > 0.0, length, 1.0)
        beside = (np.linalg.norm(np.cross(gap, d_i), axis=1) + np.linalg.norm(np.cross(gap, d_j), axis=1)) / 2.0
        return np.where(angle < self.parallel, beside, skew)


@dataclass(frozen=True)
class Lines:
    """Two lines keep their angle and their distance.

    Landmarks are pairs of ``(n, 3)`` points on the lines and ``(n, 3)`` directions, whose sign means nothing.
    """

    angle: float = math.radians(5.0)
    """By how much angles may differ, in radians."""
    parallel: float = math.radians(5.0)
    """Below this angle, in radians, the distance of two lines is taken at their points, not where they are closest."""

    def __post_init__(self) -> None:
        _set_angle(self, "angle")
        _set_angle(self, "parallel")

    def landmarks(self, name: str, given: Any) -> _Flats:
        """Check points and directions."""
        return _flats(name, LINE, *_two_arrays(name, given, "points", "directions"))

    def residuals(self, source: _Flats, target: _Flats, first: Pairs, second: Pairs, epsilon: Vector) -> Vector:
        """Return the larger of the differences of distance and angle, each by its bound."""
        return LinesAndPlanes(self.angle, self.parallel).residuals(source, target, first, second, epsilon)


@dataclass(frozen=True)
class Planes:
    """Two planes keep their angle and, if they are nearly parallel, the gap between them.

    Landmarks are pairs of ``(n, 3)`` points on the planes and ``(n, 3)`` normals, whose sign means nothing.
    """

    angle: float = math.radians(5.0)
    """By how much angles may differ, in radians."""
    parallel: float = math.radians(5.0)
    """Below this angle, in radians, two planes have a gap."""

    def __post_init__(self) -> None:
        _set_angle(self, "angle")
        _set_angle(self, "parallel")

    def landmarks(self, name: str, given: Any) -> _Flats:
        """Check points and normals."""
        return _flats(name, PLANE, *_two_arrays(name, given, "points", "normals"))

    def residuals(self, source: _Flats, target: _Flats, first: Pairs, second: Pairs, epsilon: Vector) -> Vector:
        """Return the larger of the differences of gap and angle, each by its bound."""
        return LinesAndPlanes(self.angle, self.parallel).residuals(source, target, first, second, epsilon)


@dataclass(frozen=True, eq=False)
class RelativePoses:
    """Two loop closures agree with the odometry: the cycle that they close is no motion, within bounds.

    Pairwise consistent measurements (Mangelson et al., ICRA 2018). Landmarks are the ``(k, 4, 4)`` poses of two
    trajectories, each in a frame of its own; an association is a loop closure between pose i of the first and pose j of
    the second. The two trajectories may be the same.
    """

    measurements: npt.ArrayLike
    """``(m, 4, 4)``: for every loop closure the pose of the second trajectory as seen from that of the first."""
    rotation: float = math.radians(5.0)
    """By how much the cycle may turn, in radians; how far it may move is ``epsilon``, in metres."""
    covariances: npt.ArrayLike | None = None
    """``(6, 6)`` or ``(m, 6, 6)``: of the measurements, as small motions after them, rotation (radians) before
    translation (metres). With it the Mahalanobis distance of the cycle is bounded instead."""
    deviations: float = 4.1
    """Bound on the Mahalanobis distance; 4.1 keeps 99 % of the right pairs (six degrees of freedom)."""

    def __post_init__(self) -> None:
        _set_angle(self, "rotation")
        bound = as_number("deviations", self.deviations, 0.0, math.inf, open_interval=True)
        object.__setattr__(self, "deviations", bound)
        measurements = as_poses("measurements", self.measurements)
        object.__setattr__(self, "measurements", measurements)
        if self.covariances is not None:
            object.__setattr__(self, "covariances", _as_covariances(self.covariances, len(measurements)))

    def landmarks(self, name: str, given: Any) -> Vector:
        """Check a trajectory."""
        return as_poses(name, given)

    def residuals(self, source: Vector, target: Vector, first: Pairs, second: Pairs, epsilon: Vector) -> Vector:
        """Return how far the cycles are from no motion, by the bounds."""
        needed = max((int(side.association.max(initial=-1)) + 1 for side in (first, second)), default=0)
        if needed > len(np.asarray(self.measurements)):
            raise LandmarkError(f"measurements: expected one per association, got {len(np.asarray(self.measurements))}")
        there, back = (self._cycles(source, target, *sides) for sides in ((first, second), (second, first)))
        if self.covariances is None:
            moved = np.maximum(*(np.linalg.norm(cycle[:, :3, 3], axis=1) for cycle in (there, back)))
            return np.asarray(np.maximum(rotation_angles(there) / self.rotation, moved / epsilon))
        squares = (
            self._squared_deviations(target, cycle, *sides)
            for cycle, sides in ((there, (first, second)), (back, (second, first)))
        )
        return np.asarray(np.sqrt(np.maximum(*squares)) / self.deviations)

    def _cycles(self, source: Vector, target: Vector, first: Pairs, second: Pairs) -> Vector:
        """From the second pose of a loop closure through the other one and the odometry back to it."""
        measured = np.asarray(self.measurements)
        along_a = inverse(source[first.source]) @ source[second.source]
        along_b = inverse(target[second.target]) @ target[first.target]
        z_first, z_second = measured[first.association], measured[second.association]
        return np.asarray(inverse(z_first) @ along_a @ z_second @ along_b)

    def _squared_deviations(self, target: Vector, cycle: Vector, first: Pairs, second: Pairs) -> Vector:
        covariances = np.asarray(self.covariances)
        carry = adjoint(inverse(target[first.target]) @ target[second.target])
        spread = covariances[first.association] + carry @ covariances[second.association] @ carry.swapaxes(-1, -2)
        motion = logarithm(cycle)[..., None]
        return np.asarray((motion * np.linalg.solve(spread, motion)).sum(axis=(1, 2)))


@dataclass(frozen=True, eq=False)
class Custom:
    """Any function of pairs of associations; they are consistent where it is below the threshold.

    Landmarks are whatever has a length; they are passed to the function as they are.
    """

    residual: Callable[[Any, Any, Pairs, Pairs], npt.ArrayLike]
    """``residual(source, target, first, second)``: one number for every pair; NaN is inconsistent. It must be symmetric
    in the two associations."""
    threshold: float
    """Above zero, in the unit of the function."""

    def __post_init__(self) -> None:
        if not callable(self.residual):
            raise OptionError(f"residual: expected a function, got {type(self.residual).__name__}")
        bound = as_number("threshold", self.threshold, 0.0, math.inf, open_interval=True)
        object.__setattr__(self, "threshold", bound)

    def landmarks(self, name: str, given: Any) -> Any:
        """Take anything that has a length."""
        try:
            len(given)
        except TypeError:
            raise LandmarkError(f"{name}: expected landmarks with a length, got {type(given).__name__}") from None
        return given

    def residuals(self, source: Any, target: Any, first: Pairs, second: Pairs, epsilon: Vector) -> Vector:
        """Return what the function says, by the threshold."""
        values = np.asarray(self.residual(source, target, first, second), dtype=np.float64)
        if values.shape != first.association.shape:
            raise OptionError(
                f"residual: expected one number per pair, shape {first.association.shape}, got {values.shape}"
            )
        return np.asarray(values / self.threshold)


def _set_angle(invariant: Any, name: str) -> None:
    bound = as_number(name, getattr(invariant, name), 0.0, math.pi, open_interval=True)
    object.__setattr__(invariant, name, bound)  # frozen, but this is construction


def _check_bool(invariant: Any, name: str) -> None:
    if not isinstance(getattr(invariant, name), bool):
        raise OptionError(f"{name}: expected True or False, got {getattr(invariant, name)!r}")


def _as_covariances(given: Any, count: int) -> Vector:
    covariances = as_array("covariances", given, LandmarkError)
    if covariances.shape == (6, 6):
        covariances = np.broadcast_to(covariances, (count, 6, 6))
    if covariances.shape != (count, 6, 6) or covariances.dtype.kind not in "iuf":
        raise LandmarkError(
            f"covariances: expected numbers of shape (6, 6) or ({count}, 6, 6), got {covariances.shape}, "
            f"dtype {covariances.dtype}"
        )
    covariances = np.array(covariances, dtype=np.float64)
    symmetric = np.isfinite(covariances).all(axis=(1, 2))
    symmetric &= (np.abs(covariances - covariances.swapaxes(1, 2)) <= 1e-9 * np.abs(covariances).max(initial=0.0)).all(
        axis=(1, 2)
    )
    if not symmetric.all() or (count and np.linalg.eigvalsh(covariances).min() <= 0.0):
        raise LandmarkError("covariances: expected symmetric, positive definite matrices")
    return covariances


def _two_arrays(name: str, given: Any, first: str, second: str) -> tuple[Any, Any]:
    if isinstance(given, np.ndarray) or not isinstance(given, (tuple, list)) or len(given) != 2:
        raise LandmarkError(f"{name}: expected a pair ({first}, {second}), got {type(given).__name__}")
    return given[0], given[1]


def _flats(name: str, kind: int, points: Any, directions: Any) -> _Flats:
    position = as_points(name, points, dimensions=(3,))
    n = len(position)
    direction = np.zeros((n, 3)) if directions is None else as_unit_vectors(f"{name} directions", directions, n)
    return _Flats(np.full(n, kind), position, direction)


def _dot(a: Vector, b: Vector) -> Vector:
    return np.asarray((a * b).sum(axis=1))


def _angles(a: Vector, b: Vector, oriented: bool) -> Vector:
    """Angle between unit vectors; without orientation the smaller one, at most 90°."""
    cosine = _dot(a, b)
    sine = np.linalg.norm(np.cross(a, b), axis=1)
    return np.asarray(np.arctan2(sine, cosine if oriented else np.abs(cosine)))
