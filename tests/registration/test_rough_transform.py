"""What is roughly known of a transform: it bounds the answer, picks one of several, and rules nothing out that fits."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from motions import move, random_motion, same_pose
from scipy.spatial.transform import Rotation
from simulated import registered_room, room
from strategies import shell

import clipperplus as cp
from clipperplus import RoughTransform, Status

Array = npt.NDArray[np.float64]

SEEDS = st.integers(0, 2**32 - 1)
VOXEL = 0.15


def turned(motion: Array, vector: npt.ArrayLike, middle: npt.ArrayLike = (0.0, 0.0, 0.0)) -> Array:
    """The motion after a turn by a rotation vector, in degrees, of the source about its middle."""
    turn = np.eye(4)
    turn[:3, :3] = Rotation.from_rotvec(np.radians(vector)).as_matrix()
    turn[:3, 3] = middle - turn[:3, :3] @ middle
    return np.asarray(motion @ turn)


def inside(rough: RoughTransform, middle: Array, random: np.random.Generator, share: float) -> Array:
    """A motion whose distance from a rough one is a share of the bounds, in a random direction."""
    axis, way = (vector / np.linalg.norm(vector) for vector in random.normal(size=(2, 3)))
    motion = turned(rough.T_target_source, share * rough.max_rotation_deg * axis, middle)
    motion[:3, 3] += share * rough.max_translation * way
    return motion


def drawn(random: np.random.Generator) -> tuple[RoughTransform, Array]:
    start = random_motion(int(random.integers(2**31)), shift=random.choice([1.0, 100.0]))
    bounds = random.choice([0.01, 0.1, 3.0]), random.choice([0.5, 10.0, 90.0, 179.0])
    return RoughTransform(start, *map(float, bounds)), random.normal(0.0, random.choice([1.0, 50.0]), 3)


@settings(max_examples=200)
@given(SEEDS)
def test_what_is_within_the_bounds_is_allowed_and_nothing_else(seed: int) -> None:
    random = np.random.default_rng(seed)
    rough, middle = drawn(random)
    within = [inside(rough, middle, random, share) for share in (0.0, 0.5, 0.99)]
    assert rough.allows(np.array(within), middle).all()
    far = within[1].copy()
    far[:3, 3] += (2.0 * rough.max_translation + 0.01) * np.array([0.0, 1.0, 0.0])
    wrong_way = turned(within[0], (0.0, 0.0, min(180.0, rough.max_rotation_deg + 1.0)), middle)
    assert not rough.allows(np.array([far, wrong_way]), middle).any()


@settings(max_examples=200)
@given(SEEDS)
def test_bounds_are_those_of_turns_and_of_the_middle(seed: int) -> None:
    """Any motion, against the angle that scipy finds, and where the middle goes."""
    random = np.random.default_rng(seed)
    rough, middle = drawn(random)
    motions = np.array([inside(rough, middle, random, share) for share in random.uniform(0.0, 2.0, 20)])
    turns = Rotation.from_matrix(rough.T_target_source[:3, :3].T @ motions[:, :3, :3]).magnitude()
    shifts = np.linalg.norm(
        [move(motion, middle[None])[0] - move(rough.T_target_source, middle[None])[0] for motion in motions], axis=1
    )
    turns = np.degrees(turns)
    clear = (np.abs(turns - rough.max_rotation_deg) > 1e-4) & (np.abs(shifts - rough.max_translation) > 1e-9)
    expected = (turns <= rough.max_rotation_deg) & (shifts <= rough.max_translation)
    assert np.array_equal(rough.allows(motions, middle)[clear], expected[clear])


@settings(max_examples=200)
@given(SEEDS)
def test_a_match_that_some_motion_within_the_bounds_explains_counts(seed: int) -> None:
    random = np.random.default_rng(seed)
    rough, middle = drawn(random)
    epsilon = random.choice([0.01, 1.0])
    source = middle + random.normal(0.0, 5.0, (30, 3))
    error = random.normal(size=(30, 3))
    error *= 0.999 * epsilon / np.linalg.norm(error, axis=1)[:, None]
    motions = [inside(rough, middle, random, share) for share in random.uniform(0.0, 1.0, 30)]
    target = np.array([move(m, p[None])[0] for m, p in zip(motions, source, strict=True)]) + error
    assert rough.explains(source, target, middle, epsilon).all()


@settings(max_examples=100)
@given(SEEDS)
def test_a_match_that_is_farther_than_any_turn_and_shift_reach_does_not_count(seed: int) -> None:
    random = np.random.default_rng(seed)
    rough, middle = drawn(random)
    source = middle + random.normal(0.0, 5.0, (30, 3))
    arms = np.linalg.norm(source - middle, axis=1)
    way = random.normal(size=(30, 3))
    way /= np.linalg.norm(way, axis=1)[:, None]
    reach = rough.max_translation + 2.0 * arms * np.sin(np.radians(rough.max_rotation_deg) / 2.0) + 0.1
    target = move(rough.T_target_source, source) + 1.001 * reach[:, None] * way
    assert not rough.explains(source, target, middle, 0.1).any()


def test_a_match_at_another_distance_from_the_middle_does_not_count() -> None:
    rough = RoughTransform(np.eye(4), max_translation=0.1)
    middle, source = np.zeros(3), np.array([[5.0, 0.0, 0.0]])
    assert rough.explains(source, np.array([[0.0, 5.1, 0.0]]), middle, 0.1).all()
    assert not rough.explains(source, np.array([[0.0, 2.0, 0.0]]), middle, 0.1).any()
    assert not rough.explains(source, np.array([[9.0, 0.0, 0.0]]), middle, 0.1).any()


@functools.cache
def hall() -> tuple[cp.PreparedCloud, cp.PreparedCloud, Array]:
    """Two samples of an empty square room: quarter turns, and turns upside down, explain it as well."""
    motion = random_motion(901)
    source, target = shell(4000, 4.0, 1), move(motion, shell(4000, 4.0, 2))
    return cp.prepare(source, voxel_size=0.2), cp.prepare(target, voxel_size=0.2), motion


@pytest.mark.parametrize("turn", [(0, 0, 0), (0, 0, 90), (0, 0, 180), (0, 0, 270), (180, 0, 0)])
def test_of_several_transforms_the_one_that_is_roughly_known_is_taken(turn: tuple[int, int, int]) -> None:
    source, target, motion = hall()
    expected = turned(motion, turn)
    rough = RoughTransform(turned(expected, (10.0, -5.0, 12.0)), max_translation=0.5, max_rotation_deg=30.0)
    pose = cp.register(source, target, initial=rough)
    assert cp.rotation_error(pose.T_target_source, expected) < 2.0
    assert cp.translation_error(pose.T_target_source, expected) < 0.2
    assert pose.status is not Status.AMBIGUOUS  # the others do not count
    assert all(rough.allows(other.T_target_source[None], source.points.mean(axis=0)) for other in pose.alternatives)


def test_without_it_the_same_room_is_ambiguous() -> None:
    source, target, _ = hall()
    assert cp.register(source, target).status is not Status.OK


@functools.cache
def prepared(seed: int = 0) -> tuple[cp.PreparedCloud, cp.PreparedCloud]:
    return cp.prepare(room(seed).source, voxel_size=VOXEL), cp.prepare(room(seed).target, voxel_size=VOXEL)


def test_matches_that_contradict_what_is_known_are_left_out_in_their_order() -> None:
    source, target = prepared()
    rough = RoughTransform(room().T_target_source, max_translation=0.3, max_rotation_deg=5.0)
    pose, every = cp.register(source, target, initial=rough), cp.register(source, target)
    middle = source.points.mean(axis=0)
    matched = source.points[every.associations[:, 0]], target.points[every.associations[:, 1]]
    kept = rough.explains(*matched, middle, VOXEL)
    assert 0 < kept.sum() < len(kept)
    assert np.array_equal(pose.associations, every.associations[kept])
    assert pose.status is Status.OK
    assert cp.rotation_error(pose.T_target_source, room().T_target_source) < 1.0


def test_bounds_that_are_wide_change_nothing() -> None:
    pair, expected = room(), registered_room()
    wide = RoughTransform(random_motion(902, shift=0.0), max_translation=1e6)
    pose = cp.register(pair.source, pair.target, initial=wide)
    assert np.array_equal(pose.associations, expected.associations)
    assert np.allclose(pose.T_target_source, expected.T_target_source, atol=1e-3)
    assert pose.status is Status.OK


def test_what_is_known_is_no_answer_without_matches_that_agree() -> None:
    source, target = prepared()
    rough = RoughTransform(turned(room().T_target_source, (1.0, 0.5, 0.0)), max_translation=0.5, max_rotation_deg=10.0)
    pose = cp.register(source, target, associations=[], initial=rough)
    assert pose.status is Status.TOO_FEW_INLIERS
    few = source.points[:3], target.points[:3]  # contradict it
    pose = cp.register(source, target, features=tuple((points, np.eye(3)) for points in few), initial=rough)
    assert pose.status is Status.TOO_FEW_INLIERS


def excluding(seed: int) -> RoughTransform:
    """Bounds that the truth is beyond."""
    axis = np.random.default_rng(seed).normal(size=3)
    middle = prepared(seed)[0].points.mean(axis=0)
    return RoughTransform(turned(room(seed).T_target_source, 60.0 * axis / np.linalg.norm(axis), middle), 1.0, 30.0)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("effort", ["low", "normal"])
def test_what_excludes_the_truth_excludes_it(seed: int, effort: Any) -> None:
    pose = cp.register(*prepared(seed), initial=excluding(seed), effort=effort)
    if pose.T_target_source is not None:
        assert cp.rotation_error(pose.T_target_source, room(seed).T_target_source) > 20.0


def test_what_excludes_the_truth_makes_nothing_else_trustworthy() -> None:
    poses = [cp.register(*prepared(seed), initial=excluding(seed), effort="low") for seed in range(8)]
    assert sum(pose.status is Status.OK for pose in poses) == 0


def test_no_answer_is_beyond_the_bounds() -> None:
    cases = [(seed, excluding(seed)) for seed in range(4)]
    for seed in range(15):
        random = np.random.default_rng(seed)
        shift = random.normal(0.0, 0.3, 3)
        start = room().T_target_source.copy()
        start[:3, 3] += shift
        cases.append((0, RoughTransform(start, float(np.linalg.norm(shift)) * random.normal(1.0, 0.02), 20.0)))
    beyond = []
    for seed, rough in cases:
        source, target = prepared(seed)
        pose = cp.register(source, target, initial=rough, effort="low")
        if pose.T_target_source is not None:
            beyond.append(not rough.allows(pose.T_target_source[None], source.points.mean(axis=0)).all())
    assert len(beyond) > 5
    assert not any(beyond)


def test_the_answer_is_rigid_where_what_is_known_is_rounded() -> None:
    start = room().T_target_source.copy()
    start[:3, :3] *= 1.004
    pose = cp.register(*prepared(), initial=RoughTransform(start, max_translation=0.5, max_rotation_deg=30.0))
    rotation = pose.T_target_source[:3, :3]
    assert np.allclose(rotation @ rotation.T, np.eye(3), atol=1e-9)


def test_rounding_is_not_taken_for_a_turn() -> None:
    start = room().T_target_source.copy()
    start[:3, :3] *= 0.997
    rough = RoughTransform(start, max_translation=0.5, max_rotation_deg=5.0)
    assert rough.allows(room().T_target_source[None], np.zeros(3)).all()


def test_what_is_known_exactly_allows_itself() -> None:
    motions = [random_motion(seed) for seed in range(20)]
    assert all(RoughTransform(motion, 0.0, 0.0).allows(motion[None], np.ones(3)).all() for motion in motions)


def test_empty_clouds_have_no_answer_whatever_is_known() -> None:
    rough = RoughTransform(np.eye(4), max_translation=1.0)
    for clouds in ((np.empty((0, 3)), room().target), (room().source, np.empty((0, 3))), (np.empty((0, 3)),) * 2):
        assert cp.register(*clouds, initial=rough).status is Status.TOO_FEW_INLIERS


def test_what_was_given_is_copied_and_may_be_a_list() -> None:
    start = room().T_target_source.copy()
    rough = RoughTransform(start, 1)
    start[0, 3] = 99.0
    assert np.array_equal(rough.T_target_source, room().T_target_source)
    assert rough.max_rotation_deg == 180.0
    listed = RoughTransform(room().T_target_source.tolist(), 1.0)
    assert same_pose(cp.register(*prepared(), initial=listed), cp.register(*prepared(), initial=rough))


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((np.eye(3), 1.0), cp.LandmarkError, r"T_target_source: expected a transform of shape \(4, 4\), got \(3, 3\)"),
        ((np.eye(4)[None], 1.0), cp.LandmarkError, r"T_target_source: .* got \(1, 4, 4\)"),
        ((2.0 * np.eye(4), 1.0), cp.LandmarkError, "T_target_source: .* is no rotation and translation"),
        ((np.diag([1.0, 1.0, -1.0, 1.0]), 1.0), cp.LandmarkError, "T_target_source: .* is no rotation"),
        ((np.full((4, 4), np.nan), 1.0), cp.LandmarkError, "T_target_source: .* is no rotation"),
        ((None, 1.0), cp.LandmarkError, "T_target_source: expected"),
        ((np.eye(4), -1.0), cp.OptionError, "max_translation: expected a finite number of at least 0, got -1"),
        ((np.eye(4), np.inf), cp.OptionError, "max_translation: expected a finite number of at least 0, got inf"),
        ((np.eye(4), "near"), cp.OptionError, "max_translation: expected a number, got 'near'"),
        ((np.eye(4), 1.0, 181.0), cp.OptionError, "max_rotation_deg: expected a number from 0 to 180, got 181"),
        ((np.eye(4), 1.0, np.nan), cp.OptionError, "max_rotation_deg: expected a number from 0 to 180, got nan"),
    ],
)
def test_wrong_bounds_are_refused_by_name(arguments: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        RoughTransform(*arguments)


@pytest.mark.parametrize("initial", [np.eye(4), (np.eye(4), 1.0), "odometry", RoughTransform])
def test_a_transform_alone_says_not_how_far_off_it_may_be(initial: Any) -> None:
    with pytest.raises(cp.OptionError, match=r"initial: expected a clipperplus\.RoughTransform"):
        cp.register(None, None, initial=initial)
