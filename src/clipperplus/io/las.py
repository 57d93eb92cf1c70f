"""LAS, and LAZ through lazrs (extra ``las``)."""

from __future__ import annotations

import io
import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ..errors import FileFormatError, MissingPackageError
from .columns import Column, Contents, check_promise, check_unpacked, columns_from_bytes

__all__ = ["parse_las"]

_SHORTEST_HEADER = 227
_LONG_COUNTS = 375
"""Bytes of the header from LAS 1.4 on, where the number of points has 8 bytes."""
_SMALLEST_RECORD = 20
_RECORD_HEADER = struct.Struct("<H16sHH32s")
"""Of a record that follows the header: reserved, who defined it, its number, its length, a description."""
_LASZIP = (b"laszip encoded\0\0", 22204)
"""The record that says how the points are compressed."""
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


def parse_las(path: Path, raw: bytes) -> Contents:
    """Return the coordinates: in the file they are integers of 4 bytes, with a scale and an offset per axis."""
    header = _parse_header(path, raw)
    if header.compressed:
        integers = _unpack(path, raw, header)
    else:
        check_promise(path, raw, header.count, header.record, header.start)
        integers = _integers(raw, header.count, header.record, header.start)
    with np.errstate(over="ignore", invalid="ignore"):  # points that no double can hold are dropped later
        return Contents(integers * header.scale + header.offset)


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
    return _Header(size, start, bool(kind & _COMPRESSED), record, count, numbers[:3], numbers[3:])


def _integers(raw: bytes | bytearray, count: int, record: int, start: int) -> npt.NDArray[np.float64]:
    """Return the integers of the coordinates, with which every record begins."""
    return columns_from_bytes(raw, count, [Column("<i4", start + 4 * axis, record) for axis in range(3)])


def _unpack(path: Path, raw: bytes, header: _Header) -> npt.NDArray[np.float64]:
    try:
        import lazrs
    except ImportError:
        raise MissingPackageError(f"{path}: LAZ files need the package lazrs: pip install 'clipperplus[las]'") from None
    where = f"{path}: byte {header.start}"
    check_unpacked(where, header.count * header.record, raw)
    settings = _laszip_settings(path, raw, header)
    _check_chunks(where, raw, header)
    pieces = [np.empty((0, 3))]
    try:
        if lazrs.LazVlr(settings).item_size() != header.record:
            raise ValueError("the header states another size of a point")
        stream = io.BytesIO(raw)
        stream.seek(header.start)
        unpacker = lazrs.LasZipDecompressor(stream, settings)
        step = max(len(raw), 1 << 20) // header.record  # what the header promises is not reserved in advance
        for first in range(0, header.count, step):
            piece = bytearray(header.record * min(step, header.count - first))
            unpacker.decompress_many(piece)
            pieces.append(_integers(piece, len(piece) // header.record, header.record, 0))
    except Exception as error:
        raise FileFormatError(f"{where}: the points cannot be unpacked ({error})") from None
    return np.concatenate(pieces)


def _laszip_settings(path: Path, raw: bytes, header: _Header) -> bytes:
    """Return the record that says how the points are compressed; it lies between the header and the points."""
    place = header.size
    while place + _RECORD_HEADER.size <= header.start:
        _, user, number, length, _ = _RECORD_HEADER.unpack_from(raw, place)
        place += _RECORD_HEADER.size
        if (user, number) == _LASZIP and place + length <= header.start:
            return raw[place : place + length]
        place += length
    raise FileFormatError(f"{path}: byte {header.size}: nothing says how the points are compressed")


def _check_chunks(where: str, raw: bytes, header: _Header) -> None:
    """Refuse a table of more chunks than the file can hold: lazrs reserves memory for as many as are stated.

    The points begin with the place of the table, or with -1 if the last 8 bytes of the file state it. The table begins
    with its version and the number of chunks, and every chunk with a point that is not compressed.
    """
    try:
        (place,) = struct.unpack_from("<q", raw, header.start)
        if place == -1:
            (place,) = struct.unpack_from("<q", raw, len(raw) - 8)
        chunks = struct.unpack_from("<2I", raw, place)[1] if place >= 0 else len(raw)
    except (struct.error, OverflowError):
        chunks = len(raw)
    if chunks * header.record > len(raw):
        raise FileFormatError(f"{where}: the table of the compressed chunks is damaged")
