"""How well a transform is determined: covariance, and motions that the data say nothing about.

Small motions are ξ = (ω, v), rotation vector first: x ↦ x + ω × (x - c) + v, about a centre c.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from .. import _core
from ..clouds.surfaces import OrientedPoints, OrientedSurface
from ..geometry.motions import RIGID, Motion
from ..geometry.poses import adjoint
from .robust_fit import LARGEST, robust_weights, slopes
from .verification import AGREEING_COSINE

__all__ = ["PRIOR_NOISE", "Information", "points_information", "surface_information", "weak_turns"]

_Array = npt.NDArray[np.float64]


_WEAK = 0.003
"""The square of a share: a motion that moves points by less than 5 % of itself in the directions that are compared is
not determined. The noisy normals of a plane seem to resist a shift along it by as much."""
_USELESS_TURN = 0.25
"""Radians: a turn whose standard deviation is larger is not determined."""

# Of matched points; fitted to real matches of FPFH, indoors and of lidars, at half to four times the usual epsilon.
PRIOR_NOISE = 1.0 / (3.0 * math.sqrt(2.0))
"""Times epsilon: the standard deviation, along an axis, of an error of which the distance of two such points has three
deviations within epsilon, …"""
_PRIOR_COUNT = 2.0
"""… and how many measurements this is worth: what three points say about their noise is less."""
_NEIGHBOURS = 8.0
"""Times epsilon: the width of cells whose points may share their errors."""
_PRIOR_SHARE = 2.0 / 3.0
"""Of the variance of their errors: what neighbours are supposed to have in common, …"""
_PRIOR_DEGREES = 4.0
"""… and how many measurements this is worth."""
_USUAL_NOISE = 0.22
"""Times epsilon: if errors are larger, epsilon cuts them off, and what agrees has been chosen to be off together: …"""
_COMMON = 2.5
"""… so many times the excess is an error of all, which no number of associations makes smaller."""
_UNKNOWN_SCALE = 10.0
"""Of a scale that nothing is known about: by as much it may be off."""
_LEAST_SLOPE = 0.2
"""Below it the associations around the transform are no more than chance would bring."""


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
    noise: _Array | None = None
    """``(6, 6)``, the covariance of half the gradient of the sum at the true motion, by the variance; None: H, as it is
    where residuals are independent."""
    model: Motion = RIGID
    """The motions that there may be; others have no variance."""
    scale_variance: float = 0.0
    """Of the logarithm of the scale about the centre, where there is one."""

    def weak_directions(self, least: float | None = None) -> _Array:
        """Return the unit motions ``(k, 6)`` that hardly move the points in the directions that are compared.

        Turns count by how far they move points on average. ``least``: the share, squared, that must be seen.
        """
        shares, vectors = self._shares()
        weak = vectors[:, shares < (self.least if least is None else least)].T * self._scale()
        return np.asarray(weak / np.linalg.norm(weak, axis=1)[:, None])

    def with_open(self, count: int) -> Information:
        """Return the same with so many of the motions that are seen least taken for not determined."""
        if not count:
            return self
        shares, _ = self._shares()
        return replace(self, least=max(self.least, float(np.nextafter(shares[count - 1], np.inf))))

    def covariance(self) -> _Array:
        """Return the covariance of the motion, about the origin of the frame.

        What is not determined gets the variance of a turn or a shift that nothing is known about, and what the model
        does not have gets none. A scale is about the origin, too: if it is off, so is the translation.
        """
        shares, vectors = self._shares()
        unknown = (math.pi * (self.lever or 1.0)) ** 2
        variances = np.full(len(shares), unknown)
        known = shares >= self.least
        if self.noise is None:
            variances[known] = np.minimum(self.variance / (shares[known] * self.count), unknown)
        else:
            noise = self.noise * np.outer(self._scale(), self._scale())
            gain = vectors[:, known] / (shares[known] * max(1.0, self.count))
            found, turned = np.linalg.eigh(gain.T @ noise @ gain)
            variances[known] = np.clip(self.variance * found, 0.0, unknown)
            vectors[:, known] = vectors[:, known] @ turned
        about_centre = (vectors * variances) @ vectors.T * np.outer(self._scale(), self._scale())
        move = np.eye(4)
        move[:3, 3] = self.centre
        carry = adjoint(move)
        result = np.asarray(carry @ about_centre @ carry.T)
        if self.scale_variance:
            result[3:, 3:] += self.scale_variance * np.outer(self.centre, self.centre)
        return result

    @property
    def deviation(self) -> float:
        """Metres: how far points are off, root mean square, by what is determined; infinite where nothing is.

        What is not determined counts as if it just were, so that this can be compared where that is the same.
        """
        if self.count < len(self.matrix):
            return math.inf
        shares = np.maximum(self._shares()[0], self.least)
        return math.sqrt(self.variance / self.count * float((1.0 / shares).sum()))

    def _shares(self) -> tuple[_Array, _Array]:
        """Return how much of each principal motion is seen, from 0 to about 1, and the motions as columns."""
        scale = self._scale()
        resistance = self.matrix * np.outer(scale, scale) / max(1.0, self.count)
        if self.model.core is None:
            values, vectors = np.linalg.eigh(resistance)
            return values, vectors
        values, vectors = np.linalg.eigh(self.model.free.T @ resistance @ self.model.free)
        return values, self.model.free @ vectors

    def _scale(self) -> _Array:
        return np.array([1.0 / (self.lever or 1.0)] * 3 + [1.0] * 3)


def points_information(moved: _Array, matches: _Array, epsilon: _Array, model: Motion = RIGID) -> Information:
    """Return that of matched points, which are compared in all three directions, with robust weights.

    ``epsilon`` has the bounds of the associations, each that of a pair of such. The covariance is that of an
    M-estimator (Huber, "Robust Statistics", 6.3), but errors are not independent: neighbours share theirs, as much as
    the residuals show it, and all have something in common where errors are as large as epsilon.
    """
    with np.errstate(over="ignore"):  # such are not explained
        gaps = (moved - matches) / epsilon[:, None]
        relative = np.linalg.norm(gaps, axis=1)
    explained = relative < LARGEST
    moved, gaps, relative = moved[explained], gaps[explained], relative[explained]
    bound = float(np.median(epsilon[explained])) if len(relative) else 1.0
    scales = bound / epsilon[explained]  # as if all had the same bound
    weights = robust_weights(relative)
    count, squared = max(float(weights.sum()), 1e-300), max(float(weights @ weights), 1e-300)
    masses = weights * scales**2
    centre = masses @ moved / max(float(masses.sum()), 1e-300)
    arms = (moved - centre) * scales[:, None]

    variance = float(((weights * relative) ** 2).sum()) / (3.0 * squared)
    cells = _cells(moved - centre, _NEIGHBOURS * bound)
    of_cell = _sums(cells, weights[:, None] * np.column_stack((arms, scales, gaps, np.ones(len(arms)))))
    fitted = model.free.shape[1] + float(model.has_scale)
    share, left = _shared_error(of_cell[:, 4:7], of_cell[:, 7], squared, variance, fitted)
    numbers = 3.0 * count**2 / squared
    noise = (numbers * variance + _PRIOR_COUNT * PRIOR_NOISE**2) / (numbers * left + _PRIOR_COUNT)
    slope = max(float(slopes(relative).sum()) / count, _LEAST_SLOPE)
    common = _COMMON * max(0.0, math.sqrt(noise) - _USUAL_NOISE)

    roots = np.sqrt(weights)
    matrix = _products(arms * roots[:, None], scales * roots)
    alone = _products(arms * weights[:, None], scales * weights)
    together = _products(of_cell[:, :3], of_cell[:, 3])
    errors = ((1.0 - share) * alone + share * together) / slope**2 + common**2 * count / noise * matrix
    lever = math.sqrt(2.0 / 3.0 * float(weights @ (arms**2).sum(axis=1)) / count)
    about = Information(matrix, centre, count, lever, bound * bound * noise, 1e-12, errors, model)
    if not model.has_scale:
        return about
    # A scale moves points along their arms: as the turns about these, with the same errors.
    resistance = float((arms**2 * weights[:, None]).sum())
    apart, cells_together = float((arms**2 * weights[:, None] ** 2).sum()), float((of_cell[:, :3] ** 2).sum())
    pull = ((1.0 - share) * apart + share * cells_together) / slope**2 + common**2 * count / noise * resistance
    unknown = math.log(_UNKNOWN_SCALE) ** 2
    found = bound * bound * noise * pull / max(resistance, 1e-300) ** 2 if resistance > 0.0 else unknown
    return replace(about, scale_variance=min(found, unknown))


def _shared_error(gaps: _Array, counts: _Array, squared: float, variance: float, fitted: float) -> tuple[float, float]:
    """Return which share of the variance neighbours have in common, and what the fit leaves of it in the residuals.

    From sums of residuals and of weights over cells, the sum of squared weights, and the variance along an axis. The
    fit takes some degrees of freedom, so that what few cells have in common is not to be seen.
    """
    total, products = float(counts.sum()), float(counts @ counts)
    left_alone, left_of_cells = (
        max(0.0, 1.0 - fitted / 3.0 * some / max(total**2, 1e-300)) for some in (squared, products)
    )
    degrees = 3.0 * left_of_cells * total**2 / max(products, 1e-300)
    share, pairs = 0.0, products - squared
    if pairs > 1e-9 * squared:
        seen = float((gaps**2).sum()) / max(left_of_cells, 0.1) - 3.0 * variance * squared
        share = min(1.0, max(0.0, seen / max(3.0 * variance * pairs, 1e-300)))
    share = (degrees * share + _PRIOR_DEGREES * _PRIOR_SHARE) / (degrees + _PRIOR_DEGREES)
    return share, (1.0 - share) * left_alone + share * left_of_cells


def weak_turns(moved: _Array, least: float, covariance: _Array | None = None, model: Motion = RIGID) -> _Array:
    """Return the unit turns ``(k, 6)`` that matched points do not determine.

    Those are about axes from which they are closer than ``least`` metres, or of which the covariance says so.
    """
    arms = moved - moved.mean(axis=0)
    resistance = _products(arms, np.ones(len(arms)))[:3, :3] / len(arms)
    if model.core is None:
        values, vectors = np.linalg.eigh(resistance)
    else:
        values, vectors = np.linalg.eigh(model.turns.T @ resistance @ model.turns)
        vectors = model.turns @ vectors
    weak = values < least**2
    if covariance is not None:
        weak |= (vectors * (covariance[:3, :3] @ vectors)).sum(axis=0) > _USELESS_TURN**2
    axes = vectors[:, weak].T
    return np.concatenate((axes, np.zeros_like(axes)), axis=1)


def _products(arms: _Array, masses: _Array) -> _Array:
    """Return the sum of JᵀJ over J = (-[p]×, m I), for ``(n, 3)`` arms p and ``(n,)`` masses m."""
    squares = arms.T @ arms
    x, y, z = masses @ arms
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    result = np.zeros((6, 6))
    result[:3, :3] = np.trace(squares) * np.eye(3) - squares
    result[:3, 3:], result[3:, :3] = cross, -cross
    result[3:, 3:] = masses @ masses * np.eye(3)
    return result


def _sums(cells: npt.NDArray[np.int64], rows: _Array) -> _Array:
    """Return the sums of the rows of each cell."""
    order = np.argsort(cells, kind="stable")
    starts = np.flatnonzero(np.diff(cells[order], prepend=-1))
    return np.add.reduceat(rows[order], starts, axis=0) if len(rows) else np.zeros((0, rows.shape[1]))


def _cells(points: _Array, width: float) -> npt.NDArray[np.int64]:
    """Return a number for the cell of a grid that each point is in."""
    places = np.rint(np.clip(points / width, -1e6, 1e6)).astype(np.int64) + 2**20
    return np.asarray((places[:, 0] << 42) | (places[:, 1] << 21) | places[:, 2])


def surface_information(
    source: OrientedPoints,
    target: OrientedSurface,
    motion: _Array,
    masses: _Array | None = None,
    model: Motion = RIGID,
) -> Information:
    """Return that of a cloud on another's surface, which is compared along the normals only.

    ``masses`` say how much each point of the source counts; None: 1 each.

    Residuals of neighbouring points are alike, because the surfaces are sampled and their normals fitted together. So
    one in ten counts as a measurement of its own; with that, the errors on simulated scans are what they should be.
    """
    motions, rule = np.ascontiguousarray(motion[None]), (target.voxel_size, AGREEING_COSINE)
    matrix, centre, count, squares, arms = _core.measure_fit(
        target.surface, source.points, source.normals, motions, *rule, masses
    )
    lever = math.sqrt(2.0 / 3.0 * arms / max(1.0, count))
    return Information(matrix, centre, count, lever, 10.0 * squares / max(1.0, count), _WEAK, model=model)
