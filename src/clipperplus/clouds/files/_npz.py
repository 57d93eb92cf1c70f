"""Arrays in the files of numpy, NPY and NPZ: their headers are understood here, and nothing is unpickled."""

from __future__ import annotations

import io
import math
import struct
import tokenize
import zipfile
import zlib
from typing import BinaryIO, NamedTuple

import numpy as np
import numpy.typing as npt
from numpy.lib import format as npy

from ..._limits import SizeLimit
from ..._words import said, visible
from ...errors import FileFormatError

__all__ = ["Archive", "Layout", "array_from", "layout_of"]

_VERSIONS = ((1, 0), (2, 0), (3, 0))
_LONGEST_HEADER = 10_000
"""Bytes, as in numpy."""
_MOST_BYTES = 2**63 - 1
"""Of an array: no file has more."""
_BROKEN_HEADER = (ValueError, TypeError, SyntaxError, tokenize.TokenError, RecursionError, MemoryError, Warning)
"""What numpy raises; the last where its warnings, of a header of Python 2 or a type of old, are made errors."""
_BROKEN_ZIP = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError, RuntimeError, ValueError, OverflowError)


class Layout(NamedTuple):
    """How the numbers of an array lie in its bytes."""

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


class Archive:
    """The arrays of an NPZ file. None is unpacked before what its header promises has been checked."""

    def __init__(self, file: BinaryIO, limit: SizeLimit) -> None:
        """Read the list of arrays."""
        self._path = limit.path
        try:
            self._zip = zipfile.ZipFile(file)
        except _BROKEN_ZIP as error:
            raise FileFormatError(f"{self._path}: byte 0: not an NPZ file ({said(error)})") from None
        members = (member for member in self._zip.infolist() if member.filename.endswith(".npy"))
        self._members = {member.filename[:-4]: member for member in members}
        self.layouts = {name: self._layout(name) for name in self._members}
        """By the names of the arrays."""

    def size_of(self, name: str) -> int:
        """Return the bytes that an array of plain numbers takes, if the file has as many."""
        layout, size = self.layouts[name], self._members[name].file_size
        if layout.end > size:
            raise _ends_early(self._where(name), layout, size)
        return layout.end

    def array(self, name: str) -> npt.NDArray[np.generic]:
        """Return an array of plain numbers, unpacked, whatever its size."""
        return array_from(self._where(name), self._unpack(name, self.size_of(name)), self.layouts[name])

    def _layout(self, name: str) -> Layout:
        return layout_of(self._where(name), self._unpack(name, _LONGEST_HEADER))

    def _where(self, name: str) -> str:
        return f"{self._path}: {visible(self._members[name].filename[:60])}"

    def _unpack(self, name: str, most: int) -> bytes:
        """Return the first bytes of an array, up to ``most``."""
        member = self._members[name]
        try:
            if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):  # as numpy writes them
                raise NotImplementedError(f"compression {member.compress_type}")
            with self._zip.open(member) as stream:
                return stream.read(most)
        except _BROKEN_ZIP as error:
            where = f"{self._where(name)}: byte {member.header_offset}"
            raise FileFormatError(f"{where}: cannot be unpacked ({said(error)})") from None


def layout_of(where: str, raw: bytes) -> Layout:
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
    if math.prod(size or 1 for size in (dtype.itemsize, *shape)) > _MOST_BYTES:  # its digits would fill a message
        raise FileFormatError(f"{where}: byte 0: the header promises an array that is larger than any file")
    plain = dtype.kind in "iuf" and dtype.itemsize <= 8 and dtype.subdtype is None
    return Layout(dtype.str if plain else "", shape, fortran_order, stream.tell())


def array_from(where: str, raw: bytes, layout: Layout) -> npt.NDArray[np.generic]:
    """Return an array of plain numbers, on the bytes that hold it."""
    if layout.end > len(raw):
        raise _ends_early(where, layout, len(raw))
    return np.ndarray(layout.shape, layout.kind, raw, layout.start, order="F" if layout.fortran_order else "C")


def _ends_early(where: str, layout: Layout, size: int) -> FileFormatError:
    return FileFormatError(
        f"{where}: byte {layout.start}: the header promises {layout.shape[0]} rows, {layout.end - layout.start} bytes "
        f"from here on; there are {size - layout.start}"
    )
