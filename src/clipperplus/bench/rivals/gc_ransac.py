"""D. Barath and J. Matas, "Graph-cut RANSAC", CVPR 2018: their ``pygcransac``."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...viz.packages import require
from .ransac import CONFIDENCE, MOST_SAMPLES

__all__ = ["solve"]

_Array = npt.NDArray[np.float64]

_UNIFORM, _GRID = 0, 0
"""Samples as they come: no match is known to be better than another. Neighbours are those in a cell of a grid."""
_CELL = 20.0
"""Times epsilon: the width of such a cell."""


def solve(source: _Array, target: _Array, epsilon: float) -> _Array | None:
    """Return what it finds; matches are as likely to be right as each other."""
    package = require("pygcransac", "GC-RANSAC", "bench")
    transposed, _ = package.findRigidTransform(
        np.ascontiguousarray(np.hstack((source, target))),
        np.ones(len(source)),
        threshold=epsilon,
        conf=CONFIDENCE,
        max_iters=MOST_SAMPLES,
        sampler=_UNIFORM,
        neighborhood=_GRID,
        neighborhood_size=_CELL * epsilon,
        use_space_partitioning=False,
    )
    return None if transposed is None else np.asarray(transposed, dtype=np.float64).T
