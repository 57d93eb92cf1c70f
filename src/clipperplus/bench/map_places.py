"""Scans that are looked for in a map that was made without them, and scans of other places."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ..evaluation import evaluate_poses
from ..geometry.poses import inverse, rotation_angles
from ..mapping import build_map
from .fragments import Scene
from .map_runs import Problem, checksum
from .map_scenes import clouds_of
from .map_sequences import LIMITS, sequence

__all__ = ["of_places"]

_Array: TypeAlias = npt.NDArray[np.float64]

_EVERY = 6
"""Of the scans of a map one in so many is left out, and then looked for."""


def of_places(kept: Scene | Path, others: Sequence[Scene | Path]) -> Problem:
    """Return the search for scans in a map that was made without them, and for strangers."""

    def measure(threads: int) -> dict[str, object]:
        clouds = clouds_of(kept) if isinstance(kept, Scene) else sequence(kept)[0]
        inside = [k for k in range(len(clouds)) if k % _EVERY != _EVERY // 2]
        outside = [k for k in range(len(clouds)) if k % _EVERY == _EVERY // 2]
        found = build_map([clouds[k] for k in inside], threads=threads)
        poses = np.full((len(clouds), 4, 4), np.nan)
        poses[inside] = found.poses
        found.locate(clouds[outside[0]], threads=threads)  # the first one prepares the map
        right, seconds = 0, []
        for scan in outside:
            start = time.perf_counter()
            where = found.locate(clouds[scan], threads=threads)
            seconds.append(time.perf_counter() - start)
            if where.T_map_scan is not None:
                poses[scan] = where.T_map_scan
                right += _is_located(kept, poses, scan, inside)
        strangers = [cloud for other in others for cloud in _some_of(other)]
        trusted = sum(found.locate(cloud, threads=threads).status.value == "ok" for cloud in strangers)
        return {
            "scans": len(outside),
            "located": f"{right / len(outside):.3f}",
            "strangers": f"{trusted} of {len(strangers)}",
            "median_seconds": f"{np.median(seconds):.2f}",
        }

    name = kept.name if isinstance(kept, Scene) else kept.stem
    return Problem(f"where in {name}", checksum("places", name), measure)


def _some_of(other: Scene | Path) -> list[_Array]:
    """Return some scans of another scene or sequence; of sequences, only those of lidars."""
    if isinstance(other, Scene):
        return clouds_of(other)[::_EVERY]
    return sequence(other)[0][::_EVERY] if other.stem.endswith("lidar") else []


def _is_located(kept: Scene | Path, poses: _Array, scan: int, inside: list[int]) -> bool:
    """Whether most pairs of a scan with those of the map are right."""
    if isinstance(kept, Scene):
        pairs = [pair for pair in kept.pairs() if scan in (pair.i, pair.j) and {pair.i, pair.j} - {scan} <= set(inside)]
        if not pairs:
            return True
        numbers = np.array([(pair.i, pair.j) for pair in pairs])
        truths = np.array([pair.T_i_j for pair in pairs])
        return (evaluate_poses(poses, numbers, truths, protocol="3DMatch").recall or 0.0) >= 0.5
    truth = sequence(kept)[1]
    here, there = inverse(poses[inside]) @ poses[scan], inverse(truth[inside]) @ truth[scan]
    shift = np.linalg.norm(here[:, :3, 3] - there[:, :3, 3], axis=1)
    turn = np.degrees(rotation_angles(inverse(here) @ there))
    limit = LIMITS[kept.stem]
    return bool(np.median(shift) <= limit[0] and np.median(turn) <= limit[1])
