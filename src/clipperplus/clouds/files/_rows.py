"""Points as lines of text: quickly where every word is a number, line by line where something has to be said."""

from __future__ import annotations

import io
import math
import re
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..._limits import LONGEST_LINE, SizeLimit
from ...errors import FileFormatError
from ._columns import table_bytes

__all__ = ["Rows", "as_float", "format_rows"]

_FORTRAN = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)[dD][+-]?\d+")
"""A number in double precision as Fortran writes it, 1.5D-3."""
_COMMA_IN_NUMBER = re.compile(r"\d,\d")
_BEFORE_COMMENTS = " \t,;"
_NOT_FINITE = re.compile(r"[+-]?(1\.#[IJQRS][A-Z]{0,3}\d*(e[+-]?\d+)?|nan\((ind|snan)\))", re.IGNORECASE)
"""As programs of Microsoft's compilers write it: 1.#QNAN, -1.#IND00, rounded 1.#J; those of later ones -nan(ind)."""


@dataclass(frozen=True)
class Rows:
    """The lines of a text that hold something, each with its number, from a byte of the file on."""

    path: Path
    raw: bytes
    limit: SizeLimit
    """What the numbers may take."""
    start: int = 0
    """Byte at which the first line begins."""
    first: int = 1
    """Number of the first line."""
    separator: str | None = None
    """Between the words; None is white space."""
    comments: tuple[str, ...] = ()
    """What a comment starts with, at the start of a line or after a blank or a separator; it ends with its line."""
    comment_lines: str = ""
    """What starts a line that is a comment as a whole, but may stand in others: 50 %."""

    def __iter__(self) -> Iterator[tuple[int, str]]:
        for number, line in enumerate(self._lines(), self.first):
            if len(line) > LONGEST_LINE:
                raise FileFormatError(f"{self.path}: line {number}: expected a point, got {len(line)} bytes")
            for mark in self.comments:
                if mark in line:
                    before = line.partition(mark)[0]
                    simple = not before or before[-1] in _BEFORE_COMMENTS  # as nearly always
                    line = before if simple else _without_comment(line, mark)
            line = line.strip()
            if line and not (self.comment_lines and line.startswith(self.comment_lines)):
                yield number, line

    def from_line(self, line: int) -> Rows:
        """Return the rows from a line on; those before it are not looked at again."""
        before = islice(self._lines(newline=""), line - self.first)  # a character per byte, also at the ends of lines
        return replace(self, start=self.start + sum(map(len, before)), first=line)

    def numbers(
        self, width: int, columns: Sequence[int], *, skip: int = 0, count: int | None = None
    ) -> npt.NDArray[np.float64]:
        """Return some columns of the rows that follow the first ``skip``, each of ``width`` words.

        With ``count`` there have to be as many rows; what follows them is not looked at.
        """
        if count is not None and skip + count > self._most_lines():
            raise self._too_few(skip, count)
        first = next(islice(self, skip, None), None)
        if first is None or count == 0:
            table = np.empty((0, len(columns)))
        else:
            most = self._most_lines() if count is None else count
            words = min(most * width, (len(self.raw) - self.start) // 2 + 1)  # a number takes two bytes or more
            self.limit.check(table_bytes(words, 1))
            every = self._quickly(first[0], count)
            complete = every.shape[1] == width and count in (None, len(every))
            table = every[:, columns] if complete else self._one_by_one(width, columns, skip, count)
        if count is not None and len(table) < count:
            raise self._too_few(skip, count)
        return table

    def _lines(self, newline: str | None = None) -> Iterator[str]:
        stream = io.BytesIO(self.raw)  # shares the bytes
        stream.seek(self.start)
        return iter(io.TextIOWrapper(stream, encoding="ascii", errors="replace", newline=newline))

    def _quickly(self, line: int, count: int | None) -> npt.NDArray[np.float64]:
        """Return all columns of the lines from one that is a row on; an empty table if that is not so simple."""
        marks = (*self.comments, self.comment_lines)
        if any(mark and self.raw.find(mark.encode(), self.start) >= 0 for mark in marks):
            lines: Iterator[str] = (text for number, text in self if number >= line)
        else:
            lines = islice(self._lines(), line - self.first, None if count is None else line - self.first + count)
        try:
            return np.loadtxt(lines, comments=None, delimiter=self.separator, ndmin=2, encoding=None)
        except ValueError:  # a word that is no number, maybe in a column that nobody wants, or rows of two widths
            return np.empty((0, 0))

    def _one_by_one(self, width: int, columns: Sequence[int], skip: int, count: int | None) -> npt.NDArray[np.float64]:
        values = array("d")
        for number, line in islice(self, skip, None if count is None else skip + count):
            words = line.split(self.separator)
            try:
                if len(words) != width or "_" in line:  # Python would take 1_0 for a number
                    raise ValueError
                values.extend([as_float(words[column]) for column in columns])
            except ValueError:
                expected = f"{width} number{'s' if width > 1 else ''}"
                if self.separator == ";" and _COMMA_IN_NUMBER.search(line):
                    expected += " with decimal points"
                raise FileFormatError(f"{self.path}: line {number}: expected {expected}, got {line[:60]!r}") from None
        return np.frombuffer(values).reshape(-1, len(columns))

    def _most_lines(self) -> int:
        return self.raw.count(b"\n", self.start) + self.raw.count(b"\r", self.start) + 1

    def _too_few(self, skip: int, count: int) -> FileFormatError:
        found, last = 0, self.first
        for number, _ in self:
            found, last = found + 1, number
        if found < skip:
            promise = f"{skip} lines before the points; the file ends after {found}"
            return FileFormatError(f"{self.path}: line {last}: the header promises {promise}")
        return FileFormatError(
            f"{self.path}: line {last}: the header promises {count} points; the file ends after {found - skip}"
        )


def as_float(word: str) -> float:
    """Return a number as Python, Fortran or Microsoft's C writes it; ValueError if it is none."""
    try:
        return float(word)
    except ValueError:
        if _FORTRAN.fullmatch(word.strip()):
            return float(word.lower().replace("d", "e"))
        if _NOT_FINITE.fullmatch(word.strip()):
            return math.nan
        raise


def _without_comment(line: str, mark: str) -> str:
    return re.split(f"(?<=[{_BEFORE_COMMENTS}]){re.escape(mark)}", line, maxsplit=1)[0]


def format_rows(table: npt.NDArray[Any]) -> bytes:
    """Return a line of text per row, in as many digits as it takes to read the same numbers again."""
    return "".join(" ".join(map(repr, row)) + "\n" for row in table.tolist()).encode()
