"""Files of numbers in lines, as poses come in: words to numbers, and what is wrong with its line."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from .._limits import LONGEST_LINE
from .._paths import Content, read_file
from ..errors import FileFormatError

__all__ = ["Lines", "check", "lines_of", "read_lines", "render", "table"]

Lines: TypeAlias = list[tuple[int, str]]
"""Lines with their numbers, from 1 on."""

_BYTES_A_LINE = 512
"""With its number, and what is made of the numbers in it."""


def read_lines(path: Path, size_limit: int | None = None) -> Lines:
    """Return the lines of a file that hold something, with their numbers; ``.gz`` is unpacked."""
    return lines_of(read_file(path, size_limit))


def lines_of(content: Content) -> Lines:
    """Return the lines that hold something, with their numbers; comments are left out."""
    data, limit = content
    limit.check(len(data) + _BYTES_A_LINE * (data.count(b"\n") + data.count(b"\r")))
    lines: Lines = []
    with limit.enforced():
        for number, line in enumerate(io.TextIOWrapper(io.BytesIO(data), "ascii", errors="replace"), start=1):
            if len(line) > LONGEST_LINE:
                raise FileFormatError(f"{limit.path}: line {number}: expected a pose, got {len(line)} bytes")
            line = line.strip()
            if line and not line.startswith("#"):
                lines.append((number, line))
    return lines


def table(path: Path, lines: Lines, columns: int) -> npt.NDArray[np.float64]:
    """Return the numbers of lines that have so many each."""
    numbers = np.empty((len(lines), columns))
    for row, (number, line) in enumerate(lines):
        words = line.split()
        try:
            if len(words) != columns or "_" in line:  # Python would take 1_0 for a number
                raise ValueError
            numbers[row] = [float(word) for word in words]
        except ValueError:
            raise FileFormatError(f"{path}: line {number}: expected {columns} numbers, got {line[:60]!r}") from None
    return numbers


def check(path: Path, sound: npt.NDArray[np.bool_], numbers: Sequence[int], expected: str) -> None:
    """Refuse a file with the first line that is not sound."""
    if not sound.all():
        raise FileFormatError(f"{path}: line {numbers[int(sound.argmin())]}: expected {expected}")


def render(rows: Iterable[Iterable[Any]], between: str = " ") -> bytes:
    """Return rows of words, integers and floats as lines."""
    # str of a float is the shortest text that gives the same number again
    return "".join(between.join(map(str, row)) + "\n" for row in rows).encode()
