"""Maps of many scans: multiview recall on the scenes of 3DMatch, poses of sequences, and where a scan is in a map.

Scans come in shuffled order, and nothing is told but their points. ``moved`` means that each scan was moved by a random
rigid motion of its own, so that its sensor is not at the origin.
"""

from __future__ import annotations

import itertools
import multiprocessing
import time
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ..clouds.cloud import as_cloud
from ..errors import OptionError
from ..evaluation import evaluate_poses
from ..geometry import fit_transform
from ..geometry.poses import inverse, rotation_angles
from ..mapping import Map, build_map
from ..mapping.surfaces import Surface, aligned_by_icp
from .fragments import Scene, find_scenes
from .measuring import Row
from .multiway import open3d_multiway
from .store import Store
from .tables import Table

__all__ = ["COLUMNS", "Problem", "problems", "run", "tables"]

_Array: TypeAlias = npt.NDArray[np.float64]

COLUMNS = (
    "problem", "checksum", "scans", "placed", "components", "recall", "recall_low", "wrong", "located", "strangers",
    "worst_shift", "worst_turn", "loop_shift", "given_loop_shift", "seconds", "median_seconds", "pairs", "pairs_low",
    "memory",
)  # fmt: skip
BENCHMARKS = "3DMatch", "3DLoMatch"
LIMITS = {
    "handheld_lidar": (0.1, 1.0),
    "car_lidar": (0.1, 0.5),
    "depth_camera": (0.06, 3.0),
    "object_turntable": (0.001, 1.0),
    "courtyard_lidar": (0.4, 5.0),
}
"""Metres and degrees from the given poses within which a scan of a sequence is right."""
PUBLISHED = {"SGHR (learned, CVPR 2023), 8 scenes": ("0.96", "0.82")}
"""Multiview recall, about."""
_FOLDER, _MOVED, _OPEN3D = "all scenes in one folder", "moved", "Open3D multiway"
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


def problems(data: Path, *, wanted: Sequence[str] | None = None, open3d: bool = True) -> list[Problem]:
    """Return what can be measured with the data of a folder; ``wanted`` are parts of names, None: all of it."""
    folders = [data, data / "scans" / "3dmatch", data / "scans" / "3dmatch_more"]
    kinds = {benchmark: _scenes(folders, benchmark) for benchmark in BENCHMARKS}
    scenes = [(kinds[BENCHMARKS[0]][name], kinds[BENCHMARKS[1]].get(name)) for name in kinds[BENCHMARKS[0]]]
    sequences = sorted((data / "sequences").glob("*.npz"))
    found = [_of_scene(*scene, moved=moved) for moved in (False, True) for scene in scenes]
    found += [_of_folder(scenes)] if len(scenes) > 1 else []
    found += [_of_sequence(path) for path in sequences]
    found += [_of_places(scene, [other for other, _ in scenes if other is not scene]) for scene, _ in scenes[:1]]
    found += [
        _of_places(path, [other for other in sequences if other is not path])
        for path in sequences
        if path.stem == "courtyard_lidar"
    ]
    found += [_of_memory(scene) for scene, _ in scenes[:1]]
    found += [_of_open3d(*scene) for scene in scenes] if open3d else []
    chosen = [one for one in found if wanted is None or any(part in one.name for part in wanted)]
    if not chosen:
        raise OptionError(f"data: nothing to be measured in {data}; expected scenes of 3DMatch, or sequences")
    return chosen


def run(found: Iterable[Problem], store: Store, *, threads: int) -> list[Row]:
    """Measure what was not measured before."""
    for problem in found:
        if store.find(problem.name, problem.checksum) is None:
            row = dict.fromkeys(COLUMNS, "")
            row |= {key: str(value) for key, value in problem.measure(threads).items()}
            store.add(row | {"problem": problem.name, "checksum": problem.checksum})
    return store.rows


def tables(rows: Sequence[Row]) -> list[Table]:
    """Return what was measured."""
    published = [[name, "", "", "", *recalls, "", ""] for name, recalls in PUBLISHED.items()]
    scenes = [row for row in rows if row["recall"]]
    kinds = [_FOLDER, f", {_MOVED}", f", {_OPEN3D}"]
    groups = [[row for row in scenes if row["problem"].endswith(kind)] for kind in kinds]
    alone = [row for row in scenes if not any(row in group for group in groups)]
    named = [("all, each alone", alone), (f"all, {_MOVED}", groups[1])]
    together = [dict.fromkeys(COLUMNS, "") | {"problem": name} | _over_all(some) for name, some in named if some]
    maps = [
        [r["problem"], r["scans"], r["placed"], r["components"], r["recall"], r["recall_low"], r["wrong"], r["seconds"]]
        for r in [*scenes, *together]
    ]
    sequences = [
        [r["problem"], r["scans"], r["placed"], r["components"], r["located"], r["wrong"], r["worst_shift"],
         r["worst_turn"], r["loop_shift"], r["given_loop_shift"], r["seconds"]]
        for r in rows
        if r["worst_shift"]
    ]  # fmt: skip
    memory = [[r["problem"], r["scans"], r["memory"], r["seconds"]] for r in rows if r["memory"]]
    places = [
        [r["problem"], r["scans"], r["located"], r["strangers"], r["median_seconds"]]
        for r in rows
        if r["median_seconds"]
    ]
    head = ["scans", "placed", "components"]
    return [
        Table("Scenes", ["scene", *head, *BENCHMARKS, "in a wrong one", "seconds"], [*maps, *published]),
        Table(
            "Sequences",
            [
                "sequence",
                *head,
                "within the limits",
                "wrong with confidence",
                "worst m",
                "worst degrees",
                "loops agree to m",
                "as given",
                "seconds",
            ],
            sequences,
        ),
        Table("Where in a map", ["map", "scans", "right", "strangers that are OK", "seconds, median"], places),
        Table("Memory", ["map", "scans", "peak, times the clouds", "seconds"], memory),
    ]


