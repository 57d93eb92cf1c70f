"""A simulated building: a map of it can be built, the truth aligns its scans, and arguments do what they say."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

import clipperplus as cp
from clipperplus.synthetic import BuildingScans, building_scans
from clipperplus.synthetic.ray_casting import Scene, Shape
from clipperplus.synthetic.scans import SpinningLidar, look, pose, scan_pair, shares_seen
from clipperplus.synthetic.storey import Storey, storey

Array = npt.NDArray[np.float64]


@functools.cache
def coarse(seed: int) -> BuildingScans:
    return building_scans(seed=seed, resolution=48)


@functools.cache
def fine() -> BuildingScans:
    return building_scans()


def plan(seed: int) -> Storey:
    return storey(np.random.default_rng(seed))


def in_building(scans: BuildingScans, k: int) -> Array:
    return np.asarray(scans.clouds[k] @ scans.poses[k, :3, :3].T + scans.poses[k, :3, 3])


def test_the_seed_decides_everything() -> None:
    first, again, other = (building_scans(seed=seed, scans=3, resolution=40) for seed in (3, 3, 4))
    assert all(map(np.array_equal, first.clouds, again.clouds))
    assert np.array_equal(first.poses, again.poses)
    assert np.array_equal(first.overlaps, again.overlaps)
    assert not np.array_equal(first.poses, other.poses)


def test_fewer_scans_are_the_first_of_more() -> None:
    few, more = (building_scans(seed=2, scans=scans, resolution=40) for scans in (4, 9))
    assert len(few.clouds) == 4
    assert all(map(np.array_equal, few.clouds, more.clouds[:4]))
    assert np.array_equal(few.poses, more.poses[:4])
    assert np.array_equal(few.overlaps, more.overlaps[:4, :4])


def test_noise_and_resolution_leave_the_building_and_the_places_alone() -> None:
    exact, noisy = (building_scans(seed=1, scans=2, resolution=60, noise=noise) for noise in (0.0, 0.01))
    assert np.array_equal(exact.poses, noisy.poses)
    assert np.array_equal(exact.overlaps, noisy.overlaps)
    errors = exact.clouds[0] - noisy.clouds[0]
    assert np.linalg.norm(errors, axis=1).std() == pytest.approx(0.01 * np.sqrt(1.0 - 2.0 / np.pi), rel=0.1)
    np.testing.assert_allclose(np.cross(exact.clouds[0], noisy.clouds[0]), 0.0, atol=1e-9)  # along the rays
    finer = building_scans(seed=1, scans=2, resolution=120, noise=0.0)
    assert np.array_equal(exact.poses, finer.poses)
    distances, _ = cKDTree(in_building(finer, 0)).query(in_building(exact, 0))
    assert np.median(distances) < 0.06  # half of the distance between rays, 3° at 2 m


@pytest.mark.parametrize("seed", range(5))
def test_every_scan_overlaps_with_one_before_it_so_that_a_map_can_be_built(seed: int) -> None:
    overlaps = coarse(seed).overlaps
    both = np.minimum(overlaps, overlaps.T)
    assert all(both[k, :k].max() >= 0.3 for k in range(1, 30))
    assert connected_components(both >= 0.3)[0] == 1
    linked = both[np.triu_indices(30, 1)]
    linked = linked[linked >= 0.3]
    assert 0.3 <= np.median(linked) <= 0.7
    assert np.mean(linked < 0.7) > 0.5


@pytest.mark.parametrize("seed", range(3))
def test_rooms_do_not_see_each_other(seed: int) -> None:
    """Each room has the last three of five scans."""
    rooms = coarse(seed).overlaps.reshape(6, 5, 6, 5)[:, 2:, :, 2:].max(axis=(1, 3))
    assert (np.diag(rooms) == 1.0).all()
    assert (rooms[~np.eye(6, dtype=np.bool_)] < 0.3).all()
    assert np.median(rooms[~np.eye(6, dtype=np.bool_)]) < 0.02


@pytest.mark.parametrize(("i", "j"), [(2, 3), (3, 2), (4, 3), (8, 9)])
def test_the_truth_aligns_scans_of_a_room(i: int, j: int) -> None:
    scans = fine()
    tree = cKDTree(in_building(scans, j))
    distances, _ = tree.query(in_building(scans, i))
    # Neighbouring rays are 8 cm apart at 3 m, and more on slanted surfaces.
    assert np.mean(distances < 0.1) == pytest.approx(scans.overlaps[i, j], abs=0.15)
    moved, _ = tree.query(in_building(scans, i) + np.array([0.3, 0.2, 0.2]))
    assert np.median(distances) < 0.05 < 0.1 < np.median(moved)


def test_scans_are_those_of_a_tripod_with_a_scanner_that_looks_all_around() -> None:
    scans = fine()
    assert all(10_000 < len(cloud) < 20_000 for cloud in scans.clouds)
    for k, cloud in enumerate(scans.clouds):
        ranges = np.linalg.norm(cloud, axis=1)
        assert 0.2 < ranges.min() < ranges.max() < 15.1
        assert np.abs(np.degrees(np.arcsin(cloud[:, 2] / ranges))).max() < 50.1
        assert np.histogram(np.arctan2(cloud[:, 1], cloud[:, 0]), 36, (-np.pi, np.pi))[0].min() > 300
        height = in_building(scans, k)[:, 2]
        assert -0.05 < height.min() < 0.05
        assert 2.2 < height.max() < 2.9
    tilts = np.degrees(np.arccos(scans.poses[:, 2, 2]))
    assert 0.5 < np.median(tilts) < tilts.max() < 2.9
    assert ((scans.poses[:, 2, 3] > 1.3) & (scans.poses[:, 2, 3] < 1.8)).all()
    assert np.ptp(np.arctan2(scans.poses[:, 1, 0], scans.poses[:, 0, 0])) > 5.0


@pytest.mark.parametrize("seed", range(4))
def test_two_rooms_are_alike_but_for_what_stands_in_them(seed: int) -> None:
    rooms = sorted(zip(plan(seed).rooms, plan(seed).doors, strict=True), key=lambda entry: -entry[0].size[0])
    (one, door), (twin, other), *others = rooms
    assert np.array_equal(one.size, twin.size)
    assert door == other
    assert {one.yaw, twin.yaw} == {0.0, np.pi}
    assert one.furniture != twin.furniture
    sizes = [tuple(room.size) for room, _ in others]
    assert len(set(sizes)) == 4
    assert tuple(one.size) not in sizes


def test_twins_have_the_same_walls_and_windows() -> None:
    """Rays from the middle of either, above all furniture, at one angle after the other from the door."""
    drawn = plan(0)
    scene = Scene([shape for shape in drawn.shapes if min(shape.half[:2]) > 0.04 and max(shape.half) > 1.0])
    rooms = sorted(drawn.rooms, key=lambda room: -room.size[0])[:2]
    angles = np.linspace(0.0, 2.0 * np.pi, 100)
    ranges = []
    for room in rooms:
        middle = np.append(room.to_building(room.size[None, :2] / 2)[0], 2.2)
        turned = angles + room.yaw
        rays = np.stack((np.cos(turned), np.sin(turned), np.zeros(100)), axis=1)
        ranges.append(scene.cast(middle, rays).ranges)
    assert np.mean(np.abs(ranges[0] - ranges[1]) < 1e-9) > 0.9


def test_shares_seen_are_the_overlaps_of_pairs() -> None:
    scene = Scene(plan(3).shapes)
    scanner = SpinningLidar(120, noise=0.0, dropout=0.0, beams=30, elevations=(-50.0, 50.0), max_range=15.0)
    room, door = plan(3).rooms[0], plan(3).doors[0]
    places = room.to_building(np.array([[door, -0.1], [door, 1.0], [door, 1.6]]))
    poses = [pose((*place, 1.5), yaw=yaw) for place, yaw in zip(places, (0.0, 1.0, 2.0), strict=True)]
    surfaces = [look(scene, scanner, [where], np.random.default_rng(0))[1] for where in poses]
    shares = shares_seen(scene, scanner, poses, surfaces)
    assert (np.diag(shares) == 1.0).all()
    for i in range(3):
        for j in {0, 1, 2} - {i}:
            pair = scan_pair(scene, scanner, [poses[i]], [poses[j]], np.random.default_rng(0))
            assert shares[i, j] == pytest.approx(pair.overlap, abs=0.05)
            assert 0.2 < shares[i, j] < 0.95


def test_an_empty_scan_overlaps_with_nothing() -> None:
    scanner = SpinningLidar(40, noise=0.0, dropout=0.0, beams=10)
    wall = Shape("box", (3.0, 0.0, 0.0), (0.1, 5.0, 5.0))
    poses = [pose((0.0, 0.0, 0.0), yaw=0.0), pose((500.0, 0.0, 0.0), yaw=0.0)]
    surfaces = [look(Scene([wall]), scanner, [where], np.random.default_rng(0))[1] for where in poses]
    assert len(surfaces[1]) == 0
    assert shares_seen(Scene([wall]), scanner, poses, surfaces).tolist() == [[1.0, 0.0], [0.0, 1.0]]


def test_scans_of_a_room_register() -> None:
    scans = fine()
    truth = np.linalg.inv(scans.poses[3]) @ scans.poses[2]
    found = cp.register(scans.clouds[2], scans.clouds[3])
    assert found.status is cp.Status.OK
    assert found.T_target_source is not None
    assert cp.rotation_error(found.T_target_source, truth) < 1.0
    assert cp.translation_error(found.T_target_source, truth) < 0.05


@pytest.mark.parametrize(
    "arguments",
    [
        {"seed": -1},
        {"scans": 0},
        {"scans": 301},
        {"scans": 2.0},
        {"noise": -0.1},
        {"noise": float("nan")},
        {"resolution": 7},
        {"resolution": True},
    ],
)
def test_wrong_arguments_are_refused(arguments: dict[str, Any]) -> None:
    with pytest.raises(cp.OptionError, match=next(iter(arguments))):
        building_scans(**arguments)
