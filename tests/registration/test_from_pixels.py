"""The pose of a camera from matches of points and pixels: right where it says so, and it says so where it is."""

from __future__ import annotations

import functools
import json
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pinholes import INTRINSICS, Seen, project, random_pose, simulate

import clipperplus as cp
from clipperplus.geometry.poses import logarithm
from clipperplus.invariants import GroupSampling

Array = npt.NDArray[np.float64]


def solve(seen: Seen, **settings: Any) -> cp.CameraPose:
    return cp.solve_camera(seen.points, seen.pixels, INTRINSICS, **settings)


def transform(pose: cp.CameraPose | cp.CameraHypothesis) -> Array:
    assert pose.T_camera_world is not None
    return pose.T_camera_world


def errors(found: Array | None, truth: Array) -> tuple[float, float]:
    """Degrees, and how far the centres of the cameras are apart."""
    assert found is not None
    centres = [-pose[:3, :3].T @ pose[:3, 3] for pose in (found, truth)]
    return cp.rotation_error(found, truth), float(np.linalg.norm(centres[0] - centres[1]))


def facing(count: int, seed: int = 0, distance: float = 6.0) -> tuple[Array, Array]:
    """Points in a cube, and the pose of a camera that looks at it."""
    random = np.random.default_rng(seed)
    pose = random_pose(random)
    pose[:3, 3] = (0.1, -0.2, distance)
    return random.uniform(-2.0, 2.0, (count, 3)), pose


@pytest.mark.parametrize("outliers", [0.0, 0.5, 0.8, 0.9])
def test_right_poses_are_found_and_trusted(outliers: float) -> None:
    for seed in range(10):
        seen = simulate(seed, 500, outliers)
        pose = solve(seen)
        assert pose.status is cp.Status.OK, pose.reasons
        assert pose.reasons == ()
        turn, shift = errors(pose.T_camera_world, seen.truth)
        assert turn < 0.5
        assert shift < 0.05
        assert np.isin(pose.inliers, seen.right).mean() > 0.95
        assert np.isin(seen.right, pose.inliers).mean() > 0.95
        assert pose.clique.optimal
        assert cp.is_clique(pose.graph, pose.clique.vertices)


@pytest.mark.parametrize("count", [4, 5, 10, 20, 60, 100, 300])
def test_random_matches_are_never_ok(count: int) -> None:
    for seed in range(20 if count < 100 else 5):
        pose = solve(simulate(1000 + seed, count, 1.0))
        assert pose.status is not cp.Status.OK
        assert pose.reasons
        assert pose.confidence < 0.5


def on_a_plane(random: np.random.Generator, points: Array, pixels: Array) -> None:
    points[:, 2] = 0.0


def in_a_corner(random: np.random.Generator, points: Array, pixels: Array) -> None:
    pixels[:] = random.normal((320.0, 240.0), 15.0, pixels.shape)


def in_heaps(random: np.random.Generator, points: Array, pixels: Array) -> None:
    for places, spread in ((points, 0.02), (pixels, 5.0)):
        places[:] = places[random.integers(5, size=len(places))] + random.normal(0.0, spread, places.shape)


def on_lines(random: np.random.Generator, points: Array, pixels: Array) -> None:
    points[:] = np.outer(points[:, 0], (1.0, 0.5, 0.2)) + random.normal(0.0, 0.01, points.shape)
    pixels[:, 1] = 240.0 + random.normal(0.0, 2.0, len(pixels))


def on_grids(random: np.random.Generator, points: Array, pixels: Array) -> None:
    points[:] = np.rint(points)
    pixels[:] = 40.0 * np.rint(pixels / 40.0)


@pytest.mark.parametrize("arrange", [on_a_plane, in_a_corner, in_heaps, on_lines, on_grids])
def test_random_matches_of_points_and_pixels_in_some_order_are_never_ok(arrange: Any) -> None:
    for seed in range(6):
        random = np.random.default_rng(seed)
        points, pixels = random.uniform(-2.0, 2.0, (60, 3)), random.uniform((0.0, 0.0), (640.0, 480.0), (60, 2))
        arrange(random, points, pixels)
        pose = cp.solve_camera(points, pixels, INTRINSICS)
        assert pose.status is not cp.Status.OK
        assert pose.reasons


def test_few_right_matches_are_found_but_only_enough_of_them_are_trusted() -> None:
    assert solve(simulate(0, 3, 0.0)).T_camera_world is None
    for count, trusted in ((4, False), (5, False), (12, True), (25, True)):
        seen = simulate(1, count, 0.0, noise=0.3)
        pose = solve(seen, epsilon=2.0)
        assert errors(pose.T_camera_world, seen.truth)[0] < 1.0 or not trusted
        assert (pose.status is cp.Status.OK) == trusted, count
        assert bool(pose.reasons) != trusted


