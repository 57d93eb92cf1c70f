"""Which way a surface faces at each point."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _core
from .._validation import as_integer, as_length
from .cloud import as_viewpoint
from .neighbourhoods import Neighbourhoods, known_or_found

__all__ = ["estimate_normals", "normals_within"]


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
    neighbours = known_or_found(points, radius, neighbours, threads)
    return normals_within(radius, neighbours, as_viewpoint("viewpoint", viewpoint), threads)


def normals_within(
    radius: float, neighbours: Neighbourhoods, sensor: npt.NDArray[np.float64], threads: int
) -> npt.NDArray[np.float64]:
    """Do the same for arguments that were checked."""
    return _core.estimate_normals(neighbours.points, neighbours._native, radius, sensor, threads)
