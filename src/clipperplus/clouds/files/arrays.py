"""Points as arrays: NPY and NPZ of numpy, and the raw scans of KITTI (.bin)."""

from __future__ import annotations

import io
import math
import struct
import tokenize
import zipfile
import zlib
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numpy.lib import format as npy

from ...errors import FileFormatError
from ._columns import Contents, check_unpacked

__all__ = ["parse_kitti", "parse_npy", "parse_npz"]

_VERSIONS = ((1, 0), (2, 0), (3, 0))
_LONGEST_HEADER = 10_000
"""Bytes, as in numpy."""
_MOST_COLUMNS = 64
"""An array with more is taken for one that is transposed."""
_EXPECTED = f"an array of numbers with 3 to {_MOST_COLUMNS} columns, a row per point"
_BROKEN_HEADER = (ValueError, TypeError, SyntaxError, tokenize.TokenError, RecursionError, MemoryError, UserWarning)
"""What numpy raises; the last where its warning about a header of Python 2 is made an error."""
_BROKEN_ZIP = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError, RuntimeError, ValueError, OverflowError)


class _Layout(NamedTuple):
    kind: str
    """Type for numpy; empty for what is no plain number."""
    shape: tuple[int, ...]
    fortran_order: bool
    start: int
    """Byte of the first number."""

    @property
    def end(self) -> int:
        """Byte after the last number."""
        return self.start + int(self.kind[2]) * math.prod(self.shape)

    @property
    def holds_points(self) -> bool:
        """Whether a row can be a point."""
        return self.kind != "" and len(self.shape) == 2 and 3 <= self.shape[1] <= _MOST_COLUMNS


def parse_kitti(path: Path, raw: bytes) -> Contents:
    """Return x, y and z of records of four little-endian floats; the last is the intensity."""
    if not raw or len(raw) % 16:
        raise FileFormatError(f"{path}: byte {len(raw)}: expected records of 16 bytes, the file has {len(raw)} bytes")
    return Contents(_first_three(np.frombuffer(raw, dtype="<f4").reshape(-1, 4)))


def parse_npy(path: Path, raw: bytes) -> Contents:
    """Return the first three columns of the array. Nothing is unpickled."""
    layout = _layout(str(path), raw)
    if not layout.holds_points:
        transposed = "; is it transposed?" if layout.shape[:1] == (3,) else ""
        kind = layout.kind or "something else than numbers"
        raise FileFormatError(f"{path}: byte 0: expected {_EXPECTED}, got {kind} of shape {layout.shape}{transposed}")
    return Contents(_points(str(path), raw, layout))


def parse_npz(path: Path, raw: bytes) -> Contents:
    """Return the array called points, or the only one that can be; one called normals goes with it."""
    try:
        archive = zipfile.ZipFile(io.BytesIO(raw))
    except _BROKEN_ZIP as error:
        raise FileFormatError(f"{path}: byte 0: not an NPZ file ({error})") from None
    members = {member.filename[:-4]: member for member in archive.infolist() if member.filename.endswith(".npy")}
    layouts = {}
    for name, member in members.items():
        where = f"{path}: {member.filename}"
        layouts[name] = _layout(where, _unpack(where, archive, member, _LONGEST_HEADER))
    candidates = [name for name, layout in layouts.items() if layout.holds_points and name != "normals"]
    chosen = ["points"] if "points" in candidates else candidates
    if len(chosen) != 1:
        there = ", ".join(f"{name} {layout.shape}" for name, layout in layouts.items())[:200]
        raise FileFormatError(
            f"{path}: byte 0: expected {_EXPECTED}, called points if there are several; there are {there or 'none'}"
        )
    normals = layouts.get("normals")
    if normals is not None and normals.holds_points and normals.shape[0] == layouts[chosen[0]].shape[0]:
        chosen.append("normals")
    tables = []
    for name in chosen:
        where, end = f"{path}: {members[name].filename}", layouts[name].end
        if end > members[name].file_size:
            raise _ends_early(where, layouts[name], members[name].file_size)
        check_unpacked(f"{where}: byte 0", end, raw)
        tables.append(_points(where, _unpack(where, archive, members[name], end), layouts[name]))
    return Contents(np.hstack(tables))


def _unpack(where: str, archive: zipfile.ZipFile, member: zipfile.ZipInfo, most: int) -> bytes:
    """Return the first bytes of a member, up to ``most``."""
    try:
        if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):  # as numpy writes them
            raise NotImplementedError(f"compression {member.compress_type}")
        with archive.open(member) as stream:
            return stream.read(most)
    except _BROKEN_ZIP as error:
        raise FileFormatError(f"{where}: byte {member.header_offset}: cannot be unpacked ({error})") from None


def _layout(where: str, raw: bytes) -> _Layout:
    """Understand the header of an array as numpy does, which evaluates nothing but literals."""
    stream = io.BytesIO(raw)
    try:
        version = npy.read_magic(stream)
        # The third version differs from the second only in names of fields that are not ASCII.
        read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        shape, fortran_order, dtype = read(stream, max_header_size=_LONGEST_HEADER)
        if version not in _VERSIONS or not all(type(size) is int and size >= 0 for size in shape):
            raise ValueError
    except _BROKEN_HEADER:
        raise FileFormatError(f"{where}: byte 0: not an array of numpy: its header cannot be understood") from None
    plain = dtype.kind in "iuf" and dtype.itemsize <= 8 and dtype.subdtype is None
    return _Layout(dtype.str if plain else "", shape, fortran_order, stream.tell())


def _points(where: str, raw: bytes, layout: _Layout) -> npt.NDArray[np.float64]:
    if layout.end > len(raw):
        raise _ends_early(where, layout, len(raw))
    array = np.ndarray(layout.shape, layout.kind, raw, layout.start, order="F" if layout.fortran_order else "C")
    return _first_three(array)


def _ends_early(where: str, layout: _Layout, size: int) -> FileFormatError:
    return FileFormatError(
        f"{where}: byte {layout.start}: the header promises {layout.shape[0]} rows, {layout.end - layout.start} bytes "
        f"from here on; there are {size - layout.start}"
    )


def _first_three(array: npt.NDArray[np.generic]) -> npt.NDArray[np.float64]:
    with np.errstate(invalid="ignore"):  # a signalling NaN
        return array[:, :3].astype(np.float64)
