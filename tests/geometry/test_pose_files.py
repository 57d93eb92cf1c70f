"""Files of poses: what is written comes back, real logs are read whole, and what is broken is refused with its line."""

from __future__ import annotations

import contextlib
import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from clipperplus import ClipperPlusError, FileFormatError, LandmarkError
from clipperplus.geometry.files import (
    PairPoses,
    Trajectory,
    read_info,
    read_kitti,
    read_log,
    read_poses,
    read_transform,
    read_tum,
    write_kitti,
    write_log,
    write_transform,
    write_tum,
)

EYE = "1 0 0 0\n0 1 0 0\n0 0 1 0\n0 0 0 1\n"
SIX = "".join(" ".join(map(str, row)) + "\n" for row in np.diag([9, 9, 9, 5, 6, 7]).tolist())
KITTI = "1 0 0 4 0 1 0 5 0 0 1 6\n"
TUM = "1305031102.1758 1.3563 0.6305 1.6380 0.6132 0.5962 -0.3311 -0.3986\n"
READERS: dict[str, tuple[Callable[[Path], Any], str]] = {
    "log": (read_log, f"0 1 60\n{EYE}0 2 60\n{EYE}"),
    "info": (read_info, f"0 1 60\n{SIX}0 2 60\n{SIX}"),
    "tum": (read_tum, f"# timestamp tx ty tz qx qy qz qw\n{TUM}{TUM}"),
    "kitti": (read_kitti, KITTI + KITTI),
    "transform": (read_transform, EYE),
    "poses": (read_poses, EYE + EYE),
}


def motions(seed: int, count: int) -> npt.NDArray[np.float64]:
    random = np.random.default_rng(seed)
    poses = np.tile(np.eye(4), (count, 1, 1))
    for pose in poses:
        pose[:3, :3] = Rotation.from_quat(random.normal(size=4)).as_matrix()
    poses[:, :3, 3] = random.normal(size=(count, 3)) * 10.0 ** random.integers(-12, 9, (count, 1))
    return poses


def write(folder: Path, content: str | bytes) -> Path:
    path = folder / "poses.txt"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@settings(max_examples=60)
@given(st.integers(0, 2**32 - 1), st.integers(0, 4))
def test_what_is_written_comes_back(tmp_path_factory: pytest.TempPathFactory, seed: int, count: int) -> None:
    path = tmp_path_factory.getbasetemp() / "poses.txt"
    random = np.random.default_rng(seed)
    poses = motions(seed, count)
    poses[:, :3, :3] *= 1.0 + 1e-4 * random.normal()  # as slightly off as truths are
    write_kitti(path, poses)
    assert np.array_equal(read_kitti(path), poses)
    pairs = random.integers(0, 60, (count, 2))
    write_log(path, PairPoses(pairs, poses, 60))
    log = read_log(path)
    assert np.array_equal(log.pairs, pairs)
    assert np.array_equal(log.poses, poses)
    assert log.num_fragments == (60 if count else 0)
    times = 1.3e9 + np.sort(random.uniform(size=count))
    exact = motions(seed, count)
    write_tum(path, Trajectory(times, exact))
    read = read_tum(path)
    assert np.array_equal(read.timestamps, times)
    assert np.array_equal(read.poses[:, :3, 3], exact[:, :3, 3])
    assert np.allclose(read.poses[:, :3, :3], exact[:, :3, :3], atol=5e-15)
    for pose in poses:
        write_transform(path, pose)
        assert read_transform(path).tobytes() == pose.tobytes()


def test_files_may_be_gzipped(tmp_path: Path) -> None:
    poses = motions(0, 3)
    for name in ("poses.txt", "poses.txt.gz"):
        write_kitti(tmp_path / name, poses)
        assert np.array_equal(read_kitti(tmp_path / name), poses)
    packed = (tmp_path / "poses.txt.gz").read_bytes()
    assert gzip.decompress(packed) == (tmp_path / "poses.txt").read_bytes()
    with pytest.raises(FileFormatError, match="not a complete gzip file"):
        read_kitti(write(tmp_path, packed[:-3]).rename(tmp_path / "cut.gz"))


def test_negative_zeros_come_back(tmp_path: Path) -> None:
    T = np.eye(4)
    T[0, 1] = T[2, 3] = -0.0
    write_transform(tmp_path / "T.txt", T)
    assert read_transform(tmp_path / "T.txt").tobytes() == T.tobytes()


def test_quaternions_are_read_as_scipy_reads_them(tmp_path: Path) -> None:
    read = read_tum(write(tmp_path, "# a comment\n\n" + TUM))
    numbers = [float(word) for word in TUM.split()]
    assert read.timestamps.tolist() == numbers[:1]
    assert read.poses[0, :3, 3].tolist() == numbers[1:4]
    assert np.allclose(read.poses[0, :3, :3], Rotation.from_quat(numbers[4:]).as_matrix(), atol=1e-15)


