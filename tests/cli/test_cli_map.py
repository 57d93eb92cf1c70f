"""Maps on the command line: which files are taken, what is printed and written, and the exit status."""

from __future__ import annotations

import functools
import itertools
import json
import os
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import PROGRAM, Call
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import clipperplus as cp
from clipperplus.cli.scan_files import natural_order
from clipperplus.io.poses import Trajectory, read_tum, write_tum
from clipperplus.mapping import Map
from clipperplus.synthetic import BuildingScans, building_scans, room_scans

FEW = functools.partial(building_scans, scans=4, resolution=180)
NAMES = ("scan1.ply", "Scan2.pcd", "scan10.npy", "scan11.ply")
"""In natural order; endings and letters of any kind."""
RIGHT_TURN, RIGHT_SHIFT = 3.0, 0.15
"""Degrees and metres within which poses of these scans, which are sparse, are right."""


@pytest.fixture(scope="module")
def building() -> BuildingScans:
    return FEW()


@pytest.fixture(scope="module")
def folder(building: BuildingScans, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with four scans that belong together, and files that are none."""
    path = tmp_path_factory.mktemp("scans")
    for name, points in zip(NAMES, building.clouds, strict=True):
        np.save(path / name, points) if name.endswith(".npy") else cp.write_cloud(path / name, points)
    (path / "notes.md").write_text("not a scan")
    (path / ".hidden.ply").write_text("not a scan")
    (path / "folder.ply").mkdir()
    return path


def errors(answer: dict[str, Any], truth: np.ndarray[Any, Any]) -> tuple[float, float]:
    """Return the worst errors of a scan as seen from another, in degrees and metres."""
    found = [np.array(scan["T_map_scan"]) for scan in answer["scans"]]
    both = [
        (np.linalg.inv(found[one]) @ found[other], np.linalg.inv(truth[one]) @ truth[other])
        for one, other in itertools.permutations(range(len(truth)), 2)
    ]
    turns = [np.degrees(Rotation.from_matrix(a[:3, :3].T @ b[:3, :3]).magnitude()) for a, b in both]
    return float(max(turns)), max(float(np.linalg.norm(a[:3, 3] - b[:3, 3])) for a, b in both)


def test_a_folder_becomes_a_map_in_natural_order(
    call: Call, folder: Path, building: BuildingScans, tmp_path: Path
) -> None:
    output = tmp_path / "new" / "map"
    done = call("map", folder, "--voxel-size", "0.1", "--output", output, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    answer = json.loads(done.stdout)
    assert [scan["name"] for scan in answer["scans"]] == list(NAMES)
    turn, shift = errors(answer, building.poses)
    assert turn < RIGHT_TURN
    assert shift < RIGHT_SHIFT
    loaded = Map.load(output)
    assert loaded.to_dict() == answer
    assert [len(points) for points in loaded.scans] == [len(points) for points in building.clouds]
    with sqlite3.connect(output / "relations.sqlite") as database:
        assert database.execute("SELECT count(*) FROM results").fetchone()[0] > 0


def test_the_summary_says_what_became_of_scans_and_pairs(call: Call, folder: Path, tmp_path: Path) -> None:
    files = [folder / name for name in (NAMES[1], NAMES[0])]
    report = tmp_path / "report.html"
    done = call("map", *files, "--voxel-size", "0.1", "--output", tmp_path, "--report", report, "--threads", "1")
    assert (done.returncode, done.stderr) == (0, "")
    lines = [" ".join(line.split()) for line in done.stdout.splitlines()]
    assert lines[:2] == ["scans 2 of 2 placed, with voxels of 0.1 m", "status one map of all scans"]
    assert "pairs 1 looked at: 1 believed, 0 refused, 0 doubted" in lines
    assert any(line.startswith("all ") for line in lines)
    assert lines[-2:] == [
        f"written: {tmp_path}; now try: clipperplus locate {tmp_path} SCAN",
        f"written: {report}",
    ]
    assert f"clipperplus map {files[0]}" in report.read_text("utf-8")
    assert [str(path) for path in files] == list(Map.load(tmp_path).names)


def test_scans_that_do_not_fit_give_status_1_and_are_named(
    call: Call, folder: Path, building: BuildingScans, tmp_path: Path
) -> None:
    random = np.random.default_rng(0)
    cp.write_cloud(tmp_path / "noise.ply", random.uniform(-3.0, 3.0, (4000, 3)))
    cp.write_cloud(tmp_path / "empty[red].ply", np.empty((0, 3)))
    files = [tmp_path / "noise.ply", folder / NAMES[0], tmp_path / "empty[red].ply", folder / NAMES[1]]
    done = call("map", *files, "--voxel-size", "0.1")
    assert done.returncode == 1
    assert done.stderr == "clipperplus: not one map of all scans: 2 of 4 scans were left out\n"
    text = " ".join(done.stdout.split())
    assert "scans 2 of 4 placed" in text
    assert f"left out 0 ({files[0]}): it does not fit any" in text
    assert f"2 ({files[2]}): it has too few points" in text


def test_parts_without_known_relation_give_status_1(call: Call, building: BuildingScans, tmp_path: Path) -> None:
    room = room_scans(resolution=120)
    for name, points in zip("abcd", (*building.clouds[:2], room.source, room.target), strict=True):
        cp.write_cloud(tmp_path / f"{name}.ply", points)
    done = call("map", tmp_path, "--voxel-size", "0.1")
    assert done.returncode == 1
    assert done.stderr == (
        "clipperplus: not one map of all scans: there are 2 parts, and how they lie to each other is not known\n"
    )
    text = " ".join(done.stdout.split())
    assert "part 0 2 scans: 0 (a.ply), 1 (b.ply) part 1 2 scans: 2 (c.ply), 3 (d.ply)" in text


def test_scans_of_which_no_two_belong_together_are_no_map(call: Call, folder: Path, tmp_path: Path) -> None:
    done = call("map", folder / NAMES[0], "--output", tmp_path)
    assert (done.returncode, done.stderr) == (1, "clipperplus: no map: no two scans are known to belong together\n")
    assert "there is no other scan that it could belong to" in done.stdout
    assert Map.load(tmp_path).components == ()


def test_rough_poses_put_the_map_into_their_frame(
    call: Call, folder: Path, building: BuildingScans, tmp_path: Path
) -> None:
    poses = folder / "poses.txt"  # which is no scan, whatever its ending
    write_tum(poses, Trajectory(np.arange(4.0), building.poses))
    try:
        done = call("map", folder, "--voxel-size", "0.1", "--poses", poses, "--json")
    finally:
        poses.unlink()
    assert (done.returncode, done.stderr) == (0, "")
    found = np.array([scan["T_map_scan"] for scan in json.loads(done.stdout)["scans"]])
    assert np.max(cp.translation_error(found, building.poses)) < RIGHT_SHIFT


@contextmanager
def interrupted_bar(first: str, pairs: int = 2) -> Iterator[Callable[[str, int, int], None]]:
    """Press Ctrl-C when some pairs are done."""

    def show(what: str, done: int, total: int) -> None:
        if (what, done) == ("registering pairs", pairs):
            raise KeyboardInterrupt

    yield show


def test_ctrl_c_says_what_is_done_and_the_same_command_goes_on(
    call: Call, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = ("map", folder, "--voxel-size", "0.1", "--threads", "1")
    with monkeypatch.context() as patch:
        patch.setattr("clipperplus.cli.map_run.live_bar", interrupted_bar)
        done = call(*command, "--output", tmp_path)
        assert (done.returncode, done.stdout) == (130, "")
        assert done.stderr == (
            "clipperplus: interrupted: 2 pairs were registered; the same command goes on from there\n"
        )
        kept = call(*command)
        assert (kept.returncode, kept.stdout) == (130, "")
        assert kept.stderr == "clipperplus: interrupted: 2 pairs were registered; nothing is kept without --output\n"
    with sqlite3.connect(tmp_path / "relations.sqlite") as database:
        assert database.execute("SELECT count(*) FROM results").fetchone() >= (2,)  # a finished pair is kept
    from clipperplus.mapping import relations

    relate, registered = relations.relate, list[int]()

    def counted(*arguments: Any, **options: Any) -> Any:
        registered.append(1)
        return relate(*arguments, **options)

    monkeypatch.setattr(relations, "relate", counted)
    at_once = call(*command, "--json")
    all_pairs = len(registered)
    registered.clear()
    resumed = call(*command, "--json", "--output", tmp_path)
    assert (at_once.returncode, resumed.returncode) == (0, 0)
    assert len(registered) == all_pairs - 2
    assert without_times(at_once.stdout) == without_times(resumed.stdout)


def without_times(text: str) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(text)
    return {name: value for name, value in answer.items() if name not in ("seconds", "stages")}


def test_a_terminal_sees_a_bar_and_how_long_it_takes(folder: Path) -> None:
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    command = [*PROGRAM, "map", str(folder), "--voxel-size", "0.1", "--json"]
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=theirs, env=environment)
    os.close(theirs)
    shown = b""
    with suppress(OSError):  # which is how the end is said
        while more := os.read(ours, 10_000):
            shown += more
    os.close(ours)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert b"registering pairs" in shown
    assert b"/6" in shown  # of the pairs
    assert json.loads(output)["voxel_size"] == 0.1


@pytest.mark.parametrize("command", [("map",), ("demo", "--scene", "building")], ids=["map", "demo"])
def test_without_files_a_simulated_building_is_compared_with_the_truth(
    call: Call, command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("clipperplus.cli.building.building_scans", FEW)
    done = call(*command, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    answer = json.loads(done.stdout)
    turn, shift = errors(answer, FEW().poses)
    assert answer["truth"]["rotation_error"] == pytest.approx(turn, abs=1e-6)
    assert answer["truth"]["translation_error"] == pytest.approx(shift, abs=1e-9)
    assert turn < RIGHT_TURN
    assert shift < RIGHT_SHIFT


def test_demo_saves_a_building_that_map_reads(
    call: Call, building: BuildingScans, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("clipperplus.cli.building.building_scans", FEW)
    done = call("demo", "--scene", "building", "--save", tmp_path / "new")
    assert done.returncode == 0
    assert " m from the truth, at most, between two scans" in done.stdout
    assert done.stdout.splitlines()[-1] == (
        f"saved; now try: clipperplus map {tmp_path / 'new'} --output {tmp_path / 'new' / 'map'}"
    )
    assert np.allclose(read_tum(tmp_path / "new" / "truth.tum").poses, building.poses, atol=1e-12)
    again = json.loads(call("map", tmp_path / "new", "--json").stdout)
    assert [scan["name"] for scan in again["scans"]] == [f"scan{number}.ply" for number in range(4)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["map", "nowhere"], "No such file or directory: nowhere\n"),
        (["map", "scans", "nowhere.ply"], "No such file or directory: nowhere.ply\n"),
        (["map", "scans/scan.stl"], "scans/scan.stl: unknown kind of point cloud"),
        (["map", "nothing"], "nothing: no point clouds in this folder; known endings are .ply .pcd"),
        (["map", "broken"], "broken/broken.ply: "),
        (["map", "scans", "--output", "scans"], "output: expected another folder than that of the scans, got scans\n"),
        (["map", "scans", "--output", "scans/scan.stl"], "File exists: scans/scan.stl\n"),
        (["map", "scans", "--output", "other"], "other/map.json: this is no map, and is not replaced"),
        (["map", "scans", "--voxel-size", "0"], "voxel_size: expected a finite number above 0"),
        (["map", "scans", "--threads", "0"], "threads: expected an integer from 1 to 1024, got 0\n"),
        (["map", "scans", "--poses", "one.txt"], "one.txt: expected a pose for each of 2 scans, got 1\n"),
        (["map", "scans", "--poses", "other/map.json"], "other/map.json: line 1: expected lines of 8 numbers (TUM)"),
        (["map", "--poses", "one.txt"], "poses: expected files of scans with one.txt, got none\n"),
        (["map", "scans", "--report", "nowhere/report.html"], "no such folder: nowhere\n"),
    ],
)
def test_wrong_input_gives_one_line_and_status_2(
    call: Call, arguments: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("scans", "nothing", "broken", "other"):
        Path(name).mkdir()
    for name in ("scans/1.ply", "scans/2.ply"):
        cp.write_cloud(name, np.eye(3))
    Path("scans/scan.stl").write_bytes(b"solid")
    Path("broken/broken.ply").write_bytes(b"ply\n")
    Path("other/map.json").write_bytes(b"{}")
    Path("one.txt").write_text("1 0 0 0\n0 1 0 0\n0 0 1 0\n0 0 0 1\n")
    done = call(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"clipperplus: {message}")
    assert done.stderr.count("\n") == 1


def test_a_map_is_not_a_folder_of_scans(call: Call, folder: Path, tmp_path: Path) -> None:
    call("map", folder / NAMES[0], "--output", tmp_path)
    done = call("map", tmp_path)
    assert (done.returncode, done.stderr) == (
        2,
        f"clipperplus: {tmp_path}: this is a map, not a folder of scans\n",
    )


def test_without_gtsam_it_says_what_to_install(call: Call, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "gtsam", None)
    done = call("map", folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "clipperplus: maps of several scans need gtsam: pip install clipperplus[map]\n"


@given(st.lists(st.integers(0, 10**20), min_size=1, unique=True), st.sampled_from(["", "b", "B2", "10."]))
def test_natural_order_is_that_of_the_numbers(numbers: list[int], before: str) -> None:
    names = [f"{before}x{number}.ply" for number in numbers]
    assert sorted(names, key=natural_order) == [f"{before}x{number}.ply" for number in sorted(numbers)]


def test_natural_order_takes_any_names() -> None:
    names = ["a.ply", "A1.ply", "a01.ply", "a1.ply", "a1b2.ply", "a1b10.ply", "1.ply", "²3.ply", "٣.ply", "b"]
    in_order = sorted(names, key=natural_order)
    names.reverse()
    assert sorted(names, key=natural_order) == in_order
    assert in_order.index("a1b2.ply") < in_order.index("a1b10.ply")
