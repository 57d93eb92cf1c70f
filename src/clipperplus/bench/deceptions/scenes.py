"""Shapes of scenes that look the same from several places."""

from __future__ import annotations

import math

import numpy as np

from ...synthetic.outdoors import house, tree
from ...synthetic.ray_casting import Shape, box, cylinder, moved

__all__ = ["corridor", "ground", "hall", "orchard", "pillars", "row_houses", "shelves", "stairwell", "tunnel"]


def hall(width: float, depth: float, height: float) -> Shape:
    """Return floor, ceiling and walls around the origin, to be seen from inside."""
    return box(0.0, 0.0, 0.0, (width, depth, height))


def ground() -> Shape:
    """Return endless flat ground at height 0."""
    return box(0.0, 0.0, -1.0, (600.0, 600.0, 1.0))


def corridor(random: np.random.Generator, width: float, height: float, period: float) -> list[Shape]:
    """Return a corridor along x without ends; door frames stand out of both walls, at even distances.

    A period of inf: there are no doors.
    """
    shapes = [hall(200.0, width, height)]
    if math.isinf(period):
        return shapes
    wide, high, bar = random.uniform(0.8, 1.1), random.uniform(1.95, 2.1), random.uniform(0.06, 0.12)
    out = random.uniform(0.04, 0.12)
    frame = [
        box(-wide / 2.0, 0.0, 0.0, (bar, 2.0 * out, high)),
        box(wide / 2.0, 0.0, 0.0, (bar, 2.0 * out, high)),
        box(0.0, 0.0, high, (wide + bar, 2.0 * out, bar)),
        Shape("ellipsoid", (0.38 * wide, 0.0, 1.05), (0.06, 0.06 + out, 0.03)),
    ]
    shift = period * random.choice([0.0, 0.5])  # doors face each other, or not
    for k in range(-round(30.0 / period), round(30.0 / period) + 1):
        shapes += moved(frame, k * period, width / 2.0)
        shapes += moved(frame, k * period + shift, -width / 2.0, yaw=math.pi)
    return shapes


def tunnel(random: np.random.Generator, radius: float) -> list[Shape]:
    """Return a round tunnel along y without ends, with a road in it."""
    tube = Shape("cylinder", (0.0, 0.0, radius * random.uniform(0.3, 0.6)), (radius, radius, 100.0), tilt=math.pi / 2.0)
    return [tube, box(0.0, 0.0, -10.0, (2.0 * radius, 200.0, 10.0))]


def shelves(random: np.random.Generator, bay: float, aisle: float) -> list[Shape]:
    """Return a warehouse: rows of shelves along x at even distances, with the same goods in every bay."""
    depth, height = random.uniform(0.8, 1.2), random.uniform(3.5, 6.0)
    boards = np.arange(0.15, height - 0.5, random.uniform(1.1, 1.6))
    goods = []
    for board in boards.tolist():
        wide, tall = random.uniform(0.4, 0.9) * bay, random.uniform(0.4, 0.9)
        goods.append(box(random.uniform(-0.5, 0.5) * (bay - wide), 0.0, board + 0.1, (wide, 0.8 * depth, tall)))
    shapes = [hall(160.0, 160.0, height + 3.0)]
    bays = range(-round(18.0 / bay), round(18.0 / bay) + 1)
    for row in range(-2, 3):
        y = (row + 0.5) * (aisle + depth)
        length = bay * len(bays)
        shapes += [box(0.0, y, board, (length, depth, 0.1)) for board in boards.tolist()]
        for k in bays:
            shapes += [box((k + 0.5) * bay, y + side * depth / 2.0, 0.0, (0.1, 0.1, height)) for side in (-1.0, 1.0)]
            shapes += moved(goods, k * bay, y)
    return shapes


def pillars(random: np.random.Generator, spacing: tuple[float, float], height: float) -> list[Shape]:
    """Return a hall whose walls are far away, with pillars on a grid; none at the origin."""
    radius, square = random.uniform(0.2, 0.45), random.random() < 0.5
    shapes = [hall(240.0, 240.0, height)]
    for i in range(-6, 6):
        for j in range(-6, 6):
            x, y = (i + 0.5) * spacing[0], (j + 0.5) * spacing[1]
            shapes.append(
                box(x, y, 0.0, (2.0 * radius, 2.0 * radius, height)) if square else cylinder(x, y, 0.0, radius, height)
            )
    return shapes


def orchard(random: np.random.Generator, spacing: tuple[float, float]) -> list[Shape]:
    """Return the same tree on a grid, all turned alike or each as it likes."""
    planted, alike = tree(random)[:9], random.random() < 0.5
    shapes = [ground()]
    for i in range(-5, 5):
        for j in range(-5, 5):
            yaw = 0.0 if alike else random.uniform(-math.pi, math.pi)
            shapes += moved(planted, (i + 0.5) * spacing[0], (j + 0.5) * spacing[1], yaw=yaw)
    return shapes


def row_houses(random: np.random.Generator, width: float, half_street: float) -> list[Shape]:
    """Return a street along x with the same house again and again, on both sides."""
    built = house(random, width)
    shapes = [ground(), box(0.0, 0.0, -0.5, (400.0, 2.0 * half_street - 3.0, 0.38))]
    shift = width * random.uniform(0.0, 1.0)
    for k in range(-round(48.0 / width), round(48.0 / width) + 1):
        shapes += moved(built, k * width, half_street)
        shapes += moved(built, k * width + shift, -half_street, yaw=math.pi)
    return shapes


def stairwell(random: np.random.Generator, gap: float, depth: float, storey: float, landing: float) -> list[Shape]:
    """Return a shaft with stairs around an open middle, the same on every floor; a landing is at y < 0, z = 0."""
    flight, steps = random.uniform(0.9, 1.3), 8
    width, run = gap + 2.0 * flight, (depth - 2.0 * landing) / steps
    shapes = [Shape("box", (0.0, 0.0, 0.0), (width / 2.0, depth / 2.0, 4.0 * storey))]
    for floor in range(-3, 4):
        low = floor * storey
        shapes.append(box(0.0, -(depth - landing) / 2.0, low - 0.15, (width, landing, 0.15)))
        shapes.append(box(0.0, (depth - landing) / 2.0, low + storey / 2.0 - 0.15, (width, landing, 0.15)))
        for k in range(steps):
            rise = storey / 2.0 * (k + 1) / (steps + 1)
            y = -depth / 2.0 + landing + (k + 0.5) * run
            shapes.append(box((gap + flight) / 2.0, y, low + rise - 0.2, (flight, run, 0.2)))
            shapes.append(box(-(gap + flight) / 2.0, -y, low + storey / 2.0 + rise - 0.2, (flight, run, 0.2)))
        shapes.append(box(-0.2 * width, -depth / 2.0, low, (0.9, 0.1, 2.05)))  # the door of the flat
    return shapes
