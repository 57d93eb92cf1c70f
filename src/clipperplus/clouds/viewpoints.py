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

__all__ = ["TOLD", "WEIGHTS", "Viewpoint", "box_of", "find_viewpoint", "references_of", "view_terms"]

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
_FACING_POINTS = 1000
"""Points whose side is asked for, …"""
_MOST_BEHIND = 0.05
"""… and the share of them that a sensor may be behind: it moved, or some signs are wrong. It must be …"""
_BETTER = 0.8
"""… this share of what is against any direction, looked for in …"""
_DIRECTION_STEPS = 30
"""… so many steps."""
_FARTHEST = 100.0
"""Times its size from which a cloud may have been seen; from farther away, everything is seen from one side."""
WEIGHTS = (-2.4, -2.5, 2.0, 25.0)
"""Of the logit of a place: the constant, then those of ``view_terms``; round numbers near what
``benchmarks/viewpoints.py`` fits to the places of real and simulated sensors, and others."""
_THINS_FROM, _THINS_TO = 0.35, 0.5
_LEAST_TORN = 0.002
TOLD = 1.5
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


def find_viewpoint(
    surface: _core.ViewedSurface,
    points: _Array,
    told: _Array | None,
    threads: int,
    fronts: _Array | None = None,
    origin_odds: float = 0.0,
) -> tuple[Viewpoint, _Array | None]:
    """Return the place that was told, or else the origin, if a sensor can have stood there; or else a better one.

    ``origin_odds``: logarithm of how much likelier than usual it is beforehand that clouds are seen from their origin.
    ``fronts`` are normals of the points on the side that is said to have been seen, or all on the other one, and zeros
    where nothing is said. A place that is behind many of them is not taken. They are returned, too, on the side that is
    seen from the place; None if no place sees them.
    """
    low, high = box_of(points)
    references = references_of(surface, low, high, threads)
    first, bonus = (np.zeros(3), origin_odds) if told is None else (told, TOLD)
    chance = _plausibility(surface.look_from(first[None], False, threads), references, bonus)[0]
    near = np.linalg.norm(first - 0.5 * (low + high)) <= _FARTHEST * np.linalg.norm(high - low)
    likely = Viewpoint(first, "origin" if told is None else "told", float(chance)) if chance >= 0.5 and near else None

    def found(facing: _Facing | None, bonus: float) -> Viewpoint:
        place = _search(surface, low, high, references, facing, threads)
        chance = _plausibility(surface.look_from(place[None], False, threads), references, bonus)[0]
        return Viewpoint(place, "found", float(chance))

    if fronts is not None:
        both = [(side, _Facing.of(points, side)) for side in (fronts, -fronts)]
        for side, facing in both:
            if likely is not None and facing.behind(first[None])[0] <= _MOST_BEHIND:
                return likely, side
        for side, facing in both:
            viewpoint = found(facing, TOLD)  # in their way, they tell it
            if viewpoint.plausibility >= 0.5 and facing.is_explained_by(viewpoint.place):
                return viewpoint, side
    return likely or found(None, 0.0), None


@dataclass(frozen=True, eq=False)
class _Facing:
    """Some points, and which side of the surface there was seen."""

    normals: _Array
    offsets: _Array
    """Of their planes from the origin."""

    @classmethod
    def of(cls, points: _Array, fronts: _Array) -> _Facing:
        step = max(1, len(points) // _FACING_POINTS)
        points, fronts = points[::step], fronts[::step]
        said = fronts.any(axis=1)
        return cls(fronts[said], np.einsum("ij,ij->i", points[said], fronts[said]))

    def behind(self, places: _Array) -> _Array:
        """Return the share of the points that each place is behind."""
        return (places @ self.normals.T < self.offsets).mean(axis=1) if len(self.offsets) else np.ones(len(places))

    def is_explained_by(self, place: _Array) -> bool:
        """Whether the place is in front of nearly all, and of more than any direction is.

        Normals that were all turned to one direction, as some programs do, are faced by places far enough that way.
        """
        return bool(self.behind(place[None])[0] <= min(_MOST_BEHIND, _BETTER * self.against_direction()))

    def against_direction(self) -> float:
        """Return the share of the normals that are not on the side of one direction, the best that is found."""
        direction, least = self.normals.mean(axis=0), 1.0
        for _ in range(_DIRECTION_STEPS):
            against = self.normals @ direction < 0.0
            least = min(least, float(against.mean()))
            if not against.any():
                break
            direction = direction / max(np.linalg.norm(direction), 1e-300) + 0.3 * self.normals[against].mean(axis=0)
        return least


def box_of(points: _Array) -> tuple[_Array, _Array]:
    """Return the lowest and the highest coordinates, without strays."""
    low, high = np.quantile(points, _MIDDLE, axis=0) if len(points) else np.zeros((2, 3))
    return low, high


def references_of(surface: _core.ViewedSurface, low: _Array, high: _Array, threads: int) -> tuple[float, float]:
    """Return what places are compared with: how much is torn from half of the references; how much they thin out."""
    views = surface.look_from(low + _scattered(_REFERENCES) * (high - low), False, threads)
    return float(np.median(views[:, 0])), float(np.quantile(views[:, 3], 0.95))


def _thins(thinning: _Array, best: float) -> _Array:
    """Return whether a cloud is a single scan, whose points thin out with the distance, from 0 to 1."""
    return np.clip((np.maximum(thinning, best) - _THINS_FROM) / (_THINS_TO - _THINS_FROM), 0.0, 1.0)


def view_terms(views: _Array, references: tuple[float, float]) -> _Array:
    """Return what the logit of each place is linear in.

    That is how much less is torn than from the references and, of clouds that thin out from one of them or from the
    place, that they do, and how much more from the place.
    """
    torn, _, _, thinning = views.T
    usual, best = references
    single = _thins(thinning, best)
    less_torn = np.log((torn + _LEAST_TORN) / (usual + _LEAST_TORN))
    thinner = np.clip(thinning - best, -0.3, 0.15)
    return np.column_stack(((1.0 - single) * less_torn, single, single * thinner))


def _plausibility(views: _Array, references: tuple[float, float], bonus: float) -> _Array:
    constant, *weights = WEIGHTS
    logit = constant + bonus + view_terms(views, references) @ weights
    return np.asarray(1.0 / (1.0 + np.exp(-logit)))


def _search(
    surface: _core.ViewedSurface,
    low: _Array,
    high: _Array,
    references: tuple[float, float],
    facing: _Facing | None,
    threads: int,
) -> _Array:
    """Return the place from which a cloud looks most like one that a sensor saw, on the side that was seen if known."""
    size = float(np.linalg.norm(high - low))
    single = _thins(np.zeros(1), references[1])

    def cost(places: _Array) -> _Array:
        torn, hidden, grazing, thinning = surface.look_from(np.ascontiguousarray(places), True, threads).T
        seen = 2.3 * np.log(torn + 0.003) + np.log(hidden + 0.05) + 0.5 * np.log(grazing + 0.01)
        costs = (1.0 - single) * seen - single * WEIGHTS[3] * thinning
        return np.asarray(costs if facing is None else costs + 2.3 * np.log(facing.behind(places) + 0.003))

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
