"""Surfaces made for a map: scans as finer points, and several scans as one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from .. import _core
from ..clouds.cloud import RawCloud
from ..clouds.neighbourhoods import find_neighbourhoods
from ..clouds.normals import normals_within
from ..clouds.voxels import voxel_means
from ..registration.uncertainty import OrientedSurface

__all__ = ["FinePoints", "Surface", "aligned_by_icp"]

_Array: TypeAlias = npt.NDArray[np.float64]

_GRID_REACH = 2
"""Cells around a surface in which its nearest point can be looked up."""
_FINE_CELL = 1.5
"""Voxels: the width of these for finer points. They take most of the memory, by the third power of this."""


@dataclass(frozen=True, eq=False)
class Surface:
    """Points with normals, whose nearest can be looked up."""

    points: _Array
    normals: _Array
    surface: _core.SurfaceGrid
    voxel_size: float

    @property
    def nbytes(self) -> int:
        """Memory, in bytes."""
        return self.points.nbytes + self.normals.nbytes + self.surface.nbytes

    @classmethod
    def of(cls, points: _Array, normals: _Array, voxel_size: float, cell: float = 1.0) -> Surface:
        """Return the surface of some points; nearest ones are looked up in cells of so many voxels."""
        points, normals = np.ascontiguousarray(points), np.ascontiguousarray(normals)
        return cls(points, normals, _core.SurfaceGrid(points, normals, cell * voxel_size, _GRID_REACH), voxel_size)

    @classmethod
    def of_cloud(cls, cloud: RawCloud, voxel_size: float, normal_radius: float) -> Surface:
        """Return that of a cloud at some voxel size, its normals fitted to neighbours within so many voxels."""
        return FinePoints.of_cloud(cloud, voxel_size, normal_radius).surface()


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
        neighbours = find_neighbourhoods(points, normal_radius * voxel_size, 1, "voxel_size")
        normals, _ = normals_within(normal_radius * voxel_size, neighbours, np.zeros(3), 1)
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
