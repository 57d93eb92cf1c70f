"""The version comes from one place, and what is published says the same everywhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pages import ROOT

import clipperplus as cp


def version_in(file: str, pattern: str) -> str:
    """Return the version that a file has at its first match of a pattern."""
    found = re.search(pattern, (ROOT / file).read_text("utf-8"), flags=re.MULTILINE)
    assert found is not None, file
    return found[1]


@pytest.mark.parametrize(
    ("file", "pattern"),
    [
        ("pyproject.toml", r'^version = "(.+)"$'),
        ("CITATION.cff", r"^version: (.+)$"),
        ("CHANGELOG.md", r"^## (\d\S+) - \d{4}-\d{2}-\d{2}$"),
        ("packaging/conda/recipe.yaml", r'^  version: "(.+)"$'),
    ],
)
def test_every_file_has_the_version_of_the_package(file: str, pattern: str) -> None:
    assert version_in(file, pattern) == cp.__version__ == cp.core_info().version


def test_the_sources_do_not_repeat_the_version() -> None:
    sources = [path for folder in ("src", "cpp", "docs") for path in (ROOT / folder).rglob("*") if path.is_file()]
    texts = {path for path in sources if path.suffix in (".py", ".h", ".cpp", ".txt", ".md", ".cmake")}
    assert len(texts) > 200
    told = re.compile(rf"(?<![\d.]){re.escape(cp.__version__)}(?![\d.])")
    assert [path for path in sorted(texts) if told.search(path.read_text("utf-8"))] == []


@pytest.mark.parametrize("path", sorted((ROOT / ".github" / "workflows").glob("*.yml")), ids=lambda path: path.stem)
def test_workflows_pin_what_they_use(path: Path) -> None:
    used = re.findall(r"uses: (\S+)", path.read_text("utf-8"))
    assert used
    assert [action for action in used if not re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", action)] == []


@pytest.mark.parametrize(("part", "list_of", "besides"), [("host", "requires", 2), ("run", "dependencies", 1)])
def test_the_recipe_needs_what_the_package_needs(part: str, list_of: str, besides: int) -> None:
    project = (ROOT / "pyproject.toml").read_text("utf-8")
    needed = re.search(rf"^{list_of} = \[(.+?)\]$", project, flags=re.MULTILINE | re.DOTALL)
    assert needed is not None
    recipe = (ROOT / "packaging" / "conda" / "recipe.yaml").read_text("utf-8")
    after = re.search(rf"^  {part}:\n((?:    - .+\n)+)", recipe, flags=re.MULTILINE)
    assert after is not None
    assert re.findall(r"- (.+)", after[1])[besides:] == [
        dependency.split(";")[0].replace(">=", " >=") for dependency in re.findall(r'"([^"]+)"', needed[1])
    ]
