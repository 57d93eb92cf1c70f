"""Open3D's multiway registration: what a map of many scans is compared with.

S. Choi, Q.-Y. Zhou and V. Koltun, "Robust reconstruction of indoor scenes", CVPR 2015, as Open3D's documentation and
its reconstruction system have it. Scans come in any order, so that there is no odometry: every pair is registered
globally, every edge is uncertain, and a tree of the best edges is the start.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .._timing import Stage, Stopwatch
from ..geometry.poses import inverse
from ..viz.packages import require

__all__ = ["MultiwayResult", "Open3DPairs", "open3d_multiway"]

_MIN_OVERLAP = 0.3
"""Of the points of the smaller cloud, so many have a counterpart, or the pair is given up."""
_PRUNE_BELOW = 0.25
"""Edges whose line process ends below this are pruned."""


@dataclass(frozen=True, eq=False)
class MultiwayResult:
    """Many scans in one frame, or in several."""

    poses: npt.NDArray[np.float64]
    """``(k, 4, 4)``, scan → the frame of its component."""
    components: tuple[npt.NDArray[np.int64], ...]
    """Numbers of the scans in one frame, the largest component first; a scan that nothing was found for is alone."""
    found: npt.NDArray[np.int64]
    """``(m, 2)``: the pairs that were registered with enough overlap."""
    kept: npt.NDArray[np.int64]
    """``(m, 2)``: those that are left after the optimization."""
    stages: tuple[Stage, ...]
    """Steps with their times."""

    @property
    def seconds(self) -> float:
        """From points to poses."""
        return sum(stage.seconds for stage in self.stages)


class Prepared(NamedTuple):
    """A cloud with normals, and its features."""

    cloud: Any
    features: Any


class Edge(NamedTuple):
    """What was found about a pair."""

    source: int
    target: int
    T_target_source: npt.NDArray[np.float64]
    information: npt.NDArray[np.float64]
    overlap: float
    """The share of the smaller cloud's points that have a counterpart."""


class Open3DPairs:
    """Open3D's registration of pairs with FPFH, as its documentation has it."""

    def __init__(self, voxel_size: float, *, seed: int = 0) -> None:
        """Import it; the seed is for the samples of RANSAC."""
        self._open3d = require("open3d", "Open3D's registration", "bench")
        self.registration = self._open3d.pipelines.registration
        self._open3d.utility.set_verbosity_level(self._open3d.utility.VerbosityLevel.Error)
        self._open3d.utility.random.seed(seed)
        self.voxel_size = voxel_size
        self.distance = 1.5 * voxel_size
        """How far counterparts are apart at most, in metres."""

    def prepare(self, points: npt.NDArray[np.float64]) -> Prepared:
        """Reduce a cloud to voxels, with normals towards the origin, where the sensor is, and features."""
        search = self._open3d.geometry.KDTreeSearchParamHybrid
        cloud = self._open3d.geometry.PointCloud(self._open3d.utility.Vector3dVector(points))
        cloud = cloud.voxel_down_sample(self.voxel_size)
        cloud.estimate_normals(search(radius=2.0 * self.voxel_size, max_nn=30))
        cloud.orient_normals_towards_camera_location(np.zeros(3))
        features = self.registration.compute_fpfh_feature(cloud, search(radius=5.0 * self.voxel_size, max_nn=100))
        return Prepared(cloud, features)

    def match(self, source: Prepared, target: Prepared) -> npt.NDArray[np.float64]:
        """Return what RANSAC finds from mutual matches of features."""
        answer = self.registration.registration_ransac_based_on_feature_matching(
            source.cloud,
            target.cloud,
            source.features,
            target.features,
            True,
            self.distance,
            self.registration.TransformationEstimationPointToPoint(False),
            3,
            [
                self.registration.CorrespondenceCheckerBasedOnEdgeLength(0.9),
                self.registration.CorrespondenceCheckerBasedOnDistance(self.distance),
            ],
            self.registration.RANSACConvergenceCriteria(100_000, 0.999),
        )
        return np.array(answer.transformation)

    def refine(
        self, source: Prepared, target: Prepared, T_target_source: npt.NDArray[np.float64]
    ) -> npt.NDArray[np.float64]:
        """Return what ICP, from points to planes, makes of a transform."""
        estimation = self.registration.TransformationEstimationPointToPlane()
        clouds = source.cloud, target.cloud
        answer = self.registration.registration_icp(*clouds, self.distance, T_target_source, estimation)
        return np.array(answer.transformation)

    def information(
        self, source: Prepared, target: Prepared, T_target_source: npt.NDArray[np.float64]
    ) -> npt.NDArray[np.float64]:
        """Return the information matrix; its last entry is how many points have a counterpart."""
        clouds = source.cloud, target.cloud
        return np.array(
            self.registration.get_information_matrix_from_point_clouds(*clouds, self.distance, T_target_source)
        )


