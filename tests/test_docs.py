"""What the documentation says is true: its code runs, its commands exist, its links lead somewhere."""

from __future__ import annotations

import functools
import importlib
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer.main
from browser import count_near, pixels
from command_line import PROGRAM
from pages import DOCS, PAGES, ROOT, Block, blocks, indented_blocks, name, prose

import clipperplus as cp
from clipperplus.cli import app
from clipperplus.viz import palette

LANGUAGES = {"python", "sh", "text", "cpp", "cmake"}
ENVIRONMENT = ("pip install", "nox", "pre-commit", "mkdocs serve", "cmake")
"""Blocks with these words set up an environment and are not run; these are all of them:"""
SETTING_UP = {
    "README.md": [
        "python3 -m venv .venv && .venv/bin/pip install . && .venv/bin/clipperplus demo\n",
        "python3 -m venv .venv && .venv/bin/pip install nox && .venv/bin/nox\n",
    ],
    "CONTRIBUTING.md": [
        "python3 -m venv .venv && . .venv/bin/activate\n"
        "pip install nox pre-commit && pre-commit install\n"
        'pip install scikit-build-core nanobind cmake ninja && pip install --no-build-isolation -e ".[test]"\n',
        'pip install ".[docs]" && mkdocs serve\n',
    ],
    "docs/cpp.md": [
        "cmake -S . -B build/cpp && cmake --build build/cpp --parallel 4 && "
        "cmake --install build/cpp --prefix build/installed\n"
    ],
    "docs/cluster.md": ['pip install ".[cluster]"\n'],
    "docs/maps.md": ['pip install ".[map]"\n'],
    "docs/seeing.md": ['pip install ".[viz]"\n'],
    "docs/index.md": ["python3 -m venv .venv && . .venv/bin/activate\npip install .\n"],
}
LINK = re.compile(r"!?\[(?:[^\[\]]|\[[^\]]*\])*\]\((?!\w+:|#)([^)\s#]+)(?:#[^)\s]*)?\)")
WITH_PYTHON = [page for page in PAGES if blocks(page, "python")]
SHELL = [block for page in PAGES for block in blocks(page, "sh")]
TO_RUN = [block for block in SHELL if not any(word in block.text for word in ENVIRONMENT)]


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_block_says_what_it_is(page: Path) -> None:
    assert [str(block) for block in blocks(page) if block.language not in LANGUAGES] == []


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_code_is_fenced_and_not_just_indented(page: Path) -> None:
    assert indented_blocks(page.read_text(encoding="utf-8")) == []


def test_indented_code_is_told_from_lists_and_admonitions() -> None:
    assert indented_blocks("text\n\n    code\n    more\n\ntext\n\n\tcode\n") == [3, 8]
    assert (
        indented_blocks("- item\n\n    its text\n\n!!! note\n\n    its text\n\ntext\n    still the same paragraph\n")
        == []
    )
    assert indented_blocks("```text\n\n    fenced\n```\n") == []


