"""From a transform that is nearly right to a precise one: generalized ICP."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from .._validation import as_array, as_integer, as_length
from ..errors import LandmarkError, MissingPackageError
from ..geometry.poses import FILE_ROUNDING, as_poses
from .cloud import as_cloud
from .voxels import voxel_means

__all__ = ["align_by_gicp", "refine_transform"]

_Array: TypeAlias = npt.NDArray[np.float64]

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
    max_distance = None if max_distance is None else as_length("max_distance", max_distance)
    max_iterations = as_integer("max_iterations", max_iterations, 0, 1_000_000)
    threads = as_integer("threads", threads, 1, 1024)
    start = as_array("T_target_source", T_target_source, LandmarkError)
    if start.shape != (4, 4):
        raise LandmarkError(f"T_target_source: expected a transform of shape (4, 4), got {start.shape}")
    motion = np.asarray(as_poses("T_target_source", start[None], FILE_ROUNDING)[0])
    moving, fixed = (
        voxel_means(as_cloud(name, cloud, threads=threads), voxel_size, threads)[0]
        for name, cloud in (("source", source), ("target", target))
    )
    return align_by_gicp(moving, fixed, motion, voxel_size, threads, max_distance, max_iterations)


def align_by_gicp(
    source: _Array,
    target: _Array,
    motion: _Array,
    voxel_size: float,
    threads: int,
    max_distance: float | None = None,
    max_iterations: int = 30,
) -> _Array:
    """Do the same for arguments that were checked, and points that are one a voxel."""
    if min(len(source), len(target)) < _LEAST_POINTS or max_iterations == 0:
        return motion

    try:
        import small_gicp
    except ImportError:
        raise MissingPackageError("refine='gicp' needs small_gicp: pip install small_gicp") from None
    prepared = []
    for points in (source, target):
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
        max_correspondence_distance=_REACH * voxel_size if max_distance is None else max_distance,
        num_threads=1,
        max_iterations=max_iterations,
        rotation_epsilon=1e-5,
        translation_epsilon=1e-4 * voxel_size,
    )
    refined = np.asarray(result.T_target_source, dtype=np.float64)
    return refined if result.num_inliers >= 3 and np.isfinite(refined).all() else motion
