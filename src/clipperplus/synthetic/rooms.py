"""A furnished room, seen by a depth camera."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from .._validation import as_integer, as_number
from .furniture import FREE_STANDING, WALL_SIDE, Piece, picture, radiator
from .ray_casting import Scene, Shape, box, cylinder, moved
from .scans import DepthCamera, ScanPair, pose, scan_pair

__all__ = [
    "RECESS",
    "T_BODY_CAMERA",
    "fittings",
    "furnished",
    "pictures",
    "pierced",
    "room",
    "room_scans",
    "wall_with_opening",
    "walls_of",
]

T_BODY_CAMERA = np.array([[0.0, 0.0, 1.0, 0.0], [-1.0, 0.0, 0.0, 0.0], [0.0, -1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]])
"""A camera has x to the right, y down and z ahead; a body has x ahead, y to the left and z up."""
RECESS = 0.2
"""How deep windows and doors lie in the walls, in metres."""


def room_scans(
    *,
    seed: int = 0,
    motion: float = 1.0,
    frames: int = 5,
    noise: float = 0.0015,
    dropout: float = 0.02,
    resolution: int = 160,
) -> ScanPair:
    """Simulate two scans of a furnished room by a hand-held depth camera with a field of view of 66° and 6 m of range.

    Walls have windows and doors in recesses, pictures and radiators; about 20 pieces of furniture stand around. The
    seed decides on all of it, and on where the camera starts: the same seed is the same room with any other arguments.

    Parameters
    ----------
    seed
        Decides on everything that is random.
    motion
        How far apart the scans are, from 0 to 2: about ``motion`` metres and ``motion`` times 20° to 45°. The overlap
        is mostly 0.5 to 0.8 for 1, and less for more.
    frames
        Depth images that make up a scan: they are taken along a short sweep and put into the frame of the first one.
    noise
        Standard deviation of the depth at 1 m, in metres, up to 1; it grows with the square of the depth.
    dropout
        The share of pixels without depth, from 0 to 1, besides those on surfaces seen at grazing angles.
    resolution
        Columns of a depth image; it has three quarters as many rows. Up to 1280.

    Returns
    -------
    ScanPair
        In the frames of the first camera of each sweep: x to the right, y down, z ahead.

    """
    motion = as_number("motion", motion, 0.0, 2.0)
    frames = as_integer("frames", frames, 1, 100)
    camera = DepthCamera(
        as_integer("resolution", resolution, 1, 1280),
        noise=as_number("noise", noise, 0.0, 1.0),
        dropout=as_number("dropout", dropout, 0.0, 1.0),
    )
    seeds = np.random.SeedSequence(as_integer("seed", seed, 0, 2**63)).spawn(2)
    random = np.random.default_rng(seeds[0])
    size = random.uniform((5.5, 4.6, 2.4), (7.0, 5.8, 2.8))
    # The camera is near the wall at y = 0 and looks into the room; it moves along that wall and turns the other way, so
    # that it sees much of the same.
    side = random.choice([-1.0, 1.0])
    start = np.array(
        [size[0] / 2.0 - side * random.uniform(0.5, 1.0), random.uniform(0.6, 1.0), random.uniform(1.3, 1.6)]
    )
    direction = random.uniform(-0.1, 0.35)
    step = np.array([side * math.cos(direction), math.sin(direction), random.uniform(-0.15, 0.15)])
    turn = side * random.uniform(math.radians(20.0), math.radians(45.0))
    yaw = math.pi / 2.0 - turn / 2.0 + random.uniform(-0.15, 0.15)
    pitch, roll = random.uniform((0.2, -0.04), (0.3, 0.04))
    nod, lean = random.uniform(-0.08, 0.08, 2)
    sweep = random.uniform((-0.1, -0.05, -0.05), (0.1, 0.05, 0.05))
    scene = Scene(room(random, size, [start + share * step for share in np.linspace(0.0, 2.0, 9)]))

    tracks = []
    for share in (0.0, motion):
        track = []
        for time in np.linspace(-0.5, 0.5, frames) if frames > 1 else (0.0,):
            where = start + share * step + time * (sweep + side * np.array([0.2, 0.0, 0.0]))
            where = np.clip(where, 0.3, size - 0.3)
            heading = yaw + share * turn + time * math.radians(16.0)
            body = pose(where, yaw=heading, pitch=pitch + share * nod, roll=roll + share * lean)
            track.append(body @ T_BODY_CAMERA)
        tracks.append(track)
    return scan_pair(scene, camera, tracks[0], tracks[1], np.random.default_rng(seeds[1]))


def room(
    random: np.random.Generator, size: npt.NDArray[np.float64], free: list[npt.NDArray[np.float64]]
) -> list[Shape]:
    """Return a room with a corner at the origin and furniture, but none at the places to keep free."""
    width, depth, height = size.tolist()
    shell = Shape("box", (width / 2, depth / 2, height / 2), (width / 2 + RECESS, depth / 2 + RECESS, height / 2))
    shapes = [shell]
    for x, y, yaw, length in walls_of(size):
        shapes += moved(wall_with_opening(random, length, height), x, y, yaw=yaw)
    shapes += furnished(random, size, free)
    return shapes + fittings(random, size)


def fittings(random: np.random.Generator, size: npt.NDArray[np.float64]) -> list[Shape]:
    """Return a lamp and a beam below the ceiling, and a carpet."""
    width, depth, height = size.tolist()
    x, y = random.uniform(0.3, 0.7, 2) * (width, depth)
    drop = random.uniform(0.3, 0.6)
    shade = tuple(random.uniform((0.12, 0.12, 0.1), (0.3, 0.3, 0.2)))
    shapes = [cylinder(x, y, height - drop, 0.01, drop), Shape("ellipsoid", (x, y, height - drop), shade)]
    shapes.append(box(random.uniform(0.2, 0.8) * width, depth / 2, height - 0.18, (0.2, depth, 0.2)))  # a beam
    shapes.append(box(x, y, -0.01, (random.uniform(1.2, 2.2), random.uniform(1.0, 1.5), 0.025), random.uniform(0, 3)))
    return shapes


def furnished(
    random: np.random.Generator,
    size: npt.NDArray[np.float64],
    free: Iterable[npt.NDArray[np.float64]],
    wall_side: Sequence[Piece] = WALL_SIDE,
    free_standing: Sequence[Piece] = FREE_STANDING,
) -> list[Shape]:
    """Return the furniture of a room with a corner at the origin, but none at the places to keep free."""
    shapes, walls = [], walls_of(size)
    taken = [(place[0] - 0.55, place[0] + 0.55, place[1] - 0.7, place[1] + 0.7) for place in free]
    for piece in wall_side:
        shapes += _placed(random, size, taken, piece(random), walls)
    for piece in free_standing:
        shapes += _placed(random, size, taken, piece(random), None)
    return shapes


def walls_of(size: npt.NDArray[np.float64]) -> list[tuple[float, float, float, float]]:
    """Return of each wall the middle of its lower edge, the direction it faces, and its length."""
    width, depth, _ = size.tolist()
    return [
        (width / 2, 0.0, 0.0, width),
        (width, depth / 2, math.pi / 2, depth),
        (width / 2, depth, math.pi, width),
        (0.0, depth / 2, -math.pi / 2, depth),
    ]


def wall_with_opening(random: np.random.Generator, length: float, height: float, *, doors: float = 0.4) -> list[Shape]:
    """Return a wall along x that faces +y, with a door or a window, and pictures and a radiator on the rest of it.

    ``doors`` is how likely it is to be a door.
    """
    door = random.random() < doors
    wide = random.uniform(0.8, 1.0) if door else random.uniform(0.8, 1.6)
    low, high = (0.0, random.uniform(1.95, 2.1)) if door else (random.uniform(0.7, 1.0), random.uniform(1.8, 2.15))
    x = random.uniform(-0.5, 0.5) * (length - wide - 0.8)
    shapes = pierced(length, height, x, wide, low, high)
    if door:
        shapes.append(Shape("ellipsoid", (x + 0.38 * wide, -RECESS + 0.04, 1.05), (0.06, 0.04, 0.02)))
    else:
        bar = x + random.uniform(-0.25, 0.25) * wide
        shapes.append(box(x, 0.04, low - 0.04, (wide + 0.1, 0.14, 0.04)))  # the sill
        shapes.append(box(bar, -RECESS + 0.03, low, (0.06, 0.06, high - low)))
        shapes += moved(radiator(random), x + random.uniform(-0.1, 0.1), 0.0)
    return shapes + pictures(random, [(-length / 2, x - wide / 2), (x + wide / 2, length / 2)])


def pierced(length: float, height: float, x: float, wide: float, low: float, high: float) -> list[Shape]:
    """Return a wall along x that faces +y, with an opening around x between two heights."""
    left, right = x - wide / 2 + length / 2, length / 2 - x - wide / 2  # of the opening: the wall there
    y = -RECESS / 2
    shapes = [
        box(-(length - left) / 2, y, 0.0, (left, RECESS, height)),
        box((length - right) / 2, y, 0.0, (right, RECESS, height)),
        box(x, y, high, (wide, RECESS, height - high)),
    ]
    return [*shapes, box(x, y, 0.0, (wide, RECESS, low))] if low > 0.0 else shapes


def pictures(random: np.random.Generator, spans: Sequence[tuple[float, float]]) -> list[Shape]:
    """Return a picture for each stretch of a wall along x that faces +y, where there is room for one."""
    shapes = []
    for begin, end in spans:
        if end - begin > 1.3:
            middle = random.uniform(begin + 0.6, end - 0.6)
            shapes += moved(picture(random), middle, 0.0, random.uniform(1.4, 1.75))
    return shapes


def _placed(
    random: np.random.Generator,
    size: npt.NDArray[np.float64],
    taken: list[tuple[float, float, float, float]],
    piece: list[Shape],
    walls: list[tuple[float, float, float, float]] | None,
) -> list[Shape]:
    """Put a piece where there is room for it, with its back to one of the walls or anywhere; nothing: there is none."""
    half = np.array([[math.hypot(*shape.half[:2])] * 2 if shape.yaw else shape.half[:2] for shape in piece])
    centres = np.array([shape.centre[:2] for shape in piece])
    low, high = (centres - half).min(axis=0), (centres + half).max(axis=0)
    for _ in range(40):
        if walls is None:
            yaw = random.uniform(0.0, 2.0 * math.pi)
            x, y = random.uniform(0.0, 1.0, 2) * size[:2]
        else:
            wall_x, wall_y, yaw, length = walls[random.integers(len(walls))]
            along, gap = random.uniform(-0.5, 0.5) * length, random.uniform(0.02, 0.08) - low[1]
            x = wall_x + along * math.cos(yaw) - gap * math.sin(yaw)
            y = wall_y + along * math.sin(yaw) + gap * math.cos(yaw)
            yaw += random.normal(0.0, 0.03)
        corners = np.array([[a, b] for a in (low[0], high[0]) for b in (low[1], high[1])])
        c, s = math.cos(yaw), math.sin(yaw)
        corners = corners @ np.array([[c, s], [-s, c]]) + (x, y)
        (x0, y0), (x1, y1) = corners.min(axis=0), corners.max(axis=0)
        inside = x0 > -0.02 and y0 > -0.02 and x1 < size[0] + 0.02 and y1 < size[1] + 0.02
        if inside and all(x1 < a or x0 > b or y1 < e or y0 > f for a, b, e, f in taken):
            taken.append((x0, x1, y0, y1))
            return moved(piece, x, y, yaw=yaw)
    return []
