"""Where the sensor stood: what is told is checked, and what is not told is judged from the cloud, or looked for.

A place is judged by how a surface looks from it (``cpp/src/clouds/viewpoints.h``), compared with how it looks from
other places among the points: a sensor sees surfaces from one side, so that hardly any neighbouring normals are turned
apart when all are turned towards it; and the points of a single scan thin out with the distance from it.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from .. import _core

__all__ = ["Viewpoint", "find_viewpoint"]

_Array: TypeAlias = npt.NDArray[np.float64]

_REFERENCES = 32
"""Places among the points that others are compared with."""
_STARTS, _KEPT, _ROUNDS = 128, 6, 4
"""Places that a search looks from, of which the best are improved, in so many rounds of steps along the axes …"""
_FIRST_STEP, _SHRINK = 0.15, 0.5
"""… of this share of the cloud's size, and this much smaller in every round."""
_BEYOND = 0.3
"""Share of its size by which the search goes beyond the cloud."""
_MIDDLE = (0.02, 0.98)
"""Quantiles of the coordinates between which the cloud is; others are strays."""
_FARTHEST = 100.0
"""Times its size from which a cloud may have been seen; from farther away, everything is seen from one side."""
# Fitted to the places of real and simulated sensors, and others. The logit of a place is linear in how much less is
# torn than from the references and, of clouds that thin out from one of them or from the place (wholly at the second
# number), in how much more they do from the place.
_CONSTANT, _TORN, _THINS, _THINNING = -2.4, -2.5, 2.0, 25.0
_THINS_FROM, _THINS_TO = 0.35, 0.5
_LEAST_TORN = 0.002
_TOLD = 1.5
"""Added to the logit where a caller or a file says so."""


@dataclass(frozen=True, eq=False)
class Viewpoint:
    """A place from which a cloud was, or can have been, seen."""

    place: _Array
    """``(3,)``."""
    source: Literal["told", "origin", "found"]
    """Whether the caller or the file said so, or it is the origin of the frame, which the cloud makes likely, or the
    place was found because neither can be."""
    plausibility: float
    """Probability, from 0 to 1, that a sensor stood there or near, as judged from the cloud; low if none fits."""


def find_viewpoint(surface: _core.ViewedSurface, points: _Array, told: _Array | None, threads: int) -> Viewpoint:
    """Return the place that was told, or else the origin, if a sensor can have stood there; or else a better one."""
    low, high = np.quantile(points, _MIDDLE, axis=0) if len(points) else np.zeros((2, 3))
    references = _summary(surface.look_from(low + _scattered(_REFERENCES) * (high - low), False, threads))
    first, bonus = (np.zeros(3), 0.0) if told is None else (told, _TOLD)
    chance = _plausibility(surface.look_from(first[None], False, threads), references, bonus)[0]
    near = np.linalg.norm(first - 0.5 * (low + high)) <= _FARTHEST * np.linalg.norm(high - low)
    if chance >= 0.5 and near:
        return Viewpoint(first, "origin" if told is None else "told", float(chance))
    place = _search(surface, low, high, references, threads)
    chance = _plausibility(surface.look_from(place[None], False, threads), references, 0.0)[0]
    return Viewpoint(place, "found", float(chance))


def _summary(views: _Array) -> tuple[float, float]:
    """Return what places are compared with: how much is torn from half of the references; how much they thin out."""
    return float(np.median(views[:, 0])), float(np.quantile(views[:, 3], 0.95))


def _thins(thinning: _Array, best: float) -> _Array:
    """Return whether a cloud is a single scan, whose points thin out with the distance, from 0 to 1."""
    return np.clip((np.maximum(thinning, best) - _THINS_FROM) / (_THINS_TO - _THINS_FROM), 0.0, 1.0)


def _plausibility(views: _Array, references: tuple[float, float], bonus: float) -> _Array:
    torn, _, _, thinning = views.T
    usual, best = references
    single = _thins(thinning, best)
    less_torn = np.log((torn + _LEAST_TORN) / (usual + _LEAST_TORN))
    thinner = np.clip(thinning - best, -0.3, 0.15)
    logit = _CONSTANT + bonus + (1.0 - single) * _TORN * less_torn + single * (_THINS + _THINNING * thinner)
    return np.asarray(1.0 / (1.0 + np.exp(-logit)))


def _search(
    surface: _core.ViewedSurface, low: _Array, high: _Array, references: tuple[float, float], threads: int
) -> _Array:
    """Return the place from which a cloud looks most like one that a sensor saw."""
    size = float(np.linalg.norm(high - low))
    single = _thins(np.zeros(1), references[1])

    def cost(places: _Array) -> _Array:
        torn, hidden, grazing, thinning = surface.look_from(np.ascontiguousarray(places), True, threads).T
        seen = 2.3 * np.log(torn + 0.003) + np.log(hidden + 0.05) + 0.5 * np.log(grazing + 0.01)
        return np.asarray((1.0 - single) * seen - single * _THINNING * thinning)

    margin = 0.5 * _BEYOND * size
    places = low - margin + _scattered(_STARTS) * (high - low + 2.0 * margin)
    costs = cost(places)
    order = np.argsort(costs, kind="stable")[:_KEPT]
    places, costs = places[order], costs[order]
    ways = np.concatenate((np.zeros((1, 3)), np.eye(3), -np.eye(3)))
    rows = np.arange(len(places))
    for step in _FIRST_STEP * size * _SHRINK ** np.arange(_ROUNDS):
        tried = places[:, None] + step * ways
        found = cost(tried.reshape(-1, 3)).reshape(len(places), -1)
        best = found.argmin(axis=1)
        places, costs = tried[rows, best], found[rows, best]
    return np.ascontiguousarray(places[costs.argmin()])


@functools.cache
def _scattered(count: int) -> _Array:
    """Return places that fill the unit cube evenly: Halton's sequence in bases 2, 3, 5."""
    return np.column_stack([[_inverted(k, base) for k in range(1, count + 1)] for base in (2, 3, 5)])


def _inverted(number: int, base: int) -> float:
    """Return the digits of a number, mirrored at the point."""
    result, share = 0.0, 1.0 / base
    while number:
        number, digit = divmod(number, base)
        result += digit * share
        share /= base
    return result
