"""Files that a command is to write: none is written twice, and none takes the place of one that is read."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from ..errors import OptionError
from ..mapping.map_files import is_of_map

__all__ = ["check_not_of_map", "check_outputs", "make_folder", "remove_empty"]


def check_outputs(outputs: Iterable[tuple[str, Path | None]], inputs: Iterable[Path | None] = ()) -> None:
    """Refuse outputs, by the names of their options, that are the same file, or inputs: before the work, not after it.

    A pipe or a device may be named more than once: it is not replaced.
    """
    read = {_identity(path) for path in inputs if path is not None}
    written: dict[object, str] = {}
    for name, path in outputs:
        if path is None or (path.exists() and not path.is_file() and not path.is_dir()):
            continue
        file = _identity(path)
        if file in read:
            raise OptionError(f"{name}: expected another file than those that are read, got {path}")
        if file in written:
            raise OptionError(f"{name}: expected another file than for {written[file]}, got {path}")
        written[file] = name


def check_not_of_map(name: str, path: Path | None, folder: Path) -> None:
    """Refuse a file that is one of a map in a folder, or will be."""
    if path is not None and is_of_map(path, folder):
        raise OptionError(f"{name}: expected another file than those of the map, got {path}")


def make_folder(path: Path) -> list[Path]:
    """Make a folder; return it and those above it that were not there before, the innermost first."""
    made = [folder for folder in (path, *path.parents) if not folder.exists()]
    path.mkdir(parents=True, exist_ok=True)
    return made


def remove_empty(folders: Iterable[Path]) -> None:
    """Remove folders in which there is nothing."""
    with suppress(OSError):
        for folder in folders:
            folder.rmdir()


def _identity(path: Path) -> object:
    """Return what two names of the same file have in common, also if it is not there yet."""
    try:
        found = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return os.path.realpath(path)
    return found.st_dev, found.st_ino
