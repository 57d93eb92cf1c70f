"""Rigid motions in 3-D as 4 × 4 matrices, many at a time."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from .._validation import as_array
from ..errors import LandmarkError

__all__ = [
    "FILE_ROUNDING",
    "Poses",
    "adjoint",
    "are_information",
    "are_rigid",
    "are_semidefinite",
    "as_poses",
    "as_similarity",
    "from_quaternions",
    "inverse",
    "logarithm",
    "made_rigid",
    "rotation_angles",
    "to_quaternions",
    "twists",
    "unscaled",
    "without_scale",
]

Poses: TypeAlias = npt.NDArray[np.float64]
"""``(k, 4, 4)``."""

_LAST_ROW_ROUNDING = 1e-9
"""By how much the last row may fail to be 0 0 0 1, as it does after ``np.linalg.inv``."""
_ROUNDING = 1e-6
"""By how much a rotation may fail to be one: entries of R R^T - I."""
_ROTATION_ROUNDING = 1e-12
"""By how much a rotation in double precision may stretch."""
FILE_ROUNDING = 1e-2
"""The same for what others measured and wrote to files: in 3DMatch's kitchen, rotations are 5e-4 off."""
_SCALED = 1e-3
"""By how much a scale must be off from 1 to be one, and no rounding."""
_INFORMATION_ROUNDING = 1e-6
"""By how much an information matrix may fail to be symmetric, or an eigenvalue to be positive, of its largest."""


def as_poses(name: str, value: Any, rounding: float = _ROUNDING) -> Poses:
    """Return rigid motions as ``(k, 4, 4)``; what is no rotation and translation is refused."""
    array = as_array(name, value, LandmarkError)
    if array.shape == (0,):
        return np.empty((0, 4, 4))
    if array.ndim != 3 or array.shape[1:] != (4, 4):
        raise LandmarkError(f"{name}: expected poses of shape (k, 4, 4), got {array.shape}")
    if array.dtype.kind not in "iuf":
        raise LandmarkError(f"{name}: expected numbers, got dtype {array.dtype}")
    with np.errstate(over="ignore"):  # a long double may be too large
        poses = np.array(array, dtype=np.float64)
    sound = are_rigid(poses, rounding)
    if not sound.all():
        raise LandmarkError(f"{name}: pose {int(sound.argmin())} is no rotation and translation")
    poses[:, 3] = (0.0, 0.0, 0.0, 1.0)
    return poses


def made_rigid(poses: Poses) -> Poses:
    """Return the motions whose rotations are nearest to those of matrices that are rounded; others stay as they are."""
    left, stretch, right = np.linalg.svd(poses[:, :3, :3])
    rounded = np.abs(stretch - 1.0).max(axis=1) > _ROTATION_ROUNDING
    result = poses.copy()
    result[rounded, :3, :3] = left[rounded] @ right[rounded]
    return result


def without_scale(poses: Poses) -> Poses:
    """Return similarities ``(…, 4, 4)`` with turns in the place of enlarged turns; rigid motions stay as they are."""
    scales = np.cbrt(np.linalg.det(poses[..., :3, :3]))
    scaled = np.abs(scales - 1.0) > _ROUNDING
    if not scaled.any():
        return poses
    result = poses.copy()
    result[..., :3, :3] /= np.where(scaled, scales, 1.0)[..., None, None]
    return result


