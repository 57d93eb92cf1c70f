"""Points as plain text: one per line, words separated by white space, commas or semicolons (XYZ, TXT, CSV)."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice, takewhile
from pathlib import Path

from ..._limits import SizeLimit
from ...errors import FileFormatError
from ._columns import Contents
from ._headings import find_named_columns
from ._other_columns import names_no_z, only_names_columns
from ._rows import Rows, as_float
from ._unnamed import columns_are_numbered, refuse_index, refuse_numbers, refuse_picture, refuse_times

__all__ = ["parse_table"]

_COMMENTS, _COMMENT_LINES = ("#", "//"), "%"
_LINES_ABOVE = 100
"""So many lines above the first row can name its columns."""
_LONGEST_COMMENT = 10_000
"""Bytes; a longer one names no columns."""
_MARKS = ";,"
_LABELS = re.compile(r"(?:fields?|columns?|header|names?|format)\s+", re.IGNORECASE), re.compile(r"[^:=]*[:=]\s*")
"""What introduces the names of columns in a comment: ``FIELDS x y z``, ``Order of columns: x y z``."""
_UNIT = re.compile(r" (?=[\[(] ?\w+ ?[\])])")
"""What separates a name from its unit: ``x [m]``."""
_UNIT_OF_ALL = re.compile(r"[^\[({]*\S(\s+[\[(] ?\w+ ?[\])])")
"""The only unit in a comment, at its end: ``x y z [m]``."""
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+([eE][+-]?\d+)?")
_DECIMAL_POINT = re.compile(r"\d\.|\.\d")
_THOUSANDS = re.compile(r"[+-]?\d{1,3}(,\d{3})+\.\d*")
_POINT_OF_THOUSANDS = re.compile(rf"{_THOUSANDS.pattern}(,{_THOUSANDS.pattern}){{2,}}")


def parse_table(path: Path, raw: bytes, limit: SizeLimit) -> Contents:
    """Return the columns that a header calls x, y and z or the like, or the first three if there is no header.

    The header is a first line without a number, or a comment before the first row that names them. A first line that
    names something else is refused: nobody knows what the columns are. One that only numbers them is passed over.
    """
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise FileFormatError(f"{path}: line 1: expected text in ASCII or UTF-8, got UTF-16: save it in one of these")
    start = len(codecs.BOM_UTF8) if raw.startswith(codecs.BOM_UTF8) else 0
    rows = Rows(path, raw, limit, start, comments=_COMMENTS, comment_lines=_COMMENT_LINES)
    first = list(islice(rows, 2))
    if not first:
        raise FileFormatError(f"{path}: line 1: expected points; the file has no line with a number")
    has_header = not any(map(_is_number, _words(first[0][1])))
    for number, line in first:
        _check_commas(path, number, line)
        if not has_header or len(_words(line)) != len(_words(first[0][1])):
            _check_blanks(path, number, line)
    if not has_header:
        skip, number, line = 0, *first[0]
        width = len(_words(line))
        columns = _columns_in_comment(rows, number, width)
    else:
        skip, number, line = 1, *first[-1]
        width = len(_words(line))
        columns = _columns_in_header(path, *first[0], first[1:])
    rows = replace(rows.from_line(first[0][0]), separator=_separator(line))
    if columns is not None:
        return Contents(rows.numbers(width, columns, skip=skip))
    if width < 3:
        hint = ": remove it if it counts the points" if line.isdigit() else ""
        raise FileFormatError(f"{path}: line {number}: expected 3 numbers or more, got {line[:60]!r}{hint}")
    if columns_are_numbered(rows, width):
        rows = rows.from_line(first[1][0])
    for number, line in first:
        if _POINT_OF_THOUSANDS.fullmatch(line):
            raise FileFormatError(
                f"{path}: line {number}: expected numbers without marks of thousands, got {line[:60]!r}: "
                "name the columns in a first line if every comma separates two"
            )
    table = rows.numbers(width, [0, 1, 2])
    if width > 3:
        refuse_index(rows, table)
        refuse_times(rows, table)
        refuse_numbers(rows, table)
    if width > 4:
        refuse_picture(rows, table)
    return Contents(table)


def _columns_in_header(path: Path, number: int, line: str, after: list[tuple[int, str]]) -> list[int]:
    """Return the columns that a header names; ``after`` is the row that follows it, if there is one."""
    widths = [len(_words(row)) for _, row in after]
    names = _names(line, *widths)
    columns = find_named_columns(f"{path}: line {number}", names)
    if columns is None:
        missing = [axis for axis in "xyz" if axis not in names]
        what = f"there is no {missing[0]} among" if len(missing) < 3 else "cannot tell which they are in"
        raise FileFormatError(f"{path}: line {number}: expected columns x, y and z; {what} {line[:60]!r}")
    if widths not in ([], [len(names)]):
        number, row = after[0]
        raise FileFormatError(f"{path}: line {number}: expected {len(names)} words as in the header, got {row[:60]!r}")
    return columns


def _columns_in_comment(rows: Rows, end: int, width: int) -> list[int] | None:
    """Return the columns that a comment above line ``end`` names, if it has as many words as a row: the nearest one.

    One that has x, y and z at other places than the first three, and other words than names of columns, is refused. So
    is one of names alone among which x and y are, but no z.
    """
    above = replace(rows.from_line(max(rows.first, end - _LINES_ABOVE)), comments=(), comment_lines="")
    doubtful: tuple[int, str] | None = None
    for number, line in reversed(list(takewhile(lambda row: row[0] < end, above))):
        for names in _names_in_comment(line.lstrip("#/% \t"), width) if len(line) <= _LONGEST_COMMENT else ():
            columns = find_named_columns(f"{rows.path}: line {number}", names)
            if columns is not None and only_names_columns(names, columns[:3]):
                return columns
            if columns is not None or names_no_z(names):
                doubtful = doubtful or (number, line)
    if doubtful is not None:
        raise FileFormatError(
            f"{rows.path}: line {doubtful[0]}: cannot tell whether {doubtful[1][:60]!r} names the columns: name them "
            "in a first line that is no comment, as in x,y,z"
        )
    return None


def _names_in_comment(text: str, width: int) -> Iterator[list[str]]:
    """Yield the words of a comment, and those after what introduces them, where they are as many as those of a row."""
    of_all = _UNIT_OF_ALL.fullmatch(text)
    text = text if of_all is None else text[: of_all.start(1)]
    names = _names(text, width)
    if len(names) == width and not any(map(_is_number, names)):  # lat 48.1 lon 11.6
        yield names
    for label in filter(None, (known.match(text) for known in _LABELS)):
        names = _names(text[label.end() :], width)
        if len(names) == width and not any(map(_is_number, names)):
            yield names


def _names(line: str, width: int | None = None) -> list[str]:
    """Return the words of a header: names may have blanks in them where tabs separate, and before their units."""
    tabbed = line.split("\t")
    if len(tabbed) == width and _separator(line) is None:
        return [_bare(word) for word in tabbed]
    return _words(_UNIT.sub("", " ".join(line.split())))


def _check_commas(path: Path, number: int, line: str) -> None:
    """Refuse numbers with a decimal comma, which would be two numbers, or none."""
    words = re.split(r"\s*;\s*|\s+", line)
    commas = [_DECIMAL_COMMA.fullmatch(word) is not None for word in words]
    if len(words) >= 3 and any(commas) and all(comma or _is_number(w) for comma, w in zip(commas, words, strict=True)):
        raise FileFormatError(f"{path}: line {number}: expected decimal points, got commas in {line[:60]!r}")


def _check_blanks(path: Path, number: int, line: str) -> None:
    """Refuse blanks after some commas only, where the others may be within numbers."""
    pieces = re.split(r",\s+", line)
    pointed = _DECIMAL_POINT.search(line) is not None  # where there are points, commas separate, as in 22.5,133.5, 7
    if len(pieces) > 1 and any(
        _THOUSANDS.fullmatch(p) or (not pointed and _DECIMAL_COMMA.fullmatch(p)) for p in pieces
    ):
        raise FileFormatError(
            f"{path}: line {number}: expected a blank after every comma or after none, got {line[:60]!r}: "
            "commas without one may be within numbers"
        )


def _separator(line: str) -> str | None:
    return next((mark for mark in _MARKS if mark in line), None)


def _words(line: str) -> list[str]:
    """Return the words of a line as names."""
    return [_bare(word) for word in line.split(_separator(line))]


def _bare(word: str) -> str:
    """Return a word in lower case and without quotation marks."""
    return word.strip(" \t\"'").lower()


def _is_number(word: str) -> bool:
    try:
        as_float(word)
    except ValueError:
        return False
    return True
