"""Rigid transforms of matched points, and how far two transforms are apart.

K. S. Arun, T. S. Huang and S. D. Blostein, "Least-squares fitting of two 3-D point sets", IEEE PAMI 1987, with the
guard against reflections of S. Umeyama, PAMI 1991.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .errors import LandmarkError
from .poses import FILE_ROUNDING, Poses, as_poses, inverse, rotation_angles
from .validation import as_array, as_points

__all__ = ["apply_transform", "fit_transform", "rotation_error", "translation_error"]


def fit_transform(
    source: npt.ArrayLike, target: npt.ArrayLike, *, weights: npt.ArrayLike | None = None
) -> npt.NDArray[np.float64]:
    """Find the rigid transform that moves points onto their matches, in the sense of least squares.

    Parameters
    ----------
    source, target
        ``(n, 3)`` points; row k of one belongs to row k of the other. At least three.
    weights
        ``(n,)``: how much a squared distance counts; 0 is as if the points were not there.

    Returns
    -------
    T_target_source
        ``(4, 4)``, always a proper rotation and a translation. Where the points do not determine the rotation (they are
        coincident or on a line), one of the best is returned, always the same one.

    """
    source, target = as_points("source", source, (3,)), as_points("target", target, (3,))
    if len(source) != len(target):
        raise LandmarkError(f"target: expected as many points as source has, {len(source)}, got {len(target)}")
    shares = np.ones(len(source)) if weights is None else _as_weights(weights, len(source))
    counting = shares > 0.0
    if counting.sum() < 3:
        what = "points" if weights is None else "points of positive weight"
        raise LandmarkError(f"source: expected at least 3 {what}, got {counting.sum()}")
    shares = shares[counting] / shares.max()
    shares /= shares.sum()
    source_centre, source_spread = _centred(source[counting], shares)
    target_centre, target_spread = _centred(target[counting], shares)
    u, _, vt = np.linalg.svd((source_spread * shares[:, None]).T @ target_spread)
    if np.linalg.det(u) * np.linalg.det(vt) < 0.0:  # turn the weakest direction: the best that is no reflection
        u[:, 2] *= -1.0
    result = np.eye(4)
    result[:3, :3] = (u @ vt).T
    with np.errstate(over="ignore", invalid="ignore"):
        result[:3, 3] = target_centre - result[:3, :3] @ source_centre
    if not np.isfinite(result).all():
        raise LandmarkError("source, target: the points are too far from the origin for a translation between them")
    return result


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


def _as_weights(value: npt.ArrayLike, count: int) -> npt.NDArray[np.float64]:
    array = as_array("weights", value, LandmarkError)
    if array.shape != (count,) or array.dtype.kind not in "biuf":
        raise LandmarkError(f"weights: expected {count} numbers, one per point, got {array.dtype} {array.shape}")
    with np.errstate(over="ignore"):  # a long double may be too large
        weights = array.astype(np.float64)
    sound = np.isfinite(weights) & (weights >= 0.0)
    if not sound.all():
        wrong = int(sound.argmin())
        raise LandmarkError(f"weights: weight {wrong} is {weights[wrong]}; expected finite numbers of at least 0")
    return weights


def _centred(
    points: npt.NDArray[np.float64], shares: npt.NDArray[np.float64]
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return the centre of points, and where they are around it in a unit of their own."""
    # The unit is a power of two, so nothing is rounded, and neither huge nor tiny coordinates are lost in the products.
    unit = _power_of_two(points)
    first = points[0] / unit
    around = points / unit - first  # exactly zero for coincident points
    offset = shares @ around
    around -= offset
    with np.errstate(over="ignore"):
        return (first + offset) * unit, around / _power_of_two(around)


def _power_of_two(values: npt.NDArray[np.float64]) -> float:
    """Return a power of two near the largest value."""
    exponent = int(np.frexp(np.abs(values).max())[1])
    return float(np.ldexp(1.0, min(max(exponent, -1000), 1000)))
