"""Which pairs to believe: places grow together where the most suggestions agree.

At first every scan is a place of its own. What registrations suggest between the scans of two places, answers and
alternatives alike, suggests how one place lies in the other; the largest set of suggestions that agree about it is a
maximum clique. The two places whose suggestions say the most together become one, and so on, until nothing is left that
is likely. A suggestion that disagrees with those of its neighbours is never the first to be followed, and by the time
it would be, it has been outvoted.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from ..clique import find_clique
from ..geometry.poses import inverse
from ..graphs import Graph

__all__ = ["Beliefs", "Places", "Suggestions", "Union", "believe"]

_Array: TypeAlias = npt.NDArray[np.float64]
_Numbers: TypeAlias = npt.NDArray[np.int64]

_APART = 6.0
"""Voxels by which the ends of a chain of two registrations may be apart; it grows with the root of their number."""
_AGREEMENT = 2.0
"""What it says that one more suggestion agrees, beside what it says itself. It is little: scans that overlap have their
symmetries in common, so that wrong suggestions agree, too."""
_MOST_SUGGESTIONS = 150
"""Between two places: more say no more."""
_LIKELY = 1.4
"""Logarithm of the odds from which on two places become one."""
_MOST_TRIANGLES = 2
"""That count, of those a suggestion closes, and …"""
_CLOSING = -2.5
"""… the weight that their sides must have."""
_WORTH_A_TEST = -3.6
"""Logarithm of the odds from which on it is worth looking at what is seen."""
_CERTAIN = 12.0
"""Logarithm of the odds from which on nothing else is looked at."""


@dataclass(frozen=True, eq=False)
class Suggestions:
    """How pairs of scans may lie to each other, each with how likely it is."""

    relation: _Numbers
    """``(m,)``: the registration that each comes from. Of those of one, at most one is right."""
    source: _Numbers
    target: _Numbers
    motions: _Array
    """``(m, 4, 4)`` from source to target."""
    weights: _Array
    """``(m,)``: logarithms of the odds."""


class Union(NamedTuple):
    """Two places that became one."""

    first: _Numbers
    second: _Numbers
    """Numbers of their scans."""
    followed: _Numbers
    """Suggestions that agree about it."""
    weight: float
    """Logarithm of the odds that it is right, as these have it."""


@dataclass(frozen=True, eq=False)
class Beliefs:
    """What came of it."""

    labels: _Numbers
    """``(n,)``: the place of each scan, numbered by its lowest scan."""
    poses: _Array
    """``(n, 4, 4)``: from each scan to the frame of its place's lowest scan."""
    believed: npt.NDArray[np.bool_]
    """``(m,)``: suggestions that places were joined by, or that agree with where they are."""
    unions: tuple[Union, ...]
    """In the order in which they were made."""
    proven: bool
    """Whether every set of suggestions that agree is proven to be the largest."""


Test: TypeAlias = Callable[[_Numbers, _Numbers, _Array, _Numbers], float]
"""``(first, second, poses, followed)``: what is seen of the scans of two places if ``poses`` has them all in one frame,
as the logarithm of odds, beside what the suggestions say that are followed."""


