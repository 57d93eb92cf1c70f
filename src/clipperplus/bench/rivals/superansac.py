"""D. Barath, "SupeRANSAC: one RANSAC to rule them all", arXiv 2025: its ``pysuperansac``."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...viz.packages import require
from .ransac import CONFIDENCE, MOST_SAMPLES

__all__ = ["solve"]

_Array = npt.NDArray[np.float64]


def solve(source: _Array, target: _Array, epsilon: float) -> _Array | None:
    """Return what it finds with the scores of MAGSAC++ and nested samples for its local optimization."""
    package = require("pysuperansac", "SupeRANSAC", "bench")
    settings = package.RANSACSettings()
    settings.max_iterations = MOST_SAMPLES
    settings.confidence = CONFIDENCE
    settings.inlier_threshold = epsilon
    settings.scoring = package.ScoringType.MAGSAC
    settings.sampler = package.SamplerType.Uniform
    settings.local_optimization = package.LocalOptimizationType.NestedRANSAC
    settings.final_optimization = package.LocalOptimizationType.LSQ
    rows = np.ascontiguousarray(np.hstack((source, target)))
    transposed, inliers, _, _ = package.estimateRigidTransform(rows, np.ptp(rows, axis=0).tolist(), config=settings)
    return np.asarray(transposed, dtype=np.float64).T if len(inliers) >= 3 else None
