"""Points, lines and planes together: flats of dimension 0, 1 and 2."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from .._validation import as_points, as_unit_vectors
from ..errors import LandmarkError
from .base import Indices, Pairs, Vector, angles, dot, set_angle, two_arrays

__all__ = ["Flats", "Landmarks", "Lines", "LinesAndPlanes", "Planes"]

POINT, LINE, PLANE = 0, 1, 2


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
class Flats:
    """Checked landmarks of all kinds."""

    kind: npt.NDArray[np.int64]
    position: Vector
    direction: Vector
    """Unit vectors: along a line, across a plane; zero for a point."""

    def __len__(self) -> int:
        """Return the number of landmarks."""
        return len(self.kind)

    @classmethod
    def of_kind(cls, name: str, kind: int, points: Any, directions: Any) -> Flats:
        """Check landmarks of one kind."""
        position = as_points(name, points, dimensions=(3,))
        n = len(position)
        direction = np.zeros((n, 3)) if kind == POINT else as_unit_vectors(f"{name} directions", directions, n)
        return cls(np.full(n, kind), position, direction)


@dataclass(frozen=True)
class LinesAndPlanes:
    """Points, lines and planes keep the distances and angles between each other.

    Angles between lines and planes are from 0 to 90°. Distances count where they mean something: with a point always;
    between two lines that are not nearly parallel where they are closest; between lines and planes that are nearly
    parallel in both sets at the points that are given with them, less what these could be off along the flats.

    Landmarks are :class:`Landmarks`. Associations between different kinds agree with nothing.
    """

    angle: float = math.radians(5.0)
    """By how much angles may differ, in radians."""
    parallel: float = math.radians(5.0)
    """Below this angle, in radians, lines and planes count as nearly parallel."""

    def __post_init__(self) -> None:
        set_angle(self, "angle")
        set_angle(self, "parallel")

    def landmarks(self, name: str, given: Any) -> Flats:
        """Check all three kinds."""
        if not isinstance(given, Landmarks):
            raise LandmarkError(f"{name}: expected clipperplus.invariants.Landmarks, got {type(given).__name__}")
        lines = two_arrays(f"{name} lines", given.lines, "points", "directions")
        planes = two_arrays(f"{name} planes", given.planes, "points", "normals")
        parts = (
            Flats.of_kind(name, POINT, given.points, None),
            Flats.of_kind(f"{name} lines", LINE, *lines),
            Flats.of_kind(f"{name} planes", PLANE, *planes),
        )
        return Flats(
            np.concatenate([part.kind for part in parts]),
            np.concatenate([part.position for part in parts]),
            np.concatenate([part.direction for part in parts]),
        )

    def residuals(self, source: Flats, target: Flats, first: Pairs, second: Pairs, epsilon: Vector) -> Vector:
        """Return the larger of the differences of distance and angle, each by its bound."""
        low, high = source.kind[first.source], source.kind[second.source]
        a, b = _Comparison(source, first.source, second.source), _Comparison(target, first.target, second.target)
        worst = np.abs(a.angle - b.angle) / self.angle
        near = (a.angle < self.parallel) & (b.angle < self.parallel)
        far = (a.angle >= self.parallel) & (b.angle >= self.parallel)
        with_point, two_lines = (low == POINT) | (high == POINT), (low == LINE) & (high == LINE)
        beside = np.abs(a.beside - b.beside) / (epsilon + a.slack + b.slack)
        closest = np.abs(a.closest - b.closest) / epsilon
        worst = np.where(near & ~with_point, np.maximum(worst, beside), worst)
        worst = np.where(far & two_lines, np.maximum(worst, closest), worst)
        worst = np.where(with_point, np.abs(a.beside - b.beside) / epsilon, worst)
        mixed = (low != target.kind[first.target]) | (high != target.kind[second.target])
        return np.where(mixed, np.inf, worst)


class _Comparison:
    """Angles and distances of pairs of landmarks of one set."""

    def __init__(self, flats: Flats, i: Indices, j: Indices) -> None:
        swap = flats.kind[i] > flats.kind[j]  # the simpler one first
        i, j = np.where(swap, j, i), np.where(swap, i, j)
        low, high = flats.kind[i], flats.kind[j]
        gap = flats.position[j] - flats.position[i]
        d_i, d_j = flats.direction[i], flats.direction[j]
        between = angles(d_i, d_j, oriented=False)
        self.angle = np.where((low == LINE) & (high == PLANE), math.pi / 2.0 - between, between)
        """Between lines and planes; for points it means nothing."""

        def across(direction: Vector) -> Vector:
            """Length of the gap across lines of this direction."""
            return np.asarray(np.linalg.norm(np.cross(gap, direction), axis=1))

        def along(direction: Vector) -> Vector:
            """Length of the gap along lines of this direction."""
            return np.abs(dot(gap, direction))

        pairs: dict[tuple[int, int], tuple[Vector, Vector | float]] = {
            (POINT, POINT): (np.asarray(np.linalg.norm(gap, axis=1)), 0.0),
            (POINT, LINE): (across(d_j), 0.0),
            (POINT, PLANE): (along(d_j), 0.0),
            (LINE, LINE): ((across(d_i) + across(d_j)) / 2.0, along(d_i)),
            (LINE, PLANE): (along(d_j), along(d_i)),
            (PLANE, PLANE): ((along(d_i) + along(d_j)) / 2.0, across(d_i)),
        }
        self.beside, offset = np.zeros(len(i)), np.zeros(len(i))
        for (first, second), (distance, slide) in pairs.items():
            chosen = (low == first) & (high == second)
            self.beside, offset = np.where(chosen, distance, self.beside), np.where(chosen, slide, offset)
        # The points of two flats are not the same in both sets: one may have slid along its flat.
        self.slack = np.sin(self.angle) * offset
        normal = np.cross(d_i, d_j)
        length = np.linalg.norm(normal, axis=1)
        self.closest = np.abs(dot(gap, normal)) / np.where(length > 0.0, length, 1.0)
        """Distance of two lines that are not parallel."""


@dataclass(frozen=True)
class _OneKind:
    """Lines or planes alone."""

    angle: float = math.radians(5.0)
    """By how much angles may differ, in radians."""
    parallel: float = math.radians(5.0)
    """Below this angle, in radians, two of them count as nearly parallel."""

    _kind: ClassVar[int]
    _second: ClassVar[str]

    def __post_init__(self) -> None:
        set_angle(self, "angle")
        set_angle(self, "parallel")

    def landmarks(self, name: str, given: Any) -> Flats:
        """Check points and directions."""
        return Flats.of_kind(name, self._kind, *two_arrays(name, given, "points", self._second))

    def residuals(self, source: Flats, target: Flats, first: Pairs, second: Pairs, epsilon: Vector) -> Vector:
        """Return the larger of the differences of distance and angle, each by its bound."""
        return LinesAndPlanes(self.angle, self.parallel).residuals(source, target, first, second, epsilon)


@dataclass(frozen=True)
class Lines(_OneKind):
    """Two lines keep their angle and their distance.

    Landmarks are pairs of ``(n, 3)`` points on the lines and ``(n, 3)`` directions, whose sign means nothing. Distances
    are those of :class:`LinesAndPlanes`.
    """

    _kind, _second = LINE, "directions"


@dataclass(frozen=True)
class Planes(_OneKind):
    """Two planes keep their angle and, if they are nearly parallel, the gap between them.

    Landmarks are pairs of ``(n, 3)`` points on the planes and ``(n, 3)`` normals, whose sign means nothing. Gaps are
    those of :class:`LinesAndPlanes`.
    """

    _kind, _second = PLANE, "normals"
