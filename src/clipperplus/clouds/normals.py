"""Which way a surface faces at each point."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _core
from .._validation import as_integer, as_length
from .cloud import as_viewpoint
from .neighbourhoods import Neighbourhoods, known_or_found

__all__ = ["estimate_normals", "normals_within", "turned_inwards"]


def estimate_normals(
    points: Any,
    *,
    radius: float,
    viewpoint: npt.ArrayLike | None = (0.0, 0.0, 0.0),
    neighbours: Neighbourhoods | None = None,
    threads: int = 1,
) -> npt.NDArray[np.float64]:
    """Return unit normals: the direction in which the points within ``radius`` spread least, towards the sensor.

    ``viewpoint`` is where the sensor was; None: that is not known, and each normal is turned to the side on which the
    mean of its point's neighbours lies. ``neighbours`` are those within at least the radius, if they are known; all
    count for the side. A point with fewer than three others around it has the direction to the sensor, or to the mean
    of all points.
    """
    radius = as_length("radius", radius)
    threads = as_integer("threads", threads, 1, 1024)
    neighbours = known_or_found(points, radius, neighbours, threads)
    if viewpoint is not None:
        return normals_within(radius, neighbours, as_viewpoint("viewpoint", viewpoint), threads)[0]
    points = neighbours.points
    middle = points.mean(axis=0) if len(points) else np.zeros(3)
    return turned_inwards(normals_within(radius, neighbours, middle, threads)[0], neighbours, threads)


def normals_within(
    radius: float, neighbours: Neighbourhoods, sensor: npt.NDArray[np.float64], threads: int
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Do the same for arguments that were checked, and return how much the surface bends at each point, 0 to 1/3."""
    return _core.estimate_normals(neighbours.points, neighbours._native, radius, sensor, threads)


def turned_inwards(
    normals: npt.NDArray[np.float64], neighbours: Neighbourhoods, threads: int
) -> npt.NDArray[np.float64]:
    """Return normals, each turned to the side on which the mean of its point's neighbours lies."""
    return _core.turn_inwards(neighbours.points, normals, neighbours._native, threads)