class Places:
    """Scans, some of which have known relations: places, each with a frame of its own."""

    def __init__(self, corners: _Array, voxel_size: float) -> None:
        """Begin with each scan alone; ``corners`` are ``(n, c, 3)`` points that stand for each scan."""
        count = len(corners)
        self.corners, self.voxel_size = corners, voxel_size
        self.labels = np.arange(count)
        self.poses = np.tile(np.eye(4), (count, 1, 1))
        self.hops = np.full((count, count), np.inf)
        """Registrations between two scans of a place, along the shortest chain."""
        np.fill_diagonal(self.hops, 0.0)

    def copy(self) -> Places:
        """Return the same again."""
        other = Places(self.corners, self.voxel_size)
        other.labels, other.poses, other.hops = self.labels.copy(), self.poses.copy(), self.hops.copy()
        return other

    def settle(self, scans: _Numbers, poses: _Array, pairs: _Numbers) -> None:
        """Put the scans of one place where they stand; ``pairs`` of them are related."""
        self.poses[scans] = poses
        hops = np.full((len(scans), len(scans)), np.inf)
        local = np.full(len(self.labels), -1)
        local[scans] = np.arange(len(scans))
        ends = local[pairs]
        hops[ends[:, 0], ends[:, 1]] = hops[ends[:, 1], ends[:, 0]] = 1.0
        np.fill_diagonal(hops, 0.0)
        for middle in range(len(scans)):  # Floyd and Warshall
            np.minimum(hops, hops[:, middle, None] + hops[middle], out=hops)
        self.hops[np.ix_(scans, scans)] = hops

    def scans(self, label: int) -> _Numbers:
        """Return the scans of a place."""
        return np.flatnonzero(self.labels == label)

    def implied(self, some: Suggestions, numbers: _Numbers, first: int) -> _Array:
        """Return how suggestions put the other place into the frame of the first, ``(k, 4, 4)``."""
        source, target = some.source[numbers], some.target[numbers]
        there = self.poses[target] @ some.motions[numbers] @ inverse(self.poses[source])
        outwards = self.labels[source] == first
        there[outwards] = inverse(there[outwards])
        return np.asarray(there)

    def agreement(self, some: Suggestions, numbers: _Numbers, first: int, implied: _Array) -> npt.NDArray[np.bool_]:
        """Return which of several suggestions between two places agree about how these lie, ``(k, k)``."""
        source, target = some.source[numbers], some.target[numbers]
        outwards = self.labels[source] == first
        here, there = np.where(outwards, source, target), np.where(outwards, target, source)
        corners = np.einsum("nij,ncj->nci", self.poses[there, :3, :3], self.corners[there])
        corners += self.poses[there, None, :3, 3]
        moved = np.einsum("kij,ncj->knci", implied[:, :3, :3], corners) + implied[:, None, None, :3, 3]
        own = moved[np.arange(len(numbers)), np.arange(len(numbers))]
        square = ((moved - own) ** 2).sum(axis=3).mean(axis=2)  # of the corners of n, by k and by n itself
        hops = 2.0 + self.hops[np.ix_(here, here)] + self.hops[np.ix_(there, there)]
        bound = (_APART * self.voxel_size) ** 2 * hops / 2.0
        relation = some.relation[numbers]
        agree = (np.maximum(square, square.T) <= bound) & (relation[:, None] != relation)
        return np.asarray(agree)

    def join(self, first: int, second: int, motion: _Array, pairs: _Numbers) -> None:
        """Make two places one, the second moved into the frame of the first; ``pairs`` of scans relate them."""
        a, b = self.scans(first), self.scans(second)
        self.poses[b] = motion @ self.poses[b]
        here = np.where((self.labels[pairs[:, 0]] == first)[:, None], pairs, pairs[:, ::-1])
        between = (self.hops[np.ix_(a, here[:, 0])][:, None] + 1.0 + self.hops[np.ix_(b, here[:, 1])][None]).min(axis=2)
        self.hops[np.ix_(a, b)] = between
        self.hops[np.ix_(b, a)] = between.T
        self.labels[b] = first


