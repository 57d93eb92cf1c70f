"""What the benchmark of maps measures, each a problem of its own."""

from __future__ import annotations

import itertools
import multiprocessing
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ..clouds.cloud import as_cloud
from ..clouds.prepared import prepare
from ..evaluation import evaluate_poses
from ..geometry import fit_transform
from ..geometry.poses import inverse, rotation_angles
from ..mapping import Map, Workbench, build_map, pair_similarities
from ..mapping.surfaces import Surface, aligned_by_icp
from .fragments import Scene, find_scenes
from .multiway import open3d_multiway

__all__ = [
    "FOLDER",
    "LIMITS",
    "MOVED",
    "OPEN3D",
    "Problem",
    "of_folder",
    "of_memory",
    "of_open3d",
    "of_places",
    "of_scene",
    "of_sequence",
    "over_all",
    "scenes_of",
]

_Array: TypeAlias = npt.NDArray[np.float64]

LIMITS = {
    "handheld_lidar": (0.1, 1.0),
    "car_lidar": (0.1, 0.5),
    "depth_camera": (0.06, 3.0),
    "object_turntable": (0.001, 1.0),
    "courtyard_lidar": (0.4, 5.0),
}
"""Metres and degrees from the given poses within which a scan of a sequence is right."""
FOLDER, MOVED, OPEN3D = "all scenes in one folder", "moved", "Open3D multiway"
_LOOP_SCANS, _LOOP_METRES, _LOOPS = 0.25, 5.0, 40
"""Where a loop closes: scans with this share of a sequence, or more, between them, so near to each other; at most so
many pairs."""
_LOOP_VOXEL = 0.1
_EVERY = 6
"""Of the scans of a map one in so many is left out, and then looked for."""
_MOVED_BY = 5.0
"""Metres by which scans are moved, at most, along each axis."""
_SEED = 7


@dataclass(frozen=True, eq=False)
class Problem:
    """Something to be measured."""

    name: str
    checksum: str
    measure: Callable[[int], dict[str, object]]
    """What comes of it, on so many threads."""


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


def _checksum(*parts: object) -> str:
    return f"{zlib.crc32(repr(parts).encode()):08x}"


def _clouds(scene: Scene) -> list[_Array]:
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


def _built(clouds: Sequence[_Array], threads: int) -> tuple[Map, _Array, list[npt.NDArray[np.int64]], float]:
    """Return the map of clouds in shuffled order, and its poses and components in the order in which they are."""
    order = _order(len(clouds))
    start = time.perf_counter()
    found = build_map([clouds[k] for k in order], threads=threads)
    seconds = time.perf_counter() - start
    poses = np.full_like(found.poses, np.nan)
    poses[order] = found.poses
    return found, poses, [np.sort(order[scans]) for scans in found.components], seconds


def _order(count: int) -> npt.NDArray[np.int64]:
    return np.random.default_rng(_SEED).permutation(count)


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


def _about(found: Map, seconds: float) -> dict[str, object]:
    return {
        "scans": len(found.names),
        "placed": len(found.names) - len(found.left_out),
        "components": len(found.components),
        "seconds": f"{seconds:.1f}",
    }


def of_scene(scene: Scene, low: Scene | None, *, moved: bool) -> Problem:
    """Return the map of a scene, and how much of two benchmarks follows from it."""

    def measure(threads: int) -> dict[str, object]:
        clouds = _clouds(scene)
        motions = _random_motions(len(clouds)) if moved else np.tile(np.eye(4), (len(clouds), 1, 1))
        given = [cloud @ m[:3, :3].T + m[:3, 3] for cloud, m in zip(clouds, motions, strict=True)]
        found, poses, components, seconds = _built(given, threads)
        pairs = [(pair.i, pair.j) for pair in scene.pairs()]
        about = {} if moved else _candidates(clouds, found, _order(len(clouds)), pairs)
        return {**_about(found, seconds), **_recalls(poses @ motions, components, scene, low), **about}

    name = f"{scene.name}, {MOVED}" if moved else scene.name
    return Problem(name, _checksum(scene.name, scene.checksum(0), moved), measure)


def _random_motions(count: int) -> _Array:
    random = np.random.default_rng(_SEED)
    motions = np.tile(np.eye(4), (count, 1, 1))
    for motion in motions:
        turn, stretch = np.linalg.qr(random.normal(size=(3, 3)))
        turn *= np.sign(np.diag(stretch))
        motion[:3, :3] = turn * np.sign(np.linalg.det(turn))
        motion[:3, 3] = random.uniform(-_MOVED_BY, _MOVED_BY, 3)
    return motions


