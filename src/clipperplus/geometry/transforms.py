"""Moving points by rigid transforms, and how far two transforms are apart."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .._validation import as_array, as_points
from ..errors import LandmarkError
from .poses import FILE_ROUNDING, Poses, as_poses, inverse, rotation_angles

__all__ = ["apply_transform", "rotation_error", "translation_error"]


def apply_transform(T: npt.ArrayLike, points: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Move ``(n, 3)`` points by a ``(4, 4)`` rigid transform."""
    motion = _as_stack("T", T)
    if motion.ndim != 2:
        raise LandmarkError(f"T: expected one transform of shape (4, 4), got {motion.shape}")
    return np.asarray(as_points("points", points, (3,)) @ motion[:3, :3].T + motion[:3, 3])


def rotation_error(T_estimated: npt.ArrayLike, T_true: npt.ArrayLike) -> Any:
    """Return the angle between rotations in degrees, 0 to 180; precise for small ones, too.

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
    """Return one rigid motion or a stack of them, in its own shape; truths from files are slightly off."""
    array = as_array(name, value, LandmarkError)
    if array.ndim == 2 and array.shape == (4, 4):
        return np.asarray(as_poses(name, array[None], FILE_ROUNDING)[0])
    return as_poses(name, array, FILE_ROUNDING)