def believe(
    places: Places,
    some: Suggestions,
    test: Test | None = None,
    *,
    likely: float = _LIKELY,
    only: int | None = None,
) -> Beliefs:
    """Join places as long as it is likely that they belong together; ``places`` is changed.

    ``likely`` is the logarithm of the odds from which on two become one. With ``only``, a scan, it ends once that one
    has been joined to a place.
    """
    closed = _AGREEMENT * np.minimum(_triangles(places, some), _MOST_TRIANGLES)
    unions: list[Union] = []
    proven, refused = True, np.zeros(len(some.weights), dtype=np.bool_)
    bonds = {pair: _bond(places, some, numbers, pair) for pair, numbers in _between(places, some, refused).items()}
    while bonds:
        pair = max(bonds, key=lambda pair: (_order(bonds[pair], closed), -pair[0], -pair[1]))
        bond = bonds.pop(pair)
        weight = _order(bond, closed)
        if weight < (likely if test is None else _WORTH_A_TEST):
            break
        first, second, seen = places.scans(pair[0]), places.scans(pair[1]), 0.0
        if test is not None and weight < _CERTAIN and len(first) + len(second) > 2:
            together = places.poses.copy()
            together[second] = bond.motion @ together[second]
            seen = test(first, second, together, bond.followed)
        if weight + seen < likely:
            refused[bond.followed] = True
            left = _between(places, some, refused, only=pair)
            bonds |= {pair: _bond(places, some, numbers, pair) for pair, numbers in left.items()}
            continue
        unions.append(Union(first, second, bond.followed, weight))
        proven = proven and bond.proven
        relating = np.column_stack((some.source[bond.followed], some.target[bond.followed]))
        places.join(*pair, bond.motion, relating)
        if only is not None and only in (*first, *second):
            break
        bonds = {other: bond for other, bond in bonds.items() if not set(other) & set(pair)}
        around = _between(places, some, refused, only=pair[0])
        bonds |= {other: _bond(places, some, numbers, other) for other, numbers in around.items()}
    return Beliefs(places.labels.copy(), places.poses.copy(), _agreeing(places, some), tuple(unions), proven)


class _Bond(NamedTuple):
    """What suggestions between two places agree about."""

    followed: _Numbers
    motion: _Array
    weight: float
    proven: bool


def _order(bond: _Bond, closed: _Array) -> float:
    """Return what speaks for a bond: of a single suggestion, what other pairs say about it, too."""
    return bond.weight + (float(closed[bond.followed[0]]) if len(bond.followed) == 1 else 0.0)


def _bond(places: Places, some: Suggestions, numbers: _Numbers, pair: tuple[int, int]) -> _Bond:
    """Return the suggestions that agree and say the most, less what the best others say that contradict them."""
    numbers = numbers[np.argsort(-some.weights[numbers], kind="stable")[:_MOST_SUGGESTIONS]]
    implied = places.implied(some, numbers, pair[0])
    if len(numbers) == 1:
        return _Bond(numbers, implied[0], float(some.weights[numbers[0]]), True)
    agree = places.agreement(some, numbers, pair[0], implied)
    chosen, proven = _say_most(agree, some.weights[numbers])
    best = chosen[some.weights[numbers[chosen]].argmax()]
    others = np.flatnonzero(~agree[best] & (np.arange(len(numbers)) != best))
    rival = 0.0
    if len(others):
        contrary, sure = _say_most(agree[np.ix_(others, others)], some.weights[numbers[others]])
        rival, proven = max(0.0, _weight(some.weights[numbers[others[contrary]]])), proven and sure
    return _Bond(np.sort(numbers[chosen]), implied[best], _weight(some.weights[numbers[chosen]]) - rival, proven)


def _say_most(agree: npt.NDArray[np.bool_], weights: _Array) -> tuple[_Numbers, bool]:
    """Return the largest set that agrees, or that of the likely ones if it says more, and whether it is proven.

    The weights fall; the single likeliest is such a set, too.
    """
    chosen, proven = np.array([0]), True
    for count in sorted({len(weights), int((weights > 0.0).sum())} - {0, 1}):
        clique = find_clique(Graph.from_adjacency(agree[:count, :count]), method="auto")
        found = np.asarray(clique.vertices, dtype=np.int64)
        if _weight(weights[found]) > _weight(weights[chosen]):
            chosen, proven = found, clique.optimal
    return chosen, proven


