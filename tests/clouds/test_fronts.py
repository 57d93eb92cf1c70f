"""Normals that come with a cloud: their signs help where a sensor can have seen them, and nothing else hurts."""

from __future__ import annotations

import functools
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from motions import move, random_motion, same_pose
from simulated import room, street

import clipperplus as cp
from clipperplus import Status, _core
from clipperplus.clouds.cloud import as_cloud
from clipperplus.clouds.voxels import voxel_means, voxel_numbers
from clipperplus.geometry.poses import inverse

Array = npt.NDArray[np.float64]

VOXEL = 0.15


class Cloud:
    """A cloud as other libraries have it."""

    def __init__(self, points: Any, normals: Any) -> None:
        self.points, self.normals = points, normals


@functools.cache
def normals(target: bool = False) -> Array:
    """Those of a room, towards its sensor."""
    return cp.estimate_normals(room().target if target else room().source, radius=0.2)


def signs(seed: int = 0) -> Array:
    return np.random.default_rng(seed).choice([-1.0, 1.0], (len(normals()), 1))


def towards(direction: Array, of: Array) -> Array:
    return np.where((of @ direction < 0.0)[:, None], -of, of)


def prepared(given: Any, motion: Array | None = None) -> cp.PreparedCloud:
    if motion is None:
        return cp.prepare(Cloud(room().source, given), voxel_size=VOXEL)
    turned = None if given is None else given @ motion[:3, :3].T
    return cp.prepare(Cloud(move(motion, room().source), turned), voxel_size=VOXEL)


def same_cloud(a: cp.PreparedCloud, b: cp.PreparedCloud) -> bool:
    pairs = ((a.normals, b.normals), (a.features, b.features), (a.viewpoint.place, b.viewpoint.place))
    return a.viewpoint.source == b.viewpoint.source and all(np.array_equal(*pair) for pair in pairs)


@pytest.mark.parametrize("seed", range(3))
def test_voxel_numbers_are_the_places_of_the_means(seed: int) -> None:
    random = np.random.default_rng(seed)
    for dtype in (np.float32, np.float64):
        points = random.normal(size=(500, 3)).astype(dtype)
        cloud = as_cloud("points", points)
        means, counts = voxel_means(cloud, 0.4, 1)
        numbers = voxel_numbers(cloud, 0.4, 1)
        assert np.array_equal(np.bincount(numbers, minlength=len(means)), counts)
        for number, mean in enumerate(means):
            assert np.allclose(points[numbers == number].mean(axis=0), mean, rtol=0.0, atol=1e-6)


def test_a_stray_that_has_no_cell_has_no_number() -> None:
    points = np.concatenate((np.random.default_rng(0).normal(size=(500, 3)), [[1e9, 0.0, 0.0]]))
    cloud = as_cloud("points", points)
    means, counts = voxel_means(cloud, 0.4, 1)
    numbers = voxel_numbers(cloud, 0.4, 1)
    assert numbers[-1] == -1
    assert np.array_equal(np.bincount(numbers[:-1], minlength=len(means)), counts)


def test_sides_tear_the_neighbours_that_they_turn_apart() -> None:
    points = np.column_stack((np.arange(40.0), np.zeros(40), np.zeros(40)))
    up = np.tile([0.0, 0.0, 1.0], (40, 1)) * np.where(np.arange(40) % 3 == 0, -1.0, 1.0)[:, None]  # whatever their sign
    near = cp.Neighbourhoods(points, radius=1.5)._native
    surface = _core.ViewedSurface(points, up, np.ones(40, dtype=np.int32), near, 1.5, 0.1, 2**31)
    seen = np.sign(up[:, 2]).astype(np.int8)
    assert surface.torn_by(seen) == surface.torn_by(-seen) == 0.0
    step = np.where(np.arange(40) < 20, seen, -seen).astype(np.int8)
    assert surface.torn_by(step) == pytest.approx(2.0 / 78.0)  # one pair of neighbours, from either
    other = np.where(np.arange(40) % 2, seen, -seen).astype(np.int8)
    assert surface.torn_by(other) == 1.0
    assert surface.torn_by(np.where(np.arange(40) < 5, 0, seen).astype(np.int8)) == 0.0
    assert surface.torn_by(np.zeros(40, dtype=np.int8)) == 1.0  # nothing is said
    with pytest.raises(ValueError, match="a side for each point"):
        surface.torn_by(seen[1:])


