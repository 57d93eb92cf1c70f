"""PLY: ASCII and binary of both byte orders."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

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

__all__ = ["format_ply", "parse_ply"]

_INTEGERS = {
    **{"char": "i1", "uchar": "u1", "short": "i2", "ushort": "u2", "int": "i4", "uint": "u4"},
    **{"int8": "i1", "uint8": "u1", "int16": "i2", "uint16": "u2", "int32": "i4", "uint32": "u4"},
}
_SCALARS = {**_INTEGERS, "float": "f4", "double": "f8", "float32": "f4", "float64": "f8"}
_BYTE_ORDERS = {"ascii": "", "binary_little_endian": "<", "binary_big_endian": ">"}
_NAMES = ("x", "y", "z", "nx", "ny", "nz")


class _Property(NamedTuple):
    name: str
    kind: str
    """Type for numpy."""
    length: str | None = None
    """Type of the number that precedes a list and counts its entries; None for a property that is no list."""

    @property
    def size(self) -> int:
        """Bytes of one number."""
        return int(self.kind[1])


@dataclass
class _Element:
    name: str
    count: int
    properties: list[_Property] = field(default_factory=list)


@dataclass
class _Header:
    byte_order: str
    """Of binary data; empty for ASCII."""
    elements: list[_Element]
    lines: int
    size: int
    """Bytes."""


def parse_ply(path: Path, raw: bytes, limit: SizeLimit) -> Contents:
    """Return the vertices; other elements, also those with lists, are passed over."""
    header = _parse_header(path, raw)
    end = f"{path}: line {header.lines}"
    names = [element.name for element in header.elements]
    if "vertex" not in names:
        raise FileFormatError(f"{end}: the header has no element vertex")
    before, vertex = header.elements[: names.index("vertex")], header.elements[names.index("vertex")]
    for name, _, length in vertex.properties:
        if length is not None:
            raise FileFormatError(f"{end}: property {name} of the vertices is a list; expected numbers only")
    columns = find_columns(end, [name for name, _, _ in vertex.properties])
    if not header.byte_order:
        rows = Rows(path, raw, limit, header.size, header.lines + 1)
        skip = sum(element.count for element in before if element.properties)
        return Contents(rows.numbers(len(vertex.properties), columns, skip=skip, count=vertex.count))
    start = header.size
    for element in before:
        start = _pass_over(path, raw, header.byte_order, element, start)
    places = np.cumsum([0, *(each.size for each in vertex.properties)]).tolist()
    record = places[-1]
    check_promise(path, raw, vertex.count, record, start)
    limit.check(table_bytes(vertex.count, len(columns)))
    kinds = [header.byte_order + each.kind for each in vertex.properties]
    wanted = [Column(kinds[column], start + places[column], record) for column in columns]
    return Contents(columns_from_bytes(raw, vertex.count, wanted))


def _parse_header(path: Path, raw: bytes) -> _Header:
    if not raw.startswith((b"ply\n", b"ply\r\n")):
        raise FileFormatError(f"{path}: line 1: not a PLY file: its first line is not 'ply'")
    byte_order: str | None = None
    elements: list[_Element] = []
    number, start, words = 1, raw.index(b"\n") + 1, ["ply"]
    while words != ["end_header"]:
        end = raw.find(b"\n", start, LONGEST_HEADER)
        if end < 0:
            raise FileFormatError(f"{path}: line {number}: the header has no end_header")
        words = raw[start:end].decode("ascii", errors="replace").split()
        number, start = number + 1, end + 1
        try:
            match words:
                case ["format", kind, _] if byte_order is None:
                    byte_order = _BYTE_ORDERS[kind]
                case ["element", name, count]:
                    elements.append(_Element(name, as_count(count)))
                case ["property", "list", length, kind, name]:
                    elements[-1].properties.append(_Property(name, _SCALARS[kind], _INTEGERS[length]))
                case ["property", kind, name]:
                    elements[-1].properties.append(_Property(name, _SCALARS[kind]))
                case [] | ["comment", *_] | ["obj_info", *_] | ["end_header"]:
                    pass
                case _:
                    raise ValueError
        except (KeyError, IndexError, ValueError):
            line = " ".join(words)[:60]
            raise FileFormatError(f"{path}: line {number}: cannot understand {line!r}") from None
    if byte_order is None:
        raise FileFormatError(f"{path}: line {number}: the header has no format")
    for element in elements:
        if len({each.name for each in element.properties}) < len(element.properties):
            raise FileFormatError(
                f"{path}: line {number}: element {element.name[:60]!r} has two properties of the same name"
            )
    return _Header(byte_order, elements, number, start)


def _pass_over(path: Path, raw: bytes, byte_order: str, element: _Element, start: int) -> int:
    """Return the byte that follows an element."""
    place = start
    if all(each.length is None for each in element.properties):
        place += element.count * sum(each.size for each in element.properties)
    else:
        place = _pass_over_lists(path, raw, byte_order, element, start)
    if place > len(raw):
        raise FileFormatError(
            f"{path}: byte {start}: the header promises {element.count} records of element {element.name[:60]!r}; "
            f"the file ends within them, at byte {len(raw)}"
        )
    return place


def _pass_over_lists(path: Path, raw: bytes, byte_order: str, element: _Element, start: int) -> int:
    """Return the byte that follows an element with lists, or one beyond the end of the file.

    A file that could not hold so many records with empty lists is not looked through.
    """
    lists: list[tuple[int, struct.Struct, int]] = []  # bytes before the list, how to read its length, bytes per entry
    rest = 0
    for each in element.properties:
        if each.length is None:
            rest += each.size
        else:
            lists.append((rest, struct.Struct(byte_order + np.dtype(each.length).char), each.size))
            rest = 0
    if element.count * (sum(before + length.size for before, length, _ in lists) + rest) > len(raw) - start:
        return len(raw) + 1
    place, remaining = start, element.count
    try:
        while remaining:
            for before, length, size in lists:
                place += before
                (entries,) = length.unpack_from(raw, place)
                if entries < 0:
                    raise FileFormatError(f"{path}: byte {place}: a list cannot have {entries} entries")
                place += length.size + entries * size
            place += rest
            remaining -= 1
    except struct.error:
        return len(raw) + 1
    return place


def format_ply(table: npt.NDArray[Any], *, viewpoint: object = None, binary: bool = True) -> bytes:
    """Return the file for points, and normals in three more columns; single or double precision as the table has.

    There is no place in it for the viewpoint.
    """
    kind = "float" if table.dtype.itemsize == 4 else "double"
    header = [
        "ply",
        f"format {'binary_little_endian' if binary else 'ascii'} 1.0",
        f"element vertex {len(table)}",
        *(f"property {kind} {name}" for name in _NAMES[: table.shape[1]]),
        "end_header\n",
    ]
    body = table.astype(table.dtype.newbyteorder("<")).tobytes() if binary else format_rows(table)
    return "\n".join(header).encode() + body
