"""Registration: the planted motion is found, its uncertainty is as stated, and what cannot be known is said."""

from __future__ import annotations

import functools
import pickle
import time
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import clipperplus as cp
from clipperplus import Status
from clipperplus.poses import inverse, logarithm
from clipperplus.synthetic.scans import ScanPair

Array = npt.NDArray[np.float64]


def random_motion(seed: int, shift: float = 2.0) -> Array:
    random = np.random.default_rng(seed)
    matrix = np.linalg.qr(random.normal(size=(3, 3)))[0]
    motion = np.eye(4)
    motion[:3, :3] = matrix * np.linalg.det(matrix)
    motion[:3, 3] = random.uniform(-shift, shift, 3)
    return motion


def move(motion: Array, points: Array) -> Array:
    return np.asarray(points @ motion[:3, :3].T + motion[:3, 3])


def planted(n: int, outliers: int, *, noise: float = 0.003, seed: int = 0) -> tuple[Array, Array, Array]:
    """Matched points of which the first n follow a motion."""
    random = np.random.default_rng(seed)
    motion = random_motion(seed)
    source = random.uniform(-1.0, 1.0, (n + outliers, 3))
    target = move(motion, source) + random.uniform(-noise, noise, source.shape)
    target[n:] = random.uniform(-3.0, 3.0, (outliers, 3))
    return source, target, motion


def same_pose(a: cp.Pose, b: cp.Pose) -> bool:
    """Everything but the times, bit for bit."""
    left, right = a.to_dict(), b.to_dict()
    for pose in (left, right):
        pose.pop("seconds")
        pose["stages"] = [
            (s["name"], s["count"]) for s in pose["stages"] if not s["name"].startswith(("source ", "target "))
        ]
    return left == right and np.array_equal(a.residuals, b.residuals, equal_nan=True)


# Matched points -------------------------------------------------------------------------------------------------------


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


def test_the_transform_is_the_least_squares_fit_of_the_clique() -> None:
    source, target, _ = planted(30, 200, seed=3)
    pose = cp.solve(source, target, epsilon=0.02)
    fit = cp.fit_transform(source[pose.inliers], target[pose.inliers])
    assert np.allclose(pose.T_target_source, fit, atol=1e-12)
    assert np.array_equal(pose.inliers, pose.clique.vertices)


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
    source = random.uniform(-1.0, 1.0, (25, 3)) * [2.0, 1.0, 0.3] + centre
    errors, covariances = [], []
    for _ in range(250):
        target = move(truth, source) + random.normal(0.0, 0.01, source.shape)
        pose = cp.solve(source, target, epsilon=0.2, max_alternatives=0)
        assert pose.num_inliers == 25
        assert pose.T_target_source is not None
        errors.append(logarithm(truth @ inverse(pose.T_target_source)))
        covariances.append(pose.covariance)
    sample = np.cov(np.array(errors).T)
    stated = np.mean(covariances, axis=0)
    assert np.allclose(stated, stated.T)
    whiten = np.linalg.inv(np.linalg.cholesky(stated))
    ratios = np.linalg.eigvalsh(whiten @ sample @ whiten.T)
    assert ratios.min() > 0.7
    assert ratios.max() < 1.4


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


# Clouds ---------------------------------------------------------------------------------------------------------------


@functools.cache
def room(seed: int = 0) -> ScanPair:
    return cp.synthetic.room_scans(seed=seed, resolution=64, frames=2)


@functools.cache
def street() -> ScanPair:
    return cp.synthetic.street_scans(resolution=300)


@functools.cache
def registered_room() -> cp.Pose:
    return cp.register(room().source, room().target)


@pytest.mark.parametrize("scans", [room, functools.partial(room, 1), street])
def test_scans_are_registered_to_within_a_degree_and_a_voxel(scans: Any) -> None:
    pair = scans()
    pose = cp.register(pair.source, pair.target, min_confidence=0.0)
    assert pose.status is Status.OK
    assert cp.rotation_error(pose.T_target_source, pair.T_target_source) < 1.0
    assert cp.translation_error(pose.T_target_source, pair.T_target_source) < pose.voxel_size
    assert 0.5 * pair.overlap < pose.overlap < pair.overlap + 0.1  # sparse rays miss the other scan's voxels
    assert pose.covariance is not None
    assert np.linalg.eigvalsh(pose.covariance).min() > 0.0
    moved = move(pose.T_target_source, pose.source_points[pose.associations[:, 0]])
    assert np.allclose(pose.residuals, np.linalg.norm(moved - pose.target_points[pose.associations[:, 1]], axis=1))
    assert all(len(pose.source_points) > i >= 0 for i in pose.associations[:, 0])


