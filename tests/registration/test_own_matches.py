"""Matches, features and invariants that the caller brings along: taken as they are, and enough where ours are not."""

from __future__ import annotations

import functools
import pickle
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from motions import move, random_motion, same_pose
from scipy.spatial import cKDTree
from simulated import room
from strategies import shell

import clipperplus as cp
from clipperplus import Status, _limits
from clipperplus.invariants import Custom, Distance, DistanceAndNormals, Lines

Array = npt.NDArray[np.float64]
Pairs = npt.NDArray[np.int64]

VOXEL = 0.15


@functools.cache
def prepared() -> tuple[cp.PreparedCloud, cp.PreparedCloud]:
    return cp.prepare(room().source, voxel_size=VOXEL), cp.prepare(room().target, voxel_size=VOXEL)


def matches(source: Array, target: Array, within: float, right: int = 50, wrong: int = 150) -> Pairs:
    """Some pairs of points that the true motion brings together, among others that it does not, in no order."""
    distances, nearest = cKDTree(target).query(move(room().T_target_source, source))
    random = np.random.default_rng(0)
    near = random.choice(np.flatnonzero(distances < within), right, replace=False)
    far = random.integers(len(source), size=wrong), random.integers(len(target), size=wrong)
    return random.permutation(np.concatenate((np.column_stack((near, nearest[near])), np.column_stack(far))))


def raw_matches() -> Pairs:
    return matches(room().source, room().target, 0.03)


def assert_right(pose: cp.Pose) -> None:
    assert pose.status is Status.OK
    assert cp.rotation_error(pose.T_target_source, room().T_target_source) < 1.0
    assert cp.translation_error(pose.T_target_source, room().T_target_source) < VOXEL


def test_matches_number_the_points_as_they_were_given() -> None:
    pairs = raw_matches()
    pose = cp.register(room().source, room().target, voxel_size=VOXEL, associations=pairs)
    assert_right(pose)
    assert np.array_equal(pose.associations, pairs)
    assert np.array_equal(pose.source_points, room().source)
    assert np.array_equal(pose.target_points, room().target)
    moved = move(pose.T_target_source, room().source[pairs[:, 0]])
    assert np.allclose(pose.residuals, np.linalg.norm(moved - room().target[pairs[:, 1]], axis=1))
    assert np.array_equal(pose.inliers, np.flatnonzero(pose.residuals < 2.0 * VOXEL))
    assert pose.graph == cp.consistency_graph(room().source, room().target, pairs, epsilon=pose.epsilon)
    assert [stage.count for stage in pose.stages if stage.name == "matching"] == [len(pairs)]


def test_matches_of_prepared_clouds_number_their_points() -> None:
    source, target = prepared()
    pairs = matches(source.points, target.points, 0.08)
    pose = cp.register(source, target, associations=pairs.tolist())
    assert_right(pose)
    assert np.array_equal(pose.associations, pairs)
    assert np.array_equal(pose.source_points, source.points)


def test_clouds_that_are_objects_or_single_precision_can_be_matched() -> None:
    pairs, source = raw_matches(), np.asfortranarray(room().source, dtype=np.float32)
    pose = cp.register(source, cp.Cloud(room().target), voxel_size=VOXEL, associations=pairs.astype(np.uint16))
    assert_right(pose)
    assert pose.associations.dtype == np.int64


@pytest.mark.parametrize("right", [0, 2])
def test_too_few_matches_give_no_transform_and_no_exception(right: int) -> None:
    pairs = matches(*(cloud.points for cloud in prepared()), 0.08, right, wrong=0)
    pose = cp.register(*prepared(), associations=pairs)
    assert pose.status is Status.TOO_FEW_INLIERS
    assert pose.T_target_source is None
    assert len(pose.associations) == right
    assert pose.confidence == 0.0


def test_features_of_nothing_give_no_transform() -> None:
    nothing = np.empty((0, 3)), np.empty((0, 8))
    zeros = np.zeros((5, 3)), np.zeros((5, 8))
    for features in ((nothing, nothing), (zeros, zeros), (nothing, zeros)):
        pose = cp.register(*prepared(), features=features)
        assert pose.status is Status.TOO_FEW_INLIERS
        assert len(pose.associations) == 0


