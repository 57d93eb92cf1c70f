"""Matched points: the planted motion is found, its uncertainty is as stated, and what is open is said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from motions import move, planted, random_motion, same_pose
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation

import clipperplus as cp
from clipperplus import Status
from clipperplus.geometry.poses import inverse, logarithm
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


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("n", "outliers"), [(10, 0), (20, 180), (40, 760)])
def test_a_planted_motion_and_its_inliers_are_found(n: int, outliers: int, seed: int) -> None:
    source, target, motion = planted(n, outliers, seed=seed)
    pose = cp.solve(source, target, epsilon=0.02)
    assert pose.status is Status.OK
    assert pose.T_target_source is not None
    assert set(range(n)) <= set(pose.inliers.tolist())
    assert len(pose.inliers) <= n + 2  # chance associations may agree, too
    assert cp.rotation_error(pose.T_target_source, motion) < 0.5
    assert cp.translation_error(pose.T_target_source, motion) < 0.01
    assert pose.clique.optimal
    moved = np.linalg.norm(move(pose.T_target_source, source) - target, axis=1)
    assert np.allclose(pose.residuals, moved)
    assert pose.inlier_rmse == pytest.approx(np.sqrt(np.mean(moved[pose.inliers] ** 2)))
    assert len(pose.degenerate_directions) == 0


def test_the_transform_is_the_robust_fit_to_what_it_explains() -> None:
    """No small motion makes the sum of Geman and McClure's r² / (1 + r²) smaller, and the inliers are the clique."""
    source, target, _ = planted(60, 300, noise=0.02, seed=3)
    epsilon = 0.02
    pose = cp.solve(source, target, epsilon=epsilon)
    assert pose.T_target_source is not None
    assert np.array_equal(pose.inliers, pose.clique.vertices)
    explained = pose.residuals < 3.0 * epsilon
    assert explained.sum() > 1.2 * pose.num_inliers
    assert not np.allclose(
        pose.T_target_source, cp.fit_transform(source[pose.inliers], target[pose.inliers]), atol=1e-4
    )

    def cost(small: Array) -> float:
        turned = Rotation.from_rotvec(small[:3]).apply(move(pose.T_target_source, source[explained])) + small[3:]
        squares = ((turned - target[explained]) ** 2).sum(axis=1) / epsilon**2
        return float((squares / (1.0 + squares)).sum())

    best = minimize(cost, np.zeros(6), method="Nelder-Mead", options={"xatol": 1e-8, "fatol": 1e-12, "maxiter": 5000})
    assert best.fun > cost(np.zeros(6)) * (1.0 - 1e-3)
    assert np.abs(best.x).max() < 2e-3


def test_associations_beside_the_clique_improve_the_transform() -> None:
    """Errors as large as epsilon: the clique has those that happen to agree, all the others are right as well."""
    before, after = [], []
    for seed in range(20):
        source, target, motion = planted(80, 200, noise=0.03, seed=seed)
        pose = cp.solve(source, target, epsilon=0.03, max_alternatives=0)
        clique = cp.fit_transform(source[pose.inliers], target[pose.inliers])
        before.append(cp.rotation_error(clique, motion))
        after.append(cp.rotation_error(pose.T_target_source, motion))
    assert np.mean(after) < 0.7 * np.mean(before)
    assert np.max(after) < np.max(before)


def test_bounds_of_associations_weigh_them() -> None:
    """The imprecise half of the matches must not spoil what the precise half says."""
    errors = []
    for seed in range(10):
        random = np.random.default_rng(seed)
        motion, source = random_motion(seed), random.uniform(-1.0, 1.0, (60, 3))
        sigmas = np.repeat([0.001, 0.03], 30)
        target = move(motion, source) + sigmas[:, None] * random.normal(size=(60, 3))
        pose = cp.solve(source, target, epsilon=4.0 * sigmas)
        precise = cp.solve(source[:30], target[:30], epsilon=0.008)
        assert pose.num_inliers > 50
        assert pose.covariance is not None
        assert precise.covariance is not None
        errors.append(
            (cp.rotation_error(pose.T_target_source, motion), cp.rotation_error(precise.T_target_source, motion))
        )
        ratio = np.sqrt(np.trace(pose.covariance[:3, :3]) / np.trace(precise.covariance[:3, :3]))
        assert 0.3 < ratio < 2.0
    assert np.mean(errors, axis=0)[0] < 1.3 * np.mean(errors, axis=0)[1]


