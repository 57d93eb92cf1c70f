"""What comes near the other surface: how much of it lies there, and whether both were seen from one place.

Of two scans of one place, most of what comes near the other surface lies on it; of different places, walls may agree,
but what stands before them does not. And the points of a single scan thin out with the distance from the sensor: where
two scans are equally dense everywhere, an answer lays one sensor on the other, wherever that was.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ..clouds.prepared import PreparedCloud
from ..geometry.poses import inverse
from .verification import AGREEING_COSINE, sample

__all__ = ["Nearby", "look_nearby"]

_Array: TypeAlias = npt.NDArray[np.float64]

_POINTS = 600
"""Of each cloud."""
_ASIDE = 2.0 * np.concatenate((np.eye(3), -np.eye(3)))
"""Voxels from a place where a surface is looked up, too, if there is none: nearby is within about four voxels."""
_AROUND = np.array(list(itertools.product((-1.0, 0.0, 1.0), repeat=3)))
"""Voxels around a place over which a density is averaged."""
_LEAST_SPREAD = 0.5
"""Standard deviation of the logarithm of the densities where a scan thins out; that of fused scans is below."""
_LEAST_POINTS = 50
"""On the other surface, without which nothing is said about densities."""


@dataclass(frozen=True)
class Nearby:
    """What came of looking at what comes near the other surface."""

    overlap: float
    """Share of it that lies on that surface, along it; the mean of both ways."""
    densities: float | None
    """How alike the densities of points are where the surfaces agree, a correlation; None where they hardly vary."""


def look_nearby(source: PreparedCloud, target: PreparedCloud, motion: _Array) -> Nearby:
    """Lay each cloud on the other, and look at what comes near."""
    ways = _Laid.of(source, target, motion), _Laid.of(target, source, inverse(motion))
    return Nearby(float(np.mean([way.overlap for way in ways])), ways[0].alike_densities())


@dataclass(frozen=True, eq=False)
class _Laid:
    """Points of a cloud, laid on another."""

    cloud: PreparedCloud
    other: PreparedCloud
    points: _Array
    places: _Array
    """The points, moved."""
    on_surface: npt.NDArray[np.bool_]
    nearby: npt.NDArray[np.bool_]

    @classmethod
    def of(cls, cloud: PreparedCloud, other: PreparedCloud, motion: _Array) -> _Laid:
        points, normals, _ = sample(cloud, _POINTS)
        places, turned = points @ motion[:3, :3].T + motion[:3, 3], normals @ motion[:3, :3].T
        numbers, voxel = other.surface.near(places), other.voxel_size
        nearby = numbers >= 0
        on_surface = np.zeros(len(points), dtype=np.bool_)
        found = np.flatnonzero(nearby)
        apart = np.linalg.norm(other.points[numbers[found]] - places[found], axis=1)
        cosines = np.abs(np.einsum("ij,ij->i", turned[found], other.normals[numbers[found]]))
        on_surface[found] = (apart <= voxel) & (cosines >= AGREEING_COSINE)
        rest = np.flatnonzero(~nearby)
        aside = (places[rest][:, None] + voxel * _ASIDE).reshape(-1, 3)
        nearby[rest] = (other.surface.near(aside).reshape(-1, len(_ASIDE)) >= 0).any(axis=1)
        return cls(cloud, other, points, places, on_surface, nearby)

    @property
    def overlap(self) -> float:
        """Share of what is nearby that lies on the other surface."""
        return float(self.on_surface.sum() / max(1, self.nearby.sum()))

    def alike_densities(self) -> float | None:
        """Return the correlation between the densities of both clouds where they agree."""
        if self.on_surface.sum() < _LEAST_POINTS:
            return None
        here = _densities(self.cloud, self.points[self.on_surface])
        if here.std() < _LEAST_SPREAD:
            return None
        there = _densities(self.other, self.places[self.on_surface])
        return float(np.corrcoef(here, there)[0, 1]) if there.std() >= _LEAST_SPREAD else None


def _densities(cloud: PreparedCloud, places: _Array) -> _Array:
    """Return logarithms of how many points there are to a voxel around places on a surface."""
    numbers = cloud.surface.near((places[:, None] + cloud.voxel_size * _AROUND).reshape(-1, 3))
    numbers = numbers.reshape(-1, len(_AROUND))
    found = numbers >= 0
    counts = np.where(found, cloud.counts[numbers], 0).sum(axis=1) / np.maximum(1, found.sum(axis=1))
    return np.asarray(np.log(np.maximum(counts, 1.0)))