@pytest.mark.parametrize(
    "comment",
    [
        "#t x y z qw qx qy qz",
        "# timestamp,tx,ty,tz,q_w,q_x,q_y,q_z",
        "#timestamp [ns], p_RS_R_x [m], p_RS_R_y [m], p_RS_R_z [m], q_RS_w [], q_RS_x [], q_RS_y [], q_RS_z []",
        "# time qx qy qz qw tx ty tz",
        "# t x y z qw qi qj qk",
        "# Time PX PY PZ QW QX QY QZ",
        "# t x y z orientation.w orientation.x orientation.y orientation.z",
        "# a trajectory\n\n# rotations are (qw, qx, qy, qz)",
    ],
)
def test_quaternions_that_a_comment_names_in_another_order_are_refused(tmp_path: Path, comment: str) -> None:
    path = write(tmp_path, f"{comment}\n{TUM}")
    for reader in (read_tum, read_poses):
        line = comment.count("\n") + 1
        with pytest.raises(
            FileFormatError, match=f"line {line}: expected columns timestamp tx ty tz qx qy qz qw, got '#"
        ):
            reader(path)


@pytest.mark.parametrize(
    "comment",
    [
        "# timestamp tx ty tz qx qy qz qw",
        "#timestamp [s], p_x [m], p_y [m], p_z [m], q_x [], q_y [], q_z [], q_w []",
        "# the quaternion is qx qy qz qw, of body to world",
        "# t x y z qi qj qk qw",
        "# qw is the last one",
        "# quick fix w z y x",
        f"# qw qx qy qz {'x' * 2000}",
    ],
)
def test_other_comments_above_a_trajectory_hinder_nothing(tmp_path: Path, comment: str) -> None:
    assert len(read_tum(write(tmp_path, f"{comment}\n{TUM}# qw qx qy qz\n")).poses) == 1


def test_logs_are_read_whatever_the_spaces_and_line_ends(tmp_path: Path) -> None:
    body = EYE.replace(" ", "\t ").replace("\n", "\t\r\n")
    log = read_log(write(tmp_path, f"\r\n3\t 7\t 60\t\r\n{body}\r\n8 9 61\r\n{body}"))
    assert log.pairs.tolist() == [[3, 7], [8, 9]]
    assert log.num_fragments == 61
    assert np.array_equal(log.poses, np.tile(np.eye(4), (2, 1, 1)))


def test_files_without_poses_are_empty(tmp_path: Path) -> None:
    path = write(tmp_path, "\n# nothing\n")
    assert read_log(path).poses.shape == (0, 4, 4)
    assert read_log(path).pairs.shape == (0, 2)
    assert read_info(path).matrices.shape == (0, 6, 6)
    assert read_tum(path).poses.shape == (0, 4, 4)
    assert read_kitti(path).shape == (0, 4, 4)


REAL = [
    ("3DMatch", "7-scenes-redkitchen", 506, 60),
    ("3DMatch", "sun3d-hotel_uc-scan3", 226, 55),
    ("3DMatch", "sun3d-hotel_umd-maryland_hotel1", 104, 57),
    ("3DLoMatch", "7-scenes-redkitchen", 525, 60),
    ("3DLoMatch", "sun3d-hotel_uc-scan3", 218, 55),
    ("3DLoMatch", "sun3d-hotel_umd-maryland_hotel1", 158, 57),
]


@pytest.mark.parametrize(("benchmark", "scene", "count", "fragments"), REAL)
def test_real_logs_are_read_whole(
    data_folder: Path, tmp_path: Path, benchmark: str, scene: str, count: int, fragments: int
) -> None:
    folder = data_folder / "scans" / "3dmatch" / "benchmarks" / benchmark / scene
    log, info = read_log(folder / "gt.log"), read_info(folder / "gt.info")
    assert len(log.poses) == len(info.matrices) == count
    assert log.num_fragments == info.num_fragments == fragments
    assert np.array_equal(log.pairs, info.pairs)
    words = (folder / "gt.log").read_text().split()
    table = np.array(words, dtype=np.float64).reshape(-1, 19)
    assert np.array_equal(table[:, 3:].reshape(-1, 4, 4), log.poses)
    words = (folder / "gt.info").read_text().split()
    assert np.array_equal(np.array(words, dtype=np.float64).reshape(-1, 39)[:, 3:].reshape(-1, 6, 6), info.matrices)
    write_log(tmp_path / "gt.log", log)
    again = read_log(tmp_path / "gt.log")
    assert again.poses.tobytes() == log.poses.tobytes()
    assert np.array_equal(again.pairs, log.pairs)


