"""What becomes of the exit status where nobody reads what is printed, or it cannot be: never 1, and no traceback."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import PROGRAM

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


def test_a_file_that_is_opened_does_not_take_the_place_of_a_closed_stdout(folder: Path) -> None:
    line = f"{shlex.join([*PROGRAM, 'clique', '--plot', 'clique.png'])} >&-"
    done = subprocess.run(["bash", "-c", line], capture_output=True, cwd=folder, check=False)
    assert done.returncode == 2
    picture = folder / "clique.png"
    assert not picture.exists() or picture.read_bytes().startswith(b"\x89PNG")
