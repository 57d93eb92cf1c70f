"""Which matches agree, by normals or by rules of one's own: ``solve(…, invariant=…)``."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from motions import move, planted, random_motion, same_pose

import clipperplus as cp
from clipperplus import Status
from clipperplus.invariants import (
    Custom,
    Distance,
    DistanceAndNormals,
    Landmarks,
    Lines,
    LinesAndPlanes,
    Pairs,
    Planes,
    RelativePoses,
)

Array = npt.NDArray[np.float64]


def two_motions(seed: int) -> tuple[Array, Array, Array, Array, Array, Array]:
    """40 points that follow a motion with their normals, then 60 that follow another one while their normals do not."""
    random = np.random.default_rng(seed)
    first, second = random_motion(seed), random_motion(seed + 1)
    source, normals = random.uniform(-1.0, 1.0, (100, 3)), random.normal(size=(100, 3))
    target = np.concatenate((move(first, source[:40]), move(second, source[40:])))
    turned = np.concatenate((normals[:40] @ first[:3, :3].T, random.normal(size=(60, 3))))
    return source, normals, target, turned, first, second


@pytest.mark.parametrize("seed", range(3))
def test_normals_tell_which_motion_is_meant(seed: int) -> None:
    source, normals, target, turned, first, second = two_motions(seed)
    plain = cp.solve(source, target, epsilon=0.02, min_confidence=0.0)
    assert cp.rotation_error(plain.T_target_source, second) < 0.1
    pose = cp.solve((source, normals), (target, turned), epsilon=0.02, invariant=DistanceAndNormals())
    assert cp.rotation_error(pose.T_target_source, first) < 0.1
    assert set(range(40)) <= set(pose.inliers.tolist())
    assert np.array_equal(pose.source_points, source)
    assert np.array_equal(pose.target_points, target)
    assert np.allclose(pose.residuals, np.linalg.norm(move(pose.T_target_source, source) - target, axis=1))


def test_things_with_points_and_normals_are_as_good_as_pairs() -> None:
    source, normals, target, turned, _, _ = two_motions(7)
    clouds = cp.Cloud(source, normals=normals), cp.Cloud(target, normals=turned)
    pairs = np.random.default_rng(0).permutation(100)[:90, None].repeat(2, axis=1)
    rule = DistanceAndNormals(angle=0.1)
    pose = cp.solve(*clouds, pairs, epsilon=0.02, invariant=rule)
    assert same_pose(pose, cp.solve((source, normals), (target, turned), pairs, epsilon=0.02, invariant=rule))
    graph = cp.consistency_graph((source, normals), (target, turned), pairs, epsilon=0.02, invariant=rule)
    assert np.array_equal(pose.graph.edges(), graph.edges())


def test_the_invariant_of_distances_is_the_default() -> None:
    source, target, _ = planted(25, 100, seed=30)
    assert same_pose(
        cp.solve(source, target, epsilon=0.02, invariant=Distance()), cp.solve(source, target, epsilon=0.02)
    )


def test_functions_and_classes_of_ones_own_decide_which_associations_agree() -> None:
    """Matches of one colour only agree; and a class that asks for heights to be kept, which only one motion does."""
    source, _, target, _, first, _ = two_motions(11)
    colours = np.repeat([0, 1], [40, 60])

    def rule(a: Array, b: Array, one: Pairs, other: Pairs) -> Array:
        lengths = (
            np.linalg.norm(x[i] - x[j], axis=1)
            for x, i, j in ((a, one.source, other.source), (b, one.target, other.target))
        )
        before, after = lengths
        both = colours[one.source] + colours[other.source]
        return np.where(both == 0, np.abs(before - after), np.inf)

    pose = cp.solve(source, target, epsilon=0.02, invariant=Custom(rule, threshold=0.02))
    assert pose.inliers.tolist() == list(range(40))
    assert cp.rotation_error(pose.T_target_source, first) < 0.1

    class Own:
        def landmarks(self, name: str, given: Any) -> Any:
            return given

        def residuals(self, a: Any, b: Any, one: Pairs, other: Pairs, epsilon: Array) -> Array:
            return rule(a.points, b.points, one, other) / epsilon

    class Scan:
        def __init__(self, points: Array) -> None:
            self.points = points

        def __len__(self) -> int:
            return len(self.points)

    assert same_pose(cp.solve(Scan(source), Scan(target), epsilon=0.02, invariant=Own()), pose)


@pytest.mark.parametrize(
    ("invariant", "given", "error", "message"),
    [
        ("normals", np.eye(3), cp.OptionError, "invariant: expected one of clipperplus.invariants, got 'normals'"),
        (
            DistanceAndNormals,
            np.eye(3),
            cp.OptionError,
            "invariant: expected one of clipperplus.invariants, got <class",
        ),
        (Lines(), (np.eye(3), np.eye(3)), cp.OptionError, "invariant: expected one of points.*; Lines is of others"),
        (Planes(), (np.eye(3), np.eye(3)), cp.OptionError, "Planes is of others"),
        (LinesAndPlanes(), Landmarks(np.eye(3)), cp.OptionError, "LinesAndPlanes is of others"),
        (RelativePoses(np.eye(4)[None]), np.eye(4)[None], cp.OptionError, "RelativePoses is of others"),
        (
            DistanceAndNormals(),
            np.eye(3),
            cp.LandmarkError,
            r"source: expected a pair \(points, normals\), got ndarray",
        ),
        (DistanceAndNormals(), cp.Cloud(np.eye(3)), cp.LandmarkError, "source: expected points with normals"),
        (Distance(), np.ones((3, 2)), cp.LandmarkError, r"source: expected points of shape \(n, 3\), got \(3, 2\)"),
        (Custom(lambda *_: 0.0, 1.0), np.arange(4.0), cp.LandmarkError, r"source: expected points of shape \(n, 3\)"),
        (Custom(lambda *_: 0.0, 1.0), [cp.Cloud(np.eye(3))] * 4, cp.LandmarkError, "source: expected"),
    ],
)
def test_invariants_that_have_no_points_are_refused(invariant: Any, given: Any, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        cp.solve(given, given, invariant=invariant)


def test_prepared_clouds_have_points_and_normals() -> None:
    scans = cp.synthetic.room_scans(resolution=64, frames=2)
    source, target = (cp.prepare(cloud, voxel_size=0.15) for cloud in (scans.source, scans.target))
    matches = cp.match_features(source.features, target.features)
    pose = cp.solve(source, target, matches, epsilon=0.15, invariant=DistanceAndNormals())
    assert pose.status is Status.OK
    assert cp.rotation_error(pose.T_target_source, scans.T_target_source) < 2.0
    assert pose.graph.num_edges < cp.solve(source, target, matches, epsilon=0.15).graph.num_edges
