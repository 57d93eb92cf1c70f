"""From wide voxels to those that were asked for, where these are too many to be matched and judged.

An answer is good to a share of the voxels that it was found with. Narrower ones improve it, step by step: each finds
what is a few of its voxels away.
"""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ..clouds.prepared import NORMAL_RADIUS
from ..clouds.surfaces import Surface, fitted_normals
from ..geometry.motions import Motion
from .given import Given, VoxelSizes
from .verification import settle

__all__ = ["descend"]

_Array: TypeAlias = npt.NDArray[np.float64]

_FARTHEST_STEP = 4.0
"""Times by which voxels get narrower in a step, at most: what an answer is off by must be within reach of the next."""
_STEPS, _POINTS = 5, 20_000
"""Of ICP, and points of the source that these look at, at every width."""


def descend(given: tuple[Given, Given], motions: _Array, sizes: VoxelSizes, model: Motion, threads: int) -> _Array:
    """Refine motions that were found at one voxel size with narrower ones, down to the one that was asked for."""
    for width in _widths(sizes):
        (points, normals), there = (_oriented_means(cloud, width, threads) for cloud in given)
        chosen = slice(None, None, max(1, len(points) // _POINTS))
        some = np.ascontiguousarray(points[chosen]), np.ascontiguousarray(normals[chosen])
        target = Surface.of(*there, width)
        motions = settle(target, some, motions, _STEPS, threads, precisely=True, model=model)
    return motions


def _widths(sizes: VoxelSizes) -> list[float]:
    """Return the widths below the one that was matched, the widest first; none, where it is the one asked for."""
    times = sizes.matched / sizes.asked
    steps = math.ceil(math.log(times) / math.log(_FARTHEST_STEP))
    return [sizes.asked * times ** (1.0 - (k + 1) / steps) for k in range(steps - 1)] + [sizes.asked] * (steps > 0)


def _oriented_means(cloud: Given, voxel_size: float, threads: int) -> tuple[_Array, _Array]:
    points = cloud.means(voxel_size, threads)
    return points, fitted_normals(points, NORMAL_RADIUS * voxel_size, threads)
