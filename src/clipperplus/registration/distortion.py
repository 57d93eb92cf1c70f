"""What no motion of a model explains: matched points that are a mirrored copy, or larger or smaller.

Distances know no left and right, so a mirrored set is consistent as a whole; and in a scaled one, points that are close
together are. Both give a large clique and a wrong transform.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..geometry.motions import RIGID, Motion
from .robust_fit import explained, robust_weights
from .uncertainty import PRIOR_NOISE

__all__ = ["BothHands", "Scale", "fit_both_hands", "measure_scale"]

_Array = npt.NDArray[np.float64]
_Matched = tuple[_Array, _Array]

# Right cliques of real matches leave at most 1.1 epsilon, and their mirror images at least 1.6 times as much.
_UNEXPLAINED = 0.75
"""Times epsilon: what a rotation must leave, root mean square, for points to be mirrored, …"""
_BETTER = 1.5
"""… and times what a reflection leaves. On a plane, both leave the same."""

# Scales of right answers are off by up to 5 %, as neighbours share their errors, but explain up to 1.11 times as much.
_SUSPICIOUS = 0.1
"""Times epsilon, over the spread of a clique: what its scale must change for it to be looked at more closely."""
_STEPS = (8.0, 4.0, 2.0, 1.0, 1.0)
"""Times epsilon: how far off associations may be in the steps of the fit with a scale. A clique may be of those whose
errors hide it; …"""
_LAST_STEPS = (1.0, 1.0)
"""… and where there are no others, it takes only the last."""
_PROMISING = 1.05
"""A gain from which on the steps are taken again, as long as it grows."""
_MOST_ROUNDS = 4
_LOOKED_AT = 24.0
"""Times epsilon: those farther off, after the fit to the clique, are not looked at."""
_WORTH_IT = 1.1
"""Times what the rigid motion explains: if there are not as many to be looked at, a scale cannot explain more."""
_PRIOR_COUNT = 2.0
"""Measurements that what epsilon says about the noise is worth: three points say less about it."""
_WITHIN = 4.0
"""Deviations of the noise that are explained, if these are less than epsilon; and of this at least …"""
_LEAST_WITHIN = 0.1
"""… this share."""


@dataclass(frozen=True, eq=False)
class BothHands:
    """The better one of a rotation and a reflection."""

    mirrored: bool
    """Whether it is the reflection, because the rotation does not explain the points."""
    transform: _Array
    """``(4, 4)``; no motion if it is the reflection."""
    moved: _Array
    """``(n, 3)``: where it moves the source points of all associations."""


def fit_both_hands(
    matched: _Matched, chosen: npt.NDArray[np.int64], weights: _Array, epsilon: float, model: Motion = RIGID
) -> BothHands:
    """Fit a clique with and without a reflection; where the rotation will do, it is taken."""
    with np.errstate(over="ignore", invalid="ignore"):
        middle = model.shifts @ (model.shifts.T @ matched[0][chosen].mean(axis=0))
        source = matched[0] - middle  # so that no translation is too large
        fits = [_fit(model, mirror, source, matched[1], chosen, weights) for mirror in (False, True)]
        moved = [source @ fit[:3, :3].T + fit[:3, 3] for fit in fits]
        left = [_root_mean_square(places[chosen] - matched[1][chosen]) for places in moved]
        for fit in fits:
            fit[:3, 3] -= fit[:3, :3] @ middle
    mirrored = model.can_mirror and left[0] > _UNEXPLAINED * epsilon and left[0] > _BETTER * left[1]
    return BothHands(mirrored, fits[int(mirrored)], moved[int(mirrored)])


def _fit(
    model: Motion, mirror: bool, source: _Array, target: _Array, chosen: npt.NDArray[np.int64], weights: _Array
) -> _Array:
    """Return the transform, with or without a reflection, that fits best to some associations."""
    if not mirror:
        return model.fit(source[chosen], target[chosen], weights).copy()
    transform = model.fit(model.mirrored(source[chosen]), target[chosen], weights).copy()
    transform[:3, :3] = model.mirrored(transform[:3, :3])
    return np.asarray(transform)


def _root_mean_square(gaps: _Array) -> float:
    return float(np.sqrt((gaps**2).sum(axis=1).mean()))


class Scale(NamedTuple):
    """By how much the target is larger than the source."""

    scale: float
    deviation: float
    """Its standard deviation."""
    gain: float
    """How many times as much is explained with it as without."""


def measure_scale(
    hands: BothHands,
    rigid: _Array,
    target: _Array,
    chosen: npt.NDArray[np.int64],
    epsilon: _Array,
    model: Motion = RIGID,
) -> Scale:
    """Fit a scale to a clique, and where this is suspicious, robustly to all associations that agree with it.

    Parameters
    ----------
    hands
        The fit of the clique.
    rigid
        ``(n, 3)``: where the best motion without a scale moves the source points.
    target, epsilon
        ``(n, 3)`` and ``(n,)``: their matches, and the bounds of the associations.
    chosen
        The associations of the clique.
    model
        The motions that there may be beside the scale.

    """
    clique = _fit_scale(model, hands.moved[chosen], target[chosen], np.ones(len(chosen)), epsilon[chosen])
    moved = hands.moved
    with np.errstate(over="ignore", invalid="ignore"):
        centre = moved[chosen].mean(axis=0)
        gaps = np.linalg.norm(clique.scale * (moved - centre) - (target - target[chosen].mean(axis=0)), axis=1)
        before = np.linalg.norm(rigid - target, axis=1)
    near, steps = np.flatnonzero(gaps < _LOOKED_AT * epsilon), list(_STEPS)
    if len(near) < _WORTH_IT * explained(before / epsilon):
        if abs(clique.scale - 1.0) * clique.spread < _SUSPICIOUS * float(epsilon[chosen].min()):
            return Scale(clique.scale, clique.deviation, 1.0)
        near, steps = chosen, list(_LAST_STEPS)
    moved, target, bounds = moved[near], target[near], epsilon[near]
    found, gain = clique._replace(gaps=gaps[near]), 0.0
    for _ in range(_MOST_ROUNDS):
        for step in steps:
            weights = robust_weights(found.gaps / (step * bounds))
            if np.count_nonzero(weights) >= model.least:
                found = _fit_scale(model, moved, target, weights, bounds)
        within = min(1.0, max(_LEAST_WITHIN, _WITHIN * found.noise))
        last = gain
        gain = explained(found.gaps / (within * bounds)) / max(explained(before / (within * epsilon)), 1e-300)
        if gain < max(_PROMISING, 1.01 * last):
            break
    return Scale(found.scale, found.deviation, gain)


class _Fit(NamedTuple):
    """A similarity fitted to associations."""

    scale: float
    deviation: float
    noise: float
    """Standard deviation of the residuals along an axis, by epsilon."""
    gaps: _Array
    """Residuals of all associations, in metres."""
    spread: float
    """Metres."""


def _fit_scale(model: Motion, moved: _Array, target: _Array, weights: _Array, epsilon: _Array) -> _Fit:
    """Fit a similarity to associations by their weights; where they are all in one place, the scale is open."""
    used = weights > 0.0
    masses = (weights * (epsilon.min() / epsilon) ** 2)[used]
    total = float(masses.sum())
    motion = model.fit(moved[used], target[used], masses)
    with np.errstate(over="ignore", invalid="ignore"):
        arms = (moved - masses @ moved[used] / total) @ motion[:3, :3].T
        others = target - masses @ target[used] / total
        squares = float(masses @ (arms[used] ** 2).sum(axis=1))
        if not 0.0 < squares < np.inf:
            return _Fit(1.0, np.inf, 1.0, np.full(len(moved), np.inf), 0.0)
        scale = float(masses @ (arms[used] * others[used]).sum(axis=1)) / squares
        gaps = np.linalg.norm(scale * arms - others, axis=1)
        degrees, bound = max(0.0, 3.0 * total - 7.0), float(epsilon.min())
        known = _PRIOR_COUNT * PRIOR_NOISE**2
        noise = math.sqrt((float(masses @ (gaps[used] / bound) ** 2) + known) / (degrees + _PRIOR_COUNT))
    return _Fit(scale, bound * noise / math.sqrt(squares), noise, gaps, 2.0 * math.sqrt(squares / total))
