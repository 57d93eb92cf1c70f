"""How far to look on: not at all where the answer is trusted, farther where it is not, and always the same way."""

from __future__ import annotations

import functools
import pickle
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from motions import move, same_pose
from scipy.spatial import cKDTree
from simulated import registered_room, room

import clipperplus as cp
from clipperplus import Status
from clipperplus.registration.looks import EFFORTS as LOOKS

Array = npt.NDArray[np.float64]

VOXEL = 0.13
EFFORTS = ("low", "normal", "high")
HARD = (14, 18, 21, 30, 31)
"""Rooms of which the first look finds little."""


@functools.cache
def hard(seed: int) -> tuple[Array, Array, Array]:
    """Two scans far apart, the target without most of what both see: about a fifth of the source is left."""
    pair = cp.synthetic.room_scans(seed=seed, resolution=64, frames=2, motion=2.0)
    common = cKDTree(move(pair.T_target_source, pair.source)).query(pair.target)[0] < 0.15
    way = pair.target[~common].mean(axis=0) - pair.target[common].mean(axis=0)
    axis = np.abs(way).argmax()
    along = np.sign(way[axis]) * pair.target[:, axis]
    return pair.source, pair.target[along > np.quantile(along[common], 0.6)], pair.T_target_source


@functools.cache
def prepared(seed: int) -> tuple[cp.PreparedCloud, cp.PreparedCloud]:
    source, target, _ = hard(seed)
    return cp.prepare(source, voxel_size=VOXEL), cp.prepare(target, voxel_size=VOXEL)


@functools.cache
def registered(seed: int, effort: Any) -> cp.Pose:
    return cp.register(*prepared(seed), effort=effort)


def is_right(pose: cp.Pose, truth: Array) -> bool:
    motion = pose.T_target_source
    return motion is not None and cp.rotation_error(motion, truth) < 5.0 and cp.translation_error(motion, truth) < 0.3


def looks(pose: cp.Pose) -> int:
    return [stage.name for stage in pose.stages].count("look again")


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_an_answer_that_is_trusted_takes_no_second_look(seed: int) -> None:
    poses = [cp.register(room(seed).source, room(seed).target, effort=effort) for effort in EFFORTS]
    assert poses[0].status is Status.OK
    assert [looks(pose) for pose in poses] == [0, 0, 0]
    assert all(same_pose(pose, poses[0]) for pose in poses[1:])


def test_the_usual_effort_is_normal() -> None:
    assert same_pose(cp.register(room().source, room().target, effort="normal"), registered_room())
    assert same_pose(cp.register(*prepared(HARD[0])), registered(HARD[0], "normal"))


def test_low_effort_looks_once_and_others_while_the_answer_is_not_trusted() -> None:
    more = 0
    for seed in HARD:
        assert looks(registered(seed, "low")) == 0
        for effort in ("normal", "high"):
            pose = registered(seed, effort)
            stopped = looks(pose) < len(LOOKS[effort])
            assert looks(pose) <= len(LOOKS[effort])
            assert not stopped or (pose.status is Status.OK and pose.confidence > 0.8)
            more += looks(pose) > 0
    assert more > len(HARD)  # or nothing is tried here


def test_looking_on_finds_what_one_look_does_not() -> None:
    found = {
        effort: sum(is_right(registered(seed, effort), hard(seed)[2]) for seed in HARD) for effort in ("low", "normal")
    }
    assert found["normal"] >= found["low"] + 2


def test_an_answer_says_which_matches_it_comes_from() -> None:
    """Those of the look that found it, be they of other voxels."""
    for seed in HARD:
        for effort in EFFORTS:
            pose = registered(seed, effort)
            if pose.T_target_source is None:
                continue
            here, there = pose.source_points[pose.associations[:, 0]], pose.target_points[pose.associations[:, 1]]
            assert np.allclose(pose.residuals, np.linalg.norm(move(pose.T_target_source, here) - there, axis=1))
            assert np.array_equal(pose.inliers, np.flatnonzero(pose.residuals < 2.0 * VOXEL))
            points = pose.source_points, pose.target_points
            assert pose.graph == cp.consistency_graph(*points, pose.associations, epsilon=pose.epsilon)


@pytest.mark.parametrize("effort", ["normal", "high"])
def test_threads_preparation_and_repetition_change_nothing(effort: Any) -> None:
    seed = HARD[1]
    source, target, _ = hard(seed)
    expected = registered(seed, effort)
    assert looks(expected) > 0
    assert same_pose(cp.register(source, target, voxel_size=VOXEL, effort=effort, threads=2), expected)
    fresh = cp.prepare(source, voxel_size=VOXEL), cp.prepare(target, voxel_size=VOXEL)
    assert same_pose(cp.register(*pickle.loads(pickle.dumps(fresh)), effort=effort), expected)
    assert same_pose(cp.register(*prepared(seed), effort=effort), expected)  # other looks are remembered


def test_one_cloud_remembers_its_looks_in_whatever_order_it_meets_others() -> None:
    source, target = prepared(HARD[2])
    other = prepared(HARD[3])[1]
    expected = registered(HARD[2], "high")
    cp.register(source, other, effort="high")
    cp.register(target, source, effort="high")
    assert same_pose(cp.register(source, target, effort="high"), expected)


def test_matches_and_features_of_ones_own_are_all_there_is_to_look_at() -> None:
    source, target = prepared(HARD[0])
    random = np.random.default_rng(0)
    features = random.normal(size=(50, 8)), random.normal(size=(60, 8))
    places = source.points[:50], target.points[:60]
    for effort in EFFORTS:
        pose = cp.register(source, target, features=tuple(zip(places, features, strict=True)), effort=effort)
        assert looks(pose) <= 1
        assert np.array_equal(pose.source_points, places[0])
        pairs = np.repeat(np.arange(20), 2).reshape(-1, 2)
        pose = cp.register(source, target, associations=pairs, effort=effort)
        assert looks(pose) <= 1
        assert np.array_equal(pose.associations, pairs)


def test_looking_on_does_not_make_wrong_answers_trustworthy() -> None:
    """Scans of different rooms: whatever is found is wrong, and at most a quarter of it is believed."""
    clouds = [[cp.prepare(of, voxel_size=0.15) for of in (room(k).source, room(k).target)] for k in range(8)]
    for effort in ("low", "normal"):
        poses = [cp.register(clouds[k][0], clouds[(k + 1) % 8][1], effort=effort) for k in range(8)]
        assert np.mean([pose.confidence for pose in poses]) < 0.35, effort
        assert sum(pose.status is Status.OK for pose in poses) <= 2, effort


def test_a_street_that_is_taken_the_wrong_way_round_is_not_believed() -> None:
    pair = cp.synthetic.street_scans(seed=2, distance=25.0, resolution=300)
    pose = cp.register(pair.source, pair.target, voxel_size=0.6)
    assert pose.status is not Status.OK or cp.rotation_error(pose.T_target_source, pair.T_target_source) < 5.0


@pytest.mark.parametrize("effort", ["most", "", None, 3, ["low"], "LOW", b"low"])
def test_other_efforts_are_refused_with_the_choices(effort: Any) -> None:
    with pytest.raises(cp.OptionError, match="effort: expected one of 'low', 'normal', 'high', got "):
        cp.register(None, None, effort=effort)
