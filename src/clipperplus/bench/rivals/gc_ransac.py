"""D. Barath and J. Matas, "Graph-cut RANSAC", CVPR 2018: their ``pygcransac``."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...viz.packages import require
from .ransac import CONFIDENCE, MOST_SAMPLES

__all__ = ["solve"]

_Array = npt.NDArray[np.float64]

_UNIFORM, _BY_DISTANCE = 0, 1
"""Samples as they come: no match is known to be better than another. Neighbours are those within a distance, …"""
_NEIGHBOURS = 20.0
"""… times epsilon, of source and target points together."""
_COHERENCE = 0.14
"""How much neighbours should be of a kind: the paper's weight."""


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
        neighborhood=_BY_DISTANCE,
        neighborhood_size=_NEIGHBOURS * epsilon,
        spatial_coherence_weight=_COHERENCE,
        use_space_partitioning=False,
    )
    return None if transposed is None else np.asarray(transposed, dtype=np.float64).T
