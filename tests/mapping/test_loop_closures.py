"""Pairwise consistent loop closures, all at once and one at a time."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from loop_closures import pose, solve
from scipy.spatial.transform import Rotation

import clipperplus as cp
from clipperplus.geometry.poses import adjoint, inverse, logarithm, rotation_angles
from clipperplus.invariants import RelativePoses
from clipperplus.synthetic import two_robots

# Motions --------------------------------------------------------------------------------------------------------------


@given(st.integers(0, 2**32 - 1))
def test_motions_are_those_of_scipy(seed: int) -> None:
    random = np.random.default_rng(seed)
    turns, moves = random.normal(size=(5, 3)), random.normal(size=(5, 3))
    poses = np.array([pose(turn, move) for turn, move in zip(turns, moves, strict=True)])
    assert np.allclose(inverse(poses) @ poses, np.eye(4))
    assert np.allclose(rotation_angles(poses), Rotation.from_matrix(poses[:, :3, :3]).magnitude())
    assert np.allclose(logarithm(poses)[:, :3], Rotation.from_matrix(poses[:, :3, :3]).as_rotvec(), atol=1e-8)
    small = 1e-6 * random.normal(size=6)
    carried = adjoint(poses) @ small
    for one, after in zip(poses, carried, strict=True):
        conjugated = one @ pose(small[:3], small[3:]) @ np.linalg.inv(one)
        assert np.allclose(logarithm(conjugated[None])[0], after, atol=1e-10)


@pytest.mark.parametrize("below", [0.0, 1e-12, 1e-9, 1e-7, 1e-5, 1e-3])
def test_half_turns_are_not_taken_for_none(below: float) -> None:
    random = np.random.default_rng(0)
    for _ in range(20):
        axis = random.normal(size=3)
        axis /= np.linalg.norm(axis)
        half = pose(axis * (math.pi - below), [1.0, 2.0, 3.0])
        found = logarithm(half[None])[0]
        assert np.linalg.norm(found[:3]) == pytest.approx(math.pi - below, abs=1e-9)
        assert abs(found[:3] @ axis) == pytest.approx(math.pi - below, abs=1e-6)
    flip = np.diag([-1.0, -1.0, 1.0, 1.0])
    closures = cp.LoopClosures([np.eye(4)] * 2, [np.eye(4)] * 2, covariance=1e-4 * np.eye(6))
    closures.add(0, 0, np.eye(4))
    assert closures.add(1, 1, flip).tolist() == [0]


def test_tiny_rotations_are_not_lost() -> None:
    assert rotation_angles(pose([1e-9, 0.0, 0.0], [0.0] * 3)[None])[0] == pytest.approx(1e-9, rel=1e-6)


# All at once ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("ratio", [0.0, 0.7, 0.9])
def test_planted_loop_closures_are_recovered_exactly(seed: int, ratio: float) -> None:
    world = two_robots(loops=120, outlier_ratio=ratio, seed=seed)
    assert solve(world).inliers.tolist() == world.inliers.tolist()


@pytest.mark.parametrize("seed", range(4))
def test_covariances_bound_the_mahalanobis_distance(seed: int) -> None:
    """Generous ones, which also cover the drift of the odometry, accept the right loop closures."""
    world = two_robots(loops=80, outlier_ratio=0.7, seed=seed)
    covariance = np.diag([math.radians(1.0)] * 3 + [0.15] * 3) ** 2
    found = solve(world, covariances=covariance).inliers
    assert np.isin(found, world.inliers).all()
    assert len(found) > 0.8 * len(world.inliers)
    each = np.broadcast_to(covariance, (80, 6, 6))
    assert np.array_equal(solve(world, covariances=each).inliers, found)


def test_the_cycle_is_that_of_the_definition() -> None:
    world = two_robots(loops=40, outlier_ratio=0.5, seed=3)
    graph = solve(world, rotation=0.05, translation=0.3).graph
    for k in range(40):
        for m in range(k + 1, 40):
            (a_k, b_k), (a_m, b_m) = world.loops[[k, m]]
            along_a = np.linalg.inv(world.trajectory_a[a_k]) @ world.trajectory_a[a_m]
            along_b = np.linalg.inv(world.trajectory_b[b_k]) @ world.trajectory_b[b_m]
            z_k, z_m = world.measurements[[k, m]]
            there = np.linalg.inv(z_k) @ along_a @ z_m @ np.linalg.inv(along_b)
            back = np.linalg.inv(z_m) @ np.linalg.inv(along_a) @ z_k @ along_b
            angle = Rotation.from_matrix(there[:3, :3]).magnitude()
            moved = max(np.linalg.norm(cycle[:3, 3]) for cycle in (there, back))
            assert graph.has_edge(k, m) == (angle < 0.05 and moved < 0.3)


@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1))
def test_the_frames_of_the_trajectories_do_not_matter(seed: int) -> None:
    random = np.random.default_rng(seed)
    world = two_robots(loops=50, seed=5)
    frames = [pose(random.normal(size=3), random.uniform(-50.0, 50.0, 3)) for _ in range(2)]
    again = cp.consistent_loop_closures(
        frames[0] @ world.trajectory_a, frames[1] @ world.trajectory_b, world.loops, world.measurements
    )
    assert np.count_nonzero(again.graph.adjacency() != solve(world).graph.adjacency()) <= 2
    assert again.inliers.tolist() == world.inliers.tolist()


def test_one_robot_can_close_loops_with_itself() -> None:
    world = two_robots(seed=2)
    truth = world.truth_a
    loops = np.array([[3, 90], [5, 88], [10, 80], [20, 60]])
    measurements = inverse(truth[loops[:, 0]]) @ truth[loops[:, 1]]
    measurements[2, :3, 3] += 4.0
    found = cp.consistent_loop_closures(world.trajectory_a, world.trajectory_a, loops, measurements)
    assert found.inliers.tolist() == [0, 1, 3]


# One at a time --------------------------------------------------------------------------------------------------------


@settings(max_examples=25)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.3, 0.7, 0.95]), st.booleans())
def test_after_every_step_the_answer_is_that_of_all_at_once(seed: int, ratio: float, with_covariance: bool) -> None:
    world = two_robots(poses=30, loops=40, outlier_ratio=ratio, seed=seed)
    covariance = np.diag([0.02] * 3 + [0.15] * 3) ** 2 if with_covariance else None
    closures = cp.LoopClosures(world.trajectory_a, world.trajectory_b, covariance=covariance)
    for k, ((a, b), measurement) in enumerate(zip(world.loops, world.measurements, strict=True), start=1):
        now = closures.add(int(a), int(b), measurement)
        if k % 7 == 0 or k == 40:
            whole = cp.consistent_loop_closures(
                world.trajectory_a,
                world.trajectory_b,
                world.loops[:k],
                world.measurements[:k],
                covariances=covariance,
            )
            assert now.tolist() == whole.inliers.tolist()
            assert closures.graph == whole.graph
    assert len(closures) == 40


def test_every_loop_closure_may_have_its_own_covariance() -> None:
    world = two_robots(poses=30, loops=40, outlier_ratio=0.6, seed=9)
    random = np.random.default_rng(0)
    covariances = np.array([np.diag(random.uniform(0.01, 0.2, 6)) ** 2 for _ in range(40)])
    closures = cp.LoopClosures(world.trajectory_a, world.trajectory_b, covariance=np.eye(6))
    for (a, b), measurement, covariance in zip(world.loops, world.measurements, covariances, strict=True):
        now = closures.add(int(a), int(b), measurement, covariance=covariance)
    whole = solve(world, covariances=covariances)
    assert now.tolist() == whole.inliers.tolist()
    assert closures.graph == whole.graph
    with pytest.raises(cp.LandmarkError, match="covariance: expected symmetric, positive definite"):
        cp.LoopClosures(covariance=-np.eye(6))


def test_trajectories_grow_while_the_robots_drive() -> None:
    world = two_robots(poses=60, loops=50, seed=4)
    order = np.argsort(world.loops.max(axis=1), kind="stable")
    closures = cp.LoopClosures()
    driven = 0
    for k in order:
        until = int(world.loops[k].max()) + 1
        closures.extend(trajectory_a=world.trajectory_a[driven:until], trajectory_b=world.trajectory_b[driven:until])
        driven = max(driven, until)
        closures.add(*map(int, world.loops[k]), world.measurements[k])
    assert np.sort(order[closures.inliers]).tolist() == world.inliers.tolist()


def test_more_than_a_hundred_loop_closures_fit() -> None:
    world = two_robots(loops=150, outlier_ratio=0.8, seed=6)
    closures = cp.LoopClosures(world.trajectory_a, world.trajectory_b)
    for (a, b), measurement in zip(world.loops, world.measurements, strict=True):
        closures.add(a, b, measurement)
    assert closures.inliers.tolist() == world.inliers.tolist()


# Limited time ---------------------------------------------------------------------------------------------------------


def scattered(seed: int, loops: int = 150) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Loop closures that agree if they are near each other, anywhere in a box: many cliques, none much larger."""
    random = np.random.default_rng(seed)
    measurements = np.tile(np.eye(4), (loops, 1, 1))
    measurements[:, :3, 3] = random.uniform(0.0, 1.0, (loops, 3))
    return np.eye(4)[None], np.zeros((loops, 2), dtype=np.int64), measurements


