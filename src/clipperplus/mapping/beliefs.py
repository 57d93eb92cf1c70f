"""Which pairs to believe: places grow together where the most suggestions agree.

At first every scan is a place of its own. What registrations suggest between the scans of two places, answers and
alternatives alike, suggests how one place lies in the other; the largest set of suggestions that agree about it is a
maximum clique. The two places whose suggestions say the most together become one, and so on, until nothing is left that
is likely. A suggestion that disagrees with those of its neighbours is never the first to be followed, and by the time
it would be, it has been outvoted.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from ..clique import find_clique
from ..geometry.poses import inverse
from ..graphs import Graph
from .places import APART, Places, Suggestions

__all__ = ["Beliefs", "Union", "believe", "join_again", "standing", "unions_without"]

_Array: TypeAlias = npt.NDArray[np.float64]
_Numbers: TypeAlias = npt.NDArray[np.int64]

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
_ESTABLISHED = 5
"""Scans of a place that is not likely to be a part of another."""
_CERTAIN = 12.0
"""Logarithm of the odds from which on nothing else is looked at."""


class Union(NamedTuple):
    """Two places that became one."""

    first: _Numbers
    second: _Numbers
    """Numbers of their scans."""
    followed: _Numbers
    """Suggestions that agree about it."""
    weight: float
    """Logarithm of the odds that it is right, as these have it."""
    motion: _Array
    """``(4, 4)``: by which the second was moved into the frame of the first."""


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
        weight = _order(bond, closed) - _elsewhere(places, bonds, closed, pair)
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
        unions.append(Union(first, second, bond.followed, weight, bond.motion))
        proven = proven and bond.proven
        _join(places, some, unions[-1])
        if only is not None and only in (*first, *second):
            break
        bonds = {other: bond for other, bond in bonds.items() if not set(other) & set(pair)}
        around = _between(places, some, refused, only=pair[0])
        bonds |= {other: _bond(places, some, numbers, other) for other, numbers in around.items()}
    return Beliefs(places.labels.copy(), places.poses.copy(), places.agreeing(some), tuple(unions), proven)


def join_again(places: Places, some: Suggestions, unions: Sequence[Union]) -> Beliefs:
    """Make unions once more, in their order, of places as they were before; ``places`` is changed."""
    for union in unions:
        _join(places, some, union)
    return Beliefs(places.labels.copy(), places.poses.copy(), places.agreeing(some), tuple(unions), True)


def _join(places: Places, some: Suggestions, union: Union) -> None:
    first, second = int(places.labels[union.first[0]]), int(places.labels[union.second[0]])
    relating = np.column_stack((some.source[union.followed], some.target[union.followed]))
    places.join(first, second, union.motion, relating)


def standing(unions: Sequence[Union], stands: Sequence[bool]) -> list[list[Union]]:
    """Return groups of unions, each a place that became one by unions that all stand; the last one made it whole."""
    latest: dict[int, int] = {}
    groups: dict[int, list[Union]] = {}
    for number, (union, good) in enumerate(zip(unions, stands, strict=True)):
        parts = [latest[int(scans[0])] for scans in (union.first, union.second) if int(scans[0]) in latest]
        if good and all(part in groups for part in parts):
            groups[number] = [*(old for part in parts for old in groups.pop(part)), union]
        for scan in (*union.first.tolist(), *union.second.tolist()):
            latest[scan] = number
    return list(groups.values())


def unions_without(unions: Sequence[Union], scan: int) -> list[Union]:
    """Return unions as they are without one of the scans; those that only brought it in are gone."""
    rest = (
        union._replace(first=union.first[union.first != scan], second=union.second[union.second != scan])
        for union in unions
    )
    return [union for union in rest if len(union.first) and len(union.second)]


def _elsewhere(places: Places, bonds: dict[tuple[int, int], _Bond], closed: _Array, pair: tuple[int, int]) -> float:
    """Return what speaks against a union of a single scan with a place that it may as well belong to another.

    That is the logarithm of by how many times the odds are less. Small places do not count: they may be parts of one.
    """
    sizes = np.bincount(places.labels, minlength=len(places.labels))
    single = [label for label in pair if sizes[label] == 1]
    if len(single) != 1 or max(sizes[label] for label in pair) < _ESTABLISHED:
        return 0.0
    others = [
        _order(bond, closed)
        for between, bond in bonds.items()
        if single[0] in between and max(sizes[label] for label in between) >= _ESTABLISHED
    ]
    return math.log1p(sum(math.exp(min(weight, _CERTAIN)) for weight in others))


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
    bound = (APART * places.voxel_size) ** 2 * 1.5
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
