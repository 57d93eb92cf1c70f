"""The benchmark of maps, on simulated scans in the layout of the real data."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import clipperplus as cp
from clipperplus.bench.maps import COLUMNS, problems, run, tables
from clipperplus.bench.store import Store
from clipperplus.io.poses import PairPoses, write_log
from clipperplus.synthetic import building_scans

pytest.importorskip("gtsam", reason="maps need gtsam")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four scans of a building as a sequence."""
    folder = tmp_path_factory.mktemp("data")
    (folder / "sequences").mkdir()
    scans = building_scans(scans=4, resolution=160)
    ends = np.cumsum([0, *(len(cloud) for cloud in scans.clouds)])
    points = np.round(1000.0 * np.concatenate(scans.clouds)).astype(np.int32)
    np.savez(folder / "sequences" / "building.npz", off=ends, xyz_mm=points, T=scans.poses)
    return folder


def test_a_sequence_is_compared_with_its_poses(data: Path) -> None:
    (problem,) = problems(data)
    rows = run([problem], Store(None, "maps", {}, COLUMNS), threads=2)
    assert rows[0]["placed"] == "4"
    assert rows[0]["components"] == "1"
    assert float(rows[0]["worst_shift"]) < 0.1
    assert float(rows[0]["located"]) == 1.0
    shown = tables(rows)[1]
    assert shown.rows[0][0] == "building"


def test_poses_that_are_off_are_seen(data: Path, tmp_path: Path) -> None:
    """The same scans with a truth of which one is moved: the row must say so."""
    stored = dict(np.load(data / "sequences" / "building.npz"))
    stored["T"][2, :3, 3] += 1.0
    stored["T"][1, :3, 3] += 0.1  # so little that surfaces still lie near each other
    (tmp_path / "sequences").mkdir()
    np.savez(tmp_path / "sequences" / "moved.npz", **stored)
    rows = run(problems(tmp_path), Store(None, "maps", {}, COLUMNS), threads=2)
    assert float(rows[0]["located"]) < 1.0
    assert float(rows[0]["worst_shift"]) > 0.3
    assert float(rows[0]["gap"]) < float(rows[0]["given_gap"])
    assert float(rows[0]["better"]) > 0.5


def test_a_folder_without_data_is_refused(tmp_path: Path) -> None:
    with pytest.raises(cp.OptionError, match="nothing to be measured"):
        problems(tmp_path)


@pytest.fixture(scope="module")
def scenes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two simulated scenes of seven scans each, as 3DMatch is published; all neighbours are pairs."""
    folder = tmp_path_factory.mktemp("scenes")
    for seed, name in ((0, "here"), (5, "there")):
        scans = building_scans(scans=7, resolution=160, seed=seed)
        (folder / name).mkdir()
        for number, cloud in enumerate(scans.clouds):
            cp.write_cloud(folder / name / f"cloud_bin_{number}.ply", cloud)
        pairs = np.array([(k, k + 1) for k in range(6)])
        poses = np.array([np.linalg.inv(scans.poses[i]) @ scans.poses[j] for i, j in pairs])
        for benchmark in ("3DMatch", "3DLoMatch"):
            truths = folder / "benchmarks" / benchmark / name
            truths.mkdir(parents=True)
            write_log(truths / "gt.log", PairPoses(pairs, poses, 7))
    return folder


def test_scenes_are_measured_alone_moved_in_one_folder_and_looked_for(scenes: Path) -> None:
    found = problems(scenes, open3d=False)
    names = [problem.name for problem in found]
    assert names == [
        *("here", "there", "here, moved", "there, moved"),
        *("all scenes in one folder", "where in here", "memory of here", "memory of here, 8 × as dense"),
    ]
    wanted = [one for one in found if one.name in ("here", "all scenes in one folder", "where in here")]
    rows = {row["problem"]: row for row in run(wanted, Store(None, "maps", {}, COLUMNS), threads=2)}
    assert float(rows["here"]["recall"]) == float(rows["here"]["recall_low"]) > 0.5
    assert float(rows["here"]["suggested"]) <= float(rows["here"]["most_possible"]) <= 1.0
    together = rows["all scenes in one folder"]
    assert together["scans"] == "14"
    assert int(together["pairs"]) == 12
    assert 0.0 < float(together["registered"]) <= 1.0
    assert rows["where in here"]["scans"] == "1"
    shown = tables(list(rows.values()))
    assert [table.rows[0][0] for table in (shown[0], shown[2], shown[3])] == ["here", "where in here", "here"]
