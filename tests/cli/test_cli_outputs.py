"""No command writes two outputs to the same file, or takes the place of a file that it reads."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from command_line import Call
from simulated import room

import clipperplus as cp
from clipperplus.mapping import build_map
from clipperplus.mapping.map_files import is_of_map

SAME = "expected another file than for"
READ = "expected another file than those that are read"
OF_MAP = "expected another file than those of the map"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder, to work in, with two scans under several names, lists of them, and a map."""
    monkeypatch.chdir(tmp_path)
    source, target = room().source, room().target
    cp.write_cloud("source.ply", source)
    cp.write_cloud("target.ply", target)
    Path("linked.ply").symlink_to("source.ply")
    Path("dangling.txt").symlink_to("t.txt")
    Path("P").mkdir()
    Path("P/pairs.csv").write_text("../source.ply, ../target.ply\n", encoding="ascii")
    Path("list.csv").write_text("source.ply, P/pairs.csv\n", encoding="ascii")
    build_map([source, target]).save("M")
    return tmp_path


def contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("register source.ply target.ply --output t.txt --report t.txt", f"report: {SAME} output, got t.txt"),
        ("register source.ply target.ply --output t.txt --report ./P/../t.txt", f"report: {SAME} output"),
        ("register source.ply target.ply --output t.txt --report dangling.txt", f"report: {SAME} output"),
        ("register source.ply target.ply --output t.ply --aligned t.ply", f"aligned: {SAME} output, got t.ply"),
        ("register source.ply target.ply --output target.ply", f"output: {READ}, got target.ply"),
        ("register source.ply target.ply --aligned linked.ply", f"aligned: {READ}, got linked.ply"),
        ("register linked.ply target.ply --aligned source.ply", f"aligned: {READ}, got source.ply"),
        ("register source.ply target.ply --report source.ply", f"report: {READ}, got source.ply"),
        ("locate M target.ply --output target.ply", f"output: {READ}, got target.ply"),
        ("locate M target.ply --output M/scans.npz", f"output: {OF_MAP}, got M/scans.npz"),
        ("demo --save P --report P/truth.txt", f"save: {SAME} report, got P/truth.txt"),
        ("demo --scene building --save P --report P/scan3.ply", f"save: {SAME} report, got P/scan3.ply"),
        ("map source.ply target.ply --output new --report new", f"report: {SAME} output, got new"),
        ("map source.ply target.ply --output M --report M/map.json", f"report: {OF_MAP}, got M/map.json"),
        ("map source.ply target.ply --output M --report M/relations.sqlite", f"report: {SAME} what is known so far"),
        ("map source.ply target.ply --output M --poses M/poses.tum", f"poses: {OF_MAP}, got M/poses.tum"),
        ("map source.ply target.ply --report target.ply", f"report: {READ}, got target.ply"),
        ("pairs P/pairs.csv --output P", f"output: {READ}, got P/pairs.csv"),
        ("pairs list.csv --output P", f"output: {READ}, got P/pairs.csv"),
        ("view source.ply target.ply --output source.ply", f"output: {READ}, got source.ply"),
    ],
)
def test_what_would_be_overwritten_is_refused_before_the_work(
    call: Call, command: str, reason: str, folder: Path
) -> None:
    before = contents(folder)
    done = call(*command.split())
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr.startswith(f"clipperplus: {reason}")
    assert contents(folder) == before


def test_a_figure_does_not_take_the_place_of_its_graph(call: Call, tmp_path: Path) -> None:
    graph = tmp_path / "a.clq"
    cp.write_graph(graph, cp.Graph.from_edges(2, [(0, 1)]))
    (tmp_path / "a.png").symlink_to(graph)
    done = call("clique", graph, "--plot", tmp_path / "a.png")
    assert (done.returncode, done.stdout) == (2, "")
    assert READ in done.stderr


@pytest.mark.skipif(not Path("/dev/null").exists(), reason="there is no such device")
def test_a_device_may_be_named_twice(call: Call, folder: Path) -> None:
    done = call("register", "source.ply", "target.ply", "--output", os.devnull, "--report", os.devnull)
    assert (done.returncode, done.stderr) == (0, "")


def test_all_files_that_a_map_writes_are_known_as_its_own(folder: Path) -> None:
    written = list(Path("M").iterdir())
    assert len(written) >= 5
    assert all(is_of_map(path, "M") for path in written)
    assert is_of_map("M/poses_12.tum", folder / "M")
    assert not is_of_map("M/transform.txt", "M")
    assert not is_of_map("map.json", "M")
