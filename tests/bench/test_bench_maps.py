"""The benchmark of maps, on simulated scans in the layout of the real data."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import clipperplus as cp
from clipperplus.bench.maps import COLUMNS, problems, run, tables
from clipperplus.bench.store import Store
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
    (tmp_path / "sequences").mkdir()
    np.savez(tmp_path / "sequences" / "moved.npz", **stored)
    rows = run(problems(tmp_path), Store(None, "maps", {}, COLUMNS), threads=2)
    assert float(rows[0]["located"]) < 1.0
    assert float(rows[0]["worst_shift"]) > 0.3


def test_a_folder_without_data_is_refused(tmp_path: Path) -> None:
    with pytest.raises(cp.OptionError, match="nothing to be measured"):
        problems(tmp_path)
