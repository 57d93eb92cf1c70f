"""Matched points: the planted motion is found, its uncertainty is as stated, and what is open is said."""

from __future__ import annotations

import json

import numpy as np
import numpy.typing as npt
import pytest
from motions import move, planted, random_motion, same_pose
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation

import clipperplus as cp
from clipperplus import Status
from clipperplus.geometry.poses import inverse

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


def test_what_is_wrong_with_points_is_said_of_the_right_argument() -> None:
    points = np.random.default_rng(0).uniform(size=(9, 3))
    with pytest.raises(cp.LandmarkError, match=r"source: expected points of shape \(n, 3\), got \(9, 2\)"):
        cp.solve(points[:, :2], points)
    with pytest.raises(cp.LandmarkError, match=r"target: expected points of shape \(n, 3\), got \(9, 2\)"):
        cp.solve(points, points[:, :2])


def test_sizes_of_which_squares_cannot_be_taken_are_refused_by_name() -> None:
    points = np.random.default_rng(0).uniform(size=(9, 3))
    for epsilon in (1e-200, 1e200, np.append(np.full(8, 0.1), 1e200)):
        with pytest.raises(cp.OptionError, match=r"epsilon: expected a number from 1e-151 to 1e\+151, got 1e.200"):
            cp.solve(points, points, epsilon=epsilon)
    far = np.vstack([points[:-1], np.full((1, 3), 1e300)])  # as some programs write what is not known
    pairs = np.column_stack([np.arange(9)] * 2)
    with pytest.raises(cp.LandmarkError, match=r"source: expected coordinates of at most 1e\+151, got 1e\+300"):
        cp.solve(far, far, pairs)
    with pytest.raises(cp.LandmarkError, match=r"target: expected coordinates of at most 1e\+151, got 1e\+300"):
        cp.solve(points, far, pairs)
    for size in (1e-149, 1e151):
        assert cp.solve(size * points, size * points, pairs, epsilon=0.01 * size).status is Status.OK


def test_wrong_limits_are_refused_before_the_work() -> None:
    points = np.random.default_rng(0).uniform(size=(9, 3))
    with pytest.raises(cp.OptionError, match="time_limit: expected"):
        cp.solve(points, points, time_limit="soon")
    with pytest.raises(cp.OptionError, match="method: expected one of"):
        cp.solve(points, points, method="magic")
    with pytest.raises(cp.OptionError, match="time_limit: expected"):
        cp.register(object(), object(), time_limit=-1.0)  # what these are has not been looked at


def test_what_is_said_as_json_is_json_where_all_points_are_at_one_place() -> None:
    """Then nothing is known of the scale: its deviation is infinite, for which JSON has no number."""
    pose = cp.solve(np.ones((5, 3)), np.full((5, 3), 1.3), epsilon=0.01)
    assert json.loads(json.dumps(pose.to_dict(), allow_nan=False))["evidence"]["scale_deviation"] is None