def test_threads_and_repetition_do_not_change_a_bit() -> None:
    pair = room()
    for threads in (1, 2):
        again = cp.register(pair.source, pair.target, threads=threads)
        assert same_pose(again, registered_room())
        assert np.array_equal(again.T_target_source, registered_room().T_target_source)


@pytest.mark.parametrize("seed", range(2))
def test_moving_the_clouds_and_their_sensors_moves_the_answer(seed: int) -> None:
    pair, before = room(), registered_room()
    a, b = random_motion(300 + seed, shift=20.0), random_motion(400 + seed, shift=20.0)
    after = cp.register(
        move(a, pair.source),
        move(b, pair.target),
        voxel_size=before.voxel_size,
        source_viewpoint=a[:3, 3],
        target_viewpoint=b[:3, 3],
    )
    back = inverse(b) @ after.T_target_source @ a
    assert cp.rotation_error(back, before.T_target_source) < 0.5
    middle = pair.source.mean(axis=0, keepdims=True)
    assert np.linalg.norm(move(back, middle) - move(before.T_target_source, middle)) < 0.5 * before.voxel_size


def test_swapping_the_clouds_inverts_the_answer() -> None:
    pair, there = room(), registered_room()
    back = cp.register(pair.target, pair.source)
    assert cp.rotation_error(inverse(back.T_target_source), there.T_target_source) < 0.5
    assert cp.translation_error(inverse(back.T_target_source), there.T_target_source) < there.voxel_size


def test_prepared_clouds_give_the_pose_of_the_raw_ones() -> None:
    pair, expected = room(), registered_room()
    source, target = (cp.prepare(cloud, voxel_size=expected.voxel_size) for cloud in (pair.source, pair.target))
    for clouds in ((source, target), (pair.source, target), (source, pair.target), (source, target)):
        assert same_pose(cp.register(*clouds), expected)


def test_clouds_prepared_with_other_voxels_are_refused() -> None:
    pair = room()
    fine, coarse = (cp.prepare(pair.source, voxel_size=size) for size in (0.1, 0.2))
    with pytest.raises(cp.OptionError, match=r"target: prepared with voxels of 0\.2; expected 0\.1"):
        cp.register(fine, coarse)
    with pytest.raises(cp.OptionError, match=r"source: prepared with voxels of 0\.1; expected 0\.3"):
        cp.register(fine, pair.target, voxel_size=0.3)
    with pytest.raises(cp.OptionError, match="source_viewpoint: the cloud is prepared"):
        cp.register(fine, pair.target, source_viewpoint=(0.0, 0.0, 0.0))


def test_refinement_improves_the_transform() -> None:
    errors = []
    for seed in (0, 1):
        pair = room(seed)
        for refine in (None, "gicp"):
            pose = cp.register(pair.source, pair.target, refine=refine)
            moved = [move(m, pair.source) for m in (pose.T_target_source, pair.T_target_source)]
            errors.append(np.sqrt(np.mean((moved[0] - moved[1]) ** 2)))
    assert np.sum(errors[1::2]) < np.sum(errors[::2])
    assert max(errors[1::2]) < 0.02


def test_refinement_alone_improves_a_transform_that_is_nearly_right() -> None:
    pair = room()
    start = pair.T_target_source.copy()
    start[:3, 3] += [0.05, -0.04, 0.03]
    refined = cp.refine_transform(pair.source, pair.target, start, voxel_size=0.05)
    assert cp.translation_error(refined, pair.T_target_source) < 0.02
    assert np.array_equal(refined, cp.refine_transform(pair.source, pair.target, start, voxel_size=0.05, threads=2))
    far = np.eye(4)
    far[:3, 3] = 1e4
    assert np.array_equal(cp.refine_transform(pair.source, pair.target, far, voxel_size=0.05), far)  # nothing to match
    assert np.array_equal(cp.refine_transform(pair.source[:9], pair.target, start, voxel_size=0.05), start)


def test_points_that_are_not_finite_change_nothing() -> None:
    pair, expected = room(), registered_room()
    rotten = np.insert(pair.source, [0, 500, 4000], [np.nan, 0.0, np.inf], axis=0)
    assert same_pose(cp.register(rotten, pair.target), expected)


# Clouds that say little -----------------------------------------------------------------------------------------------


