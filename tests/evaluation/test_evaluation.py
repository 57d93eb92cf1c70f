"""Protocols at their thresholds, the RMSE against points that are moved, recall by hand and on real truths."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import clipperplus as cp
from clipperplus.evaluation import PROTOCOLS, Protocol, evaluate_pairs, information_rmse
from clipperplus.geometry.files import read_info, read_log

Array = npt.NDArray[np.float64]


def motion(rotation_vector: npt.ArrayLike = (0, 0, 0), translation: npt.ArrayLike = (0, 0, 0)) -> Array:
    T = np.eye(4)
    T[:3, :3] = Rotation.from_rotvec(rotation_vector).as_matrix()
    T[:3, 3] = translation
    return T


def random_motions(seed: int, count: int) -> Array:
    random = np.random.default_rng(seed)
    return np.array([motion(random.normal(size=3), random.normal(size=3)) for _ in range(count)])


def information(points: Array, factor: float = 2.0) -> Array:
    """Sum of G^T G with G = (I, -factor [p]×)."""
    total = np.zeros((6, 6))
    for x, y, z in factor * points:
        G = np.hstack((np.eye(3), [[0.0, z, -y], [-z, 0.0, x], [y, -x, 0.0]]))
        total += G.T @ G
    return total


@pytest.mark.parametrize(
    ("name", "degrees", "metres"), [("3DMatch", 15.0, 0.3), ("KITTI", 5.0, 0.6), ("KITTI-2m", 5.0, 2.0)]
)
def test_a_pair_is_registered_below_both_bounds(name: str, degrees: float, metres: float) -> None:
    angle, below = np.radians(degrees), 1.0 - 1e-9
    cases = [
        (motion((0, 0, below * angle), (below * metres, 0, 0)), True),
        (motion((0, (2.0 - below) * angle, 0), (0, 0, 0)), False),
        (motion((0, 0, 0), (0, 0, metres)), False),  # at the bound is not below it
        (motion((0, 0, 3.0), (0, 0, 3.0)), False),
        (motion(), True),
    ]
    truths = random_motions(1, len(cases))
    truths[2] = np.eye(4)  # so that no bit of the translation is rounded
    estimates = truths @ np.array([error for error, _ in cases])
    result = evaluate_pairs(estimates, truths, protocol=name)
    assert result.success.tolist() == [wanted for _, wanted in cases]
    assert result.recall == 2 / 5
    assert result.rmse is None
    assert result.rotation_error[0] == pytest.approx(below * degrees, rel=1e-12)
    assert result.translation_error[0] == pytest.approx(below * metres, rel=1e-12)


def test_the_rmse_protocol_takes_what_is_at_the_bound() -> None:
    shifts = [0.0, 0.1999, 0.2, 0.2001, 5.0]
    estimates = [motion(translation=(0, shift, 0)) for shift in shifts]
    matrices = np.tile(100.0 * np.eye(6), (5, 1, 1))
    result = evaluate_pairs(estimates, np.tile(np.eye(4), (5, 1, 1)), protocol="3DMatch-RMSE", information=matrices)
    assert result.rmse is not None
    assert np.allclose(result.rmse, shifts, atol=1e-15)
    assert result.success.tolist() == [True, True, True, False, False]
    assert result.recall == 3 / 5


def test_the_rmse_by_hand() -> None:
    # A quarter turn around z has the quaternion (0, 0, √½, √½): e = (1, 2, 3, 0, 0, √½), translation first.
    matrix = np.diag([4.0, 4.0, 4.0, 100.0, 100.0, 6.0])
    matrix[0, 5] = matrix[5, 0] = 2.0
    squared = (4.0 * (1 + 4 + 9) + 6.0 * 0.5 + 2.0 * 2.0 * np.sqrt(0.5)) / 4.0
    error = motion((0, 0, np.pi / 2), (1, 2, 3))
    truth = random_motions(4, 1)
    assert information_rmse(truth @ error, truth, matrix[None])[0] == pytest.approx(np.sqrt(squared), rel=1e-13)
    # another half: the quaternion of a turn by -90° is (0, 0, -√½, √½)
    squared -= 2.0 * 2.0 * 2.0 * np.sqrt(0.5) / 4.0
    error = motion((0, 0, -np.pi / 2), (1, 2, 3))
    assert information_rmse(truth @ error, truth, matrix[None])[0] == pytest.approx(np.sqrt(squared), rel=1e-13)


@settings(max_examples=100)
@given(st.integers(0, 2**32 - 1), st.sampled_from([1e-6, 1e-4, 1e-2]))
def test_the_rmse_is_how_far_points_are_off(seed: int, size: float) -> None:
    random = np.random.default_rng(seed)
    points = random.normal(size=(30, 3)) + random.normal(size=3)
    truth = random_motions(seed, 1)[0]
    estimate = truth @ motion(size * random.normal(size=3), size * random.normal(size=3))
    moved = cp.apply_transform(estimate, points) - cp.apply_transform(truth, points)
    wanted = np.sqrt((moved**2).sum(axis=1).mean())
    rmse = information_rmse(estimate[None], truth[None], information(points)[None])
    assert rmse[0] == pytest.approx(wanted, rel=20.0 * size, abs=1e-14)


def test_pairs_without_information_are_judged_by_rotation_and_translation_and_counted() -> None:
    """One matrix of 3DLoMatch is zero: 0 / 0 is no error."""
    errors = [
        (motion((0, 0, np.radians(14.9)), (0.29, 0, 0)), True),
        (motion((0, 0, np.radians(15.1)), (0, 0, 0)), False),
        (motion((0, 0, 0), (0, 0.31, 0)), False),
        (None, False),
        (motion((0, 0, 0), (0, 0.25, 0)), False),  # with information: an RMSE of 0.25 m
    ]
    truths = random_motions(11, len(errors))
    estimates = [None if error is None else truth @ error for truth, (error, _) in zip(truths, errors, strict=True)]
    matrices = np.zeros((5, 6, 6))
    matrices[4] = 50.0 * np.eye(6)
    scenes = ["hall", "hall", "attic", "attic", "cellar"]
    options: dict[str, Any] = {
        "information": matrices,
        "scenes": scenes,
        "pairs": [(0, 9), (0, 1), (0, 5), (1, 9), (2, 4)],
    }
    result = evaluate_pairs(estimates, truths, protocol="3DMatch-RMSE", **options)
    assert result.success.tolist() == [wanted for _, wanted in errors]
    assert result.without_rmse.tolist() == [True, True, True, True, False]
    assert [row.without_rmse for row in result.rows()] == [2, 2, 0, 4]
    assert result.rmse is not None
    assert np.isnan(result.rmse).tolist() == [True, True, True, True, False]
    assert str(result).splitlines()[-1] == "4 pairs have no information and no RMSE: judged by 15° and 0.3 m instead"
    apart = evaluate_pairs(estimates, truths, protocol="3DMatch-RMSE", ignore_consecutive=True, **options)
    assert [row.without_rmse for row in apart.rows()] == [1, 2, 0, 3]
    assert "3 pairs have no information" in str(apart)


def test_bounds_of_the_protocol_itself_come_before_those_of_3dmatch() -> None:
    estimates = [motion(translation=(shift, 0, 0)) for shift in (0.09, 0.11)]
    rule = Protocol("mine", max_translation=0.1, max_rmse=1.0)
    eyes, zeros = np.tile(np.eye(4), (2, 1, 1)), np.zeros((2, 6, 6))
    result = evaluate_pairs(estimates, eyes, protocol=rule, information=zeros)
    assert result.success.tolist() == [True, False]
    assert "judged by 15° and 0.1 m instead" in str(result)
    assert evaluate_pairs([None, eyes[0]], eyes, protocol=rule, information=zeros).success.tolist() == [False, True]
    plain = evaluate_pairs(estimates, eyes, protocol="3DMatch", information=zeros)  # does not ask for the RMSE
    assert not plain.without_rmse.any()
    assert "information" not in str(plain)


def test_answers_that_are_missing_are_failures() -> None:
    truths = random_motions(2, 4)
    estimates: list[Array | None] = [truths[0], None, np.full((4, 4), np.nan), truths[3].copy()]
    estimates[3][1, 3] = np.nan  # type: ignore[index]
    matrices = np.tile(np.eye(6), (4, 1, 1))
    for name in PROTOCOLS:
        result = evaluate_pairs(estimates, truths, protocol=name, information=matrices)
        assert result.success.tolist() == [True, False, False, False]
        assert result.recall == 1 / 4
        for errors in (result.rotation_error, result.translation_error, result.rmse):
            assert errors is not None
            assert np.isnan(errors).tolist() == [False, True, True, True]


def evaluation() -> cp.evaluate.Evaluation:
    truths = random_motions(3, 6)
    estimates: list[Array | None] = list(truths @ motion((0, 0, np.radians(2.0)), (0.1, 0, 0)))
    estimates[1] = None
    estimates[5] = truths[5] @ motion(translation=(1, 0, 0))
    scenes = ["kitchen", "hotel", "kitchen", "kitchen", "hotel", "kitchen"]
    pairs = [(0, 1), (0, 2), (3, 5), (1, 9), (4, 5), (2, 4)]
    return evaluate_pairs(estimates, truths, scenes=scenes, pairs=pairs, ignore_consecutive=True)


def test_recall_by_pair_and_by_scene() -> None:
    result = evaluation()  # without the first and the fifth pair, which are consecutive
    assert result.success.tolist() == [True, False, True, True, True, False]
    assert result.counted.tolist() == [False, True, True, True, False, True]
    assert result.recall == 2 / 4
    assert result.scene_recall == {"kitchen": 2 / 3, "hotel": 0.0}
    assert result.mean_recall == 1 / 3
    rows = result.rows()
    assert [(row.scene, row.pairs, row.registered) for row in rows] == [
        ("kitchen", 3, 2),
        ("hotel", 1, 0),
        ("all pairs", 4, 2),
    ]
    assert rows[2].rotation_error == pytest.approx(2.0)
    assert rows[2].translation_error == pytest.approx(0.1)
    assert rows[1].rotation_error is None


def test_the_table_reads_well() -> None:
    assert str(evaluation()).splitlines() == [
        "scene           pairs  registered  recall  rotation °  translation m",
        "kitchen             3           2  0.6667       2.000         0.1000",
        "hotel               1           0  0.0000           –              –",
        "all pairs           4           2  0.5000       2.000         0.1000",
        "mean of scenes                     0.3333",
    ]


def test_without_pairs_there_is_no_recall() -> None:
    for options in ({}, {"pairs": (), "ignore_consecutive": True}, {"information": (), "protocol": "3DMatch-RMSE"}):
        result = evaluate_pairs([], (), **options)  # type: ignore[arg-type]
        assert result.recall is None
        assert result.mean_recall is None
        assert result.scene_recall == {}
        assert str(result)


@given(st.integers(0, 2**32 - 1))
def test_errors_do_not_depend_on_the_frames(seed: int) -> None:
    truths, errors, left, right = random_motions(seed, 12).reshape(4, 3, 4, 4)
    matrices = np.array([information(np.random.default_rng(seed).normal(size=(5, 3)))] * 3)
    before = evaluate_pairs(truths @ errors, truths, information=matrices)
    turned = left.copy()
    turned[:, :3, 3] = 0.0
    after = evaluate_pairs(turned @ truths @ errors, turned @ truths, information=matrices)
    assert before.rmse is not None
    assert after.rmse is not None
    assert np.allclose(before.rotation_error, after.rotation_error, atol=1e-9)
    assert np.allclose(before.translation_error, after.translation_error, atol=1e-12)
    assert np.allclose(before.rmse, after.rmse, atol=1e-12)
    both = evaluate_pairs(left @ truths @ errors @ right, left @ truths @ right)
    conjugated = np.linalg.inv(right) @ errors @ right
    assert np.allclose(both.rotation_error, before.rotation_error, atol=1e-9)
    assert np.allclose(both.rotation_error, cp.rotation_error(conjugated, np.eye(4)), atol=1e-9)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"protocol": "2DMatch"}, "protocol: expected one of 3DMatch, 3DMatch-RMSE, KITTI, KITTI-2m or a Protocol"),
        ({"protocol": 3}, "protocol: expected one of"),
        ({"protocol": "3DMatch-RMSE"}, "information: expected the matrices of the pairs, which 3DMatch-RMSE needs"),
        ({"information": np.ones((2, 6, 6))}, "information: expected matrices of shape"),
        ({"information": np.diag([0.0, 1, 1, 1, 1, 1])[None].repeat(3, 0)}, "matrix 0 is no information matrix"),
        ({"information": np.stack([np.eye(6), np.full((6, 6), np.nan), np.eye(6)])}, "matrix 1 is no information"),
        ({"information": np.stack([np.eye(6), np.eye(6), np.eye(6) + np.eye(6, k=1)])}, "matrix 2 is .*: expected sym"),
        (
            {"information": np.diag([1.0, 1, 1, 1, 1, -1e-3])[None].repeat(3, 0)},
            "without negative eigenvalues, or zero",
        ),
        ({"information": np.zeros((3, 5, 5))}, "information: expected matrices of shape"),
        ({"information": np.full((3, 6, 6), "x")}, "information: expected numbers"),
        ({"scenes": ["a"]}, "scenes: expected one per pair, 3, got 1"),
        ({"ignore_consecutive": True}, "pairs: expected the numbers of the fragments"),
        ({"ignore_consecutive": True, "pairs": [(1, 2)]}, "pairs: expected shape"),
        ({"ignore_consecutive": True, "pairs": np.ones((3, 2))}, "pairs: expected integers"),
        ({"estimates": np.eye(4)}, "estimates: expected numbers of shape"),
        ({"estimates": [np.eye(4), np.eye(4)]}, "estimates: expected numbers of shape"),
        ({"estimates": [np.eye(4), None, 2.0 * np.eye(4)]}, "estimates: pose 2 is no rotation"),
        ({"estimates": [np.eye(4), None, np.full((4, 4), np.inf)]}, "estimates: pose 2 is no rotation"),
        ({"truths": np.zeros((3, 4, 4))}, "truths: pose 0 is no rotation"),
    ],
)
def test_wrong_arguments_are_refused(options: dict[str, object], message: str) -> None:
    eyes = np.tile(np.eye(4), (3, 1, 1))
    arguments = {"estimates": eyes, "truths": eyes} | options
    with pytest.raises(cp.ClipperPlusError, match=message):
        evaluate_pairs(**arguments)  # type: ignore[arg-type]


def test_protocols_are_checked() -> None:
    with pytest.raises(cp.OptionError, match="mine: expected at least one of max_rotation_deg"):
        Protocol("mine")
    with pytest.raises(cp.OptionError, match="max_rmse: expected a finite number above 0"):
        Protocol("mine", max_rmse=0.0)
    eyes = np.tile(np.eye(4), (2, 1, 1))
    assert evaluate_pairs(eyes, eyes, protocol=Protocol("mine", max_translation=1e-9)).recall == 1.0


def test_real_truths_are_judged_as_by_the_original_evaluation(data_folder: Path) -> None:
    truths, matrices, pairs, scenes = [], [], [], []
    for folder in sorted((data_folder / "scans" / "3dmatch" / "benchmarks" / "3DMatch").iterdir()):
        log = read_log(folder / "gt.log")
        truths.append(log.poses)
        matrices.append(read_info(folder / "gt.info").matrices)
        pairs.append(log.pairs)
        scenes += [folder.name] * len(log.poses)
    true, info, numbers = map(np.concatenate, (truths, matrices, pairs))
    random = np.random.default_rng(5)
    sizes = random.uniform(0.0, 0.4, len(true))
    errors = [motion(size * random.normal(size=3), 0.5 * size * random.normal(size=3)) for size in sizes]
    estimates = true @ np.array(errors)
    result = evaluate_pairs(
        estimates,
        true,
        protocol="3DMatch-RMSE",
        scenes=scenes,
        pairs=numbers,
        information=info,
        ignore_consecutive=True,
    )
    good: dict[str, list[bool]] = {}
    for scene, (i, j), T, truth, matrix in zip(scenes, numbers, estimates, true, info, strict=True):
        if j - i > 1:
            error = np.linalg.inv(truth) @ T
            x, y, z, w = Rotation.from_matrix(error[:3, :3]).as_quat()
            e = np.append(error[:3, 3], np.copysign(1.0, w) * np.array([x, y, z]))
            good.setdefault(scene, []).append(bool(e @ matrix @ e / matrix[0, 0] <= 0.2**2))
    assert {scene: len(those) for scene, those in good.items()} == {
        "7-scenes-redkitchen": 449,
        "sun3d-hotel_uc-scan3": 182,
        "sun3d-hotel_umd-maryland_hotel1": 78,
    }
    assert result.scene_recall == {scene: np.mean(those) for scene, those in good.items()}
    assert result.mean_recall == pytest.approx(np.mean([np.mean(those) for those in good.values()]))
    assert 0.1 < result.mean_recall < 0.9
    perfect = evaluate_pairs(true, true, protocol="3DMatch-RMSE", scenes=scenes, information=info)
    assert perfect.recall == perfect.mean_recall == 1.0


def test_the_official_truths_of_3dlomatch_are_judged_with_the_pair_that_has_no_information(data_folder: Path) -> None:
    name = "sun3d-home_md-home_md_scan9_2012_sep_30"
    folder = data_folder / "scans" / "3dmatch_more" / "benchmarks" / "3DLoMatch" / name
    if not folder.exists():
        pytest.skip(f"no {folder}")
    log, info = read_log(folder / "gt.log"), read_info(folder / "gt.info")
    assert np.array_equal(log.pairs, info.pairs)
    sizes = np.linspace(0.0, 1.0, len(log.poses))
    estimates = log.poses @ np.array([motion(translation=(0, 0, size)) for size in sizes])
    result = evaluate_pairs(estimates, log.poses, protocol="3DMatch-RMSE", information=info.matrices)
    assert log.pairs[result.without_rmse].tolist() == [[23, 25]]
    assert result.success.tolist() == (sizes < np.where(result.without_rmse, 0.3, 0.2)).tolist()
    assert "1 pair has no information" in str(result)