def test_covariances_are_as_large_as_errors() -> None:
    """Squared errors in deviations have the mean 6 of a chi-square distribution."""
    squares = []
    for seed in range(60):
        seen = simulate(seed, 150, 0.5)
        pose = solve(seen)
        assert pose.T_camera_world is not None
        assert pose.covariance is not None
        error = logarithm((seen.truth @ np.linalg.inv(pose.T_camera_world))[None])[0]
        squares.append(error @ np.linalg.solve(pose.covariance, error))
    assert 4.0 < np.mean(squares) < 9.0


def test_residuals_are_distances_in_the_image() -> None:
    seen = simulate(3, 200, 0.5)
    pose = solve(seen)
    assert pose.T_camera_world is not None
    there = seen.points @ pose.T_camera_world[:3, :3].T + pose.T_camera_world[:3, 3]
    expected = np.linalg.norm(project(pose.T_camera_world, seen.points) - seen.pixels, axis=1)
    expected[there[:, 2] <= 0.0] = np.nan
    np.testing.assert_allclose(pose.residuals, expected, atol=1e-6)
    np.testing.assert_array_equal(pose.inliers, np.flatnonzero(expected < pose.epsilon))
    assert pose.inlier_rmse == pytest.approx(np.sqrt(np.mean(expected[pose.inliers] ** 2)))


def test_no_small_motion_explains_the_inliers_better() -> None:
    seen = simulate(4, 100, 0.3)
    pose = solve(seen)
    assert pose.T_camera_world is not None
    points, pixels = seen.points[pose.inliers], seen.pixels[pose.inliers]
    least = ((project(pose.T_camera_world, points) - pixels) ** 2).sum()
    random = np.random.default_rng(0)
    for size in (1e-3, 1e-4, 1e-5):
        for _ in range(50):
            x, y, z = random.normal(0.0, size, 3)
            turn, _ = np.linalg.qr(np.array([[1.0, -z, y], [z, 1.0, -x], [-y, x, 1.0]]))
            other = np.eye(4)
            other[:3, :3] = turn * np.sign(np.diag(turn))
            other[:3, 3] = random.normal(0.0, size, 3)
            assert ((project(other @ pose.T_camera_world, points) - pixels) ** 2).sum() >= least * (1.0 - 1e-9)


# What must not matter -------------------------------------------------------------------------------------------------


@functools.cache
def base() -> tuple[Seen, cp.CameraPose]:
    seen = simulate(7, 200, 0.7)
    return seen, solve(seen)


@given(st.integers(0, 2**32), st.sampled_from([1e-3, 1.0, 1e4]))
@settings(max_examples=15, deadline=None)
def test_moving_and_scaling_the_world_moves_the_camera(seed: int, scale: float) -> None:
    seen, known = base()
    motion = random_pose(np.random.default_rng(seed))
    motion[:3, 3] *= 100.0
    pose = cp.solve_camera(scale * cp.apply_transform(motion, seen.points), seen.pixels, INTRINSICS)
    assert pose.T_camera_world is not None
    assert known.camera_centre is not None
    centre = scale * (motion[:3, :3] @ known.camera_centre + motion[:3, 3])
    assert pose.camera_centre is not None
    np.testing.assert_allclose(pose.camera_centre, centre, atol=1e-5 * scale)
    np.testing.assert_array_equal(pose.inliers, known.inliers)
    assert pose.confidence == pytest.approx(known.confidence)


@given(st.integers(0, 2**32))
@settings(max_examples=15, deadline=None)
def test_the_order_of_matches_does_not_matter_where_the_answer_is_clear(seed: int) -> None:
    seen, known = base()
    order = np.random.default_rng(seed).permutation(len(seen.points))
    pose = cp.solve_camera(seen.points[order], seen.pixels[order], INTRINSICS)
    np.testing.assert_allclose(transform(pose), transform(known), atol=1e-6)
    np.testing.assert_array_equal(np.sort(order[pose.inliers]), known.inliers)


@pytest.mark.parametrize("factor", [0.25, 3.0])
def test_scaling_the_image_with_its_camera_changes_nothing(factor: float) -> None:
    seen, known = base()
    camera = np.diag([factor, factor, 1.0]) @ INTRINSICS
    pose = cp.solve_camera(seen.points, factor * seen.pixels, camera, epsilon=4.0 * factor)
    np.testing.assert_allclose(transform(pose), transform(known), atol=1e-6)
    np.testing.assert_allclose(pose.residuals, factor * known.residuals, rtol=1e-4, atol=1e-4)


