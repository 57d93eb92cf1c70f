"""A storey of a building: furnished rooms on both sides of a corridor, with open doors."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .furniture import FREE_STANDING, HALLWAY, WALL_SIDE
from .ray_casting import Shape, box, moved
from .rooms import RECESS, fittings, furnished, pictures, pierced, wall_with_opening

__all__ = ["Space", "Storey", "storey"]

_DOOR_WIDTH, _DOOR_HEIGHT = 0.95, 2.05
"""Of every door, in metres: doors of a building are alike."""
_BETWEEN = 0.2
"""How thick the walls between rooms are, in metres."""
_FULL_AREA = 40.0
"""A room that large has all kinds of furniture, in square metres; a smaller one has that much less."""


class Space(NamedTuple):
    """A room, or the corridor. It has a frame of its own: a corner of its floor is the origin, x and y are along walls.

    The wall at y = 0 of a room is that to the corridor.
    """

    x: float
    """Where the corner is in the frame of the building."""
    y: float
    yaw: float
    """By how much it is turned there, in radians."""
    size: npt.NDArray[np.float64]
    """Along x, along y, and from floor to ceiling, in metres."""
    furniture: list[Shape]
    """What stands on the floor, in its own frame."""

    def to_building(self, places: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return where ``(n, 2)`` places on the floor are in the frame of the building."""
        c, s = math.cos(self.yaw), math.sin(self.yaw)
        return np.asarray(places @ np.array([[c, s], [-s, c]]) + (self.x, self.y))

    def clearances(self, places: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return how far ``(n, 2)`` places are from furniture, in metres; 0: something stands there."""
        centres = np.array([shape.centre[:2] for shape in self.furniture])
        half = np.array([shape.half[:2] for shape in self.furniture])
        yaw = np.array([shape.yaw for shape in self.furniture])
        offsets, c, s = places[:, None] - centres, np.cos(yaw), np.sin(yaw)
        x, y = offsets[..., 0], offsets[..., 1]
        beyond = np.abs(np.stack((c * x + s * y, c * y - s * x), axis=2)) - half
        return np.asarray(np.linalg.norm(np.maximum(beyond, 0.0), axis=2).min(axis=1, initial=np.inf))


class Storey(NamedTuple):
    """All that a sensor sees, and the spaces that it can stand in."""

    shapes: list[Shape]
    """In the frame of the building: x along the corridor, which is around y = 0; z is up from the floor."""
    corridor: Space
    rooms: list[Space]
    """In the order in which one comes to their doors along the corridor."""
    doors: list[float]
    """Where the middles of their doors are along x, in the frames of the rooms."""


def storey(random: np.random.Generator) -> Storey:
    """Draw three rooms on either side of a corridor.

    The rooms of one side are as wide as those of the other, in another order. Two of them, one on either side, are
    twins: walls, door, window and radiator are the same, furniture and pictures are not.
    """
    widths = random.uniform((5.4, 3.7, 4.5), (6.2, 4.3, 5.2))
    breadth = random.uniform(1.9, 2.3)
    top = 2.9
    twin_size = np.array([widths[0], *random.uniform((4.4, 2.5), (5.4, 2.7))])
    twin_seed = int(random.integers(2**63))
    shapes: list[Shape] = []
    rooms: list[tuple[float, Space, float]] = []  # with where the door is, along the corridor and in the room
    for side in (0.0, math.pi):
        begin = _BETWEEN / 2
        for kind in random.permutation(3):
            size, shell = twin_size, np.random.default_rng(twin_seed)
            if kind > 0:
                size = np.array([widths[kind], *random.uniform((3.6, 2.4), (5.4, 2.8))])
                shell = np.random.default_rng(int(random.integers(2**63)))
            walls, room, door = _room(random, shell, size, top)
            width = float(size[0])
            x, y = (begin, breadth / 2 + RECESS) if side == 0.0 else (begin + width, -breadth / 2 - RECESS)
            shapes += moved([*walls, *room.furniture], x, y, yaw=side)
            room = room._replace(x=x, y=y, yaw=side)
            rooms.append((x + math.cos(side) * door, room, door))
            begin += width + _BETWEEN
    rooms.sort(key=lambda entry: entry[0])
    length = float(widths.sum()) + 3 * _BETWEEN
    size = np.array([length, breadth, random.uniform(2.3, 2.45)])
    walls, corridor = _corridor(random, size, [(x, room.y) for x, room, _ in rooms], top)
    shapes += walls + moved(corridor.furniture, corridor.x, corridor.y)
    shapes.append(Shape("box", (length / 2, 0.0, top / 2), (length / 2 + RECESS, 20.0, top / 2)))  # floor and ends
    return Storey(shapes, corridor, [room for _, room, _ in rooms], [door for _, _, door in rooms])


def _room(
    random: np.random.Generator, shell: np.random.Generator, size: npt.NDArray[np.float64], top: float
) -> tuple[list[Shape], Space, float]:
    """Return the walls of a room, in its own frame, the room, and where along the wall to the corridor its door is.

    ``shell`` decides on what twins have in common.
    """
    width, depth, height = size.tolist()
    door, hinge = shell.uniform(1.2, width - 1.2), shell.choice([-1.0, 1.0])
    around = [(0.0, door - _DOOR_WIDTH / 2), (door + _DOOR_WIDTH / 2, width)]
    shapes = [
        *moved(pierced(width + _BETWEEN, top, door - width / 2, _DOOR_WIDTH, 0.0, _DOOR_HEIGHT), width / 2, 0.0),
        box(-_BETWEEN / 4, depth / 2, 0.0, (_BETWEEN / 2, depth + 2 * RECESS, top)),
        box(width + _BETWEEN / 4, depth / 2, 0.0, (_BETWEEN / 2, depth + 2 * RECESS, top)),
        box(width / 2, depth + 1.5 * RECESS, 0.0, (width + _BETWEEN, RECESS, top)),  # the glass of the window
        box(width / 2, depth / 2, height, (width, depth, top)),
        *moved(wall_with_opening(shell, width, height, doors=0.0), width / 2, depth, yaw=math.pi),
        *pictures(random, around),
        *moved(pictures(random, [(-depth / 2, depth / 2)]), width, depth / 2, yaw=math.pi / 2),
        *moved(pictures(random, [(-depth / 2, depth / 2)]), 0.0, depth / 2, yaw=-math.pi / 2),
        *fittings(random, size),
    ]
    leaf = [box(-hinge * _DOOR_WIDTH / 2, 0.02, 0.01, (_DOOR_WIDTH, 0.04, _DOOR_HEIGHT - 0.02))]
    opened = random.uniform(1.4, 1.9)  # about a right angle
    leaf = moved(leaf, door + hinge * _DOOR_WIDTH / 2, 0.0, yaw=-hinge * opened)
    free = np.array([[door, 0.5], [door, 1.6], [door + 0.6 * hinge, 0.5]])  # the way in, and where the door turns
    share = width * depth / _FULL_AREA
    pieces = [[piece for piece in kind if random.random() < share] for kind in (WALL_SIDE, FREE_STANDING)]
    return shapes, Space(0.0, 0.0, 0.0, size, [*leaf, *furnished(random, size, free, *pieces)]), door


def _corridor(
    random: np.random.Generator, size: npt.NDArray[np.float64], doors: list[tuple[float, float]], top: float
) -> tuple[list[Shape], Space]:
    """Return ceiling, lamps, pictures and ends of a corridor, in the frame of the building, and the corridor."""
    length, breadth, height = size.tolist()
    shapes = [box(length / 2, 0.0, height, (length, breadth, top))]
    lamps = np.arange(1.2, length - 0.6, random.uniform(2.2, 2.8)).tolist()  # one like the other
    shapes += [box(x, 0.0, height - 0.07, (1.2, 0.2, 0.07)) for x in lamps]
    for x, yaw in ((0.0, -math.pi / 2), (length, math.pi / 2)):
        shapes += moved(wall_with_opening(random, breadth, height, doors=0.0), x, 0.0, yaw=yaw)
    for side in (1.0, -1.0):
        along = [-side * (x - length / 2) for x, y in doors if side * y > 0.0]  # a wall has its x to the right
        edges = [-length / 2, *sorted(along), length / 2]
        spans = [(begin + 0.6, end - 0.6) for begin, end in pairwise(edges)]
        shapes += moved(pictures(random, spans), length / 2, side * breadth / 2, yaw=math.pi if side > 0.0 else 0.0)
    free = [np.array([x, breadth / 2 + math.copysign(breadth / 4, y)]) for x, y in doors]
    furniture = furnished(random, size, free, HALLWAY, ())
    return shapes, Space(0.0, -breadth / 2, 0.0, size, furniture)
