"""Points as arrays: NPY and NPZ of numpy."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ..._limits import SizeLimit
from ...errors import FileFormatError
from ._columns import Contents, table_bytes
from ._npz import Archive, Layout, array_from, layout_of

__all__ = ["parse_npy", "parse_npz"]

_MOST_COLUMNS = 64
"""An array with more is taken for one that is transposed."""
_EXPECTED = f"an array of numbers with 3 to {_MOST_COLUMNS} columns, a row per point"


def parse_npy(path: Path, raw: bytes, limit: SizeLimit) -> Contents:
    """Return the first three columns of the array. Nothing is unpickled."""
    layout = layout_of(str(path), raw)
    if not _holds_points(layout):
        transposed = "; is it transposed?" if layout.shape[:1] == (3,) else ""
        kind = layout.kind or "something else than numbers"
        shape = str(layout.shape)[:60]
        raise FileFormatError(f"{path}: byte 0: expected {_EXPECTED}, got {kind} of shape {shape}{transposed}")
    array = array_from(str(path), raw, layout)
    limit.check(table_bytes(len(array), 3))
    return Contents(_first_three(array))


def parse_npz(path: Path, raw: bytes, limit: SizeLimit) -> Contents:
    """Return the array called points, or the only one that can be; one called normals goes with it."""
    archive = Archive(io.BytesIO(raw), limit)
    layouts = archive.layouts
    candidates = [name for name, layout in layouts.items() if _holds_points(layout) and name != "normals"]
    chosen = ["points"] if "points" in candidates else candidates
    if len(chosen) != 1:
        there = ", ".join(f"{name} {layout.shape}" for name, layout in layouts.items())[:200]
        raise FileFormatError(
            f"{path}: byte 0: expected {_EXPECTED}, called points if there are several; there are {there or 'none'}"
        )
    normals, count = layouts.get("normals"), layouts[chosen[0]].shape[0]
    if normals is not None and _holds_points(normals) and normals.shape[0] == count:
        chosen.append("normals")
    limit.check(sum(map(archive.size_of, chosen)) + table_bytes(count, 3 * len(chosen)))
    return Contents(np.hstack([_first_three(archive.array(name)) for name in chosen]))


def _holds_points(layout: Layout) -> bool:
    """Whether a row can be a point."""
    return layout.kind != "" and len(layout.shape) == 2 and 3 <= layout.shape[1] <= _MOST_COLUMNS


def _first_three(array: npt.NDArray[np.generic]) -> npt.NDArray[np.float64]:
    with np.errstate(invalid="ignore"):  # a signalling NaN
        return array[:, :3].astype(np.float64)
