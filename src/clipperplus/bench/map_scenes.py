"""Maps of the scenes of 3DMatch: what of its benchmarks follows from them, their memory, and Open3D beside them."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ..clouds.prepared import prepare
from ..evaluation import evaluate_poses
from ..mapping import Map, Workbench, build_map, pair_similarities
from .fragments import Scene, find_scenes
from .map_runs import SEED, Problem, built, checksum, shuffled_order, summary_of
from .multiway import open3d_multiway

__all__ = [
    "FOLDER",
    "MOVED",
    "OPEN3D",
    "clouds_of",
    "of_folder",
    "of_memory",
    "of_open3d",
    "of_scene",
    "over_all",
    "scenes_of",
]

_Array: TypeAlias = npt.NDArray[np.float64]

FOLDER, MOVED, OPEN3D = "all scenes in one folder", "moved", "Open3D multiway"
_NOISE = 0.006
"""Metres: that of a depth camera."""
_MOVED_BY = 5.0
"""Metres by which scans are moved, at most, along each axis."""


def over_all(rows: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """Return the recalls of several scenes over all of their pairs."""
    result: dict[str, str] = {}
    for recall, pairs in (("recall", "pairs"), ("recall_low", "pairs_low")):
        counts = [int(row[pairs]) if row.get(pairs) else 0 for row in rows]
        right = sum(float(row[recall]) * count for row, count in zip(rows, counts, strict=True) if count)
        result |= {recall: f"{right / max(1, sum(counts)):.4f}", pairs: str(sum(counts))}
    return result


def scenes_of(folders: Sequence[Path], benchmark: str) -> dict[str, Scene]:
    """Return the scenes of those folders that have some."""
    found: dict[str, Scene] = {}
    for folder in folders:
        if folder.is_dir() and (any(folder.glob("*.npz")) or any(folder.glob("*/cloud_bin_0.ply"))):
            found |= {scene.name: scene for scene in find_scenes(folder, benchmark=benchmark)}
    return found


def clouds_of(scene: Scene) -> list[_Array]:
    """Return the clouds of a scene, in order."""
    return [scene.points(number) for number in sorted(scene.numbers())]


def _recalls(
    poses: _Array, components: Sequence[npt.NDArray[np.int64]], scene: Scene, low: Scene | None, first: int = 0
) -> dict[str, str]:
    """Return the share of both benchmarks' pairs whose motion follows from the poses."""
    recalls: dict[str, str] = {}
    for column, one in (("recall", scene), ("recall_low", low)):
        if one is not None:
            pairs = one.pairs()
            numbers = np.array([(pair.i, pair.j) for pair in pairs]) + first
            truths = np.array([pair.T_i_j for pair in pairs])
            result = evaluate_poses(poses, numbers, truths, components=components, protocol="3DMatch")
            recalls |= {column: f"{result.recall:.4f}", column.replace("recall", "pairs"): str(len(pairs))}
    return recalls


def _candidates(
    clouds: Sequence[_Array], found: Map, order: npt.NDArray[np.int64], pairs: Sequence[tuple[int, int]]
) -> dict[str, object]:
    """Return which share of the benchmark's pairs is among a quarter of all pairs, chosen in two ways.

    Those that look most alike; and those that share the most where the map puts them, filled up with what else was
    registered. And how many of all pairs were registered.
    """
    prepared = [prepare(cloud, voxel_size=found.voxel_size) for cloud in clouds]
    rows, columns = np.triu_indices(len(clouds), 1)
    most = len(rows) // 4
    best = np.argsort(-pair_similarities(prepared)[rows, columns], kind="stable")[:most]
    alike = list(zip(rows[best].tolist(), columns[best].tolist(), strict=True))
    edges = [edge for edge in found.edges if edge.origin != "seen"]
    registered = [_pair(int(order[edge.source]), int(order[edge.target])) for edge in edges]
    poses = np.tile(np.eye(4), (len(clouds), 1, 1))
    poses[order] = np.where(np.isfinite(found.poses), found.poses, np.eye(4))
    bench = Workbench(prepared, free_space=False, threads=1)
    near = [item for scans in found.components for item in bench.near(order[scans], order[scans], poses, 0.01)]
    suggested = [pair for _, pair in sorted(near, key=lambda item: (-item[0], item[1]))]
    wanted = {_pair(*pair) for pair in pairs}
    among = [wanted.intersection(some[:most]) for some in (alike, list(dict.fromkeys((*suggested, *registered))))]
    return {
        "most_possible": f"{min(1.0, most / max(1, len(wanted))):.3f}",
        "alike": f"{len(among[0]) / max(1, len(wanted)):.3f}",
        "suggested": f"{len(among[1]) / max(1, len(wanted)):.3f}",
        "registered": f"{len(registered) / max(1, len(rows)):.3f}",
    }


def _pair(one: int, other: int) -> tuple[int, int]:
    return min(one, other), max(one, other)