def test_threads_and_repetition_change_nothing() -> None:
    for outliers, count in ((0.9, 300), (1.0, 100)):
        seen = simulate(8, count, outliers)
        first, *others = (solve(seen, threads=threads) for threads in (1, 1, 2, 3))
        for other in others:
            np.testing.assert_array_equal(first.graph.edges(), other.graph.edges())
            np.testing.assert_array_equal(transform(first), transform(other))
            assert first.confidence == other.confidence
            assert [a.score for a in first.alternatives] == [b.score for b in other.alternatives]


def test_another_seed_draws_others_and_finds_the_same() -> None:
    seen = simulate(9, 300, 0.8)
    a, b = (solve(seen, groups=GroupSampling(seed=seed)) for seed in (0, 1))
    assert a.stages[0].count != b.stages[0].count or not np.array_equal(a.graph.edges(), b.graph.edges())
    np.testing.assert_allclose(transform(a), transform(b), atol=1e-6)


def test_a_budget_that_is_too_small_is_kept_and_finds_nothing() -> None:
    seen = simulate(10, 500, 0.95)
    pose = solve(seen, groups=GroupSampling(budget=10))
    assert pose.status is not cp.Status.OK
    assert pose.seconds < 1.0


# What cannot be known -------------------------------------------------------------------------------------------------


def test_points_on_a_line_or_at_one_place_are_degenerate() -> None:
    points, truth = facing(50)
    line = np.linspace(-2.0, 2.0, 50)[:, None] * (1.0, 2.0, 0.5)
    for some in (line, np.ones((50, 3))):
        pose = cp.solve_camera(some, project(truth, some), INTRINSICS)
        assert pose.status is cp.Status.DEGENERATE
        assert pose.T_camera_world is None
        assert pose.reasons[0].kind == "degenerate"
    noise = np.random.default_rng(0).normal(0.0, 1.0, (50, 2))
    nearly = line + 1e-3 * points
    pose = cp.solve_camera(nearly, project(truth, nearly) + noise, INTRINSICS)
    assert pose.status is cp.Status.DEGENERATE
    assert len(pose.degenerate_directions) >= 1
    assert "do not determine rotation about" in pose.reasons[0].text


def test_points_on_a_plane_have_a_pose() -> None:
    points, truth = facing(60)
    points[:, 2] = 0.0
    pixels = project(truth, points) + np.random.default_rng(0).normal(0.0, 1.0, (60, 2))
    pose = cp.solve_camera(points, pixels, INTRINSICS)
    assert pose.status is cp.Status.OK
    assert errors(pose.T_camera_world, truth)[0] < 0.5


def test_a_plane_that_is_far_away_is_seen_from_two_sides() -> None:
    points, truth = facing(60, seed=3, distance=60.0)
    points[:, 2] = 0.0
    pixels = project(truth, points) + np.random.default_rng(0).normal(0.0, 0.5, (60, 2))
    pose = cp.solve_camera(points, pixels, INTRINSICS, epsilon=2.0)
    assert pose.status is cp.Status.AMBIGUOUS
    found = [pose.T_camera_world, *(other.T_camera_world for other in pose.alternatives)]
    assert min(errors(other, truth)[0] for other in found) < 3.0


def test_matches_of_two_poses_are_ambiguous() -> None:
    points, truth = facing(50)
    other = truth.copy()
    other[0, 3] += 0.5
    both = np.concatenate((project(truth, points), project(other, points)))
    pairs = np.column_stack((np.tile(np.arange(50), 2), np.arange(100)))
    pose = cp.solve_camera(points, both, INTRINSICS, pairs)
    assert pose.status is cp.Status.AMBIGUOUS
    assert pose.reasons[0].kind == "rival"
    np.testing.assert_allclose(transform(pose), truth, atol=1e-6)  # ties go to the first
    np.testing.assert_allclose(transform(pose.alternatives[0]), other, atol=1e-6)
    assert pose.alternatives[0].support == 50


def test_several_pixels_of_one_point_contradict_each_other() -> None:
    seen = simulate(11, 60, 0.0)
    pairs = np.array([(i, (i + shift) % 60) for i in range(60) for shift in (0, 7, 13)])
    pose = cp.solve_camera(seen.points, seen.pixels, INTRINSICS, pairs)
    assert pose.status is cp.Status.OK
    assert len(np.unique(pairs[pose.inliers, 0])) == len(np.unique(pairs[pose.inliers, 1])) == pose.num_inliers
    assert (pairs[pose.inliers, 0] == pairs[pose.inliers, 1]).mean() > 0.95
    members = pairs[pose.clique.vertices]
    assert len(np.unique(members[:, 0])) == len(members)


def test_copies_of_few_matches_prove_nothing() -> None:
    seen = simulate(12, 4, 0.0, noise=0.0)
    pose = cp.solve_camera(np.repeat(seen.points, 30, axis=0), np.repeat(seen.pixels, 30, axis=0), INTRINSICS)
    assert pose.status is cp.Status.UNCERTAIN
    assert "chance" in [reason.kind for reason in pose.reasons]


