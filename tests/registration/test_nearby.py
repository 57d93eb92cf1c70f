"""What comes near the other surface, against a search of all points; and densities that tell where sensors stood."""

import numpy as np
import pytest

import clipperplus as cp
from clipperplus.clouds.prepared import PreparedCloud
from clipperplus.registration import nearby

VOXEL = 0.1


def ground(seed: int, sensor: tuple[float, float], count: int = 60_000) -> np.ndarray:
    """Return uneven ground as a sensor above it sees it: the farther away, the fewer points."""
    random = np.random.default_rng(seed)
    angle, elevation = random.uniform(0.0, 2 * np.pi, count), random.uniform(0.2, 1.2, count)
    distance = 1.8 / np.tan(elevation)
    points = np.column_stack((distance * np.cos(angle) + sensor[0], distance * np.sin(angle) + sensor[1]))
    return np.column_stack((points, 0.15 * np.sin(2.0 * points[:, 0]) * np.cos(1.5 * points[:, 1])))


def prepared(points: np.ndarray) -> PreparedCloud:
    return cp.prepare(points, voxel_size=VOXEL)


def searched(source: PreparedCloud, target: PreparedCloud, motion: np.ndarray, reach: float) -> tuple[float, float]:
    """Return the shares of the source within a reach of the target, and on its surface, comparing all pairs."""
    moved, turned = cp.apply_transform(motion, source.points), source.normals @ motion[:3, :3].T
    gaps = np.linalg.norm(moved[:, None] - target.points[None], axis=2)
    nearest = gaps.argmin(axis=1)
    cosines = np.abs((turned * target.normals[nearest]).sum(axis=1))
    apart = gaps.min(axis=1)
    return float((apart <= reach).mean()), float(((apart <= VOXEL) & (cosines >= 0.8)).mean())


@pytest.mark.parametrize("shift", [0.0, 0.08, 0.25, 2.0])
def test_the_overlap_of_what_is_nearby_is_that_of_a_search(shift: float) -> None:
    random = np.random.default_rng(1)
    source, target = (
        prepared(random.uniform([low, 0.0, 0.0], [low + 3.0, 3.0, 0.02], (20_000, 3))) for low in (0.0, 1.0)
    )
    motion = np.eye(4)
    motion[2, 3] = shift
    found = nearby.look_nearby(source, target, motion)
    shares = []
    for way in ((source, target, motion), (target, source, np.linalg.inv(motion))):
        near, on_surface = searched(*way, 4.0 * VOXEL)
        shares.append(on_surface / max(near, 1e-9))
    assert found.overlap == pytest.approx(np.mean(shares), abs=0.1)


def test_nothing_nearby_is_no_overlap() -> None:
    cloud, far = prepared(ground(0, (0.0, 0.0))), np.eye(4)
    far[2, 3] = 50.0
    assert nearby.look_nearby(cloud, cloud, far) == nearby.Nearby(0.0, None)


def test_densities_are_alike_only_where_the_sensors_stood_at_one_place() -> None:
    here, again, aside = (
        prepared(ground(seed, place)) for seed, place in ((0, (0.0, 0.0)), (1, (0.0, 0.0)), (2, (2.5, 0.0)))
    )
    assert (nearby.look_nearby(here, again, np.eye(4)).densities or 0.0) > 0.95
    assert (nearby.look_nearby(here, aside, np.eye(4)).densities or 0.0) < 0.8
    # As the answer would have it that takes the rings of the sensor for the ground.
    onto = np.eye(4)
    onto[0, 3] = 2.5
    assert (nearby.look_nearby(here, aside, onto).densities or 0.0) > 0.8


def test_nothing_is_said_of_densities_that_hardly_vary() -> None:
    random = np.random.default_rng(3)
    even = [prepared(random.uniform([0.0, 0.0, 0.0], [4.0, 4.0, 0.02], (40_000, 3))) for _ in range(2)]
    assert nearby.look_nearby(*even, np.eye(4)).densities is None


def test_the_grid_finds_points_within_reach_and_only_those() -> None:
    random = np.random.default_rng(4)
    cloud = prepared(random.uniform(0.0, 1.5, (3000, 3)))
    places = random.uniform(-1.0, 2.5, (4000, 3))
    numbers = cloud.surface.near(places)
    gaps = np.linalg.norm(places[:, None] - cloud.points[None], axis=2)
    found = numbers >= 0
    assert found[gaps.min(axis=1) < 1.6 * VOXEL].all()
    assert not found[gaps.min(axis=1) > 3.5 * VOXEL].any()
    excess = gaps[found, numbers[found]] - gaps[found].min(axis=1)
    assert excess.max() <= np.sqrt(3.0) * VOXEL + 1e-9
