"""Real scans to deceive with: fragments of 3DMatch, and sequences of lidars and a depth camera.

===================  ===========================================================================================
``scans/3dmatch*/``  scenes as :mod:`clipperplus.bench.fragments` reads them
``sequences/*.npz``  ``xyz_mm``: points of all scans, in thousandths of a metre or in ``unit``; ``off``: where each
                     scan begins and ends; ``T``: ``(k, 4, 4)`` from scan to world
===================  ===========================================================================================
"""

from __future__ import annotations

import functools
import itertools
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ...errors import OptionError
from ...geometry.poses import inverse, rotation_angles
from ..fragments import FragmentPair, Scene, find_scenes
from .kind import Array, Deception, Recipe

__all__ = ["FRAGMENTS", "LIDARS", "fragment_pair", "other_fragments", "other_sequences", "sequence_pair"]

SAME_ROOM = {"sun3d-hotel_umd-maryland_hotel1", "sun3d-hotel_umd-maryland_hotel3"}
"""Scenes of one place, on two occasions."""
FRAGMENTS = {"voxel_size": 0.05}
"""Options for fragments: their points are 2.5 cm apart."""
LIDARS = {
    "car_lidar": (5.0, 30.0, 180.0),
    "courtyard_lidar": (2.0, 15.0, 180.0),
    "handheld_lidar": (1.0, 8.0, 60.0),
}
"""Sequences of lidars: metres between the sensors of a pair, from and to, and up to how many degrees."""


def _folder(data: Path | None) -> Path:
    if data is None:
        raise OptionError("data: this kind of deception needs a folder with real scans")
    return data


@functools.cache
def _scenes(data: Path, benchmark: str = "3DMatch") -> tuple[Scene, ...]:
    folders = sorted(path for path in (data / "scans").glob("3dmatch*") if path.is_dir())
    return tuple(scene for folder in folders for scene in find_scenes(folder, benchmark=benchmark))


@functools.cache
def _pairs(scene: Scene) -> list[FragmentPair]:
    return scene.pairs()


@functools.cache
def _numbers(scene: Scene) -> list[int]:
    return sorted(scene.numbers())


@functools.lru_cache(maxsize=64)
def _points(scene: Scene, number: int) -> Array:
    return scene.points(number)


def fragment_pair(random: np.random.Generator, data: Path | None, benchmark: str = "3DMatch") -> Deception:
    """Return two fragments that overlap, with the motion between them."""
    scenes = _scenes(_folder(data), benchmark)
    pairs = _pairs(scenes[random.integers(len(scenes))])
    pair = pairs[random.integers(len(pairs))]
    source, target = _points(pair.scene, pair.j), _points(pair.scene, pair.i)
    return Deception(source, target, pair.T_i_j, options=FRAGMENTS)


def other_fragments(random: np.random.Generator, data: Path | None) -> Deception:
    """Return fragments of two places."""
    scenes = _scenes(_folder(data))
    while True:
        chosen = [scenes[k] for k in random.permutation(len(scenes))[:2]]
        if {scene.name for scene in chosen} != SAME_ROOM:
            source, target = (_points(scene, int(random.choice(_numbers(scene)))) for scene in chosen)
            return Deception(source, target, None, options=FRAGMENTS)


@dataclass(frozen=True, eq=False)
class _Sequence:
    """Scans of one place, each in the frame of its sensor."""

    clouds: list[Array]
    poses: Array


@functools.cache
def _sequence(data: Path, name: str) -> _Sequence:
    with np.load(data / "sequences" / f"{name}.npz") as stored:
        unit = float(stored["unit"]) if "unit" in stored.files else 1e-3
        points, ends = stored["xyz_mm"] * unit, stored["off"]
        return _Sequence([points[a:b] for a, b in itertools.pairwise(ends)], stored["T"])


def sequence_pair(name: str, least: float, most: float, turn: float) -> Recipe:
    """Return what draws two scans of a sequence that are so many metres, and up to so many degrees, apart."""

    def draw(random: np.random.Generator, data: Path | None) -> Deception:
        sequence = _sequence(_folder(data), name)
        places = sequence.poses[:, :3, 3]
        between = np.linalg.norm(places[:, None] - places, axis=2)
        turns = np.degrees(rotation_angles(inverse(sequence.poses)[:, None] @ sequence.poses))
        pairs = np.argwhere((between >= least) & (between < most) & (turns <= turn))
        i, j = pairs[random.integers(len(pairs))].tolist()
        return Deception(sequence.clouds[j], sequence.clouds[i], inverse(sequence.poses[i]) @ sequence.poses[j])

    return draw


def other_sequences(random: np.random.Generator, data: Path | None) -> Deception:
    """Return scans of two sequences."""
    names = [sorted(LIDARS)[k] for k in random.permutation(len(LIDARS))[:2]]
    clouds = [_sequence(_folder(data), name).clouds for name in names]
    source, target = (scans[random.integers(len(scans))] for scans in clouds)
    return Deception(source, target, None)