def _scenes(folders: Sequence[Path], benchmark: str) -> dict[str, Scene]:
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


def _over_all(rows: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """Return the recalls of several scenes over all of their pairs."""
    result: dict[str, str] = {}
    for recall, pairs in (("recall", "pairs"), ("recall_low", "pairs_low")):
        counts = [int(row[pairs]) if row.get(pairs) else 0 for row in rows]
        right = sum(float(row[recall]) * count for row, count in zip(rows, counts, strict=True) if count)
        result |= {recall: f"{right / max(1, sum(counts)):.4f}", pairs: str(sum(counts))}
    return result


def _built(clouds: Sequence[_Array], threads: int) -> tuple[Map, _Array, list[npt.NDArray[np.int64]], float]:
    """Return the map of clouds in shuffled order, and its poses and components in the order in which they are."""
    order = np.random.default_rng(_SEED).permutation(len(clouds))
    start = time.perf_counter()
    found = build_map([clouds[k] for k in order], threads=threads)
    seconds = time.perf_counter() - start
    poses = np.full_like(found.poses, np.nan)
    poses[order] = found.poses
    return found, poses, [np.sort(order[scans]) for scans in found.components], seconds


def _about(found: Map, seconds: float) -> dict[str, object]:
    return {
        "scans": len(found.names),
        "placed": len(found.names) - len(found.left_out),
        "components": len(found.components),
        "seconds": f"{seconds:.1f}",
    }


def _of_scene(scene: Scene, low: Scene | None, *, moved: bool) -> Problem:
    def measure(threads: int) -> dict[str, object]:
        clouds = _clouds(scene)
        motions = _random_motions(len(clouds)) if moved else np.tile(np.eye(4), (len(clouds), 1, 1))
        given = [cloud @ m[:3, :3].T + m[:3, 3] for cloud, m in zip(clouds, motions, strict=True)]
        found, poses, components, seconds = _built(given, threads)
        return {**_about(found, seconds), **_recalls(poses @ motions, components, scene, low)}

    name = f"{scene.name}, {_MOVED}" if moved else scene.name
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


def _of_folder(scenes: Sequence[tuple[Scene, Scene | None]]) -> Problem:
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
        return {**_about(found, seconds), **_over_all(each), "wrong": str(wrong)}

    return Problem(_FOLDER, _checksum([scene.name for scene, _ in scenes]), measure)


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


def _of_sequence(path: Path) -> Problem:
    def measure(threads: int) -> dict[str, object]:
        clouds, truth = _sequence(path)
        found, poses, components, seconds = _built(clouds, threads)
        order = np.random.default_rng(_SEED).permutation(len(clouds))
        sure = np.zeros(len(clouds))
        sure[order] = found.confidence
        size = float(np.median([np.linalg.norm(cloud - cloud.mean(axis=0), axis=1).mean() for cloud in clouds]))
        within, shifts, turns, wrong = 0, [0.0], [0.0], 0
        limit = LIMITS.get(path.stem, (0.1, 1.0))
        for number, scans in enumerate(components):
            shift, turn = _off(poses[scans], truth[scans], np.array(size))
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


def _of_memory(scene: Scene) -> Problem:
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


def _of_places(kept: Scene | Path, others: Sequence[Scene | Path]) -> Problem:
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


def _of_open3d(scene: Scene, low: Scene | None) -> Problem:
    def measure(threads: int) -> dict[str, object]:
        clouds = _clouds(scene)
        result = open3d_multiway(clouds, 0.05)
        placed = int(np.isfinite(result.poses).all(axis=(1, 2)).sum())
        about: dict[str, object] = {"scans": len(clouds), "placed": placed, "components": len(result.components)}
        recalls = _recalls(result.poses, result.components, scene, low)
        return {**about, "seconds": f"{result.seconds:.1f}", **recalls}

    return Problem(f"{scene.name}, {_OPEN3D}", _checksum("open3d", scene.name, scene.checksum(0)), measure)
