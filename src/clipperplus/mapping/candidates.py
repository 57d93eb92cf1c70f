"""Which pairs of scans are worth registering: those that look alike, and more as long as places are apart."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from .grow import components_of
from .relations import Relation
from .rough_poses import RoughPoses
from .similarity import suggest_pairs
from .workbench import Pair

__all__ = ["doubtful_pairs", "first_pairs", "more_pairs"]

_Array: TypeAlias = npt.NDArray[np.float64]
_Numbers: TypeAlias = npt.NDArray[np.int64]

_NEIGHBOURS = 6
"""Scans that look most like each one, with which it is registered at first."""
_MORE_PAIRS = 6
"""Pairs that are tried for each place that is still alone, twice as many in every round, …"""
_MOST_PAIRS, _FEW_PAIRS = 12, 800
"""… and for each scan, at most, in all; but of few scans, all pairs."""
_MOST_TRIED, _MOST_TRIED_EACH = 300, 1
"""Pairs of a place with others that are registered, and so many more for each of its scans, before it is given up."""
_CLOSER_LOOKS = 4
"""Pairs of each such place, the likeliest ones, that are registered again with more effort, in every round."""
_HOPELESS = 0.02
"""Confidence of an answer below which a closer look is not worth it."""


def first_pairs(middles: _Array, similarities: _Array, rough: RoughPoses | None) -> list[Pair]:
    """Return the pairs that look most alike, and those that are nearest to each other by what is roughly known."""
    near = [] if rough is None else _neighbours(middles, rough)
    return [*near, *((int(a), int(b)) for a, b in suggest_pairs(similarities, _NEIGHBOURS))]


def _neighbours(middles: _Array, rough: RoughPoses) -> list[Pair]:
    """Return the pairs that are nearest to each other under rough poses."""
    places = np.einsum("nij,nj->ni", rough.poses[:, :3, :3], middles) + rough.poses[:, :3, 3]
    apart = np.linalg.norm(places[:, None] - places, axis=2)
    closeness = np.where(np.isnan(apart), -np.inf, -apart)
    np.fill_diagonal(closeness, -np.inf)
    pairs = ((int(a), int(b)) for a, b in suggest_pairs(closeness, _NEIGHBOURS))
    return [pair for pair in pairs if np.isfinite(closeness[pair])]


def more_pairs(labels: _Numbers, relations: Mapping[Pair, Relation], similarities: _Array, number: int) -> list[Pair]:
    """Return more pairs of different places, in the round of this number; no more than are worth it in all."""
    chosen = set[Pair]()
    for scans in _apart(labels):
        inside = set(scans.tolist())
        tried = sum((a in inside) != (b in inside) for a, b in relations)
        most = _MOST_TRIED + _MOST_TRIED_EACH * len(scans) - tried
        chosen.update(_untried(labels, scans, relations, similarities, min(_MORE_PAIRS * 2**number, most)))
    left = max(_FEW_PAIRS, _MOST_PAIRS * len(labels)) - len(relations)
    return sorted(chosen, key=lambda pair: (-similarities[pair], pair))[: max(0, left)]


def doubtful_pairs(labels: _Numbers, relations: Mapping[Pair, Relation]) -> list[Pair]:
    """Return pairs of different places, of each place the likeliest, that a closer look may be worth."""
    chosen = set[Pair]()
    for scans in _apart(labels):
        looked = [
            (-relation.confidence(0.5), pair)
            for pair, relation in relations.items()
            if labels[pair[0]] != labels[pair[1]]
            and (labels[scans[0]] in (labels[pair[0]], labels[pair[1]]))
            and relation.effort == "low"
            and relation.confidence(0.5) >= _HOPELESS
        ]
        chosen.update(pair for _, pair in sorted(looked)[:_CLOSER_LOOKS])
    return sorted(chosen)


def _apart(labels: _Numbers) -> list[_Numbers]:
    """Return the places that something may connect with the largest, or all if that is small, too."""
    members = components_of(labels)
    return members[1:] if len(members[0]) > 2 else members


def _untried(
    labels: _Numbers, scans: _Numbers, relations: Collection[Pair], similarities: _Array, most: int
) -> list[Pair]:
    """Return pairs of a place with others that look most alike and were not registered."""
    others = np.flatnonzero(labels != labels[scans[0]])
    alike = similarities[np.ix_(scans, others)]
    found: list[Pair] = []
    for flat in np.argsort(-alike, axis=None, kind="stable").tolist() if most > 0 else ():
        one, other = int(scans[flat // len(others)]), int(others[flat % len(others)])
        pair = (min(one, other), max(one, other))
        if pair not in relations:
            found.append(pair)
            if len(found) == most:
                break
    return found
