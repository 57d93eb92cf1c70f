"""Matched points that are mirrored or scaled are not taken for moved ones; those that are moved are not doubted."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from motions import move, random_motion

import clipperplus as cp
from clipperplus import Status
from clipperplus.registration.distortion import fit_both_hands

Array = npt.NDArray[np.float64]


def kinds(pose: cp.Pose) -> list[str]:
    return [reason.kind for reason in pose.reasons]


def spoil(target: Array, share: float, random: np.random.Generator) -> Array:
    """Replace a share of the points by random ones."""
    wrong = random.random(len(target)) < share
    return np.where(wrong[:, None], random.uniform(target.min(axis=0), target.max(axis=0), target.shape), target)


@pytest.mark.parametrize("mirror", [(-1.0, 1.0, 1.0), (1.0, -1.0, 1.0), (-1.0, -1.0, -1.0)])
@pytest.mark.parametrize("outliers", [0.0, 0.5, 0.8])
def test_mirrored_points_are_said_to_be_mirrored(mirror: tuple[float, float, float], outliers: float) -> None:
    for seed in range(5):
        random = np.random.default_rng(seed)
        source = random.uniform(0.0, 10.0, (200, 3))
        target = move(random_motion(seed), source * mirror) + random.normal(0.0, 0.01, source.shape)
        pose = cp.solve(source, spoil(target, outliers, random), epsilon=0.05)
        assert pose.status is Status.MIRRORED
        assert pose.confidence < 1e-6
        assert pose.evidence.mirrored is True
        assert kinds(pose)[0] == "mirrored"
        assert cp.solve(source, target, epsilon=0.05, min_confidence=0.0).status is Status.MIRRORED


def test_swapped_axes_mirror() -> None:
    source = np.random.default_rng(1).uniform(0.0, 10.0, (50, 3))
    assert cp.solve(source, source[:, [1, 0, 2]]).status is Status.MIRRORED
    assert cp.solve(source, source[:, [1, 2, 0]]).status is Status.OK


def test_on_a_plane_both_hands_are_the_same() -> None:
    """A mirrored plane is a turned one: the rotation is right, and nothing is wrong with it."""
    random = np.random.default_rng(2)
    flat = np.column_stack((random.uniform(0.0, 10.0, (60, 2)), np.zeros(60)))
    for thickness in (0.0, 0.005, 0.02):
        source = flat + random.normal(0.0, thickness, flat.shape) * [0.0, 0.0, 1.0]
        for target in (source, source * [-1.0, 1.0, 1.0]):
            pose = cp.solve(source, move(random_motion(3), target), epsilon=0.05)
            assert pose.status is Status.OK
            assert pose.inlier_rmse is not None
            assert pose.inlier_rmse < 0.05
    thick = flat + random.normal(0.0, 0.2, flat.shape) * [0.0, 0.0, 1.0]
    assert cp.solve(thick, thick * [-1.0, 1.0, 1.0], epsilon=0.05).status is Status.MIRRORED


@pytest.mark.parametrize("scale", [1.02, 1.05, 0.95, 1.1, 0.8, 2.0, 1000.0])
@pytest.mark.parametrize("outliers", [0.0, 0.6])
def test_a_scaled_room_is_not_taken_for_a_moved_one(scale: float, outliers: float) -> None:
    for n in (20, 60, 200, 800):
        random = np.random.default_rng(n)
        source = random.uniform(0.0, 1.0, (n, 3)) * [6.0, 4.0, 2.5]
        target = move(random_motion(n), scale * source) + random.normal(0.0, 0.01, source.shape)
        pose = cp.solve(source, spoil(target, outliers, random), epsilon=0.05)
        assert pose.status is not Status.OK
        if scale == 1.05 and n >= 200 and outliers == 0.0:
            reason = pose.reasons[0]
            assert reason.kind == "scaled"
            assert reason.numbers["scale"] == pytest.approx(scale, abs=0.005)
            assert pose.confidence == 0.0
            assert cp.solve(source, target, epsilon=0.05, min_confidence=0.0).status is not Status.OK


@pytest.mark.parametrize("noise", [0.0, 0.05, 0.15, 0.3])
@pytest.mark.parametrize("shape", [(1.0, 1.0, 1.0), (1.0, 1.0, 0.0), (10.0, 4.0, 0.3)])
def test_moved_points_are_neither_mirrored_nor_scaled(noise: float, shape: tuple[float, float, float]) -> None:
    """Whatever their number, noise and shape; epsilon is 0.05."""
    for n in (3, 4, 5, 8, 20, 100):
        for seed in range(8):
            random = np.random.default_rng([seed, n])
            source = random.uniform(0.0, 1.0, (n, 3)) * shape
            target = move(random_motion(seed), source) + 0.05 * noise * random.normal(size=(n, 3))
            evidence = cp.solve(source, target, epsilon=0.05, max_alternatives=0).evidence
            assert not evidence.mirrored
            assert not evidence.is_scaled


def test_the_scale_and_its_deviation_are_those_of_many_repetitions() -> None:
    random = np.random.default_rng(5)
    source = random.uniform(0.0, 2.0, (40, 3))
    scales, deviations = [], []
    for _ in range(150):
        found = cp.solve(source, source + random.normal(0.0, 0.01, source.shape), epsilon=0.05, max_alternatives=0)
        assert found.evidence.scale is not None
        scales.append(found.evidence.scale)
        deviations.append(found.evidence.scale_deviation)
    assert np.mean(scales) == pytest.approx(1.0, abs=0.001)
    assert np.std(scales) == pytest.approx(np.mean(deviations), rel=0.3)


def test_points_far_from_the_origin_are_judged_as_near_ones() -> None:
    """In the coordinates of a country."""
    random = np.random.default_rng(6)
    source, far = random.uniform(0.0, 10.0, (80, 3)), np.array([4.5e6, 5.4e6, 300.0])
    for target, expected in (
        (source, Status.OK),
        (source * [-1.0, 1.0, 1.0], Status.MIRRORED),
        (source * 1.02, Status.UNCERTAIN),
    ):
        near, distant = cp.solve(source, target), cp.solve(source + far, target + far)
        assert near.status is distant.status is expected
        assert near.evidence.chance == pytest.approx(distant.evidence.chance, abs=1.0)
        assert near.evidence.scale == pytest.approx(distant.evidence.scale, abs=1e-6)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("scale", [1e-80, 1e80, 1e150])
def test_huge_and_tiny_coordinates_are_judged(scale: float) -> None:
    source = np.random.default_rng(7).uniform(0.0, 10.0, (40, 3))
    assert cp.solve(source * scale, source * scale, epsilon=0.05 * scale).status is Status.OK
    mirrored = cp.solve(source * scale, source * scale * [-1.0, 1.0, 1.0], epsilon=0.05 * scale)
    assert mirrored.status is Status.MIRRORED


@pytest.mark.filterwarnings("error")
def test_points_that_determine_little_are_degenerate_and_say_so() -> None:
    line = np.outer(np.linspace(0.0, 10.0, 30), [1.0, 0.0, 0.0])
    for source in (line, np.ones((30, 3)), np.repeat(line[::15], 10, axis=0)):
        pose = cp.solve(source, source)
        assert pose.status is Status.DEGENERATE
        assert kinds(pose)[0] == "degenerate"
        assert "rotation about" in pose.reasons[0].text


def test_copies_of_associations_change_nothing() -> None:
    random = np.random.default_rng(8)
    source = random.uniform(0.0, 10.0, (30, 3))
    pairs = np.repeat(np.arange(30), 3)[:, None].repeat(2, axis=1)
    pose = cp.solve(source, move(random_motion(9), source), pairs)
    assert pose.status is Status.OK
    assert pose.num_inliers == 30
    assert cp.rotation_error(pose.T_target_source, random_motion(9)) < 1e-6


def test_real_matches_that_are_mirrored_or_scaled_are_not_believed(data_folder: Path) -> None:
    """KITTI, 10 m apart: as they are, the answer is right; never OK and more than 5° or 0.6 m off."""
    for name in sorted((data_folder / "scans" / "kitti").glob("*.npz")):
        with np.load(name) as stored:
            source, target, truth = (stored[key].astype(np.float64) for key in ("kp_src", "kp_dst", "T"))
        for epsilon in (0.3, 0.6):
            pose = cp.solve(source, target, epsilon=epsilon, max_alternatives=1)
            assert pose.status is Status.OK
            assert cp.rotation_error(pose.T_target_source, truth) < 5.0
            assert cp.translation_error(pose.T_target_source, truth) < 0.6
            assert pose.reasons == ()
        mirrored = cp.solve(source * [1.0, -1.0, 1.0], target, epsilon=0.6, max_alternatives=1)
        assert mirrored.status is Status.MIRRORED
        scaled = cp.solve(source, 1.05 * target, epsilon=0.6, max_alternatives=1)
        assert scaled.status is not Status.OK


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_better_hand_is_a_transform_that_moves_points_where_it_says(sign: float) -> None:
    random = np.random.default_rng(7)
    source = random.uniform([2.0, -5.0, -2.0], [8.0, 1.0, 4.0], (40, 3))
    turn = np.linalg.qr(random.normal(size=(3, 3)))[0]
    turn *= sign * np.sign(np.linalg.det(turn))
    target = source @ turn.T + np.array([1.0, 2.0, 3.0])
    hands = fit_both_hands((source, target), np.arange(20), np.ones(20), 0.05)
    assert hands.mirrored is (sign < 0.0)
    assert hands.transform[:3, :3] == pytest.approx(turn)
    assert source @ hands.transform[:3, :3].T + hands.transform[:3, 3] == pytest.approx(target)
    assert hands.moved == pytest.approx(target)
