"""From where to look at a cloud of which nothing is known: its least extent is taken for its height."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = ["Frame", "axis_name", "frame_of", "middle_and_size"]

_Array = npt.NDArray[np.float64]

_STRAYS = 0.005
"""Share of the points that may lie outside of what counts, at each end of each axis."""


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


def frame_of(points: _Array) -> Frame:
    """Return how to hold a cloud: the longest extent to the right, the least one upright.

    Robots and lidars have z up; where the least extent is that of y, the frame is a camera's, whose y points down.
    """
    _, size = middle_and_size(points)
    vertical = int(size[[2, 1, 0]].argmin())  # the first of equal ones: z, then y
    up = (np.array([0.0, 0.0, 1.0]), np.array([0.0, -1.0, 0.0]), np.array([1.0, 0.0, 0.0]))[vertical]
    right = np.eye(3)[int(np.where(np.abs(up) > 0.0, -1.0, size).argmax())]
    return Frame(right=right, depth=np.cross(up, right), up=up)


def axis_name(direction: _Array) -> str:
    """Return x, y or z, with a minus where the direction is opposite."""
    axis = int(np.abs(direction).argmax())
    return ("" if direction[axis] > 0.0 else "−") + "xyz"[axis]
