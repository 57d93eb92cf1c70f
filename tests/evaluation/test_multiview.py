"""Poses of many scans, judged by the motions between pairs of them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from scipy.spatial.transform import Rotation

import clipperplus as cp
from clipperplus.evaluation import evaluate_poses, relative_poses

Array = npt.NDArray[np.float64]
PAIRS = [(0, 1), (1, 0), (0, 2), (2, 3), (3, 4), (1, 4)]


def random_motions(seed: int, count: int) -> Array:
    random = np.random.default_rng(seed)
    motions = np.tile(np.eye(4), (count, 1, 1))
    motions[:, :3, :3] = Rotation.random(count, random_state=seed).as_matrix()
    motions[:, :3, 3] = 5.0 * random.normal(size=(count, 3))
    return motions


def truths(poses: Array) -> Array:
    return np.array([np.linalg.inv(poses[i]) @ poses[j] for i, j in PAIRS])


def test_a_relative_pose_takes_points_of_one_scan_to_where_the_other_has_them() -> None:
    poses = random_motions(0, 5)
    world = np.random.default_rng(1).normal(size=(10, 3))
    scans = [cp.apply_transform(np.linalg.inv(pose), world) for pose in poses]
    for (i, j), T in zip(PAIRS, relative_poses(poses, PAIRS), strict=True):
        assert np.allclose(cp.apply_transform(T, scans[j]), scans[i])


def test_the_frame_of_the_map_does_not_matter() -> None:
    poses = random_motions(2, 5)
    result = evaluate_poses(random_motions(3, 1) @ poses, PAIRS, truths(poses))
    assert result.recall == 1.0
    assert result.translation_error.max() < 1e-12


def test_a_scan_that_is_out_of_place_spoils_its_pairs_and_no_others() -> None:
    poses = random_motions(4, 5)
    wrong = poses.copy()
    wrong[2, :3, 3] += (0.0, 0.31, 0.0)  # 30 cm are allowed
    result = evaluate_poses(wrong, PAIRS, truths(poses))
    assert result.success.tolist() == [2 not in pair for pair in PAIRS]
    assert result.recall == 4 / 6
    wrong[2, :3, 3] -= (0.0, 0.02, 0.0)
    assert evaluate_poses(wrong, PAIRS, truths(poses)).recall == 1.0
    assert evaluate_poses(wrong, PAIRS, truths(poses), protocol=cp.evaluate.Protocol("cm", None, 0.01)).recall == 4 / 6


@pytest.mark.parametrize("missing", [None, np.full((4, 4), np.nan)])
def test_a_scan_without_a_place_is_no_success(missing: Array | None) -> None:
    poses = random_motions(5, 5)
    result = evaluate_poses([*poses[:4], missing], PAIRS, truths(poses))
    assert result.success.tolist() == [4 not in pair for pair in PAIRS]
    assert np.isnan(result.rotation_error).tolist() == [4 in pair for pair in PAIRS]


def test_scans_in_different_frames_have_no_known_relation() -> None:
    poses = random_motions(6, 5)
    for components, apart in (
        ([[0, 1, 2], np.array([3, 4])], [(2, 3), (1, 4)]),
        ([[4, 3], [0], [2, 1]], [(0, 1), (1, 0), (0, 2), (2, 3), (1, 4)]),
        ([[0, 1, 2, 3]], [(3, 4), (1, 4)]),  # the last one is in none
        ([], PAIRS),
    ):
        result = evaluate_poses(poses, PAIRS, truths(poses), components=components)
        assert result.success.tolist() == [pair not in apart for pair in PAIRS]
        assert result.recall == (6 - len(apart)) / 6


def test_consecutive_scans_and_information_are_taken_as_for_pairs() -> None:
    poses = random_motions(7, 5)
    result = evaluate_poses(
        poses,
        PAIRS,
        truths(poses),
        protocol="3DMatch-RMSE",
        information=np.tile(np.eye(6), (6, 1, 1)),
        ignore_consecutive=True,
    )
    assert result.counted.tolist() == [False, False, True, False, False, True]
    assert result.recall == 1.0


def test_without_pairs_there_is_no_recall() -> None:
    assert evaluate_poses(random_motions(8, 2), [], []).recall is None
    assert evaluate_poses([], [], []).recall is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"pairs": [(0, 5)]}, r"pairs: expected numbers of 5 scans, got \(0, 5\)"),
        ({"pairs": [(-1, 2)]}, r"pairs: expected numbers of 5 scans, got \(-1, 2\)"),
        ({"pairs": [(0, 1, 2)]}, r"pairs: expected shape \(m, 2\)"),
        ({"pairs": [(0.0, 1.0)]}, "pairs: expected integers"),
        (
            {"components": [[0, 1], [1, 2]]},
            r"components: expected each of 5 scans at most once, got component 1 .*1, 2",
        ),
        ({"components": [[0, 0]]}, "components: expected each of 5 scans at most once"),
        ({"components": [[5]]}, "components: expected each of 5 scans at most once"),
        ({"components": [[0.5]]}, "components: expected integers"),
        ({"poses": np.eye(4)}, r"poses: expected numbers of shape \(k, 4, 4\)"),
        ({"poses": 2.0 * random_motions(0, 5)}, "poses: pose 0 is no rotation"),
    ],
)
def test_wrong_arguments_are_refused(options: dict[str, object], message: str) -> None:
    arguments = {"poses": random_motions(9, 5), "pairs": PAIRS} | options
    with pytest.raises(cp.ClipperPlusError, match=message):
        relative_poses(**arguments)  # type: ignore[arg-type]
