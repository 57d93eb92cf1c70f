"""What comments above a trajectory say about the order of its columns."""

from __future__ import annotations

import io
import re
from itertools import islice
from pathlib import Path

from ..errors import FileFormatError

__all__ = ["check_order_of_quaternions"]

_LINES_ABOVE = 100
"""So many lines are looked at."""
_LONGEST = 1000
"""Bytes; a longer line names no columns."""
_PART = re.compile(r"(?:q|quat|quaternion|rot|rotation|orientation|orient)\w{0,20}?[_.:]?([wxyzijk])", re.IGNORECASE)
_EXPECTED = ["x", "y", "z", "w"]
_IMAGINARY = {"i": "x", "j": "y", "k": "z"}


def check_order_of_quaternions(path: Path, data: bytes) -> None:
    """Refuse a trajectory whose comments name the parts of the quaternion in another order, or not last."""
    lines = io.TextIOWrapper(io.BytesIO(data), "ascii", errors="replace")
    for number, line in enumerate(islice(lines, _LINES_ABOVE), start=1):
        line = line.strip()
        if line and not line.startswith("#"):
            return
        if len(line) > _LONGEST:
            continue
        words = re.sub(r"\[[^\]]*\]|[#,;()]", " ", line).split()
        found = [match and _IMAGINARY.get(match[1].lower(), match[1].lower()) for match in map(_PART.fullmatch, words)]
        parts = [part for part in found if part]
        if sorted(parts) == sorted(_EXPECTED) and (parts != _EXPECTED or (len(words) == 8 and not found[-1])):
            raise FileFormatError(
                f"{path}: line {number}: expected columns timestamp tx ty tz qx qy qz qw, got {line[:60]!r}"
            )
