"""What all problems of the benchmark of maps share: a name, and a map of clouds in shuffled order."""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ..mapping import Map, build_map

__all__ = ["SEED", "Problem", "built", "checksum", "shuffled_order", "summary_of"]

_Array: TypeAlias = npt.NDArray[np.float64]

SEED = 7


@dataclass(frozen=True, eq=False)
class Problem:
    """Something to be measured."""

    name: str
    checksum: str
    measure: Callable[[int], dict[str, object]]
    """What comes of it, on so many threads."""


def checksum(*parts: object) -> str:
    """Return what tells a problem from others."""
    return f"{zlib.crc32(repr(parts).encode()):08x}"


def built(
    clouds: Sequence[_Array], threads: int, store: Path | None = None
) -> tuple[Map, _Array, list[npt.NDArray[np.int64]], float]:
    """Return the map of clouds in shuffled order, and its poses and components in the order in which they are.

    Pairs that are in a ``store`` were registered before, and take no time.
    """
    order = shuffled_order(len(clouds))
    start = time.perf_counter()
    found = build_map([clouds[k] for k in order], threads=threads, store=store)
    seconds = time.perf_counter() - start
    poses = np.full_like(found.poses, np.nan)
    poses[order] = found.poses
    return found, poses, [np.sort(order[scans]) for scans in found.components], seconds


def shuffled_order(count: int) -> npt.NDArray[np.int64]:
    """Return the order in which so many clouds are given."""
    return np.random.default_rng(SEED).permutation(count)


def summary_of(found: Map, seconds: float) -> dict[str, object]:
    """Return what every row says of a map."""
    return {
        "scans": len(found.names),
        "placed": len(found.names) - len(found.left_out),
        "components": len(found.components),
        "seconds": f"{seconds:.1f}",
    }