def unscaled(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return what may be ``(k, 4, 4)`` similarities as rigid motions; anything else as it is."""
    if array.ndim != 3 or array.shape[1:] != (4, 4) or array.dtype.kind not in "iuf" or not np.isfinite(array).all():
        return array
    with np.errstate(all="ignore"):
        scales = np.cbrt(np.linalg.det(array[:, :3, :3].astype(np.float64)))
    scaled = bool((np.abs(scales - 1.0) >= _SCALED).any()) and bool((scales > 0.0).all() and np.isfinite(scales).all())
    return without_scale(array.astype(np.float64)) if scaled else array


def as_similarity(name: str, value: Any) -> npt.NDArray[np.float64]:
    """Return one ``(4, 4)`` rigid motion, or one with a scale; anything else is refused."""
    array = as_array(name, value, LandmarkError)
    if array.shape != (4, 4):
        raise LandmarkError(f"{name}: expected one transform of shape (4, 4), got {array.shape}")
    rigid = unscaled(array[None])
    motion = as_poses(name, rigid, FILE_ROUNDING)[0]
    motion[:3, :3] = array[:3, :3]
    return np.asarray(motion)


def are_rigid(poses: Poses, rounding: float) -> npt.NDArray[np.bool_]:
    """Return which matrices are a rotation and a translation."""
    with np.errstate(all="ignore"):
        rotations = poses[:, :3, :3]
        products = rotations @ rotations.transpose(0, 2, 1)
        last_row = np.abs(poses[:, 3] - (0.0, 0.0, 0.0, 1.0))
        sound = np.isfinite(poses).all(axis=(1, 2)) & (last_row <= _LAST_ROW_ROUNDING).all(axis=1)
        sound &= (np.abs(products - np.eye(3)) < rounding).all(axis=(1, 2)) & (np.linalg.det(rotations) > 0.0)
    return np.asarray(sound)


def are_information(matrices: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
    """Return which ``(k, 6, 6)`` matrices say something about a motion, translation first, or nothing at all.

    Those are symmetric and have no negative eigenvalues, and a shift along x matters; zero says nothing.
    """
    nothing = ~matrices.any(axis=(1, 2))
    return np.asarray(are_semidefinite(matrices) & (nothing | (matrices[:, 0, 0] > 0.0)))


def are_semidefinite(matrices: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
    """Return which matrices are symmetric and have no negative eigenvalues, but for rounding."""
    finite = np.asarray(np.isfinite(matrices).all(axis=(1, 2)))
    some = np.where(finite[:, None, None], matrices, 0.0)
    largest = np.abs(some).max(axis=(1, 2), initial=0.0)
    some = some / np.where(largest > 0.0, largest, 1.0)[:, None, None]  # the numbers of a file may be huge
    skew = np.abs(some - some.transpose(0, 2, 1)).max(axis=(1, 2), initial=0.0)
    values = np.linalg.eigvalsh(0.5 * (some + some.transpose(0, 2, 1)))
    definite = values[:, 0] >= -_INFORMATION_ROUNDING * values[:, -1]
    return np.asarray(finite & definite & (skew <= _INFORMATION_ROUNDING))


def inverse(poses: Poses) -> Poses:
    """Return the motions back."""
    result = np.zeros_like(poses)
    turned = poses[..., :3, :3].swapaxes(-1, -2)
    result[..., :3, :3] = turned
    result[..., :3, 3] = -(turned @ poses[..., :3, 3:])[..., 0]
    result[..., 3, 3] = 1.0
    return result


def rotation_angles(poses: Poses) -> npt.NDArray[np.float64]:
    """Return by how much the motions turn, from 0 to π; precise for small angles, too."""
    return np.asarray(np.arctan2(np.linalg.norm(_axes(poses), axis=-1), np.trace(poses[..., :3, :3], 0, -2, -1) - 1.0))


def _axes(poses: Poses) -> npt.NDArray[np.float64]:
    """Return the axes of the rotations, of length 2 sin(angle)."""
    r = poses[..., :3, :3]
    return np.stack((r[..., 2, 1] - r[..., 1, 2], r[..., 0, 2] - r[..., 2, 0], r[..., 1, 0] - r[..., 0, 1]), axis=-1)


def logarithm(poses: Poses) -> npt.NDArray[np.float64]:
    """Return rotation vectors and translations as ``(k, 6)``: how far motions are from none, to first order."""
    skew, angles = _axes(poses), rotation_angles(poses)
    lengths = np.linalg.norm(skew, axis=-1)
    small = lengths < 1e-6
    turns = skew * np.where(small, 0.5, angles / np.where(small, 1.0, lengths))[..., None]
    # Near a half turn the axis is lost in the skew part; the symmetric part has it, but for its sign.
    half = small & (angles > 1.0)
    if half.any():
        symmetric = poses[half][:, :3, :3] + poses[half][:, :3, :3].swapaxes(-1, -2) + 2.0 * np.eye(3)
        best = np.argmax(np.diagonal(symmetric, axis1=-2, axis2=-1), axis=-1)
        axis = np.take_along_axis(symmetric, best[:, None, None], axis=-1)[..., 0]
        axis /= np.linalg.norm(axis, axis=-1)[:, None]
        sign = np.where((axis * skew[half]).sum(axis=-1) < 0.0, -1.0, 1.0)
        turns[half] = axis * (sign * angles[half])[:, None]
    return np.concatenate((turns, poses[..., :3, 3]), axis=-1)


def twists(poses: Poses) -> npt.NDArray[np.float64]:
    """Return the ``(k, 6)`` logarithms of motions, rotation first.

    Other than :func:`logarithm` they are the same motions in every frame: :func:`adjoint` carries large ones, too.
    """
    result = logarithm(poses)
    turns, moves = result[..., :3], result[..., 3:]
    squares = (turns**2).sum(axis=-1)
    small = squares < 1e-6
    half = 0.5 * np.sqrt(np.where(small, 1.0, squares))
    factor = np.where(small, 1.0 / 12.0 + squares / 720.0, (1.0 - half / np.tan(half)) / (4.0 * half**2))
    across = np.cross(turns, moves)
    result[..., 3:] = moves - 0.5 * across + factor[..., None] * np.cross(turns, across)
    return result


def adjoint(poses: Poses) -> npt.NDArray[np.float64]:
    """Return the ``(k, 6, 6)`` matrices that carry small motions (rotation first) through the given ones."""
    rotation, (x, y, z) = poses[..., :3, :3], np.moveaxis(poses[..., :3, 3], -1, 0)
    zero = np.zeros_like(x)
    cross = np.stack((zero, -z, y, z, zero, -x, -y, x, zero), axis=-1).reshape(*x.shape, 3, 3)
    result = np.zeros((*x.shape, 6, 6))
    result[..., :3, :3] = result[..., 3:, 3:] = rotation
    result[..., 3:, :3] = cross @ rotation
    return result


def to_quaternions(poses: Poses) -> npt.NDArray[np.float64]:
    """Return the rotations as ``(k, 4)`` unit quaternions x, y, z, w with w >= 0.

    I. Y. Bar-Itzhack, "New method for extracting the quaternion from a rotation matrix", JGCD 2000: an eigenvector, the
    nearest one where a matrix is slightly off.
    """
    r = poses[..., :3, :3]
    trace = np.trace(r, 0, -2, -1)[..., None, None]
    matrix = np.zeros((*r.shape[:-2], 4, 4))
    matrix[..., :3, :3] = r + r.swapaxes(-1, -2) - trace * np.eye(3)
    matrix[..., :3, 3] = matrix[..., 3, :3] = _axes(poses)
    matrix[..., 3:, 3:] = trace
    quaternions = np.linalg.eigh(matrix)[1][..., -1]
    return np.asarray(np.where(quaternions[..., 3:] < 0.0, -quaternions, quaternions))


def from_quaternions(quaternions: npt.NDArray[np.float64], translations: npt.NDArray[np.float64]) -> Poses:
    """Return the motions of ``(k, 4)`` quaternions x, y, z, w, of any length but zero, and ``(k, 3)`` translations."""
    x, y, z, w = np.moveaxis(quaternions / np.linalg.norm(quaternions, axis=-1, keepdims=True), -1, 0)
    poses = np.zeros((*x.shape, 4, 4))
    poses[..., 0, :3] = np.stack((1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - z * w), 2.0 * (x * z + y * w)), axis=-1)
    poses[..., 1, :3] = np.stack((2.0 * (x * y + z * w), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - x * w)), axis=-1)
    poses[..., 2, :3] = np.stack((2.0 * (x * z - y * w), 2.0 * (y * z + x * w), 1.0 - 2.0 * (x * x + y * y)), axis=-1)
    poses[..., :3, 3] = translations
    poses[..., 3, 3] = 1.0
    return poses
