"""LAS, and LAZ through laspy (extra ``las``)."""

from __future__ import annotations

import io
import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ..errors import FileFormatError, MissingPackageError
from .columns import Column, Contents, check_promise, columns_from_bytes

__all__ = ["parse_las"]

_SHORTEST_HEADER = 227
_LONG_COUNTS = 375
"""Bytes of the header from LAS 1.4 on, where the number of points has 8 bytes."""
_SMALLEST_RECORD = 20
_COMPRESSED = 0x80
"""The bit in the format of the points by which LAZ is told from LAS."""


@dataclass
class _Header:
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
        columns = [Column("<i4", header.start + 4 * axis, header.record) for axis in range(3)]
        integers = columns_from_bytes(raw, header.count, columns)
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
    return _Header(start, bool(kind & _COMPRESSED), record, count, numbers[:3], numbers[3:])


def _unpack(path: Path, raw: bytes, header: _Header) -> npt.NDArray[np.float64]:
    try:
        import laspy
        import lazrs  # noqa: F401
    except ImportError:
        raise MissingPackageError(f"{path}: LAZ files need laspy and lazrs: pip install 'clipperplus[las]'") from None
    pieces = [np.empty((0, 3))]
    step = max(len(raw), 1 << 20) // header.record  # so that a count in the header does not decide how much is reserved
    try:
        with laspy.open(io.BytesIO(raw)) as reader:
            pieces += [np.stack([piece.X, piece.Y, piece.Z], axis=1) for piece in reader.chunk_iterator(step)]
    except Exception as error:
        raise FileFormatError(f"{path}: byte {header.start}: the points cannot be unpacked ({error})") from None
    return np.concatenate(pieces)
