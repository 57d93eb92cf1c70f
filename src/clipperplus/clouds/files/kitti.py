"""Scans of KITTI (.bin): four floats per point and nothing else; files of other numbers are told by what these are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

from ..._limits import SizeLimit
from ...errors import FileFormatError
from ._columns import Contents, table_bytes

__all__ = ["parse_kitti"]

_RECORD = 16
_OTHERS = ".pcd.bin"
"""How the names of nuScenes end."""
_LARGEST, _SMALLEST = 1e7, 1e-30
"""Of coordinates. Integers and halves of doubles, read as floats, are mostly beyond."""
_RINGS = 256
_FEWEST_RECORDS = 10
"""Of five floats, by which they are told; fewer can be so by chance."""


def parse_kitti(path: Path, raw: bytes, limit: SizeLimit) -> Contents:
    """Return x, y and z of records of four little-endian floats; the last is the intensity."""
    if path.name.lower().endswith(_OTHERS):
        raise FileFormatError(f"{path}: byte 0: {_five('files of this name, of nuScenes, have')}")
    if not raw or len(raw) % _RECORD:
        raise FileFormatError(f"{path}: byte {len(raw)}: expected records of 16 bytes, the file has {len(raw)} bytes")
    numbers = np.frombuffer(raw, dtype="<f4")
    limit.check(table_bytes(len(numbers) // 4, 3))
    if _has_rings(numbers):
        raise FileFormatError(f"{path}: byte 0: {_five('every fifth number is a small integer: these seem to be')}")
    table = numbers.reshape(-1, 4)[:, :3]
    strange = _are_strange(table)
    if strange.sum() * 100 > len(table):
        place = int(strange.argmax())
        raise FileFormatError(
            f"{path}: byte {_RECORD * place}: expected points of four floats, x y z intensity; some are above 1e7, "
            f"or next to 0, in {strange.sum()} of {len(table)}, the first {table[place].tolist()}"
        )
    with np.errstate(invalid="ignore"):  # a signalling NaN
        return Contents(table.astype(np.float64))


def _five(reason: str) -> str:
    return f"expected four floats per point, {reason} five: take the first three, and write them as NPY or PLY"


def _has_rings(numbers: npt.NDArray[np.float32]) -> bool:
    """Whether every fifth number is that of a laser, as in files of nuScenes, and others are no integers."""
    if len(numbers) % 5 or len(numbers) < 5 * _FEWEST_RECORDS:
        return False
    last = numbers[4::5]
    with np.errstate(invalid="ignore"):
        if not ((last >= 0) & (last < _RINGS) & (last == np.floor(last))).all():
            return False
        return bool((numbers != np.floor(numbers)).mean() > 0.1)


def _are_strange(table: npt.NDArray[np.float32]) -> npt.NDArray[np.bool_]:
    """Return which points have a coordinate that no scanner measures; what is no finite number is left out anyway."""
    with np.errstate(invalid="ignore"):
        sizes = np.abs(table)
        strange = (sizes > _LARGEST) & np.isfinite(sizes) | (sizes > 0) & (sizes < _SMALLEST)
    return np.asarray(strange.any(axis=1))
