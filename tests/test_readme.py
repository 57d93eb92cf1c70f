"""The measured numbers of README.md are those of the generated tables, and there are no others."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from pages import ROOT, prose

README = ROOT / "README.md"
BLOCK = re.compile(r"<!-- measured: ([\w ]+) -->\n(.*?)<!-- end -->\n", re.DOTALL)
BLOCKS = [(found[1], found[2]) for found in BLOCK.finditer(README.read_text(encoding="utf-8"))]

WORDS = "two|three|four|five|six|seven|eight|nine|ten|twenty|thirty|fifty|sixty|hundred|thousand|million"
UNITS = "ms|s|seconds?|minutes?|hours?|%|percent|times|×(?! \\d)|nodes|vertices|edges|associations|pairs|graphs|points"
MEASURED = re.compile(
    rf"\b(?:\d[\d ]*(?:\.\d+)?|(?:{WORDS})) ?(?:{UNITS})(?!\w)"  # 58 ms, four seconds, 5000 associations
    r"|\b\d+\.\d+\b"  # 0.99
    r"|\b(?:half|third|quarter|tenth|most) of\b",
    re.IGNORECASE,
)
ALLOWED = {
    "3.10": "the oldest Python that is supported",
    "5000 points": "what the default voxel size aims at",
    "1000 associations": "the size of the problem that `clipperplus clique` simulates",
    "95 %": "the share of outliers in it",
    "two points": "the definition of epsilon",
    "Two associations": "the definition of the graph",
    "1 s": "the default time limit of auto",
}


def measured(text: str) -> list[str]:
    """What looks like a measured number outside of code and of the blocks that are filled from tables."""
    outside = re.sub(r"`[^`\n]*`", "", prose(BLOCK.sub("", text)))
    outside = " ".join(outside.split())  # a line may end between a number and its unit
    return [found[0].strip() for found in MEASURED.finditer(outside)]


def check(readme: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "benchmarks" / "readme.py"), "--check", "--readme", str(readme)]
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8")


def test_measured_numbers_are_those_of_the_tables() -> None:
    done = check(README)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(("name", "body"), BLOCKS, ids=[name for name, _ in BLOCKS])
def test_another_number_is_noticed(name: str, body: str, tmp_path: Path) -> None:
    first = re.search(r"(?<![\w.])\d+(?:\.\d+)?(?= (?:ms|s|registration|pairs)\b)", body)
    assert first is not None, f"{name}: no number in this block"
    changed = body[: first.start()] + f"{float(first[0]) / 2:g}" + body[first.end() :]
    copy = tmp_path / "README.md"
    copy.write_text(README.read_text(encoding="utf-8").replace(body, changed), encoding="utf-8")
    done = check(copy)
    assert done.returncode == 1
    assert f"{name}: differs from the tables" in done.stderr


def test_a_block_that_is_gone_is_noticed(tmp_path: Path) -> None:
    copy = tmp_path / "README.md"
    copy.write_text(BLOCK.sub("", README.read_text(encoding="utf-8")), encoding="utf-8")
    done = check(copy)
    assert done.returncode == 1
    assert all(f"{name}: this block should be there once" in done.stderr for name, _ in BLOCKS)


def test_no_number_is_measured_outside_of_the_blocks() -> None:
    assert sorted(set(measured(README.read_text(encoding="utf-8")))) == sorted(ALLOWED)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("It takes 58 ms.", ["58 ms"]),
        ("It takes 58\nms.", ["58 ms"]),
        ("100 000 take four seconds, 0.9 of them right.", ["four seconds", "0.9"]),
        ("98 % of 1737 pairs, a hundred times faster.", ["98 %", "1737 pairs", "hundred times"]),
        ("Half of the graphs end here; the others need twenty nodes.", ["Half of", "twenty nodes"]),
        ("`min_size=3 s`, 4 × 4, (n, 3), RA-L 2024\n```sh\nsleep 3 s\n```\n", []),
        ("<!-- measured: recall -->\n0.99\n<!-- end -->\n", []),
    ],
)
def test_measured_numbers_are_recognized(text: str, found: list[str]) -> None:
    assert measured(text) == found
