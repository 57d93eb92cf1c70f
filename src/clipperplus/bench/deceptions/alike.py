"""Places that look alike: where several answers fit, no one may be trusted unless it is right."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from ...synthetic.ray_casting import Shape, box, cylinder, moved
from ...synthetic.rooms import T_BODY_CAMERA, furnished
from ...synthetic.scans import DepthCamera, pose
from . import scenes
from .kind import LIDAR, Array, Deception, Kind
from .looking import Place, Rig, camera_in_hand, car_lidar, look_twice, places_in, room_scanner, some_rig

__all__ = ["KINDS"]


def _room(random: np.random.Generator, *, square: bool) -> tuple[float, float, float]:
    """Return the size of a room."""
    depth = random.uniform(3.0, 8.0)
    return depth if square else depth * random.uniform(1.25, 2.2), depth, random.uniform(2.3, 3.5)


def _within(random: np.random.Generator, size: tuple[float, float, float]) -> tuple[Place, Place]:
    """Return two places in a room around the origin, off the walls."""
    x, y = size[0] / 2.0 - 0.5, size[1] / 2.0 - 0.5
    return places_in(random, (-x, -y, 1.0), (x, y, 1.7))


def _square_room(random: np.random.Generator, data: Path | None) -> Deception:
    size = _room(random, square=True)
    return look_twice(random, some_rig(random), _within(random, size), [scenes.hall(*size)])


def _rectangular_room(random: np.random.Generator, data: Path | None) -> Deception:
    size = _room(random, square=False)
    return look_twice(random, some_rig(random), _within(random, size), [scenes.hall(*size)])


def _boxed(
    random: np.random.Generator, least_height: float
) -> tuple[tuple[float, float, float], Shape, tuple[Place, Place]]:
    """Return the size of a room, a box in it, and two places that are not in the box.

    The box is off the middle of the room: there, turning the room would turn the box into itself.
    """
    size = _room(random, square=random.random() < 0.5)
    half = random.uniform(0.2, 0.6, 2)
    x = y = 0.0
    while math.hypot(x, y) < 0.9:
        x, y = (random.uniform(-0.5, 0.5, 2) * (np.array(size[:2]) - 2.0 * half - 0.2)).tolist()
    thing = box(x, y, 0.0, (2.0 * half[0], 2.0 * half[1], random.uniform(least_height, 1.9)))
    while True:
        places = _within(random, size)
        if all(math.dist(place.position[:2], (x, y)) > math.hypot(*half) + 0.3 for place in places):
            return size, thing, places


def _box_in_one(random: np.random.Generator, data: Path | None) -> Deception:
    size, thing, places = _boxed(random, 0.4)
    walls = scenes.hall(*size)
    first, second = ([walls, thing], [walls]) if random.random() < 0.5 else ([walls], [walls, thing])
    return look_twice(random, room_scanner(random), places, first, second)


def _box_in_both(random: np.random.Generator, data: Path | None) -> Deception:
    size, thing, places = _boxed(random, 1.2)  # so high that no beam passes above it
    return look_twice(random, room_scanner(random), places, [scenes.hall(*size), thing])


def _other_furniture(random: np.random.Generator, data: Path | None) -> Deception:
    size = np.add(_room(random, square=random.random() < 0.5), (1.5, 1.5, 0.0))
    places = places_in(random, (0.7, 0.7, 1.2), (size[0] - 0.7, size[1] - 0.7, 1.7))
    walls = moved([scenes.hall(*size.tolist())], size[0] / 2.0, size[1] / 2.0)
    free = [np.array(place.position) for place in places]
    first, second = ([*walls, *furnished(random, size, free)] for _ in range(2))
    return look_twice(random, some_rig(random), places, first, second)


def _corridor(random: np.random.Generator, *, doors: bool) -> Deception:
    width, height = random.uniform(1.5, 3.0), random.uniform(2.3, 3.0)
    period = random.uniform(2.2, 5.0) if doors else math.inf
    apart = random.uniform(0.0, 2.0) * (period if doors else 4.0)
    side = width / 2.0 - 0.4
    first, second = places_in(random, (-1.0, -side, 1.1), (1.0, side, 1.6))
    second = second.shifted(apart)
    rig = room_scanner(random, max_range=random.uniform(9.0, 16.0))
    return look_twice(random, rig, (first, second), scenes.corridor(random, width, height, period))


def _periodic_corridor(random: np.random.Generator, data: Path | None) -> Deception:
    return _corridor(random, doors=True)


def _smooth_corridor(random: np.random.Generator, data: Path | None) -> Deception:
    return _corridor(random, doors=False)


def _tunnel(random: np.random.Generator, data: Path | None) -> Deception:
    radius = random.uniform(2.5, 6.0)
    places = places_in(random, (-0.4 * radius, -6.0, 1.2), (0.4 * radius, 6.0, 2.2))
    rig = room_scanner(random, max_range=random.uniform(18.0, 35.0))
    return look_twice(random, rig, places, scenes.tunnel(random, radius))


def _shelves(random: np.random.Generator, data: Path | None) -> Deception:
    bay, aisle = random.uniform(1.8, 3.0), random.uniform(1.8, 3.2)
    places = places_in(random, (-bay, -0.35 * aisle, 1.0), (bay, 0.35 * aisle, 1.8))
    rig = room_scanner(random, max_range=random.uniform(9.0, 15.0))
    return look_twice(random, rig, places, scenes.shelves(random, bay, aisle))


def _pillars(random: np.random.Generator, data: Path | None) -> Deception:
    spacing = random.uniform(4.0, 8.0)
    grid = (spacing, spacing if random.random() < 0.5 else random.uniform(4.0, 8.0))
    places = places_in(random, (-0.4 * grid[0], -0.4 * grid[1], 1.0), (0.4 * grid[0], 0.4 * grid[1], 1.8))
    shift = np.array(((0, 0), (1, 0), (0, 1))[random.integers(3)]) * grid  # perhaps a field further
    second = places[1].shifted(*shift.tolist())
    rig = room_scanner(random, max_range=random.uniform(12.0, 20.0))
    return look_twice(random, rig, (places[0], second), scenes.pillars(random, grid, random.uniform(2.6, 5.0)))


def _orchard(random: np.random.Generator, data: Path | None) -> Deception:
    grid = random.uniform(3.5, 6.0), random.uniform(3.5, 6.0)
    places = places_in(random, (-grid[0], -0.3 * grid[1], 1.5), (grid[0], 0.3 * grid[1], 2.0))
    rig = room_scanner(random, max_range=random.uniform(14.0, 20.0))
    return look_twice(random, rig, places, scenes.orchard(random, grid))


def _row_houses(random: np.random.Generator, data: Path | None) -> Deception:
    width, half = random.uniform(5.0, 9.0), random.uniform(6.0, 9.0)
    first = Place((random.uniform(-3.0, 3.0), random.uniform(-2.0, 2.0), 1.8), random.normal(0.0, 0.05))
    x = first.position[0] + random.uniform(0.3, 2.0) * width
    second = Place((x, random.uniform(-2.0, 2.0), 1.8), random.normal(0.0, 0.1) + random.choice([0.0, math.pi]))
    rig = car_lidar(random, max_range=random.uniform(25.0, 35.0))
    return look_twice(random, rig, (first, second), scenes.row_houses(random, width, half))


def _stairwell(random: np.random.Generator, data: Path | None) -> Deception:
    gap, depth, storey = random.uniform(1.0, 2.0), random.uniform(4.8, 6.2), random.uniform(2.7, 3.3)
    landing = random.uniform(1.2, 1.5)
    edge = landing - depth / 2.0  # from where the floors above and below are seen
    first, second = places_in(random, (-gap / 2.0, edge - 0.4, 1.2), (gap / 2.0, edge - 0.1, 1.7))
    second = second.shifted(z=storey * int(random.integers(-1, 2)))
    rig = room_scanner(random, max_range=12.0, steepest=50.0)
    return look_twice(random, rig, (first, second), scenes.stairwell(random, gap, depth, storey, landing))


def _plane_with_bumps(random: np.random.Generator, data: Path | None) -> Deception:
    shapes = [scenes.ground()]
    for _ in range(random.integers(2, 6)):
        angle, far = random.uniform(-math.pi, math.pi), random.uniform(9.0, 20.0)
        half = tuple(random.uniform((0.3, 0.3, 0.15), (1.2, 1.2, 0.7)).tolist())
        shapes.append(Shape("ellipsoid", (far * math.cos(angle), far * math.sin(angle), 0.0), half, angle))
    places = places_in(random, (-3.0, -3.0, 1.5), (3.0, 3.0, 2.2))
    return look_twice(random, car_lidar(random, max_range=30.0), places, shapes)


def _coplanar_walls(random: np.random.Generator, data: Path | None) -> Deception:
    gap, thick, height = random.uniform(0.8, 2.5), random.uniform(0.1, 0.3), random.uniform(2.5, 4.0)
    walls = [box(side * (gap / 2.0 + 10.0), 4.0 + thick / 2.0, 0.0, (20.0, thick, height)) for side in (-1.0, 1.0)]
    shapes = [*walls, scenes.ground()] if random.random() < 0.5 else walls
    first, second = (
        Place((x, random.uniform(0.5, 2.0), random.uniform(1.2, 1.7)), math.pi / 2.0 + random.normal(0.0, 0.15))
        for x in random.choice([-1.0, 1.0], 2) * (gap / 2.0 + random.uniform(0.0, 5.0, 2))
    )
    return look_twice(random, camera_in_hand(random, turn=30.0), (first, second), shapes)


def _round_thing(random: np.random.Generator, data: Path | None) -> Deception:
    size = random.uniform(0.1, 0.25)
    round_things: tuple[Shape, ...] = (
        Shape("ellipsoid", (0.0, 0.0, 0.0), (size, size, size)),
        Shape("ellipsoid", (0.0, 0.0, 0.0), (size, size, size * random.uniform(0.5, 0.8))),
        cylinder(0.0, 0.0, -size, size * random.uniform(0.3, 0.8), 2.0 * size),
    )
    thing = round_things[random.integers(3)]
    camera = DepthCamera(int(random.integers(200, 260)), noise=random.uniform(0.0005, 0.002), dropout=0.02)

    def around(place: Place, chance: np.random.Generator) -> list[Array]:
        far, up = chance.uniform(2.4, 3.2) * size + 0.15, chance.uniform(0.0, 0.8)
        result = []
        for yaw in place.yaw + np.linspace(0.0, chance.uniform(0.5, 4.0), 4):
            flat = far * math.cos(up)
            where = (-flat * math.cos(yaw), -flat * math.sin(yaw), far * math.sin(up))
            result.append(pose(where, yaw=float(yaw), pitch=up) @ T_BODY_CAMERA)
        return result

    return look_twice(random, Rig(camera, around), places_in(random, (0.0,) * 3, (0.0,) * 3), [thing])


KINDS = (
    Kind("square empty room", "undecidable", _square_room),
    Kind("rectangular empty room", "undecidable", _rectangular_room),
    Kind("box in one scan of an empty room", "undecidable", _box_in_one),
    Kind("box in both scans of an empty room", "decidable", _box_in_both),
    Kind("same walls, other furniture", "undecidable", _other_furniture),
    Kind("corridor with even doors", "undecidable", _periodic_corridor),
    Kind("smooth corridor", "undecidable", _smooth_corridor, countable=False),
    Kind("round tunnel", "undecidable", _tunnel, countable=False),
    Kind("rows of shelves", "undecidable", _shelves),
    Kind("grid of pillars", "undecidable", _pillars),
    Kind("orchard", "undecidable", _orchard),
    Kind("row houses", "undecidable", _row_houses, LIDAR),
    Kind("stairwell", "undecidable", _stairwell, countable=False),
    Kind("plane with far bumps", "undecidable", _plane_with_bumps, LIDAR, countable=False),
    Kind("coplanar walls", "undecidable", _coplanar_walls, countable=False),
    Kind("round thing", "undecidable", _round_thing, (15.0, 0.03), countable=False),
)
