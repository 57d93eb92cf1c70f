"""Points as plain text: one per line, words separated by white space, commas or semicolons (XYZ, TXT, CSV)."""

from __future__ import annotations

import codecs
from dataclasses import replace
from itertools import islice, takewhile
from pathlib import Path

from ...errors import FileFormatError
from ._columns import Contents, find_columns
from ._rows import Rows

__all__ = ["parse_table"]

_COMMENTS = ("#", "//")


def parse_table(path: Path, raw: bytes) -> Contents:
    """Return the columns that a header calls x, y and z, or else the first three.

    The header is a first line without a number, or a comment before the first row that names x, y and z.
    """
    start = len(codecs.BOM_UTF8) if raw.startswith(codecs.BOM_UTF8) else 0
    rows = Rows(path, raw, start, comments=_COMMENTS)
    first = list(islice(rows, 2))
    if not first:
        raise FileFormatError(f"{path}: line 1: expected points; the file has no line with a number")
    names = _words(first[0][1])
    if any(map(_is_number, names)):
        skip, number, line = 0, *first[0]
        names = _names_in_comment(rows, number, len(_words(line)))
    else:
        skip, number, line = 1, *first[-1]
    width = len(_words(line))
    if names and len(names) != width:
        raise FileFormatError(f"{path}: line {number}: expected {len(names)} words as in the header, got {line[:60]!r}")
    twice = next((name for name in "xyz" if names.count(name) > 1), None)
    if twice is not None:
        raise FileFormatError(f"{path}: line {first[0][0]}: the header names {twice} twice")
    if {"x", "y", "z"} & set(names):
        columns = find_columns(f"{path}: line {first[0][0]}", names)
    elif width < 3 or skip == len(first):
        raise FileFormatError(f"{path}: line {number}: expected 3 numbers or more, got {line[:60]!r}")
    else:
        columns = [0, 1, 2]
    return Contents(replace(rows, separator=_separator(line)).numbers(width, columns, skip=skip))


def _names_in_comment(rows: Rows, end: int, width: int) -> list[str]:
    """Return the names in a comment before line ``end``, if they are as many as a row has words; else none."""
    for _, line in takewhile(lambda row: row[0] < end, replace(rows, comments=())):
        names = _words(line.lstrip("#/"))
        if len(names) == width and {"x", "y", "z"} <= set(names):
            return names
    return []


def _separator(line: str) -> str | None:
    return next((mark for mark in ";," if mark in line), None)


def _words(line: str) -> list[str]:
    """Return the words of a line as names: in lower case and without quotation marks."""
    return [word.strip(" \t\"'").lower() for word in line.split(_separator(line))]


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True
