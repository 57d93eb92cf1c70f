"""The covariance of a transform that is fitted to matches is what its errors are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from motions import move, random_motion

import clipperplus as cp
from clipperplus import Status
from clipperplus.geometry.poses import inverse, logarithm

Array = npt.NDArray[np.float64]


@pytest.mark.parametrize("centre", [(0.0, 0.0, 0.0), (3.0, -2.0, 5.0)])
def test_the_covariance_is_that_of_many_repetitions(centre: tuple[float, float, float]) -> None:
    """True transform = exp(ξ) · estimate, in the frame of the target, rotation first and about its origin."""
    random = np.random.default_rng(6)
    truth = random_motion(7)
    source = random.uniform(-1.0, 1.0, (60, 3)) * [4.0, 2.0, 0.6] + centre
    errors, covariances = [], []
    for _ in range(250):
        target = move(truth, source) + random.normal(0.0, 0.01, source.shape)
        pose = cp.solve(source, target, epsilon=0.08, max_alternatives=0)
        assert pose.num_inliers == 60
        assert pose.T_target_source is not None
        errors.append(logarithm(truth @ inverse(pose.T_target_source)))
        covariances.append(pose.covariance)
    sample = np.cov(np.array(errors).T)
    stated = np.mean(covariances, axis=0)
    assert np.allclose(stated, stated.T)
    whiten = np.linalg.inv(np.linalg.cholesky(stated))
    ratios = np.linalg.eigvalsh(whiten @ sample @ whiten.T)
    assert ratios.min() > 0.55  # neighbours might share their errors
    assert ratios.max() < 1.4


def matches_of(shape: str, random: np.random.Generator) -> tuple[Array, Array]:
    """Points, and errors of matches of them with a deviation of 1 along each axis."""
    n = {"few": 5, "many": 200}.get(shape, 60)
    points = random.uniform(-1.0, 1.0, (n, 3))
    errors = random.normal(size=(n, 3))
    if shape == "plane":
        points[:, 2] = 0.0
    elif shape == "rod":
        points = random.normal(size=(n, 3)) * (20.0, 0.3, 0.3)
    elif shape.startswith("clusters"):
        which = random.integers(0, 6, n)
        points = points[which] + 0.05 * random.normal(size=(n, 3))
        if shape.endswith("shared"):
            errors = np.sqrt(0.3) * errors + np.sqrt(0.7) * random.normal(size=(6, 3))[which]
    return points, errors


@pytest.mark.parametrize("noise", [0.05, 0.18, 0.25, 0.4])
@pytest.mark.parametrize("shape", ["box", "few", "many", "plane", "rod", "clusters", "clusters, shared"])
def test_the_covariance_is_honest(shape: str, noise: float) -> None:
    """Squared errors by their covariance are six on average, or less; for errors from small to as large as epsilon."""
    epsilon = 0.1
    squares = []
    for seed in range(40):
        random = np.random.default_rng(seed)
        truth = random_motion(seed)
        points, errors = matches_of(shape, random)
        pose = cp.solve(points, move(truth, points) + noise * epsilon * errors, epsilon=epsilon, max_alternatives=0)
        if pose.T_target_source is None or pose.status is Status.DEGENERATE:
            continue
        error = logarithm(truth @ inverse(pose.T_target_source))
        assert pose.covariance is not None
        squares.append(error @ np.linalg.solve(pose.covariance, error))
    assert len(squares) > 25
    assert np.mean(squares) < 10.0
    if noise < 0.2 and shape in ("box", "many", "plane", "rod"):  # nothing to be careful about
        assert np.mean(squares) > 1.5


def test_errors_as_large_as_epsilon_are_not_averaged_away() -> None:
    """If right matches miss by epsilon, those that agree were chosen to; more of them do not make it precise."""
    random = np.random.default_rng(3)
    points = random.uniform(-1.0, 1.0, (300, 3))
    pose = cp.solve(points, points + random.normal(0.0, 0.04, points.shape), epsilon=0.1, max_alternatives=0)
    assert pose.covariance is not None
    assert np.sqrt(np.diag(pose.covariance))[3:].min() > 0.01  # 0.04 by the root of 300 would be 0.0023


def test_real_matches_are_off_by_what_the_covariance_says(data_folder: Path) -> None:
    """KITTI, 10 m apart: every transform within three standard deviations (99.7 % of six degrees of freedom)."""
    for name in sorted((data_folder / "scans" / "kitti").glob("*.npz")):
        with np.load(name) as stored:
            source, target, truth = (stored[key].astype(np.float64) for key in ("kp_src", "kp_dst", "T"))
        for epsilon in (0.3, 0.6):
            pose = cp.solve(source, target, epsilon=epsilon, max_alternatives=0)
            assert pose.T_target_source is not None
            assert pose.covariance is not None
            assert pose.status is Status.OK
            assert cp.rotation_error(pose.T_target_source, truth) < 0.4
            assert cp.translation_error(pose.T_target_source, truth) < 0.4
            error = logarithm(truth @ inverse(pose.T_target_source))
            assert error @ np.linalg.solve(pose.covariance, error) < 20.1


def test_a_turn_that_the_covariance_leaves_open_is_degenerate() -> None:
    """Three points about as far apart as they may be wrong."""
    source = np.array([[0.0, 0.0, 0.0], [0.5, 0.0, 0.0], [0.0, 0.5, 0.0]])
    pose = cp.solve(source, source, epsilon=0.1)
    assert pose.status is not Status.OK
    assert cp.solve(20.0 * source, 20.0 * source, epsilon=0.1).status is not Status.DEGENERATE


def test_a_long_rod_has_the_covariance_of_least_squares() -> None:
    random = np.random.default_rng(5)
    source = random.normal(size=(60, 3)) * (200.0, 1.5, 1.5)
    pose = cp.solve(source, source + random.normal(0.0, 0.01, source.shape), epsilon=0.1)
    assert pose.status is Status.OK
    assert pose.covariance is not None
    assert np.sqrt(np.diag(pose.covariance))[:3].max() < np.radians(1.0)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("scale", [1e-80, 1e-3, 1.0, 1e5, 1e80])
def test_the_covariance_is_finite_and_not_negative_at_any_scale(scale: float) -> None:
    for seed in range(20):
        random = np.random.default_rng(seed)
        source = random.normal(size=(20, 3)) * scale * random.choice([0.0, 1e-12, 1.0], 3)
        target = source + random.normal(size=(20, 3)) * scale * 10.0 ** random.uniform(-12.0, 0.0)
        bounds = scale * 10.0 ** random.uniform(-8.0, 3.0) * 10.0 ** random.uniform(-2.0, 2.0, 20)
        pose = cp.solve(source, target, epsilon=bounds if seed % 2 else bounds[0], max_alternatives=0)
        if pose.T_target_source is not None:
            assert pose.covariance is not None
            assert np.isfinite(pose.T_target_source).all()
            assert np.isfinite(pose.covariance).all()
            values = np.linalg.eigvalsh(pose.covariance)
            assert values[0] >= -1e-6 * values[-1]
