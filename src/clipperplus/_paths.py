"""Names of files, as callers give them."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from .errors import FileFormatError

__all__ = ["as_path", "check_folder"]


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
