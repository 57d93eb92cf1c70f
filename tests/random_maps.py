"""Maps of random numbers, to be written, changed, read and compared."""

from __future__ import annotations

import dataclasses
import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.spatial.transform import Rotation

import clipperplus as cp
from clipperplus.geometry.poses import inverse
from clipperplus.mapping import Edge, EdgeStatus, Map, ScanStatus

Array = npt.NDArray[np.float64]


def motions(random: np.random.Generator, count: int, where: float = 0.0) -> Array:
    """Return motions that take what is near a place to somewhere near it."""
    poses = np.tile(np.eye(4), (count, 1, 1))
    poses[:, :3, :3] = Rotation.from_quat(random.normal(size=(count, 4))).as_matrix().reshape(-1, 3, 3)
    poses[:, :3, 3] = where + 10.0 * random.normal(size=(count, 3)) - where * poses[:, :3, :3].sum(axis=2)
    return poses


def covariances(random: np.random.Generator, count: int, size: float = 1e-3) -> Array:
    roots = size * random.normal(size=(count, 6, 9))
    return np.asarray(roots @ roots.swapaxes(1, 2))


def some_map(seed: int, sizes: tuple[int, ...] = (4, 2), alone: int = 2, where: float = 10.0) -> Map:
    """Return a map of random numbers: components of some sizes, and scans that were left out."""
    random = np.random.default_rng(seed)
    placed = sum(sizes)
    count = placed + alone
    order = random.permutation(count)
    components = tuple(np.sort(part) for part in np.split(order[:placed], np.cumsum(sizes)[:-1]) if len(part))
    poses, spread = np.full((count, 4, 4), np.nan), np.full((count, 6, 6), np.nan)
    confidence = np.zeros(count)
    for part in components:
        poses[part], spread[part] = motions(random, len(part), where), covariances(random, len(part))
        spread[part[-1]] *= 1e-6  # the frame is that of this scan
        confidence[part] = random.random(len(part))
    edges = []
    for part in components:
        for source, target in zip(part[:-1].tolist(), part[1:].tolist(), strict=True):
            motion = (inverse(poses[[target]]) @ poses[[source]])[0]
            edges.append(edge(random, source, target, EdgeStatus.BELIEVED, motion))
    known = {frozenset((one.source, one.target)) for one in edges}
    free = [pair for pair in itertools.combinations(range(count), 2) if frozenset(pair) not in known]
    if len(free) > 1:
        edges.append(edge(random, *free[-1], EdgeStatus.REFUSED, motions(random, 1)[0]))
        edges.append(Edge(*free[0][::-1], EdgeStatus.DOUBTED, "no transform was found", "registered", 0.0))
    status = [ScanStatus.ALONE] * count
    for scan in np.flatnonzero(confidence).tolist():
        status[scan] = ScanStatus.PLACED
    return Map(
        names=tuple(f"scan {k} \u00e4\udc80\n.ply" for k in range(count)),
        poses=poses,
        components=components,
        status=tuple(status),
        reasons=tuple("" if entry is ScanStatus.PLACED else "it fits nowhere" for entry in status),
        confidence=confidence,
        covariances=spread,
        edges=tuple(edges),
        voxel_size=float(random.uniform(0.01, 1.0)),
        prior=float(random.random()),
        proven=bool(random.integers(2)),
        stages=(cp.Stage("reading", float(random.random()), count), cp.Stage("settling", float(random.random()))),
        seconds=float(random.random()),
        scans=tuple(where + random.normal(size=(random.integers(1, 50), 3)) for _ in range(count)),
        viewpoints=np.where(random.random((count, 1)) < 0.5, random.normal(size=(count, 3)), np.nan),
        free_space=bool(random.integers(2)),
        usual_conflict=float(random.random()),
    )


def edge(random: np.random.Generator, source: int, target: int, status: EdgeStatus, motion: Array) -> Edge:
    return Edge(
        source=source,
        target=target,
        status=status,
        reason=f"because of {random.random()}",
        origin="registered",
        confidence=float(random.random()),
        T_target_source=motion,
        covariance=covariances(random, 1)[0],
        overlap=float(random.random()),
        shift=None if status is EdgeStatus.REFUSED else float(random.random()),
    )


def assert_same(loaded: Any, saved: Any, where: str = "map") -> None:
    """Compare all fields bit by bit, but points to single precision."""
    assert type(loaded) is type(saved), where
    if isinstance(saved, np.ndarray):
        assert loaded.dtype == saved.dtype, where
        assert loaded.shape == saved.shape, where
        assert loaded.tobytes() == saved.tobytes(), where
    elif isinstance(saved, tuple):
        assert len(loaded) == len(saved), where
        for number, (one, other) in enumerate(zip(loaded, saved, strict=True)):
            assert_same(one, other, f"{where}[{number}]")
    elif dataclasses.is_dataclass(saved):
        for field in dataclasses.fields(saved):
            if field.name != "scans":
                assert_same(getattr(loaded, field.name), getattr(saved, field.name), f"{where}.{field.name}")
    else:
        assert loaded == saved, where


def change(folder: Path, edit: Callable[[dict[str, Any]], Any]) -> None:
    """Edit the index of a map in a folder."""
    index = json.loads((folder / "map.json").read_bytes())
    edit(index)
    (folder / "map.json").write_text(json.dumps(index))