def open3d_multiway(
    clouds: Sequence[npt.NDArray[np.float64]],
    voxel_size: float,
    *,
    seed: int = 0,
    progress: Callable[[int, int], object] | None = None,
) -> MultiwayResult:
    """Put scans into one frame with Open3D.

    Parameters
    ----------
    clouds
        ``(n, 3)`` points of each scan in metres, in the frame of its sensor.
    voxel_size
        In metres; the documentation has 0.05 for rooms.
    seed
        Of RANSAC. With several threads the answer may differ all the same.
    progress
        Told how many pairs are done, and of how many, after each.

    """
    pairs = Open3DPairs(voxel_size, seed=seed)
    watch = Stopwatch()
    prepared = [pairs.prepare(points) for points in clouds]
    watch.lap("prepare", len(prepared))
    edges = []
    jobs = list(combinations(range(len(prepared)), 2))
    for done, (source, target) in enumerate(jobs, start=1):
        edge = _edge(pairs, prepared, source, target)
        if edge is not None:
            edges.append(edge)
        if progress is not None:
            progress(done, len(jobs))
    watch.lap("pairs", len(edges))
    poses, components = _spread(edges, len(prepared))
    kept = [pair for scans in components for pair in _optimize(pairs, poses, edges, scans)]
    watch.lap("pose graph", len(kept))
    found = np.array([(edge.source, edge.target) for edge in edges], dtype=np.int64).reshape(-1, 2)
    left = np.array(sorted(kept), dtype=np.int64).reshape(-1, 2)
    return MultiwayResult(poses, components, found, left, watch.stages)


def _edge(pairs: Open3DPairs, prepared: Sequence[Prepared], source: int, target: int) -> Edge | None:
    """Register a pair; None where too few points have a counterpart."""
    clouds = prepared[source], prepared[target]
    T = pairs.refine(*clouds, pairs.match(*clouds))
    information = pairs.information(*clouds, T)
    overlap = float(information[5, 5]) / min(len(cloud.cloud.points) for cloud in clouds)
    return Edge(source, target, T, information, overlap) if overlap >= _MIN_OVERLAP else None


def _spread(edges: Sequence[Edge], count: int) -> tuple[npt.NDArray[np.float64], tuple[npt.NDArray[np.int64], ...]]:
    """Return poses along trees of edges with the most overlap, and the scans of each tree, the most first."""
    poses = np.tile(np.eye(4), (count, 1, 1))
    best_first = sorted(edges, key=lambda edge: -edge.overlap)
    left, components = set(range(count)), []
    while left:
        scans = {min(left)}
        while True:
            edge = next((edge for edge in best_first if (edge.source in scans) != (edge.target in scans)), None)
            if edge is None:
                break
            if edge.target in scans:
                poses[edge.source] = poses[edge.target] @ edge.T_target_source
            else:
                poses[edge.target] = poses[edge.source] @ inverse(edge.T_target_source)
            scans |= {edge.source, edge.target}
        left -= scans
        components.append(np.array(sorted(scans), dtype=np.int64))
    return poses, tuple(sorted(components, key=lambda scans: -len(scans)))


def _optimize(
    pairs: Open3DPairs, poses: npt.NDArray[np.float64], edges: Sequence[Edge], scans: npt.NDArray[np.int64]
) -> list[tuple[int, int]]:
    """Optimize the poses of scans that edges connect, in place; return the pairs whose edges are not pruned."""
    registration = pairs.registration
    number = {int(scan): node for node, scan in enumerate(scans)}
    graph = registration.PoseGraph()
    graph.nodes.extend([registration.PoseGraphNode(poses[scan]) for scan in scans])
    for edge in edges:
        if edge.source in number:
            ends = number[edge.source], number[edge.target]
            T, information = edge.T_target_source, edge.information
            graph.edges.append(registration.PoseGraphEdge(*ends, T, information, uncertain=True))
    if len(graph.edges) == 0:
        return []
    option = registration.GlobalOptimizationOption(
        max_correspondence_distance=pairs.distance, edge_prune_threshold=_PRUNE_BELOW, reference_node=0
    )
    method = registration.GlobalOptimizationLevenbergMarquardt()
    criteria = registration.GlobalOptimizationConvergenceCriteria()
    registration.global_optimization(graph, method, criteria, option)
    poses[scans] = [node.pose for node in graph.nodes]
    return [(int(scans[edge.source_node_id]), int(scans[edge.target_node_id])) for edge in graph.edges]
