"""PCD 0.7, the files of the Point Cloud Library: ASCII, binary and compressed."""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ... import _core
from ..._limits import SizeLimit
from ...errors import FileFormatError
from ._columns import (
    LONGEST_HEADER,
    Column,
    Contents,
    as_count,
    check_promise,
    columns_from_bytes,
    find_columns,
    table_bytes,
)
from ._rows import Rows, format_rows

__all__ = ["format_pcd", "parse_pcd"]

_KINDS = {
    **{("F", "4"): "<f4", ("F", "8"): "<f8"},
    **{("I", "1"): "<i1", ("I", "2"): "<i2", ("I", "4"): "<i4", ("I", "8"): "<i8"},
    **{("U", "1"): "<u1", ("U", "2"): "<u2", ("U", "4"): "<u4", ("U", "8"): "<u8"},
}
_ENTRIES = ("VERSION", "FIELDS", "SIZE", "TYPE", "COUNT", "WIDTH", "HEIGHT", "VIEWPOINT", "POINTS", "DATA")
_PADDING = "_"
_NAMES = ("x", "y", "z", "normal_x", "normal_y", "normal_z")


class _Field(NamedTuple):
    name: str
    kind: str
    """Type for numpy."""
    numbers: int
    """Per point."""

    @property
    def size(self) -> int:
        """Bytes per point."""
        return int(self.kind[2]) * self.numbers


@dataclass
class _Header:
    fields: list[_Field]
    points: int
    viewpoint: npt.NDArray[np.float64] | None
    data: str
    lines: int
    size: int
    """Bytes."""


def parse_pcd(path: Path, raw: bytes, limit: SizeLimit) -> Contents:
    """Return the fields x, y and z, the normals where there are some, and the place of the sensor."""
    header = _parse_header(path, raw)
    fields, where = header.fields, f"{path}: line {header.lines}"
    columns = find_columns(where, [field.name for field in fields])
    for name, _, numbers in (fields[column] for column in columns):
        if numbers != 1:
            raise FileFormatError(f"{where}: field {name} has {numbers} numbers per point; expected one")
    if header.data == "ascii":
        words = [0, *accumulate(field.numbers for field in fields)]
        rows = Rows(path, raw, limit, header.size, header.lines + 1)
        table = rows.numbers(words[-1], [words[column] for column in columns], count=header.points)
        return Contents(table, header.viewpoint)
    sizes = [0, *accumulate(field.size for field in fields)]
    if header.data == "binary":
        check_promise(path, raw, header.points, sizes[-1], header.size)
        limit.check(table_bytes(header.points, len(columns)))
        wanted = [Column(fields[column].kind, header.size + sizes[column], sizes[-1]) for column in columns]
    else:  # one field after the other
        raw = _unpack(path, raw, header, header.points * sizes[-1], len(columns), limit)
        wanted = [Column(fields[column].kind, header.points * sizes[column], fields[column].size) for column in columns]
    return Contents(columns_from_bytes(raw, header.points, wanted), header.viewpoint)


def _parse_header(path: Path, raw: bytes) -> _Header:
    entries: dict[str, tuple[int, list[str]]] = {}
    number, start = 0, 0
    while "DATA" not in entries:
        end = raw.find(b"\n", start, LONGEST_HEADER)
        if end < 0:
            raise FileFormatError(f"{path}: line {number + 1}: not a PCD file: its header has no DATA")
        line = raw[start:end].decode("ascii", errors="replace").strip()
        number, start = number + 1, end + 1
        if line and not line.startswith("#"):
            key, *words = line.split()
            if key not in _ENTRIES or key in entries:
                raise FileFormatError(f"{path}: line {number}: cannot understand {line[:60]!r}")
            entries[key] = number, words
    return _Interpreter(path, entries).header(number, start)