def of_folder(scenes: Sequence[tuple[Scene, Scene | None]]) -> Problem:
    """Return the maps of all scenes in one folder."""

    def measure(threads: int) -> dict[str, object]:
        parts = [_clouds(scene) for scene, _ in scenes]
        firsts = np.cumsum([0, *(len(part) for part in parts)])
        found, poses, components, seconds = _built([cloud for part in parts for cloud in part], threads)
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
        about = _candidates(clouds, found, _order(len(clouds)), pairs)
        return {**_about(found, seconds), **over_all(each), "wrong": str(wrong), **about}

    return Problem(FOLDER, _checksum([scene.name for scene, _ in scenes]), measure)


def _sequence(path: Path) -> tuple[list[_Array], _Array]:
    """Return clouds of a sequence, in metres, and their poses."""
    with np.load(path, allow_pickle=False) as stored:
        unit = float(stored["unit"]) if "unit" in stored.files else 1e-3
        ends, points = stored["off"], stored["xyz_mm"]
        return [points[a:b] * unit for a, b in itertools.pairwise(ends)], np.asarray(stored["T"])


def _off(poses: _Array, truth: _Array, seen: _Array) -> tuple[_Array, _Array]:
    """Return by how many metres and degrees poses are off, laid on the truth as a whole, by what the scans see."""
    corners = np.concatenate((np.zeros((1, 3)), seen * np.concatenate((np.eye(3), -np.eye(3)))))
    here, there = (
        (np.einsum("nij,cj->nci", some[:, :3, :3], corners) + some[:, None, :3, 3]).reshape(-1, 3)
        for some in (poses, truth)
    )
    laid = np.asarray(fit_transform(here, there)) @ poses
    turns = np.degrees(rotation_angles(inverse(laid) @ truth))
    return np.linalg.norm(laid[:, :3, 3] - truth[:, :3, 3], axis=1), turns


