"""How well a transform is determined: covariance, and motions that the data say nothing about.

Small motions are ξ = (ω, v), rotation vector first: x ↦ x + ω × (x - c) + v, about a centre c.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .. import _core
from ..clouds.prepared import PreparedCloud
from ..geometry.poses import adjoint
from .verification import AGREEING_COSINE

__all__ = ["Information", "points_information", "surface_information"]

_Array = npt.NDArray[np.float64]


_WEAK = 0.003
"""The square of a share: a motion that moves points by less than 5 % of itself in the directions that are compared is
not determined. The noisy normals of a plane seem to resist a shift along it by as much."""


@dataclass(frozen=True, eq=False)
class Information:
    """What residuals say about a small motion about a centre: their sum of squares grows by ξᵀ H ξ."""

    matrix: _Array
    """``(6, 6)``: H."""
    centre: _Array
    """``(3,)``."""
    count: float
    """Pairs of points."""
    lever: float
    """Metres: how far a turn by 1 rad moves the points, root mean square, over all axes."""
    variance: float
    """Of a residual, in m²."""
    least: float
    """Share of a motion that must be seen, squared, for it to be determined at all."""

    def weak_directions(self) -> _Array:
        """Return the unit motions ``(k, 6)`` that hardly move the points in the directions that are compared.

        Turns count by how far they move points on average.
        """
        shares, vectors = self._shares()
        weak = vectors[:, shares < self.least].T * self._scale()
        return np.asarray(weak / np.linalg.norm(weak, axis=1)[:, None])

    def weak_turns(self, least: float) -> _Array:
        """Return the unit turns ``(k, 6)`` about axes from which the points are closer than ``least`` metres.

        For points that are compared in all directions: shifts and turns about their centre are then independent.
        """
        values, vectors = np.linalg.eigh(self.matrix[:3, :3] / max(1.0, self.count))
        axes = vectors[:, values < least**2].T
        return np.concatenate((axes, np.zeros_like(axes)), axis=1)

    def covariance(self) -> _Array:
        """Return the covariance of the motion, about the origin of the frame.

        What is not determined gets the variance of a turn or a shift that nothing is known about.
        """
        shares, vectors = self._shares()
        unknown = (math.pi * (self.lever or 1.0)) ** 2
        variances = np.full(6, unknown)
        known = shares >= self.least
        variances[known] = np.minimum(self.variance / (shares[known] * self.count), unknown)
        about_centre = (vectors * variances) @ vectors.T * np.outer(self._scale(), self._scale())
        move = np.eye(4)
        move[:3, 3] = self.centre
        carry = adjoint(move)
        return np.asarray(carry @ about_centre @ carry.T)

    def _shares(self) -> tuple[_Array, _Array]:
        """Return how much of each principal motion is seen, from 0 to about 1, and the motions as columns."""
        scale = self._scale()
        values, vectors = np.linalg.eigh(self.matrix * np.outer(scale, scale) / max(1.0, self.count))
        return values, vectors

    def _scale(self) -> _Array:
        return np.array([1.0 / (self.lever or 1.0)] * 3 + [1.0] * 3)


def points_information(moved: _Array, residuals: _Array) -> Information:
    """Return that of matched points, which are compared in all three directions.

    ``residuals`` are the distances that are left; their variance is an estimate with three numbers a point and six
    unknowns.
    """
    centre = moved.mean(axis=0)
    x, y, z = (moved - centre).T
    zero = np.zeros_like(x)
    arms = np.stack((zero, -z, y, z, zero, -x, -y, x, zero), axis=-1).reshape(-1, 3, 3)
    rows = np.concatenate((-arms, np.broadcast_to(np.eye(3), arms.shape)), axis=2)
    variance = float((residuals**2).sum()) / max(1, 3 * len(moved) - 6)
    lever = math.sqrt(2.0 / 3.0 * float((x**2 + y**2 + z**2).mean()))
    return Information(np.einsum("kai,kaj->ij", rows, rows), centre, len(moved), lever, variance, 1e-12)


def surface_information(source: PreparedCloud, target: PreparedCloud, motion: _Array) -> Information:
    """Return that of a cloud on another's surface, which is compared along the normals only.

    Residuals of neighbouring points are alike, because the surfaces are sampled and their normals fitted together. So
    one in ten counts as a measurement of its own; with that, the errors on simulated scans are what they should be.
    """
    voxel = target.voxel_size
    matrix, centre, count, squares, arms = _core.measure_fit(
        target.surface, source.points, source.normals, np.ascontiguousarray(motion[None]), voxel, AGREEING_COSINE
    )
    lever = math.sqrt(2.0 / 3.0 * arms / max(1.0, count))
    return Information(matrix, centre, count, lever, 10.0 * squares / max(1.0, count), _WEAK)
