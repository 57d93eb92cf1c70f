"""LAS, and LAZ through lazrs (extra ``las``)."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ..._limits import SizeLimit
from ...errors import FileFormatError
from ._columns import Column, Contents, check_promise, columns_from_bytes, table_bytes
from .laz import unpack_laz

__all__ = ["parse_las"]

_SHORTEST_HEADER = 227
_LONG_COUNTS = 375
"""Bytes of the header from LAS 1.4 on, where the number of points has 8 bytes."""
_SMALLEST_RECORD = 20
_COMPRESSED = 0x80
"""The bit in the format of the points by which LAZ is told from LAS."""


@dataclass
class _Header:
    size: int
    """Bytes."""
    start: int
    """Byte of the first point."""
    compressed: bool
    record: int
    """Bytes per point."""
    count: int
    scale: npt.NDArray[np.float64]
    offset: npt.NDArray[np.float64]


def parse_las(path: Path, raw: bytes, limit: SizeLimit) -> Contents:
    """Return the coordinates: in the file they are integers of 4 bytes, with a scale and an offset per axis."""
    header = _parse_header(path, raw)
    if not header.compressed:
        check_promise(path, raw, header.count, header.record, header.start)
    unpacked = header.count * header.record if header.compressed else 0
    limit.check(unpacked + table_bytes(header.count, 3), f"byte {header.start}")
    if header.compressed:
        records = unpack_laz(path, raw, header.size, header.start, header.record, header.count)
        pieces = [_integers(piece, len(piece) // header.record, header.record, 0) for piece in records]
        table = np.concatenate([np.empty((0, 3)), *pieces])
    else:
        table = _integers(raw, header.count, header.record, header.start)
    with np.errstate(over="ignore", invalid="ignore"):  # points that no double can hold are dropped later
        table *= header.scale
        table += header.offset
    return Contents(table)


def _parse_header(path: Path, raw: bytes) -> _Header:
    if not raw.startswith(b"LASF") or len(raw) < _SHORTEST_HEADER:
        raise FileFormatError(f"{path}: byte 0: not a LAS file: expected 'LASF' and a header of 227 bytes or more")
    minor, size = raw[25], struct.unpack_from("<H", raw, 94)[0]
    start, _, kind, record, count = struct.unpack_from("<IIBHI", raw, 96)
    if minor >= 4:
        if len(raw) < _LONG_COUNTS or size < _LONG_COUNTS:
            raise FileFormatError(f"{path}: byte 94: expected a header of 375 bytes or more in LAS 1.{minor}")
        (count,) = struct.unpack_from("<Q", raw, 247)
    if record < _SMALLEST_RECORD:
        raise FileFormatError(f"{path}: byte 105: expected points of 20 bytes or more, got {record}")
    if not size <= start <= len(raw):
        raise FileFormatError(f"{path}: byte 96: the points are said to start at byte {start} of {len(raw)}")
    numbers = np.frombuffer(raw, dtype="<f8", count=6, offset=131)
    if not np.isfinite(numbers).all():
        raise FileFormatError(f"{path}: byte 131: expected finite scales and offsets, got {numbers.tolist()}")
    if not numbers[:3].all():
        raise FileFormatError(f"{path}: byte 131: expected scales other than 0, got {numbers[:3].tolist()}")
    return _Header(size, start, bool(kind & _COMPRESSED), record, count, numbers[:3], numbers[3:])


def _integers(raw: bytes | bytearray, count: int, record: int, start: int) -> npt.NDArray[np.float64]:
    """Return the integers of the coordinates, with which every record begins."""
    return columns_from_bytes(raw, count, [Column("<i4", start + 4 * axis, record) for axis in range(3)])
