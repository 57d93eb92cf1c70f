"""Names of files, as callers give them."""

from __future__ import annotations

import os
from pathlib import Path

from ..errors import FileFormatError

__all__ = ["as_path"]


def as_path(path: str | os.PathLike[str]) -> Path:
    """Return the name of a file as a Path; what cannot be one is refused."""
    if not isinstance(path, (str, os.PathLike)) or "\0" in str(path):
        raise FileFormatError(f"path: expected the name of a file, got {path!r}")
    return Path(path)
