"""A street with houses, parked cars and trees, seen by a spinning lidar."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from .._validation import as_integer, as_number
from .outdoors import bins, car, fence, hedge, house, post, sign, tree, van
from .ray_casting import Scene, Shape, box, moved
from .scans import ScanPair, SpinningLidar, pose, scan_pair

__all__ = ["BEGIN", "END", "KERB", "row", "street", "street_scans"]

BEGIN, END = -85.0, 125.0
"""Where the street begins and ends, in metres along x; the source sensor is at 0."""
KERB, _HOUSES = 4.8, 7.5
"""How far the pavement and the houses are from the middle of the street, in metres."""


def street_scans(
    *, seed: int = 0, distance: float = 10.0, noise: float = 0.02, dropout: float = 0.02, resolution: int = 1900
) -> ScanPair:
    """Simulate two scans of a street by a lidar with 64 beams on a car, with a range of 90 m.

    Houses with windows and doors in recesses stand on both sides, with gaps and a side street; there are parked cars,
    trees, lamp posts, signs, fences and hedges, and the ground is not quite flat. The seed decides on all of it, and on
    where the car is: the same seed is the same street whatever the other arguments are.

    Parameters
    ----------
    seed
        Decides on everything that is random.
    distance
        From the source sensor to the target sensor along the street, in metres, from 0 to 50. The heading changes by 3°
        to 12°.
    noise
        Standard deviation of the ranges, in metres, up to 1.
    dropout
        The share of rays that do not return, from 0 to 1, besides those that meet nothing or at a grazing angle.
    resolution
        Steps of a turn: so many times 64 rays; up to 8192.

    Returns
    -------
    ScanPair
        In the frames of the sensors: x ahead, y to the left, z up.

    """
    distance = as_number("distance", distance, 0.0, 50.0)
    lidar = SpinningLidar(
        as_integer("resolution", resolution, 1, 8192),
        noise=as_number("noise", noise, 0.0, 1.0),
        dropout=as_number("dropout", dropout, 0.0, 1.0),
    )
    seeds = np.random.SeedSequence(as_integer("seed", seed, 0, 2**63)).spawn(2)
    random = np.random.default_rng(seeds[0])
    lane, drift = random.uniform(-1.6, -0.8), random.uniform(-0.5, 0.5)
    turn = random.choice([-1.0, 1.0]) * random.uniform(math.radians(3.0), math.radians(12.0))
    (yaw, pitch, roll), (_, nod, lean) = random.normal(0.0, np.radians((2.0, 0.6, 0.6)), (2, 3))
    first = pose((0.0, lane, 1.8), yaw=yaw, pitch=pitch, roll=roll)
    second = pose((distance, lane + drift, 1.8), yaw=yaw + turn, pitch=nod, roll=lean)
    scene = Scene(street(random))
    return scan_pair(scene, lidar, [first], [second], np.random.default_rng(seeds[1]))


def street(random: np.random.Generator, *, parked: bool = True) -> list[Shape]:
    """Return a street along x, with or without cars; y = 0 is its middle."""
    shapes = [Shape("box", (0.0, 0.0, -1.0), (300.0, 300.0, 1.0))]
    for _ in range(60):  # bumps: very flat ellipsoids, the lower half in the ground
        half = tuple(random.uniform((0.8, 0.5, 0.015), (5.0, 2.5, 0.06)))
        place = random.uniform(BEGIN, END), random.uniform(-KERB, KERB), 0.0
        shapes.append(Shape("ellipsoid", place, half, random.uniform(0.0, math.pi)))
    for side in (0.0, math.pi):  # everything is drawn on the left; the other side is turned about the middle
        half_street = []
        crossing = random.uniform(BEGIN + 45.0, END - 45.0)
        for begin, end in ((BEGIN, crossing - 4.5), (crossing + 4.5, END)):
            kerb = box((begin + end) / 2.0, KERB + 5.0, -0.1, (end - begin, 10.0, random.uniform(0.2, 0.26)))
            half_street += [kerb, *_houses(random, begin, end)]
            if parked:
                half_street += row(random, begin, end, KERB - 1.1, (5.5, 11.0), (car, car, car, van))
            half_street += row(random, begin, end, KERB + 0.7, (4.0, 12.0), (tree, post, tree, sign, bins))
        shapes += moved(half_street, BEGIN + END if side else 0.0, 0.0, yaw=side)
    return shapes


def _houses(random: np.random.Generator, begin: float, end: float) -> list[Shape]:
    """Return houses along a pavement, some set back, with fences and hedges in the gaps between them."""
    shapes, x = [], begin
    while end - x > 6.0:
        width = min(random.uniform(6.0, 17.0), end - x)
        back, yaw = random.choice([0.0, random.uniform(0.3, 3.0)]), random.normal(0.0, 0.015)
        shapes += moved(house(random, width), x, _HOUSES + back, yaw=yaw)
        if back > 1.2:
            shapes += moved(_border(random, width), x, _HOUSES)
        x += width
        if random.random() < 0.5:
            gap = min(random.uniform(1.0, 7.0), end - x)
            if gap > 2.0:
                shapes += moved(
                    (fence if random.random() < 0.5 else hedge)(random, gap), x, _HOUSES + random.uniform(0.0, 4.0)
                )
            x += gap
    return shapes


def _border(random: np.random.Generator, width: float) -> list[Shape]:
    return fence(random, width) if random.random() < 0.5 else hedge(random, width)


def row(
    random: np.random.Generator,
    begin: float,
    end: float,
    y: float,
    gaps: tuple[float, float],
    kinds: tuple[Callable[[np.random.Generator], list[Shape]], ...],
) -> list[Shape]:
    """Return things of several kinds along a line, at uneven distances."""
    shapes, x = [], begin + random.uniform(*gaps)
    while x < end - 3.0:
        kind = kinds[random.integers(len(kinds))]
        shapes += moved(kind(random), x, y + random.normal(0.0, 0.12), yaw=random.normal(0.0, 0.03))
        x += random.uniform(*gaps) * random.choice([1.0, 1.0, 2.0])
    return shapes