def grid(n: int, spacing: float, z: float = 0.0) -> Array:
    x, y = np.meshgrid(np.arange(n) * spacing, np.arange(n) * spacing)
    return np.column_stack((x.ravel(), y.ravel(), np.full(n * n, z)))


def sphere(n: int, seed: int) -> Array:
    points = np.random.default_rng(seed).normal(size=(n, 3))
    return np.asarray(points / np.linalg.norm(points, axis=1)[:, None])


def tube(n: int, seed: int) -> Array:
    random = np.random.default_rng(seed)
    angle, height = random.uniform(0.0, 2.0 * np.pi, n), random.uniform(-5.0, 5.0, n)
    return np.column_stack((np.cos(angle), np.sin(angle), height))


def noise(n: int, seed: int) -> Array:
    return np.random.default_rng(seed).uniform(-1.0, 1.0, (n, 3))


def line(n: int, seed: int) -> Array:
    return np.outer(np.random.default_rng(seed).uniform(0.0, 10.0, n), [1.0, 2.0, 2.0])


TURN = random_motion(500, shift=0.0)

POOR: dict[str, Any] = {
    "both empty": lambda: (np.empty((0, 3)), np.empty((0, 3))),
    "source empty": lambda: (np.empty((0, 3)), room().target),
    "target empty": lambda: (room().source, np.empty((0, 3))),
    "one point": lambda: (np.zeros((1, 3)), np.ones((1, 3))),
    "one point and a scan": lambda: (np.zeros((1, 3)), room().target),
    "all points equal": lambda: (np.full((1000, 3), 2.0), np.full((1000, 3), 5.0)),
    "nan everywhere": lambda: (np.full((100, 3), np.nan), room().target),
    "ten points": lambda: (noise(10, 0), move(TURN, noise(10, 0))),
    "ten other points": lambda: (noise(10, 0), noise(10, 1)),
    "noise": lambda: (noise(3000, 0), noise(3000, 1)),
    "a plane": lambda: (grid(60, 0.1), grid(60, 0.1, 1.0) + np.array([0.33, 0.17, 0.0])),
    "a rough plane": lambda: (grid(60, 0.1) + 0.02 * noise(3600, 0), grid(60, 0.1, 1.0) + 0.02 * noise(3600, 1)),
    "a line": lambda: (line(2000, 0), line(2000, 1)),
    "a line and a plane": lambda: (line(2000, 0), grid(60, 0.1)),
    "a sphere, turned": lambda: (sphere(5000, 0), move(TURN, sphere(5000, 1))),
    "the same sphere, turned": lambda: (sphere(5000, 0), sphere(5000, 0) @ TURN[:3, :3].T),
    "a tube": lambda: (tube(5000, 0), tube(5000, 1)),
    "very different scales": lambda: (room().source, room().target * 1000.0),
    "slightly different scales": lambda: (room().source, room().target * 1.5),
    "different rooms": lambda: (room(0).source, room(5).target),
    "a room and a street": lambda: (room().source, street().target),
    "huge coordinates": lambda: (room().source * 1e300, room().target * 1e300),
    "tiny coordinates": lambda: (room().source[::9] * 1e-300, room().target[::9] * 1e-300),
    "an extent that overflows": lambda: (np.array([[-1e308] * 3, [1e308] * 3]), room().target),
    "a scan and a stray point": lambda: (np.concatenate((room().source, [[1e12, 0.0, 0.0]])), room().target),
}
TRUE_MOTIONS: dict[str, Any] = {
    "ten points": lambda: TURN,
    "the same sphere, turned": lambda: TURN,
    "a scan and a stray point": lambda: room().T_target_source,
}


@pytest.mark.parametrize("name", POOR)
def test_poor_clouds_are_refused_or_not_believed(name: str) -> None:
    source, target = POOR[name]()
    try:
        pose = cp.register(source, target)
    except cp.ClipperPlusError:
        return
    assert isinstance(pose, cp.Pose)
    assert 0.0 <= pose.confidence <= 1.0
    if pose.T_target_source is None:
        assert pose.status is Status.TOO_FEW_INLIERS
        return
    assert np.isfinite(pose.T_target_source).all()
    assert np.isfinite(pose.covariance).all()
    pose.to_dict()
    if pose.status is Status.OK:
        assert name in TRUE_MOTIONS, f"believed: {pose}"
        truth = TRUE_MOTIONS[name]()
        assert cp.rotation_error(pose.T_target_source, truth) < 3.0
        assert cp.translation_error(pose.T_target_source, truth) < 2.0 * pose.voxel_size


