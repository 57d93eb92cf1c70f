"""Clouds in frames of their own, with nothing told: the sensors' places are found, and the transform is as good."""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from motions import move, random_motion, same_pose
from simulated import registered_room, room, street

import clipperplus as cp
from clipperplus import Status
from clipperplus.geometry.poses import inverse
from clipperplus.synthetic.scans import ScanPair

Array = npt.NDArray[np.float64]

SCANS = {"room": room, "another room": functools.partial(room, 3), "street": street}


def frames(seed: int, shift: float) -> tuple[Array, Array]:
    return random_motion(700 + seed, shift=shift), random_motion(800 + seed, shift=shift)


def errors(pose: cp.Pose, pair: ScanPair, a: Array, b: Array) -> tuple[float, float]:
    """Degrees and metres, in the frames of the sensors: far from an origin, a small turn is a long way."""
    assert pose.T_target_source is not None
    back = inverse(b) @ pose.T_target_source @ a
    return cp.rotation_error(back, pair.T_target_source), cp.translation_error(back, pair.T_target_source)


@pytest.mark.parametrize("scans", SCANS.values(), ids=SCANS)
@pytest.mark.parametrize("shift", [1e3, 1e5])
def test_clouds_in_any_frames_are_registered_as_well_as_in_their_own(scans: Any, shift: float) -> None:
    pair, (a, b) = scans(), frames(0, shift)
    before = cp.register(pair.source, pair.target)
    pose = cp.register(move(a, pair.source), move(b, pair.target))
    assert pose.status is before.status is Status.OK
    assert before.evidence.viewpoints == ("origin", "origin")
    assert pose.evidence.viewpoints == ("found", "found")
    turn, shifted = errors(pose, pair, a, b)
    usual_turn, usual_shift = errors(before, pair, np.eye(4), np.eye(4))
    assert turn < usual_turn + 0.5
    assert shifted < usual_shift + 0.5 * before.voxel_size


def test_sensors_that_are_found_do_not_make_wrong_answers_trustworthy() -> None:
    """Scans of different rooms: there is no right answer, and hardly any of the wrong ones is believed."""
    believed = []
    for seed in range(8):
        a, b = frames(seed, 100.0)
        source, target = move(a, room(seed).source), move(b, room((seed + 1) % 8).target)
        pose = cp.register(source, target, voxel_size=0.15, effort="low")
        believed.append(pose.status is Status.OK)
    assert sum(believed) <= 2


def test_one_cloud_may_be_in_the_frame_of_its_sensor_and_the_other_not() -> None:
    pair, (_, b) = room(), frames(1, 50.0)
    pose = cp.register(pair.source, move(b, pair.target))
    assert pose.status is Status.OK
    assert pose.evidence.viewpoints == ("origin", "found")
    assert errors(pose, pair, np.eye(4), b)[0] < 1.0


def test_what_was_told_is_said_to_have_been_told() -> None:
    pair, (a, b) = room(), frames(2, 50.0)
    source, target = move(a, pair.source), move(b, pair.target)
    pose = cp.register(source, target, source_viewpoint=a[:3, 3])
    assert pose.evidence.viewpoints == ("told", "found")
    assert errors(pose, pair, a, b)[0] < 1.0
    assert pose.to_dict()["evidence"]["viewpoints"] == ("told", "found")


@pytest.mark.parametrize("seed", range(3))
def test_a_place_that_cannot_have_been_is_not_believed(seed: int) -> None:
    """Whatever is told, an answer that is trusted is right; far off, it is as if nothing had been told."""
    pair, (a, b) = room(seed), frames(seed, 50.0)
    clouds = move(a, pair.source), move(b, pair.target)
    random = np.random.default_rng(seed)
    trusted = 0
    for reach in (3.0, 30.0, 1e4):
        told = (place[:3, 3] + random.normal(0.0, reach, 3) for place in (a, b))
        pose = cp.register(*clouds, **dict(zip(("source_viewpoint", "target_viewpoint"), told, strict=True)))
        turn, shifted = errors(pose, pair, a, b)
        assert pose.status is not Status.OK or (turn < 2.0 and shifted < 0.3)
        trusted += pose.status is Status.OK
    assert trusted > 0
    assert pose.evidence.viewpoints == ("found", "found")
    assert pose.status is Status.OK


def test_the_signs_of_normals_do_not_matter() -> None:
    pair, expected = room(), registered_room()
    source, target = (cp.prepare(cloud, voxel_size=expected.voxel_size) for cloud in (pair.source, pair.target))
    signs = np.random.default_rng(0).choice([-1.0, 1.0], (len(target.normals), 1))
    for other in (
        (replace(source, normals=-source.normals), target),
        (source, replace(target, normals=signs * target.normals)),
    ):
        assert same_pose(cp.register(*other), expected)


def test_without_free_space_nobody_asks_for_the_sensors() -> None:
    pair, (a, b) = room(), frames(3, 100.0)
    pose = cp.register(move(a, pair.source), move(b, pair.target), free_space=False)
    assert pose.evidence.viewpoints is None
    assert pose.evidence.conflict is None
    assert errors(pose, pair, a, b)[0] < 1.0


def test_prepared_clouds_know_their_sensors() -> None:
    pair, (a, b) = room(), frames(4, 1e3)
    raw = move(a, pair.source), move(b, pair.target)
    expected = cp.register(*raw, voxel_size=0.15)
    prepared = [cp.prepare(cloud, voxel_size=0.15) for cloud in raw]
    assert same_pose(cp.register(*prepared), expected)
    assert same_pose(cp.register(*raw, voxel_size=0.15, threads=2), expected)