def test_a_pose_that_sees_points_from_behind_is_no_pose() -> None:
    """Pixels of points behind the camera are where a camera on the other side would see a mirrored world."""
    points, truth = facing(80, distance=-6.0)
    assert cp.solve_camera(points, project(truth, points), INTRINSICS).status is not cp.Status.OK


def test_coordinates_may_be_huge_tiny_or_far_away() -> None:
    points, truth = facing(50)
    pixels = project(truth, points)
    for size, shift in ((1e140, 0.0), (1e-140, 0.0), (1.0, 5e6)):
        pose = cp.solve_camera(size * points + shift, pixels, INTRINSICS)
        assert pose.status is cp.Status.OK
        assert pose.T_camera_world is not None
        np.testing.assert_allclose(transform(pose)[:3, :3], truth[:3, :3], atol=1e-6)


# Input ----------------------------------------------------------------------------------------------------------------

POINTS, PIXELS = np.zeros((5, 3)), np.zeros((5, 2))
HOLED = np.where(np.arange(10).reshape(5, 2) == 3, np.nan, 0.0)


@pytest.mark.parametrize(
    ("arguments", "settings", "message"),
    [
        ((POINTS.T, PIXELS, INTRINSICS), {}, r"points: expected points of shape \(n, 3\), got \(3, 5\)"),
        ((POINTS, PIXELS.T, INTRINSICS), {}, r"pixels: expected points of shape \(n, 2\), got \(2, 5\)"),
        ((POINTS, HOLED, INTRINSICS), {}, r"pixels: point 1 is \[0\.0, nan\]"),
        ((POINTS, PIXELS[:4], INTRINSICS), {}, "pixels: 4 for 5 points"),
        ((POINTS, PIXELS, np.zeros((3, 3))), {}, "intrinsics: expected"),
        ((POINTS, PIXELS, np.eye(4)), {}, r"intrinsics: expected a \(3, 3\) matrix or \(fx, fy, cx, cy\)"),
        ((POINTS, PIXELS, INTRINSICS.T), {}, r"intrinsics: expected a matrix \[\[fx, skew, cx\]"),
        ((POINTS, PIXELS, (600.0, 0.0, 1.0, 1.0)), {}, "intrinsics: expected finite numbers and focal lengths above 0"),
        ((POINTS, PIXELS, (600.0, np.nan, 1.0, 1.0)), {}, "intrinsics: expected finite numbers"),
        ((POINTS, PIXELS, "camera"), {}, "intrinsics: expected"),
        ((POINTS, PIXELS, INTRINSICS), {"epsilon": 0.0}, "epsilon: expected"),
        ((POINTS, PIXELS, INTRINSICS), {"epsilon": np.ones(5)}, "epsilon: expected a number"),
        ((POINTS, PIXELS, INTRINSICS, [(0, 5)]), {}, "associations: row 0 names number 5 of the second set"),
        ((POINTS, PIXELS, INTRINSICS), {"groups": 5}, "groups: expected None, or GroupSampling"),
        ((POINTS, PIXELS, INTRINSICS), {"prior": 1.0}, "prior: expected"),
        ((POINTS, PIXELS, INTRINSICS), {"threads": 0}, "threads: expected"),
        ((POINTS, PIXELS, INTRINSICS), {"method": "best"}, "method: expected one of"),
    ],
)
def test_wrong_input_is_named(arguments: tuple[Any, ...], settings: dict[str, Any], message: str) -> None:
    with pytest.raises(cp.ClipperPlusError, match=message):
        cp.solve_camera(*arguments, **settings)


def test_results_are_plain_and_intrinsics_may_be_four_numbers() -> None:
    seen, known = base()
    pose = cp.solve_camera(seen.points.tolist(), seen.pixels.astype(np.float32), (600, 600, 320, 240))
    np.testing.assert_allclose(transform(pose), transform(known), atol=1e-4)
    for some in (pose, solve(simulate(0, 3, 0.0))):
        assert json.loads(json.dumps(some.to_dict()))["status"] == some.status.value


def test_poselib_agrees() -> None:
    poselib = pytest.importorskip("poselib", reason="PoseLib is not installed: pip install poselib")
    camera = {"model": "PINHOLE", "width": 640, "height": 480, "params": [600.0, 600.0, 320.0, 240.0]}
    for seed in range(5):
        seen = simulate(seed, 200, 0.5)
        pose = solve(seen)
        other, _ = poselib.estimate_absolute_pose(
            seen.pixels[pose.inliers], seen.points[pose.inliers], camera, {"max_reproj_error": 4.0}, {}
        )
        judged = np.eye(4)
        judged[:3] = np.column_stack((other.R, other.t))
        turn, shift = errors(pose.T_camera_world, judged)
        assert turn < 0.05
        assert shift < 0.005