@settings(max_examples=20)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.0, 1e-4, 1e-2]))
def test_what_comes_back_in_time_is_a_set_that_agrees_and_a_bound_that_holds(seed: int, limit: float) -> None:
    poses, loops, measurements = scattered(seed)
    whole = cp.consistent_loop_closures(poses, poses, loops, measurements)
    assert whole.optimal
    assert whole.upper_bound == len(whole.inliers)
    early = cp.consistent_loop_closures(poses, poses, loops, measurements, time_limit=limit)
    assert early.graph == whole.graph
    assert cp.is_clique(early.graph, early.inliers)
    assert np.array_equal(early.inliers, np.unique(early.inliers))
    assert len(early.inliers) <= len(whole.inliers) <= early.upper_bound
    assert early.optimal == (len(early.inliers) == early.upper_bound)


def test_without_time_something_is_left_open_and_with_enough_nothing() -> None:
    poses, loops, measurements = scattered(0)
    results = [
        cp.consistent_loop_closures(poses, poses, loops, measurements, time_limit=limit, threads=threads)
        for limit, threads in ((0.0, 1), (1000.0, 1), (math.inf, 2), (None, 1))
    ]
    assert not results[0].optimal
    for result in results[1:]:
        assert result.optimal
        assert result.inliers.tolist() == results[-1].inliers.tolist()


