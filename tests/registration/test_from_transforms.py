"""Transforms that somebody else found: the right one is believed, wrong ones are not, and each is judged alone."""

from __future__ import annotations

import copy
import functools
import json
import pickle
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from motions import move, random_motion
from scipy.spatial.transform import Rotation
from simulated import room, street

import clipperplus as cp
from clipperplus import Status

Array = npt.NDArray[np.float64]

VOXEL = 0.15
SEEDS = range(4)


@functools.cache
def prepared(seed: int = 0) -> tuple[cp.PreparedCloud, cp.PreparedCloud]:
    return cp.prepare(room(seed).source, voxel_size=VOXEL), cp.prepare(room(seed).target, voxel_size=VOXEL)


@functools.cache
def verified(seed: int = 0) -> cp.Verification:
    (result,) = cp.verify(*prepared(seed), room(seed).T_target_source)
    return result


def wrong_motions(count: int, seed: int) -> Array:
    return np.array([random_motion(1000 * seed + k, shift=1.5) for k in range(count)])


def shaken(motion: Array, seed: int, degrees: float, metres: float) -> Array:
    random = np.random.default_rng(seed)
    axis, way = (vector / np.linalg.norm(vector) for vector in random.normal(size=(2, 3)))
    result = motion.copy()
    result[:3, :3] = motion[:3, :3] @ Rotation.from_rotvec(np.radians(degrees) * axis).as_matrix()
    result[:3, 3] += metres * way
    return result


def error(motion: Array, seed: int) -> float:
    """Metres, root mean square over the source."""
    points = prepared(seed)[0].points
    offsets = move(motion, points) - move(room(seed).T_target_source, points)
    return float(np.sqrt((offsets**2).sum(axis=1).mean()))


def same(a: cp.Verification, b: cp.Verification) -> bool:
    return a.to_dict() == b.to_dict()


@pytest.mark.parametrize("seed", SEEDS)
def test_the_truth_is_believed_and_hardly_moved(seed: int) -> None:
    result = verified(seed)
    assert result.status is Status.OK
    assert result.confidence > 0.9
    assert result.shift < 0.5 * VOXEL
    assert np.array_equal(result.T_target_source, room(seed).T_target_source)
    assert error(result.T_refined, seed) == pytest.approx(result.shift)
    assert np.linalg.eigvalsh(result.covariance).min() > 0.0
    assert result.evidence.viewpoints == ("origin", "origin")
    assert result.degenerate_directions.shape == (0, 6)
    assert all(other.score < 1.0 for other in result.alternatives)


def test_the_truth_of_a_street_is_believed() -> None:
    pair = street()
    (result,) = cp.verify(pair.source, pair.target, pair.T_target_source, voxel_size=0.6)
    assert result.status is Status.OK
    assert result.shift < 0.3


@pytest.mark.parametrize("seed", SEEDS)
def test_wrong_transforms_are_not_believed(seed: int) -> None:
    results = cp.verify(*prepared(seed), wrong_motions(100, seed))
    assert len(results) == 100
    assert max(result.confidence for result in results) < 0.3
    assert not any(result.status is Status.OK for result in results)


def test_scans_of_different_rooms_have_no_transform_to_believe() -> None:
    source, target = prepared(0)[0], prepared(1)[1]
    motions = np.concatenate(([np.eye(4), room(0).T_target_source, room(1).T_target_source], wrong_motions(40, 9)))
    assert not any(result.status is Status.OK for result in cp.verify(source, target, motions))


def test_a_wrong_transform_is_told_of_a_better_one() -> None:
    (result,) = cp.verify(*prepared(), shaken(room().T_target_source, 0, 40.0, 1.0))
    best = result.alternatives[0]
    assert best.score > 1.0
    assert error(best.T_target_source, 0) < VOXEL


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_slightly_off_is_brought_nearer(seed: int) -> None:
    near = np.array([shaken(room(seed).T_target_source, k, 1.0, 0.07) for k in range(10)])
    results = cp.verify(*prepared(seed), near)
    before = [error(motion, seed) for motion in near]
    after = [error(result.T_refined, seed) for result in results]
    assert all(result.status is Status.OK for result in results)
    assert np.median(after) < 0.5 * np.median(before)
    assert all(result.shift > verified(seed).shift for result in results)
    assert np.allclose([r.shift for r in results], [shift_of(r, seed) for r in results])


