"""Pinhole cameras: from points to pixels, and back to directions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .._validation import as_array
from ..errors import OptionError

__all__ = ["Intrinsics", "LocalFrame"]

_Array = npt.NDArray[np.float64]

_LARGEST = 1e9
"""Pixels: what is more is no camera."""
_SMALLEST = 1e-6


@dataclass(frozen=True)
class Intrinsics:
    """What a camera makes of directions: pixel = (fx x + skew y + cx z, fy y + cy z) / z."""

    fx: float
    """Focal length along the rows of the image, in pixels, …"""
    fy: float
    """… and along its columns."""
    cx: float
    """The pixel that is straight ahead."""
    cy: float
    skew: float = 0.0

    @classmethod
    def check(cls, given: Any) -> Intrinsics:
        """Take a ``(3, 3)`` matrix, or four numbers fx, fy, cx, cy; refuse what is no camera."""
        if isinstance(given, cls):
            return given
        array = as_array("intrinsics", given, OptionError)
        if array.shape not in ((3, 3), (4,)) or array.dtype.kind not in "iuf":
            raise OptionError(
                f"intrinsics: expected a (3, 3) matrix or (fx, fy, cx, cy), got {array.dtype} {array.shape}"
            )
        numbers = array.astype(np.float64)
        if array.shape == (3, 3):
            matrix = numbers / numbers[2, 2] if numbers[2, 2] not in (0.0, 1.0) else numbers
            if not np.array_equal(matrix[[1, 2, 2, 2], [0, 0, 1, 2]], (0.0, 0.0, 0.0, 1.0)):
                rows = "[[fx, skew, cx], [0, fy, cy], [0, 0, 1]]"
                raise OptionError(f"intrinsics: expected a matrix {rows}, got {numbers.tolist()}")
            numbers = matrix[[0, 1, 0, 1, 0], [0, 1, 2, 2, 1]]
        if not (np.abs(numbers) < _LARGEST).all() or not (numbers[:2] > _SMALLEST).all():
            raise OptionError(
                f"intrinsics: expected finite numbers and focal lengths above 0, in pixels, got {numbers.tolist()}"
            )
        return cls(*numbers.tolist())

    @property
    def matrix(self) -> _Array:
        """``(3, 3)``."""
        return np.array([[self.fx, self.skew, self.cx], [0.0, self.fy, self.cy], [0.0, 0.0, 1.0]])

    @property
    def scale(self) -> tuple[float, float, float]:
        """What makes pixels of a miss at focal length 1, as the core takes it."""
        return self.fx, self.skew, self.fy

    def places(self, pixels: _Array) -> _Array:
        """Return where pixels are in the image of a camera of focal length 1."""
        y = (pixels[:, 1] - self.cy) / self.fy
        return np.column_stack(((pixels[:, 0] - self.cx - self.skew * y) / self.fx, y))

    def project(self, T_camera_world: _Array, points: _Array) -> _Array:
        """Return the pixels ``(n, 2)`` of points; NaN for those that are not in front of the camera.

        Many poses ``(k, 4, 4)`` with a point each give a pixel each.
        """
        seen = np.einsum("...ij,...j->...i", T_camera_world[..., :3, :3], points) + T_camera_world[..., :3, 3]
        with np.errstate(all="ignore"):
            flat = seen[..., :2] / np.where(seen[..., 2:] > 0.0, seen[..., 2:], np.nan)
        x, y = flat[..., 0], flat[..., 1]
        return np.stack((self.fx * x + self.skew * y + self.cx, self.fy * y + self.cy), axis=-1)


@dataclass(frozen=True, eq=False)
class LocalFrame:
    """An origin and a unit of length in which the coordinates of points are at most about 1, so that none is lost."""

    origin: _Array
    unit: float
    """A power of two."""

    @classmethod
    def of(cls, points: _Array) -> LocalFrame:
        """Return that of some points."""
        origin = np.median(points, axis=0) if len(points) else np.zeros(3)
        with np.errstate(over="ignore"):
            size = float(np.abs(points - origin).max(initial=0.0))
        return cls(origin, 2.0 ** round(math.log2(size)) if 0.0 < size < math.inf else 1.0)

    def points(self, points: _Array) -> _Array:
        """Return points in this frame."""
        return (points - self.origin) / self.unit

    def poses(self, poses: _Array) -> _Array:
        """Return poses of a camera for points in this frame, in its unit."""
        result = poses.copy()
        result[..., :3, 3] = (poses[..., :3, 3] + poses[..., :3, :3] @ self.origin) / self.unit
        return result

    def world_poses(self, poses: _Array) -> _Array:
        """Return poses for points as they were, from those for points in this frame."""
        result = poses.copy()
        result[..., :3, 3] = self.unit * poses[..., :3, 3] - poses[..., :3, :3] @ self.origin
        return result
