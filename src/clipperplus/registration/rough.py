"""A transform that is roughly known beforehand, from odometry or by hand."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from .._validation import as_array, as_number
from ..errors import LandmarkError, OptionError
from ..geometry.poses import FILE_ROUNDING, as_poses, inverse, made_rigid, rotation_angles

__all__ = ["RoughTransform", "as_rough"]

_Array: TypeAlias = npt.NDArray[np.float64]

_ROUNDING = 1e-12
"""By how much what is exactly at a bound may seem to be beyond."""


@dataclass(frozen=True, eq=False, init=False)
class RoughTransform:
    """Where a transform is, and how far it may be from there: ``register(…, initial=…)``."""

    T_target_source: npt.NDArray[np.float64]
    """``(4, 4)``."""
    max_translation: float
    """Metres by which the true transform may move the middle of the source away from where this one does."""
    max_rotation_deg: float
    """Degrees by which it may turn away; 180, any turn, unless told."""

    def __init__(self, T_target_source: npt.ArrayLike, max_translation: float, max_rotation_deg: float = 180.0) -> None:
        """Check what was given; the transform is copied."""
        start = as_array("T_target_source", T_target_source, LandmarkError)
        if start.shape != (4, 4):
            raise LandmarkError(f"T_target_source: expected a transform of shape (4, 4), got {start.shape}")
        motion = made_rigid(as_poses("T_target_source", start[None], FILE_ROUNDING))[0]
        object.__setattr__(self, "T_target_source", motion)
        object.__setattr__(self, "max_translation", as_number("max_translation", max_translation, 0.0, math.inf))
        object.__setattr__(self, "max_rotation_deg", as_number("max_rotation_deg", max_rotation_deg, 0.0, 180.0))

    def allows(self, motions: _Array, middle: _Array) -> npt.NDArray[np.bool_]:
        """Whether each of ``(k, 4, 4)`` motions is within the bounds, for a source with this middle."""
        turns = rotation_angles(inverse(self.T_target_source[None]) @ motions)
        here = self.T_target_source[:3, :3] @ middle + self.T_target_source[:3, 3]
        there = motions[:, :3, :3] @ middle + motions[:, :3, 3]
        shifts = np.linalg.norm(there - here, axis=1)
        allowed = shifts <= self.max_translation + _ROUNDING * (1.0 + np.abs(here).max())
        return np.asarray(allowed & (turns <= math.radians(self.max_rotation_deg) + _ROUNDING))

    def explains(self, source: _Array, target: _Array, middle: _Array, epsilon: float) -> npt.NDArray[np.bool_]:
        """Whether a motion within the bounds may bring each source point within epsilon of its match.

        What none of them does is told by how far the point is moved, and by its distance from where the middle may be.
        """
        with np.errstate(over="ignore", invalid="ignore"):  # so far away that nothing is explained
            moved = source @ self.T_target_source[:3, :3].T + self.T_target_source[:3, 3]
            centre = self.T_target_source[:3, :3] @ middle + self.T_target_source[:3, 3]
            arms = np.linalg.norm(source - middle, axis=1)
            turn = 2.0 * math.sin(0.5 * math.radians(self.max_rotation_deg))
            slack = self.max_translation + epsilon
            near = np.linalg.norm(moved - target, axis=1) <= slack + turn * arms
            return np.asarray(near & (np.abs(np.linalg.norm(target - centre, axis=1) - arms) <= slack))


def as_rough(initial: object) -> RoughTransform | None:
    """Return what is known beforehand; None: nothing."""
    if initial is None or isinstance(initial, RoughTransform):
        return initial
    raise OptionError(
        "initial: expected a clipperplus.RoughTransform, which says how far off it may be, "
        f"got {type(initial).__name__}"
    )
