"""What a table that names no columns shows of them: numbers as their names, and rows that are counted."""

from __future__ import annotations

import re
from itertools import islice

import numpy as np
import numpy.typing as npt

from ...errors import FileFormatError
from ._rows import Rows, as_float

__all__ = ["columns_are_numbered", "refuse_index"]

_ROWS_LOOKED_AT = 100
_FEWEST_COUNTED = 5
"""Rows; 0, 1, 2 may be coordinates by chance."""
_INTEGER = re.compile(r"[+-]?\d+")


def columns_are_numbered(rows: Rows, width: int) -> bool:
    """Whether the first row is ``0,1,2``, which pandas writes above columns without names, and no point.

    It is a point if a coordinate below it is an integer as well: pandas writes 1.0 where the others are no integers. So
    it is where blanks separate, which pandas is seldom asked for.
    """
    lines = (line for _, line in rows)
    first = next(lines)
    if rows.separator is None and "\t" not in first:
        return False
    if [word.strip() for word in first.split(rows.separator)] != [str(column) for column in range(width)]:
        return False
    others = [_words(line, rows)[:3] for line in islice(lines, _ROWS_LOOKED_AT)]
    return bool(others) and not any(_INTEGER.fullmatch(word) for words in others for word in words)


def refuse_index(rows: Rows, table: npt.NDArray[np.float64]) -> None:
    """Refuse a table whose first column rises from row to row by integers, before three columns that are no integers.

    It is an index, a time or the like. Numbers of columns above it, as pandas writes them, are no row.
    """
    headed = _words(next(iter(rows))[1], rows) == ["0", "1", "2", "3"]
    first, index = next(islice(rows, headed, None), None), table[int(headed) :, 0]
    if first is None or len(index) < _FEWEST_COUNTED:
        return
    with np.errstate(invalid="ignore"):
        if not ((index == np.floor(index)).all() and (np.diff(index) > 0).all() and np.isfinite(index).all()):
            return
    below = islice(rows, headed, headed + _ROWS_LOOKED_AT)
    if any(not _is_integer(word) for _, row in below for word in _words(row, rows)[1:]):
        raise FileFormatError(
            f"{rows.path}: line {first[0]}: expected x, y and z first, got a column that counts the rows, or rises "
            f"with them, in {first[1][:60]!r}: name the columns in a first line: index,x,y,z, or x,y,z,… if it is x"
        )


def _words(row: str, rows: Rows) -> list[str]:
    """Return the first words of a row, which is an index and a point or only a point."""
    return [word.strip() for word in row.split(rows.separator, 4)[:4]]


def _is_integer(word: str) -> bool:
    """Whether it is not a number with a fraction."""
    try:
        number = as_float(word)
    except ValueError:
        return True
    return number.is_integer() or not np.isfinite(number)
