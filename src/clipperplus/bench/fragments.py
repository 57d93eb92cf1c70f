"""Scenes of the geometric registration benchmark of 3DMatch, in the layouts in which people have them.

===========  =================================================================================================
points       ``SCENE/cloud_bin_0.ply``, ``cloud_bin_1.ply``, … as published, or ``SCENE.npz`` with integers
             ``p0``, ``p1``, … that ``scale`` turns into metres
truths       ``benchmarks/BENCHMARK/SCENE/gt.log``; of 3DMatch also ``SCENE-evaluation/gt.log``, as published,
             or ``SCENE/gt.log``; ``gt.info`` beside it where there is one
===========  =================================================================================================

A. Zeng et al., "3DMatch: Learning local geometric descriptors from RGB-D reconstructions", CVPR 2017. 3DLoMatch:
S. Huang et al., "PREDATOR: Registration of 3D point clouds with low overlap", CVPR 2021.
"""

from __future__ import annotations

import re
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..clouds.files import read_cloud
from ..errors import FileFormatError, OptionError
from ..geometry.files import read_info, read_log

__all__ = ["FragmentPair", "Scene", "find_scenes"]

_FILE, _ARRAY = re.compile(r"cloud_bin_(\d+)\.ply"), re.compile(r"p(\d+)")


@dataclass(frozen=True, eq=False)
class Scene:
    """Fragments of a scene, and the truth about pairs of them."""

    name: str
    stored: Path
    """A folder with a file for every fragment, or one file with all."""
    log: Path
    """Its ``gt.log``."""
    _checksums: dict[Path, int] = field(default_factory=dict, repr=False)

    def numbers(self) -> set[int]:
        """Return the numbers of the fragments."""
        if self.stored.is_dir():
            found = [_FILE.fullmatch(path.name) for path in self.stored.iterdir()]
        else:
            with _opened(self.stored) as stored:
                found = [_ARRAY.fullmatch(name) for name in stored.files]
        return {int(match[1]) for match in found if match}

    def points(self, number: int) -> npt.NDArray[np.float64]:
        """Return the ``(n, 3)`` points of a fragment, in metres."""
        if self.stored.is_dir():
            return read_cloud(self._file(number)).points
        with _opened(self.stored) as stored:
            integers, scale = stored[f"p{number}"], stored["scale"]
            if integers.ndim != 2 or integers.shape[1] != 3 or integers.dtype.kind not in "iuf":
                raise ValueError(f"p{number} has no points")
            return np.asarray(integers * float(scale), dtype=np.float64)

    def checksum(self, number: int) -> int:
        """Tell a fragment from another of the same number."""
        path = self._file(number)
        if path not in self._checksums:
            self._checksums[path] = zlib.crc32(path.read_bytes())
        return self._checksums[path]

    def pairs(self) -> list[FragmentPair]:
        """Return the pairs that the truth is known of; all of their fragments are there."""
        truth = read_log(self.log)
        missing = sorted(set(truth.pairs.ravel().tolist()) - self.numbers())
        if missing:
            raise FileFormatError(f"{self.log}: names fragments that {self.stored} does not have: {missing[:5]}")
        information: dict[tuple[int, int], npt.NDArray[np.float64]] = {}
        if self.log.with_name("gt.info").exists():
            info = read_info(self.log.with_name("gt.info"))
            information = {(i, j): matrix for (i, j), matrix in zip(info.pairs.tolist(), info.matrices, strict=True)}
        return [
            FragmentPair(self, i, j, pose, information.get((i, j)))
            for (i, j), pose in zip(truth.pairs.tolist(), truth.poses, strict=True)
        ]

    def _file(self, number: int) -> Path:
        return self.stored / f"cloud_bin_{number}.ply" if self.stored.is_dir() else self.stored


@dataclass(frozen=True, eq=False)
class FragmentPair:
    """Two fragments with the motion between them."""

    scene: Scene
    i: int
    j: int
    T_i_j: npt.NDArray[np.float64]
    """``(4, 4)``, the truth: it maps fragment j into the frame of i."""
    information: npt.NDArray[np.float64] | None
    """``(6, 6)`` of the truth, if it is known."""

    @property
    def key(self) -> str:
        """Name of the pair."""
        return f"{self.scene.name} {self.i} {self.j}"

    @property
    def checksum(self) -> str:
        """Tell the pair, points and truth, from another of the same name."""
        parts = (self.scene.checksum(self.i), self.scene.checksum(self.j), zlib.crc32(self.T_i_j.tobytes()))
        return f"{zlib.crc32(repr(parts).encode()):08x}"


def find_scenes(data: Path, *, benchmark: str = "3DMatch", wanted: Sequence[str] | None = None) -> list[Scene]:
    """Return the scenes of a folder by name; ``wanted`` are parts of names, None: all of them."""
    if not data.is_dir():
        raise OptionError(f"data: {data} is not a folder")
    stored: dict[str, Path] = {}
    for path in sorted(data.iterdir()):
        name = path.stem if path.suffix == ".npz" else path.name
        if path.suffix == ".npz" or (path.is_dir() and any(_FILE.fullmatch(file.name) for file in path.iterdir())):
            if name in stored:
                raise OptionError(f"data: {data} has the scene {name} twice")
            stored[name] = path
    if not stored:
        raise OptionError(f"data: no scenes in {data}; expected folders SCENE with cloud_bin_0.ply, …, or SCENE.npz")
    names = list(stored)
    if wanted is not None:
        unknown = [part for part in wanted if not any(part in name for name in names)]
        if unknown or not wanted:
            raise OptionError(
                f"scenes: expected parts of the names {', '.join(names)}, got {', '.join(unknown) or '–'}"
            )
        names = [name for name in names if any(part in name for part in wanted)]
    return [Scene(name, stored[name], _find_log(data, name, benchmark)) for name in names]


def _find_log(data: Path, scene: str, benchmark: str) -> Path:
    places = [f"benchmarks/{benchmark}/{scene}"]
    if benchmark == "3DMatch":
        places += [f"{scene}-evaluation", scene]
    for place in places:
        if (data / place / "gt.log").exists():
            return data / place / "gt.log"
    expected = " or ".join(f"{place}/gt.log" for place in places)
    raise OptionError(f"data: {data} has no truth of {benchmark} for the scene {scene}; expected {expected}")


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    """Give the arrays of a file by name."""
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
            yield stored
    except (ValueError, KeyError, TypeError, EOFError, AttributeError, zlib.error, zipfile.BadZipFile) as error:
        raise FileFormatError(f"{path}: not a file with fragments ({error})") from None
