"""From wide voxels to those that were asked for, where these are too many to be matched and judged.

An answer is good to a share of the voxels that it was found with. Narrower ones improve it, step by step, each finding
what is a few of its voxels away, until they hold so few points, or so much noise, that their normals tell less than
those of the wider ones: then residuals leave the motion less well determined, and the last answer stands.
"""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ..clouds.prepared import NORMAL_RADIUS
from ..clouds.surfaces import OrientedPoints, OrientedSurface, Some, Surface, fitted_normals
from ..geometry.motions import Motion
from .given import Given, VoxelSizes
from .uncertainty import surface_information
from .verification import settle

__all__ = ["descend"]

_Array: TypeAlias = npt.NDArray[np.float64]

_FARTHEST_STEP = 2.0
"""Times by which voxels get narrower in a step, at most: what an answer is off by must be within reach of the next."""
_ROUNDING = 1e-9
"""Of a number of steps: twice as wide, by roots of two, may be a little more."""
_STEPS, _POINTS = 10, 100_000
"""Of ICP, and points of the source that these look at, at every width."""


def descend(
    given: tuple[Given, Given],
    judged: tuple[OrientedPoints, OrientedSurface],
    motions: _Array,
    sizes: VoxelSizes,
    model: Motion,
    threads: int,
) -> _Array:
    """Refine motions that wide voxels of two clouds settled on with narrower ones, while these say more.

    ``judged`` are the clouds as they were matched.
    """
    motions = motions.copy()
    deviations = [surface_information(*judged, motion, model=model).deviation for motion in motions]
    going = list(range(len(motions)))
    for width in _widths(sizes):
        if not going:
            break
        here, there = (_surface(cloud, width, threads) for cloud in given)
        some = Some.of(here, _POINTS)
        settled = settle(some, there, motions[going], _STEPS, threads, precisely=True, model=model)
        found = [surface_information(some, there, motion, model=model).deviation for motion in settled]
        better = [k for k, number in enumerate(going) if found[k] < deviations[number]]
        for k in better:
            motions[going[k]], deviations[going[k]] = settled[k], found[k]
        going = [going[k] for k in better]
    return motions


def _widths(sizes: VoxelSizes) -> list[float]:
    """Return the widths below the one that was matched, the widest first; none, where it is the one asked for."""
    times = sizes.matched / sizes.asked
    steps = math.ceil(math.log(times) / math.log(_FARTHEST_STEP) - _ROUNDING)
    return [sizes.asked * times ** (1.0 - (k + 1) / steps) for k in range(steps - 1)] + [sizes.asked] * (steps > 0)


def _surface(cloud: Given, voxel_size: float, threads: int) -> Surface:
    points = cloud.means(voxel_size, threads)
    return Surface.of(points, fitted_normals(points, NORMAL_RADIUS * voxel_size, threads), voxel_size)