def _moved(poses: _Array, truth: _Array, clouds: Sequence[_Array]) -> float:
    """Return by how many metres the points of a scan are off, root mean square, that of the worst scan."""
    some = [cloud[:: max(1, len(cloud) // 1000)] for cloud in clouds]
    here, there = (
        [points @ pose[:3, :3].T + pose[:3, 3] for points, pose in zip(some, which, strict=True)]
        for which in (poses, truth)
    )
    laid = np.asarray(fit_transform(np.concatenate(here), np.concatenate(there)))
    gaps = [a @ laid[:3, :3].T + laid[:3, 3] - b for a, b in zip(here, there, strict=True)]
    return max(float(np.sqrt((gap**2).sum(axis=1).mean())) for gap in gaps)


def of_sequence(path: Path) -> Problem:
    """Return the map of a sequence, compared with its poses."""

    def measure(threads: int) -> dict[str, object]:
        clouds, truth = _sequence(path)
        found, poses, components, seconds = _built(clouds, threads)
        order = _order(len(clouds))
        sure = np.zeros(len(clouds))
        sure[order] = found.confidence
        size = float(np.median([np.linalg.norm(cloud - cloud.mean(axis=0), axis=1).mean() for cloud in clouds]))
        within, shifts, turns, wrong, moved = 0, [0.0], [0.0], 0, 0.0
        limit = LIMITS.get(path.stem, (0.1, 1.0))
        for number, scans in enumerate(components):
            shift, turn = _off(poses[scans], truth[scans], np.array(size))
            moved = max(moved, _moved(poses[scans], truth[scans], [clouds[scan] for scan in scans]))
            good = (shift <= limit[0]) & (turn <= limit[1])
            within += int(good.sum()) if number == 0 else 0
            wrong += int((~good & (sure[scans] > 0.9)).sum())
            shifts, turns = [*shifts, float(shift.max())], [*turns, float(turn.max())]
        return {
            **_about(found, seconds),
            "located": f"{within / len(clouds):.3f}",
            "wrong": str(wrong),
            "worst_shift": f"{max(shifts):.4f}",
            "worst_turn": f"{max(turns):.2f}",
            "worst_points": f"{moved:.4f}",
            **_loops(path, clouds, poses, truth),
        }

    return Problem(path.stem, _checksum(path.name, path.stat().st_size), measure)


def _loops(path: Path, clouds: Sequence[_Array], poses: _Array, truth: _Array) -> dict[str, str]:
    """Return by how much scans are off where a loop closes, the median: by how much ICP moves them."""
    places, count = truth[:, :3, 3], len(clouds)
    near = np.linalg.norm(places[:, None] - places, axis=2) < _LOOP_METRES
    pairs = [(a, b) for a, b in np.argwhere(np.triu(near, int(_LOOP_SCANS * count))).tolist()]
    pairs = pairs[:: max(1, len(pairs) // _LOOPS)]
    if not path.stem.endswith("lidar") or not pairs:
        return {}
    surfaces = {k: Surface.of_cloud(as_cloud("cloud", clouds[k]), _LOOP_VOXEL, 3.0) for pair in pairs for k in pair}
    result = {}
    for column, some in (("loop_shift", poses), ("given_loop_shift", truth)):
        shifts = []
        for a, b in pairs:
            if not np.isfinite(some[[a, b]]).all():
                continue
            motion = (inverse(some[[b]]) @ some[[a]])[0]
            aligned = aligned_by_icp(surfaces[a], surfaces[b], motion, reach=3.0, cosine=0.7, steps=20)
            shifts.append(float(np.linalg.norm(aligned[:3, 3] - motion[:3, 3])))
        result[column] = f"{np.median(shifts):.3f}" if shifts else ""
    return result


def of_memory(scene: Scene) -> Problem:
    """Return the map of a scene in a process of its own, to see how much memory it needs."""

    def measure(threads: int) -> dict[str, object]:
        clouds = _clouds(scene)
        with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
            start = time.perf_counter()
            grown = pool.submit(_growth, clouds, threads).result()
            seconds = time.perf_counter() - start
        times = 1.0 + grown / sum(cloud.nbytes for cloud in clouds)
        return {"scans": len(clouds), "memory": f"{times:.1f}", "seconds": f"{seconds:.1f}"}

    return Problem(f"memory of {scene.name}", _checksum("memory", scene.name, scene.checksum(0)), measure)


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


def of_places(kept: Scene | Path, others: Sequence[Scene | Path]) -> Problem:
    """Return the search for scans in a map that was made without them, and for strangers."""

    def measure(threads: int) -> dict[str, object]:
        clouds = _clouds(kept) if isinstance(kept, Scene) else _sequence(kept)[0]
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
    return Problem(f"where in {name}", _checksum("places", name), measure)


def _some_of(other: Scene | Path) -> list[_Array]:
    """Return some scans of another scene or sequence; of sequences, only those of lidars."""
    if isinstance(other, Scene):
        return _clouds(other)[::_EVERY]
    return _sequence(other)[0][::_EVERY] if other.stem.endswith("lidar") else []


def _is_located(kept: Scene | Path, poses: _Array, scan: int, inside: list[int]) -> bool:
    """Whether most pairs of a scan with those of the map are right."""
    if isinstance(kept, Scene):
        pairs = [pair for pair in kept.pairs() if scan in (pair.i, pair.j) and {pair.i, pair.j} - {scan} <= set(inside)]
        if not pairs:
            return True
        numbers = np.array([(pair.i, pair.j) for pair in pairs])
        truths = np.array([pair.T_i_j for pair in pairs])
        return (evaluate_poses(poses, numbers, truths, protocol="3DMatch").recall or 0.0) >= 0.5
    truth = _sequence(kept)[1]
    here, there = inverse(poses[inside]) @ poses[scan], inverse(truth[inside]) @ truth[scan]
    shift = np.linalg.norm(here[:, :3, 3] - there[:, :3, 3], axis=1)
    turn = np.degrees(rotation_angles(inverse(here) @ there))
    limit = LIMITS[kept.stem]
    return bool(np.median(shift) <= limit[0] and np.median(turn) <= limit[1])


def of_open3d(scene: Scene, low: Scene | None) -> Problem:
    """Return what Open3D makes of a scene."""

    def measure(threads: int) -> dict[str, object]:
        clouds = _clouds(scene)
        result = open3d_multiway(clouds, 0.05)
        placed = int(np.isfinite(result.poses).all(axis=(1, 2)).sum())
        about: dict[str, object] = {"scans": len(clouds), "placed": placed, "components": len(result.components)}
        recalls = _recalls(result.poses, result.components, scene, low)
        return {**about, "seconds": f"{result.seconds:.1f}", **recalls}

    return Problem(f"{scene.name}, {OPEN3D}", _checksum("open3d", scene.name, scene.checksum(0)), measure)
