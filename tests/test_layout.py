"""The layout of the code is what README, CONTRIBUTING and import-linter say."""

from __future__ import annotations

import ast
import importlib
import re
import sys
from pathlib import Path

import pytest
from pages import ROOT

if sys.version_info >= (3, 11):
    import tomllib
else:
    pytest.skip("tomllib came with Python 3.11", allow_module_level=True)

PACKAGE = ROOT / "src" / "clipperplus"
README = (ROOT / "README.md").read_text("utf-8")
CONTRACT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"][0]


def rooms_of_layers() -> dict[str, int]:
    """Every room with its place from below, as import-linter has it."""
    layers = [layer.split(" | ") for layer in reversed(CONTRACT["layers"])]
    return {room: place for place, layer in enumerate(layers, start=1) for room in layer}


def rooms_of_readme() -> dict[str, int]:
    lines = re.findall(r"^ +(\d+)  (\w+)(?:/|\.py) ", README, flags=re.MULTILINE)
    rooms = {room: int(number) for number, room in lines}
    assert len(rooms) == len(lines), "a room is named twice"
    return rooms


def rooms_of_folder() -> set[str]:
    names = {path.stem for path in PACKAGE.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    return names - {"__init__", "__main__"}


def test_the_readme_has_the_layers_of_import_linter() -> None:
    assert rooms_of_readme() == rooms_of_layers()


def test_every_room_of_the_folder_is_in_the_readme() -> None:
    assert set(rooms_of_readme()) == rooms_of_folder()


def test_the_readme_names_what_reaches_up_and_nothing_else_does() -> None:
    reaching = [line for line in CONTRACT["ignore_imports"] if "**" not in line]
    said = re.search(r"^Five methods reach up .*: (.*) draw with viz\.$", README, flags=re.MULTILINE)
    assert said is not None
    assert len(re.findall(r"`[\w.]+`", said[1])) == len(reaching) == 5
    assert {line.split(" -> ")[1].split(".")[1] for line in reaching} == {"viz"}


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_nothing_but_the_compiled_core_is_imported_from_the_package_itself(path: Path) -> None:
    """Import-linter looks away there, so that ``from . import _core`` is possible."""
    depth = len(path.relative_to(PACKAGE).parts)
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if not isinstance(node, ast.ImportFrom) or path == PACKAGE / "__init__.py":
            continue
        assert node.level > 0 or node.module != "clipperplus", "relative imports only"
        if node.module is None and node.level == depth:
            assert [name.name for name in node.names] == ["_core"], ast.unparse(node)


def test_folders_of_the_readme_exist_and_those_of_the_kernels_are_all_named() -> None:
    block = README[README.index("## Finding your way") :]
    for folder in re.findall(r"^((?:cpp|tests|benchmarks|examples|docs)[\w/]*)/ ", block, flags=re.MULTILINE):
        assert (ROOT / folder).is_dir(), folder
    kernels = re.search(r"^cpp/src/ +kernels: (.*)$", block, flags=re.MULTILINE)
    assert kernels is not None
    named = set(re.findall(r"(\w+)/", kernels[1]))
    assert named == {path.name for path in (ROOT / "cpp" / "src").iterdir() if path.is_dir()}


def test_each_extension_of_contributing_has_its_folder_its_example_and_its_table() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    rows = re.findall(r"^\| ([\w ]+) \| `([^`]+)`[^|]* \| `([^`]+)` \| (.*) \|$", text, flags=re.MULTILINE)
    assert len(rows) == 9
    for what, folder, example, table in rows:
        assert (ROOT / folder / example).is_file(), what
        (name, *elsewhere) = re.findall(r"`([^`]+)`", table)
        where = ROOT / (name if not elsewhere else elsewhere[0] if "/" in elsewhere[0] else f"{folder}{elsewhere[0]}")
        content = where.read_text("utf-8")
        stem = Path(example).stem
        assert not elsewhere or name in content, what
        assert stem in content or what == "invariant", what  # whose names are those of its classes


PUBLIC = (
    "clique consistency evaluate evaluation invariants io.clouds io.graphs io.pose_graphs io.poses mapping "
    "registration synthetic"
)


@pytest.mark.parametrize("path", PUBLIC.split())
def test_public_import_paths_lead_somewhere(path: str) -> None:
    module = importlib.import_module(f"clipperplus.{path}")
    assert module.__all__
    for name in module.__all__:
        assert getattr(module, name) is not None
