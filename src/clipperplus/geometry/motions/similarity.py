"""Rigid motions and a scale: clouds in different units, or of unknown size.

S. Umeyama, "Least-squares estimation of transformation parameters between two point patterns", IEEE PAMI 1991: the turn
is that of the rigid fit, whatever the scale.
"""

from __future__ import annotations

import numpy as np

from .base import Array, Motion

__all__ = ["Similarity", "scale_of"]


class Similarity(Motion):
    """A turn, a translation and a scale: seven degrees of freedom. Lengths are compared in the target's unit."""

    name = "similarity"
    has_scale = True

    def fit(self, source: Array, target: Array, weights: Array) -> Array:
        """Fit the turn, then the scale; 1 where points at one place say nothing about it."""
        motion = super().fit(source, target, weights)
        shares = weights / weights.sum()
        with np.errstate(over="ignore", invalid="ignore"):
            middle, other = shares @ source, shares @ target
            arms, others = (source - middle) @ motion[:3, :3].T, target - other
            squares = float(shares @ (arms**2).sum(axis=1))
            scale = float(shares @ (arms * others).sum(axis=1)) / squares if 0.0 < squares < np.inf else 1.0
        result = np.eye(4)
        # Nothing is fitted best by nothing, but that is no motion.
        result[:3, :3] = motion[:3, :3] * (scale if 0.0 < scale < np.inf else 1.0)
        result[:3, 3] = other - result[:3, :3] @ middle
        return result


def scale_of(motion: Array) -> float:
    """Return by how much a ``(4, 4)`` similarity enlarges."""
    return float(np.cbrt(np.linalg.det(motion[:3, :3])))
