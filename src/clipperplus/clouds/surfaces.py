"""Surfaces: points with normals, whose nearest can be looked up, to lay another cloud on them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from .. import _core
from .neighbourhoods import find_neighbourhoods
from .normals import normals_within

__all__ = ["GRID_REACH", "OrientedPoints", "OrientedSurface", "Some", "Surface", "fitted_normals"]

_Array: TypeAlias = npt.NDArray[np.float64]

GRID_REACH = 2
"""Cells around a surface in which its nearest point can be looked up, and half a cell more."""


class OrientedPoints(Protocol):
    """Points of a surface, with their normals."""

    @property
    def points(self) -> _Array:
        """``(n, 3)``."""

    @property
    def normals(self) -> _Array:
        """``(n, 3)``, whatever their sign."""


class OrientedSurface(OrientedPoints, Protocol):
    """The same, whose nearest can be looked up: a prepared cloud is one."""

    @property
    def surface(self) -> _core.SurfaceGrid:
        """Where the nearest of them can be looked up."""

    @property
    def voxel_size(self) -> float:
        """Metres."""


class Some(NamedTuple):
    """Some points of a surface."""

    points: _Array
    normals: _Array

    @classmethod
    def of(cls, oriented: OrientedPoints, most: int) -> Some:
        """Return about so many, at most, evenly chosen."""
        every = max(1, len(oriented.points) // most)
        return cls(*(np.ascontiguousarray(array[::every]) for array in (oriented.points, oriented.normals)))


@dataclass(frozen=True, eq=False)
class Surface:
    """A surface, and no more than that."""

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
        return cls(points, normals, _core.SurfaceGrid(points, normals, cell * voxel_size, GRID_REACH), voxel_size)


def fitted_normals(points: _Array, radius: float, threads: int) -> _Array:
    """Return normals of voxel means, whatever their sign, fitted to the neighbours within a radius."""
    neighbours = find_neighbourhoods(points, radius, threads, "voxel_size")
    return normals_within(radius, neighbours, np.zeros(3), threads)[0]
