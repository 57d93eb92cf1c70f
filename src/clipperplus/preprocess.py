"""From raw points to evenly spaced ones with normals: one mean a voxel, neighbours, normals that face the sensor."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _core
from .errors import LandmarkError, OptionError
from .validation import as_array, as_integer, as_length, as_points

__all__ = [
    "Neighbourhoods",
    "as_cloud",
    "as_viewpoint",
    "choose_voxel_size",
    "downsample",
    "estimate_normals",
    "found_neighbours",
    "voxel_means",
]

_MOST_CELLS = 2**21 - 6
"""Cells along an axis that the core can tell apart."""
_LARGEST = 1e100
"""Coordinates that can be squared and summed."""
_SMALLEST_EXTENT = 1e-90
"""Metres: points that are closer than this are at one place."""
_MEANT_POINTS = 5000
"""Voxels that an automatic size aims at: a fragment of a room then has voxels of 5 cm, as the paper's."""


def as_cloud(name: str, value: Any) -> tuple[npt.NDArray[np.float64], int]:
    """Return the points of a cloud whose coordinates are finite, and how many others were left out."""
    if not isinstance(value, np.ndarray) and hasattr(value, "points"):
        value = value.points
    array = as_array(name, value, LandmarkError)
    dropped = 0
    if array.ndim == 2 and array.shape[1] == 3 and array.dtype.kind == "f" and not np.isfinite(array).all():
        finite = np.isfinite(array).all(axis=1)
        array, dropped = array[finite], int(len(array) - finite.sum())
    return _as_usual_points(name, array), dropped


def _as_usual_points(name: str, value: Any) -> npt.NDArray[np.float64]:
    """Return finite points whose coordinates are not astronomical."""
    points = as_points(name, value, (3,))
    if len(points) and np.abs(points).max() > _LARGEST:
        raise LandmarkError(f"{name}: expected coordinates of at most {_LARGEST:g}, got {np.abs(points).max():g}")
    return points


def as_viewpoint(name: str, value: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Return the place of a sensor, three finite coordinates."""
    array = as_array(name, value, LandmarkError)
    if array.shape != (3,) or array.dtype.kind not in "iuf" or not (np.abs(array) <= _LARGEST).all():
        raise LandmarkError(f"{name}: expected three finite coordinates, got {value!r}")
    return np.array(array, dtype=np.float64)


def downsample(points: Any, *, voxel_size: float) -> npt.NDArray[np.float64]:
    """Return the mean of the points in every occupied cell of a grid, in the order of the cells.

    ``voxel_size`` is the width of a cell in metres. The order of the points does not matter, but for rounding.
    """
    return voxel_means(as_cloud("points", points)[0], as_length("voxel_size", voxel_size))


def voxel_means(points: npt.NDArray[np.float64], voxel_size: float) -> npt.NDArray[np.float64]:
    """Do the same for arguments that were checked."""
    try:
        return _core.voxel_means(points, voxel_size)[0]
    except ValueError:
        raise _too_small("voxel_size", voxel_size, points) from None


def choose_voxel_size(*clouds: Any) -> float:
    """Return a voxel size, in metres, at which the larger one of some clouds keeps about 5000 points.

    Clouds of fewer than 10 000 points keep about half of them. Rounded to two digits.
    """
    wanted = 0.0
    for number, cloud in enumerate(clouds):
        points, _ = as_cloud(f"clouds[{number}]", cloud)
        if len(points):
            extent = float(np.ptp(points, axis=0).max())
            wanted = max(wanted, _size_for(points, extent, min(_MEANT_POINTS, len(points) / 2)))
    size = wanted or 1.0  # all points at one place: any size will do
    return float(f"{size:.2g}")


def _size_for(points: npt.NDArray[np.float64], extent: float, meant: float) -> float:
    """Return a voxel size with about so many occupied voxels; 0 where all points are at one place."""
    if extent < _SMALLEST_EXTENT:
        return 0.0
    least = max(1e-5 * extent, 2.0**-40 * float(np.abs(points).max()))  # the core can tell such cells apart
    low, high = least, max(least, extent)
    size = extent / math.sqrt(meant)
    for _ in range(20):
        if not low < size < high:
            size = math.sqrt(low * high)
        ratio = len(_core.voxel_means(points, size)[1]) / meant
        if abs(ratio - 1.0) < 0.03 or high < 1.02 * low:
            break
        low, high = (size, high) if ratio > 1.0 else (low, size)
        size *= math.sqrt(ratio)  # as on a surface, where the number falls with the square of the size
    return size


class Neighbourhoods:
    """The points within a radius of each point, found once for normals and features."""

    def __init__(self, points: Any, *, radius: float, threads: int = 1) -> None:
        self.points = _as_usual_points("points", points)
        self.radius = as_length("radius", radius)
        threads = as_integer("threads", threads, 1, 1024)
        try:
            self._native = _core.find_neighbours(self.points, self.radius, threads)
        except ValueError as reason:
            if "cells" in str(reason):
                raise _too_small("radius", self.radius, self.points) from None
            raise OptionError(f"radius: {radius} gives more than 2²⁸ neighbours; expected less") from None

    def __len__(self) -> int:
        return len(self.points)

    def of(self, point: int) -> npt.NDArray[np.int32]:
        """Return the numbers of the points near one, itself not among them."""
        return self._native.of(as_integer("point", point, 0, len(self.points) - 1))


def found_neighbours(points: Any, radius: float, known: Neighbourhoods | None, threads: int) -> Neighbourhoods:
    """Return the neighbours of points within at least a radius: those that are known, if they are those, or found."""
    if known is None:
        return Neighbourhoods(points, radius=radius, threads=threads)
    if not np.array_equal(as_points("points", points, (3,)), known.points):
        raise OptionError("neighbours: expected those of the points, got those of others")
    if known.radius < radius:
        raise OptionError(f"neighbours: expected those within at least {radius}, got those within {known.radius}")
    return known


def estimate_normals(
    points: Any,
    *,
    radius: float,
    viewpoint: npt.ArrayLike = (0.0, 0.0, 0.0),
    neighbours: Neighbourhoods | None = None,
    threads: int = 1,
) -> npt.NDArray[np.float64]:
    """Return unit normals: the direction in which the points within ``radius`` spread least, towards the sensor.

    ``viewpoint`` is where the sensor was; ``neighbours`` those of the points within at least the radius, if they are
    known. A point with fewer than three others around it has the direction to the sensor.
    """
    radius = as_length("radius", radius)
    threads = as_integer("threads", threads, 1, 1024)
    neighbours = found_neighbours(points, radius, neighbours, threads)
    sensor = as_viewpoint("viewpoint", viewpoint)
    return _core.estimate_normals(neighbours.points, neighbours._native, radius, sensor, threads)


def _too_small(name: str, size: float, points: npt.NDArray[np.float64]) -> OptionError:
    """Return the error where cells are too many for the core, or too far out for their numbers to be exact."""
    extent = float(np.ptp(points, axis=0).max())
    least = max(extent / _MOST_CELLS, float(np.abs(points).max()) * 1e-15)
    return OptionError(f"{name}: expected at least {least:.3g} for points that spread {extent:.3g}, got {size:g}")