@functools.cache
def symmetric() -> tuple[Array, Array, Array, Array, Array]:
    """Two samples of one empty square room, which look alike from eight sides; some points with their motion."""
    motion = random_motion(900)
    source, target = shell(5000, 4.0, 1), move(motion, shell(5000, 4.0, 2))
    landmarks = shell(300, 4.0, 3)
    return source, target, motion, landmarks, move(motion, landmarks)


def learned(count: int, seed: int, noise: float) -> tuple[Array, Array]:
    """Long features that say which point is which."""
    random = np.random.default_rng(seed)
    features = random.normal(size=(count, 64))
    return features, features + noise * random.normal(size=features.shape)


def test_features_of_ones_own_help_where_the_surface_does_not() -> None:
    source, target, motion, here, there = symmetric()
    without = cp.register(source, target, voxel_size=0.2)
    assert without.status is not Status.OK
    first, second = learned(len(here), 0, 0.3)
    shuffled = np.random.default_rng(1).permutation(len(there))
    pose = cp.register(source, target, voxel_size=0.2, features=((here, first), (there[shuffled], second[shuffled])))
    assert cp.rotation_error(pose.T_target_source, motion) < 1.0
    assert cp.translation_error(pose.T_target_source, motion) < 0.1
    assert np.array_equal(pose.source_points, here)
    assert np.array_equal(pose.target_points, there[shuffled])
    assert (shuffled[pose.associations[:, 1]] == pose.associations[:, 0]).mean() > 0.95
    assert pose.num_inliers > 0.9 * len(here)


def test_features_can_be_those_of_all_points_of_the_clouds() -> None:
    source, _, motion, *_ = symmetric()
    first, second = learned(len(source), 2, 0.1)
    pose = cp.register(source, move(motion, source), voxel_size=0.2, features=(first, second))
    assert cp.rotation_error(pose.T_target_source, motion) < 0.1
    assert np.array_equal(pose.associations, np.repeat(np.arange(len(source)), 2).reshape(-1, 2))


def test_features_given_and_features_prepared_are_the_same() -> None:
    source, target, _, here, there = symmetric()
    first, second = learned(len(here), 0, 0.3)
    expected = cp.register(source, target, voxel_size=0.2, features=((here, first), (there, second)))
    a, b = (cp.prepare(cloud, voxel_size=0.2) for cloud in (source, target))
    with_features = a.with_features(here, first), b.with_features(there, second)
    assert same_pose(cp.register(*with_features), expected)
    assert same_pose(cp.register(a, b, features=((here, first), (there, second))), expected)
    assert same_pose(cp.register(*pickle.loads(pickle.dumps(with_features))), expected)
    assert not a.has_own_features
    assert a.features.shape[1] == 33  # it stays as it was


def test_our_own_features_given_back_are_what_we_find() -> None:
    source, target = prepared()
    expected = cp.register(source, target)
    pose = cp.register(source, target, features=(source.features, target.features))
    assert np.array_equal(pose.T_target_source, expected.T_target_source)
    assert np.array_equal(pose.associations, expected.associations)


def test_matches_of_clouds_with_features_number_what_has_features() -> None:
    source, target, motion, here, there = symmetric()
    first, second = learned(len(here), 0, 0.3)
    a = cp.prepare(source, voxel_size=0.2).with_features(here, first)
    b = cp.prepare(target, voxel_size=0.2).with_features(there, second)
    pairs = np.repeat(np.arange(40), 2).reshape(-1, 2)
    pose = cp.register(a, b, associations=pairs)
    assert np.array_equal(pose.source_points, here)
    assert cp.rotation_error(pose.T_target_source, motion) < 1.0
    with pytest.raises(cp.LandmarkError, match="associations: row 0 names number 300"):
        cp.register(a, b, associations=[[300, 0]])


SOURCE, TARGET = (shell(20, 1.0, seed) for seed in (0, 1))
FEATURES = np.ones((20, 4))
NOT_FINITE = np.where(np.arange(20)[:, None] == 7, np.nan, FEATURES)

WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "both": (
        {"associations": [[0, 0]], "features": (FEATURES, FEATURES)},
        "features: expected None where associations",
    ),
    "columns": ({"associations": np.zeros((4, 3), int)}, r"associations: expected an array of shape \(m, 2\)"),
    "rows": ({"associations": np.zeros((2, 9), int)}, r"associations: .* did you mean associations\.T"),
    "flat": ({"associations": [0, 1]}, "associations: expected an array of shape"),
    "fractions": ({"associations": [[0.0, 1.0]]}, "associations: expected integers"),
    "source out of range": ({"associations": [[0, 0], [20, 0]]}, "associations: row 1 names number 20 of the first"),
    "target out of range": ({"associations": [[0, 20]]}, "associations: row 0 names number 20 of the second"),
    "negative": ({"associations": [[0, -1]]}, "associations: row 0 names number -1 of the second"),
    "words": ({"associations": "all"}, "associations: expected"),
    "ragged": ({"associations": [[0, 1], [2]]}, "associations: expected an array"),
    "of one cloud": ({"features": FEATURES}, "features: expected those of the source and those of the target"),
    "of three": ({"features": (FEATURES,) * 3}, "features: expected those of the source and those of the target"),
    "too few": ({"features": (FEATURES[1:], FEATURES)}, r"features\[0\]: expected one for each of 20 points, got 19"),
    "too many": (
        {"features": (FEATURES, (TARGET[:5], FEATURES))},
        r"features\[1\]\[1\]: expected one for each of 5 points, got 20",
    ),
    "not finite": ({"features": (FEATURES, NOT_FINITE)}, r"features\[1\]: feature 7 has a number that is not finite"),
    "too large": (
        {"features": (1e39 * FEATURES, FEATURES)},
        r"features\[0\]: feature 0 has a number that is not fin",
    ),
    "lengths": ({"features": (FEATURES, FEATURES[:, 1:])}, "features: expected the same length, got 4 .* and 3"),
    "one number each": ({"features": (FEATURES[:, 0], FEATURES)}, r"features\[0\]: expected features of shape"),
    "no numbers": ({"features": (FEATURES[:, :0], FEATURES)}, r"features\[0\]: expected features of shape"),
    "none": ({"features": (FEATURES, None)}, r"features\[1\]: expected features of shape"),
    "places": (
        {"features": (FEATURES, (TARGET.T, FEATURES))},
        r"features\[1\]\[0\]: .* did you mean features\[1\]\[0\]\.T\?",
    ),
    "lost places": (
        {"features": ((NOT_FINITE[:, :3], FEATURES), FEATURES)},
        r"features\[0\]\[0\]: point 7 is .* expected finite",
    ),
    "invariant's name": ({"invariant": "distance"}, "invariant: expected one of clipperplus.invariants"),
    "invariant's class": ({"invariant": DistanceAndNormals}, "invariant: expected one of clipperplus.invariants"),
    "invariant of lines": ({"invariant": Lines()}, "invariant: expected one of points"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_matches_are_refused_by_name(name: str) -> None:
    options, message = WRONG[name]
    error = cp.OptionError if name.startswith(("both", "of ", "invariant")) else cp.LandmarkError
    with pytest.raises(error, match=message):
        cp.register(SOURCE, TARGET, **options)


def test_wrong_features_for_a_prepared_cloud_are_refused_by_name() -> None:
    cloud, _ = prepared()
    for points, features, message in (
        (SOURCE, FEATURES[1:], "features: expected one for each of 20 points, got 19"),
        (SOURCE.T, FEATURES, r"points: expected points of shape \(n, 3\)"),
        (NOT_FINITE[:, :3], FEATURES, "points: point 7 is"),
        (SOURCE, NOT_FINITE, "features: feature 7 has a number that is not finite"),
        (SOURCE, FEATURES[:, 0], r"features: expected features of shape \(n, d\)"),
    ):
        with pytest.raises(cp.LandmarkError, match=message):
            cloud.with_features(points, features)


def test_places_of_features_that_are_astronomical_are_refused_by_name() -> None:
    with pytest.raises(cp.LandmarkError, match=r"features\[0\]\[0\]: expected coordinates of at most"):
        cp.register(SOURCE, TARGET, features=((1e200 * SOURCE, FEATURES), FEATURES))


def test_points_that_are_not_finite_are_refused_where_matches_number_them() -> None:
    rotten = np.insert(room().source, 7, np.nan, axis=0)
    with pytest.raises(cp.LandmarkError, match="source: point 7 is"):
        cp.register(rotten, room().target, voxel_size=VOXEL, associations=raw_matches())


def test_normals_join_less_than_distances_alone() -> None:
    source, target = prepared()
    invariant = DistanceAndNormals(angle=0.3, oriented=False)
    pose, without = (cp.register(source, target, invariant=choice) for choice in (invariant, Distance()))
    assert_right(pose)
    assert 0 < pose.graph.num_edges < without.graph.num_edges
    landmarks = [(cloud.points, cloud.normals) for cloud in (source, target)]
    expected = cp.consistency_graph(*landmarks, pose.associations, epsilon=pose.epsilon, invariant=invariant)
    assert pose.graph == expected
    assert same_pose(without, cp.register(source, target))


def distance_residual(source: Any, target: Any, first: Any, second: Any) -> Array:
    a, b = (np.asarray(getattr(landmarks, "points", landmarks)) for landmarks in (source, target))
    lengths = np.linalg.norm(a[first.source] - a[second.source], axis=1)
    return np.asarray(np.abs(lengths - np.linalg.norm(b[first.target] - b[second.target], axis=1)))


def test_a_function_of_ones_own_can_say_what_agrees() -> None:
    pairs = raw_matches()
    about: dict[str, Any] = {"voxel_size": VOXEL, "associations": pairs}
    pose = cp.register(room().source, room().target, invariant=Custom(distance_residual, VOXEL), **about)
    assert_right(pose)
    assert pose.graph == cp.register(room().source, room().target, epsilon=VOXEL, **about).graph
    never = Custom(lambda source, target, first, second: first.source + 1.0, 0.1)
    nothing = cp.register(room().source, room().target, invariant=never, **about)
    assert nothing.status is Status.TOO_FEW_INLIERS
    assert nothing.graph.num_edges == 0


def test_a_function_of_ones_own_sees_the_same_kind_of_landmarks_whoever_matched() -> None:
    seen = set()

    def note(source: Any, target: Any, first: Any, second: Any) -> Array:
        seen.update((type(source), type(target)))
        return distance_residual(source, target, first, second)

    source, target = prepared()
    pairs = matches(source.points, target.points, 0.08)
    for about in ({}, {"associations": pairs}, {"features": (source.features, target.features)}):
        assert_right(cp.register(source, target, invariant=Custom(note, VOXEL), **about))
    assert seen == {np.ndarray}


def test_matches_of_prepared_clouds_can_be_compared_by_normals() -> None:
    source, target = prepared()
    pairs = matches(source.points, target.points, 0.08)
    assert_right(cp.register(source, target, associations=pairs, invariant=DistanceAndNormals(oriented=False)))


def test_normals_that_nobody_knows_are_the_invariants_fault() -> None:
    with pytest.raises(cp.OptionError, match=r"invariant: .*normals"):
        cp.register(SOURCE, TARGET, associations=[[0, 0]], invariant=DistanceAndNormals())


def test_features_that_are_all_alike_are_refused_before_the_memory_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_limits, "machine_memory", lambda: 2**20)
    points = np.random.default_rng(0).normal(size=(300, 3))
    alike = points, np.ones((300, 4))
    with pytest.raises(cp.MemoryLimitError, match="matches: to search the graph of 90000 associations"):
        cp.register(*prepared(), features=(alike, alike), matches=300)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"voxels": 0.5}, "voxels: expected a number from 1 to 100, got 0.5"),
        ({"voxels": "wide"}, "voxels: expected a number, got 'wide'"),
        ({"radius": 1.0}, "radius: expected a number from 2 to 100, got 1"),
        ({"radius": np.nan}, "radius: expected a number from 2 to 100, got nan"),
        ({"threads": 0}, "threads: expected an integer from 1"),
        ({"towards_sensor": 1}, "towards_sensor: expected True or False, got 1"),
    ],
)
def test_what_cannot_be_described_is_refused_by_name(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(cp.OptionError, match=message):
        prepared()[0].described(**{"voxels": 1.4, "radius": 5.0, "threads": 1} | arguments)
