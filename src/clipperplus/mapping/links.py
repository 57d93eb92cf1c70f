"""How two scans lie to each other, as a measurement of a pose graph."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from ..clouds.surfaces import OrientedSurface
from ..geometry.poses import adjoint
from ..registration.uncertainty import surface_information

__all__ = ["Link", "are_connected", "bent_covariance", "link_covariance"]

_Array: TypeAlias = npt.NDArray[np.float64]

_WARP = 0.5
"""Voxels by which a scan is bent at its corners, as fused ones are: no pair is known more precisely."""
_LEVER_POINTS = 300
"""By which is told how far a turn moves a scan."""


@dataclass(frozen=True, eq=False)
class Link:
    """How two scans lie to each other, and how precisely that is known."""

    source: int
    target: int
    motion: _Array
    covariance: _Array
    origin: Literal["registered", "alternative", "seen"]
    """An answer of a registration, an alternative, or what is seen where the map puts them."""
    overlap: float | None = None
    """Share of the source that lies on the target's surface, once that was looked at."""


def link_covariance(source: OrientedSurface, target: OrientedSurface, motion: _Array) -> _Array:
    """Return the covariance of a motion: what the surfaces leave open, and that scans are bent."""
    covariance = surface_information(source, target, motion).covariance()
    return bent_covariance(covariance, source.points, motion, _WARP * target.voxel_size)


def bent_covariance(covariance: _Array, points: _Array, motion: _Array, bend: float) -> _Array:
    """Return the covariance of a motion of points that are bent, by so many metres at their corners."""
    middle = np.eye(4)
    middle[:3, 3] = (motion[:3, :3] @ points.mean(axis=0) + motion[:3, 3]) if len(points) else 0.0
    some = points[:: max(1, len(points) // _LEVER_POINTS)]
    lever = max(float(np.sqrt(some.var(axis=0).sum())), bend) if len(points) else 1.0
    about = adjoint(middle[None])[0]
    return np.asarray(covariance + about @ np.diag([(bend / lever) ** 2] * 3 + [bend**2] * 3) @ about.T)


def are_connected(scans: npt.NDArray[np.int64], links: Iterable[Link]) -> bool:
    """Whether links connect all scans with each other."""
    around: dict[int, set[int]] = {int(scan): set() for scan in scans}
    for link in links:
        around[link.source].add(link.target)
        around[link.target].add(link.source)
    left = set(around)
    waiting = [left.pop()] if left else []
    while waiting:
        new = left & around[waiting.pop()]
        left -= new
        waiting += new
    return not left
