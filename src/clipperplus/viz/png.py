"""PNG files of plain pictures, so that a report needs no package for pictures."""

from __future__ import annotations

import struct
import zlib

import numpy as np
import numpy.typing as npt

__all__ = ["encode_png"]

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_TRUE_COLOUR = (8, 2, 0, 0, 0)
"""Bits a channel, red green blue, and the only compression, filter method and interlacing worth having."""


def encode_png(picture: npt.NDArray[np.uint8]) -> bytes:
    """Return a file that holds ``(height, width, 3)`` red, green and blue."""
    height, width, _ = picture.shape
    lines = np.zeros((height, 1 + 3 * width), dtype=np.uint8)  # each begins with its filter: none
    lines[:, 1:] = picture.reshape(height, -1)
    header = struct.pack(">II5B", width, height, *_TRUE_COLOUR)
    return _SIGNATURE + _chunk(b"IHDR", header) + _chunk(b"IDAT", zlib.compress(lines.tobytes())) + _chunk(b"IEND", b"")


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