def test_time_is_limited_for_one_at_a_time_too() -> None:
    poses, loops, measurements = scattered(1, 90)
    hurried, patient = cp.LoopClosures(poses, poses, time_limit=0.0), cp.LoopClosures(poses, poses, threads=2)
    for measurement in measurements:
        hurried.add(0, 0, measurement)
        patient.add(0, 0, measurement)
        assert patient.optimal
        assert cp.is_clique(hurried.graph, hurried.inliers)
        assert len(hurried.inliers) <= patient.upper_bound <= hurried.upper_bound
    assert not hurried.optimal
    whole = cp.consistent_loop_closures(poses, poses, loops, measurements)
    assert patient.upper_bound == whole.upper_bound == len(whole.inliers)


@pytest.mark.parametrize(("name", "value"), [("time_limit", -1.0), ("time_limit", "x"), ("threads", 0)])
def test_wrong_limits_are_refused(name: str, value: Any) -> None:
    world = two_robots(seed=1)
    arguments: dict[str, Any] = {name: value}
    with pytest.raises(cp.OptionError, match=f"{name}: expected"):
        solve(world, **arguments)
    with pytest.raises(cp.OptionError, match=f"{name}: expected"):
        cp.LoopClosures(**arguments)


# Wrong input ----------------------------------------------------------------------------------------------------------


def test_without_loop_closures_nothing_is_believed() -> None:
    world = two_robots(poses=5, loops=0)
    assert solve(world).inliers.size == 0
    assert cp.LoopClosures().inliers.size == 0