def test_a_street_without_landmarks_is_open_along_itself() -> None:
    """Two walls and the ground: nothing holds a shift along them."""
    random = np.random.default_rng(20)
    clouds = []
    for _ in range(2):
        along, across = random.uniform(-10.0, 10.0, 6000), random.uniform(-2.0, 2.0, 6000)
        side = random.integers(3, size=6000)
        clouds.append(
            np.column_stack((along, np.where(side == 0, across, 4.0 * side - 6.0), np.where(side == 0, -2.0, across)))
        )
    pose = cp.register(*clouds)
    assert pose.status is not Status.OK
    if pose.status is Status.DEGENERATE:
        assert max(abs(direction[3]) for direction in pose.degenerate_directions) > 0.9


@pytest.mark.parametrize("voxel_size", [0.6, 0.4])
def test_identical_clouds_are_registered_by_the_identity(voxel_size: float) -> None:
    pose = cp.register(room().source, room().source, voxel_size=voxel_size)
    assert cp.translation_error(pose.T_target_source, np.eye(4)) < 0.1 * voxel_size
    assert cp.rotation_error(pose.T_target_source, np.eye(4)) < 0.5
    assert pose.overlap > 0.85


@pytest.mark.timeout(60)
def test_clouds_that_match_perfectly_take_no_longer_than_others() -> None:
    """All associations are right: the graph is nearly complete, and so are its cliques."""
    pair = room()
    started = time.perf_counter()
    cp.register(pair.source, pair.target, voxel_size=0.35)
    usual = time.perf_counter() - started
    cp.register(pair.source, pair.source, voxel_size=0.35)
    assert time.perf_counter() - started < 10.0 * usual


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "voxel size": ({"voxel_size": 0.0}, "voxel_size: expected"),
    "voxels that are too small": ({"voxel_size": 1e-9}, "voxel_size: expected at least"),
    "epsilon": ({"epsilon": -1.0}, "epsilon: expected"),
    "matches": ({"matches": 0}, "matches: expected"),
    "ratio": ({"ratio": 2.0}, "ratio: expected"),
    "refine": ({"refine": "icp"}, "refine: expected None or 'gicp', got 'icp'"),
    "viewpoint": ({"source_viewpoint": (0.0, 1.0)}, "viewpoint: expected three finite coordinates"),
    "confidence": ({"min_confidence": 1.5}, "min_confidence: expected"),
    "alternatives": ({"max_alternatives": -1}, "max_alternatives: expected"),
    "threads": ({"threads": 0}, "threads: expected"),
    "method": ({"method": "guess"}, "method: "),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_options_are_refused(name: str) -> None:
    options, message = WRONG[name]
    with pytest.raises(cp.ClipperPlusError, match=message):
        cp.register(room().source[::20], room().target[::20], **options)


@pytest.mark.parametrize(
    ("cloud", "message"),
    [
        (np.zeros((3, 100)), r"source: expected points of shape \(n, 3\), got \(3, 100\)"),
        (np.zeros(3), "source: expected points of shape"),
        (np.zeros((5, 2)), "source: expected points of shape"),
        ("cloud.ply", "source: "),
        (None, "source: "),
        (np.zeros((5, 3), dtype=complex), "source: expected numbers"),
    ],
)
@pytest.mark.parametrize("voxel_size", [None, 0.1])
def test_what_is_no_cloud_is_refused_by_name(cloud: Any, message: str, voxel_size: float | None) -> None:
    with pytest.raises(cp.ClipperPlusError, match=message):
        cp.register(cloud, room().target, voxel_size=voxel_size)


# Confidence -----------------------------------------------------------------------------------------------------------


def evidence(**other: float) -> cp.Evidence:
    usual = {"associations": 800, "explained": 40, "runner_up": 0.3, "overlap": 0.3, "against": 0.03, "conflict": 0.002}
    return cp.Evidence(**(usual | other))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("worse", "better"),
    [
        ({"explained": 5}, {"explained": 100}),
        ({"overlap": 0.05}, {"overlap": 0.6}),
        ({"against": 0.2}, {"against": 0.0}),
        ({"conflict": 0.1}, {"conflict": 0.0}),
        ({"runner_up": 0.95}, {"runner_up": 0.05}),
        ({"undetermined": 3}, {"undetermined": 0}),
    ],
)
def test_better_evidence_gives_more_confidence(worse: dict[str, float], better: dict[str, float]) -> None:
    less, usual, more = (evidence(**other).confidence() for other in (worse, {}, better))
    assert 0.0 < less < more < 1.0
    assert less <= usual <= more


