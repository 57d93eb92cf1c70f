"""From where to look at a cloud of which nothing is known."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = [
    "UP",
    "Frame",
    "axis_name",
    "facing",
    "frame_of",
    "level_frame",
    "likely_up",
    "middle_and_radius",
    "middle_and_size",
    "round_origin",
]

_Array = npt.NDArray[np.float64]

UP = {
    "+z": (0.0, 0.0, 1.0),
    "-y": (0.0, -1.0, 0.0),
    "+y": (0.0, 1.0, 0.0),
    "-z": (0.0, 0.0, -1.0),
    "+x": (1.0, 0.0, 0.0),
    "-x": (-1.0, 0.0, 0.0),
}
"""Directions that can be up, by name."""
_STRAYS = 0.005
"""Share of the points that may lie outside of what counts, at each end of each axis."""
_FAR = 100.0
"""How many times its extent a cloud may be from the origin for it to be drawn in its own coordinates."""
_FLAT = (0.8, 0.95, 0.95)
"""Cosine of the angle to up within which a surface is a floor or a ceiling, the better up is known."""
_STEEP = 0.2
"""The same of walls, at most."""


class Frame(NamedTuple):
    """Unit vectors to the right, away from the eye, and up: a right-handed frame."""

    right: _Array
    depth: _Array
    up: _Array


def middle_and_size(points: _Array) -> tuple[_Array, _Array]:
    """Return the middle and the extents of a cloud along the axes, without its strays."""
    if not len(points):
        return np.zeros(3), np.zeros(3)
    low, high = np.quantile(points, (_STRAYS, 1.0 - _STRAYS), axis=0)
    return 0.5 * (low + high), high - low


def middle_and_radius(points: _Array) -> tuple[_Array, float]:
    """Return the middle of a cloud and how far it reaches."""
    middle, size = middle_and_size(points)
    return middle, float(np.linalg.norm(size)) / 2.0 or 1.0


def likely_up(points: _Array) -> str:
    """Return which of the directions ``UP`` is up: -y for what a camera saw, which looks along z, and else z."""
    ahead = (np.abs(points[:, :2]) < 2.0 * points[:, 2:]).all(axis=1)
    return "-y" if len(points) and ahead.mean() > 0.99 else "+z"


def frame_of(points: _Array) -> Frame:
    """Return how to hold a cloud: as a camera saw it, or z up and the longest extent to the right."""
    up = np.array(UP[likely_up(points)])
    _, size = middle_and_size(points)
    longest = 0 if up[2] == 0.0 else int(size[:2].argmax())
    right = np.eye(3)[longest]
    return Frame(right=right, depth=np.cross(up, right), up=up)


def facing(up: _Array, ahead: _Array) -> Frame:
    """Return how to look along a direction, levelled; along any if that is up or down."""
    level = ahead - (ahead @ up) * up
    if np.linalg.norm(level) < 1e-6 * (1.0 + np.linalg.norm(ahead)):
        level = np.cross(up, np.eye(3)[np.abs(up).argmin()])
    depth = level / np.linalg.norm(level)
    return Frame(right=np.cross(depth, up), depth=depth, up=up)


def level_frame(points: _Array, normals: _Array, up: _Array) -> Frame:
    """Return how to hold a cloud of which it is roughly known what is up: floors level, and walls along the frame.

    ``normals`` are any of its surfaces'. The longest extent goes to the right.
    """
    for least in _FLAT:
        heights = normals @ up
        floors = normals[np.abs(heights) > least] * np.sign(heights[np.abs(heights) > least])[:, None]
        if len(floors):
            up = floors.mean(axis=0) / np.linalg.norm(floors.mean(axis=0))
    some = facing(up, np.eye(3)[np.abs(up).argmin()])
    walls = normals[np.abs(normals @ up) < _STEEP]
    # Of directions a quarter of a turn apart the fourth powers are the same.
    turns = (walls @ some.right + 1j * (walls @ some.depth)) ** 4
    angle = float(np.angle(turns.sum())) / 4.0 if len(turns) else 0.0
    one = np.cos(angle) * some.right + np.sin(angle) * some.depth
    other = np.cross(up, one)
    if np.ptp(points @ other) > np.ptp(points @ one) if len(points) else False:
        one = other
    right = one if one[np.abs(one).argmax()] > 0.0 else -one
    return Frame(right=right, depth=np.cross(up, right), up=up)


def axis_name(direction: _Array) -> str:
    """Return x, y or z, with a minus where the direction is opposite."""
    axis = int(np.abs(direction).argmax())
    return ("" if direction[axis] > 0.0 else "−") + "xyz"[axis]


def round_origin(points: _Array) -> _Array:
    """Return the place that is drawn as zero: the origin, or a round one close by where that is far away.

    Browsers draw in single precision, which cannot tell the points of a room in the coordinates of a country apart.
    """
    middle, size = middle_and_size(points)
    extent = float(size.max())
    unit = 10.0 ** np.ceil(np.log10(extent)) if extent > 0.0 else 1.0
    return np.where(np.abs(middle) > _FAR * extent, np.round(middle / unit) * unit, 0.0)
