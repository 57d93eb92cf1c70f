"""How much less precise points are that were seen from afar, as the scans of a map show it.

The depth of a camera that triangulates is off by an error that grows with the square of the range; that of a laser
hardly grows, but its spots do. Where two scans lie on each other, the distances between their surfaces tell which it
is, and points then count by the inverse of their variance.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ..clouds.surfaces import Surface

__all__ = ["masses_by_range", "range_exponent", "residuals_by_range"]

_Array: TypeAlias = npt.NDArray[np.float64]

_POINTS = 1000
"""Of a pair of scans, by which is told how far their surfaces are apart."""
_BINS, _LEAST_RESIDUALS = 10, 200
"""Ranges at which that is compared, each with as many points; and how many there must be, at least."""
_LEAST_SPREAD = 1.3
"""Times by which the farthest of these ranges must exceed the nearest."""
_MOST = 2.0
"""That of cameras that triangulate."""


def residuals_by_range(
    source: Surface, target: Surface, motion: _Array, viewpoints: tuple[_Array, _Array], reach: float, cosine: float
) -> _Array:
    """Return of some points of a scan on another the range, and how far they are from its surface, ``(n, 2)``."""
    every = max(1, len(source.points) // _POINTS)
    points, normals = source.points[::every], source.normals[::every] @ motion[:3, :3].T
    places = points @ motion[:3, :3].T + motion[:3, 3]
    found = target.surface.near(places)
    gaps, there = places - target.points[found], target.normals[found]
    along = np.abs(np.einsum("ij,ij->i", gaps, there))
    lies = (found >= 0) & (np.einsum("ij,ij->i", gaps, gaps) <= (reach * target.voxel_size) ** 2)
    lies &= np.abs(np.einsum("ij,ij->i", normals, there)) >= cosine
    squares = _squared_ranges(points, places, viewpoints)
    return np.asarray(np.column_stack((np.sqrt(squares.mean(axis=0)), along))[lies])


def range_exponent(residuals: Iterable[_Array]) -> float:
    """Return the power of the range with which the deviation of points grows, from 0 to 2; 0 if it cannot be told."""
    known = list(residuals)
    ranges, along = np.concatenate(known).T if known else np.empty((2, 0))
    if len(ranges) < _LEAST_RESIDUALS:
        return 0.0
    bins = np.array_split(np.argsort(ranges, kind="stable"), _BINS)
    places = np.array([np.median(ranges[some]) for some in bins])
    sizes = np.array([np.median(along[some]) for some in bins])
    if places[0] <= 0.0 or places[-1] < _LEAST_SPREAD * places[0] or (sizes <= 0.0).any():
        return 0.0
    slope = np.polyfit(np.log(places), np.log(sizes), 1)[0]
    return float(min(max(slope, 0.0), _MOST))


def masses_by_range(points: _Array, motion: _Array, viewpoints: tuple[_Array, _Array], exponent: float) -> _Array:
    """Return how much points count, 1 on average, that are moved onto what was seen from another place."""
    places = points @ motion[:3, :3].T + motion[:3, 3]
    variances = (_squared_ranges(points, places, viewpoints) ** exponent).sum(axis=0)
    if not len(variances):
        return np.ones(0)
    masses = 1.0 / np.maximum(variances, max(1e-6 * float(variances.mean()), 1e-300))
    return np.asarray(masses / masses.mean())


def _squared_ranges(points: _Array, places: _Array, viewpoints: tuple[_Array, _Array]) -> _Array:
    """Return from how far points were seen by the one sensor, and their places by the other, squared, ``(2, n)``."""
    both = points - viewpoints[0], places - viewpoints[1]
    return np.array([np.einsum("ij,ij->i", arms, arms) for arms in both])