@dataclass
class _Interpreter:
    """Turns the words of the header into what they mean, and says which line means nothing."""

    path: Path
    entries: dict[str, tuple[int, list[str]]]
    """Number of the line, and the words that follow the first."""

    def header(self, lines: int, size: int) -> _Header:
        data = self._words("DATA")
        if data not in (["ascii"], ["binary"], ["binary_compressed"]):
            raise self._error("DATA", "ascii, binary or binary_compressed")
        return _Header(self._fields(), self._points(), self._viewpoint(), data[0], lines, size)

    def _words(self, key: str) -> list[str]:
        if key not in self.entries:
            raise FileFormatError(f"{self.path}: line {self.entries['DATA'][0]}: the header has no {key}")
        return self.entries[key][1]

    def _error(self, key: str, expected: str) -> FileFormatError:
        number, words = self.entries[key]
        return FileFormatError(f"{self.path}: line {number}: {key}: expected {expected}, got {' '.join(words)[:60]!r}")

    def _fields(self) -> list[_Field]:
        names = self._words("FIELDS")
        named = [name for name in names if name != _PADDING]
        if len(set(named)) < len(named):
            raise self._error("FIELDS", "every name once")
        every = {key: self._words(key) for key in ("SIZE", "TYPE")}
        every["COUNT"] = self._words("COUNT") if "COUNT" in self.entries else ["1"] * len(names)
        for key, words in every.items():
            if len(words) != len(names):
                raise self._error(key, f"as many words as there are fields, {len(names)}")
        fields = []
        for name, size, kind, count in zip(names, every["SIZE"], every["TYPE"], every["COUNT"], strict=True):
            if (kind, size) not in _KINDS:
                raise self._error("TYPE", f"I, U or F of a known size; {name[:60]!r} is {kind[:9]} of {size[:9]} bytes")
            try:
                numbers = as_count(count)
            except ValueError:
                numbers = 0
            if numbers == 0:
                raise self._error("COUNT", "numbers above 0")
            fields.append(_Field(name, _KINDS[kind, size], numbers))
        return fields

    def _points(self) -> int:
        counts = {key: self._count(key) for key in ("WIDTH", "HEIGHT", "POINTS") if key in self.entries}
        if "POINTS" not in counts:
            return self._count("WIDTH") * self._count("HEIGHT")
        if {"WIDTH", "HEIGHT"} <= counts.keys() and counts["WIDTH"] * counts["HEIGHT"] != counts["POINTS"]:
            raise self._error("POINTS", f"WIDTH times HEIGHT, {counts['WIDTH'] * counts['HEIGHT']}")
        return counts["POINTS"]

    def _count(self, key: str) -> int:
        words = self._words(key)
        try:
            (word,) = words
            return as_count(word)
        except ValueError:
            raise self._error(key, "one number, 0 or above") from None

    def _viewpoint(self) -> npt.NDArray[np.float64] | None:
        if "VIEWPOINT" not in self.entries:
            return None
        try:
            words = self._words("VIEWPOINT")
            numbers = [] if "_" in "".join(words) else [float(word) for word in words]  # Python would take 1_0
        except ValueError:
            numbers = []
        if len(numbers) != 7 or not all(map(math.isfinite, numbers)):
            raise self._error("VIEWPOINT", "7 numbers, tx ty tz qw qx qy qz")
        return np.array(numbers[:3])


def _unpack(path: Path, raw: bytes, header: _Header, needed: int, columns: int, limit: SizeLimit) -> bytes:
    if needed == 0:  # some writers leave out the sizes
        return b""
    start = header.size + 8
    if len(raw) < start:
        raise FileFormatError(f"{path}: byte {header.size}: expected two sizes of 4 bytes; there are {len(raw)} bytes")
    packed, unpacked = struct.unpack_from("<2I", raw, header.size)
    where = f"{path}: byte {header.size}"
    if unpacked != needed:
        raise FileFormatError(
            f"{where}: {header.points} points take {needed} bytes; the compressed part is said to hold {unpacked}"
        )
    if packed > len(raw) - start:
        raise FileFormatError(f"{where}: the compressed part should have {packed} bytes; there are {len(raw) - start}")
    limit.check(needed + table_bytes(header.points, columns), f"byte {header.size}")
    try:
        return _core.decompress_lzf(raw[start : start + packed], unpacked)
    except _core.LzfError as error:
        raise FileFormatError(f"{path}: byte {start}: the compressed part is damaged: {error}") from None


def format_pcd(
    table: npt.NDArray[Any], *, viewpoint: npt.NDArray[np.float64] | None = None, binary: bool = True
) -> bytes:
    """Return the file for points, and normals in three more columns; single or double precision as the table has."""
    width = table.shape[1]
    origin = (0.0, 0.0, 0.0) if viewpoint is None else viewpoint.tolist()
    header = [
        "VERSION 0.7",
        f"FIELDS {' '.join(_NAMES[:width])}",
        f"SIZE {' '.join([str(table.dtype.itemsize)] * width)}",
        f"TYPE {' '.join('F' * width)}",
        f"COUNT {' '.join('1' * width)}",
        f"WIDTH {len(table)}",
        "HEIGHT 1",
        f"VIEWPOINT {' '.join(map(repr, origin))} 1 0 0 0",
        f"POINTS {len(table)}",
        f"DATA {'binary' if binary else 'ascii'}\n",
    ]
    body = table.astype(table.dtype.newbyteorder("<")).tobytes() if binary else format_rows(table)
    return "\n".join(header).encode() + body
