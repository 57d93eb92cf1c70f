"""What stands in a street, made of boxes, ellipsoids and cylinders. No two things are alike.

Each function draws one thing: it stands on the ground around the origin, and the street runs along x.
"""

from __future__ import annotations

import math

import numpy as np

from .ray_casting import Shape, box, cylinder, moved

__all__ = ["bins", "car", "fence", "hedge", "house", "post", "sign", "tree", "van"]


def house(random: np.random.Generator, width: float) -> list[Shape]:
    """Return a house along x from 0 to ``width`` whose front, at y = 0, faces -y.

    Glass and doors are the front of a block; in front of it, piers between columns of windows and bands between storeys
    are the wall, so that windows lie in recesses. Widths and heights are uneven, and differ from house to house.
    """
    depth, recess = random.uniform(6.0, 10.0), random.uniform(0.12, 0.35)
    columns, storeys = max(1, round(width / random.uniform(2.2, 4.0))), int(random.integers(1, 5))
    floors = np.cumsum([random.uniform(0.3, 0.9), *random.uniform(2.6, 3.6, storeys)])
    height = float(floors[-1]) + random.uniform(0.3, 1.0)
    shapes = [box(width / 2.0, depth / 2.0 + recess, 0.0, (width, depth, height))]
    edges = np.concatenate(([0.0], np.sort(random.uniform(0.12, 0.88, columns - 1)), [1.0])) * 0.5
    edges = (edges + np.linspace(0.0, 0.5, columns + 1)) * width
    for edge in edges:
        thick = random.uniform(0.5, 1.2)
        x = float(np.clip(edge, thick / 2.0, width - thick / 2.0))
        shapes.append(box(x, recess / 2.0, 0.0, (thick, recess, height)))
    for floor in floors[1:]:
        thick = random.uniform(0.6, 1.3)
        shapes.append(box(width / 2.0, recess / 2.0, float(floor) - thick / 2.0, (width, recess, thick)))
    door = int(random.integers(columns))
    for column in range(columns):
        begin, end = edges[column : column + 2].tolist()
        middle, wide = (begin + end) / 2.0, end - begin
        if column == door:  # steps, and a roof above them
            shapes.append(box(middle, -0.4, -0.1, (min(wide, 1.6), 0.9, random.uniform(0.25, 0.5))))
            shapes.append(box(middle, -0.5, random.uniform(2.3, 2.7), (min(wide, 2.2), 1.0, 0.1), tilt=0.25))
            continue
        shapes.append(box(middle, recess / 2.0, 0.0, (wide, recess, random.uniform(0.7, 1.2))))  # below the window
        if random.random() < 0.3:  # bricked up
            shapes.append(box(middle, recess / 2.0, 0.0, (wide, recess * 0.8, float(floors[1]))))
        if storeys > 1 and random.random() < 0.3:
            out = random.uniform(0.7, 1.3)
            shapes.append(box(middle, -out / 2.0, float(floors[1]), (wide * 0.9, out, random.uniform(0.3, 1.1))))
    if random.random() < 0.5:  # a drain pipe
        shapes.append(cylinder(random.uniform(0.0, 1.0) * width, -0.08, 0.0, 0.06, height))
    return shapes


def car(random: np.random.Generator) -> list[Shape]:
    """Return a car along x."""
    length, width, height = random.uniform(3.6, 4.9), random.uniform(1.65, 1.9), random.uniform(1.4, 1.7)
    waist, cabin = random.uniform(0.8, 0.95), random.uniform(0.4, 0.6) * length
    x = random.uniform(-0.12, 0.02) * length
    lean = random.uniform(0.5, 0.9)
    parts = [
        box(0.0, 0.0, 0.25, (length, width, waist - 0.25)),
        box(x, 0.0, waist, (cabin, width * 0.86, height - waist)),
    ]
    for end in (-1.0, 1.0):  # the windscreens
        screen = (width * 0.84, 0.05, (height - waist) / math.cos(lean))
        x_screen = x + end * (cabin / 2.0 + 0.1)
        parts.append(box(x_screen, 0.0, waist - 0.05, screen, -end * math.pi / 2.0, lean))
    for wheel in (-0.31 * length, 0.31 * length):
        for side in (-1.0, 1.0):
            place = (wheel, side * (width / 2.0 - 0.1), 0.32)
            parts.append(Shape("cylinder", place, (0.32, 0.32, 0.12), tilt=math.pi / 2.0))
    return parts


