"""What a motion that is less than rigid keeps of two points: more than their distance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .._validation import as_points
from ..errors import LandmarkError, OptionError
from ..geometry.motions import Motion, as_motion
from .base import Pairs, Vector
from .points import Distance

__all__ = ["Under", "in_space", "points_under"]


@dataclass(frozen=True)
class Under:
    """Two points keep their distance, and what else a motion does not change, each to within epsilon.

    Under ``"yaw"`` that is the difference of their heights, under ``"planar"`` the height of each as well, and under
    ``"translation"`` the vector between them. Landmarks are ``(n, 3)`` coordinates, of ``"planar"`` also ``(n, 2)``, or
    anything with such ``.points``.
    """

    motion: str = "yaw"
    """As in :func:`clipperplus.solve`; not ``"similarity"``, which keeps nothing of two points."""
    up: npt.ArrayLike | None = None
    """The direction that ``"yaw"`` and ``"planar"`` keep, three numbers; None: z."""

    def __post_init__(self) -> None:
        model = as_motion(self.motion, self.up)
        if model.has_scale:
            raise OptionError(f"motion: expected one that keeps something of two points, got {self.motion!r}")
        if self.up is not None:
            object.__setattr__(self, "up", tuple(model.up.tolist()))  # frozen, but this is construction

    @property
    def model(self) -> Motion:
        """The motions that there may be."""
        return as_motion(self.motion, self.up)

    def landmarks(self, name: str, given: Any) -> Vector:
        """Check the points."""
        return points_under(self.model, name, given)

    def residuals(self, source: Vector, target: Vector, first: Pairs, second: Pairs, epsilon: Vector) -> Vector:
        """Return the largest difference, by epsilon."""
        model, result = self.model, Distance().residuals(source, target, first, second, epsilon)
        sides = [(in_space(source[side.source]), in_space(target[side.target])) for side in (first, second)]
        here, there = (model.offsets(*matched) for matched in sides)
        if here is not None and there is not None:
            result = np.maximum(result, np.linalg.norm(here - there, axis=1) / epsilon)
        for stray in (model.strays(*matched) for matched in sides):
            if stray is not None:
                result = np.maximum(result, stray / epsilon)
        return np.asarray(result)


def points_under(model: Motion, name: str, given: Any) -> Vector:
    """Return points that a motion can move, checked."""
    points = as_points(name, given, model.dimensions)
    if points.shape[1] == 2 and abs(model.up[2]) < 1.0:
        raise LandmarkError(f"{name}: points of the plane are turned about z; expected points of space for another up")
    return points


def in_space(points: Vector) -> Vector:
    """Return ``(n, 3)`` points; those of the plane at height 0."""
    return points if points.shape[1] == 3 else np.pad(points, ((0, 0), (0, 1)))
