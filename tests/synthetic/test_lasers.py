"""Simulated scans in a plane: what is seen is there, features are posts and corners, and motions are found."""

from __future__ import annotations

import numpy as np
import pytest

import clipperplus as cp
from clipperplus.synthetic import laser_scans, scan_features


def test_scans_are_the_same_by_seed_and_different_by_another() -> None:
    one, again, other = laser_scans(seed=3), laser_scans(seed=3), laser_scans(seed=4)
    assert np.array_equal(one.source, again.source)
    assert np.array_equal(one.T_target_source, again.T_target_source)
    assert not np.array_equal(one.source, other.source)


def test_without_noise_both_scans_are_of_one_outline() -> None:
    """Most points of one scan lie on the other, moved by the truth: what one sees, the other sees, but for shadows."""
    scans = laser_scans(seed=1, noise=0.0, beams=5000)
    T = scans.T_target_source
    assert np.allclose(T[:2, :2] @ T[:2, :2].T, np.eye(2))
    moved = scans.source @ T[:2, :2].T + T[:2, 2]
    gaps = np.linalg.norm(moved[::10, None] - scans.target, axis=2).min(axis=1)
    assert np.mean(gaps < 0.05) > 0.6
    angles = np.unwrap(np.arctan2(scans.source[:, 1], scans.source[:, 0]))
    assert np.allclose(np.diff(angles), 2.0 * np.pi / 5000)


@pytest.mark.parametrize("seed", range(10))
def test_features_of_both_scans_are_the_same_places(seed: int) -> None:
    scans = laser_scans(seed=seed)
    source, target = scan_features(scans.source), scan_features(scans.target)
    T = scans.T_target_source
    gaps = np.linalg.norm((source @ T[:2, :2].T + T[:2, 2])[:, None] - target, axis=2).min(axis=1)
    assert np.count_nonzero(gaps < 0.05) >= 10
    matches = np.array([(i, j) for i in range(len(source)) for j in range(len(target))])
    pose = cp.solve(source, target, matches, epsilon=0.08, motion="planar")
    assert pose.status is cp.Status.OK
    assert pose.transform_2d is not None
    assert np.allclose(pose.transform_2d, T, atol=0.05)
    elsewhere = scan_features(laser_scans(seed=seed + 100).target)
    every = np.array([(i, j) for i in range(len(source)) for j in range(len(elsewhere))])
    assert cp.solve(source, elsewhere, every, epsilon=0.08, motion="planar").status is not cp.Status.OK


def test_an_empty_hall_has_corners_only_and_they_are_those_of_its_walls() -> None:
    scans = laser_scans(seed=0, posts=0, noise=0.0, beams=20_000)
    found = scan_features(scans.source)
    assert 4 <= len(found) <= 10
    gaps = np.linalg.norm(found[:, None] - scans.source, axis=2).min(axis=1)
    assert gaps.max() < 0.02


def test_few_points_have_no_features_and_wrong_input_is_refused() -> None:
    assert scan_features(np.empty((0, 2))).shape == (0, 2)
    assert scan_features(np.ones((5, 2))).shape == (0, 2)
    with pytest.raises(cp.LandmarkError, match="scan: expected points"):
        scan_features(np.ones((5, 3)))
    with pytest.raises(cp.OptionError, match="beams"):
        laser_scans(beams=3)
    with pytest.raises(cp.OptionError, match="noise"):
        laser_scans(noise=-1.0)
