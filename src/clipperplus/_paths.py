"""Names of files, as callers give them, and their bytes, which may be gzipped; written whole or not at all."""

from __future__ import annotations

import errno
import gzip
import os
import secrets
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from .errors import FileFormatError

__all__ = ["as_path", "check_folder", "is_gzip", "read_bytes", "replaced", "write_bytes"]


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
    """Write a file, all of it or nothing; ``.gz`` is packed, the same data into the same bytes."""
    packed = gzip.compress(data, mtime=0) if is_gzip(path) else data
    with replaced(path) as unfinished:
        unfinished.write_bytes(packed)


@contextmanager
def replaced(path: Path) -> Iterator[Path]:
    """Give the name of a file beside one, with its ending; what is written there takes its place once it is whole.

    If anything goes wrong, the file is as it was, and nothing is left beside it. One that is replaced keeps its
    permissions, and links to it stay links. What is no regular file, as a pipe, is written to as it is.
    """
    try:
        before = path.stat()
    except FileNotFoundError:
        before = None
    if _is_handle(path) or (before is not None and not stat.S_ISREG(before.st_mode)):
        yield path
        return
    if before is not None and not os.access(path, os.W_OK):  # that the folder may be changed does not matter
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
    place = Path(os.path.realpath(path))
    unfinished = place.with_name(f".{secrets.token_hex(8)}{path.suffix[:16]}")
    try:
        yield unfinished
        if before is not None:
            unfinished.chmod(stat.S_IMODE(before.st_mode))
        os.replace(unfinished, place)
    except OSError as error:
        if error.errno is None:
            raise
        raise OSError(error.errno, error.strerror, str(path)) from None  # of the other name nobody knows
    finally:
        with suppress(OSError):
            unfinished.unlink()


def _is_handle(path: Path) -> bool:
    """Whether a name stands for a file that this process has open, as ``/dev/stdout`` does, which is meant itself."""
    while path.is_symlink():
        path = path.parent / path.readlink()
        if path.parent.resolve().is_relative_to("/proc"):
            return True
    return False
