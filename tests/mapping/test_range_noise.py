"""How precise points are by range, on scans whose errors are known."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from clipperplus.clouds.cloud import as_cloud
from clipperplus.clouds.surfaces import Surface
from clipperplus.mapping.range_noise import masses_by_range, range_exponent, residuals_by_range
from clipperplus.mapping.surfaces import FinePoints, aligned_by_icp

ORIGINS = np.zeros(3), np.zeros(3)
VOXEL = 0.05


def floor_and_walls(random: np.random.Generator, power: float) -> npt.NDArray[np.float64]:
    """Return a room as a sensor in it sees it, whose ranges are off by an error that grows with a power of them."""
    points = random.uniform((-4.0, -4.0, -1.5), (4.0, 4.0, 2.0), (60_000, 3))
    side = random.integers(0, 3, len(points))
    points[side == 0, 2] = -1.5
    points[side == 1, 0] = 4.0
    points[side == 2, 1] = -4.0
    ranges = np.linalg.norm(points, axis=1, keepdims=True)
    return np.asarray(points * (1.0 + 0.002 * ranges ** (power - 1.0) * random.normal(size=ranges.shape)))


def measured(power: float) -> float:
    random = np.random.default_rng(3)
    first, second = (
        FinePoints.of_cloud(as_cloud("cloud", floor_and_walls(random, power)), VOXEL, 4.5).surface() for _ in "ab"
    )
    return range_exponent([residuals_by_range(first, second, np.eye(4), ORIGINS, 3.0, 0.7)])


def test_errors_that_grow_with_the_range_are_told_from_those_that_do_not() -> None:
    constant, squared = measured(0.0), measured(2.0)
    assert constant < 0.7
    assert 1.2 < squared <= 2.0


def test_the_power_of_residuals_is_found() -> None:
    random = np.random.default_rng(0)
    ranges = random.uniform(1.0, 4.0, 20_000)
    for power in (0.0, 0.7, 1.5):
        residuals = np.column_stack((ranges, np.abs(random.normal(size=len(ranges))) * ranges**power))
        assert range_exponent([residuals[:9000], residuals[9000:]]) == pytest.approx(power, abs=0.1)
    steep = np.column_stack((ranges, np.abs(random.normal(size=len(ranges))) * ranges**4))
    assert range_exponent([steep]) == 2.0
    falling = np.column_stack((ranges, np.abs(random.normal(size=len(ranges))) / ranges))
    assert range_exponent([falling]) == 0.0


@pytest.mark.parametrize(
    "residuals",
    [
        [],
        [np.empty((0, 2))],
        [np.ones((50, 2))],
        [np.ones((5000, 2))],
        [np.column_stack((np.linspace(1.0, 3.0, 5000), np.zeros(5000)))],
        [np.zeros((5000, 2))],
    ],
)
def test_what_cannot_be_told_is_no_growth(residuals: list[npt.NDArray[np.float64]]) -> None:
    assert range_exponent(residuals) == 0.0


def test_masses_are_inverse_variances() -> None:
    random = np.random.default_rng(1)
    points = random.normal(size=(100, 3)) + np.array((3.0, 0.0, 0.0))
    motion = np.eye(4)
    motion[:3, 3] = 0.5, -1.0, 0.2
    viewpoints = np.array((0.1, 0.2, 0.3)), np.array((-1.0, 0.0, 0.0))
    masses = masses_by_range(points, motion, viewpoints, 1.5)
    assert masses.mean() == pytest.approx(1.0)
    near = np.linalg.norm(points - viewpoints[0], axis=1)
    far = np.linalg.norm(points + motion[:3, 3] - viewpoints[1], axis=1)
    expected = 1.0 / (near**3 + far**3)
    assert masses == pytest.approx(expected / expected.mean())
    assert len(masses_by_range(np.empty((0, 3)), motion, viewpoints, 1.5)) == 0
    at_sensor = masses_by_range(np.zeros((1, 3)), np.eye(4), ORIGINS, 2.0)
    assert np.isfinite(at_sensor).all()


def test_points_without_mass_do_not_move_anything() -> None:
    random = np.random.default_rng(4)
    cloud = floor_and_walls(random, 0.0)
    target = FinePoints.of_cloud(as_cloud("cloud", cloud), VOXEL, 4.5).surface()
    torn = target.points.copy()
    behind = torn[:, 0] > 3.0
    torn[behind, 0] += 0.06  # one wall stands elsewhere
    source = Surface.of(torn, target.normals, VOXEL)

    def aligned(masses: npt.NDArray[np.float64] | None = None) -> npt.NDArray[np.float64]:
        return aligned_by_icp(source, target, np.eye(4), reach=3.0, cosine=0.7, steps=20, masses=masses)

    all_of_it, rest = aligned(), aligned(np.where(behind, 0.0, 1.0))
    assert abs(all_of_it[0, 3]) > 0.02
    assert abs(rest[1, 3]) < 0.005
    assert abs(rest[2, 3]) < 0.005
    assert (aligned(np.ones(len(torn))) == all_of_it).all()
    with pytest.raises(ValueError, match="as many masses as points"):
        aligned(np.ones(3))
