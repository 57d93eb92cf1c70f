"""Loop closures: measured relative poses that must agree with the odometry."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .._validation import as_array, as_number
from ..errors import LandmarkError, OptionError
from ..geometry.poses import Poses, adjoint, as_poses, inverse, logarithm, rotation_angles
from .base import Pairs, Vector, set_angle
from .odometry import Odometry, as_trajectory, cycle_distances

__all__ = ["RelativePoses", "as_covariances", "cycle_residuals"]


_LARGEST = 1e100
"""Beyond it, or below its inverse, products of variances are no numbers."""
_SMALLEST_SHARE = 1e-15
"""Eigenvalues below this share of the largest entry are rounding errors."""


@dataclass(frozen=True, eq=False)
class RelativePoses:
    """Two loop closures agree with the odometry: the cycle that they close is no motion, within bounds.

    Pairwise consistent measurements (Mangelson et al., ICRA 2018). Landmarks are the ``(k, 4, 4)`` poses of two
    trajectories, each in a frame of its own, or :class:`Odometry`, which has errors; an association is a loop closure
    between pose i of the first and pose j of the second. The two trajectories may be the same. Several loop closures
    may share a pose: ask for the graph with ``one_to_one=False``, as :func:`clipperplus.consistent_loop_closures` does.
    """

    measurements: npt.ArrayLike
    """``(m, 4, 4)``: for every loop closure the pose of the second trajectory as seen from that of the first."""
    rotation: float = math.radians(5.0)
    """By how much the cycle may turn, in radians; how far it may move is ``epsilon``, in metres."""
    covariances: npt.ArrayLike | None = None
    """``(6, 6)`` or ``(m, 6, 6)``: of the measurements, as small motions after them, rotation (radians) before
    translation (metres). With it the Mahalanobis distance of the cycle is bounded instead. Poses alone count as exact:
    give :class:`Odometry`, or make the covariances large enough for its errors, too."""
    deviations: float = 4.1
    """Bound on the Mahalanobis distance; 4.1 keeps 99 % of the right pairs (six degrees of freedom)."""

    def __post_init__(self) -> None:
        set_angle(self, "rotation")
        bound = as_number("deviations", self.deviations, 0.0, math.inf, open_interval=True)
        object.__setattr__(self, "deviations", bound)  # frozen, but this is construction
        measurements = as_poses("measurements", self.measurements)
        object.__setattr__(self, "measurements", measurements)
        if self.covariances is not None:
            checked = as_covariances("covariances", self.covariances, len(measurements))
            object.__setattr__(self, "covariances", checked)

    def landmarks(self, name: str, given: Any) -> Poses | Odometry:
        """Check a trajectory."""
        return as_trajectory(name, given)

    def residuals(
        self, source: Poses | Odometry, target: Poses | Odometry, first: Pairs, second: Pairs, epsilon: Vector
    ) -> Vector:
        """Return how far the cycles are from no motion, by the bounds."""
        measured = np.asarray(self.measurements)
        if max(side.association.max(initial=-1) for side in (first, second)) >= len(measured):
            raise LandmarkError(f"measurements: expected one per association, got {len(measured)}")
        spread = None if self.covariances is None else np.asarray(self.covariances)
        bounds = (self.rotation, epsilon) if spread is None else (self.deviations, epsilon)
        return cycle_residuals(source, target, measured, spread, first, second, *bounds)


def cycle_residuals(
    source: Poses | Odometry,
    target: Poses | Odometry,
    measured: Vector,
    covariances: Vector | None,
    first: Pairs,
    second: Pairs,
    bound: float,
    epsilon: Vector,
) -> Vector:
    """Return how far cycles are from no motion, by their bounds: rotation and epsilon, or deviations.

    A cycle goes from the second pose of a loop closure through it, the odometry, the other loop closure and the
    odometry back. Its translation depends on which of the two it begins with: the larger one counts.
    """
    if isinstance(source, Odometry) or isinstance(target, Odometry):
        if covariances is None:
            raise OptionError("covariances: expected those of the measurements, because the odometry has some")
        return cycle_distances(source, target, measured, covariances, first, second) / bound
    worst = np.zeros(len(epsilon))
    for one, other in ((first, second), (second, first)):
        along_a = inverse(source[one.source]) @ source[other.source]
        along_b = inverse(target[other.target]) @ target[one.target]
        cycle = inverse(measured[one.association]) @ along_a @ measured[other.association] @ along_b
        if covariances is None:
            moved = np.linalg.norm(cycle[:, :3, 3], axis=1) / epsilon
            worst = np.maximum(worst, np.maximum(moved, rotation_angles(cycle) / bound))
        else:  # the error of the other measurement reaches the end of the cycle through along_b
            carry = adjoint(inverse(along_b))
            spread = covariances[one.association] + carry @ covariances[other.association] @ carry.swapaxes(-1, -2)
            motion = logarithm(cycle)[..., None]
            squares = (motion * np.linalg.solve(spread, motion)).sum(axis=(1, 2))
            worst = np.maximum(worst, np.sqrt(squares) / bound)
    return worst


def as_covariances(name: str, given: Any, count: int) -> Vector:
    """Return ``count`` symmetric, positive definite 6 × 6 matrices; one stands for all."""
    array = as_array(name, given, LandmarkError)
    one = array.shape == (6, 6)
    if array.dtype.kind not in "iuf" or (not one and array.shape != (count, 6, 6)):
        raise LandmarkError(
            f"{name}: expected numbers of shape (6, 6) or ({count}, 6, 6), got {array.shape}, dtype {array.dtype}"
        )
    matrices = np.array(array[None] if one else array, dtype=np.float64)
    largest = np.abs(matrices).max(axis=(1, 2), initial=0.0)[:, None, None]
    sound = bool(np.isfinite(matrices).all() and (largest < _LARGEST).all() and (largest > 1.0 / _LARGEST).all())
    sound = sound and bool((np.abs(matrices - matrices.swapaxes(1, 2)) <= 1e-9 * largest).all())
    if not sound or (np.linalg.eigvalsh(matrices) <= _SMALLEST_SHARE * largest[:, 0]).any():
        raise LandmarkError(f"{name}: expected symmetric, positive definite matrices")
    return np.broadcast_to(matrices, (count, 6, 6)) if one else matrices
