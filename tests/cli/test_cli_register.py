"""Registration on the command line: what it prints and writes, and its exit status."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path

import numpy as np
import pytest
from command_line import PROGRAM, Call, run

import clipperplus as cp
from clipperplus.geometry.files import read_transform
from clipperplus.synthetic import ScanPair, room_scans


@pytest.fixture(scope="module")
def room() -> ScanPair:
    return room_scans(frames=3, resolution=120)


@pytest.fixture(scope="module")
def folder(room: ScanPair, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with source.ply and target.pcd."""
    path = tmp_path_factory.mktemp("room")
    cp.write_cloud(path / "source.ply", room.source)
    cp.write_cloud(path / "target.pcd", room.target)
    return path


def planes(folder: Path) -> tuple[Path, Path]:
    random, paths = np.random.default_rng(0), (folder / "one.ply", folder / "other.ply")
    for path in paths:
        cp.write_cloud(path, np.column_stack((random.uniform(-2.0, 2.0, (3000, 2)), np.full(3000, 3.0))))
    return paths


def test_register_by_a_motion_and_between_units(call: Call, room: ScanPair, folder: Path, tmp_path: Path) -> None:
    cp.write_cloud(tmp_path / "millimetres.ply", 1000.0 * room.source)
    cp.write_cloud(tmp_path / "turned.ply", cp.apply_transform(room.T_target_source, room.source))
    found = call(
        *("register", tmp_path / "millimetres.ply", folder / "target.pcd", "--motion", "similarity", "--json"),
        *("--output", tmp_path / "T.txt", "--aligned", tmp_path / "aligned.ply"),
    )
    assert (found.returncode, found.stderr) == (0, "")
    answer = json.loads(found.stdout)
    assert answer["motion"] == "similarity"
    assert answer["scale"] == pytest.approx(1e-3, rel=0.02)
    assert np.allclose(read_transform(tmp_path / "T.txt"), answer["T_target_source"])
    aligned = cp.read_cloud(tmp_path / "aligned.ply").points
    assert np.median(np.linalg.norm(aligned - cp.apply_transform(room.T_target_source, room.source), axis=1)) < 0.1
    shown = call("register", tmp_path / "turned.ply", folder / "target.pcd", "--motion", "yaw", "--up", "0", "1", "0")
    assert shown.returncode == 0
    assert "turn by 0.0" in shown.stdout
    wrong = call("register", tmp_path / "turned.ply", folder / "target.pcd", "--motion", "affine")
    assert wrong.returncode == 2
    assert "motion: expected one of 'rigid'" in wrong.stderr


