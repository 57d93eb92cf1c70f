"""Which points are near each other: found once for normals and features."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _core
from .._validation import as_integer, as_length
from .._words import shown
from ..errors import OptionError
from .cloud import as_finite_points
from .voxels import too_small

__all__ = ["Neighbourhoods", "find_neighbourhoods", "known_or_found"]


class Neighbourhoods:
    """The points within a radius of each point."""

    def __init__(self, points: Any, *, radius: float, threads: int = 1) -> None:
        """Find them; ``radius`` is in metres, the points must be finite."""
        finite = as_finite_points("points", points)
        radius = as_length("radius", radius)
        self._find(finite, radius, as_integer("threads", threads, 1, 1024), f"radius: {radius}")

    def _find(self, points: npt.NDArray[np.float64], radius: float, threads: int, told: str) -> None:
        self.points = points
        self.radius = radius
        try:
            self._native = _core.find_neighbours(points, radius, threads)
        except ValueError as reason:
            if "cells" in str(reason):
                extent, farthest = float(np.ptp(points, axis=0).max()), float(np.abs(points).max())
                raise too_small("radius", radius, extent, farthest) from None
            raise OptionError(f"{told} gives more than 2²⁸ neighbours; expected less") from None

    def __len__(self) -> int:
        return len(self.points)

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what finds them again: those of the core are not pickled."""
        return find_neighbourhoods, (self.points, self.radius, 1, f"radius: {self.radius}")

    def of(self, point: int) -> npt.NDArray[np.int32]:
        """Return the numbers of the points near one, itself not among them."""
        return self._native.of(as_integer("point", point, 0, len(self.points) - 1))


def find_neighbourhoods(points: npt.NDArray[np.float64], radius: float, threads: int, told: str) -> Neighbourhoods:
    """Find the same for arguments that were checked; ``told`` is what the caller said, to be named if it is wrong."""
    found = object.__new__(Neighbourhoods)
    found._find(points, radius, threads, told)
    return found


def known_or_found(points: Any, radius: float, known: Neighbourhoods | None, threads: int) -> Neighbourhoods:
    """Return the neighbours of points within at least a radius: those that are known, if they are those, or found."""
    if known is None:
        return Neighbourhoods(points, radius=radius, threads=threads)
    if not isinstance(known, Neighbourhoods):
        raise OptionError(f"neighbours: expected clipperplus.Neighbourhoods, got {shown(known)}")
    if not np.array_equal(as_finite_points("points", points), known.points):
        raise OptionError("neighbours: expected those of the points, got those of others")
    if known.radius < radius:
        raise OptionError(f"neighbours: expected those within at least {radius}, got those within {known.radius}")
    return known
