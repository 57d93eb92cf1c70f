"""The command line as a user meets it: what it prints, where, and its exit status."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from command_line import PROGRAM, run
from strategies import random_graph

import clipperplus as cp
from clipperplus.cli.options import as_threads
from clipperplus.clique import METHODS


@pytest.fixture
def triangle(tmp_path: Path) -> Path:
    path = tmp_path / "triangle.clq"
    cp.write_graph(path, cp.Graph.from_edges(5, [(0, 1), (1, 2), (0, 2), (3, 4)]))
    return path


def test_summary_says_size_proof_and_stages(triangle: Path) -> None:
    done = run("clique", triangle)
    assert done.returncode == 0
    assert done.stderr == ""
    assert "maximum clique: 3 vertices, proven by the core bound" in done.stdout
    assert "vertices (from 0): 0 1 2" in done.stdout
    assert "greedy" in done.stdout


def test_summary_says_when_nothing_is_proven(tmp_path: Path) -> None:
    path = tmp_path / "cycle.edges"
    cp.write_graph(path, cp.Graph.from_edges(5, [(i, (i + 1) % 5) for i in range(5)]))
    done = run("clique", path, "--method", "clipper+")
    assert "clique: 2 vertices, not proven maximum: no clique has more than 3" in done.stdout
    assert (done.returncode, done.stderr) == (0, "")  # a clique is an answer, proven or not


@pytest.mark.parametrize("method", METHODS)
def test_json_is_one_object_and_nothing_else(triangle: Path, method: str) -> None:
    done = run("clique", triangle, "--method", method, "--json", "--threads", "2", "--time-limit", "5")
    assert done.returncode == 0
    answer = json.loads(done.stdout)
    assert answer["vertices"] == [0, 1, 2]
    assert answer["optimal"] is True
    assert answer["graph"]["num_vertices"] == 5
    assert answer["method"] == method
    assert done.stderr == ""


def test_without_a_file_it_solves_a_simulated_problem() -> None:
    answer = json.loads(run("clique", "--json").stdout)
    assert answer["graph"]["num_vertices"] == 1000
    assert answer["size"] >= 50
    assert answer["optimal"] is True


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["clique", "nowhere.clq"], "clipperplus: No such file or directory: nowhere.clq\n"),
        (["clique", "README.md"], "clipperplus: README.md: unknown kind of graph file"),
        (["clique", "--method", "magic"], "clipperplus: method: expected one of auto, exact, clipper+, greedy"),
        (["clique", "--threads", "0"], "clipperplus: threads: expected an integer from 1 to 1024, got 0\n"),
        (
            ["clique", "--time-limit", "-1"],
            "clipperplus: time_limit: expected a finite number of at least 0, got -1.0\n",
        ),
        (
            ["clique", "--time-limit", "abc"],
            "clipperplus: Invalid value for '--time-limit': ",
        ),
        (["clique", "--nonsense"], "clipperplus: No such option: --nonsense"),
        (["nonsense"], "clipperplus: No such command 'nonsense'"),
    ],
)
def test_wrong_input_gives_one_line_and_status_2(arguments: list[str], message: str) -> None:
    done = run(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith(message)
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("wish", "first"), [({}, "clipperplus:"), ({"CLIPPERPLUS_TRACEBACK": "1"}, "Traceback")], ids=["usual", "traceback"]
)
def test_a_mistake_of_the_program_is_not_the_status_of_an_answer(wish: dict[str, str], first: str) -> None:
    """Status 1 would say that there is an answer that is not to be trusted."""
    program = f"""
from clipperplus.cli import main, clique
def find(*_, **__):
    raise AssertionError("two\\nlines")
