"""Point cloud files.

The format follows from the name:

============================  =========================================================================
``.ply``                      PLY, ASCII and binary of both byte orders
``.pcd``                      PCD 0.7, ASCII, binary and compressed
``.xyz``, ``.txt``, ``.csv``  a point per line; a header may name the columns, ``#`` and ``//`` comments
``.npy``, ``.npz``            arrays of numpy with three columns or more
``.bin``                      scans of KITTI, records of four floats
``.las``, ``.laz``            LAS; LAZ needs the extra ``las``
============================  =========================================================================
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import FileFormatError, LandmarkError
from ..validation import as_array, as_points
from .arrays import parse_kitti, parse_npy, parse_npz
from .columns import Contents
from .las import parse_las
from .paths import as_path
from .pcd import format_pcd, parse_pcd
from .ply import format_ply, parse_ply
from .tables import parse_table

__all__ = ["Cloud", "as_written_path", "read_cloud", "write_cloud"]

_PARSERS: dict[str, Callable[[Path, bytes], Contents]] = {
    ".ply": parse_ply,
    ".pcd": parse_pcd,
    **dict.fromkeys((".xyz", ".txt", ".csv"), parse_table),
    ".npy": parse_npy,
    ".npz": parse_npz,
    ".bin": parse_kitti,
    **dict.fromkeys((".las", ".laz"), parse_las),
}
_WRITTEN = (".ply", ".pcd")


@dataclass(frozen=True, eq=False)
class Cloud:
    """Points of a file, and what it says about them. The arrays of one that was read cannot be written to."""

    points: npt.NDArray[np.float64]
    """``(n, 3)`` finite coordinates."""
    dropped: int = 0
    """Points that were left out because a coordinate is no finite number."""
    normals: npt.NDArray[np.float64] | None = None
    """``(n, 3)`` as the file has them, of any length and maybe NaN; None if it has none."""
    viewpoint: npt.NDArray[np.float64] | None = None
    """``(3,)`` where the sensor was; None if the file does not say. Many programs write the origin for unknown."""


def read_cloud(path: str | PathLike[str]) -> Cloud:
    """Read a point cloud file; the format follows from the name (see the module's table)."""
    path = as_path(path)
    parse = _PARSERS.get(path.suffix.lower())
    if parse is None:
        raise FileFormatError(f"{path}: unknown kind of point cloud; known endings are {' '.join(_PARSERS)}")
    table, viewpoint = parse(path, path.read_bytes())
    finite = np.isfinite(table[:, :3]).all(axis=1)
    kept = table if finite.all() else table[finite]
    return Cloud(
        points=_frozen(kept[:, :3]),
        dropped=len(table) - len(kept),
        normals=_frozen(kept[:, 3:]) if table.shape[1] > 3 else None,
        viewpoint=None if viewpoint is None else _frozen(viewpoint),
    )


def _frozen(array: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    array = np.ascontiguousarray(array)
    array.setflags(write=False)
    return array


def as_written_path(path: str | PathLike[str]) -> Path:
    """Return the name of a file that :func:`write_cloud` can write; others are refused."""
    path = as_path(path)
    if path.suffix.lower() not in _WRITTEN:
        raise FileFormatError(f"{path}: cannot write this kind of point cloud; known endings are {' '.join(_WRITTEN)}")
    return path


def write_cloud(path: str | PathLike[str], points: Any, *, normals: Any = None, binary: bool = True) -> None:
    """Write a PLY or PCD file; which one follows from the name.

    Single precision stays so, all other numbers are written in double precision. Of a :class:`Cloud` the normals and
    the viewpoint (PCD only) are written too.
    """
    path = as_written_path(path)
    viewpoint = None
    if isinstance(points, Cloud):
        viewpoint = points.viewpoint
        normals = points.normals if normals is None else normals
    table = as_points("points", points, dimensions=(3,))
    if normals is not None:
        table = np.hstack([table, _as_normals(normals, len(table))])
    given = np.asarray(getattr(points, "points", points)).dtype
    if given.kind == "f" and given.itemsize <= 4:
        with np.errstate(over="ignore"):  # normals may come in double precision
            table = table.astype(np.float32)
    if path.suffix.lower() == ".ply":
        path.write_bytes(format_ply(table, binary=binary))
    else:
        path.write_bytes(format_pcd(table, viewpoint=viewpoint, binary=binary))


def _as_normals(normals: Any, count: int) -> npt.NDArray[np.float64]:
    """Return normals as they are: those of a file may be NaN."""
    array = as_array("normals", normals, LandmarkError)
    if array.shape != (count, 3) or array.dtype.kind not in "iuf":
        raise LandmarkError(
            f"normals: expected numbers of shape {(count, 3)}, got {array.dtype} of shape {array.shape}"
        )
    return array.astype(np.float64)
