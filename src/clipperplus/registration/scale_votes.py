"""Which scales the distances between matched points speak for, where a target may be larger or smaller than its source.

Two right matches have distances whose ratio is the scale, to within epsilon by the distance: every pair of matches
votes for an interval. Wrong ones vote, too, for scales all around; so what counts is how far a scale stands out from
those beside it. H. Yang, J. Shi and L. Carlone, "TEASER: Fast and certifiable point cloud registration", T-RO 2021, let
intervals vote, where the most votes win.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from ..clique import find_clique
from ..consistency import ConsistencyProblem
from ..geometry.motions import Motion, scale_of
from .robust_fit import refit

__all__ = ["Likely", "Scales", "at_likely_scale", "vote_for_scales"]

_Array: TypeAlias = npt.NDArray[np.float64]

_MOST_PAIRS = 1 << 20
"""That vote; of more, as many are drawn."""
_WIDEST = 0.1
"""Half of the interval, as a share of the scale, that a pair may vote for: closer points say too little."""
_BESIDE = 0.25
"""Logarithm of the scales around one that are beside it, either way."""
_MOST_SCALES = 5
"""That stand out most: those that are tried."""
_FINEST, _MOST_PLACES = 1e-6, 1 << 18
"""Step between scales that are told apart, and how many of them."""


class Scales(NamedTuple):
    """What came of a vote."""

    scales: tuple[float, ...]
    """The ones that stand out most, the best first; 1 alone where nothing can be said."""
    choices: float
    """Logarithm of how many scales could have been told apart."""


class Likely(NamedTuple):
    """A problem at a scale."""

    problem: ConsistencyProblem
    """With the source enlarged."""
    choices: float
    """Logarithm of how many scales there were to choose from."""
    scale: float
    agreeing: int
    """Associations of a large clique at this scale."""


def at_likely_scale(
    problem: ConsistencyProblem, matched: tuple[_Array, _Array], bounds: _Array, model: Motion, threads: int
) -> Likely:
    """Return the problem with the source scaled so that the most associations agree.

    Of scales that pairs of associations vote for, the one with the largest clique, found quickly; and once more what
    that clique says, which is more precise.
    """
    voted = vote_for_scales(*matched, bounds, _MOST_SCALES)
    best, chosen = Likely(problem, voted.choices, 1.0, -1), np.empty(0, dtype=np.int64)

    def consider(scale: float) -> None:
        nonlocal best, chosen
        scaled = replace(problem, source=problem.source * scale)
        found = find_clique(scaled.join(threads), method="greedy", threads=threads)
        if found.size > best.agreeing:
            best, chosen = Likely(scaled, voted.choices, scale, found.size), found.vertices

    for scale in voted.scales:
        consider(scale)
    if len(chosen) >= model.least:
        fitted = model.fit(matched[0][chosen], matched[1][chosen], np.ones(len(chosen)))
        consider(scale_of(refit(matched, fitted, bounds, model)))
    return best


def vote_for_scales(source: _Array, target: _Array, epsilon: _Array, most: int) -> Scales:
    """Return the scales that ``(n, 3)`` matched points speak for; ``epsilon`` has the bound of every match."""
    i, j = _pairs(len(source))
    with np.errstate(all="ignore"):
        here, there = (np.linalg.norm(points[i] - points[j], axis=1) for points in (source, target))
        widths = 0.5 * (epsilon[i] + epsilon[j]) / there
        places = np.log(there / here)
    sound = np.isfinite(places) & (widths < _WIDEST)
    places, widths = places[sound], np.maximum(widths[sound], _FINEST)
    if not len(places):
        return Scales((1.0,), 0.0)
    low = float(places.min()) - 1.0
    step = max(0.25 * float(np.quantile(widths, 0.1)), (float(places.max()) + 1.0 - low) / _MOST_PLACES)
    count = int((float(places.max()) + 1.0 - low) / step) + 1
    votes = _votes(places, widths, 1.0 / widths, low, step, count)
    noise = _votes(places, widths, 1.0 / widths**2, low, step, count)
    around = max(1, round(_BESIDE / step))
    # Where hardly any pair votes, one that does stands out by chance: it has the noise of one more.
    usual = np.sqrt(_means(noise, around) + 1.0 / float(np.median(widths)) ** 2)
    standing_out = (votes - _means(votes, around)) / usual
    apart = max(1, round(2.0 * float(np.median(widths)) / step))
    chosen: list[float] = []
    for _ in range(most):
        best = int(standing_out.argmax())
        if standing_out[best] <= 0.0:
            break
        place = low + (best + 0.5) * step
        voting = np.abs(places - place) <= widths
        chosen.append(math.exp(np.average(places[voting], weights=1.0 / widths[voting]) if voting.any() else place))
        standing_out[max(0, best - apart) : best + apart + 1] = -np.inf
    spread = float(np.subtract(*np.quantile(places, [0.95, 0.05])))
    return Scales(tuple(chosen) or (1.0,), math.log(max(1.0, spread / (2.0 * float(np.median(widths))))))


def _pairs(count: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return all pairs of different matches, or many of them, always the same."""
    if count * (count - 1) // 2 <= _MOST_PAIRS:
        i, j = np.triu_indices(count, 1)
        return i.astype(np.int64), j.astype(np.int64)
    random = np.random.default_rng(0)
    i = random.integers(count, size=_MOST_PAIRS)
    return i, (i + random.integers(1, count, size=_MOST_PAIRS)) % count


def _votes(places: _Array, widths: _Array, weights: _Array, low: float, step: float, count: int) -> _Array:
    """Return the weight of the intervals that cover each of ``count`` places."""
    first = np.clip(((places - widths - low) / step).astype(np.int64), 0, count)
    last = np.clip(((places + widths - low) / step).astype(np.int64) + 1, 0, count)
    changes = np.bincount(first, weights, count + 1) - np.bincount(last, weights, count + 1)
    return np.asarray(np.maximum(np.cumsum(changes)[:count], 0.0))


def _means(values: _Array, around: int) -> _Array:
    """Return the mean of the values around each, fewer at the ends."""
    sums = np.concatenate(([0.0], np.cumsum(values)))
    numbers = np.arange(len(values))
    first, last = np.maximum(numbers - around, 0), np.minimum(numbers + around + 1, len(values))
    return np.asarray((sums[last] - sums[first]) / (last - first))