@pytest.mark.parametrize("page", WITH_PYTHON, ids=name)
def test_python_blocks_run_as_one_session(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    source = ""
    for block in blocks(page, "python"):  # errors have the line of the page
        source += "\n" * (block.line - source.count("\n")) + block.text
    exec(compile(source, str(page), "exec"), {"__name__": "page"})


@pytest.fixture(scope="session")
def workplace(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A folder with the program ``clipperplus``, and one with the scans of the demo."""
    programs, scans = tmp_path_factory.mktemp("bin"), tmp_path_factory.mktemp("scans")
    program = programs / "clipperplus"
    program.write_text(f'#!/bin/sh\nexec {shlex.join(PROGRAM)} "$@"\n')
    program.chmod(0o755)
    subprocess.run([program, "demo", "--save", scans], check=True, capture_output=True)
    return programs, scans


@pytest.mark.parametrize("block", TO_RUN, ids=str)
def test_shell_block_runs(block: Block, workplace: tuple[Path, Path], tmp_path: Path) -> None:
    programs, scans = workplace
    for scan in ("source.ply", "target.ply"):
        shutil.copy(scans / scan, tmp_path)
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    command = ["bash", "-e", "-o", "pipefail", "-c", block.text]
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, check=False, env={**os.environ, "PATH": path}
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_only_blocks_that_set_up_an_environment_are_not_run() -> None:
    left_out: dict[str, list[str]] = {}
    for block in SHELL:
        if block not in TO_RUN:
            left_out.setdefault(name(block.page), []).append(block.text)
    assert left_out == SETTING_UP


@functools.cache
def options_of(*command: str) -> frozenset[str]:
    """The options that ``clipperplus COMMAND --help`` shows."""
    found: Any = typer.main.get_command(app)
    for word in command:
        found = found.commands[word]
    shown = [option for option in found.params if not getattr(option, "hidden", False)]
    return frozenset(flag for option in shown for flag in (*option.opts, *option.secondary_opts)) | {"--help"}


def synopses(page: Path) -> list[str]:
    """Lines of text blocks and code in sentences that begin with the program."""
    lines = [line for block in blocks(page, "text") for line in block.text.split("\n")]
    text = prose(page.read_text(encoding="utf-8"))
    lines += [" ".join(code.split()) for code in re.findall(r"(?<!`)`(clipperplus [^`]*)`(?!`)", text)]
    return [line for line in lines if line.startswith("clipperplus ")]


@pytest.mark.parametrize("page", [page for page in PAGES if synopses(page)], ids=name)
def test_commands_and_options_exist(page: Path) -> None:
    for line in synopses(page):
        words = line.split()[1:]
        command = [words[0]] if words and not words[0].startswith("-") else []
        if command == ["bench"] and len(words) > 1 and words[1].isalpha():
            command = words[:2]
        known = options_of(*command)
        unknown = {option for option in re.findall(r"--[a-z][a-z-]*", line) if option not in known}
        assert not unknown, f"{name(page)}: {line}"


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_to_files_of_the_repository(page: Path) -> None:
    broken = []
    for target in LINK.findall(prose(page.read_text(encoding="utf-8"))):
        path = (page.parent / target).resolve()
        if not path.is_relative_to(ROOT) or not path.exists():
            broken.append(target)
    assert broken == []


def test_every_page_is_in_the_navigation_once() -> None:
    lines = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").split("\nnav:\n")[1].split("\n\n")[0]
    listed = re.findall(r":\s+(\S+\.md)$", lines, flags=re.MULTILINE)
    there = [page.relative_to(DOCS).as_posix() for page in PAGES if page.is_relative_to(DOCS)]
    assert sorted(listed) == sorted([*there, "contributing.md"])  # this one is made of CONTRIBUTING.md


DIRECTIVE = re.compile(r"^::: (\S+)$", flags=re.MULTILINE)
DOCUMENTED = [
    target for page in sorted((DOCS / "api").glob("*.md")) for target in DIRECTIVE.findall(page.read_text("utf-8"))
]


@pytest.mark.parametrize("public", [entry for entry in cp.__all__ if entry != "__version__"])
def test_every_public_name_is_on_one_page_of_the_api(public: str) -> None:
    assert DOCUMENTED.count(f"clipperplus.{public}") == 1


@pytest.mark.parametrize("target", DOCUMENTED)
def test_what_the_api_names_exists(target: str) -> None:
    module, _, last = target.rpartition(".")
    assert hasattr(importlib.import_module(module), last) or importlib.import_module(target)


def test_tables_that_the_site_takes_from_results_are_there() -> None:
    for page in PAGES:
        for number, path in re.findall(r"^<!-- table (\d+) of (\S+) -->$", page.read_text("utf-8"), flags=re.MULTILINE):
            tables = re.findall(r"(?:^\|.*\n?)+", (page.parent / path).read_text("utf-8"), flags=re.MULTILINE)
            assert 1 <= int(number) <= len(tables), f"{name(page)}: table {number} of {path}"


def test_measured_tables_are_those_that_the_script_writes() -> None:
    written = re.findall(r'write\("([\w ]+)"', (DOCS / "choosing.py").read_text("utf-8"))
    page = (DOCS / "choosing.md").read_text("utf-8")
    tables = re.findall(r"<!-- measured: ([\w ]+) -->\n\|.*?\n<!-- end -->", page, flags=re.DOTALL)
    assert tables == written


def test_pictures_can_be_drawn_again_and_are_small_and_used(tmp_path: Path) -> None:
    command = [sys.executable, DOCS / "pictures.py", tmp_path]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    shots = re.findall(r'^    "(\w+)": \w+,$', (DOCS / "screenshots.py").read_text("utf-8"), flags=re.MULTILINE)
    made = {path.name for path in tmp_path.iterdir()} | {f"{shot}.png" for shot in shots}
    pictures = sorted((DOCS / "images").glob("*.png"))
    assert {path.name for path in pictures} == made
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    for path in pictures:
        assert path.stat().st_size < (300_000 if path.stem in shots else 150_000)
        assert f"images/{path.name})" in text


def test_pictures_with_few_colours_keep_those_of_the_legend() -> None:
    picture = pixels((DOCS / "images" / "pose.png").read_bytes())
    for colour in (palette.SOURCE, palette.TARGET, palette.INLIER, palette.OUTLIER):
        assert count_near(picture, colour, 15) > 100
