"""What the readers of point clouds share: columns, found by their names and taken from bytes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...errors import FileFormatError

__all__ = [
    "LONGEST_HEADER",
    "Column",
    "Contents",
    "as_count",
    "check_promise",
    "columns_from_bytes",
    "find_columns",
    "table_bytes",
]

LONGEST_HEADER = 1 << 20
"""Bytes. A header that is not closed by then is none."""
_COORDINATES = ("x", "y", "z")
_NORMALS = (("nx", "ny", "nz"), ("normal_x", "normal_y", "normal_z"))
_LONGEST_NUMBER = 40
"""Digits of a number in a header; converting millions of them would take very long."""


class Contents(NamedTuple):
    """What a file says, before points that are no finite numbers are left out."""

    table: npt.NDArray[np.float64]
    """One row per point: x, y, z, and where the file has normals theirs in three more columns."""
    viewpoint: npt.NDArray[np.float64] | None = None


class Column(NamedTuple):
    """Where the numbers of a column lie in the bytes of a file."""

    kind: str
    """Type for numpy, with its byte order."""
    first: int
    """Byte of the first number."""
    step: int
    """Bytes from one number to the next."""


def find_columns(where: str, names: Sequence[str]) -> list[int]:
    """Return the places of x, y and z among the names, and those of the normals where all three are there."""
    for axis in _COORDINATES:
        if axis not in names:
            there = ", ".join(names)
            raise FileFormatError(f"{where}: expected columns x, y and z; there is no {axis} among {there[:60]!r}")
    normals = next((normals for normals in _NORMALS if set(normals) <= set(names)), ())
    return [names.index(name) for name in (*_COORDINATES, *normals)]


def table_bytes(count: int, columns: int) -> int:
    """Return what so many points take, with so many numbers each."""
    return np.dtype(np.float64).itemsize * count * columns


def columns_from_bytes(raw: bytes | bytearray, count: int, columns: Sequence[Column]) -> npt.NDArray[np.float64]:
    """Return columns of ``count`` numbers each side by side; that they lie within the bytes has been checked."""
    table = np.empty((count, len(columns)))
    with np.errstate(invalid="ignore"):  # a signalling NaN
        for place, (kind, first, step) in enumerate(columns if count else ()):
            table[:, place] = np.ndarray((count,), kind, raw, first, (step,))
    return table


def check_promise(path: Path, raw: bytes, count: int, record: int, start: int) -> None:
    """Refuse a file with fewer bytes than ``count`` records from ``start`` on take."""
    needed, there = count * record, len(raw) - start
    if needed > there:
        raise FileFormatError(
            f"{path}: byte {start}: the header promises {count} points, {needed} bytes from here on; there are {there}"
        )


def as_count(text: str) -> int:
    """Return a number of the header that counts something; ValueError if it is none."""
    if not text.isascii() or not text.isdigit() or len(text) > _LONGEST_NUMBER:
        raise ValueError
    return int(text)
