"""Motions in a plane, SE(2): a turn about its normal and a shift within it; of its points, or of those of space."""

from __future__ import annotations

import numpy as np

from .base import Array, CoreModel, heights
from .yaw import Yaw

__all__ = ["Planar"]


class Planar(Yaw):
    """Turns about ``up`` and shifts across it, so that heights stay: three degrees of freedom."""

    name = "planar"
    dimensions = (2, 3)

    @property
    def core(self) -> CoreModel:
        """Tell the core of the plane."""
        turns, up, _ = super().core
        return turns, up, True

    @property
    def shifts(self) -> Array:
        """Two directions of the plane."""
        _, _, axes = np.linalg.svd(self.up[None])
        return np.asarray(axes[1:].T)

    def strays(self, source: Array, target: Array) -> Array:
        """Return by how much heights differ."""
        return np.abs(heights(target - source, self.up))

    def signature(self, corners: Array) -> Array:
        """Return how far apart two points are, and the height of each."""
        apart = super().signature(corners)[:, 0]
        return np.column_stack((apart, heights(corners, self.up)))

    def project(self, motions: Array) -> Array:
        """Leave out what lifts, too."""
        result = super().project(motions)
        result[:, :3, 3] -= heights(motions[:, :3, 3], self.up)[:, None] * self.up
        return result