def test_an_information_matrix_of_zeros_is_read_as_it_is(tmp_path: Path) -> None:
    """The published one of fragments 23 and 25 of a scene of 3DLoMatch is."""
    path = tmp_path / "gt.info"
    path.write_text(f"0 1 60\n{SIX}23 25 60\n" + "0 0 0 0 0 0\n" * 6)
    info = read_info(path)
    assert info.pairs.tolist() == [[0, 1], [23, 25]]
    assert np.array_equal(info.matrices, [np.diag([9, 9, 9, 5, 6, 7]), np.zeros((6, 6))])


@pytest.mark.parametrize(
    ("kind", "content", "message"),
    [
        ("log", "0 1\n" + EYE, "line 1: expected two fragments and their number, got '0 1'"),
        ("log", f"0 1 2\n{EYE}\n0 -1 2\n{EYE}", "line 7: expected two fragments"),
        ("log", "0 1 9999999999\n" + EYE, "line 1: expected two fragments"),
        ("log", f"0 1 {'9' * 5000}\n{EYE}", "line 1: expected two fragments"),
        ("log", f"0 1 2\n{EYE}0 2 2\n1 0 0 0\n", "line 6: expected 4 lines after it, got 1"),
        ("log", "0 1 2\n" + EYE.replace("1 0 0 0", "1 0 0"), "line 2: expected 4 numbers, got '1 0 0'"),
        ("log", "0 1 2\n" + EYE.replace("1 0 0 0", "1 0 0 1_0"), "line 2: expected 4 numbers"),
        ("log", f"0 1 2\n{EYE}0 2 2\n{EYE.replace('1', '2')}", "line 6: expected a rotation and a translation"),
        ("log", "0 1 2\n" + EYE.replace("0 1 0 0", "0 -1 0 0"), "line 1: expected a rotation and a translation"),
        ("info", "0 1 2\n" + SIX.replace("9 0", "nan 0"), "line 1: expected a symmetric information matrix"),
        ("info", "0 1 2\n" + SIX.replace("0 0 0 5", "1 0 0 5"), "line 1: expected a symmetric information matrix"),
        ("info", "0 1 2\n" + SIX.replace("9", "0"), "line 1: expected a symmetric information matrix"),
        ("info", "0 1 2\n" + SIX.replace("7", "-7"), "line 1: expected .* without negative eigenvalues"),
        ("info", "0 1 2\n" + SIX + "0 2 2\n" + SIX.replace("9 0", "9 10", 1).replace("0 9", "10 9", 1), "line 8: "),
        ("tum", TUM + "1 2 3 4 5 6 7\n", "line 2: expected 8 numbers"),
        ("tum", TUM + "1 2 3 4 0 0 0 0\n", "line 2: expected finite numbers and a quaternion of length 1"),
        ("tum", TUM + "1 inf 3 4 0 0 0 1\n", "line 2: expected finite numbers and a quaternion of length 1"),
        ("kitti", "# poses\n" + KITTI + "1 2 3\n", "line 3: expected 12 numbers"),
        ("kitti", KITTI + KITTI.replace("1 0 0 4", "1 0 0 nan"), "line 2: expected a rotation"),
        ("transform", EYE + EYE, "expected 4 lines of 4 numbers, got 8 lines"),
        ("transform", "", "expected 4 lines of 4 numbers, got 0 lines"),
        ("transform", EYE.replace("0 0 0 1", "0 0 1 1"), "line 1: expected a rotation and a translation"),
    ],
)
def test_broken_files_are_refused_with_their_line(tmp_path: Path, kind: str, content: str, message: str) -> None:
    path = write(tmp_path, content)
    with pytest.raises(FileFormatError, match=message) as caught:
        READERS[kind][0](path)
    assert str(caught.value).startswith(f"{path}: ")


def test_rotations_are_kept_as_they_are_within_the_bound(tmp_path: Path) -> None:
    T = np.eye(4)
    T[0, 0] = 1.004
    path = write(tmp_path, "\n".join(" ".join(map(str, row)) for row in T.tolist()))
    assert np.array_equal(read_transform(path), T)
    write(tmp_path, path.read_text().replace("1.004", "1.03"))
    with pytest.raises(FileFormatError, match="expected a rotation"):
        read_transform(path)


@pytest.mark.parametrize("scale", [1e-3, 0.994, 1.004, 1.007, 1.02, 1000.0])
def test_a_transform_may_have_a_scale(tmp_path: Path, scale: float) -> None:
    T = np.diag([scale, scale, scale, 1.0])
    T[:3, 3] = 1.0, 2.0, 3.0
    write_transform(tmp_path / "T.txt", T)
    assert np.array_equal(read_transform(tmp_path / "T.txt"), T)


