"""Names of files, as callers give them, and their bytes, which may be gzipped."""

from __future__ import annotations

import errno
import gzip
import os
import zlib
from pathlib import Path

from .errors import FileFormatError

__all__ = ["as_path", "check_folder", "is_gzip", "read_bytes", "write_bytes"]


def as_path(path: str | os.PathLike[str]) -> Path:
    """Return the name of a file as a Path; what cannot be one is refused."""
    name = os.fspath(path) if isinstance(path, (str, os.PathLike)) else None
    if not isinstance(name, str) or "\0" in name:
        raise FileFormatError(f"path: expected the name of a file, got {path!r}")
    return Path(name)


def check_folder(path: str | os.PathLike[str]) -> None:
    """Refuse the name of a file whose folder is not there: before the work, not after it."""
    path = as_path(path)
    if not path.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "no such folder", str(path.parent))
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, "expected the name of a file, this is a folder", str(path))


def is_gzip(path: Path) -> bool:
    """Whether a name says that the file is gzipped."""
    return path.suffix.lower() == ".gz"


def read_bytes(path: Path) -> bytes:
    """Return what is in a file; ``.gz`` is unpacked."""
    data = path.read_bytes()
    if not is_gzip(path):
        return data
    try:
        if not data:  # which gzip takes for nothing, packed
            raise EOFError("it is empty")
        return gzip.decompress(data)
    except (EOFError, OSError, zlib.error) as error:
        raise FileFormatError(f"{path}: not a complete gzip file ({error})") from None


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file; ``.gz`` is packed, the same data into the same bytes."""
    path.write_bytes(gzip.compress(data, mtime=0) if is_gzip(path) else data)
