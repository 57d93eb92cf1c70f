"""Lists of pairs in files: two names of clouds a line, and options."""

from __future__ import annotations

import csv
import re
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from .._paths import as_path, read_file
from ..errors import FileFormatError, OptionError
from .tasks import OPTIONS

__all__ = ["ListedPair", "read_pairs"]

ListedPair = tuple[str, str, dict[str, Any]]
"""Source, target, options."""

_BYTES_A_PAIR = 512
"""Besides the names of its files, which have the folder before them."""
_ENDS = ("source", "target")
_KNOWN = (*_ENDS, "voxel_size", *OPTIONS)
_WORDS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
_WHOLE = ("matches", "max_alternatives")
_LONGEST_WHOLE = 40
"""Digits."""
_NUMBERS = ("voxel_size", "epsilon", "ratio", "min_confidence", "prior")


def read_pairs(path: str | PathLike[str], *, size_limit: int | None = None) -> list[ListedPair]:
    """Read a list of pairs, separated by commas, semicolons or tabs.

    The first line may name the columns: ``source``, ``target``, and options of a registration; where a cell is empty,
    an option is what it is for all. Without such a line, the first two cells are the clouds, and others are
    ``option=value``. Names of files are relative to the folder of the list. Lines that are empty, or begin with ``#``,
    are left out. More than ``size_limit`` bytes of them are refused with :class:`clipperplus.MemoryLimitError`; without
    it, more than 256 MiB and 100 times the size of the file.
    """
    name = fspath(path)
    data, limit = read_file(as_path(path), size_limit, unpack=False)
    limit.check(len(data) + (data.count(b"\n") + 1) * (_BYTES_A_PAIR + 2 * len(name)))
    try:
        text = data.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError:
        raise FileFormatError(f"{name}: expected text, in UTF-8") from None
    lines = [(number, line) for number, line in enumerate(text.split("\n"), start=1) if _counts(line)]
    bare = re.sub(r'"[^"]*"', "", lines[0][1] if lines else "")  # what is quoted separates nothing
    mark = next((mark for mark in ("\t", ";", ",") if mark in bare), ",")
    columns: list[str] | None = None
    pairs: list[ListedPair] = []
    for number, line in lines:
        where = f"{name}, line {number}"
        try:
            (cells,) = csv.reader([line], delimiter=mark, skipinitialspace=True, strict=True)
        except (csv.Error, ValueError) as error:
            raise FileFormatError(f"{where}: {error}") from None
        cells = [cell.strip() for cell in cells]
        if not pairs and columns is None and set(_ENDS) <= {cell.lower() for cell in cells}:
            columns = _columns([cell.lower() for cell in cells], where)
            continue
        pairs.append(_pair(cells, columns, where, Path(name).parent))
    if not pairs:
        raise FileFormatError(f"{name}: no pairs")
    return pairs


def _counts(line: str) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith("#")


def _columns(names: list[str], where: str) -> list[str]:
    """Return the names of columns, if each is known, and none there twice."""
    for name in names:
        if name not in _KNOWN:
            raise FileFormatError(f"{where}: expected columns of {', '.join(_KNOWN)}, got {name[:60]!r}")
        if names.count(name) > 1:
            raise FileFormatError(f"{where}: the column {name!r} is there twice")
    return names


def _pair(cells: list[str], columns: list[str] | None, where: str, folder: Path) -> ListedPair:
    if columns is None:
        if len(cells) < 2 or not all("=" in cell for cell in cells[2:]):
            raise FileFormatError(f"{where}: expected two names of files, and option=value, got {len(cells)} cells")
        named = dict(zip(_ENDS, cells, strict=False))
        for cell in cells[2:]:
            option, _, value = cell.partition("=")
            option = option.strip().lower()
            if option in named:
                raise FileFormatError(f"{where}: {option!r} is there twice")
            if option not in _KNOWN:
                raise FileFormatError(f"{where}: expected an option of {', '.join(_KNOWN[2:])}, got {option[:60]!r}")
            named[option] = value.strip()
    else:
        if len(cells) != len(columns):
            raise FileFormatError(f"{where}: expected {len(columns)} cells, got {len(cells)}")
        named = dict(zip(columns, cells, strict=True))
    ends = [named.pop(end) for end in _ENDS]
    for end, file in zip(_ENDS, ends, strict=True):
        if not file or "\0" in file:
            raise FileFormatError(f"{where}: expected the name of a file as {end}, got {file[:60]!r}")
    try:
        options = {option: _value(option, value) for option, value in named.items() if value}
    except OptionError as error:
        raise FileFormatError(f"{where}: {error}") from None
    return str(folder / ends[0]), str(folder / ends[1]), options


def _value(option: str, text: str) -> Any:
    """Return what a cell says, in the type that an option has."""
    if option == "free_space":
        if text.lower() not in _WORDS:
            raise OptionError(f"free_space: expected true or false, got {text[:60]!r}")
        return _WORDS[text.lower()]
    if option in _WHOLE or option in _NUMBERS or (option == "time_limit" and text != "default"):
        try:
            if not text.isascii() or "_" in text or (option in _WHOLE and len(text) > _LONGEST_WHOLE):
                raise ValueError  # Python would take 1_0 and digits of every script for a number
            return int(text) if option in _WHOLE else float(text)
        except ValueError:
            raise OptionError(f"{option}: expected a number, got {text[:60]!r}") from None
    return text
