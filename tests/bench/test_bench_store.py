"""Measurements that survive an interruption, and folders that are not written over."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from test_bench_dimacs import rows_of

import clipperplus as cp
from clipperplus.bench import bunny
from clipperplus.bench.store import Store
from clipperplus.bench.tables import Table, three_digits

COLUMNS = ["graph", "checksum", "clique number", "greedy size"]
ROW = {"graph": "a", "checksum": "1", "clique number": "4", "greedy size": "3"}


def measured(folder: Path, settings: dict[str, object] | None = None, row: dict[str, str] = ROW) -> None:
    """Leave a folder behind as a run does that has measured one graph."""
    store = Store(folder, "test", settings or {}, COLUMNS)
    store.add(row)
    store.close()


def test_an_interrupted_run_goes_on_where_it_stopped(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "from clipperplus.cli import main; main()"]
    command += ["bench", "bunny", "--methods", "greedy", "--output", str(tmp_path)]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    csv_path = tmp_path / "bunny.csv"
    while not csv_path.exists() or csv_path.read_text().count("\n") < 20:
        time.sleep(0.05)
        assert running.poll() is None
    running.send_signal(signal.SIGINT)
    _, stderr = running.communicate(timeout=30)
    assert running.returncode == 130
    assert "of 2500 graphs are measured; the same command goes on from there\n" in stderr
    before = csv_path.read_text()
    assert not json.loads((tmp_path / "bunny.json").read_text())["complete"]

    csv_path.write_text(before + "38 % 7,38,12")  # as if it had been stopped in the middle of a line
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while csv_path.read_text().count("\n") < before.count("\n") + 10:
        time.sleep(0.05)
        assert running.poll() is None
    running.send_signal(signal.SIGINT)
    running.communicate(timeout=30)
    after = csv_path.read_text()
    assert after.startswith(before)
    assert "38 % 7,38,12" not in after
    trials = [row["trial"] for row in rows_of(csv_path).values()]
    assert trials == [trial.key for trial in bunny.trials()[: len(trials)]]


def test_a_folder_with_another_run_is_refused_and_left_alone(tmp_path: Path) -> None:
    out = tmp_path / "out"
    measured(out, {"methods": ["greedy"]})
    before = {path: path.read_bytes() for path in out.iterdir()}
    with pytest.raises(cp.OptionError, match=r"holds another run of bench test: methods \['greedy'\], now \['auto'\]"):
        Store(out, "test", {"methods": ["auto"]}, COLUMNS)
    with pytest.raises(cp.OptionError, match="lines that this benchmark did not write"):
        Store(out, "test", {"methods": ["greedy"]}, ["graph", "checksum", "clique number", "weight"])
    assert {path: path.read_bytes() for path in out.iterdir()} == before


@pytest.mark.parametrize(
    "content", ["[]", "{}", "", "{", "[" * 100_000, '{"settings": 3, "environment": {}, "started": ""}']
)
def test_what_is_no_description_of_a_run_is_refused(tmp_path: Path, content: str) -> None:
    measured(tmp_path)
    (tmp_path / "test.json").write_text(content)
    with pytest.raises(cp.OptionError, match="is not a run of this benchmark"):
        Store(tmp_path, "test", {"x": 1}, COLUMNS)


def test_measurements_without_a_description_are_refused_and_left_alone(tmp_path: Path) -> None:
    measured(tmp_path)
    (tmp_path / "test.json").unlink()
    before = (tmp_path / "test.csv").read_bytes()
    with pytest.raises(cp.OptionError, match=r"test.csv is there without test.json"):
        Store(tmp_path, "test", {}, COLUMNS)
    assert (tmp_path / "test.csv").read_bytes() == before


@pytest.mark.parametrize(
    "line",
    [
        *("a,b\n", "a,b,3,3,3\n", "\n", "b,1,4,three\n", "b,1,-4,3\n", "b,1,2,3\n", 'b,1,"4,3\n', "b,1,4,3\0\n"),
        "b" * 140_000 + ",1,4,3\n",
    ],
)
def test_edited_measurements_are_refused(tmp_path: Path, line: str) -> None:
    measured(tmp_path)
    with (tmp_path / "test.csv").open("a") as file:
        file.write(line)
    with pytest.raises(cp.OptionError, match="lines that this benchmark did not write"):
        Store(tmp_path, "test", {}, COLUMNS)


@pytest.mark.parametrize("torn", ["b", "b,1", "b,1,2", 'b,"1\r'])
def test_a_torn_line_is_dropped(tmp_path: Path, torn: str) -> None:
    measured(tmp_path)
    whole = (tmp_path / "test.csv").read_bytes()
    (tmp_path / "test.csv").write_bytes(whole + torn.encode())
    assert Store(tmp_path, "test", {}, COLUMNS).rows == [ROW]
    assert (tmp_path / "test.csv").read_bytes() == whole


@pytest.mark.parametrize("name", ['a,"b"', "b\u2028c", "\x0c", "ünï", "[bold]"])
def test_odd_names_survive(tmp_path: Path, name: str) -> None:
    row = {**ROW, "graph": name}
    measured(tmp_path, row=row)
    resumed = Store(tmp_path, "test", {}, COLUMNS)
    assert resumed.rows == [row]
    assert resumed.find(name, "1") == row


def test_a_folder_in_use_is_refused(tmp_path: Path) -> None:
    store = Store(tmp_path, "test", {}, COLUMNS)
    with pytest.raises(cp.OptionError, match="output: another run is writing to"):
        Store(tmp_path, "test", {}, COLUMNS)
    store.close()
    Store(tmp_path, "test", {}, COLUMNS).close()


def test_a_complete_run_stays_complete_until_something_is_added(tmp_path: Path) -> None:
    def complete() -> bool:
        return bool(json.loads((tmp_path / "test.json").read_text())["complete"])

    store = Store(tmp_path, "test", {}, COLUMNS)
    store.add(ROW)
    assert not complete()
    store.finish("title", [], "", None)
    store.close()
    assert complete()
    store = Store(tmp_path, "test", {}, COLUMNS)
    assert complete()
    store.add({**ROW, "graph": "b"})
    assert not complete()
    store.close()


def test_problems_are_found_by_name_and_checksum() -> None:
    store = Store(None, "test", {}, COLUMNS)
    store.add(ROW)
    assert store.find("a", "1") == ROW
    assert store.find("b", "1") is None
    with pytest.raises(cp.OptionError, match="has measurements of another a"):
        store.find("a", "2")
    store.finish("title", [], "", None)  # nowhere to write to


def test_a_finished_run_says_how_it_was_made(tmp_path: Path) -> None:
    store = Store(tmp_path, "test", {"seed": 3}, COLUMNS)
    store.add(ROW)
    store.finish("A title", [Table("Sizes", ["graph", "size"], [["a", "3"]], [["", "4"]])], "- a note", {"mean": 3})
    text = (tmp_path / "test.md").read_text()
    for part in ("# A title", "seed 3", f"commit {cp.core_info().commit}", "- a note", "| a | 3 (4) |"):
        assert part in text
    about = json.loads((tmp_path / "test.json").read_text())
    assert (about["complete"], about["problems"], about["summary"]) == (True, 1, {"mean": 3})


@pytest.mark.parametrize(("value", "text"), [(0.0, "0.00"), (0.0432, "0.0432"), (9.996, "10.00"), (123.4, "123")])
def test_three_digits(value: float, text: str) -> None:
    assert three_digits(value) == text