def test_associations_may_name_points_in_any_order() -> None:
    source, target, motion = planted(25, 100, seed=4)
    random = np.random.default_rng(0)
    order = random.permutation(len(target))
    pairs = np.column_stack((np.arange(125), np.argsort(order)))
    pose = cp.solve(source, target[order], pairs, epsilon=0.02)
    assert np.allclose(pose.T_target_source, cp.solve(source, target, epsilon=0.02).T_target_source, atol=1e-9)
    assert np.array_equal(pose.associations, pairs)
    assert cp.rotation_error(pose.T_target_source, motion) < 0.5


def test_moving_both_sides_moves_the_answer() -> None:
    source, target, _ = planted(25, 100, seed=5)
    before = cp.solve(source, target, epsilon=0.02)
    a, b = random_motion(50), random_motion(51)
    after = cp.solve(move(a, source), move(b, target), epsilon=0.02)
    assert np.allclose(after.T_target_source, b @ before.T_target_source @ inverse(a), atol=1e-9)
    assert np.array_equal(after.inliers, before.inliers)


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


def test_inliers_on_a_line_leave_the_turn_about_it_open() -> None:
    random = np.random.default_rng(8)
    axis = np.array([1.0, 2.0, -2.0]) / 3.0
    motion = random_motion(9)
    source = np.outer(random.uniform(-2.0, 2.0, 20), axis)
    pose = cp.solve(source, move(motion, source) + random.normal(0.0, 1e-3, (20, 3)), epsilon=0.02)
    assert pose.status is Status.DEGENERATE
    assert pose.degenerate_directions.shape == (1, 6)
    direction = pose.degenerate_directions[0]
    assert np.linalg.norm(direction) == pytest.approx(1.0)
    assert abs(direction[:3] @ (motion[:3, :3] @ axis)) > 0.999
    assert np.allclose(direction[3:], 0.0, atol=1e-6)
    assert pose.covariance is not None
    assert np.isfinite(pose.covariance).all()
    about_line = np.concatenate((motion[:3, :3] @ axis, np.zeros(3)))
    assert about_line @ pose.covariance @ about_line > 0.01  # more than 5°


def test_inliers_on_a_plane_determine_the_motion() -> None:
    random = np.random.default_rng(10)
    source = np.column_stack((random.uniform(-1.0, 1.0, (30, 2)), np.zeros(30)))
    motion = random_motion(11)
    pose = cp.solve(source, move(motion, source), epsilon=0.02)
    assert pose.status is Status.OK
    assert cp.rotation_error(pose.T_target_source, motion) < 1e-6


def test_a_patch_no_larger_than_the_noise_determines_no_turn() -> None:
    random = np.random.default_rng(12)
    source = random.uniform(-0.04, 0.04, (30, 3)) + 5.0
    pose = cp.solve(source, move(random_motion(13), source), epsilon=0.05)
    assert pose.status is Status.DEGENERATE
    assert pose.degenerate_directions.shape == (3, 6)
    assert np.allclose(pose.degenerate_directions[:, 3:], 0.0)


def test_points_at_one_place_are_degenerate() -> None:
    pose = cp.solve(np.ones((10, 3)), np.full((10, 3), 2.0))
    assert pose.status is Status.DEGENERATE
    assert np.isfinite(pose.T_target_source).all()
    assert np.isfinite(pose.covariance).all()


@pytest.mark.parametrize("seed", range(5))
def test_two_motions_of_equal_support_are_ambiguous_and_both_are_returned(seed: int) -> None:
    random = np.random.default_rng(seed)
    motions = random_motion(100 + seed), random_motion(200 + seed)
    source = random.uniform(-1.0, 1.0, (80, 3))
    target = np.concatenate([move(m, half) for m, half in zip(motions, np.split(source, 2), strict=True)])
    pose = cp.solve(source, target, epsilon=0.02)
    assert pose.status is Status.AMBIGUOUS
    assert pose.evidence.runner_up >= 0.9
    answers = [pose.T_target_source, *(other.T_target_source for other in pose.alternatives)]
    for motion in motions:
        assert min(cp.rotation_error(answer, motion) for answer in answers[:2]) < 0.5
    chosen = int(cp.rotation_error(answers[0], motions[0]) > 0.5)
    other = np.arange(40) + 40 * (1 - chosen)
    assert len(np.setdiff1d(other, pose.alternatives[0].inliers)) <= 2