clique.find_clique = find
{PROGRAM[2]}"""
    command = [*PROGRAM[:2], program, "clique", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **wish})
    assert (done.returncode, done.stdout) == (70, "")
    assert done.stderr.split()[0] == first
    said = done.stderr.splitlines()[-1]
    assert said.startswith("clipperplus: internal error: AssertionError: two lines; please report it")


def test_any_file_name_is_shown_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "x[red]y[" / "b].clq"
    path.parent.mkdir()
    cp.write_graph(path, cp.Graph.from_edges(2, [(0, 1)]))
    assert "x[red]y[/b].clq" in run("clique", path, "--method", "clipper+").stdout.replace("\n", "")


def test_output_survives_a_terminal_without_unicode() -> None:
    done = run("clique", PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, "")
    assert "maximum clique: 50 vertices" in done.stdout


def test_damaged_file_gives_one_line_with_the_place(tmp_path: Path) -> None:
    path = tmp_path / "bad.clq"
    path.write_text("p edge 3 1\ne 1 9\n")
    done = run("clique", path)
    assert done.returncode == 2
    assert done.stderr == f"clipperplus: {path}: line 2: vertex 9 is not in 1 … 3 (the graph has 3 vertices)\n"


def test_version_and_help() -> None:
    assert run("--version").stdout.startswith(f"clipperplus {cp.__version__} (")
    assert "clique" in run("--help").stdout
    assert "--time-limit" in run("clique", "--help").stdout


@pytest.fixture
def hard(tmp_path: Path) -> Path:
    path = tmp_path / "hard.clq"
    cp.write_graph(path, random_graph(250, 0.9, 1))
    return path


def test_a_terminal_sees_size_and_bound_while_the_search_runs(hard: Path) -> None:
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    command = [*PROGRAM, "clique", str(hard), "--json"]
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=theirs, check=True, env={**os.environ, "TERM": "xterm"}
    )
    os.close(theirs)
    shown = os.read(ours, 100_000).decode()
    os.close(ours)
    assert "clique of" in shown
    assert "none has more than" in shown
    assert json.loads(done.stdout)["size"] >= 40


def test_ctrl_c_prints_the_best_so_far(hard: Path) -> None:
    command = [*PROGRAM, "clique", str(hard), "--method", "exact", "--json", "--threads", "2"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    time.sleep(2.0)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=20)
    answer = json.loads(output)
    assert process.returncode == 130
    assert answer["interrupted"] is True
    assert 40 <= answer["size"] < answer["upper_bound"]
    assert errors == ""


def test_a_memory_limit_is_refused_in_one_line(hard: Path) -> None:
    done = run("clique", hard, "--memory-limit", "0.1")
    assert done.returncode == 2
    assert done.stderr.startswith("clipperplus: memory_limit: the search could need")
    assert done.stderr.count("\n") == 1
    for wrong in ("nan", "inf", "-1", "1e300"):
        done = run("clique", hard, f"--memory-limit={wrong}")
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)
        assert "--memory-limit: expected a number from 0" in done.stderr


def test_a_file_that_takes_too_much_is_refused_in_one_line_unless_it_may(tmp_path: Path) -> None:
    (tmp_path / "far.edges").write_text("0 12000000\n")
    done = run("clique", tmp_path / "far.edges", "--json")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "far.edges: what it holds takes 288000" in done.stderr
    done = run("clique", tmp_path / "far.edges", "--json", "--size-limit", "300")
    assert done.returncode == 0
    assert json.loads(done.stdout)["graph"]["num_vertices"] == 12_000_001
    done = run("clique", tmp_path / "far.edges", "--size-limit=-1")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "--size-limit: expected a number from 0" in done.stderr


@pytest.mark.parametrize("command", ["register", "map", "view"])
def test_scans_that_take_too_much_are_refused_in_one_line(command: str, tmp_path: Path) -> None:
    (tmp_path / "a.xyz").write_text("1 2 3\n" * 1000)
    scans = tmp_path / "a.xyz", tmp_path / "a.xyz"
    done = run(command, *scans, "--size-limit", "0.01")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "a.xyz: what it holds takes" in done.stderr
    done = run(command, *scans, "--size-limit=-1")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "--size-limit: expected a number from 0" in done.stderr


def test_poses_and_maps_that_take_too_much_are_refused_in_one_line(tmp_path: Path) -> None:
    scans = [tmp_path / name for name in ("a.xyz", "b.xyz")]
    for scan in scans:
        scan.write_text("1 2 3\n" * 10)
    poses, old = tmp_path / "poses.txt", tmp_path / "map"
    poses.write_text("1 0 0 0 0 1 0 0 0 0 1 0\n" * 2 + "# nothing\n" * 2000)
    old.mkdir()
    (old / "map.json").write_text('{"kind": "clipperplus map"}' + " " * 20000)
    for name, more in (("poses.txt", ("--poses", poses)), ("map.json", ("--output", old))):
        done = run("map", *scans, *more, "--size-limit", "0.01")
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
        assert f"{name}: what it holds takes" in done.stderr


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names here")
@pytest.mark.timeout(60)
def test_a_pipe_is_refused_in_one_line(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.edges")
    done = run("clique", tmp_path / "a.edges")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "a.edges: expected a regular file, this is a pipe" in done.stderr


def test_threads_are_all_cores_that_the_process_may_use_unless_said() -> None:
    assert as_threads(3) == 3
    allowed = os.sched_getaffinity(0)
    assert as_threads(None) == len(allowed)
    try:
        os.sched_setaffinity(0, {min(allowed)})
        assert as_threads(None) == 1
    finally:
        os.sched_setaffinity(0, allowed)
