"""What becomes of the exit status where nobody reads what is printed, or it cannot be: never 1, and no traceback.

And of the files that were asked for: they are written all the same.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import PROGRAM
from simulated import room

import clipperplus as cp
from clipperplus.mapping import build_map

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there are other pipes")

COMMANDS = [["demo"], ["clique", "--json"], ["--help"], ["--version"]]
UNTRUSTED = ["register", "line.xyz", "line.xyz"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "line.xyz").write_text("".join(f"{k} 0 0\n" for k in range(100)), encoding="ascii")
    return tmp_path


def closed_pipe() -> int:
    """Return the end of a pipe to write to; nobody reads from the other."""
    reading, writing = os.pipe()
    os.close(reading)
    return writing


@pytest.mark.parametrize("command", [*COMMANDS, UNTRUSTED, [*UNTRUSTED, "--json"]], ids=" ".join)
def test_a_closed_pipe_ends_a_command_as_sigpipe_would(command: list[str], folder: Path) -> None:
    writing = closed_pipe()
    done = subprocess.run([*PROGRAM, *command], stdout=writing, stderr=subprocess.PIPE, cwd=folder, check=False)
    os.close(writing)
    assert done.returncode == 141
    assert b"Traceback" not in done.stderr
    assert b"Exception" not in done.stderr
    assert b"rrno" not in done.stderr


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_reader_that_had_enough_does_not_make_it_untrustworthy(command: list[str], folder: Path) -> None:
    line = f"{shlex.join([*PROGRAM, *command])} | head -1; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", line], capture_output=True, cwd=folder, check=False)
    assert done.returncode in (0, 141)
    assert done.stdout.count(b"\n") == 1
    assert done.stderr == b""


def test_a_terminal_that_does_not_know_its_width_gets_an_answer(folder: Path) -> None:
    command = [*PROGRAM, "clique"]
    done = subprocess.run(command, capture_output=True, cwd=folder, env={**os.environ, "COLUMNS": "0"}, check=False)
    assert done.returncode == 0
    assert b"maximum clique" in done.stdout


def test_a_reader_of_all_gets_the_true_status(folder: Path) -> None:
    line = f"{shlex.join([*PROGRAM, *UNTRUSTED, '--json'])} | cat; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", line], capture_output=True, cwd=folder, check=False)
    assert done.returncode == 1
    assert json.loads(done.stdout)
    assert done.stderr.startswith(b"clipperplus: ")


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
@pytest.mark.parametrize(
    ("to", "reason"),
    [(">&-", "Bad file descriptor"), (">/dev/full", "No space left on device")],
    ids=["closed", "full"],
)
def test_what_cannot_be_printed_is_one_line_and_status_2(
    command: list[str], to: str, reason: str, folder: Path
) -> None:
    line = f"{shlex.join([*PROGRAM, *command])} {to}"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, cwd=folder, check=False)
    assert done.returncode == 2
    assert done.stderr == f"clipperplus: {reason}: standard output\n"


@pytest.mark.parametrize("to", ["2>&-", "2>/dev/full"], ids=["closed", "full"])
def test_what_is_wrong_with_stderr_does_not_get_into_the_answer(to: str, folder: Path) -> None:
    wrong = f"{shlex.join([*PROGRAM, 'register', 'nowhere.ply', 'line.xyz'])} {to}"
    done = subprocess.run(["bash", "-c", wrong], capture_output=True, cwd=folder, check=False)
    assert (done.returncode, done.stdout) == (2, b"")
    right = f"{shlex.join([*PROGRAM, 'clique', '--json'])} {to}"
    done = subprocess.run(["bash", "-c", right], capture_output=True, cwd=folder, check=False)
    assert done.returncode == 0
    assert json.loads(done.stdout)


WRITING = {
    "register source.ply target.ply --output T.txt --aligned A.ply --report r.html": ["T.txt", "A.ply", "r.html"],
    "demo --save saved --report r.html": ["saved/truth.txt", "r.html"],
    "map source.ply target.ply --output M --report r.html": ["M/map.json", "r.html"],
    "locate room target.ply --output T.txt": ["T.txt"],
    "pairs list.csv --output P": ["P/pairs.csv"],
    "clique --plot clique.png": ["clique.png"],
}
"""What commands write."""


@pytest.fixture(scope="module")
def scans(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with two scans, a list of them, and a map."""
    path, pair = tmp_path_factory.mktemp("room"), room()
    cp.write_cloud(path / "source.ply", pair.source)
    cp.write_cloud(path / "target.ply", pair.target)
    (path / "list.csv").write_text("source.ply, target.ply\n", encoding="ascii")
    build_map([pair.source, pair.target]).save(path / "room")
    return path