@pytest.mark.parametrize("seed", [None, 71])
def test_normals_towards_the_sensor_say_where_it_was(seed: int | None) -> None:
    motion = np.eye(4) if seed is None else random_motion(seed, shift=100.0)
    without, cloud = prepared(None, motion), prepared(normals(), motion)
    assert cloud.has_fronts
    assert not without.has_fronts
    expected = (motion[:3, 3] - cloud.points) / np.linalg.norm(motion[:3, 3] - cloud.points, axis=1)[:, None]
    facing = np.einsum("ij,ij->i", cloud.normals, expected)
    assert (facing > 0.0).mean() > 0.97
    assert np.allclose(np.abs(np.einsum("ij,ij->i", cloud.normals, without.normals)), 1.0)  # only signs are new
    size = np.linalg.norm(np.ptp(room().source, axis=0))
    assert np.linalg.norm(cloud.viewpoint.place - motion[:3, 3]) < 0.15 * size
    assert np.array_equal(cloud.features, without.features)  # to be matched with clouds that say nothing


LENGTHS = np.random.default_rng(0).uniform(0.01, 100.0, (len(room().source), 1))
SAYING_THE_SAME: dict[str, Callable[[], Any]] = {
    "turned over": lambda: -normals(),
    "of any length": lambda: normals() * LENGTHS,
    "of single precision": lambda: normals().astype(np.float32),
    "a list": lambda: normals().tolist(),
}


@pytest.mark.parametrize("name", SAYING_THE_SAME)
def test_normals_that_say_the_same_are_as_good(name: str) -> None:
    cloud = prepared(SAYING_THE_SAME[name]())
    assert cloud.has_fronts
    assert same_cloud(cloud, prepared(normals()))


def some_missing() -> Array:
    given = normals().copy()
    given[::3] = np.nan
    given[1::9] = 0.0
    given[2, 0] = np.inf
    return given


def test_normals_of_some_points_are_enough() -> None:
    cloud = prepared(some_missing())
    assert cloud.has_fronts
    assert (np.einsum("ij,ij->i", cloud.normals, prepared(normals()).normals) > 0.0).mean() > 0.97


WORTHLESS: dict[str, Callable[[], Any]] = {
    "none": lambda: None,
    "an empty array": lambda: np.empty((0, 3)),
    "zeros": lambda: np.zeros_like(normals()),
    "no numbers": lambda: np.full_like(normals(), np.nan),
    "random signs": lambda: signs() * normals(),
    "random directions": lambda: np.random.default_rng(0).normal(size=normals().shape),
    "all up": lambda: np.tile([0.0, 0.0, 1.0], (len(normals()), 1)),
    "towards a direction": lambda: towards(np.array([0.5, 0.3, 0.8]), normals()),
    "huge": lambda: np.full_like(normals(), 1e308) * signs(),
}


@pytest.mark.parametrize("name", WORTHLESS)
def test_normals_that_no_sensor_can_have_seen_change_nothing(name: str) -> None:
    cloud = prepared(WORTHLESS[name]())
    assert not cloud.has_fronts
    assert same_cloud(cloud, cp.prepare(room().source, voxel_size=VOXEL))


def test_normals_towards_a_place_where_no_sensor_was_change_nothing() -> None:
    """As of programs that turn all normals to the origin, wherever that is."""
    motion = random_motion(72, shift=1.0)
    points = move(motion, room().source) + np.array([6.0, 0.0, 0.0])
    own = normals() @ motion[:3, :3].T
    given = np.where((np.einsum("ij,ij->i", own, points) > 0.0)[:, None], -own, own)
    cloud = cp.prepare(Cloud(points, given), voxel_size=VOXEL)
    assert not cloud.has_fronts
    assert same_cloud(cloud, cp.prepare(points, voxel_size=VOXEL))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            np.zeros((7, 3)),
            r"normals: expected a normal for each point, numbers of shape \(\d+, 3\), got float64 of .*7, 3",
        ),
        (np.zeros((len(room().source), 2)), r"normals: expected a normal for each point, .* got float64 of shape"),
        (np.zeros((len(room().source), 3), dtype=bool), r"normals: expected a normal for each point, .* got bool"),
        ("up", r"normals: expected a normal for each point"),
        (np.ma.masked_array(np.zeros((len(room().source), 3))), r"normals: expected an array without a mask"),
    ],
)
def test_what_are_no_normals_of_the_points_is_refused_by_name(given: Any, message: str) -> None:
    cloud = Cloud(room().source, given)
    with pytest.raises(cp.LandmarkError, match=r"cloud\." + message):
        cp.prepare(cloud)
    with pytest.raises(cp.LandmarkError, match=r"target\." + message):
        cp.register(room().source, cloud)


