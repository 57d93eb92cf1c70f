"""Turns about one known axis, and any translation: scans of which gravity is known."""

from __future__ import annotations

import numpy as np

from .base import Array, CoreModel, Motion, heights

__all__ = ["Yaw"]


class Yaw(Motion):
    """Turns about ``up``, which is the same direction in both frames, and shifts: four degrees of freedom."""

    name = "yaw"
    least = 2
    has_axis = True

    @property
    def core(self) -> CoreModel:
        """Tell the core of the axis."""
        return 1, (float(self.up[0]), float(self.up[1]), float(self.up[2])), False

    @property
    def turns(self) -> Array:
        """The axis."""
        return self.up[:, None]

    def offsets(self, source: Array, target: Array) -> Array:
        """Return how much higher matches are: two points keep the difference of their heights."""
        return np.outer(heights(target - source, self.up), (1.0, 0.0, 0.0))

    def mirrored(self, vectors: Array) -> Array:
        """Reflect in an upright plane: distances and heights stay."""
        across = np.eye(3)[np.abs(self.up).argmin()]
        across = across - (across @ self.up) * self.up
        across /= np.linalg.norm(across)
        return np.asarray(vectors - 2.0 * np.outer(vectors @ across, across))

    def signature(self, corners: Array) -> Array:
        """Return how far apart two points are across the axis, and along it."""
        lines = corners[:, 1] - corners[:, 0]
        along = heights(lines, self.up)
        return np.column_stack((np.linalg.norm(lines - along[:, None] * self.up, axis=1), along))

    def project(self, motions: Array) -> Array:
        """Keep the turn about the axis that is nearest to the turn."""
        blocks = motions[:, :3, :3]
        skew = np.stack(
            (
                blocks[:, 2, 1] - blocks[:, 1, 2],
                blocks[:, 0, 2] - blocks[:, 2, 0],
                blocks[:, 1, 0] - blocks[:, 0, 1],
            ),
            axis=1,
        )
        # The trace of Rᵀ Q over turns Q about the axis is a cosine, at most where the angle is this.
        along = np.einsum("i,kij,j->k", self.up, blocks, self.up)
        angles = np.arctan2(heights(skew, self.up), np.trace(blocks, 0, 1, 2) - along)
        x, y, z = self.up
        cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
        result = motions.copy()
        cosines, sines = np.cos(angles)[:, None, None], np.sin(angles)[:, None, None]
        result[:, :3, :3] = cosines * np.eye(3) + (1.0 - cosines) * np.outer(self.up, self.up) + sines * cross
        return result
