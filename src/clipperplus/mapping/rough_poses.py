"""Poses that are roughly known beforehand, from odometry or by hand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from .._validation import as_array, as_number
from ..errors import LandmarkError
from ..geometry.poses import FILE_ROUNDING, as_poses, inverse, made_rigid, rotation_angles

__all__ = ["RoughPoses", "as_rough_poses"]

_Array: TypeAlias = npt.NDArray[np.float64]

_USUAL_DEGREES = 20.0
_USUAL_VOXELS = 20.0
"""How far off poses may be that come without a bound."""


@dataclass(frozen=True, eq=False, init=False)
class RoughPoses:
    """Where scans stand, and how far two of them may be off relative to each other: ``build_map(…, poses=…)``."""

    poses: npt.NDArray[np.float64]
    """``(k, 4, 4)`` from each scan to a common frame; NaN where nothing is known."""
    max_translation: float
    """Metres by which the true pose of one scan, as seen from another, may be away from what these say."""
    max_rotation_deg: float
    """Degrees by which it may turn away."""

    def __init__(self, poses: npt.ArrayLike, max_translation: float, max_rotation_deg: float = _USUAL_DEGREES) -> None:
        """Check what was given; the poses are copied."""
        array = as_array("poses", poses, LandmarkError)
        if array.ndim != 3 or array.shape[1:] != (4, 4) or array.dtype.kind not in "iuf":
            raise LandmarkError(f"poses: expected an array of shape (k, 4, 4), got {array.shape}")
        checked = np.full(array.shape, np.nan)
        known = ~np.isnan(array.astype(np.float64)).any(axis=(1, 2))
        checked[known] = made_rigid(as_poses("poses", array[known], FILE_ROUNDING))
        object.__setattr__(self, "poses", checked)
        object.__setattr__(self, "max_translation", as_number("max_translation", max_translation, 0.0, np.inf))
        object.__setattr__(self, "max_rotation_deg", as_number("max_rotation_deg", max_rotation_deg, 0.0, 180.0))

    def of(self, numbers: list[int]) -> RoughPoses:
        """Return those of some scans."""
        return RoughPoses(self.poses[numbers], self.max_translation, self.max_rotation_deg)

    def allows(self, source: int, target: int, motions: _Array, middle: _Array) -> npt.NDArray[np.bool_]:
        """Return which of several motions from one scan to another agree, for a source with this middle."""
        if np.isnan(self.poses[[source, target]]).any():
            return np.ones(len(motions), dtype=np.bool_)
        rough = (inverse(self.poses[[target]]) @ self.poses[[source]])[0]
        turns = np.degrees(rotation_angles(rough[:3, :3].T @ motions[:, :3, :3]))
        change = motions - rough
        shifts = np.linalg.norm(change[:, :3, :3] @ middle + change[:, :3, 3], axis=1)
        return np.asarray((turns <= self.max_rotation_deg) & (shifts <= self.max_translation))

    def frame_of(self, numbers: npt.NDArray[np.int64], poses: _Array) -> _Array:
        """Return the motion ``(1, 4, 4)`` that puts scans where these poses have them, as well as it can be done."""
        given = self.poses[numbers]
        known = ~np.isnan(given).any(axis=(1, 2))
        if not known.any():
            return np.eye(4)[None]
        each = given[known] @ inverse(poses[known])
        left, _, right = np.linalg.svd(each[:, :3, :3].sum(axis=0))
        frame = np.eye(4)
        frame[:3, :3] = left @ np.diag([1.0, 1.0, np.linalg.det(left @ right)]) @ right
        here, there = poses[known][:, :3, 3].mean(axis=0), given[known][:, :3, 3].mean(axis=0)
        frame[:3, 3] = there - frame[:3, :3] @ here
        return frame[None]


def as_rough_poses(poses: Any, count: int, voxel_size: float) -> RoughPoses:
    """Return what is known of the poses of so many scans."""
    known = poses if isinstance(poses, RoughPoses) else RoughPoses(poses, _USUAL_VOXELS * voxel_size)
    if len(known.poses) != count:
        raise LandmarkError(f"poses: expected one for each of {count} scans, got {len(known.poses)}")
    return known
