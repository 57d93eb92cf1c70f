"""Where in a map a scan was taken, on the command line."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest
from command_line import Call

import clipperplus as cp
from clipperplus.geometry.poses import inverse
from clipperplus.io.poses import read_transform
from clipperplus.mapping import Location, Map, build_map
from clipperplus.mapping.locate import Place
from clipperplus.synthetic import BuildingScans, building_scans


@pytest.fixture(scope="module")
def building() -> BuildingScans:
    return building_scans(scans=4, resolution=180)


@pytest.fixture(scope="module")
def folder(building: BuildingScans, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the map of three scans, and the fourth beside it."""
    path = tmp_path_factory.mktemp("maps")
    made = build_map(building.clouds[:3], voxel_size=0.1, names=["a[red].ply", "b.ply", "c.ply"])
    assert made.is_complete
    made.save(path / "map")
    cp.write_cloud(path / "scan.ply", building.clouds[3])
    return path


def test_a_scan_is_found_in_a_map(call: Call, folder: Path, building: BuildingScans, tmp_path: Path) -> None:
    done = call("locate", folder / "map", folder / "scan.ply", "--output", tmp_path / "T.txt", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    answer = json.loads(done.stdout)
    assert answer["map"] == str(folder / "map")
    assert answer["scan"]["num_points"] == len(building.clouds[3])
    assert (answer["status"], answer["component"]) == ("ok", 0)
    found = np.array(answer["T_map_scan"])
    assert np.array_equal(read_transform(tmp_path / "T.txt"), found)
    seen_from_first = inverse(Map.load(folder / "map").poses[:1])[0] @ found
    truth = np.linalg.inv(building.poses[0]) @ building.poses[3]
    assert cp.rotation_error(seen_from_first, truth) < 3.0
    assert cp.translation_error(seen_from_first, truth) < 0.15


def test_the_summary_says_where_and_how_sure(call: Call, folder: Path, tmp_path: Path) -> None:
    done = call("locate", folder / "map", folder / "scan.ply", "--output", tmp_path / "T.txt", "--threads", "1")
    assert (done.returncode, done.stderr) == (0, "")
    text = " ".join(done.stdout.split())
    assert f"scan {folder / 'scan.ply'}: 8" in text
    assert f"map {folder / 'map'}: 3 scans, voxels of 0.1 m" in text
    assert "status ok: trust it" in text
    assert "almost certainly right" in text
    assert "in the frame of the map" in text
    assert done.stdout.splitlines()[-1] == f"written: {tmp_path / 'T.txt'}"


def test_a_scan_of_elsewhere_gives_status_1_and_no_file(call: Call, folder: Path, tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    cp.write_cloud(tmp_path / "noise.ply", random.uniform(-3.0, 3.0, (4000, 3)))
    done = call("locate", folder / "map", tmp_path / "noise.ply", "--output", tmp_path / "T.txt")
    assert done.returncode == 1
    assert done.stderr.startswith("clipperplus: no trustworthy answer: it fits none of 3 scans of the map")
    assert done.stderr.count("\n") == 1
    assert "there is no place for it" in done.stdout
    assert not (tmp_path / "T.txt").exists()


def test_doubts_other_places_and_other_parts_are_said(
    call: Call, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = Map.load(folder / "map")
    parts = dataclasses.replace(loaded, components=(np.array([0, 1]), np.array([2])))
    monkeypatch.setattr(Map, "load", lambda *_, **__: parts)
    shifted = np.eye(4)
    shifted[0, 3] = 2.5
    found = Location(
        status=cp.Status.UNCERTAIN,
        T_map_scan=np.eye(4),
        component=0,
        confidence=0.31,
        covariance=np.eye(6),
        neighbours=(0, 1),
        alternatives=(Place(shifted, 0, 0.25), Place(shifted, 1, 0.125)),
        reasons=("the confidence is too low", "it is dark"),
        stages=(cp.Stage("looking", 0.25, 3), cp.Stage("thinking", 0.5)),
        seconds=1.0,
    )
    monkeypatch.setattr(Map, "locate", lambda *_, **__: found)
    done = call("locate", folder / "map", folder / "scan.ply", "--output", tmp_path / "T.txt")
    assert (done.returncode, done.stderr) == (
        1,
        "clipperplus: no trustworthy answer: the confidence is too low\n",
    )
    text = " ".join(done.stdout.split())
    for words in (
        "uncertain: do not trust it; the confidence is too low and it is dark",
        "0.31: more likely wrong than right",
        "part 0 of the 2 that the map has",
        "verified against 2 scans of the map: 0 (a[red].ply), 1 (b.ply)",
        "place (0.000, 0.000, 0.000) m",
        "1 0 0.0° 2.50 m 0.25 2 1 0.12",
        "looking 3 250.0 thinking 500.0 all 1000.0",
        f"written: {tmp_path / 'T.txt'} (not to be trusted)",
    ):
        assert words in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere", "scan.ply"], "nowhere/map.json: missing; expected the folder of a map"),
        ([".", "scan.ply"], "map.json: missing; expected the folder of a map"),
        (["map", "nowhere.ply"], "No such file or directory: nowhere.ply\n"),
        (["map", "map/map.g2o"], "map/map.g2o: unknown kind of point cloud"),
        (["map"], "Missing argument"),
        (["map", "scan.ply", "--threads", "0"], "threads: expected an integer from 1 to 1024, got 0\n"),
        (["map", "scan.ply", "--output", "nowhere/T.txt"], "no such folder: nowhere\n"),
    ],
)
def test_wrong_input_gives_one_line_and_status_2(
    call: Call, folder: Path, arguments: list[str], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    done = call("locate", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"clipperplus: {message}")
    assert done.stderr.count("\n") == 1


EVIL = "\x1b]0;owned\x07\x9b31m\u202e\nstatus  ok"
SHOWN = r"\x1b]0;owned\x07\x9b31m\u202e\nstatus  ok"


def test_control_characters_in_names_are_shown_and_not_obeyed(
    call: Call, folder: Path, building: BuildingScans, tmp_path: Path
) -> None:
    scan, output = tmp_path / f"{EVIL}.ply", tmp_path / f"{EVIL}.txt"
    cp.write_cloud(scan, building.clouds[3])
    made = Map.load(folder / "map")
    dataclasses.replace(made, names=(EVIL,) * 3).save(tmp_path / EVIL)
    for arguments in (
        ("locate", tmp_path / EVIL, scan, "--output", output),
        ("register", scan, scan, "--output", output),
        ("map", scan, scan, "--output", tmp_path / "new" / EVIL),
    ):
        done = call(*arguments)
        assert not set("\x1b\x07\x9b\u202e") & set(done.stdout + done.stderr)
        assert SHOWN in done.stdout
    done = call("register", tmp_path / EVIL / "none.ply", scan)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert not set("\x1b\x07\x9b\u202e") & set(done.stderr)
