"""Point cloud files.

The format follows from the name:

============================  =========================================================================
``.ply``                      PLY, ASCII and binary of both byte orders
``.pcd``                      PCD 0.7, ASCII, binary and compressed
``.xyz``, ``.txt``, ``.csv``  a point per line; a header may name the columns; ``#``, ``//`` and ``%`` comments
``.npy``, ``.npz``            arrays of numpy with three columns or more
``.bin``                      scans of KITTI, records of four floats
``.las``, ``.laz``            LAS; LAZ needs the extra ``las``
============================  =========================================================================
"""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..._limits import SizeLimit
from ..._paths import as_path, read_file, write_bytes
from ..._validation import as_array, as_points, attribute_of
from ...errors import FileFormatError, LandmarkError
from ..cloud import Cloud
from ._columns import Contents
from .arrays import parse_npy, parse_npz
from .kitti import parse_kitti
from .las import parse_las
from .pcd import format_pcd, parse_pcd
from .ply import format_ply, parse_ply
from .tables import parse_table

__all__ = ["CLOUD_ENDINGS", "Cloud", "as_written_path", "read_cloud", "write_cloud"]


class _Format(NamedTuple):
    parse: Callable[[Path, bytes, SizeLimit], Contents]
    render: Callable[..., bytes] | None = None
    """``render(table, viewpoint=…, binary=…)``; None: such files are only read."""


_FORMATS = {
    ".ply": _Format(parse_ply, format_ply),
    ".pcd": _Format(parse_pcd, format_pcd),
    ".xyz": _Format(parse_table),
    ".txt": _Format(parse_table),
    ".csv": _Format(parse_table),
    ".npy": _Format(parse_npy),
    ".npz": _Format(parse_npz),
    ".bin": _Format(parse_kitti),
    ".las": _Format(parse_las),
    ".laz": _Format(parse_las),
}
"""By the ending of the name."""
CLOUD_ENDINGS = tuple(_FORMATS)
"""Of files that :func:`read_cloud` knows, in small letters."""


def read_cloud(path: str | PathLike[str], *, size_limit: int | None = None) -> Cloud:
    """Read a point cloud file; the format follows from the name (see the module's table).

    A file whose points would take more than ``size_limit`` bytes, unpacked and as numbers, is refused with
    :class:`MemoryLimitError` before they are read; without it, more than 256 MiB and 100 times the size of the file.
    """
    path = as_path(path)
    form = _FORMATS.get(path.suffix.lower())
    if form is None:
        raise FileFormatError(f"{path}: unknown kind of point cloud; known endings are {' '.join(_FORMATS)}")
    raw, limit = read_file(path, size_limit)
    with limit.enforced():
        table, viewpoint = form.parse(path, raw, limit)
        del raw
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
    form = _FORMATS.get(path.suffix.lower())
    if form is None or form.render is None:
        written = " ".join(ending for ending, known in _FORMATS.items() if known.render is not None)
        raise FileFormatError(f"{path}: cannot write this kind of point cloud; known endings are {written}")
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
    given = as_array("points", attribute_of("points", points, "points", points), LandmarkError).dtype
    if given.kind == "f" and given.itemsize <= 4:
        with np.errstate(over="ignore"):  # normals may come in double precision
            table = table.astype(np.float32)
    render = _FORMATS[path.suffix.lower()].render
    assert render is not None  # as_written_path has seen to it
    write_bytes(path, render(table, viewpoint=viewpoint, binary=binary))


def _as_normals(normals: Any, count: int) -> npt.NDArray[np.float64]:
    """Return normals as they are: those of a file may be NaN."""
    array = as_array("normals", normals, LandmarkError)
    if array.shape != (count, 3) or array.dtype.kind not in "iuf":
        raise LandmarkError(
            f"normals: expected numbers of shape {(count, 3)}, got {array.dtype} of shape {array.shape}"
        )
    return array.astype(np.float64)
