"""Moving points by rigid transforms, and how far two transforms are apart."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .._validation import as_array, as_points
from ..errors import LandmarkError
from .poses import FILE_ROUNDING, Poses, as_poses, inverse, rotation_angles, without_scale

__all__ = ["apply_transform", "rotation_error", "translation_error"]


_FLAT = 1e-9
"""By how much a transform may fail to keep the plane of x and y."""


def apply_transform(T: npt.ArrayLike, points: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Move ``(n, 3)`` points by a ``(4, 4)`` rigid transform, or one with a scale, as of ``motion="similarity"``.

    ``(n, 2)`` points are moved by a transform that keeps the plane of x and y, and stay in it.
    """
    array = as_array("T", T, LandmarkError)
    if array.shape != (4, 4):
        raise LandmarkError(f"T: expected one transform of shape (4, 4), got {array.shape}")
    motion = _with_scale(array)
    places = as_points("points", points)
    if places.shape[1] == 3:
        return np.asarray(places @ motion[:3, :3].T + motion[:3, 3])
    if np.abs([*motion[2, :2], *motion[:2, 2], motion[2, 3]]).max() > _FLAT:
        raise LandmarkError("T: expected a transform that keeps the plane of x and y, for points of the plane")
    return np.asarray(places @ motion[:2, :2].T + motion[:2, 3])


def rotation_error(T_estimated: npt.ArrayLike, T_true: npt.ArrayLike) -> Any:
    """Return the angle between rotations in degrees, 0 to 180; precise for small ones, too. Scales do not count.

    A number for two ``(4, 4)`` matrices; ``(k,)`` where one or both are ``(k, 4, 4)``.
    """
    estimated, true = _as_stacks(T_estimated, T_true)
    return np.degrees(rotation_angles(inverse(true) @ estimated))[()]


def translation_error(T_estimated: npt.ArrayLike, T_true: npt.ArrayLike) -> Any:
    """Return the distance between translations, in the unit of the points; shapes as in :func:`rotation_error`."""
    estimated, true = _as_stacks(T_estimated, T_true)
    return np.linalg.norm(estimated[..., :3, 3] - true[..., :3, 3], axis=-1)[()]


def _as_stacks(estimated: npt.ArrayLike, true: npt.ArrayLike) -> tuple[Poses, Poses]:
    motions = _as_stack("T_estimated", estimated), _as_stack("T_true", true)
    lengths = {len(stack) for stack in motions if stack.ndim == 3} - {1}
    if len(lengths) > 1:
        raise LandmarkError(f"T_true: expected one transform, or {len(motions[0])}, got {len(motions[1])}")
    return motions


def _as_stack(name: str, value: npt.ArrayLike) -> Poses:
    """Return one rigid motion or a stack of them, in its own shape; truths from files are slightly off.

    Those with a scale are returned without it.
    """
    array = as_array(name, value, LandmarkError)
    if array.ndim == 2 and array.shape == (4, 4):
        return np.asarray(as_poses(name, _unscaled(array[None]), FILE_ROUNDING)[0])
    return as_poses(name, _unscaled(array), FILE_ROUNDING)


def _unscaled(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return what may be similarities as rigid motions; anything else as it is."""
    if array.ndim != 3 or array.shape[1:] != (4, 4) or array.dtype.kind not in "iuf" or not np.isfinite(array).all():
        return array
    poses = array.astype(np.float64)
    scales = np.cbrt(np.linalg.det(poses[:, :3, :3]))
    return array if (np.abs(scales - 1.0) < FILE_ROUNDING).all() or (scales <= 0.0).any() else without_scale(poses)


def _with_scale(array: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Return a rigid motion, or a similarity."""
    motion = _as_stack("T", array)
    scale = float(np.cbrt(np.linalg.det(np.asarray(array[:3, :3], dtype=np.float64))))
    if abs(scale - 1.0) >= FILE_ROUNDING:
        motion[:3, :3] = array[:3, :3]
    return motion
