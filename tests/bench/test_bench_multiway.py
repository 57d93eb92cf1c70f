"""Open3D's multiway registration: trees of the best edges, and simulated scans in any order."""

from __future__ import annotations

import functools
import importlib.util

import numpy as np
import numpy.typing as npt
import pytest

import clipperplus as cp
from clipperplus.bench.multiway import Edge, MultiwayResult, Open3DPairs, _optimize, _spread, open3d_multiway
from clipperplus.synthetic import building_scans

Array = npt.NDArray[np.float64]
needs_open3d = pytest.mark.skipif(importlib.util.find_spec("open3d") is None, reason="Open3D is not installed")


def shift(x: float) -> Array:
    T = np.eye(4)
    T[0, 3] = x
    return T


def edge(source: int, target: int, x: float, overlap: float) -> Edge:
    return Edge(source, target, shift(x), 1000.0 * np.eye(6), overlap)


def test_poses_follow_the_edges_with_the_most_overlap() -> None:
    """Scan k is at x = k, but for an edge that says otherwise, with less overlap than the way around."""
    edges = [edge(0, 1, -1.0, 0.9), edge(3, 1, 2.0, 0.5), edge(0, 3, -7.0, 0.4), edge(2, 0, 2.0, 0.6)]
    poses, components = _spread(edges, 4)
    assert np.allclose(poses[:, 0, 3], [0.0, 1.0, 2.0, 3.0])
    assert [scans.tolist() for scans in components] == [[0, 1, 2, 3]]


def test_scans_that_no_edge_connects_are_components_of_their_own() -> None:
    poses, components = _spread([edge(1, 3, 1.0, 0.5), edge(5, 3, 4.0, 0.5)], 6)
    assert [scans.tolist() for scans in components] == [[1, 3, 5], [0], [2], [4]]
    assert np.allclose(poses[:, 0, 3], [0.0, 0.0, 0.0, -1.0, 0.0, 3.0])
    assert _spread([], 0)[1] == ()


@functools.cache
def put_together() -> tuple[MultiwayResult, Array]:
    """Three scans of a room and one of another room, shuffled."""
    scans, order = building_scans(scans=8, resolution=120), [3, 7, 2, 4]
    return open3d_multiway([scans.clouds[k] for k in order], 0.1), scans.poses[order]


@needs_open3d
@pytest.mark.filterwarnings("ignore")
def test_scans_of_a_room_come_together_and_another_room_does_not() -> None:
    result, truth = put_together()
    pairs = [(0, 2), (2, 3), (3, 0)]
    true = np.array([np.linalg.inv(truth[i]) @ truth[j] for i, j in pairs])
    judged = cp.evaluate.evaluate_poses(result.poses, pairs, true, components=result.components)
    assert judged.recall == 1.0
    assert judged.translation_error.max() < 0.05
    assert {(0, 2), (2, 3), (0, 3)} <= set(map(tuple, result.found.tolist()))
    assert set(map(tuple, result.kept.tolist())) <= set(map(tuple, result.found.tolist()))
    assert sorted(np.concatenate(result.components).tolist()) == [0, 1, 2, 3]


@needs_open3d
@pytest.mark.filterwarnings("ignore")
def test_steps_are_timed_and_progress_is_told() -> None:
    told: list[tuple[int, int]] = []
    clouds = building_scans(scans=3, resolution=40).clouds
    result = open3d_multiway(clouds, 0.2, progress=lambda done, of: told.append((done, of)))
    assert told == [(1, 3), (2, 3), (3, 3)]
    assert [stage.name for stage in result.stages] == ["prepare", "pairs", "pose graph"]
    assert result.seconds == pytest.approx(sum(stage.seconds for stage in result.stages))
    assert result.poses.shape == (3, 4, 4)


@needs_open3d
@pytest.mark.filterwarnings("ignore")
def test_the_pose_graph_moves_scans_to_where_most_edges_want_them() -> None:
    """A loop of four, on whose tree an edge is 5 cm off; and one far too long, which is pruned."""
    pairs = Open3DPairs(0.1)
    edges = [edge(k, k + 1, -1.0, 0.9) for k in range(3)] + [edge(0, 3, -3.04, 0.8), edge(0, 2, -9.0, 0.7)]
    poses, components = _spread(edges, 4)
    kept = _optimize(pairs, poses, edges, components[0])
    assert sorted(kept) == [(0, 1), (0, 3), (1, 2), (2, 3)]
    assert np.allclose(poses[:, 0, 3], [0.0, 1.01, 2.02, 3.03], atol=1e-3)


@pytest.mark.skipif(importlib.util.find_spec("open3d") is not None, reason="Open3D is installed")
def test_without_open3d_it_is_said_how_to_install_it() -> None:
    with pytest.raises(cp.ClipperPlusError, match=r"open3d: pip install 'clipperplus\[bench\]'"):
        open3d_multiway([], 0.1)
