"""What a deception is, what a kind of deceptions is, and how a registration is tried on one."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from ...geometry.poses import from_quaternions, inverse
from ...geometry.transforms import apply_transform, rotation_error
from ...registration import Pose, register, solve

__all__ = ["LIDAR", "ROOM", "Array", "Deception", "Family", "Kind", "Outcome", "Recipe", "random_motion"]

Array: TypeAlias = npt.NDArray[np.float64]
Family: TypeAlias = Literal["decidable", "undecidable", "honest"]

ROOM, LIDAR = (15.0, 0.3), (5.0, 0.6)
"""By how many degrees and metres a right answer may be off, indoors and outdoors."""
_MERE_SHIFT = 0.05
"""Radians to a metre, up to which a motion that is open is a shift."""


@dataclass(frozen=True, eq=False)
class Deception:
    """Two clouds, or matched points, on which a registration may lie."""

    source: Array
    """``(n, 3)`` points, in metres."""
    target: Array
    """``(m, 3)`` points."""
    truth: Array | None
    """``(4, 4)``, from source to target; None: no answer is right."""
    associations: npt.NDArray[np.int64] | None = None
    """``(k, 2)`` matches for ``solve``; None: the clouds are for ``register``."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Of ``register`` or ``solve``."""

    def moved(self, here: Array, there: Array) -> Deception:
        """Return the same with the source moved by one motion and the target by another."""
        truth = None if self.truth is None else there @ self.truth @ inverse(here)
        source, target = apply_transform(here, self.source), apply_transform(there, self.target)
        return replace(self, source=source, target=target, truth=truth)

    def answer(self) -> Pose:
        """Register it."""
        if self.associations is None:
            return register(self.source, self.target, **self.options)
        return solve(self.source, self.target, self.associations, **self.options)

    def is_right(self, motion: Array | None, tolerance: tuple[float, float], open_shifts: Array | None = None) -> bool:
        """Whether a motion is within so many degrees and metres of the truth; metres in the middle of the source.

        In the middle, because a distance at the origin depends on where the origin is. Along ``open_shifts``,
        ``(k, 3)``, it may be off by any number of metres.
        """
        if self.truth is None or motion is None:
            return False
        middle = self.source.mean(axis=0)[None]
        shift = (apply_transform(motion, middle) - apply_transform(self.truth, middle))[0]
        if open_shifts is not None and len(open_shifts):
            basis, _ = np.linalg.qr(open_shifts.T)
            shift = shift - basis @ (basis.T @ shift)
        return bool(rotation_error(motion, self.truth) < tolerance[0] and np.linalg.norm(shift) < tolerance[1])


Recipe: TypeAlias = Callable[[np.random.Generator, Path | None], Deception]


@dataclass(frozen=True)
class Outcome:
    """What came of a try."""

    right: bool
    """Whether the answer is the truth."""
    among: bool
    """Whether the truth is the answer or one of the alternatives, or one of these shifted along what is said to be
    open."""
    pose: Pose
    """The answer."""


@dataclass(frozen=True)
class Kind:
    """A kind of deceptions; the seed varies sizes, proportions, noise, sensors and poses."""

    name: str
    family: Family
    """Decidable: the clouds contradict every wrong answer, so none may be trusted. Undecidable, or nearly so: several
    answers look alike, so one may be trusted only if it is right. Honest: what users have; right answers stay trusted.
    """
    recipe: Recipe
    """In the frames of the sensors."""
    tolerance: tuple[float, float] = ROOM
    """By how many degrees and metres a right answer may be off."""
    needs_data: bool = False
    """Whether it takes real scans from a folder."""
    countable: bool = True
    """Whether the answers that look alike are few, so that the truth may be asked for among the alternatives: along an
    endless corridor there are any number of them, and from another floor little of it is to be seen."""

    def make(self, random: np.random.Generator, data: Path | None = None) -> Deception:
        """Return one of its kind: both clouds in the frames of their sensors, or one or both moved at random."""
        made = self.recipe(random, data)
        source_moves, target_moves = ((False, False), (True, True), (True, False))[random.choice(3, p=(0.4, 0.4, 0.2))]
        here, there = random_motion(random), random_motion(random)
        return made.moved(here if source_moves else np.eye(4), there if target_moves else np.eye(4))

    def number(self, number: int, data: Path | None = None) -> Deception:
        """Return a certain one of its kind, always the same."""
        return self.make(np.random.default_rng([zlib.crc32(self.name.encode()), number]), data)

    def judge(self, deception: Deception, pose: Pose) -> Outcome:
        """Compare an answer with the truth."""
        right = deception.is_right(pose.T_target_source, self.tolerance)
        turns, shifts = pose.degenerate_directions[:, :3], pose.degenerate_directions[:, 3:]
        shifts = shifts[np.linalg.norm(turns, axis=1) < _MERE_SHIFT]
        motions = [pose.T_target_source, *(other.T_target_source for other in pose.alternatives)]
        return Outcome(right, any(deception.is_right(motion, self.tolerance, shifts) for motion in motions), pose)


def random_motion(random: np.random.Generator, shift: float = 5.0) -> Array:
    """Return any turn, and a shift by up to so many metres along each axis."""
    return np.asarray(from_quaternions(random.normal(size=4), random.uniform(-shift, shift, 3)))
