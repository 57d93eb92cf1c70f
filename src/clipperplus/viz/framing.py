"""From where to look at a cloud of which nothing is known."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = ["UP", "Frame", "axis_name", "frame_of", "likely_up", "middle_and_size", "round_origin"]

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


class Frame(NamedTuple):
    """Unit vectors along axes of the coordinates, to the right, away from the eye, and up: a right-handed frame."""

    right: _Array
    depth: _Array
    up: _Array


def middle_and_size(points: _Array) -> tuple[_Array, _Array]:
    """Return the middle and the extents of a cloud along the axes, without its strays."""
    if not len(points):
        return np.zeros(3), np.zeros(3)
    low, high = np.quantile(points, (_STRAYS, 1.0 - _STRAYS), axis=0)
    return 0.5 * (low + high), high - low


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
