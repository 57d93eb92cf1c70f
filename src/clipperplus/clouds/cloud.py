"""Clouds as callers give them, looked at once, where they come in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from .. import _core
from .._validation import as_array, as_points, attribute_of, in_order
from .._words import shown
from ..errors import LandmarkError

__all__ = ["Cloud", "RawCloud", "as_cloud", "as_finite_points", "as_viewpoint"]

_LARGEST = 1e100
"""Coordinates that can be squared and summed."""
_MOST_POINTS = 2**31 - 1
"""What the core can number."""
_RawPoints: TypeAlias = npt.NDArray[np.float32] | npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Cloud:
    """Points of a file, and what it says about them. The arrays of one that was read cannot be written to."""

    points: npt.NDArray[np.float64]
    """``(n, 3)`` finite coordinates."""
    dropped: int = 0
    """Points that were left out because a coordinate is no finite number."""
    normals: npt.NDArray[np.float64] | None = None
    """``(n, 3)`` as the file has them, of any length and maybe NaN; None if it has none."""
    viewpoint: npt.NDArray[np.float64] | None = None
    """``(3,)`` where the sensor was; None if the file does not say. Many programs write the origin for unknown."""


@dataclass(frozen=True, eq=False)
class RawCloud:
    """Points that have been checked: whoever gets one need not look again. They are the caller's, not a copy."""

    points: _RawPoints
    """``(n, 3)``, finite, row after row, in single or double precision."""
    bounds: _core.Bounds
    """Where they lie."""
    dropped: int
    """Points that were left out because a coordinate is no finite number."""

    @property
    def extent(self) -> float:
        """Metres: the longest side of the box around the points."""
        return float(np.subtract(self.bounds.high, self.bounds.low).max())

    @property
    def farthest(self) -> float:
        """The largest coordinate, whatever its sign."""
        return float(np.abs((self.bounds.low, self.bounds.high)).max())


def as_cloud(name: str, value: Any, *, threads: int = 1) -> RawCloud:
    """Return the points of a cloud whose coordinates are finite; anything with ``.points`` is one."""
    array = as_array(name, attribute_of(name, value, "points", value), LandmarkError)
    if array.ndim != 2 or array.shape[1] != 3 or array.dtype.kind != "f":
        points: _RawPoints = as_points(name, array, (3,))
    else:
        with np.errstate(over="ignore"):  # a long double may be too large
            single = array.dtype.itemsize == 4
            points = in_order(array, np.float32, name) if single else in_order(array, np.float64, name)
    if len(points) > _MOST_POINTS:
        raise LandmarkError(f"{name}: expected at most {_MOST_POINTS} points, got {len(points)}")
    bounds = _core.bounds_of(points, threads)
    dropped = len(points) - bounds.finite
    if dropped:
        points = points[np.isfinite(points).all(axis=1)]
    return _usual(name, RawCloud(points, bounds, dropped))


def as_finite_points(name: str, value: Any) -> npt.NDArray[np.float64]:
    """Return points in double precision; unlike in a cloud, none may be left out."""
    points = as_points(name, value, (3,))
    return np.asarray(_usual(name, RawCloud(points, _core.bounds_of(points, 1), 0)).points, dtype=np.float64)


def _usual(name: str, cloud: RawCloud) -> RawCloud:
    """Refuse coordinates that are astronomical."""
    if cloud.farthest > _LARGEST:
        raise LandmarkError(f"{name}: expected coordinates of at most {_LARGEST:g}, got {cloud.farthest:g}")
    return cloud


def as_viewpoint(name: str, value: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Return the place of a sensor, three finite coordinates."""
    array = as_array(name, value, LandmarkError)
    place = array.astype(np.float64) if array.shape == (3,) and array.dtype.kind in "iuf" else None
    if place is None or not (np.abs(place) <= _LARGEST).all():
        raise LandmarkError(f"{name}: expected three finite coordinates, got {shown(value)}")
    return place
