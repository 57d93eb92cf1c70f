"""Points as arrays: NPY and NPZ of numpy."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ..._limits import SizeLimit
from ..._words import visible
from ...errors import FileFormatError
from ._columns import Contents, table_bytes
from ._npz import Archive, Layout, array_from, layout_of

__all__ = ["parse_npy", "parse_npz"]

_MOST_COLUMNS = 64
"""An array with more is taken for one that is transposed."""
_TRANSPOSED, _MOST_OF_FEW = (3, 4), 8
"""So many rows are those of x, y, z and 1, if there are more columns than a few."""
_NAMES = ("xyz", "positions", "vertices", "pcd", "pts", "coords")
"""Of points; ``points`` comes before them."""
_NO_POINTS = ("normals", "colors", "colours", "rgb", "pose", "poses", "transform", "T")
"""Names of what is not taken for points, even if it is the only array."""
_EXPECTED = f"an array of numbers with 3 to {_MOST_COLUMNS} columns, a row per point"


def parse_npy(path: Path, raw: bytes, limit: SizeLimit) -> Contents:
    """Return the first three columns of the array. Nothing is unpickled."""
    layout = layout_of(str(path), raw)
    _check_holds_points(path, layout)
    array = array_from(str(path), raw, layout)
    limit.check(table_bytes(len(array), 3))
    _check_is_no_transform(path, array)
    return Contents(_first_three(array))


def parse_npz(path: Path, raw: bytes, limit: SizeLimit) -> Contents:
    """Return the array called points or the like, or the only one; one called normals goes with it."""
    archive = Archive(io.BytesIO(raw), limit)
    layouts = archive.layouts
    chosen = [_name_of_points(path, layouts)]
    _check_holds_points(path, layouts[chosen[0]], f"{visible(chosen[0][:60])}: ")
    normals, count = layouts.get("normals"), layouts[chosen[0]].shape[0]
    if normals is not None and _can_be_points(normals) and normals.shape[0] == count:
        chosen.append("normals")
    limit.check(sum(map(archive.size_of, chosen)) + table_bytes(count, 3 * len(chosen)))
    arrays = [archive.array(name) for name in chosen]
    _check_is_no_transform(path, arrays[0])
    return Contents(np.hstack([_first_three(array) for array in arrays]))


def _name_of_points(path: Path, layouts: dict[str, Layout]) -> str:
    """Return what the points are called: points, or the only one of the other names; or else the only array."""
    if "points" in layouts:
        return "points"
    others = [name for name in layouts if name not in _NO_POINTS]
    named = [name for name in others if name in _NAMES]
    for names in (named, others if set(layouts) <= {*others, "normals"} else []):
        if len(names) == 1:
            return names[0]
    there = visible(", ".join(f"{name} {layout.shape}" for name, layout in layouts.items())[:200])
    raise FileFormatError(
        f"{path}: byte 0: expected {_EXPECTED}, called points if there are several; there are {there or 'none'}"
    )


def _check_holds_points(path: Path, layout: Layout, name: str = "") -> None:
    if not _can_be_points(layout):
        transposed = "; is it transposed?" if len(layout.shape) == 2 and layout.shape[0] in _TRANSPOSED else ""
        kind = layout.kind or "something else than numbers"
        shape = str(layout.shape)[:60]
        raise FileFormatError(f"{path}: byte 0: {name}expected {_EXPECTED}, got {kind} of shape {shape}{transposed}")


def _can_be_points(layout: Layout) -> bool:
    """Whether a row can be a point, and a column is none."""
    if not layout.kind or len(layout.shape) != 2:
        return False
    rows, columns = layout.shape
    return 3 <= columns <= (_MOST_OF_FEW if rows in _TRANSPOSED else _MOST_COLUMNS)


def _check_is_no_transform(path: Path, array: npt.NDArray[np.generic]) -> None:
    if array.shape == (4, 4) and array[3].tolist() == [0, 0, 0, 1]:
        raise FileFormatError(
            f"{path}: byte 0: expected points, got a 4 by 4 matrix with a last row of 0 0 0 1, which is a transform"
        )


def _first_three(array: npt.NDArray[np.generic]) -> npt.NDArray[np.float64]:
    with np.errstate(invalid="ignore"):  # a signalling NaN
        return array[:, :3].astype(np.float64)
