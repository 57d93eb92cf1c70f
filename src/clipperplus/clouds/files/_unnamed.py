"""What a table that names no columns shows of them: numbers as their names, and rows that are counted."""

from __future__ import annotations

import re
from itertools import islice

import numpy as np
import numpy.typing as npt

from ...errors import FileFormatError
from ._rows import Rows, as_float

__all__ = ["columns_are_numbered", "refuse_index", "refuse_numbers", "refuse_picture", "refuse_times"]

_ROWS_LOOKED_AT = 100
_FEWEST_COUNTED = 5
"""Rows; 0, 1, 2 may be coordinates by chance."""
_INTEGER = re.compile(r"[+-]?\d+")
_LARGEST = 1e12
"""Of coordinates, whatever their unit; times are beyond, from those in ms since 1970 on."""
_SECONDS = 1e9, 2.0**31
"""Since 1970, of times from 2001 to 2038 …"""
_LARGEST_BESIDE = 1e7
"""… and of coordinates beside them. A coordinate as large, in mm, has others beyond this."""
_LONGEST_SIDE = 1 << 16
"""Of the picture that a scanner takes, in points."""


def columns_are_numbered(rows: Rows, width: int) -> bool:
    """Whether the first row is ``0,1,2``, which pandas writes above columns without names, and no point.

    It is a point if a coordinate below it is an integer as well: pandas writes 1.0 where the others are no integers. So
    it is where blanks separate, which pandas is seldom asked for. ``,0,1,2``, above an index, is refused.
    """
    number, first = next(iter(rows))
    if rows.separator is None and "\t" not in first:
        return False
    words, names = [word.strip() for word in first.split(rows.separator)], [str(column) for column in range(width)]
    if words == ["", *names[:-1]]:
        raise FileFormatError(
            f"{rows.path}: line {number}: expected names of columns above an index, got {first[:60]!r}: index,x,y,z,…"
        )
    if words != names:
        return False
    others = [_words(line, rows)[:3] for _, line in islice(rows, 1, 1 + _ROWS_LOOKED_AT)]
    return bool(others) and not any(_INTEGER.fullmatch(word) for words in others for word in words)


def refuse_index(rows: Rows, table: npt.NDArray[np.float64]) -> None:
    """Refuse a table whose first column rises from row to row by integers, before three columns that are no integers.

    It is an index, a time or the like; one beyond all coordinates is, whatever follows. Numbers of columns above it, as
    pandas writes them, are no row.
    """
    headed = _words(next(iter(rows))[1], rows) == ["0", "1", "2", "3"]
    first, index = next(islice(rows, headed, None), None), table[int(headed) :, 0]
    if first is None or len(index) < _FEWEST_COUNTED:
        return
    with np.errstate(invalid="ignore"):
        if not ((index == np.floor(index)).all() and (np.diff(index) > 0).all() and np.isfinite(index).all()):
            return
    below = islice(rows, headed, headed + _ROWS_LOOKED_AT)
    if index[0] > _LARGEST or any(not _is_integer(word) for _, row in below for word in _words(row, rows)[1:]):
        raise FileFormatError(
            f"{rows.path}: line {first[0]}: expected x, y and z first, got a column that counts the rows, or rises "
            f"with them, in {first[1][:60]!r}: name the columns in a first line: index,x,y,z, or x,y,z,… if it is x"
        )


def refuse_numbers(rows: Rows, table: npt.NDArray[np.float64]) -> None:
    """Refuse a table whose first column has another integer in every row, in any order: the numbers of the points.

    They are written as integers, the next three columns with a point.
    """
    names = table[:, 0]
    with np.errstate(invalid="ignore"):
        if len(names) < _FEWEST_COUNTED or not (names == np.floor(names)).all() or len(np.unique(names)) < len(names):
            return
    if _have_points(rows, [False, True, True, True]):
        number, row = next(iter(rows))
        raise FileFormatError(
            f"{rows.path}: line {number}: expected x, y and z first, got a column with another integer in every row, "
            f"such as the number of a point, in {row[:60]!r}: name the columns in a first line: id,x,y,z, or x,y,z,… "
            "if it is x"
        )


def refuse_times(rows: Rows, table: npt.NDArray[np.float64]) -> None:
    """Refuse a table whose first column seems to be seconds since 1970, as in trajectories of TUM: it never falls."""
    times, others = table[:, 0], table[:, 1:]
    with np.errstate(invalid="ignore"):
        rising = ((times >= _SECONDS[0]) & (times < _SECONDS[1])).all() and (np.diff(times) >= 0).all()
        if not len(table) or not rising or (np.abs(others) > _LARGEST_BESIDE).any():
            return
    number, row = next(iter(rows))
    raise FileFormatError(
        f"{rows.path}: line {number}: expected x, y and z first, got what seem to be seconds in {row[:60]!r}: "
        "name the columns in a first line: time,x,y,z, or x,y,z,… if it is x"
    )


def refuse_picture(rows: Rows, table: npt.NDArray[np.float64]) -> None:
    """Refuse a table of rows and columns of a scanner's picture before the points, as FARO SCENE writes it.

    The first two of its columns are written as integers, the next three with a point.
    """
    if len(table) < _FEWEST_COUNTED:
        return
    places = table[:, :2]
    if not ((places >= 0) & (places < _LONGEST_SIDE) & (places == np.floor(places))).all():
        return
    if _have_points(rows, [False, False, True, True, True]):
        number, row = next(iter(rows))
        raise FileFormatError(
            f"{rows.path}: line {number}: expected x, y and z first, got two integers before them, such as the row and "
            f"column of a scanner, in {row[:60]!r}: name the columns in a first line: row,column,x,y,z, or x,y,z,…"
        )


def _have_points(rows: Rows, pattern: list[bool]) -> bool:
    """Whether the first words of rows have decimal points where they are expected, and nowhere else."""
    looked_at = (_words(row, rows, len(pattern)) for _, row in islice(rows, _ROWS_LOOKED_AT))
    return all(["." in word for word in words] == pattern for words in looked_at)


def _words(row: str, rows: Rows, count: int = 4) -> list[str]:
    """Return the first words of a row: four are an index and a point, or only a point."""
    return [word.strip() for word in row.split(rows.separator, count)[:count]]


def _is_integer(word: str) -> bool:
    """Whether it is not a number with a fraction."""
    try:
        number = as_float(word)
    except ValueError:
        return True
    return number.is_integer() or not np.isfinite(number)