def shift_of(result: cp.Verification, seed: int) -> float:
    points = prepared(seed)[0].points
    offsets = move(result.T_refined, points) - move(result.T_target_source, points)
    return float(np.sqrt((offsets**2).sum(axis=1).mean()))


def test_what_is_believed_is_right_where_it_started_some_voxels_off() -> None:
    for seed in (1, 2):
        random = np.random.default_rng(seed)
        starts = [shaken(room(seed).T_target_source, k, 0.0, random.uniform(0.3, 1.5)) for k in range(60)]
        for result in cp.verify(*prepared(seed), np.array(starts)):
            assert result.status is not Status.OK or error(result.T_refined, seed) < 2.0 * VOXEL


def test_each_transform_is_judged_alone_and_in_order() -> None:
    motions = np.concatenate((wrong_motions(3, 5), room().T_target_source[None], wrong_motions(2, 6)))
    together = cp.verify(*prepared(), motions)
    assert [result.status is Status.OK for result in together] == [False, False, False, True, False, False]
    assert np.array_equal([result.T_target_source for result in together], motions)
    for motion, result in zip(motions, together, strict=True):
        (alone,) = cp.verify(*prepared(), motion)
        assert same(alone, result)


def test_one_transform_or_none_is_fine() -> None:
    assert cp.verify(*prepared(), np.empty((0, 4, 4))) == ()
    truth = room().T_target_source
    for given in (truth, truth[None], truth.tolist(), [truth], np.asfortranarray(truth)):
        (result,) = cp.verify(*prepared(), given)
        assert same(result, verified())


def test_threads_and_preparation_do_not_matter() -> None:
    motions = np.concatenate((room().T_target_source[None], wrong_motions(5, 7)))
    expected = cp.verify(*prepared(), motions)
    raw = cp.verify(room().source, room().target, motions, voxel_size=VOXEL, threads=2)
    mixed = cp.verify(room().source, prepared()[1], motions)
    for others in (raw, mixed, cp.verify(*prepared(), motions, threads=3)):
        assert all(same(a, b) for a, b in zip(expected, others, strict=True))


def test_the_answer_of_a_registration_is_verified_with_about_its_confidence() -> None:
    pose = cp.register(*prepared())
    (result,) = cp.verify(*prepared(), pose.T_target_source)
    assert result.status is pose.status
    assert result.confidence == pytest.approx(pose.confidence, abs=0.05)
    assert result.shift < 0.2 * VOXEL


def test_moving_the_clouds_moves_the_verdict_with_them() -> None:
    a, b = random_motion(40, shift=500.0), random_motion(41, shift=500.0)
    motions = b @ np.concatenate((room().T_target_source[None], wrong_motions(10, 8))) @ np.linalg.inv(a)
    results = cp.verify(move(a, room().source), move(b, room().target), motions, voxel_size=VOXEL)
    assert [result.status is Status.OK for result in results] == [True] + 10 * [False]
    assert results[0].evidence.viewpoints == ("found", "found")


def test_options_are_those_of_a_registration() -> None:
    truth = room().T_target_source
    (without,) = cp.verify(*prepared(), truth, free_space=False, max_alternatives=0)
    assert without.evidence.conflict is None
    assert without.evidence.viewpoints is None
    assert without.alternatives == ()
    (strict,) = cp.verify(*prepared(), truth, min_confidence=1.0)
    assert strict.status is Status.UNCERTAIN
    assert strict.confidence == verified().confidence
    told = cp.verify(room().source, room().target, truth, voxel_size=VOXEL, source_viewpoint=(0, 0, 0))
    assert told[0].evidence.viewpoints == ("told", "origin")