def test_normals_stay_with_their_points_where_others_are_dropped() -> None:
    lost = np.arange(0, len(room().source), 5)
    points, given = np.insert(room().source, lost, np.nan, axis=0), np.insert(normals(), lost, 9.0, axis=0)
    cloud = cp.prepare(Cloud(points, given), voxel_size=VOXEL)
    assert cloud.num_dropped == len(lost)
    assert same_cloud(cloud, prepared(normals()))


def frames() -> tuple[Array, Array]:
    return random_motion(73, shift=10.0), random_motion(74, shift=10.0)


def clouds_in_frames() -> tuple[Cloud, Cloud]:
    a, b = frames()
    return (
        Cloud(move(a, room().source), normals() @ a[:3, :3].T),
        Cloud(move(b, room().target), normals(target=True) @ b[:3, :3].T),
    )


def assert_right(pose: cp.Pose) -> None:
    a, b = frames()
    assert pose.status is Status.OK
    back = inverse(b) @ pose.T_target_source @ a
    assert cp.rotation_error(back, room().T_target_source) < 1.0
    assert cp.translation_error(back, room().T_target_source) < VOXEL


def test_features_are_those_of_the_sides_where_both_clouds_have_them() -> None:
    source, target = clouds_in_frames()
    pose = cp.register(source, target, voxel_size=VOXEL)
    assert_right(pose)
    a, b = (cp.prepare(cloud, voxel_size=VOXEL) for cloud in (source, target))
    assert same_pose(cp.register(a, b), pose)
    first = cp.register(a, b, effort="low")
    features = [cp.compute_fpfh(of.points, of.normals, radius=5.0 * VOXEL) for of in (a, b)]
    described = [np.flatnonzero(of.any(axis=1)) for of in features]
    pairs = cp.match_features(*(of[there] for of, there in zip(features, described, strict=True)))
    expected = np.column_stack([there[column] for there, column in zip(described, pairs.T, strict=True)])
    assert np.array_equal(first.associations, expected)
    plain = cp.register(source.points, target.points, voxel_size=VOXEL, effort="low").associations
    for clouds in ((source, target.points), (source.points, target)):
        assert np.array_equal(cp.register(*clouds, voxel_size=VOXEL, effort="low").associations, plain)
    assert not np.array_equal(plain, first.associations)


def test_prepared_clouds_with_sides_can_be_sent_elsewhere_and_do_not_depend_on_threads() -> None:
    pair = [cp.prepare(cloud, voxel_size=VOXEL) for cloud in clouds_in_frames()]
    expected = cp.register(*pair)
    assert same_pose(cp.register(*pickle.loads(pickle.dumps(pair))), expected)
    assert same_pose(cp.register(*clouds_in_frames(), voxel_size=VOXEL, threads=2), expected)
    assert same_pose(cp.register(*pair), expected)
    (seen,) = cp.verify(*pair, expected.T_target_source)
    assert seen.confidence > 0.5


@pytest.mark.parametrize("name", ["random signs", "towards a direction", "zeros"])
def test_worthless_normals_do_not_change_a_registration(name: str) -> None:
    expected = cp.register(room().source, room().target, voxel_size=VOXEL)
    source = Cloud(room().source, WORTHLESS[name]())
    assert same_pose(cp.register(source, Cloud(room().target, normals(target=True)), voxel_size=VOXEL), expected)


def test_matches_and_features_of_ones_own_are_not_touched() -> None:
    source, target = (cp.prepare(cloud, voxel_size=VOXEL) for cloud in clouds_in_frames())
    features = np.random.default_rng(0).normal(size=(40, 5))
    own = source.with_features(source.points[:40], features), target.with_features(target.points[:40], features)
    assert len(cp.register(*own).associations) == 40
    pairs = np.column_stack((np.arange(30), np.arange(30)))
    assert np.array_equal(cp.register(source, target, associations=pairs).associations, pairs)


def test_the_sides_of_a_lidar_scan_are_known(tmp_path: Path) -> None:
    """Through a file, as normals come."""
    scan = street().source
    given = cp.estimate_normals(scan, radius=1.0)
    for name in ("scan.ply", "scan.pcd"):
        cp.write_cloud(tmp_path / name, scan, normals=-given)
        cloud = cp.prepare(cp.read_cloud(tmp_path / name))
        assert cloud.has_fronts
        assert np.linalg.norm(cloud.viewpoint.place) < 0.1 * np.linalg.norm(np.ptp(scan, axis=0))