@pytest.mark.parametrize("scene", ["room", "street"])
def test_demo_finds_the_true_motion(call: Call, scene: str) -> None:
    done = call("demo", "--scene", scene, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    answer = json.loads(done.stdout)
    assert answer["status"] == "ok"
    assert answer["truth"]["rotation_error"] < 1.0
    assert answer["truth"]["translation_error"] < 0.1
    assert answer["source"]["num_points"] > 50_000


def test_demo_prints_a_summary_and_saves_what_register_reads(call: Call, tmp_path: Path) -> None:
    done = run("demo", "--save", tmp_path / "new" / "folder")
    assert (done.returncode, done.stderr) == (0, "")
    assert "\x1b" not in done.stdout
    for words in ("simulated room, seed 0", "ok: trust it", "the largest such set: proven by", "from the truth"):
        assert words in done.stdout
    assert max(map(len, done.stdout.splitlines()[:-1])) <= 80  # but for the command to try
    command = done.stdout.splitlines()[-1].split(": clipperplus ")[1]
    again = json.loads(call(*command.split(), "--json").stdout)
    truth = read_transform(tmp_path / "new" / "folder" / "truth.txt")
    assert cp.rotation_error(again["T_target_source"], truth) < 1.0


def test_register_prints_one_object_and_writes_the_transform_bit_by_bit(
    call: Call, room: ScanPair, folder: Path, tmp_path: Path
) -> None:
    output, aligned = tmp_path / "T.txt", tmp_path / "aligned.pcd"
    options = ("--refine", "gicp", "--source-viewpoint", "0", "0", "-0.0", "--output", output, "--aligned", aligned)
    done = call("register", folder / "source.ply", folder / "target.pcd", "--json", *options)
    assert (done.returncode, done.stderr) == (0, "")
    answer = json.loads(done.stdout)
    motion = np.array(answer["T_target_source"])
    assert cp.rotation_error(motion, room.T_target_source) < 1.0
    assert cp.translation_error(motion, room.T_target_source) < 0.05
    assert answer["source"] == {
        "name": str(folder / "source.ply"),
        "num_points": len(room.source),
        "num_dropped": 0,
    }
    assert np.array_equal(read_transform(output), motion)
    assert np.array_equal(cp.read_cloud(aligned).points, cp.apply_transform(motion, room.source))


def test_aligned_clouds_keep_normals_and_viewpoint(call: Call, room: ScanPair, folder: Path, tmp_path: Path) -> None:
    normals = np.tile([0.0, 0.0, 1.0], (len(room.source), 1))
    start = cp.Cloud(room.source, normals=normals, viewpoint=np.array([0.0, 0.0, -0.1]))
    cp.write_cloud(tmp_path / "source.pcd", start)
    done = call(
        "register", tmp_path / "source.pcd", folder / "target.pcd", "--json", "--aligned", tmp_path / "moved.pcd"
    )
    motion, moved = np.array(json.loads(done.stdout)["T_target_source"]), cp.read_cloud(tmp_path / "moved.pcd")
    assert moved.normals is not None
    assert moved.viewpoint is not None
    assert np.allclose(moved.normals, motion[:3, 2])
    assert np.allclose(moved.viewpoint, cp.apply_transform(motion, [[0.0, 0.0, -0.1]])[0])


def test_points_that_are_not_finite_are_dropped_and_counted(
    call: Call, room: ScanPair, folder: Path, tmp_path: Path
) -> None:
    points = room.source.astype(np.float32)
    points[::10] = np.nan
    np.save(tmp_path / "holes.npy", points)
    done = call("register", tmp_path / "holes.npy", folder / "target.pcd")
    assert done.returncode == 0
    assert f"{len(points)} points ({len(points[::10])} not finite, dropped)" in done.stdout


def test_a_low_confidence_is_said_and_gives_status_1(call: Call, folder: Path, tmp_path: Path) -> None:
    output = tmp_path / "T.txt"
    options = ("--min-confidence", "1", "--output", output)
    done = call("register", folder / "source.ply", folder / "target.pcd", *options)
    assert done.returncode == 1
    assert "uncertain: do not trust it; the confidence, " in done.stdout
    assert f"written: {output} (not to be trusted)" in done.stdout
    assert done.stderr.startswith("clipperplus: no trustworthy answer: the confidence, ")
    assert done.stderr.count("\n") == 1
    assert output.exists()


def test_a_low_prior_is_kept_and_said(call: Call, folder: Path) -> None:
    files = folder / "source.ply", folder / "target.pcd"
    answer = json.loads(call("register", *files, "--prior", "1e-9", "--json").stdout)
    assert answer["prior"] == 1e-9
    assert answer["status"] == "uncertain"
    (reason,) = answer["reasons"]
    assert reason["kind"] == "low confidence"
    assert reason["numbers"]["prior"] == 1e-9
    done = call("register", *files, "--prior", "1e-9")
    assert "a prior of 1e-09 speaks against it" in " ".join(done.stdout.split())
    assert "what helps" in done.stdout


def test_planes_give_status_1_and_what_they_leave_open(call: Call, tmp_path: Path) -> None:
    done = call("register", *planes(tmp_path), "--json")
    assert done.returncode == 1
    assert json.loads(done.stdout)["status"] == "degenerate"
    assert done.stderr == (
        "clipperplus: no trustworthy answer: the scans do not determine rotation about (0.00, 0.00, 1.00) "
        "and shift along all axes at right angles to (0.00, 0.00, 1.00)\n"
    )


def test_an_empty_cloud_gives_status_1_and_no_files(call: Call, folder: Path, tmp_path: Path) -> None:
    cp.write_cloud(tmp_path / "empty.ply", np.empty((0, 3)))
    done = call("register", tmp_path / "empty.ply", folder / "target.pcd", "--output", tmp_path / "T.txt")
    assert done.returncode == 1
    assert "there is no transform; the source has no points" in done.stdout
    assert done.stderr == "clipperplus: no trustworthy answer: the source has no points\n"
    assert not (tmp_path / "T.txt").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["register", "nowhere.ply", "nowhere.ply"], "No such file or directory: nowhere.ply\n"),
        (["register", "scan.stl", "scan.ply"], "scan.stl: unknown kind of point cloud"),
        (["register", "scan.ply", "scan.ply", "--aligned", "moved.xyz"], "moved.xyz: cannot write this kind of"),
        (["register", "scan.ply"], "Missing argument"),
        (["register", "scan.ply", "scan.ply", "--refine", "magic"], "refine: expected None or 'gicp', got 'magic'\n"),
        (["register", "scan.ply", "scan.ply", "--voxel-size", "0"], "voxel_size: expected a finite number above 0"),
        (["register", "scan.ply", "scan.ply", "--min-confidence", "2"], "min_confidence: expected a number from 0 to"),
        (
            ["register", "scan.ply", "scan.ply", "--source-viewpoint", "0", "nan", "0"],
            "source_viewpoint: expected three finite",
        ),
        (["register", "scan.ply", "scan.ply", "--prior", "1"], "prior: expected a number between 0 and 1, got 1.0\n"),
        (["demo", "--scene", "moon"], "scene: expected one of room, street, building, got 'moon'\n"),
        (["demo", "--seed", "-1"], "Invalid value for '--seed'"),
    ],
)
def test_wrong_input_gives_one_line_and_status_2(
    call: Call, arguments: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    cp.write_cloud("scan.ply", np.eye(3))
    done = call(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"clipperplus: {message}")
    assert done.stderr.count("\n") == 1


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_ctrl_c_gives_status_130(folder: Path) -> None:
    program = f"""
from clipperplus.cli import main, register
def read(*_, **__):
    print("reading", flush=True)
    import time; time.sleep(60)
register.read_cloud = read
{PROGRAM[2]}"""
    command = [*PROGRAM[:2], program, "register", str(folder / "target.pcd"), str(folder / "target.pcd")]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "reading\n"
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=20)
    assert (process.returncode, output) == (130, "")
    assert errors == "clipperplus: interrupted\n"