def of_scene(scene: Scene, low: Scene | None, *, moved: bool, store: Path | None = None) -> Problem:
    """Return the map of a scene, and how much of two benchmarks follows from it."""

    def measure(threads: int) -> dict[str, object]:
        clouds = clouds_of(scene)
        motions = _random_motions(len(clouds)) if moved else np.tile(np.eye(4), (len(clouds), 1, 1))
        given = [cloud @ m[:3, :3].T + m[:3, 3] for cloud, m in zip(clouds, motions, strict=True)]
        found, poses, components, seconds = built(given, threads, store)
        pairs = [(pair.i, pair.j) for pair in scene.pairs()]
        about = {} if moved else _candidates(clouds, found, shuffled_order(len(clouds)), pairs)
        return {**summary_of(found, seconds), **_recalls(poses @ motions, components, scene, low), **about}

    name = f"{scene.name}, {MOVED}" if moved else scene.name
    return Problem(name, checksum(scene.name, scene.checksum(0), moved), measure)


def _random_motions(count: int) -> _Array:
    random = np.random.default_rng(SEED)
    motions = np.tile(np.eye(4), (count, 1, 1))
    for motion in motions:
        turn, stretch = np.linalg.qr(random.normal(size=(3, 3)))
        turn *= np.sign(np.diag(stretch))
        motion[:3, :3] = turn * np.sign(np.linalg.det(turn))
        motion[:3, 3] = random.uniform(-_MOVED_BY, _MOVED_BY, 3)
    return motions


def of_folder(scenes: Sequence[tuple[Scene, Scene | None]], *, store: Path | None = None) -> Problem:
    """Return the maps of all scenes in one folder."""

    def measure(threads: int) -> dict[str, object]:
        parts = [clouds_of(scene) for scene, _ in scenes]
        firsts = np.cumsum([0, *(len(part) for part in parts)])
        found, poses, components, seconds = built([cloud for part in parts for cloud in part], threads, store)
        # Scenes whose names differ only in a number at the end are of one place.
        names = [scene.name.rstrip("0123456789") for scene, _ in scenes]
        place = np.repeat([names.index(name) for name in names], [len(part) for part in parts])
        wrong = sum(len(scans) - int(np.bincount(place[scans]).max()) for scans in components)
        each = [
            _recalls(poses, components, scene, low, int(first))
            for (scene, low), first in zip(scenes, firsts[:-1], strict=True)
        ]
        clouds = [cloud for part in parts for cloud in part]
        pairs = [
            (pair.i + int(first), pair.j + int(first))
            for (scene, _), first in zip(scenes, firsts[:-1], strict=True)
            for pair in scene.pairs()
        ]
        about = _candidates(clouds, found, shuffled_order(len(clouds)), pairs)
        return {**summary_of(found, seconds), **over_all(each), "wrong": str(wrong), **about}

    return Problem(FOLDER, checksum([scene.name for scene, _ in scenes]), measure)


def of_memory(scene: Scene, *, denser: int = 1) -> Problem:
    """Return the map of a scene in a process of its own, to see how much memory it needs.

    The fragments at hand are thinned to a point each 2.5 cm; ``denser`` clouds have so many, with noise, for each of
    them, as sensors give them.
    """

    def measure(threads: int) -> dict[str, object]:
        random = np.random.default_rng(SEED)
        thick = [np.repeat(cloud, denser, axis=0) for cloud in clouds_of(scene)]
        clouds = [cloud if denser == 1 else cloud + random.normal(0.0, _NOISE, cloud.shape) for cloud in thick]
        with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
            start = time.perf_counter()
            grown = pool.submit(_growth, clouds, threads).result()
            seconds = time.perf_counter() - start
        times = 1.0 + grown / sum(cloud.nbytes for cloud in clouds)
        return {"scans": len(clouds), "memory": f"{times:.1f}", "seconds": f"{seconds:.1f}"}

    name = f"memory of {scene.name}" + (f", {denser} × as dense" if denser > 1 else "")
    return Problem(name, checksum("memory", scene.name, scene.checksum(0), denser), measure)


def _growth(clouds: Sequence[_Array], threads: int) -> int:
    """Return the bytes by which this process grows, at most, while it builds a map."""
    build_map(clouds[:2], threads=threads)  # what is loaded once does not count
    before = _peak()
    build_map(clouds, threads=threads)
    return _peak() - before


def _peak() -> int:
    """Return the most bytes that this process has had at a time; Linux only."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return 1024 * next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))


def of_open3d(scene: Scene, low: Scene | None) -> Problem:
    """Return what Open3D makes of a scene."""

    def measure(threads: int) -> dict[str, object]:
        clouds = clouds_of(scene)
        result = open3d_multiway(clouds, 0.05)
        placed = int(np.isfinite(result.poses).all(axis=(1, 2)).sum())
        about: dict[str, object] = {"scans": len(clouds), "placed": placed, "components": len(result.components)}
        recalls = _recalls(result.poses, result.components, scene, low)
        return {**about, "seconds": f"{result.seconds:.1f}", **recalls}

    return Problem(f"{scene.name}, {OPEN3D}", checksum("open3d", scene.name, scene.checksum(0)), measure)
