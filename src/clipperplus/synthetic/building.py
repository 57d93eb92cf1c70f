"""A building of several rooms, scanned from many places."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import cycle, islice

import numpy as np
import numpy.typing as npt

from .._validation import as_integer, as_number
from .ray_casting import Scene
from .rooms import RECESS
from .scans import SpinningLidar, look, pose, shares_seen
from .storey import Space, Storey, storey

__all__ = ["BuildingScans", "building_scans"]

_ELEVATIONS = (-50.0, 50.0)
"""The lowest and the highest ray of the scanner, in degrees."""
_MAX_RANGE = 15.0
"""Of the scanner, in metres."""
_DROPOUT = 0.02
"""The share of rays that do not return for no reason."""
_CLEARANCE = 0.35
"""How far the tripod stands from furniture, at least, in metres."""
_CANDIDATES, _WEIGHT = 12, 4.0
"""The place to scan from is the best of so many: far from those before it, and, but so many times nearer, from
furniture."""


@dataclass(frozen=True, eq=False)
class BuildingScans:
    """Scans of one building, with the truth about where they were taken."""

    clouds: tuple[npt.NDArray[np.float64], ...]
    """``(n, 3)`` points of each scan in metres, in the frame of its sensor: that is at the origin, z is almost up."""
    poses: npt.NDArray[np.float64]
    """``(k, 4, 4)``, the truth: they take the points of a scan to where they are in the building."""
    overlaps: npt.NDArray[np.float64]
    """``(k, k)``: in row i and column j the share of the points of scan i that the sensor of scan j sees as well, as in
    :attr:`ScanPair.overlap`."""


def building_scans(*, seed: int = 0, scans: int = 30, noise: float = 0.003, resolution: int = 240) -> BuildingScans:
    """Simulate scans of a storey of a building by a scanner on a tripod that looks all around, up to 15 m far.

    Six furnished rooms open to a corridor. Two of them have the same walls, door and window, so that only furniture and
    pictures tell them apart. Someone carries the scanner along the corridor, and at every door takes a scan in the
    corridor, one on the threshold and three in the room; after the last room the tour begins again, from other places.
    The tripod is turned at random and up to 2° off the vertical. The seed decides on all of it: the same seed is the
    same building with any other arguments, and fewer scans are the first of more.

    Parameters
    ----------
    seed
        Decides on everything that is random.
    scans
        How many, from 1 to 300. Every room is seen from 30 on.
    noise
        Standard deviation of the ranges, in metres, up to 1.
    resolution
        Steps of a turn, from 8 to 4096; rays are as far apart up and down, from 50° below to 50° above the horizon.

    Returns
    -------
    BuildingScans
        In the order in which they were taken. Each overlaps with one before it by 0.3 or more.

    """
    scans = as_integer("scans", scans, 1, 300)
    noise = as_number("noise", noise, 0.0, 1.0)
    resolution = as_integer("resolution", resolution, 8, 4096)
    beams = round(resolution * (_ELEVATIONS[1] - _ELEVATIONS[0]) / 360.0)
    scanner = SpinningLidar(
        resolution, noise=noise, dropout=_DROPOUT, beams=beams, elevations=_ELEVATIONS, max_range=_MAX_RANGE
    )
    drawn, toured, measured = np.random.SeedSequence(as_integer("seed", seed, 0, 2**63)).spawn(3)
    plan = storey(np.random.default_rng(drawn))
    scene = Scene(plan.shapes)
    poses = list(islice(_tour(np.random.default_rng(toured), plan), scans))
    looks = [
        look(scene, scanner, [where], np.random.default_rng(child))
        for where, child in zip(poses, measured.spawn(scans), strict=True)
    ]
    overlaps = shares_seen(scene, scanner, poses, [surface for _, surface in looks])
    return BuildingScans(tuple(points for points, _ in looks), np.array(poses), overlaps)


def _tour(random: np.random.Generator, plan: Storey) -> Iterator[npt.NDArray[np.float64]]:
    """Return the poses of the scanner, one after the other, without end."""
    length, breadth = plan.corridor.size[:2].tolist()
    places: list[npt.NDArray[np.float64]] = []
    for room, x in cycle(zip(plan.rooms, plan.doors, strict=True)):
        width, depth = room.size[:2].tolist()
        threshold = room.to_building(np.array([[x, -RECESS / 2]]))[0]
        begin, end = np.clip((threshold[0] - 1.2, threshold[0] + 1.2), 0.6, length - 0.6).tolist()
        places.append(_free_place(random, plan.corridor, (begin, 0.5), (end, breadth - 0.5), places))
        places.append(threshold + random.uniform(-0.1, 0.1, 2))
        places.append(_free_place(random, room, (x - 0.3, 0.6), (x + 0.3, 1.2), places))
        for _ in range(2):  # not behind the open door
            places.append(_free_place(random, room, (0.6, 1.2), (width - 0.6, depth - 0.6), places))
        for place in places[-5:]:
            yield _tripod(random, place)


def _free_place(
    random: np.random.Generator,
    space: Space,
    low: tuple[float, float],
    high: tuple[float, float],
    before: list[npt.NDArray[np.float64]],
) -> npt.NDArray[np.float64]:
    """Return a place between two corners where the tripod can stand, away from those before it and from furniture.

    The corners are in the frame of the space, the place is in that of the building. There is always one: nothing stands
    right in front of a door.
    """
    others = np.array(before).reshape(-1, 2)
    while True:
        drawn = random.uniform(low, high, (256, 2))
        clearances = space.clearances(drawn)
        free = np.flatnonzero(clearances >= _CLEARANCE)[:_CANDIDATES]
        if free.size:
            places = space.to_building(drawn[free])
            distances = np.linalg.norm(places[:, None] - others, axis=2).min(axis=1, initial=np.inf)
            return np.asarray(places[np.minimum(distances, _WEIGHT * clearances[free]).argmax()])


def _tripod(random: np.random.Generator, place: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the pose of a scanner above a place."""
    pitch, roll = random.uniform(-math.radians(2.0), math.radians(2.0), 2)
    height, yaw = random.uniform(1.4, 1.7), random.uniform(0.0, 2.0 * math.pi)
    return pose((*place, height), yaw=yaw, pitch=pitch, roll=roll)