@pytest.mark.parametrize(("to", "status"), [(">&NOBODY", 141), (">/dev/full", 2), ("2>/dev/full", 0)])
@pytest.mark.parametrize("command", WRITING)
def test_files_are_written_whatever_becomes_of_what_is_printed(
    command: str, to: str, status: int, scans: Path, tmp_path: Path
) -> None:
    for path in scans.iterdir():
        (tmp_path / path.name).symlink_to(path)
    writing = closed_pipe()
    line = f"{shlex.join(PROGRAM)} {command} {to.replace('NOBODY', str(writing))}"
    done = subprocess.run(["bash", "-c", line], capture_output=True, cwd=tmp_path, pass_fds=[writing], check=False)
    os.close(writing)
    said = "clipperplus: No space left on device: standard output\n" if status == 2 else ""
    assert (done.returncode, done.stderr.decode()) == (status, said)
    assert bool(done.stdout) == (status == 0)
    for name in WRITING[command]:
        assert (tmp_path / name).stat().st_size > 0


def test_a_map_that_cannot_be_begun_leaves_no_folder(scans: Path, tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    for name in ("new/folder", "there/folder", "there"):
        line = f"ulimit -f 16; {shlex.join(PROGRAM)} map source.ply target.ply --output {tmp_path / name}"
        done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, cwd=scans, check=False)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)
        assert "relations.sqlite: cannot be used to keep results" in done.stderr
        assert list(tmp_path.rglob("*")) == [tmp_path / "there"]


def test_a_file_that_cannot_be_written_is_named(scans: Path, tmp_path: Path) -> None:
    (tmp_path / "full.txt").symlink_to("/dev/full")
    command = [*PROGRAM, "locate", "room", "target.ply", "--output", str(tmp_path / "full.txt")]
    done = subprocess.run(command, capture_output=True, text=True, cwd=scans, check=False)
    assert (done.returncode, done.stderr) == (2, f"clipperplus: No space left on device: {tmp_path / 'full.txt'}\n")
    assert done.stdout


def test_a_reader_of_the_answer_gets_its_status_even_if_nobody_reads_why(folder: Path) -> None:
    writing = closed_pipe()
    command = [*PROGRAM, *UNTRUSTED, "--json"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=writing, cwd=folder, check=False)
    os.close(writing)
    assert done.returncode == 1
    assert json.loads(done.stdout)


@pytest.mark.parametrize("to", [">&-", ">/dev/full"], ids=["closed", "full"])
@pytest.mark.timeout(60)
def test_no_page_is_served_that_nobody_can_find(to: str, folder: Path) -> None:
    line = f"{shlex.join([*PROGRAM, 'view', '--port', '0'])} {to}"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, cwd=folder, check=False)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert done.stderr.endswith(": standard output\n")


def test_a_file_that_is_opened_does_not_take_the_place_of_a_closed_stdout(folder: Path) -> None:
    line = f"{shlex.join([*PROGRAM, 'clique', '--plot', 'clique.png'])} >&-"
    done = subprocess.run(["bash", "-c", line], capture_output=True, cwd=folder, check=False)
    assert done.returncode == 2
    assert (folder / "clique.png").read_bytes().startswith(b"\x89PNG")