MIRROR = np.diag([1.0, 1.0, -1.0, 1.0])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"trajectory_a": np.eye(4)}, r"trajectory_a: expected poses of shape \(k, 4, 4\), got \(4, 4\)"),
        ({"trajectory_b": np.full((5, 4, 4), np.nan)}, "trajectory_b: pose 0 is no rotation and translation"),
        ({"trajectory_a": np.array([np.eye(4), MIRROR])}, "trajectory_a: pose 1 is no rotation and translation"),
        ({"measurements": np.array([2.0 * np.eye(4)] * 3)}, "measurements: pose 0 is no rotation and translation"),
        ({"measurements": np.array([np.eye(4)] * 2)}, "measurements: expected one per loop closure, 3, got 2"),
        ({"loops": [[0, 0], [0, 9], [1, 1]]}, "loops: row 1 names number 9 of the second set; it has 5"),
        ({"loops": 5}, r"loops: expected an array of shape \(m, 2\), got \(\)"),
        ({"loops": [[0, 1], [2]]}, "loops: expected an array"),
        ({"translation": 0.0}, "translation: expected"),
        ({"rotation": -1.0}, "rotation: expected"),
        ({"deviations": 0.0}, "deviations: expected"),
        ({"covariances": np.eye(3)}, r"covariances: expected numbers of shape \(6, 6\) or \(3, 6, 6\), got \(3, 3\)"),
        ({"covariances": 5e-324 * np.eye(6)}, "covariances: expected symmetric, positive definite matrices"),
        ({"covariances": 1e308 * np.eye(6)}, "covariances: expected symmetric, positive definite matrices"),
        ({"covariances": np.ones((6, 6))}, "covariances: expected symmetric, positive definite matrices"),
        ({"covariances": -np.eye(6)}, "covariances: expected symmetric, positive definite matrices"),
        ({"covariances": np.triu(np.ones((6, 6)))}, "covariances: expected symmetric, positive definite matrices"),
    ],
)
def test_wrong_input_is_refused(changes: dict[str, Any], message: str) -> None:
    arguments: dict[str, Any] = {
        "trajectory_a": np.array([np.eye(4)] * 5),
        "trajectory_b": np.array([np.eye(4)] * 5),
        "loops": [[0, 0], [1, 1], [2, 2]],
        "measurements": np.array([np.eye(4)] * 3),
        **changes,
    }
    with pytest.raises(cp.ClipperPlusError, match=message):
        cp.consistent_loop_closures(**arguments)


@pytest.mark.parametrize(("a", "b"), [(5, 0), (0, -1), (0.5, 0), ("x", 0), (True, 0)])
def test_a_loop_closure_of_poses_that_are_not_there_is_refused_and_changes_nothing(a: Any, b: Any) -> None:
    closures = cp.LoopClosures([np.eye(4)] * 3, [np.eye(4)] * 3)
    closures.add(0, 0, np.eye(4))
    with pytest.raises(cp.OptionError, match=r"pose_[ab]: expected an integer"):
        closures.add(a, b, np.eye(4))
    with pytest.raises(cp.LandmarkError, match="measurement: expected an array"):
        closures.add(1, 1, [[1.0], [1.0, 2.0]])
    with pytest.raises(cp.OptionError, match="covariance: expected None"):
        closures.add(1, 1, np.eye(4), covariance=np.eye(6))
    with pytest.raises(cp.LandmarkError, match="measurement: "):
        closures.add(1, 1, 3.0 * np.eye(4))
    assert len(closures) == 1
    assert closures.inliers.tolist() == [0]


def test_relative_poses_is_an_invariant_like_the_others() -> None:
    world = two_robots(seed=1)
    graph = cp.consistency_graph(
        world.trajectory_a,
        world.trajectory_b,
        world.loops,
        invariant=RelativePoses(world.measurements),
        epsilon=0.5,
        one_to_one=False,
    )
    assert graph == solve(world).graph
    with pytest.raises(cp.LandmarkError, match="measurements: expected one per association, got 1"):
        cp.consistency_graph(
            world.trajectory_a, world.trajectory_b, world.loops, invariant=RelativePoses(world.measurements[:1])
        )
