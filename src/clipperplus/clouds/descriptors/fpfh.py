"""Fast point feature histograms.

R. B. Rusu, N. Blodow and M. Beetz, "Fast point feature histograms (FPFH) for 3D registration", ICRA 2009.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ... import _core
from ..._validation import as_integer, as_length, as_unit_vectors
from ...errors import OptionError
from ..neighbourhoods import Neighbourhoods, known_or_found

__all__ = ["compute_fpfh", "describe_by_fpfh"]


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
    ``cpp/src/clouds/fpfh.h``. ``neighbours`` saves the search where they are known. A point without neighbours has
    zeros.
    """
    radius = as_length("radius", radius)
    threads = as_integer("threads", threads, 1, 1024)
    neighbours = known_or_found(points, radius, neighbours, threads)
    if neighbours.radius != radius:
        raise OptionError(f"neighbours: expected those within {radius}, got those within {neighbours.radius}")
    return describe_by_fpfh(neighbours, as_unit_vectors("normals", normals, len(neighbours)), threads)


def describe_by_fpfh(
    neighbours: Neighbourhoods, normals: npt.NDArray[np.float64], threads: int
) -> npt.NDArray[np.float32]:
    """Do the same for arguments that were checked."""
    return _core.compute_fpfh(neighbours.points, normals, neighbours._native, threads)
