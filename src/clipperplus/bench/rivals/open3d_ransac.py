"""Open3D's RANSAC of correspondences: Q.-Y. Zhou, J. Park and V. Koltun, "Open3D", arXiv 2018."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...viz.packages import require
from .ransac import CONFIDENCE, MOST_SAMPLES

__all__ = ["solve"]

_Array = npt.NDArray[np.float64]


def solve(source: _Array, target: _Array, epsilon: float) -> _Array | None:
    """Return what it finds with the checks of sides and distances that its documentation has."""
    open3d = require("open3d", "Open3D's RANSAC", "bench")
    registration = open3d.pipelines.registration
    open3d.utility.random.seed(0)
    clouds = [open3d.geometry.PointCloud(open3d.utility.Vector3dVector(points)) for points in (source, target)]
    rows = np.repeat(np.arange(len(source), dtype=np.int32)[:, None], 2, axis=1)
    answer = registration.registration_ransac_based_on_correspondence(
        *clouds,
        open3d.utility.Vector2iVector(rows),
        epsilon,
        registration.TransformationEstimationPointToPoint(False),
        3,
        [
            registration.CorrespondenceCheckerBasedOnEdgeLength(0.9),
            registration.CorrespondenceCheckerBasedOnDistance(epsilon),
        ],
        registration.RANSACConvergenceCriteria(MOST_SAMPLES, CONFIDENCE),
    )
    return np.array(answer.transformation) if len(answer.correspondence_set) >= 3 else None
