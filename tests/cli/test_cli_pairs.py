"""``clipperplus pairs`` and ``clipperplus map --workers``: from a list to a table, here and on other processes."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import PROGRAM, Call

import clipperplus as cp
from clipperplus.synthetic import building_scans

SCANS = building_scans(scans=4, resolution=120)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    result = tmp_path_factory.mktemp("scans")
    for number, cloud in enumerate(SCANS.clouds):
        np.save(result / f"scan{number}.npy", cloud)
    lines = ["source,target,voxel_size", *(f"scan{a}.npy,scan{b}.npy," for a in range(4) for b in range(a))]
    (result / "list.csv").write_text("\n".join(lines), encoding="utf-8")
    return result


def rows(output: Path) -> list[dict[str, str]]:
    with (output / "pairs.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def without_times(output: Path) -> list[dict[str, str]]:
    return [{name: value for name, value in row.items() if name != "seconds"} for row in rows(output)]


def test_a_list_becomes_a_table_of_transforms(call: Call, folder: Path, tmp_path: Path) -> None:
    done = call("pairs", folder / "list.csv", "--output", tmp_path / "new" / "out", "--voxel-size", "0.2")
    assert (done.returncode, done.stderr) == (0, "")
    assert "6" in done.stdout
    assert f"written: {tmp_path / 'new' / 'out' / 'pairs.csv'}" in done.stdout
    found = rows(tmp_path / "new" / "out")
    assert len(found) == 6
    row = found[0]
    assert (row["source"], row["target"]) == (str(folder / "scan1.npy"), str(folder / "scan0.npy"))
    pose = cp.register(SCANS.clouds[1], SCANS.clouds[0], voxel_size=0.2)
    assert pose.T_target_source is not None
    numbers = [float(row[f"T{i}{j}"]) for i in range(3) for j in range(4)]
    assert numbers == pose.T_target_source[:3].ravel().tolist()
    assert (row["status"], float(row["confidence"])) == (pose.status.value, pose.confidence)


def test_the_same_command_computes_nothing_again(call: Call, folder: Path, tmp_path: Path) -> None:
    command = ("pairs", folder / "list.csv", "--output", tmp_path, "--voxel-size", "0.2", "--json")
    first, second = (json.loads(call(*command).stdout) for _ in range(2))
    assert (first["known"], second["known"]) == (0, 6)
    assert first["status"] == second["status"]
    assert sum(first["status"].values()) == first["pairs"] == 6


def test_options_of_a_line_are_those_of_its_pair(call: Call, folder: Path, tmp_path: Path) -> None:
    text = "scan0.npy,scan1.npy,voxel_size=0.3\nscan0.npy,scan1.npy\n"
    (folder / "own.csv").write_text(text, encoding="utf-8")
    assert call("pairs", folder / "own.csv", "--output", tmp_path, "--voxel-size", "0.2").returncode == 0
    assert [row["voxel_size"] for row in rows(tmp_path)] == ["0.3", "0.2"]


def test_pairs_that_fail_are_in_the_table_and_the_status_says_so(call: Call, folder: Path, tmp_path: Path) -> None:
    (folder / "damaged.ply").write_bytes(b"ply\nformat")
    text = "scan0.npy,missing.npy\nscan0.npy,scan1.npy\ndamaged.ply,scan1.npy\n"
    (folder / "some.csv").write_text(text, encoding="utf-8")
    done = call("pairs", folder / "some.csv", "--output", tmp_path, "--voxel-size", "0.2")
    assert done.returncode == 1
    assert done.stderr == "clipperplus: 2 of 3 pairs failed; the same command tries them again\n"
    assert "missing.npy: No such file" in " ".join(done.stdout.split())
    found = rows(tmp_path)
    assert [bool(row["failure"]) for row in found] == [True, False, True]
    assert [bool(row["T00"]) for row in found] == [False, True, False]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--effort", "lowest"), "effort"),
        (("--workers", "0"), "workers"),
        (("--workers", "2", "--cluster", "tcp://127.0.0.1:9"), "--workers or --cluster"),
        (("--memory", "plenty"), "memory: expected a size"),
        (("--memory", "0"), "memory"),
        (("--cluster", "nonsense://x"), "no scheduler"),
    ],
)
def test_wrong_input_is_one_line(
    call: Call, folder: Path, tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    pytest.importorskip("distributed", reason="clusters need Dask")
    done = call("pairs", folder / "list.csv", "--output", tmp_path / "out", *arguments)
    assert done.returncode == 2
    assert done.stderr.startswith("clipperplus: ")
    assert done.stderr.count("\n") == 1
    assert message in done.stderr


def test_an_output_that_is_a_file_and_a_list_that_is_none_are_refused(call: Call, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine", encoding="utf-8")
    done = call("pairs", folder / "list.csv", "--output", tmp_path / "file")
    assert (done.returncode, (tmp_path / "file").read_text(encoding="utf-8")) == (2, "mine")
    assert call("pairs", folder / "missing.csv", "--output", tmp_path / "out").returncode == 2
    assert call("pairs", folder / "scan0.npy", "--output", tmp_path / "out").returncode == 2


def test_workers_give_the_same_table_and_show_their_dashboard(call: Call, folder: Path, tmp_path: Path) -> None:
    pytest.importorskip("distributed", reason="clusters need Dask")
    command = ("pairs", folder / "list.csv", "--voxel-size", "0.2", "--output")
    assert call(*command, tmp_path / "here").returncode == 0
    done = call(*command, tmp_path / "there", "--workers", "2", "--memory", "1GB")
    assert done.returncode == 0
    assert done.stderr.startswith("dashboard: http://127.0.0.1:")
    assert without_times(tmp_path / "here") == without_times(tmp_path / "there")


def test_a_map_of_workers_is_that_of_threads(call: Call, folder: Path, tmp_path: Path) -> None:
    pytest.importorskip("distributed", reason="clusters need Dask")
    pytest.importorskip("gtsam", reason="maps need gtsam")
    scans = [folder / f"scan{number}.npy" for number in range(4)]
    here, there = (call("map", *scans, "--voxel-size", "0.2", "--json", *more) for more in ((), ("--workers", "2")))
    assert here.returncode == there.returncode
    answers = [json.loads(done.stdout) for done in (here, there)]
    for answer in answers:
        del answer["seconds"], answer["stages"]
    assert answers[0] == answers[1]


def test_ctrl_c_keeps_what_is_done_and_the_same_command_goes_on(
    call: Call, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    @contextmanager
    def interrupted(first: str) -> Iterator[Any]:
        def tell(what: str, done: int, total: int) -> None:
            if what == "registering pairs" and done == 4:
                raise KeyboardInterrupt

        yield tell

    command = ("pairs", folder / "list.csv", "--voxel-size", "0.2", "--threads", "1", "--output", tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr("clipperplus.cli.pairs.live_bar", interrupted)
        done = call(*command)
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr == "clipperplus: interrupted: 3 of 6 pairs are done; the same command goes on from there\n"
    assert sum(row["failure"] == "not done yet" for row in rows(tmp_path)) == 3
    assert json.loads(call(*command, "--json").stdout)["known"] >= 3


def test_ctrl_c_ends_workers_too(folder: Path, tmp_path: Path) -> None:
    """As a terminal does it: everyone gets the signal."""
    psutil = pytest.importorskip("psutil")
    pytest.importorskip("distributed", reason="clusters need Dask")
    lines = [f"scan{k % 4}.npy,scan{(k + 1) % 4}.npy,voxel_size={0.05 + 1e-5 * k}" for k in range(2000)]
    (folder / "long.csv").write_text("\n".join(lines), encoding="utf-8")
    command = [*PROGRAM, "pairs", str(folder / "long.csv"), "--output", str(tmp_path), "--workers", "2"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
    end = time.monotonic() + 60.0
    store = tmp_path / "pairs.sqlite-wal"
    while not (store.exists() and store.stat().st_size > 50_000):
        assert time.monotonic() < end
        time.sleep(0.1)
    children = psutil.Process(process.pid).children(recursive=True)
    os.killpg(process.pid, signal.SIGINT)
    _, error = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b"the same command goes on from there" in error
    assert b"Traceback" not in error
    _, alive = psutil.wait_procs(children, timeout=20)
    assert not alive
    assert any(row["T00"] for row in rows(tmp_path))


def test_elsewhere_than_on_a_terminal_there_is_a_line_a_minute(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from clipperplus.cli import live

    clock = [0.0]
    monkeypatch.setattr(live.time, "monotonic", lambda: clock[0])
    with live.live_bar("starting") as show:
        for second in range(1, 181):
            clock[0] = float(second)
            show("registering pairs", 10 * second, 3600)
    lines = capsys.readouterr().err.splitlines()
    assert lines == [
        "clipperplus: registering pairs: 600 of 3600, 10 a second, 300 s left",
        "clipperplus: registering pairs: 1200 of 3600, 10 a second, 240 s left",
        "clipperplus: registering pairs: 1800 of 3600, 10 a second, 180 s left",
    ]
