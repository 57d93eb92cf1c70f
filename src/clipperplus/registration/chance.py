"""How many consistent sets of associations of a given size chance would bring, if all associations were random.

The expected number of sets of k among n is the number of choices times the probability that k random associations are
consistent, and no set is more likely than that number (Markov; Moisan and Stival, "A probabilistic criterion to detect
rigid point matches", IJCV 2004, call it the number of false alarms). In a random graph of density p the probability
would be p^(k(k-1)/2). Here it is far larger, because distances are not independent: three associations that keep their
distances fix the motion, and every further one has only to bring a point to where that motion moves its match. So it is
P₃ q^(k-3), where both are measured on the points themselves, whatever their shape: P₃ by triangles of random points, q
by random pairs of a source and a target point under the motion that was found. Motions that are less than rigid are
fixed by two associations, or one.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import numpy.typing as npt

from ..geometry.motions import RIGID, Motion

__all__ = ["expected_by_chance"]

_Array = npt.NDArray[np.float64]

_TRIANGLES = 300
"""Of each set of points."""
_FEW = 12
"""Points that have too few triangles."""
_MOST_POINTS = 1000
"""Of each set that pairs are taken of."""
_ENOUGH = 30.0
"""Pairs of alike triangles from which on their share is known well enough."""
_SURELY_NOT = -30.0
"""A logarithm of the expected number that is low enough not to look at triangles, too."""
_LINES = 20
"""Points that are looked at from as many members, to see in which directions these are."""
_LEAST_SEEN = 1e-3
"""Share of the directions, squared, in which a set of points determines places at least."""
_FARTHEST = 2.0**20 - 1.0
"""Cells from the middle in which points are told apart."""


def expected_by_chance(
    moved: _Array,
    target: _Array,
    members: npt.NDArray[np.int64],
    epsilon: float,
    reach: float = 1.0,
    model: Motion = RIGID,
    pairs: npt.NDArray[np.int64] | None = None,
) -> float:
    """Return the logarithm of how many sets as large as this one are to be expected.

    Parameters
    ----------
    moved, target
        ``(n, 3)`` points of all associations, those of the source as the motion of the set moves them.
    members
        Which associations the set has. Copies of each other count once.
    epsilon
        By how much distances may differ, in metres.
    reach
        Times epsilon: how far a member may be from its match; 1 where the distances of all pairs are kept.
    model
        The motions that there may be.
    pairs
        ``(n, 2)`` numbers of the points of the associations; None: no two share one, or it does not matter. If all are
        matched with all, what the set explains is among the random pairs, too.

    """
    count = len(moved)
    centre = target[members].mean(axis=0)
    here, there = (_in_cells(points - centre, 2.0 * reach * epsilon) for points in (moved, target))
    cells = (_keys(2.0 * points[members]).tolist() for points in (here, there))
    size = len(set(zip(*cells, strict=True)))
    expected = _choices(count, size)
    if pairs is not None:  # of points of which each may be in one association only
        here_and_there = (max(len(np.unique(pairs[:, side])), size) for side in (0, 1))
        expected = min(expected, sum(_choices(many, size) for many in here_and_there) + math.lgamma(size + 1.0))
    if size > model.least:
        step = -(-count // _MOST_POINTS)
        places = _seen_from(here[members], here[::step])
        known = 0 if pairs is None else _pairs_of_set(pairs[::step], pairs[members])
        alike = _chance_of_pairs(here[::step] @ places, there[::step] @ places, known)
        sides = math.log(2.0) if model.can_mirror else 0.0  # a fourth may be on either side of three
        expected += sides + (size - float(model.least)) * math.log(alike)
    if expected <= _SURELY_NOT:
        return expected
    return max(_SURELY_NOT, expected + math.log(_chance_of_triangles(here, there, model)))


def _choices(count: int, size: int) -> float:
    """Return the logarithm of how many sets of a size there are."""
    return math.lgamma(count + 1.0) - math.lgamma(size + 1.0) - math.lgamma(count - size + 1.0)


def _in_cells(points: _Array, width: float) -> _Array:
    """Return coordinates in widths of a cell."""
    return np.asarray(np.clip(points / width, -_FARTHEST, _FARTHEST))


def _keys(places: _Array) -> npt.NDArray[np.int64]:
    """Return a number for the cell of each point."""
    cells = np.rint(places).astype(np.int64)  # the middle, where thin sets are, is not a border
    return np.asarray(cells @ (1 << np.array([42, 21, 0], dtype=np.int64)[: cells.shape[1]]))


def _coincidences(first: npt.NDArray[np.int64], second: npt.NDArray[np.int64]) -> int:
    """Return how many pairs of a cell of each are the same."""
    keys, others = np.sort(first), np.sort(second)  # those in order are looked up faster
    return int((np.searchsorted(others, keys, "right") - np.searchsorted(others, keys, "left")).sum())


def _seen_from(members: _Array, points: _Array) -> _Array:
    """Return axes in which what the members say about the place of a point is about the same in all directions.

    Distances to members that are all in one direction say nothing about what is across.
    """
    points, members = (some[:: -(-len(some) // _LINES)] for some in (points, members))
    lines = (points[:, None] - members).reshape(-1, 3)
    lines /= np.sqrt(np.maximum(np.einsum("ij,ij->i", lines, lines), 1e-300))[:, None]
    shares, axes = np.linalg.eigh(lines.T @ lines / len(lines))
    return np.asarray(axes * np.sqrt(np.minimum(3.0 * np.maximum(shares, _LEAST_SEEN), 1.0)))


def _chance_of_pairs(here: _Array, there: _Array, known: int) -> float:
    """Return how likely a random pair of a point of each is in one cell; the associations themselves do not count.

    Nor do the ``known`` pairs of points that are there because associations share them.
    """
    keys, others = _keys(here), _keys(there)
    together = _coincidences(keys, others) - int((keys == others).sum()) - known
    return (max(together, 0) + 1.0) / (len(here) * (len(here) - 1.0) + 1.0)


def _pairs_of_set(pairs: npt.NDArray[np.int64], members: npt.NDArray[np.int64]) -> int:
    """Return how often a source point of one association and a target point of another are matched in the set."""
    counts = (np.bincount(pairs[:, side], minlength=int(members[:, side].max()) + 1) for side in (0, 1))
    here, there = (count[members[:, side]] for side, count in enumerate(counts))
    themselves = (pairs[:, None] == members).all(axis=2).sum()
    return int((here * there).sum() - themselves)


def _chance_of_triangles(here: _Array, there: _Array, model: Motion) -> float:
    """Return how likely two random triangles, one of each, have the same sides; or what else fixes the motion.

    Where too few have, those that are alike more coarsely are counted, and it is looked how fast they get fewer.
    """
    if model.least == 1:  # which goes anywhere
        return 1.0
    sides, others = _sides(here, 0, model), _sides(there, 1, model)
    lengths = sides.shape[1]
    pairs = float(_TRIANGLES**2)
    found = _coincidences(_keys(sides), _keys(others)) / pairs
    size = min(float(np.abs(some).mean()) for some in (sides, others))
    coarse = 0.5 * size * (_ENOUGH / pairs) ** (1.0 / lengths)
    if coarse <= 1.0:
        return max(found, 1.0 / pairs)
    fewer, more = (_coincidences(_keys(sides / w), _keys(others / w)) for w in (coarse, 2.0 * coarse))
    slope = min(float(lengths), math.log2((more + 1.0) / (fewer + 1.0)))
    return max(found, (fewer + 1.0) / pairs / math.pow(coarse, slope))


@cache
def _draws() -> tuple[_Array, _Array]:
    """Return random numbers to choose triangles by, always the same."""
    random = np.random.default_rng(0)
    return random.random((_TRIANGLES, 3)), random.random((_TRIANGLES, 3))


@cache
def _corners() -> tuple[_Array, _Array]:
    """Return triangles of a normal distribution, always the same."""
    random = np.random.default_rng(1)
    return random.normal(size=(_TRIANGLES, 3, 3)), random.normal(size=(_TRIANGLES, 3, 3))


def _sides(points: _Array, which: int, model: Motion) -> _Array:
    """Return the lengths of the sides of triangles of different points.

    Few points have few triangles, and if they are matched rightly the same in both sets: then of others that are spread
    in the same way.
    """
    count = len(points)
    if count < _FEW:
        spread, axes = np.linalg.eigh(np.cov(points.T))
        corners = _corners()[which] @ (axes * np.sqrt(np.maximum(spread, 0.0))).T
    else:
        first, second, third = (_draws()[which] * (count, count - 1, count - 2)).astype(np.int64).T
        third += third >= second
        corners = points[np.column_stack((first, first + 1 + second, first + 1 + third)) % count]
    return model.signature(corners[:, : model.least])
