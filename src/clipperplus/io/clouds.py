"""Point clouds from files: PLY, ASCII and binary of both byte orders."""

from __future__ import annotations

from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ..errors import FileFormatError
from .paths import as_path

__all__ = ["read_ply"]

_SCALARS = {
    **{"char": "i1", "uchar": "u1", "short": "i2", "ushort": "u2", "int": "i4", "uint": "u4"},
    **{"float": "f4", "double": "f8", "int8": "i1", "uint8": "u1", "int16": "i2", "uint16": "u2"},
    **{"int32": "i4", "uint32": "u4", "float32": "f4", "float64": "f8"},
}
_BYTE_ORDERS = {"ascii": "", "binary_little_endian": "<", "binary_big_endian": ">"}
_LONGEST_HEADER = 1 << 20
"""Bytes. A header that is not closed by then is none."""


@dataclass
class _Element:
    name: str
    count: int
    properties: list[tuple[str, str]] = field(default_factory=list)
    """Name and numpy type."""
    lists: list[str] = field(default_factory=list)
    """Names of properties that are lists, whose length only the data tell."""


@dataclass
class _Header:
    byte_order: str
    """Of binary data; empty for ASCII."""
    elements: list[_Element]
    lines: int
    size: int
    """Bytes."""


def read_ply(path: str | PathLike[str]) -> npt.NDArray[np.float64]:
    """Return the vertices of a PLY file as ``(n, 3)`` coordinates; other properties and elements are left out."""
    path = as_path(path)
    raw = path.read_bytes()
    header = _parse_header(path, raw)
    before = []
    for element in header.elements:
        if element.name == "vertex":
            break
        before.append(element)
    else:
        raise FileFormatError(f"{path}: the header has no element vertex")
    for axis in "xyz":
        if axis in element.lists:
            raise FileFormatError(f"{path}: property {axis} of the vertices is a list; expected a number")
        if axis not in dict(element.properties):
            raise FileFormatError(f"{path}: the vertices have no property {axis}")
    if element.lists:
        raise FileFormatError(f"{path}: property {element.lists[0]} of the vertices is a list; expected numbers only")
    if header.byte_order:
        return _binary_vertices(path, raw, header, before, element)
    return _ascii_vertices(path, raw, header, before, element)


def _parse_header(path: Path, raw: bytes) -> _Header:
    if not raw.startswith((b"ply\n", b"ply\r\n")):
        raise FileFormatError(f"{path}: not a PLY file: its first line is not 'ply'")
    byte_order: str | None = None
    elements: list[_Element] = []
    number, start, words = 1, raw.index(b"\n") + 1, ["ply"]
    while words != ["end_header"]:
        end = raw.find(b"\n", start, _LONGEST_HEADER)
        if end < 0:
            raise FileFormatError(f"{path}: the header has no end_header")
        words = raw[start:end].decode("ascii", errors="replace").split()
        number, start = number + 1, end + 1
        try:
            match words:
                case ["format", kind, _] if byte_order is None:
                    byte_order = _BYTE_ORDERS[kind]
                case ["element", name, count]:
                    elements.append(_Element(name, _as_count(count)))
                case ["property", "list", length, kind, name]:
                    _ = _SCALARS[length], _SCALARS[kind]
                    elements[-1].lists.append(name)
                case ["property", kind, name]:
                    elements[-1].properties.append((name, _SCALARS[kind]))
                case [] | ["comment", *_] | ["obj_info", *_] | ["end_header"]:
                    pass
                case _:
                    raise ValueError
        except (KeyError, IndexError, ValueError):
            line = " ".join(words)[:60]
            raise FileFormatError(f"{path}: line {number}: cannot understand {line!r}") from None
    if byte_order is None:
        raise FileFormatError(f"{path}: the header has no format")
    for element in elements:
        names = [name for name, _ in element.properties] + element.lists
        if len(set(names)) < len(names):
            raise FileFormatError(f"{path}: element {element.name} has two properties of the same name")
    return _Header(byte_order, elements, number, start)


def _as_count(text: str) -> int:
    if not text.isascii() or not text.isdigit():
        raise ValueError
    return int(text)


def _binary_vertices(
    path: Path, raw: bytes, header: _Header, before: list[_Element], vertex: _Element
) -> npt.NDArray[np.float64]:
    place = header.size
    for element in before:
        if element.lists and element.count:
            raise FileFormatError(f"{path}: element {element.name} with lists comes before the vertices")
        place += element.count * _record(element, header.byte_order).itemsize
    record = _record(vertex, header.byte_order)
    needed, there = vertex.count * record.itemsize, len(raw) - place
    if there < 0:
        raise FileFormatError(f"{path}: the header puts the vertices at byte {place}; there are {len(raw)} bytes")
    if needed > there:
        raise FileFormatError(
            f"{path}: the header promises {vertex.count} vertices, {needed} bytes from byte {place} on; "
            f"there are {there}"
        )
    table = np.frombuffer(raw, dtype=record, count=vertex.count, offset=place)
    return np.stack([table[axis].astype(np.float64) for axis in "xyz"], axis=1)


def _record(element: _Element, byte_order: str) -> np.dtype[np.void]:
    return np.dtype([(name, byte_order + kind) for name, kind in element.properties])


def _ascii_vertices(
    path: Path, raw: bytes, header: _Header, before: list[_Element], vertex: _Element
) -> npt.NDArray[np.float64]:
    skipped = sum(element.count for element in before)
    columns = [[name for name, _ in vertex.properties].index(axis) for axis in "xyz"]
    lines = raw[header.size :].decode("ascii", errors="replace").splitlines()
    wanted = lines[skipped : skipped + vertex.count]
    if len(wanted) < vertex.count:
        raise FileFormatError(f"{path}: the header promises {vertex.count} vertices; there are {len(wanted)} lines")
    points = np.empty((vertex.count, 3))
    for row, line in enumerate(wanted):
        words = line.split()
        try:
            if len(words) != len(vertex.properties) or "_" in line:  # Python would take 1_0 for a number
                raise ValueError
            points[row] = [float(words[column]) for column in columns]
        except ValueError:
            number = header.lines + skipped + row + 1
            expected = f"{len(vertex.properties)} number{'s' if len(vertex.properties) > 1 else ''}"
            raise FileFormatError(f"{path}: line {number}: expected {expected}, got {line[:60]!r}") from None
    return points
