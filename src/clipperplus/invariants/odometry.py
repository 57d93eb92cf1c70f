"""Trajectories whose steps have errors, and what cycles of loop closures are worth then.

A step that is off moves everything after it. So, in the frame of the trajectory, each step has a covariance of its own,
and the error between any two poses is the sum over the steps between them: a difference of two sums. That is exact to
first order, for ways of any length, at the cost of one pair.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from .._validation import as_array
from ..errors import LandmarkError
from ..geometry.poses import Poses, adjoint, are_semidefinite, as_poses, inverse, twists
from .base import Pairs, Vector

__all__ = ["Odometry", "agree_alone", "as_trajectory", "cycle_distances"]


@dataclass(frozen=True, eq=False)
class Odometry:
    """A trajectory whose steps have errors: the longer the way between two poses, the less is known of it."""

    poses: npt.ArrayLike
    """``(k, 4, 4)``, in a frame of its own."""
    covariances: npt.ArrayLike
    """``(6, 6)`` or ``(k, 6, 6)``: of the step to each pose, as a small motion after it, rotation (radians) before
    translation (metres). The first one counts where these poses go on from others."""
    around: Poses = field(init=False, repr=False)
    """The poses about their centre, so that turns have no longer arms than they need."""
    sums: npt.NDArray[np.float64] = field(init=False, repr=False)
    """``(k, 6, 6)``: covariances of all steps so far, as motions of that frame."""

    def __post_init__(self) -> None:
        poses = as_poses("poses", self.poses)
        covariances = _as_step_covariances(self.covariances, len(poses))
        around = poses.copy()
        around[:, :3, 3] -= around[:, :3, 3].mean(axis=0) if len(poses) else 0.0
        carry = adjoint(around[1:])
        sums = np.zeros((len(poses), 6, 6))
        sums[1:] = np.cumsum(carry @ covariances[1:] @ carry.swapaxes(1, 2), axis=0)
        for name, value in (("poses", poses), ("covariances", covariances), ("around", around), ("sums", sums)):
            object.__setattr__(self, name, value)  # frozen, but this is construction

    def __len__(self) -> int:
        """Return the number of poses."""
        return len(self.around)

    def followed_by(self, other: Odometry) -> Odometry:
        """Return this trajectory with the poses of another one after its own."""
        parts = zip((self.poses, self.covariances), (other.poses, other.covariances), strict=True)
        return Odometry(*(np.concatenate((np.asarray(a), np.asarray(b))) for a, b in parts))


def as_trajectory(name: str, given: Any) -> Poses | Odometry:
    """Return a trajectory, with errors of its steps or without."""
    return given if isinstance(given, Odometry) else as_poses(name, given)


def cycle_distances(
    source: Poses | Odometry,
    target: Poses | Odometry,
    measured: Poses,
    covariances: Vector,
    first: Pairs,
    second: Pairs,
) -> Vector:
    """Return the Mahalanobis distances of cycles from no motion, the errors of the odometry along them included.

    Where both trajectories are the same one, a loop closure has a cycle of its own, too, which counts for its pairs:
    what the odometry contradicts alone agrees with nothing.
    """
    one_robot = source is target
    a, b = _with_errors(source), _with_errors(target)
    sides = _Closures.of(a, b, measured, covariances, first), _Closures.of(a, b, measured, covariances, second)
    one, other = (side.frames[side.places] for side in sides)
    spread = sum(side.spreads[side.places] for side in sides)
    motion = twists(inverse(one) @ other)
    low_a, high_a = np.minimum(first.source, second.source), np.maximum(first.source, second.source)
    low_b, high_b = np.minimum(first.target, second.target), np.maximum(first.target, second.target)
    carry = adjoint(inverse(sides[0].frames))[sides[0].places]
    spread = spread + carry @ (a.sums[high_a] - a.sums[low_a]) @ carry.swapaxes(1, 2) + b.sums[high_b] - b.sums[low_b]
    if one_robot:
        # Steps that the cycle takes twice have one error: there and back it cancels, twice the same way it adds up.
        low, high = np.maximum(low_a, low_b), np.minimum(high_a, high_b)
        twice = np.flatnonzero(low < high)
        sign = np.sign((second.source - first.source) * (first.target - second.target))[twice]
        shared = carry[twice] @ (a.sums[high[twice]] - a.sums[low[twice]]) * sign[:, None, None]
        spread[twice] += shared + shared.swapaxes(1, 2)
    distances = _distances(motion, spread)
    if one_robot:
        for side in sides:
            distances = np.maximum(distances, side.own(a)[side.places])
    return distances


def agree_alone(
    source: Poses | Odometry,
    target: Poses | Odometry,
    measured: Poses,
    covariances: Vector | None,
    loops: Pairs,
    bound: float,
) -> npt.NDArray[np.bool_]:
    """Return which loop closures agree with the odometry, which errors let one robot ask for; of two robots all do."""
    if source is not target or not isinstance(source, Odometry) or covariances is None:
        return np.ones(len(loops.association), dtype=np.bool_)
    closures = _Closures.of(source, source, measured, covariances, loops)
    with np.errstate(all="ignore"):
        return np.asarray((closures.own(source) < bound)[closures.places])


@dataclass(frozen=True, eq=False)
class _Closures:
    """Loop closures as what they say of the frames of the two trajectories."""

    places: npt.NDArray[np.int64]
    """Which of them each of the given ones is: those that are given many times are worked out once."""
    ends: npt.NDArray[np.int64]
    """``(n, 2)``: poses of the first and the second trajectory."""
    frames: Poses
    """``(n, 4, 4)``: the frame of the second trajectory in that of the first."""
    spreads: Vector
    """``(n, 6, 6)``: covariances of the measurements, as motions of the frame of the second trajectory."""

    @classmethod
    def of(cls, a: Odometry, b: Odometry, measured: Poses, covariances: Vector, given: Pairs) -> _Closures:
        numbers, where, places = np.unique(given.association, return_index=True, return_inverse=True)
        ends = np.column_stack((given.source[where], given.target[where]))
        seen_from = b.around[ends[:, 1]]
        frames = a.around[ends[:, 0]] @ measured[numbers] @ inverse(seen_from)
        carry = adjoint(seen_from)
        return cls(places.ravel(), ends, frames, carry @ covariances[numbers] @ carry.swapaxes(1, 2))

    def own(self, odometry: Odometry) -> Vector:
        """Return how far those of one robot are from saying that both frames are the same."""
        low, high = self.ends.min(axis=1, initial=len(odometry)), self.ends.max(axis=1, initial=0)
        return _distances(twists(self.frames), self.spreads + odometry.sums[high] - odometry.sums[low])


def _with_errors(trajectory: Poses | Odometry) -> Odometry:
    return trajectory if isinstance(trajectory, Odometry) else Odometry(trajectory, np.zeros((6, 6)))


def _distances(motions: Vector, spreads: Vector) -> Vector:
    solved = np.linalg.solve(spreads, motions[..., None])[..., 0]
    return np.asarray(np.sqrt((motions * solved).sum(axis=-1)))


def _as_step_covariances(given: Any, count: int) -> npt.NDArray[np.float64]:
    array = as_array("covariances", given, LandmarkError)
    if array.dtype.kind not in "iuf" or array.shape not in ((6, 6), (count, 6, 6)):
        raise LandmarkError(
            f"covariances: expected numbers of shape (6, 6) or ({count}, 6, 6), got {array.shape}, dtype {array.dtype}"
        )
    matrices = np.broadcast_to(array.astype(np.float64), (count, 6, 6))
    sound = are_semidefinite(matrices)
    if not sound.all():
        raise LandmarkError(f"covariances: matrix {int(sound.argmin())} is not symmetric, or has negative eigenvalues")
    return np.array(matrices)
