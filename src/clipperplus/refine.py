"""From a transform that is nearly right to a precise one: generalized ICP."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .errors import LandmarkError
from .poses import FILE_ROUNDING, as_poses
from .preprocess import as_cloud, downsample
from .validation import as_array, as_integer, as_length

__all__ = ["refine_transform"]

_REACH = 4.0
"""Voxels within which a point takes another one for its own."""
_LEAST_POINTS = 20
"""What neighbours a covariance needs; smaller clouds are not refined."""


def refine_transform(
    source: Any,
    target: Any,
    T_target_source: npt.ArrayLike,
    *,
    voxel_size: float,
    max_distance: float | None = None,
    max_iterations: int = 30,
    threads: int = 1,
) -> npt.NDArray[np.float64]:
    """Refine a transform by generalized ICP (Segal, Haehnel, Thrun, RSS 2009), with small_gicp.

    Parameters
    ----------
    source, target
        ``(n, 3)`` points, or anything with ``.points``.
    T_target_source
        ``(4, 4)``: where to begin.
    voxel_size
        Metres: the clouds are reduced to one point a voxel.
    max_distance
        Metres within which points are matched; None: four voxels.
    max_iterations
        Steps, at most.
    threads
        For the covariances of the points. The steps run on one: on several, small_gicp's sums depend on chance.

    Returns
    -------
    T_target_source
        The refined transform; the given one where nothing could be matched. Ctrl-C waits until small_gicp is done.

    """
    voxel_size = as_length("voxel_size", voxel_size)
    max_distance = _REACH * voxel_size if max_distance is None else as_length("max_distance", max_distance)
    max_iterations = as_integer("max_iterations", max_iterations, 0, 1_000_000)
    threads = as_integer("threads", threads, 1, 1024)
    start = as_array("T_target_source", T_target_source, LandmarkError)
    if start.shape != (4, 4):
        raise LandmarkError(f"T_target_source: expected a transform of shape (4, 4), got {start.shape}")
    motion = as_poses("T_target_source", start[None], FILE_ROUNDING)[0]
    clouds = [
        downsample(as_cloud(name, cloud)[0], voxel_size=voxel_size)
        for name, cloud in (("source", source), ("target", target))
    ]
    if min(map(len, clouds)) < _LEAST_POINTS or max_iterations == 0:
        return np.asarray(motion)

    import small_gicp

    prepared = []
    for points in clouds:
        cloud = small_gicp.PointCloud(points)
        tree = small_gicp.KdTree(cloud, num_threads=threads)
        small_gicp.estimate_covariances(cloud, tree, num_neighbors=_LEAST_POINTS, num_threads=threads)
        prepared.append((cloud, tree))
    (moving, _), (fixed, tree) = prepared
    result = small_gicp.align(
        fixed,
        moving,
        tree,
        init_T_target_source=motion,
        registration_type="GICP",
        max_correspondence_distance=max_distance,
        num_threads=1,
        max_iterations=max_iterations,
        rotation_epsilon=1e-5,
        translation_epsilon=1e-4 * voxel_size,
    )
    refined = np.asarray(result.T_target_source, dtype=np.float64)
    usable = result.num_inliers >= 3 and np.isfinite(refined).all()
    return refined if usable else np.asarray(motion)