def test_what_is_no_pose_is_not_written(tmp_path: Path) -> None:
    path, eyes = tmp_path / "poses.txt", np.tile(np.eye(4), (2, 1, 1))
    pairs = np.array([[0, 1], [0, 2]])
    for log, message in (
        (PairPoses(pairs, 2.0 * eyes, 3), "log.poses: pose 0"),
        (PairPoses(pairs[:1], eyes, 3), "log.pairs: expected integers of shape"),
        (PairPoses(pairs - 1, eyes, 3), "log.pairs: expected numbers of fragments from 0 on, got -1"),
        (PairPoses(pairs, eyes, 2), "log.num_fragments: expected an integer from 3"),
    ):
        with pytest.raises(LandmarkError, match=message):
            write_log(path, log)
    with pytest.raises(LandmarkError, match=r"trajectory\.timestamps: expected 2 finite numbers"):
        write_tum(path, Trajectory(np.array([0.0, np.nan]), eyes))
    with pytest.raises(LandmarkError, match="poses: pose 0"):
        write_kitti(path, 0.0 * eyes)
    with pytest.raises(LandmarkError, match=r"T: expected one transform of shape"):
        write_transform(path, np.eye(3))
    assert not path.exists()


def test_what_is_no_path_is_refused() -> None:
    for reader, _ in READERS.values():
        with pytest.raises(FileFormatError, match="path: expected the name of a file"):
            reader(None)  # type: ignore[arg-type]


@settings(max_examples=400)
@given(st.data())
def test_mutated_files_never_do_worse_than_an_error(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    reader, text = READERS[data.draw(st.sampled_from(sorted(READERS)))]
    content = bytearray(text.encode())
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(content)))
        match data.draw(st.sampled_from(["change", "delete", "insert"])):
            case "change":
                content[place : place + 1] = bytes([data.draw(st.integers(0, 255))])
            case "delete":
                del content[place : place + data.draw(st.integers(1, 20))]
            case "insert":
                pieces = [b"nan", b"inf", b"1e999", b"-", b"\n", b"\r", b"\x0c", b"\x85", b"_", b"#", b"9" * 400, b"\0"]
                content[place:place] = data.draw(st.sampled_from(pieces))
    path = tmp_path_factory.getbasetemp() / "mutated.txt"
    path.write_bytes(bytes(content))
    try:
        result = reader(path)
    except ClipperPlusError:
        return
    arrays = (
        [result] if isinstance(result, np.ndarray) else [value for value in vars(result).values() if value is not None]
    )
    assert all(np.isfinite(array).all() for array in arrays)


@settings(max_examples=200)
@given(st.sampled_from(sorted(READERS)), st.binary(max_size=200))
def test_any_bytes_never_do_worse_than_an_error(
    tmp_path_factory: pytest.TempPathFactory, kind: str, content: bytes
) -> None:
    path = tmp_path_factory.getbasetemp() / "bytes.txt"
    path.write_bytes(content)
    with contextlib.suppress(FileFormatError):
        READERS[kind][0](path)


def test_any_kind_of_poses_is_recognized(tmp_path: Path) -> None:
    poses = motions(0, 3)
    write_tum(tmp_path / "tum", Trajectory(np.arange(3.0), poses))
    write_kitti(tmp_path / "kitti", poses)
    matrices = [" ".join(map(repr, row)) + "\n" for pose in poses.tolist() for row in pose]
    (tmp_path / "matrices").write_text("# poses\n\n" + "".join(matrices))
    assert np.allclose(read_poses(tmp_path / "tum"), poses, rtol=1e-12, atol=1e-12)
    assert read_poses(tmp_path / "kitti").tobytes() == poses.tobytes()
    assert read_poses(tmp_path / "matrices").tobytes() == poses.tobytes()


def test_poses_may_be_unknown(tmp_path: Path) -> None:
    poses = read_poses(write(tmp_path, EYE + "nan nan nan nan\n" * 4 + EYE))
    assert np.isnan(poses).all(axis=(1, 2)).tolist() == [False, True, False]
    assert np.array_equal(poses[2], np.eye(4))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected poses, there are none"),
        ("# nothing\n", "expected poses, there are none"),
        ("1 2 3\n", "line 1: expected lines of 8 numbers"),
        (EYE + "1 0 0 0\n", "line 1: expected lines of 8 numbers"),
        (EYE + EYE.replace("1 0 0 0", "nan 0 0 0"), "line 5: expected a rotation and a translation"),
        ("nan nan nan nan\n" * 4 + EYE.replace("1", "2"), "line 5: expected a rotation and a translation"),
        (EYE.replace("0 1 0 0", "0 one 0 0"), "line 2: expected 4 numbers"),
    ],
)
def test_what_is_no_file_of_poses_is_refused(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match=message):
        read_poses(write(tmp_path, text))