def test_results_are_plain_and_can_be_copied() -> None:
    results = (verified(), *cp.verify(*prepared(), wrong_motions(3, 3)))
    for result in results:
        text = json.loads(json.dumps(result.to_dict(), allow_nan=False))
        assert text["status"] == result.status.value
        assert text["shift"] == result.shift
        assert text["evidence"]["overlap"] == result.evidence.overlap
        assert len(text["alternatives"]) == len(result.alternatives)
        assert same(pickle.loads(pickle.dumps(result)), result)
        assert same(copy.deepcopy(result), result)


@pytest.mark.parametrize("clouds", [(0, 0), (0, 500), (500, 0), (1, 1), (2, 500)])
def test_clouds_that_say_nothing_prove_nothing(clouds: tuple[int, int]) -> None:
    source, target = (cloud[:count] for cloud, count in zip((room().source, room().target), clouds, strict=True))
    (result,) = cp.verify(source, target, np.eye(4))
    assert result.status is Status.TOO_FEW_INLIERS
    assert result.confidence == 0.0
    assert np.array_equal(result.T_refined, np.eye(4))
    json.dumps(result.to_dict(), allow_nan=False)


def test_what_is_refined_is_rigid() -> None:
    rounded = np.round(room().T_target_source, 2)
    (result,) = cp.verify(*prepared(), rounded)
    rotation = result.T_refined[:3, :3]
    assert np.allclose(rotation @ rotation.T, np.eye(3), atol=1e-9)


def test_a_list_of_none_is_fine() -> None:
    assert cp.verify(*prepared(), []) == ()


@pytest.mark.parametrize(
    ("transforms", "options", "message"),
    [
        (np.eye(3), {}, r"transforms: expected an array of shape \(k, 4, 4\), got \(3, 3\)"),
        (np.zeros((2, 3, 4)), {}, r"transforms: expected .* got \(2, 3, 4\)"),
        (np.eye(4)[None, None], {}, r"transforms: expected .* got \(1, 1, 4, 4\)"),
        ([np.eye(4), 2.0 * np.eye(4)], {}, "transforms: pose 1 is no rotation and translation"),
        (np.full((4, 4), np.nan), {}, "transforms: pose 0 is no rotation and translation"),
        (np.eye(4) * 1j, {}, "transforms: expected numbers"),
        ("identity", {}, "transforms: expected"),
        (None, {}, "transforms: expected"),
        (np.eye(4), {"free_space": 1}, "free_space: expected True or False, got 1"),
        (np.eye(4), {"min_confidence": 2.0}, "min_confidence: expected"),
        (np.eye(4), {"max_alternatives": -1}, "max_alternatives: expected"),
        (np.eye(4), {"threads": 0}, "threads: expected"),
        (np.eye(4), {"voxel_size": -1.0}, "voxel_size: expected"),
        (np.eye(4), {"source_viewpoint": (0.0, 1.0)}, "source_viewpoint: expected three finite coordinates"),
        (np.eye(4), {"target_viewpoint": "here"}, "target_viewpoint: expected three finite coordinates"),
    ],
)
def test_wrong_input_is_refused_by_name(transforms: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(cp.ClipperPlusError, match=message):
        cp.verify(room().source[::20], room().target[::20], transforms, **options)


def test_what_is_no_cloud_is_refused_by_name() -> None:
    with pytest.raises(cp.LandmarkError, match=r"target: expected points of shape \(n, 3\), got \(3, 10\)"):
        cp.verify(room().source, np.zeros((3, 10)), np.eye(4))
    coarse = cp.prepare(room().source, voxel_size=0.3)
    with pytest.raises(cp.OptionError, match=r"target: prepared with voxels of 0\.15; expected 0\.3"):
        cp.verify(coarse, prepared()[1], np.eye(4))
    with pytest.raises(cp.OptionError, match="source_viewpoint: the cloud is prepared"):
        cp.verify(*prepared(), np.eye(4), source_viewpoint=(0.0, 0.0, 0.0))
