"""Surfaces made for a map: scans as finer points, and several scans as one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from .. import _core
from ..clouds.cloud import RawCloud
from ..clouds.surfaces import OrientedSurface, Surface, fitted_normals
from ..clouds.voxels import voxel_means

__all__ = ["FinePoints", "aligned_by_icp"]

_Array: TypeAlias = npt.NDArray[np.float64]

_FINE_CELL = 1.5
"""Voxels: the width of these for finer points. They take most of the memory, by the third power of this."""


@dataclass(frozen=True, eq=False)
class FinePoints:
    """What takes the longest of the surface of a cloud, in a fifth of its memory: the rest is made as it is needed."""

    origin: _Array
    offsets: npt.NDArray[np.float32]
    """From there, so that clouds far from the origin of their frame lose nothing."""
    normals: npt.NDArray[np.float32]
    voxel_size: float

    @classmethod
    def of_cloud(cls, cloud: RawCloud, voxel_size: float, normal_radius: float) -> FinePoints:
        """Return voxel means of a cloud, their normals fitted to neighbours within so many voxels."""
        points, _ = voxel_means(cloud, voxel_size, 1)
        normals = fitted_normals(points, normal_radius * voxel_size, 1)
        origin = points[0] if len(points) else np.zeros(3)
        return cls(origin, (points - origin).astype(np.float32), normals.astype(np.float32), voxel_size)

    def surface(self) -> Surface:
        """Return the surface whose points these are."""
        points, normals = self.origin + self.offsets, self.normals.astype(np.float64)
        return Surface.of(points, normals, self.voxel_size, _FINE_CELL)


def aligned_by_icp(
    source: OrientedSurface,
    target: OrientedSurface,
    motion: _Array,
    *,
    reach: float,
    cosine: float,
    steps: int,
    most: int | None = None,
    masses: _Array | None = None,
) -> _Array:
    """Improve a motion by steps of ICP, looking at no more than so many points, and within so many voxels.

    ``masses`` say how much each point of the source counts; None: 1 each.
    """
    every = 1 if most is None else max(1, len(source.points) // most)
    points, normals = (np.ascontiguousarray(array[::every]) for array in (source.points, source.normals))
    some = None if masses is None else np.ascontiguousarray(masses[::every])
    distance, start = reach * target.voxel_size, np.ascontiguousarray(motion[None])
    (aligned,) = _core.refine_motions(target.surface, points, normals, start, distance, cosine, steps, True, 1, some)
    return np.asarray(aligned)