def van(random: np.random.Generator) -> list[Shape]:
    """Return a van along x."""
    length, width, height = random.uniform(5.0, 6.2), random.uniform(1.9, 2.1), random.uniform(2.0, 2.6)
    bonnet = random.uniform(0.6, 1.1)
    wheels = [
        Shape("cylinder", (x, side * (width / 2.0 - 0.1), 0.35), (0.35, 0.35, 0.13), tilt=math.pi / 2.0)
        for x in (-0.3 * length, 0.33 * length)
        for side in (-1.0, 1.0)
    ]
    body = box(-bonnet / 2.0, 0.0, 0.35, (length - bonnet, width, height - 0.35))
    return [body, box((length - bonnet) / 2.0, 0.0, 0.35, (bonnet, width * 0.95, random.uniform(0.6, 0.9))), *wheels]


def tree(random: np.random.Generator) -> list[Shape]:
    """Return a trunk with a crown of many small clumps of leaves, with gaps between them."""
    trunk, radius = random.uniform(1.9, 3.0), random.uniform(1.0, 1.9)
    thick = random.uniform(0.1, 0.28)
    parts = [cylinder(0.0, 0.0, 0.0, thick, trunk + radius)]
    for _ in range(18):
        x, y, z = random.normal(0.0, 0.45 * radius, 3)
        half = tuple(random.uniform((0.25, 0.2, 0.15), (0.7, 0.5, 0.45)))
        parts.append(Shape("ellipsoid", (x, y, trunk + radius + z), half, random.uniform(0.0, math.pi)))
    return parts


def post(random: np.random.Generator) -> list[Shape]:
    """Return a lamp post."""
    height, arm = random.uniform(4.0, 7.0), random.uniform(0.6, 1.5)
    return [
        cylinder(0.0, 0.0, 0.0, random.uniform(0.05, 0.1), height),
        cylinder(0.0, 0.0, 0.0, random.uniform(0.12, 0.18), random.uniform(0.5, 1.2)),
        box(0.0, -arm / 2.0, height, (0.08, arm, 0.08)),
        Shape("ellipsoid", (0.0, -arm, height - 0.05), (0.2, 0.35, 0.1)),
    ]


def sign(random: np.random.Generator) -> list[Shape]:
    """Return a road sign."""
    height, size = random.uniform(2.0, 2.6), random.uniform(0.5, 0.9)
    board = box(0.0, 0.0, height, (size, 0.04, size * random.uniform(0.6, 1.2)), random.normal(math.pi / 2.0, 0.2))
    return [cylinder(0.0, 0.0, 0.0, 0.04, height + 0.3), board]


def bins(random: np.random.Generator) -> list[Shape]:
    """Return a few bins, or a cabinet of the power company."""
    if random.random() < 0.4:
        return [box(0.0, 0.0, 0.0, (random.uniform(0.6, 1.6), random.uniform(0.3, 0.5), random.uniform(0.9, 1.4)))]
    row = [box(0.0, 0.0, 0.0, (0.55, 0.6, random.uniform(0.9, 1.1)), random.normal(0.0, 0.2)) for _ in range(3)]
    return [part for k, part in enumerate(row) for part in moved([part], 0.75 * k, random.uniform(-0.15, 0.15))]


def fence(random: np.random.Generator, width: float) -> list[Shape]:
    """Return a fence along x from 0 to ``width``: posts and rails."""
    height = random.uniform(0.8, 1.6)
    places = np.cumsum(random.uniform(0.5, 1.6, max(1, round(width))))
    posts = [cylinder(float(x), 0.0, 0.0, 0.05, height) for x in places[places < width]]
    return posts + [box(width / 2.0, 0.0, height * share, (width, 0.04, 0.12)) for share in (0.35, 0.8)]


def hedge(random: np.random.Generator, width: float) -> list[Shape]:
    """Return a row of bushes along x from 0 to ``width``."""
    shapes, x = [], 0.0
    while x < width:
        half = tuple(random.uniform((0.4, 0.3, 0.4), (0.9, 0.5, 0.9)))
        shapes.append(Shape("ellipsoid", (x, random.uniform(-0.2, 0.2), half[2] * 0.8), half))
        x += half[0] * 1.4
    return shapes
