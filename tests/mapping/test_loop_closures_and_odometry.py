"""Loop closures of a robot whose odometry drifts, and how wide a bound its covariances allow."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from loop_closures import pose, solve

import clipperplus as cp
from clipperplus.geometry.poses import inverse
from clipperplus.invariants import Odometry
from clipperplus.synthetic import two_robots

# Odometry that drifts -------------------------------------------------------------------------------------------------

DRIFT, SEEN = np.array([0.004] * 3 + [0.02] * 3), np.array([0.01] * 3 + [0.05] * 3)
"""Deviations of a step and of a loop closure: radians, metres."""
LAP = 60


def laps(seed: int, right: int = 80, wrong: int = 40) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """One robot that drives six times around, with odometry that drifts; the last loop closures are wrong."""
    random = np.random.default_rng(seed)
    step = pose([0.0, 0.0, 2.0 * math.pi / LAP], [1.0, 0.0, 0.0])
    truth, driven = [np.eye(4)], [np.eye(4)]
    for _ in range(6 * LAP):
        truth.append(truth[-1] @ step)
        driven.append(driven[-1] @ step @ noise(random, DRIFT))
    here = random.integers(0, LAP, size=right + wrong)
    away = random.integers(-3, 4, size=right + wrong)
    away[right:] += random.integers(15, 46, size=wrong)  # another place is taken for this one
    there = np.clip(here + LAP * random.integers(1, 5, size=right + wrong) + away, 0, 6 * LAP)
    loops = np.column_stack((here, there))
    measurements = inverse(np.array(truth)[here]) @ np.array(truth)[there]
    measurements[right:] = measurements[random.integers(right, size=wrong)]
    return np.array(driven), loops, measurements @ np.array([noise(random, SEEN) for _ in loops])


def noise(random: np.random.Generator, deviations: np.ndarray) -> np.ndarray:
    return pose(random.normal(size=3) * deviations[:3], random.normal(size=3) * deviations[3:])


@pytest.mark.parametrize("seed", range(3))
def test_drift_between_right_loop_closures_is_forgiven_and_wrong_ones_are_not(seed: int) -> None:
    driven, loops, measurements = laps(seed)
    odometry = Odometry(driven, np.diag(DRIFT**2))
    settings_: dict[str, Any] = {"covariances": np.diag(SEEN**2), "deviations": 5.0}
    found = cp.consistent_loop_closures(odometry, odometry, loops, measurements, **settings_)
    assert found.optimal
    assert found.deviations == 5.0
    assert (found.inliers < 80).sum() > 72
    assert (found.inliers >= 80).sum() == 0
    exact = cp.consistent_loop_closures(driven, driven, loops, measurements, **settings_)
    assert len(exact.inliers) < 0.5 * len(found.inliers)


def test_a_loop_closure_that_the_odometry_contradicts_is_not_believed_even_alone() -> None:
    driven, loops, measurements = laps(0)
    odometry, covariance = Odometry(driven, np.diag(DRIFT**2)), np.diag(SEEN**2)
    for number, believed in ((0, [0]), (100, [])):
        one = slice(number, number + 1)
        found = cp.consistent_loop_closures(odometry, odometry, loops[one], measurements[one], covariances=covariance)
        assert found.inliers.tolist() == believed
        assert found.optimal
        closures = cp.LoopClosures(odometry, odometry, covariance=covariance)
        assert closures.add(*map(int, loops[number]), measurements[number]).tolist() == believed
        assert closures.optimal


def test_odometry_may_come_in_parts_and_loop_closures_one_at_a_time() -> None:
    driven, loops, measurements = laps(1)
    drift, covariance = np.tile(np.diag(DRIFT**2), (len(driven), 1, 1)), np.diag(SEEN**2)
    order = np.argsort(loops.max(axis=1), kind="stable")
    closures, seen = cp.LoopClosures(covariance=covariance), 0
    for k in order:
        until = int(loops[k].max()) + 1
        if until > seen:
            part = Odometry(driven[seen:until], drift[seen:until])
            closures.extend(trajectory_a=part, trajectory_b=part)
            seen = until
        closures.add(*map(int, loops[k]), measurements[k])
    whole = Odometry(driven[:seen], drift[:seen])
    found = cp.consistent_loop_closures(whole, whole, loops[order], measurements[order], covariances=covariance)
    assert closures.inliers.tolist() == found.inliers.tolist()
    assert closures.graph == found.graph
    with pytest.raises(cp.LandmarkError, match="trajectory_a: expected Odometry, as before, got ndarray"):
        closures.extend(trajectory_a=driven)
    plain = cp.LoopClosures(driven, driven, covariance=covariance)
    with pytest.raises(cp.LandmarkError, match="trajectory_b: expected ndarray, as before, got Odometry"):
        plain.extend(trajectory_b=whole)


# How wide the bound may be --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_covariances_that_are_too_large_are_noticed(seed: int) -> None:
    """With deviations a hundred times as large as they are, everything agrees: the bound is narrowed."""
    driven, loops, measurements = laps(seed)
    odometry = Odometry(driven, np.diag((100.0 * DRIFT) ** 2))
    settings_: dict[str, Any] = {"covariances": np.diag((100.0 * SEEN) ** 2)}
    wide = cp.consistent_loop_closures(odometry, odometry, loops, measurements, **settings_)
    assert (wide.inliers >= 80).sum() == 40
    found = cp.consistent_loop_closures(odometry, odometry, loops, measurements, deviations=None, **settings_)
    assert found.deviations is not None
    assert 0.02 < found.deviations < 0.08
    assert (found.inliers >= 80).sum() == 0
    assert (found.inliers < 80).sum() > 30
    again = cp.consistent_loop_closures(
        odometry, odometry, loops, measurements, deviations=found.deviations, **settings_
    )
    assert again.inliers.tolist() == found.inliers.tolist()
    assert again.graph == found.graph


def test_covariances_that_are_right_are_believed() -> None:
    driven, loops, measurements = laps(0)
    odometry, covariance = Odometry(driven, np.diag(DRIFT**2)), np.diag(SEEN**2)
    for seed in range(3):
        found = cp.consistent_loop_closures(
            odometry, odometry, loops, measurements, covariances=covariance, deviations=None, seed=seed
        )
        assert found.deviations is not None
        assert found.deviations > 3.0
        assert (found.inliers < 80).sum() > 40
        assert (found.inliers >= 80).sum() == 0


def test_a_bound_cannot_be_found_without_covariances() -> None:
    world = two_robots(seed=1)
    with pytest.raises(cp.OptionError, match="deviations: expected a number, because there are no covariances"):
        solve(world, deviations=None)
    with pytest.raises(cp.OptionError, match="seed: expected"):
        solve(world, deviations=None, covariances=np.eye(6), seed=-1)
    none = cp.consistent_loop_closures([], [], [], [], covariances=np.eye(6), deviations=None)
    assert none.inliers.size == 0
    assert none.deviations == 5.0
