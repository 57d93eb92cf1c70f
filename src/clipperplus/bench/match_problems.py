"""Matched points with a known motion between them: a model among clutter, and matches of real scans."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ..errors import OptionError
from ..evaluation import PROTOCOLS, Protocol
from ..geometry.transforms import apply_transform
from .bunny import Model, draw, load_model

__all__ = ["BUNNY", "KINDS", "Kind", "Matches", "Problem", "problems"]

_Array: TypeAlias = npt.NDArray[np.float64]

_ASSOCIATIONS = 1000
_SHARES = (0.0, 20.0, 40.0, 60.0, 80.0, 90.0, 95.0, 98.0, 99.0, 99.5)
"""Per cent of outliers."""
_TRIALS = 20
_QUICK_SHARES, _QUICK_TRIALS, _QUICK_FILES = (50.0, 95.0), 2, 2


@dataclass(frozen=True)
class Kind:
    """Problems that are judged alike."""

    name: str
    protocol: Protocol
    """When a motion is right."""
    off: float | None
    """Metres by which the true motion misses an outlier at least; None: it is known which are outliers."""
    levels: tuple[float, ...]
    """Per cent of outliers at which a level of the table ends, or those of the problems where there are none."""


BUNNY = "bunny"
KINDS = {
    kind.name: kind
    for kind in (
        Kind(BUNNY, Protocol(BUNNY, max_rotation_deg=5.0, max_translation=0.01), None, ()),
        Kind("3DMatch", PROTOCOLS["3DMatch"], 0.10, (80.0, 90.0, 95.0, 100.0)),
        Kind("indoor", PROTOCOLS["3DMatch"], 0.10, (100.0,)),
        Kind("KITTI", PROTOCOLS["KITTI"], 0.60, (100.0,)),
    )
}
"""Name → kind. The bunny measures 0.2 m."""


@dataclass(frozen=True, eq=False)
class Matches:
    """Row k of the source is matched with row k of the target."""

    source: _Array
    target: _Array
    truth: _Array
    """``(4, 4)``: moves the source onto the target."""
    epsilon: float
    """The noise bound that every method is told, in metres."""
    outliers: float
    """Per cent."""

    @property
    def checksum(self) -> str:
        """Of the points."""
        return f"{zlib.crc32(self.target.tobytes(), zlib.crc32(self.source.tobytes())):08x}"


@dataclass(frozen=True)
class Problem:
    """Matches that are made or read when they are wanted."""

    name: str
    kind: str
    matches: Callable[[], Matches]


def problems(data: Path | None, *, wanted: Sequence[str] | None, quick: bool, seed: int) -> list[Problem]:
    """Return what there is in a folder; without one, a rabbit that the package generates.

    ``wanted`` are parts of names, None: all of it.
    """
    bunny = None if data is None else data / "scans" / "stanford_bunny" / "bun10k.ply"
    found = _of_model(bunny, quick, seed) if bunny is None or bunny.exists() else []
    if data is not None:
        graphs = [path for path in sorted((data / "graphs").glob("*.npz")) if _has_matches(path)]
        found += [_of_file("3DMatch", path, None) for path in graphs[: _QUICK_FILES if quick else None]]
        for kind, folder, epsilon in (("indoor", "correspondences", 0.10), ("KITTI", "kitti", 0.60)):
            files = sorted((data / "scans" / folder).glob("*.npz"))
            found += [_of_file(kind, path, epsilon) for path in files[: 1 if quick else None]]
    chosen = [one for one in found if wanted is None or any(part in one.name for part in wanted)]
    if not chosen:
        asked = "" if wanted is None else f" whose name has one of {', '.join(wanted)}"
        place = "without data" if data is None else f"in {data}"
        raise OptionError(
            f"data: nothing to be measured {place}{asked}; expected scans/stanford_bunny/bun10k.ply, "
            "scans/kitti/*.npz, scans/correspondences/*.npz or graphs/*.npz with matched points"
        )
    return chosen


def _of_model(path: Path | None, quick: bool, seed: int) -> list[Problem]:
    model = load_model(path, seed=seed)
    shares, trials = (_QUICK_SHARES, _QUICK_TRIALS) if quick else (_SHARES, _TRIALS)
    return [
        Problem(f"{BUNNY} {share:g} % {number}", BUNNY, lambda s=share, n=number: _trial(model, s, n, seed))  # type: ignore[misc]
        for share in shares
        for number in range(trials)
    ]


def _trial(model: Model, share: float, number: int, seed: int) -> Matches:
    """Make a trial of the paper's Section V-B with more associations, the second cloud moved at random."""
    random = np.random.default_rng([seed, round(10 * share), number])
    chosen = draw(model, _ASSOCIATIONS, round(_ASSOCIATIONS * share / 100), random)
    rotation, _ = np.linalg.qr(random.normal(size=(3, 3)))
    truth = np.eye(4)
    truth[:3, :3] = rotation * np.sign(np.linalg.det(rotation))
    truth[:3, 3] = random.uniform(-1.0, 1.0, size=3)
    target = apply_transform(truth, chosen.second[chosen.target])
    return Matches(model.points[chosen.source], target, truth, model.epsilon, share)


def _has_matches(path: Path) -> bool:
    """Whether the file of a graph has the matched points that it was made of."""
    with np.load(path) as stored:
        return {"source", "target", "T_target_source", "epsilon"} <= set(stored.files)


def _of_file(kind: str, path: Path, epsilon: float | None) -> Problem:
    return Problem(f"{kind} {path.stem}", kind, lambda: _read(path, KINDS[kind], epsilon))


def _read(path: Path, kind: Kind, epsilon: float | None) -> Matches:
    """Read matched points and the motion between them, under any of the names that they have."""
    with np.load(path) as stored:
        names = [("source", "target"), ("kp_src", "kp_dst"), ("src", "dst")]
        pair = next((pair for pair in names if set(pair) <= set(stored.files)), None)
        motion = next((name for name in ("T_target_source", "T") if name in stored.files), None)
        if pair is None or motion is None or (epsilon is None and "epsilon" not in stored.files):
            raise OptionError(f"data: {path} has no matched points with a motion between them, but {stored.files}")
        source, target, truth = (np.asarray(stored[name], dtype=np.float64) for name in (*pair, motion))
        bound = float(stored["epsilon"]) if epsilon is None else epsilon
    if source.shape != target.shape or source.ndim != 2 or source.shape[1:] != (3,):
        raise OptionError(f"data: {path}: expected as many source as target points, got {source.shape}, {target.shape}")
    off = np.linalg.norm(apply_transform(truth, source) - target, axis=1) >= (kind.off or 0.0)
    return Matches(source, target, truth, bound, 100.0 * float(off.mean()) if len(off) else 0.0)
