"""Translations alone: scans whose orientation is known."""

from __future__ import annotations

import numpy as np

from .base import UP, Array, CoreModel, Motion

__all__ = ["Translation"]


class Translation(Motion):
    """Shifts, no turns: three degrees of freedom, and a single match determines them."""

    name = "translation"
    least = 1
    can_mirror = False

    @property
    def core(self) -> CoreModel:
        """Tell the core that there are no turns."""
        return 0, UP, False

    @property
    def turns(self) -> Array:
        """None."""
        return np.empty((3, 0))

    def offsets(self, source: Array, target: Array) -> Array:
        """Return the shifts: two points keep the whole vector between them."""
        return target - source

    def mirrored(self, vectors: Array) -> Array:
        """Return them as they are: no other set of points has the same vectors between them."""
        return vectors

    def signature(self, corners: Array) -> Array:
        """Return nothing: a point can be moved anywhere."""
        return np.empty((len(corners), 0))

    def project(self, motions: Array) -> Array:
        """Leave out turns."""
        result = motions.copy()
        result[:, :3, :3] = np.eye(3)
        return result
