"""Which scans a command means: files, or all that are in a folder."""

from __future__ import annotations

import errno
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..clouds.files import CLOUD_ENDINGS
from ..errors import FileFormatError
from ..geometry.files import read_poses
from ..mapping.map_files import is_map_folder

__all__ = ["ScanFiles", "find_scans", "natural_order", "read_poses_of"]


class ScanFiles(NamedTuple):
    """Files of scans, and what to call them."""

    paths: list[Path]
    names: list[str]


def find_scans(given: Sequence[Path], *, but: Path | None = None, size_limit: int | None = None) -> ScanFiles:
    """Return the files that are given, and those of folders in natural order, without the one that is something else.

    Those of one folder are called by their names in it.
    """
    missing = next((path for path in given if not path.exists()), None)
    if missing is not None:
        raise FileNotFoundError(errno.ENOENT, "No such file or directory", str(missing))
    paths = [path for entry in given for path in (_scans_in(entry, but, size_limit) if entry.is_dir() else [entry])]
    alone = len(given) == 1 and given[0].is_dir()
    return ScanFiles(paths, [path.name if alone else str(path) for path in paths])


def _scans_in(folder: Path, but: Path | None, size_limit: int | None) -> list[Path]:
    """Return the point clouds of a folder in natural order; hidden files are none."""
    if is_map_folder(folder, size_limit):
        raise FileFormatError(f"{folder}: this is a map, not a folder of scans")
    found = [
        path
        for path in folder.iterdir()
        if path.suffix.lower() in CLOUD_ENDINGS and not path.name.startswith(".") and path.is_file()
    ]
    if but is not None and but.exists():
        found = [path for path in found if not path.samefile(but)]
    if not found:
        raise FileFormatError(f"{folder}: no point clouds in this folder; known endings are {' '.join(CLOUD_ENDINGS)}")
    return sorted(found, key=lambda path: natural_order(path.name))


def natural_order(name: str) -> tuple[list[tuple[str, int]], str]:
    """Return a key that puts scan2 before scan10, and names that differ in nothing else in the order of letters."""
    words = re.split(r"(\d+)", name.casefold())
    return [(word, int(digits)) for word, digits in zip(words[::2], [*words[1::2], "0"], strict=True)], name


def read_poses_of(path: Path, scans: int, size_limit: int | None = None) -> npt.NDArray[np.float64]:
    """Read a pose for each scan, in the order of the scans."""
    poses = read_poses(path, size_limit=size_limit)
    if len(poses) != scans:
        raise FileFormatError(f"{path}: expected a pose for each of {scans} scans, got {len(poses)}")
    return poses