def _weight(weights: _Array) -> float:
    """Return what suggestions say together that agree."""
    return float(weights.sum() + _AGREEMENT * (len(weights) - 1))


def _between(
    places: Places,
    some: Suggestions,
    refused: npt.NDArray[np.bool_],
    only: int | tuple[int, int] | None = None,
) -> dict[tuple[int, int], _Numbers]:
    """Return the suggestions between each two places; only of one place, or between two."""
    a, b = places.labels[some.source], places.labels[some.target]
    low, high = np.minimum(a, b), np.maximum(a, b)
    wanted = (low != high) & ~refused
    if isinstance(only, tuple):
        wanted &= (low == only[0]) & (high == only[1])
    elif only is not None:
        wanted &= (low == only) | (high == only)
    numbers = np.flatnonzero(wanted)
    order = numbers[np.lexsort((numbers, high[numbers], low[numbers]))]
    keys = zip(low[order].tolist(), high[order].tolist(), strict=True)
    grouped = itertools.groupby(zip(keys, order.tolist(), strict=True), key=lambda item: item[0])
    return {pair: np.array([number for _, number in items], dtype=np.int64) for pair, items in grouped}


def _agreeing(places: Places, some: Suggestions) -> npt.NDArray[np.bool_]:
    """Return which suggestions agree with where the scans of one place are."""
    source, target = some.source, some.target
    implied = inverse(places.poses[target]) @ places.poses[source]
    change = implied - some.motions
    corners = np.einsum("nij,ncj->nci", change[:, :3, :3], places.corners[source]) + change[:, None, :3, 3]
    square = (corners**2).sum(axis=2).mean(axis=1)
    together = places.labels[source] == places.labels[target]
    hops = np.where(together, 1.0 + places.hops[source, target], 0.0)
    return np.asarray(together & (square <= (_APART * places.voxel_size) ** 2 * hops / 2.0))


def _triangles(places: Places, some: Suggestions) -> npt.NDArray[np.int64]:
    """Return how many triangles each suggestion closes, with a third scan."""
    count = len(places.corners)
    towards: list[list[int]] = [[] for _ in range(count)]
    likely = np.flatnonzero(some.weights >= _CLOSING).tolist()
    for number in likely:
        source, target = int(some.source[number]), int(some.target[number])
        towards[source].append(number)
        towards[target].append(number)
    around: list[dict[int, list[int]]] = [
        {_other(some, number, scan): [] for number in towards[scan]} for scan in range(count)
    ]
    for scan in range(count):
        for number in towards[scan]:
            around[scan][_other(some, number, scan)].append(number)
    bound = (_APART * places.voxel_size) ** 2 * 1.5
    result = np.zeros(len(some.source), dtype=np.int64)
    for number in likely:
        source, target = int(some.source[number]), int(some.target[number])
        chains = [
            (one, other, third)
            for third in around[source].keys() & around[target].keys()
            for one in around[source][third]
            for other in around[target][third]
        ]
        if not chains:
            continue
        ones, others, thirds = (np.array(column) for column in zip(*chains, strict=True))
        there = inverse(_directed(some, others, thirds)) @ _directed(some, ones, thirds)  # source → third → target
        change = there - some.motions[number]
        corners = np.einsum("kij,cj->kci", change[:, :3, :3], places.corners[source]) + change[:, None, :3, 3]
        closed = (corners**2).sum(axis=2).mean(axis=1) <= bound
        result[number] = len(set(thirds[closed].tolist()))
    return result


def _other(some: Suggestions, number: int, scan: int) -> int:
    source = int(some.source[number])
    return int(some.target[number]) if source == scan else source


def _directed(some: Suggestions, numbers: _Numbers, towards: _Numbers) -> _Array:
    """Return suggested motions as such to the given scans."""
    motions = some.motions[numbers].copy()
    backwards = some.target[numbers] != towards
    motions[backwards] = inverse(motions[backwards])
    return motions
