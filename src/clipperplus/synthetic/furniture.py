"""Furniture made of boxes, ellipsoids and cylinders. No two pieces are alike.

Each function draws one piece: it stands on the floor around the origin and its back is towards -y.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from .ray_casting import Shape, box, cylinder, moved

__all__ = ["FREE_STANDING", "HALLWAY", "WALL_SIDE", "Piece", "picture", "radiator"]


def _ball(x: float, y: float, z: float, half: tuple[float, float, float], yaw: float = 0.0) -> Shape:
    return Shape("ellipsoid", (x, y, z), half, yaw)


def _legs(random: np.random.Generator, width: float, depth: float, height: float) -> list[Shape]:
    """Return four legs, round or square."""
    thickness, square = random.uniform(0.03, 0.07), random.random() < 0.5
    x, y = width / 2.0 - thickness, depth / 2.0 - thickness
    corners = [(-x, -y), (-x, y), (x, -y), (x, y)]
    if square:
        return [box(*corner, 0.0, (thickness, thickness, height)) for corner in corners]
    return [cylinder(*corner, 0.0, thickness / 2.0, height) for corner in corners]


def _things(random: np.random.Generator, width: float, depth: float, height: float, count: int) -> list[Shape]:
    """Return small things on a board: boxes, tins, bowls and tilted screens, side by side."""
    things = []
    for k in range(count):
        x = width * ((k + random.uniform(0.25, 0.75)) / count - 0.5)
        y = depth * random.uniform(-0.3, 0.3)
        room, yaw, tall = 0.8 * width / count, random.uniform(0.0, math.pi), random.uniform(0.08, 0.32)
        kind = random.integers(4)
        if kind == 0:
            things.append(box(x, y, height, (min(room, 0.3), min(depth, 0.25) * 0.8, tall * 0.6), yaw))
        elif kind == 1:
            things.append(cylinder(x, y, height, min(room / 2.0, random.uniform(0.04, 0.1)), tall))
        elif kind == 2:
            radius = min(room / 2.0, random.uniform(0.06, 0.15))
            things.append(_ball(x, y, height + radius * 0.7, (radius, radius, radius * 0.7)))
        else:
            things.append(box(x, y, height, (min(room, 0.35), 0.02, 0.25), random.uniform(-0.5, 0.5), -0.25))
    return things


def _table(random: np.random.Generator) -> list[Shape]:
    width, depth, height = random.uniform(0.8, 1.6), random.uniform(0.6, 0.9), random.uniform(0.45, 0.78)
    top = box(0.0, 0.0, height, (width, depth, random.uniform(0.02, 0.05)))
    parts = [top, *_legs(random, width, depth, height)]
    return parts + _things(random, width, depth, height + 2.0 * top.half[2], int(random.integers(2, 6)))


def _desk(random: np.random.Generator) -> list[Shape]:
    """Return a desk with drawers on one side and a screen."""
    width, depth, side = random.uniform(1.2, 1.7), random.uniform(0.6, 0.8), random.choice([-1.0, 1.0])
    drawers = random.uniform(0.35, 0.5)
    screen = random.uniform(0.45, 0.7)
    x = random.uniform(-0.2, 0.2)
    return [
        box(0.0, 0.0, 0.70, (width, depth, 0.04)),
        box(side * (width - drawers) / 2.0, 0.0, 0.05, (drawers, depth - 0.06, 0.65)),
        box(-side * (width / 2.0 - 0.03), 0.0, 0.0, (0.04, depth, 0.70)),
        box(x, -0.15, 0.74, (0.2, 0.15, 0.02)),
        cylinder(x, -0.17, 0.76, 0.02, 0.15),
        box(x, -0.14, 0.86, (screen, 0.04, screen * 0.58), random.uniform(-0.3, 0.3)),
        *_things(random, width, 0.3, 0.74, 3),
    ]


def _chair(random: np.random.Generator) -> list[Shape]:
    width, height = random.uniform(0.4, 0.55), random.uniform(0.4, 0.5)
    back = random.uniform(0.35, 0.6)
    return [
        box(0.0, 0.0, height, (width, width, random.uniform(0.03, 0.1))),
        box(0.0, -width / 2.0, height, (width, 0.04, back), tilt=random.uniform(0.0, 0.25)),
        *_legs(random, width, width, height),
    ]


def _sofa(random: np.random.Generator) -> list[Shape]:
    width, depth, seat = random.uniform(1.4, 2.2), random.uniform(0.8, 0.95), random.uniform(0.35, 0.45)
    arm = random.uniform(0.12, 0.25)
    parts = [
        box(0.0, 0.0, 0.08, (width, depth, seat - 0.08)),
        box(0.0, -depth / 2.0 + 0.12, seat - 0.1, (width - 0.1, 0.2, random.uniform(0.4, 0.55)), tilt=0.15),
        box(-(width - arm) / 2.0, 0.0, 0.05, (arm, depth, seat + random.uniform(0.1, 0.2))),
    ]
    if random.random() < 0.7:  # the other arm
        parts.append(box((width - arm) / 2.0, 0.0, 0.05, (arm, depth, seat + random.uniform(0.1, 0.2))))
    for _ in range(random.integers(1, 4)):
        x, yaw = random.uniform(-0.35, 0.35) * width, random.uniform(-0.6, 0.6)
        parts.append(_ball(x, -0.1, seat + 0.17, (random.uniform(0.18, 0.26), 0.09, 0.2), yaw))
    return parts


def _bed(random: np.random.Generator) -> list[Shape]:
    width, height = random.uniform(1.0, 1.7), random.uniform(0.4, 0.55)
    return [
        box(0.0, 0.0, 0.12, (width, 2.0, height - 0.12)),
        box(0.0, -1.0, 0.0, (width + 0.1, 0.06, random.uniform(0.8, 1.2))),
        box(random.uniform(-0.1, 0.1), 0.35, height, (width * 0.97, 1.2, 0.07), random.uniform(-0.05, 0.05)),
        _ball(-width / 5.0, -0.7, height + 0.07, (0.27, 0.2, 0.09), random.uniform(-0.4, 0.4)),
        _ball(width / 5.0, -0.65, height + 0.08, (0.22, 0.24, 0.1), random.uniform(-0.4, 0.4)),
    ]


def _shelf(random: np.random.Generator) -> list[Shape]:
    """Return a shelf with boards at uneven heights and rows of books and things between them."""
    width, depth, height = random.uniform(0.7, 1.4), random.uniform(0.25, 0.4), random.uniform(1.2, 2.1)
    boards = np.cumsum(random.uniform(0.28, 0.48, 8))
    boards = np.concatenate(([0.06], boards[boards < height - 0.25]))
    parts = [
        box(-width / 2.0, 0.0, 0.0, (0.03, depth, height)),
        box(width / 2.0, 0.0, 0.0, (0.03, depth, height)),
        box(0.0, -depth / 2.0, 0.0, (width, 0.02, height)),
        box(0.0, 0.0, height - 0.03, (width, depth, 0.03)),
    ]
    for board in boards:
        parts.append(box(0.0, 0.0, float(board), (width, depth, 0.025)))
        books = random.uniform(0.2, 0.7) * width  # a block of books on one side, things on the other
        side = random.choice([-1.0, 1.0])
        tall, deep = random.uniform(0.15, 0.25), depth * random.uniform(0.5, 0.9)
        x = side * (width - books - 0.04) / 2.0
        parts.append(box(x, 0.0, float(board) + 0.025, (books, deep, tall)))
        parts += moved(_things(random, width - books, depth, 0.0, 1), -side * books / 2.0, 0.0, float(board) + 0.025)
    return parts


def _cabinet(random: np.random.Generator) -> list[Shape]:
    """Return a cabinet whose doors and knobs stand out, with things on top."""
    width, depth, height = random.uniform(0.6, 1.5), random.uniform(0.4, 0.6), random.uniform(0.7, 1.3)
    doors = int(random.integers(1, 4))
    parts = [
        box(0.0, 0.0, 0.07, (width, depth, height - 0.07)),
        box(0.0, -0.03, 0.0, (width - 0.08, depth - 0.08, 0.07)),
    ]
    for k in range(doors):
        x = width * ((k + 0.5) / doors - 0.5)
        parts.append(box(x, depth / 2.0, 0.12, (width / doors - 0.04, 0.04, height - random.uniform(0.16, 0.4))))
        parts.append(_ball(x + 0.3 * width / doors, depth / 2.0 + 0.03, height * 0.6, (0.025, 0.025, 0.025)))
    return parts + _things(random, width, depth, height, int(random.integers(1, 4)))


def _lamp(random: np.random.Generator) -> list[Shape]:
    height, radius = random.uniform(1.2, 1.8), random.uniform(0.15, 0.25)
    shade = cylinder(0.0, 0.0, height - 0.1, radius, random.uniform(0.2, 0.35))
    if random.random() < 0.5:
        shade = _ball(0.0, 0.0, height, (radius, radius, radius * random.uniform(0.7, 1.1)))
    return [cylinder(0.0, 0.0, 0.0, 0.15, 0.03), cylinder(0.0, 0.0, 0.0, 0.015, height), shade]


def _plant(random: np.random.Generator) -> list[Shape]:
    pot, height = random.uniform(0.12, 0.2), random.uniform(0.2, 0.4)
    parts = [cylinder(0.0, 0.0, 0.0, pot, height)]
    for _ in range(9):
        x, y = random.normal(0.0, 0.13, 2)
        half = tuple(random.uniform((0.06, 0.03, 0.06), (0.16, 0.08, 0.16)))
        parts.append(_ball(x, y, height + random.uniform(0.05, 0.7), half, random.uniform(0.0, math.pi)))
    return parts


def _crates(random: np.random.Generator) -> list[Shape]:
    parts, low = [], 0.0
    for _ in range(random.integers(2, 4)):
        size = tuple(random.uniform((0.3, 0.25, 0.18), (0.55, 0.45, 0.4)))
        x, y = random.uniform(-0.06, 0.06, 2)
        parts.append(box(x, y, low, size, random.uniform(0.0, math.pi)))
        low += size[2]
    return parts


def _pouf(random: np.random.Generator) -> list[Shape]:
    radius, height = random.uniform(0.22, 0.35), random.uniform(0.2, 0.26)
    return [_ball(0.0, 0.0, height, (radius, radius * random.uniform(0.8, 1.0), height))]


def _bin(random: np.random.Generator) -> list[Shape]:
    return [cylinder(0.0, 0.0, 0.0, random.uniform(0.12, 0.2), random.uniform(0.3, 0.6))]


def picture(random: np.random.Generator) -> list[Shape]:
    """Return a frame with its picture a little behind it, centred at the origin, facing +y."""
    width, height, deep = random.uniform(0.3, 1.0), random.uniform(0.3, 0.8), random.uniform(0.03, 0.06)
    bar = random.uniform(0.04, 0.08)
    parts = [box(0.0, 0.0, -height / 2.0, (width, 0.02, height))]
    parts += [box(side * width / 2.0, deep / 2.0, -height / 2.0, (bar, deep, height)) for side in (-1.0, 1.0)]
    parts += [box(0.0, deep / 2.0, side * height / 2.0 - bar / 2.0, (width + bar, deep, bar)) for side in (-1.0, 1.0)]
    return parts


def radiator(random: np.random.Generator) -> list[Shape]:
    """Return a radiator of upright ribs."""
    ribs, height = int(random.integers(6, 12)), random.uniform(0.5, 0.7)
    parts = [box(0.09 * (k - (ribs - 1) / 2.0), 0.08, 0.12, (0.05, 0.1, height)) for k in range(ribs)]
    return [*parts, box(0.0, 0.08, 0.2, (0.09 * ribs, 0.03, height - 0.15))]


Piece = Callable[[np.random.Generator], list[Shape]]
"""Draws a piece of furniture."""

WALL_SIDE: tuple[Piece, ...] = (_sofa, _shelf, _desk, _bed, _cabinet, _shelf, _table, _cabinet, _lamp, _plant, _crates)
"""What stands with its back to a wall; large pieces first."""
FREE_STANDING: tuple[Piece, ...] = (_table, _chair, _chair, _pouf, _chair, _crates, _plant, _bin, _lamp, _pouf, _bin)
"""What stands anywhere, turned in any way."""
HALLWAY: tuple[Piece, ...] = (_cabinet, _shelf, _crates, _cabinet, _plant, _bin, _chair, _lamp, _shelf, _plant, _bin)
"""What stands along the walls of a corridor."""
