"""LZF, the compression that PCD files use."""

from __future__ import annotations

__all__ = ["HIGHEST_RATIO", "LzfError", "decompress_lzf"]

HIGHEST_RATIO = 88
"""No byte stands for more: three of them repeat up to 264 bytes."""


class LzfError(ValueError):
    """Bytes are not the compressed form of as many bytes as they should be."""


def decompress_lzf(packed: bytes, size: int) -> bytes:
    """Return the ``size`` bytes that were packed.

    A byte below 32 announces that many bytes and one more, to be copied. Any other is the start of a repetition: its
    upper three bits are the length minus 2 (7: the next byte is added), the lower five and the next byte tell how far
    to go back, minus 1.
    """
    out = bytearray()
    place, end = 0, len(packed)
    try:
        while place < end:
            control = packed[place]
            place += 1
            if control < 32:
                stop = place + control + 1
                if stop > end:
                    raise IndexError
                out += packed[place:stop]
                place = stop
            else:
                length = (control >> 5) + 2
                if length == 9:
                    length += packed[place]
                    place += 1
                back = ((control & 31) << 8 | packed[place]) + 1
                place += 1
                start = len(out) - back
                if start < 0:
                    raise LzfError(f"a repetition goes back {back} bytes where there are {len(out)}")
                if back >= length:
                    out += out[start : start + length]
                else:
                    out += (out[start:] * (length // back + 1))[:length]
            if len(out) > size:
                raise LzfError(f"there are more than {size} bytes")
    except IndexError:
        raise LzfError("the last piece is cut off") from None
    if len(out) < size:
        raise LzfError(f"there are {len(out)} bytes instead of {size}")
    return bytes(out)
