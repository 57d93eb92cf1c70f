"""Simulated scans: the truth aligns them, what they hold lies on surfaces, and arguments do what they say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy.spatial import cKDTree

import clipperplus as cp
from clipperplus.geometry.poses import as_poses, rotation_angles
from clipperplus.synthetic import ScanPair, room_scans, street_scans
from clipperplus.synthetic.ray_casting import Scene, Shape
from clipperplus.synthetic.scans import DepthCamera, SpinningLidar, pose, scan_pair

SMALL: dict[Callable[..., ScanPair], dict[str, Any]] = {
    room_scans: {"resolution": 48, "frames": 1},
    street_scans: {"resolution": 200},
}
both = pytest.mark.parametrize("simulate", SMALL, ids=["room", "street"])


def aligned(pair: ScanPair) -> npt.NDArray[np.float64]:
    return pair.source @ pair.T_target_source[:3, :3].T + pair.T_target_source[:3, 3]


@both
def test_the_seed_decides_everything(simulate: Callable[..., ScanPair]) -> None:
    first, again, other = (simulate(seed=seed, **SMALL[simulate]) for seed in (3, 3, 4))
    for name in ("source", "target", "T_target_source"):
        assert np.array_equal(getattr(first, name), getattr(again, name))
        assert not np.array_equal(getattr(first, name), getattr(other, name))
    assert first.overlap == again.overlap


@both
def test_noise_and_dropout_leave_the_scene_and_the_motion_alone(simulate: Callable[..., ScanPair]) -> None:
    exact = simulate(seed=1, noise=0.0, dropout=0.0, **SMALL[simulate])
    noisy = simulate(seed=1, dropout=0.0, **SMALL[simulate])
    assert np.array_equal(exact.T_target_source, noisy.T_target_source)
    assert exact.source.shape == noisy.source.shape
    errors = np.linalg.norm(exact.source - noisy.source, axis=1)
    assert 0.0 < errors.mean() < 0.03
    np.testing.assert_allclose(np.cross(exact.source, noisy.source), 0.0, atol=1e-9)  # along the rays


@both
def test_dropout_takes_that_share_of_the_points(simulate: Callable[..., ScanPair]) -> None:
    every, some = (len(simulate(seed=1, dropout=share, **SMALL[simulate]).source) for share in (0.0, 0.3))
    assert some / every == pytest.approx(0.7, abs=0.04)


def test_a_scan_without_returns_is_empty_and_overlaps_with_nothing() -> None:
    pair = room_scans(dropout=1.0, **SMALL[room_scans])
    assert (pair.source.shape, pair.target.shape, pair.overlap) == ((0, 3), (0, 3), 0.0)


@pytest.mark.parametrize("seed", range(3))
def test_the_truth_aligns_rooms(seed: int) -> None:
    pair = room_scans(seed=seed, noise=0.0)
    distances, _ = cKDTree(pair.target).query(aligned(pair)[::10])
    # Neighbouring pixels are 4 cm apart at 5 m, and more on slanted surfaces.
    assert np.mean(distances < 0.05) == pytest.approx(pair.overlap, abs=0.1)
    wrong = pair.T_target_source.copy()
    wrong[:3, 3] += (0.3, 0.2, 0.2)
    moved, _ = cKDTree(pair.target).query(pair.source[::10] @ wrong[:3, :3].T + wrong[:3, 3])
    assert np.median(distances) < 0.03 < np.median(moved)


@pytest.mark.parametrize("seed", range(2))
def test_the_truth_aligns_streets(seed: int) -> None:
    pair = street_scans(seed=seed)
    distances, _ = cKDTree(pair.target).query(aligned(pair)[::10])
    assert np.mean(distances < 0.3) > pair.overlap - 0.05
    wrong = aligned(pair)[::10] + np.array([0.0, 1.0, 0.5])
    assert np.median(cKDTree(pair.target).query(wrong)[0]) > 2.0 * np.median(distances)


@pytest.mark.parametrize("seed", range(3))
def test_rooms_are_seen_from_two_places_with_much_in_common(seed: int) -> None:
    pair = room_scans(seed=seed, resolution=80)
    angle = np.degrees(rotation_angles(as_poses("T", pair.T_target_source[None])))[0]
    assert 15.0 < angle < 50.0
    assert 0.9 < np.linalg.norm(pair.T_target_source[:3, 3]) < 1.2
    assert 0.4 < pair.overlap < 0.85
    assert np.linalg.norm(pair.source, axis=1).max() < 6.5
    assert len(pair.source) > 0.8 * 5 * 80 * 60


def test_streets_are_full_of_returns() -> None:
    pair = street_scans(seed=2, distance=15.0)
    assert 100_000 < min(len(pair.source), len(pair.target)) <= 64 * 1900
    assert np.linalg.norm(pair.T_target_source[:3, 3]) == pytest.approx(15.0, abs=0.1)
    assert np.linalg.norm(pair.target, axis=1).max() < 90.2
    assert 0.4 < pair.overlap < 0.9


def test_more_motion_is_less_overlap() -> None:
    rooms = [room_scans(seed=5, motion=motion, **SMALL[room_scans]) for motion in (0.0, 1.0, 2.0)]
    streets = [street_scans(seed=5, distance=distance, **SMALL[street_scans]) for distance in (0.0, 10.0, 50.0)]
    for near, middle, far in (rooms, streets):
        assert near.overlap > middle.overlap + 0.1 > far.overlap + 0.2
    assert rooms[0].overlap > 0.98
    np.testing.assert_allclose(rooms[0].T_target_source, np.eye(4), atol=1e-12)


def test_what_stands_in_front_hides_what_is_behind() -> None:
    wall, screen = Shape("box", (4.0, 0.0, 0.0), (0.1, 9.0, 9.0)), Shape("box", (2.0, 0.0, 0.0), (0.1, 0.4, 0.3))
    camera = DepthCamera(40, noise=0.0, dropout=0.0)
    ahead = pose((0.0, 0.0, 0.0), yaw=0.0) @ np.array([[0, 0, 1, 0], [-1, 0, 0, 0], [0, -1, 0, 0], [0, 0, 0, 1.0]])
    pair = scan_pair(Scene([wall, screen]), camera, [ahead], [ahead], np.random.default_rng(0))
    depths = pair.source[:, 2]
    assert np.unique(depths.round(9)).tolist() == [1.9, 3.9]
    x, y = (pair.source[:, :2] / depths[:, None]).T
    np.testing.assert_array_equal(depths < 3.0, (np.abs(x) < 0.4 / 1.9) & (np.abs(y) < 0.3 / 1.9))
    assert pair.overlap == 1.0


def test_overlap_counts_what_the_target_sees() -> None:
    """A wall seen straight on, and then by a camera that is moved sideways by half of the width of its image."""
    camera = DepthCamera(64, noise=0.0, dropout=0.0)
    ahead = np.array([[0, 0, 1.0, 0], [-1, 0, 0, 0], [0, -1, 0, 0], [0, 0, 0, 1]])
    aside = ahead.copy()
    aside[1, 3] = 3.0 * np.tan(np.radians(33.0))
    wall = Shape("box", (3.5, 0.0, 0.0), (0.5, 20.0, 20.0))
    assert scan_pair(Scene([wall]), camera, [ahead], [aside], np.random.default_rng(0)).overlap == pytest.approx(0.5)
    between = Shape("box", (1.5, 0.5 * aside[1, 3], 0.0), (0.01, 0.01, 9.0))
    hidden = scan_pair(Scene([wall, between]), camera, [ahead], [aside], np.random.default_rng(0)).overlap
    assert 0.4 < hidden < 0.5


def test_noise_of_a_camera_grows_with_the_square_of_the_depth() -> None:
    camera = DepthCamera(100, noise=0.002, dropout=0.0)
    ahead = np.array([[0, 0, 1.0, 0], [-1, 0, 0, 0], [0, -1, 0, 0], [0, 0, 0, 1]])
    for depth in (1.0, 3.0):
        wall = Scene([Shape("box", (depth + 1.0, 0.0, 0.0), (1.0, 20.0, 20.0))])
        points = scan_pair(wall, camera, [ahead], [ahead], np.random.default_rng(0)).source
        along = np.linalg.norm(points, axis=1) * (1.0 - depth / points[:, 2])
        assert along.std() == pytest.approx(0.002 * depth**2, rel=0.05)


def test_grazing_surfaces_and_far_ones_do_not_return() -> None:
    lidar = SpinningLidar(200, noise=0.0, dropout=0.0)
    ground = Scene([Shape("box", (0.0, 0.0, -1.0), (500.0, 500.0, 1.0))])
    up = pose((0.0, 0.0, 1.8), yaw=0.0)
    points = scan_pair(ground, lidar, [up], [up], np.random.default_rng(0)).source
    np.testing.assert_allclose(points[:, 2], -1.8, atol=1e-9)
    assert 20.0 < np.linalg.norm(points, axis=1).max() <= 1.8 / 0.03
    assert len(scan_pair(Scene([]), lidar, [up], [up], np.random.default_rng(0)).source) == 0


@pytest.mark.parametrize(
    ("simulate", "arguments"),
    [
        (room_scans, {"seed": -1}),
        (room_scans, {"motion": 2.5}),
        (room_scans, {"frames": 0}),
        (room_scans, {"noise": -0.1}),
        (room_scans, {"dropout": 1.5}),
        (room_scans, {"resolution": 10.0}),
        (street_scans, {"seed": 0.5}),
        (street_scans, {"distance": -1.0}),
        (street_scans, {"noise": float("nan")}),
        (street_scans, {"dropout": True}),
        (street_scans, {"resolution": 0}),
    ],
)
def test_wrong_arguments_are_refused(simulate: Callable[..., ScanPair], arguments: dict[str, Any]) -> None:
    with pytest.raises(cp.OptionError, match=next(iter(arguments))):
        simulate(**arguments)
