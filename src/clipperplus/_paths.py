"""Names of files, as callers give them, and their bytes, which may be gzipped; written whole or not at all."""

from __future__ import annotations

import errno
import io
import os
import secrets
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, NamedTuple

from ._limits import SizeLimit
from ._words import shown
from .errors import FileFormatError

__all__ = [
    "Content",
    "as_path",
    "check_folder",
    "check_is_file",
    "is_gzip",
    "naming",
    "open_file",
    "read_file",
    "replaced",
    "write_bytes",
]

_KINDS = {
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}
_OPEN_FILES = ("/proc", "/dev/fd")
"""Where Linux and macOS name the files that a process has open."""
_CHUNK = 1 << 14
"""Bytes that are unpacked at a time; what is left of them after the end of a member is copied, however small it is."""
_PIECE = 1 << 18
"""Bytes that are packed at a time."""


class Content(NamedTuple):
    """What is in a file."""

    data: bytes
    """Unpacked."""
    limit: SizeLimit
    """What may be made of it."""


def as_path(path: str | os.PathLike[str]) -> Path:
    """Return the name of a file as a Path; what cannot be one is refused."""
    name = os.fspath(path) if isinstance(path, (str, os.PathLike)) else None
    if not isinstance(name, str) or "\0" in name:
        raise FileFormatError(f"path: expected the name of a file, got {shown(path)}")
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


def check_is_file(path: Path, mode: int | None = None) -> None:
    """Refuse what is no regular file: reading a pipe or a device may wait for ever, or never end.

    ``mode`` is that of an open file; without it, the name is looked up, and may be that of nothing.
    """
    mode = os.stat(path).st_mode if mode is None else mode
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(mode):
        kind = _KINDS.get(stat.S_IFMT(mode), "something else")
        raise FileFormatError(f"{path}: expected a regular file, this is {kind}")


def open_file(path: Path) -> BinaryIO:
    """Open a regular file for reading, without waiting for anybody."""
    check_is_file(path)  # before it is opened, which may already do something to a device
    file = open(path, "rb", opener=lambda name, flags: os.open(name, flags | getattr(os, "O_NONBLOCK", 0)))  # noqa: SIM115
    try:
        check_is_file(path, os.fstat(file.fileno()).st_mode)  # it may have been replaced in between
    except BaseException:
        file.close()
        raise
    return file


def read_file(path: Path, size_limit: int | None = None, *, unpack: bool = True) -> Content:
    """Return what is in a file; ``.gz`` is unpacked, unless it is not to be.

    ``size_limit`` are the bytes that the content may take; without it the rule of :mod:`clipperplus._limits` holds.
    """
    with open_file(path) as file:
        size = os.fstat(file.fileno()).st_size
        limit = SizeLimit.of(path, size, size_limit)
        with limit.enforced():
            if unpack and is_gzip(path):
                return Content(_unpacked(file, limit), limit)
            return Content(file.read(size), limit)


def _unpacked(file: BinaryIO, limit: SizeLimit) -> bytes:
    """Return what the members of a gzip file hold, in a time that does not depend on how many they are."""
    out, left, members = io.BytesIO(), b"", 0
    try:
        while left := (left or file.read(_CHUNK)):
            if members:
                left = left.lstrip(b"\0")  # as tapes have it
                if not left:
                    continue
            members += 1
            left = _unpack_member(file, left, out, limit)
        if not members:
            raise EOFError("it is empty")
    except (EOFError, zlib.error) as error:
        raise FileFormatError(f"{limit.path}: not a complete gzip file ({error})") from None
    return out.getvalue()  # no copy


def _unpack_member(file: BinaryIO, packed: bytes, out: io.BytesIO, limit: SizeLimit) -> bytes:
    """Unpack a member that begins with some bytes and goes on in the file; return what was read beyond it."""
    member = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)
    while not member.eof:
        if not packed:
            raise EOFError("it ends too early")
        out.write(member.decompress(packed, _CHUNK * 64))
        limit.check(out.tell())
        packed = member.unconsumed_tail or (b"" if member.eof else file.read(_CHUNK))
    return member.unused_data


def _packed(data: bytes) -> bytes:
    """Return what unpacks to some bytes, piece by piece, between which Ctrl-C is heard."""
    packer, view = zlib.compressobj(9, wbits=16 + zlib.MAX_WBITS), memoryview(data)
    pieces = [packer.compress(view[start : start + _PIECE]) for start in range(0, len(data), _PIECE)]
    return b"".join([*pieces, packer.flush()])


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file, all of it or nothing; ``.gz`` is packed, the same data into the same bytes."""
    packed = _packed(data) if is_gzip(path) else data
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
        with naming(path):
            yield path
        return
    if before is not None and not os.access(path, os.W_OK):  # that the folder may be changed does not matter
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
    place = Path(os.path.realpath(path))
    unfinished = place.with_name(f".{secrets.token_hex(8)}{path.suffix[:16]}")
    try:
        with naming(path):  # of the other name nobody knows
            if before is not None:  # perhaps a secret: who may not read it may not read its half either
                os.close(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
            yield unfinished
            if before is not None:
                unfinished.chmod(stat.S_IMODE(before.st_mode))
            os.replace(unfinished, place)
    finally:
        with suppress(OSError):
            unfinished.unlink()


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Have what goes wrong in the block said of a path: a full disk has no name, and other names may mislead."""
    try:
        yield
    except OSError as error:
        if error.errno is None:
            raise
        raise OSError(error.errno, error.strerror, str(path)) from None


def _is_handle(path: Path) -> bool:
    """Whether a name stands for a file that this process has open, as ``/dev/stdout`` does, which is meant itself."""
    while not any(path.parent.resolve().is_relative_to(place) for place in _OPEN_FILES):
        if not path.is_symlink():
            return False
        path = path.parent / path.readlink()
    return True