def test_a_weaker_second_motion_is_an_alternative_but_not_a_doubt() -> None:
    random = np.random.default_rng(14)
    source = random.uniform(-1.0, 1.0, (60, 3))
    first, second = random_motion(15), random_motion(16)
    target = np.concatenate((move(first, source[:40]), move(second, source[40:])))
    pose = cp.solve(source, target, epsilon=0.02, min_confidence=0.0)
    assert pose.status is Status.OK
    assert cp.rotation_error(pose.T_target_source, first) < 0.5
    assert cp.rotation_error(pose.alternatives[0].T_target_source, second) < 0.5
    assert 0.4 < pose.alternatives[0].score < 0.6
    assert [other.score for other in pose.alternatives] == sorted((o.score for o in pose.alternatives), reverse=True)
    assert len(cp.solve(source, target, epsilon=0.02, max_alternatives=1).alternatives) == 1
    assert cp.solve(source, target, epsilon=0.02, max_alternatives=0).alternatives == ()


@pytest.mark.parametrize("n", [0, 1, 2])
def test_fewer_than_three_that_agree_are_too_few(n: int) -> None:
    points = np.random.default_rng(17).uniform(-1.0, 1.0, (n, 3))
    pose = cp.solve(points, points)
    assert pose.status is Status.TOO_FEW_INLIERS
    assert pose.T_target_source is None
    assert pose.covariance is None
    assert pose.inlier_rmse is None
    assert (pose.confidence, pose.num_inliers, pose.residuals.shape) == (0.0, 0, (n,))
    assert pose.to_dict()["status"] == "too few inliers"


def test_associations_that_contradict_each_other_are_too_few() -> None:
    source = np.arange(30.0).reshape(10, 3)
    pose = cp.solve(source, source * 100.0, epsilon=0.1)
    assert pose.status is Status.TOO_FEW_INLIERS
    assert cp.solve(source, source, []).status is Status.TOO_FEW_INLIERS


def test_confidence_below_what_was_asked_for_is_uncertain() -> None:
    source, target, _ = planted(20, 50, seed=18)
    pose = cp.solve(source, target, epsilon=0.02, min_confidence=1.0)
    assert 0.0 <= pose.confidence <= 1.0
    assert pose.status is (Status.OK if pose.confidence >= 1.0 else Status.UNCERTAIN)


def test_threads_and_instruction_sets_do_not_change_the_answer(simd: str) -> None:
    source, target, _ = planted(40, 700, seed=19)
    expected = cp.solve(source, target, epsilon=0.03)
    for threads in (1, 2, 4):
        assert same_pose(cp.solve(source, target, epsilon=0.03, threads=threads), expected)


@pytest.mark.parametrize("seed", [0, 7, 9, 21])
def test_an_answer_is_not_its_own_rival(seed: int) -> None:
    """Greedy cliques are often not the largest: then a larger one is an alternative, and the answer is none."""
    random = np.random.default_rng(seed)
    pose = cp.solve(random.uniform(size=(150, 3)), random.uniform(size=(150, 3)), epsilon=0.12, method="greedy")
    assert pose.T_target_source is not None
    for other in pose.alternatives:
        assert not np.allclose(other.T_target_source, pose.T_target_source)


def test_a_long_rod_has_the_covariance_of_least_squares() -> None:
    random = np.random.default_rng(5)
    source = random.normal(size=(60, 3)) * (200.0, 1.5, 1.5)
    pose = cp.solve(source, source + random.normal(0.0, 0.01, source.shape), epsilon=0.1)
    assert pose.status is Status.OK
    assert pose.covariance is not None
    assert np.sqrt(np.diag(pose.covariance))[:3].max() < np.radians(1.0)


def test_what_is_wrong_with_points_is_said_of_the_right_argument() -> None:
    points = np.random.default_rng(0).uniform(size=(9, 3))
    with pytest.raises(cp.LandmarkError, match=r"source: expected points of shape \(n, 3\), got \(9, 2\)"):
        cp.solve(points[:, :2], points)
    with pytest.raises(cp.LandmarkError, match=r"target: expected points of shape \(n, 3\), got \(9, 2\)"):
        cp.solve(points, points[:, :2])


def test_wrong_limits_are_refused_before_the_work() -> None:
    points = np.random.default_rng(0).uniform(size=(9, 3))
    with pytest.raises(cp.OptionError, match="time_limit: expected"):
        cp.solve(points, points, time_limit="soon")
    with pytest.raises(cp.OptionError, match="method: expected one of"):
        cp.solve(points, points, method="magic")
    with pytest.raises(cp.OptionError, match="time_limit: expected"):
        cp.register(object(), object(), time_limit=-1.0)  # what these are has not been looked at


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
