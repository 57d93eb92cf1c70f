"""The poses of three points: the true one is always among them, and they are what a quartic gives."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pinholes import INTRINSICS, poses_of_three, project, random_pose

import clipperplus as cp
from clipperplus import _core
from clipperplus.geometry.cameras import Intrinsics, LocalFrame

Array = npt.NDArray[np.float64]


def triples(seed: int, count: int, size: float = 1.0) -> tuple[Array, Array, Array]:
    """Points, the directions in which cameras see them, and the poses of these."""
    random = np.random.default_rng(seed)
    places = random.uniform((-3.0, -3.0, 3.0), (3.0, 3.0, 9.0), (count, 3, 3))
    poses = np.array([random_pose(random) for _ in range(count)])
    points = size * np.einsum("kij,kli->klj", poses[:, :3, :3], places - poses[:, None, :3, 3])
    poses[:, :3, 3] *= size
    return points, places / np.linalg.norm(places, axis=2, keepdims=True), poses


def solved(points: Array, directions: Array) -> list[Array]:
    poses, counts = _core.solve_p3p(np.ascontiguousarray(points), np.ascontiguousarray(directions))
    return np.split(poses, np.cumsum(counts)[:-1])


def distance(a: Array, b: Array, size: float = 1.0) -> float:
    return float(np.abs(a[:3, :3] - b[:3, :3]).max() + np.abs(a[:3, 3] - b[:3, 3]).max() / size)


@given(st.integers(0, 2**32), st.sampled_from([1e-6, 1.0, 1e5]))
@settings(max_examples=40, deadline=None)
def test_the_true_pose_is_always_found(seed: int, size: float) -> None:
    points, directions, truth = triples(seed, 50, size)
    for poses, true in zip(solved(points, directions), truth, strict=True):
        assert 1 <= len(poses) <= 4
        assert min(distance(pose, true, size) for pose in poses) < 1e-5


@given(st.integers(0, 2**32))
@settings(max_examples=40, deadline=None)
def test_every_pose_is_a_rotation_that_sees_the_points_where_they_are(seed: int) -> None:
    points, directions, _ = triples(seed, 50)
    for three, seen, poses in zip(points, directions, solved(points, directions), strict=True):
        for pose in poses:
            assert np.abs(pose[:3, :3] @ pose[:3, :3].T - np.eye(3)).max() < 1e-10
            assert np.linalg.det(pose[:3, :3]) > 0.0
            there = three @ pose[:3, :3].T + pose[:3, 3]
            assert np.abs(there / np.linalg.norm(there, axis=1, keepdims=True) - seen).max() < 1e-6


def test_poses_are_those_of_a_quartic() -> None:
    """Directions without a pose in mind have none, or up to four; both solvers must find the same ones."""
    random = np.random.default_rng(0)
    points = random.uniform(-1.0, 1.0, (400, 3, 3))
    directions = np.concatenate((random.uniform(-0.6, 0.6, (400, 3, 2)), np.ones((400, 3, 1))), axis=2)
    directions /= np.linalg.norm(directions, axis=2, keepdims=True)
    sizes = set()
    for three, seen, poses in zip(points, directions, solved(points, directions), strict=True):
        expected = poses_of_three(three, seen)
        for pose in expected:
            assert any(distance(pose, other) < 1e-4 for other in poses)
        for pose in poses:
            assert any(distance(pose, other) < 1e-4 for other in expected)
        sizes.add(len(poses))
    assert sizes >= {0, 1, 2, 4}


@pytest.mark.parametrize("scale", [0.0, 1e-300, 1e300])
def test_points_on_a_line_and_equal_directions_have_no_pose(scale: float) -> None:
    line = scale * np.array([[[0.0, 0.0, 0.0], [1.0, 2.0, 3.0], [-2.0, -4.0, -6.0]]])
    directions = np.array([[[0.0, 0.0, 1.0], [0.6, 0.0, 0.8], [0.0, 0.6, 0.8]]])
    assert len(solved(line, directions)[0]) == 0
    triangle = np.array([[[0.0, 0.0, 0.0], [1.0, 2.0, 3.0], [-2.0, 4.0, -6.0]]])
    directions[0, 1] = directions[0, 0]
    assert len(solved(triangle, directions)[0]) == 0
    assert len(solved(np.full((1, 3, 3), np.nan), directions)[0]) == 0


def test_pixels_become_places_and_back() -> None:
    random = np.random.default_rng(1)
    camera = Intrinsics.check([[500.0, 3.0, 310.0], [0.0, 520.0, 250.0], [0.0, 0.0, 1.0]])
    pose, points = random_pose(random), random.uniform(-1.0, 1.0, (50, 3))
    pose[:3, 3] = (0.1, 0.2, 4.0)
    pixels = camera.project(pose, points)
    np.testing.assert_allclose(pixels, project(pose, points, camera.matrix), atol=1e-9)
    rays = np.column_stack((camera.places(pixels), np.ones(50))) @ camera.matrix.T
    np.testing.assert_allclose(rays[:, :2], pixels, atol=1e-9)
    points[0] = pose[:3, :3].T @ (np.array([0.0, 0.0, -1.0]) - pose[:3, 3])  # behind
    assert np.isnan(camera.project(pose, points)[0]).all()


def test_poses_of_a_local_frame_see_what_those_of_the_world_see() -> None:
    random = np.random.default_rng(2)
    points = np.array([4e5, 5e6, 0.0]) + random.uniform(-100.0, 100.0, (20, 3))
    frame, pose = LocalFrame.of(points), random_pose(random)
    local = frame.poses(pose)
    np.testing.assert_allclose(frame.world_poses(local), pose, atol=1e-6)
    there = cp.apply_transform(pose, points)
    np.testing.assert_allclose(frame.unit * cp.apply_transform(local, frame.points(points)), there, atol=1e-6)


def test_intrinsics_are_a_matrix_or_four_numbers() -> None:
    matrix = Intrinsics.check(INTRINSICS)
    assert matrix == Intrinsics.check((600, 600, 320, 240)) == Intrinsics.check(2.0 * INTRINSICS)
    np.testing.assert_array_equal(matrix.matrix, INTRINSICS)
