"""Streets that change between two scans of a lidar, and what is left of one that says little."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np

from ...synthetic import outdoors
from ...synthetic.ray_casting import Shape, box, moved
from ...synthetic.streets import BEGIN, END, KERB, street
from .honest import street as street_scans
from .kind import LIDAR, Deception, Kind
from .looking import Place, car_lidar, look_twice
from .scenes import ground

__all__ = ["KINDS"]

_SENSOR = 1.8
"""Height of the lidar on its car, in metres."""


def _drive(random: np.random.Generator, least: float, most: float) -> tuple[Place, Place]:
    """Return two places along a street, so many metres apart."""
    first = Place((0.0, random.uniform(-1.6, -0.8), _SENSOR), random.normal(0.0, 0.03))
    x, y = random.uniform(least, most), first.position[1] + random.uniform(-0.3, 0.3)
    return first, Place((x, y, _SENSOR), first.yaw + random.normal(0.0, 0.05))


def _at(cars: Iterable[tuple[list[Shape], float, float]]) -> list[Shape]:
    """Return cars where they are."""
    return [part for shapes, x, y in cars for part in moved(shapes, x, y)]


def _vehicle(random: np.random.Generator) -> list[Shape]:
    return (outdoors.car if random.random() < 0.7 else outdoors.van)(random)


def _parked(random: np.random.Generator) -> list[tuple[list[Shape], float, float]]:
    """Return cars along both kerbs, each with its place."""
    cars, x = [], BEGIN + 5.0
    while x < END - 5.0:
        cars.append((_vehicle(random), x, random.choice([-1.0, 1.0]) * (KERB - 1.1)))
        x += random.uniform(4.0, 9.0)
    return cars


def _moved_cars(random: np.random.Generator, share: float) -> Deception:
    """Return scans between which a share of the cars has moved, together or each in its own way."""
    fixed, cars, together = street(random, parked=False), _parked(random), random.random() < 0.5
    way = random.uniform(2.0, 12.0)
    later = [
        (shapes, x + (way if together else random.uniform(-15.0, 15.0)) if random.random() < share else x, y)
        for shapes, x, y in cars
    ]
    places = _drive(random, 2.0, 15.0)
    return look_twice(random, car_lidar(random), places, [*fixed, *_at(cars)], [*fixed, *_at(later)])


def _half_moved(random: np.random.Generator, data: Path | None) -> Deception:
    return _moved_cars(random, 0.5)


def _all_moved(random: np.random.Generator, data: Path | None) -> Deception:
    return _moved_cars(random, 1.0)


def _convoy(random: np.random.Generator, places: tuple[Place, Place], fixed: list[Shape]) -> Deception:
    """Return scans from within a convoy: to the sensor, all the cars around it stand still."""
    cars = []
    for lane in (-1.2, 2.0, -4.4):
        for side in (-1.0, 1.0):
            x = side * random.uniform(6.0, 9.0)
            for _ in range(random.integers(1, 4)):
                cars.append((_vehicle(random), x, lane + random.normal(0.0, 0.15)))
                x += side * random.uniform(7.0, 12.0)
    way = places[1].position[0] - places[0].position[0]
    later = [(shapes, x + way, y) for shapes, x, y in cars]
    return look_twice(random, car_lidar(random), places, [*fixed, *_at(cars)], [*fixed, *_at(later)])


def _convoy_in_a_street(random: np.random.Generator, data: Path | None) -> Deception:
    return _convoy(random, _drive(random, 3.0, 15.0), street(random, parked=False))


def _convoy_on_a_motorway(random: np.random.Generator, data: Path | None) -> Deception:
    """Guard rails run on and on; signs, lamps and trees stand behind them, here and there."""
    fixed = [ground(), *(box(0.0, y, 0.5, (400.0, 0.1, 0.35)) for y in (-6.5, 4.5, 5.5))]
    for _ in range(random.integers(8, 16)):
        thing = (outdoors.sign, outdoors.post, outdoors.tree)[random.integers(3)](random)
        fixed += moved(thing, random.uniform(-50.0, 70.0), random.choice([-1.0, 1.0]) * random.uniform(7.5, 12.0))
    return _convoy(random, _drive(random, 3.0, 25.0), fixed)


def _ground_alone(random: np.random.Generator, data: Path | None) -> Deception:
    made = street_scans(random, data)
    low = 0.3 - _SENSOR
    # The sensor is level but for a degree: what is far away would be cut off or left by its lean.
    source, target = (
        points[(points[:, 2] < low) & (np.linalg.norm(points[:, :2], axis=1) < 30.0)]
        for points in (made.source, made.target)
    )
    return replace(made, source=source, target=target)


KINDS = (
    Kind("half of the cars moved", "decidable", _half_moved, LIDAR),
    Kind("all cars moved", "decidable", _all_moved, LIDAR),
    Kind("convoy in a street", "decidable", _convoy_in_a_street, LIDAR),
    Kind("convoy on a motorway", "undecidable", _convoy_on_a_motorway, LIDAR),
    Kind("ground of a street", "undecidable", _ground_alone, LIDAR, countable=False),
)
