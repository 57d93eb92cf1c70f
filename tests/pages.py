"""The pages of the documentation, and what is in them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]

_FENCE = re.compile(r"^\s*(`{3,}|~{3,})\s*(.*)$")
_CONTAINER = re.compile(r"^\s*([-*+]|\d+[.)]|!!!|\?\?\?)\s")
"""Lists and admonitions: what is indented below them is their text."""


@dataclass(frozen=True)
class Block:
    """A fenced block."""

    page: Path
    line: int
    language: str
    text: str

    def __str__(self) -> str:
        return f"{name(self.page)}:{self.line}"


def name(page: Path) -> str:
    """The page as it is called in the repository."""
    return page.relative_to(ROOT).as_posix()


def blocks(page: Path, *languages: str) -> list[Block]:
    """The fenced blocks of a page; those in some languages, or all."""
    found: list[Block] = []
    opened: tuple[int, str, str] | None = None
    lines: list[str] = []
    for number, line in enumerate(page.read_text(encoding="utf-8").split("\n"), start=1):
        fence = _FENCE.match(line)
        if opened is None and fence:
            opened, lines = (number, fence[1], fence[2]), []
        elif opened is not None and fence and fence[1].startswith(opened[1]) and not fence[2]:
            found.append(Block(page, opened[0], opened[2], "\n".join([*lines, ""])))
            opened = None
        else:
            lines.append(line)
    assert opened is None, f"{name(page)}: the block in line {opened} has no end"
    return [block for block in found if not languages or block.language in languages]


def prose(text: str) -> str:
    """A page without its fenced blocks; lines keep their numbers."""
    kept: list[str] = []
    fence = ""
    for line in text.split("\n"):
        found = _FENCE.match(line)
        if found and not fence:
            fence = found[1]
            kept.append("")
        elif fence:
            fence = "" if found and found[1].startswith(fence) and not found[2] else fence
            kept.append("")
        else:
            kept.append(line)
    return "\n".join(kept)


def indented_blocks(text: str) -> list[int]:
    """The lines with which blocks begin that are code only because they are indented."""
    found: list[int] = []
    lines = prose(text).split("\n")
    for number, line in enumerate(lines):
        if not re.match(r"^(?: {4}|\t)\s*\S", line) or (number and lines[number - 1].strip()):
            continue
        depth = len(line) - len(line.lstrip())
        before = (other for other in reversed(lines[:number]) if other.strip())
        parent = next((other for other in before if len(other) - len(other.lstrip()) < depth), "")
        if not _CONTAINER.match(parent):
            found.append(number + 1)
    return found