@pytest.mark.parametrize("kind", [{}, {"conflict": None}, {"overlap": None, "against": None, "conflict": None}])
def test_any_evidence_gives_a_probability(kind: dict[str, None]) -> None:
    for explained, runner_up in ((0, 0.0), (3, 1.0), (10**9, 0.0), (0, 1e300)):
        numbers = {"associations": 10**9, "explained": explained, "runner_up": runner_up}
        assert 0.0 <= evidence(**(numbers | kind)).confidence() <= 1.0  # type: ignore[arg-type]


def test_asking_for_no_alternatives_does_not_change_the_confidence() -> None:
    scans = cp.synthetic.room_scans(resolution=64, frames=2)
    all_of_it, less = (cp.register(scans.source, scans.target, max_alternatives=most) for most in (5, 0))
    assert all_of_it.alternatives
    assert not less.alternatives
    assert less.confidence == all_of_it.confidence
    assert less.status is all_of_it.status


def test_free_space_is_not_looked_at_unless_asked_for() -> None:
    scans = cp.synthetic.room_scans(resolution=64, frames=2)
    pose = cp.register(scans.source, scans.target, free_space=False)
    assert pose.evidence.conflict is None
    assert cp.rotation_error(pose.T_target_source, scans.T_target_source) < 1.0
    with pytest.raises(cp.OptionError, match="free_space: expected True or False, got 1"):
        cp.register(scans.source, scans.target, free_space=1)


def test_a_wrong_viewpoint_lowers_confidence_instead_of_breaking_anything() -> None:
    scans = cp.synthetic.room_scans(resolution=64, frames=2)
    far = (0.0, 0.0, -50.0)
    pose = cp.register(scans.source, scans.target, source_viewpoint=far, target_viewpoint=far)
    assert pose.T_target_source is None or 0.0 <= pose.confidence <= 1.0


def test_prepared_clouds_and_poses_survive_pickling() -> None:
    scans = cp.synthetic.room_scans(resolution=64, frames=2)
    clouds = [cp.prepare(cloud, voxel_size=0.15) for cloud in (scans.source, scans.target)]
    pose = cp.register(*clouds)
    copies = pickle.loads(pickle.dumps(clouds))
    again = pickle.loads(pickle.dumps(cp.register(*copies)))
    assert np.array_equal(again.T_target_source, pose.T_target_source)
    assert again.evidence == pose.evidence


@pytest.mark.parametrize("seed", [0, 7, 9, 21])
def test_an_answer_is_not_its_own_rival(seed: int) -> None:
    """Greedy cliques are often not the largest: then a larger one is an alternative, and the answer is none."""
    random = np.random.default_rng(seed)
    pose = cp.solve(random.uniform(size=(150, 3)), random.uniform(size=(150, 3)), epsilon=0.12, method="greedy")
    assert pose.T_target_source is not None
    for other in pose.alternatives:
        assert not np.allclose(other.T_target_source, pose.T_target_source)


def test_a_stray_point_far_away_changes_nothing() -> None:
    scans = cp.synthetic.room_scans(resolution=64, frames=2)
    source = np.concatenate((scans.source, [[40_000.0, 0.0, 0.0]]))
    pose = cp.register(source, scans.target, voxel_size=0.1)
    assert cp.rotation_error(pose.T_target_source, scans.T_target_source) < 1.0
    assert pose.status is Status.OK


def test_points_without_neighbours_are_not_matched() -> None:
    scans = cp.synthetic.room_scans(resolution=64, frames=2)
    far = np.random.default_rng(0).uniform(1e3, 1e6, (500, 3))
    source, target = (np.concatenate((cloud, far)) for cloud in (scans.source, scans.target))
    pose = cp.register(source, target, voxel_size=1.0, free_space=False)
    lonely = np.abs(pose.source_points).max(axis=1) > 500.0
    assert lonely.sum() >= 499
    assert not lonely[pose.associations[:, 0]].any()


def test_a_long_rod_has_the_covariance_of_least_squares() -> None:
    random = np.random.default_rng(5)
    source = random.normal(size=(60, 3)) * (200.0, 1.5, 1.5)
    pose = cp.solve(source, source + random.normal(0.0, 0.01, source.shape), epsilon=0.1)
    assert pose.status is Status.OK
    assert pose.covariance is not None
    assert np.sqrt(np.diag(pose.covariance))[:3].max() < np.radians(1.0)
