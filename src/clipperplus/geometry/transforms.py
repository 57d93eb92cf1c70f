"""Moving points by rigid transforms, and how far two transforms are apart."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .._validation import as_array, as_points
from ..errors import LandmarkError
from .poses import FILE_ROUNDING, Poses, as_poses, as_similarity, inverse, rotation_angles, unscaled

__all__ = ["apply_transform", "rotation_error", "translation_error"]


_FLAT = 1e-9
"""By how much a transform may fail to keep the plane of x and y."""


def apply_transform(T: npt.ArrayLike, points: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Move ``(n, 3)`` points by a ``(4, 4)`` rigid transform, or one with a scale, as of ``motion="similarity"``.

    ``(n, 2)`` points are moved by a transform that keeps the plane of x and y, and stay in it.
    """
    motion = as_similarity("T", T)
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
        return np.asarray(as_poses(name, unscaled(array[None]), FILE_ROUNDING)[0])
    return as_poses(name, unscaled(array), FILE_ROUNDING)
