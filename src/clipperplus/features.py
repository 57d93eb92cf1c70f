"""What a surface looks like around a point: fast point feature histograms, and clouds that are ready to be matched."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _core
from .errors import OptionError
from .preprocess import (
    Neighbourhoods,
    as_cloud,
    as_viewpoint,
    choose_voxel_size,
    estimate_normals,
    found_neighbours,
    voxel_means,
)
from .timing import Lap, Laps
from .validation import as_integer, as_length, as_unit_vectors

__all__ = ["PreparedCloud", "compute_fpfh", "prepare", "prepare_as"]

_NORMAL_RADIUS = 2.0
"""Voxels: the neighbours that a normal is fitted to."""
_FEATURE_RADIUS = 5.0
"""Voxels: the neighbours that a feature describes."""
_GRID_REACH = 2
"""Voxels around a surface in which its nearest point can be looked up, and half a voxel more."""


def compute_fpfh(
    points: Any,
    normals: Any,
    *,
    radius: float,
    neighbours: Neighbourhoods | None = None,
    threads: int = 1,
) -> npt.NDArray[np.float32]:
    """Return the fast point feature histogram of every point, ``(n, 33)`` numbers (Rusu, Blodow, Beetz, ICRA 2009).

    Three angles between normals, 11 bins each, over the neighbours within ``radius`` metres: those of the point itself
    plus the mean of those of its neighbours, weighted by one over the squared distance. Either adds up to 100 an angle
    (the first to less where points coincide), so all to 600. The definition is spelled out in
    ``cpp/core/clouds/fpfh.h``. ``neighbours`` saves the search where they are known. A point without neighbours has
    zeros.
    """
    radius = as_length("radius", radius)
    threads = as_integer("threads", threads, 1, 1024)
    neighbours = found_neighbours(points, radius, neighbours, threads)
    if neighbours.radius != radius:
        raise OptionError(f"neighbours: expected those within {radius}, got those within {neighbours.radius}")
    directions = as_unit_vectors("normals", normals, len(neighbours))
    return _core.compute_fpfh(neighbours.points, directions, neighbours._native, threads)


@dataclass(frozen=True, eq=False)
class PreparedCloud:
    """All that registration needs of one cloud; prepare it once to register it with several others."""

    points: npt.NDArray[np.float64]
    """``(n, 3)``: one for each voxel."""
    normals: npt.NDArray[np.float64]
    """``(n, 3)``, unit length, towards the sensor."""
    features: npt.NDArray[np.float32]
    """``(n, 33)``."""
    voxel_size: float
    """Metres."""
    sight: _core.RangeImage
    """How far the sensor saw in every direction from its viewpoint."""
    num_raw: int
    """Points of the cloud before."""
    num_dropped: int
    """Points that were left out because a coordinate was no finite number."""
    stages: tuple[Lap, ...]
    """What was done and how long it took."""

    def __getstate__(self) -> dict[str, Any]:
        """Return what a copy in another process needs; the surface is made again there."""
        return {name: value for name, value in self.__dict__.items() if name != "surface"}

    @functools.cached_property
    def surface(self) -> _core.SurfaceGrid:
        """The nearest points around the surface, to lay another cloud on it."""
        return _core.SurfaceGrid(self.points, self.normals, self.voxel_size, _GRID_REACH)


def prepare(
    cloud: Any,
    *,
    voxel_size: float | None = None,
    viewpoint: npt.ArrayLike | None = None,
    threads: int = 1,
) -> PreparedCloud:
    """Take voxel means of a cloud, their normals and features.

    Parameters
    ----------
    cloud
        ``(n, 3)`` points, or anything with ``.points``. Points that are not finite are left out.
    voxel_size
        Metres; None: chosen by :func:`clipperplus.preprocess.choose_voxel_size`.
    viewpoint
        Where the sensor was; None: what the cloud says in ``.viewpoint``, or else the origin.
    threads
        The result does not depend on it.

    """
    threads = as_integer("threads", threads, 1, 1024)
    if voxel_size is not None:
        voxel_size = as_length("voxel_size", voxel_size)
    return prepare_as(("cloud", "viewpoint"), cloud, voxel_size, viewpoint, threads)


def prepare_as(
    names: tuple[str, str], cloud: Any, voxel_size: float | None, viewpoint: npt.ArrayLike | None, threads: int
) -> PreparedCloud:
    """Do the same; what is wrong with cloud or viewpoint is said with the names that the caller has for them."""
    laps = Laps()
    points, dropped = as_cloud(names[0], cloud)
    if viewpoint is None:
        told = None if isinstance(cloud, np.ndarray) else getattr(cloud, "viewpoint", None)
        viewpoint = (0.0, 0.0, 0.0) if told is None else told
    sensor = as_viewpoint(names[1], viewpoint)
    if voxel_size is None:
        voxel_size = choose_voxel_size(points)
    means = voxel_means(points, voxel_size)
    laps.lap("voxels", len(means))
    neighbours = Neighbourhoods(means, radius=_FEATURE_RADIUS * voxel_size, threads=threads)
    laps.lap("neighbours")
    normals = estimate_normals(
        means, radius=_NORMAL_RADIUS * voxel_size, viewpoint=sensor, neighbours=neighbours, threads=threads
    )
    laps.lap("normals")
    features = compute_fpfh(means, normals, radius=neighbours.radius, neighbours=neighbours, threads=threads)
    laps.lap("features")
    sight = _core.RangeImage(points, sensor)
    laps.lap("line of sight")
    return PreparedCloud(means, normals, features, voxel_size, sight, len(points) + dropped, dropped, laps.steps)
