"""The compressed points of LAZ files, through lazrs (extra ``las``)."""

from __future__ import annotations

import io
import struct
from collections.abc import Iterator
from pathlib import Path

from ...errors import FileFormatError, MissingPackageError

__all__ = ["unpack_laz"]

_RECORD_HEADER = struct.Struct("<H16sHH32s")
"""Of a record that follows the header: reserved, who defined it, its number, its length, a description."""
_LASZIP = (b"laszip encoded\0\0", 22204)
"""The record that says how the points are compressed."""
_LAYERED = 3
"""The kind of compression whose chunks consist of layers, each with its size in front."""
_VARIABLE = 0xFFFFFFFF
"""States chunks of different numbers of points."""
_ITEM_SIZES = {6: 20, 7: 8, 8: 6, 9: 29, 10: 30, 11: 6, 12: 8, 13: 29}
"""Bytes, by the kind of item that a point consists of; any other can have any size."""
_LAYERS = {10: 9, 11: 1, 12: 2, 13: 1}
"""By the kind of item; any other has one layer per byte."""


def unpack_laz(path: Path, raw: bytes, header: int, start: int, record: int, count: int) -> Iterator[bytearray]:
    """Yield the records of the points, many at a time: ``count`` of ``record`` bytes, compressed from ``start`` on.

    lazrs reserves what a file states, and ends the process if it cannot. So everything stated is checked before.
    """
    if count == 0:
        return
    try:
        import lazrs
    except ImportError:
        raise MissingPackageError(f"{path}: LAZ files need the package lazrs: pip install 'clipperplus[las]'") from None
    where = f"{path}: byte {start}"
    settings = _find_settings(path, raw, header, start)
    if not _chunks_fit(raw, settings, start, record, count):
        raise FileFormatError(f"{where}: the sizes of the compressed parts contradict each other")
    try:
        if lazrs.LazVlr(settings).item_size() != record:
            raise ValueError("the header states another size of a point")
        stream = io.BytesIO(raw)
        stream.seek(start)
        unpacker = lazrs.LasZipDecompressor(stream, settings)
        step = max(len(raw), 1 << 20) // record  # so that a wrong count is noticed before all of it is reserved
        for first in range(0, count, step):
            piece = bytearray(record * min(step, count - first))
            unpacker.decompress_many(piece)
            yield piece
    except BaseException as error:
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":  # how bugs in lazrs show
            raise
        raise FileFormatError(f"{where}: the points cannot be unpacked ({error})") from None


def _find_settings(path: Path, raw: bytes, header: int, start: int) -> bytes:
    """Return the record that says how the points are compressed; it lies between the header and the points."""
    place = header
    while place + _RECORD_HEADER.size <= start:
        _, user, number, length, _ = _RECORD_HEADER.unpack_from(raw, place)
        place += _RECORD_HEADER.size
        if (user, number) == _LASZIP and place + length <= start:
            return raw[place : place + length]
        place += length
    raise FileFormatError(f"{path}: byte {header}: nothing says how the points are compressed")


def _chunks_fit(raw: bytes, settings: bytes, start: int, record: int, count: int) -> bool:
    """Whether items have the size they must have, and chunks and their layers fit into the file.

    The points begin with the place of a table, or with -1 if the last 8 bytes of the file state it. The table begins
    with its version and the number of chunks. A chunk begins with a point that is not compressed; with layers the
    number of points and the size of each layer follow.
    """
    try:
        (table,) = struct.unpack_from("<q", raw, start)
        if table == -1:
            (table,) = struct.unpack_from("<q", raw, len(raw) - 8)
        if not 0 <= table <= len(raw):
            return False
        (chunks,) = struct.unpack_from("<I", raw, table + 4)
        kind, _, _, size, _, _, items = struct.unpack_from("<HHQIqqH", settings)
        needed = chunks if size == _VARIABLE else -(-count // size)
        if not 0 < needed <= chunks <= len(raw) // record:
            return False
        parts = [struct.unpack_from("<2H", settings, 34 + 6 * item) for item in range(items)]
        if any(_ITEM_SIZES.get(part, length) != length for part, length in parts):
            return False
        if kind != _LAYERED:
            return True
        sizes = struct.Struct(f"<{sum(_LAYERS.get(part, length) for part, length in parts)}I")
        place = start + 8
        for _ in range(needed):
            place += record + 4
            place += sizes.size + sum(sizes.unpack_from(raw, place))
    except (struct.error, ZeroDivisionError):
        return False
    return place <= len(raw)
