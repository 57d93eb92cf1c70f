"""Very many voxels: wider ones are matched and judge the answer, which those that were asked for refine."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given as drawn
from hypothesis import strategies as st
from simulated import room

import clipperplus as cp
from clipperplus.registration import descent, given
from clipperplus.registration.given import VoxelSizes

FINE, MATCHED = 0.03, 2000
"""Metres, and how many voxels may be matched: both scans have several thousand of that width."""


@pytest.fixture
def few_are_matched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(given, "_MOST_MATCHED", MATCHED)


def off(transform: object) -> float:
    return cp.translation_error(transform, room().T_target_source)


@pytest.mark.usefixtures("few_are_matched")
def test_clouds_of_very_many_voxels_are_matched_at_wider_ones(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="clipperplus.registration"):
        pose = cp.register(room().source, room().target, voxel_size=FINE)
    assert pose.status is cp.Status.OK
    assert max(map(len, (pose.source_points, pose.target_points))) < 1.2 * MATCHED
    assert pose.voxel_size == FINE < pose.epsilon
    assert "descent" in [stage.name for stage in pose.stages]
    assert [f"{name}: voxels of 0.03 leave" in caplog.text for name in ("source", "target")] == [True, True]


@pytest.mark.usefixtures("few_are_matched")
def test_the_voxels_that_were_asked_for_have_the_last_word(monkeypatch: pytest.MonkeyPatch) -> None:
    pose = cp.register(room().source, room().target, voxel_size=FINE)
    monkeypatch.setattr("clipperplus.registration.line.descend", lambda _given, _judged, motions, *_about: motions)
    without = cp.register(room().source, room().target, voxel_size=FINE)
    assert off(pose.T_target_source) < 0.7 * off(without.T_target_source)
    assert cp.rotation_error(pose.T_target_source, room().T_target_source) < 0.3  # degrees


def test_few_enough_voxels_are_matched_as_they_are() -> None:
    pose = cp.register(room().source, room().target, voxel_size=FINE, effort="low")
    assert len(pose.source_points) == len(cp.downsample(room().source, voxel_size=FINE))
    assert "descent" not in [stage.name for stage in pose.stages]


@pytest.mark.usefixtures("few_are_matched")
def test_prepared_clouds_are_brought_to_wider_voxels() -> None:
    clouds = [cp.prepare(cloud, voxel_size=FINE) for cloud in (room().source, room().target)]
    pose = cp.register(*clouds)
    assert pose.status is cp.Status.OK
    assert pose.voxel_size == FINE
    assert len(pose.source_points) < 1.2 * MATCHED
    assert off(pose.T_target_source) < 0.01


def test_a_coarsened_cloud_is_seen_from_where_it_was() -> None:
    cloud = cp.prepare(room().source, voxel_size=FINE)
    coarse = cloud.coarsened(4 * FINE, 1)
    assert coarse.viewpoint == cloud.viewpoint
    assert coarse.voxel_size == 4 * FINE
    np.testing.assert_array_equal(coarse.points, cp.downsample(cloud.points, voxel_size=4 * FINE))
    assert cloud.coarsened(4 * FINE, 1) is coarse
    towards = cloud.viewpoint.place - coarse.points
    assert (np.einsum("ij,ij->i", coarse.normals, towards) >= 0).all()


@pytest.mark.usefixtures("few_are_matched")
@pytest.mark.parametrize("extra", [{"refine": "gicp"}, {"epsilon": 0.02}, {"threads": 2}])
def test_other_options_hold_with_very_many_voxels(extra: dict[str, Any]) -> None:
    pose = cp.register(room().source, room().target, voxel_size=FINE, **extra)
    assert pose.T_target_source is not None
    assert off(pose.T_target_source) < 0.01


@pytest.mark.usefixtures("few_are_matched")
def test_the_motion_that_was_asked_for_is_kept_to_with_very_many_voxels() -> None:
    yaw = cp.apply_transform(np.linalg.inv(room().T_target_source), room().target)  # lies on the source
    turned = cp.apply_transform([[0, -1, 0, 1], [1, 0, 0, 2], [0, 0, 1, 0.5], [0, 0, 0, 1]], yaw)
    pose = cp.register(room().source, turned, voxel_size=FINE, motion="yaw", up=(0, 0, 1))
    assert pose.T_target_source[2, 2] == pytest.approx(1.0, abs=1e-12)
    np.testing.assert_allclose(pose.T_target_source[:2, :2], [[0, -1], [1, 0]], atol=0.01)


@pytest.mark.usefixtures("few_are_matched")
def test_clouds_in_different_units_of_very_many_voxels() -> None:
    pose = cp.register(room().source * 2.0, room().target, voxel_size=FINE, motion="similarity")
    assert pose.status is cp.Status.OK
    assert pose.scale == pytest.approx(0.5, rel=0.005)
    assert pose.voxel_size == FINE


@pytest.mark.usefixtures("few_are_matched")
def test_given_transforms_of_very_many_voxels_are_refined_by_them() -> None:
    nearby = room().T_target_source.copy()
    nearby[:3, 3] += 0.02
    seen = cp.verify(room().source, room().target, nearby, voxel_size=FINE)[0]
    assert seen.status is cp.Status.OK
    found = cp.register(room().source, room().target, voxel_size=FINE)
    assert off(seen.T_refined) < 0.01 < off(nearby)
    np.testing.assert_allclose(seen.T_refined, found.T_target_source, atol=1e-3)  # both end at the narrow voxels


@pytest.mark.usefixtures("few_are_matched")
def test_features_of_ones_own_are_all_matched() -> None:
    clouds = [cp.prepare(cloud, voxel_size=0.1) for cloud in (room().source, room().target)]
    assert all(len(cloud.points) > MATCHED for cloud in clouds)
    own = [cloud.with_features(cloud.points, cloud.features) for cloud in clouds]
    pose = cp.register(*own)
    assert len(pose.source_points) == len(own[0].points)
    assert pose.status is cp.Status.OK
    assert len(cp.register(*clouds).source_points) < len(own[0].points)


def sampled_room(seed: int) -> npt.NDArray[np.float64]:
    """Random points on the walls of a room and on spheres in it, with noise of 3 mm."""
    layout, random = np.random.default_rng(9), np.random.default_rng(seed)
    points = random.uniform((0.0, 0.0, 0.0), (4.0, 3.0, 2.0), (30_000, 3))
    axes = random.integers(0, 3, len(points))
    points[np.arange(len(points)), axes] = np.where(random.random(len(points)) < 0.5, 0.0, np.array([4, 3, 2])[axes])
    for centre, radius in zip(layout.uniform(0.5, 2.0, (8, 3)), layout.uniform(0.1, 0.4, 8), strict=True):
        arrows = random.normal(size=(2000, 3))
        points = np.vstack((points, centre + radius * arrows / np.linalg.norm(arrows, axis=1, keepdims=True)))
    return np.asarray(points + random.normal(0.0, 0.003, points.shape))


@pytest.mark.parametrize("voxel_size", [0.02, 0.005, 0.0015])
def test_voxels_that_hold_noise_or_single_points_spoil_nothing(voxel_size: float) -> None:
    """Below the noise, and the distances between points, narrower voxels know less: normals are fitted to nothing."""
    source, target = sampled_room(1), cp.apply_transform(room().T_target_source, sampled_room(2))
    pose = cp.register(source, target, voxel_size=voxel_size, free_space=False)
    (seen,) = cp.verify(source, target, room().T_target_source, voxel_size=voxel_size, free_space=False)
    assert (pose.status, seen.status) == (cp.Status.OK, cp.Status.OK)
    deviation = np.degrees(np.sqrt(np.linalg.eigvalsh(pose.covariance[:3, :3]).max()))
    for found in (pose.T_target_source, seen.T_refined):
        assert cp.rotation_error(found, room().T_target_source) < min(2.0 * deviation, 0.03)  # degrees
        assert off(found) < 0.001


@drawn(st.floats(1e-4, 10.0), st.floats(1.0, 1e4))
def test_widths_fall_in_steps_that_are_small_enough_to_the_one_asked_for(asked: float, times: float) -> None:
    sizes = VoxelSizes(asked, asked * times)
    widths = [sizes.matched, *descent._widths(sizes)]
    assert widths[-1] == pytest.approx(asked)
    if len(widths) > 1:
        assert widths[-1] == asked
        falls = np.divide(widths[:-1], widths[1:])
        assert (falls > 1.0).all()
        assert (falls <= descent._FARTHEST_STEP * (1 + 1e-9)).all()


@pytest.mark.parametrize(("halves", "steps"), [(1, 1), (2, 1), (3, 2), (4, 2), (5, 3), (12, 6)])
def test_twice_as_wide_is_one_step(halves: int, steps: int) -> None:
    assert len(descent._widths(VoxelSizes(0.01, 0.01 * np.sqrt(2.0) ** halves))) == steps
