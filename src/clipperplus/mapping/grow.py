"""From relations to places: what to believe of the pairs that were registered, and which to register next."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ..geometry.poses import inverse
from .beliefs import Beliefs, Places, Suggestions, believe
from .relations import Relation
from .workbench import Pair, Workbench

__all__ = ["components_of", "grow_places", "overlap_prior", "suggestions_of", "usual_conflict"]

_Array: TypeAlias = npt.NDArray[np.float64]
_Numbers: TypeAlias = npt.NDArray[np.int64]

_PRIORS = 0.02, 0.9
"""Bounds of how likely it is that a pair which was registered belongs together."""
_PRIOR_ROUNDS = 30
"""Of the estimate."""
_MOST_CERTAIN = 5.0
"""Logarithm of the odds: no registration says more by itself."""
_OPEN_WEIGHT = -2.0
"""Of an answer that leaves a direction open, at most."""
_RIGHT_ALTERNATIVE = 0.3
"""Share of the wrong answers whose best alternative is right, and …"""
_OPEN_ALTERNATIVE = 0.03
"""… of those that leave a direction open, which may be anywhere."""
_LEAST_PROBABILITY = 0.001
_CERTAIN, _USUAL_SHARE, _USUAL_TIMES = 0.95, 0.7, 4.0
"""Of pairs this certain, the conflict that such a share of them does not exceed, so many times, is usual, …"""
_USUAL_CONFLICTS = 0.004, 0.02
"""… within bounds: at edges there is always some. …"""
_CONFLICT_SCALE, _MOST_AGAINST = 1.2, 12.0
"""So many times the usual conflict take 1 from the logarithm of the odds, up to this."""
_BACK_TO_BACK = -5.0
"""Of a motion under which two scans saw the same surface from its two sides."""
_SEEN_PAIRS = 16
"""That are looked at where two places would become one, at most, …"""
_SEEN_SHARE = 0.1
"""… of those of which this share comes near the other."""
_SEEN_WEIGHT = 0.5
"""Pairs beside each other show the same."""
_SEEN_BOUNDS = -3.0, 2.0
"""What one pair says, …"""
_SEEN_MOST = 3.0
"""… and what all of them say in favour, at most: walls lie on walls."""


def overlap_prior(relations: Iterable[Relation]) -> float:
    """Return which share of the pairs that were registered belongs together, as their confidences have it.

    Where most pairs of a folder are of different places, a confidence says less; how many are is what the confidences
    say together.
    """
    known = list(relations)
    prior = 0.5
    for _ in range(_PRIOR_ROUNDS):
        mean = float(np.mean([relation.confidence(prior) for relation in known])) if known else prior
        prior = min(max(mean, _PRIORS[0]), _PRIORS[1])
    return prior


def usual_conflict(relations: Iterable[Relation]) -> float:
    """Return the conflict that pairs of these scans have even if they are right: they are bent, or things moved.

    Clean scans have hardly any, and then a little tells a room from its twin.
    """
    found = [
        relation.evidence.conflict
        for relation in relations
        if relation.evidence.conflict is not None and relation.confidence(0.5) > _CERTAIN
    ]
    usual = _USUAL_TIMES * float(np.quantile(found, _USUAL_SHARE)) if found else np.inf
    return min(max(usual, _USUAL_CONFLICTS[0]), _USUAL_CONFLICTS[1])


def suggestions_of(
    relations: Iterable[Relation],
    priors: Iterable[float],
    usual_conflict: float,
    refuted: Collection[tuple[Pair, bytes]] = (),
) -> Suggestions:
    """Return what registrations suggest, answers and alternatives, with their odds, given how likely each was before.

    Conflicts beyond what is usual speak against an answer. Motions that were ``refuted`` are left out.
    """
    rows: list[tuple[int, int, int, _Array, float]] = []
    for number, (relation, prior) in enumerate(zip(relations, priors, strict=True)):
        if not len(relation.motions):
            continue
        confidence = relation.confidence(prior)
        weight = min(_log_odds(confidence), _MOST_CERTAIN)
        share = _OPEN_ALTERNATIVE if relation.is_open else _RIGHT_ALTERNATIVE
        against = max(0.0, (relation.evidence.conflict or 0.0) / usual_conflict - 1.0) / _CONFLICT_SCALE
        weights = [(min(weight, _OPEN_WEIGHT) if relation.is_open else weight) - min(against, _MOST_AGAINST)]
        weights += [_log_odds((1.0 - confidence) * share * min(1.0, rivalry)) for rivalry in relation.rivalries[1:]]
        rows += [
            (number, relation.source, relation.target, motion, weight + _BACK_TO_BACK * backs)
            for motion, weight, backs in zip(relation.motions, weights, relation.back_to_back, strict=True)
            if ((relation.source, relation.target), motion.tobytes()) not in refuted
        ]
    numbers, sources, targets = (np.array([row[k] for row in rows], dtype=np.int64) for k in range(3))
    motions = np.array([row[3] for row in rows]).reshape(-1, 4, 4)
    return Suggestions(numbers, sources, targets, motions, np.array([row[4] for row in rows], dtype=np.float64))


def _log_odds(probability: float) -> float:
    bounded = min(max(probability, _LEAST_PROBABILITY), 1.0 - _LEAST_PROBABILITY)
    return math.log(bounded / (1.0 - bounded))


def seen_together(supports: Iterable[float]) -> float:
    """Return what several pairs say together about two places, as the logarithm of odds: many no more than some."""
    said = _SEEN_WEIGHT * np.clip(np.array(list(supports), dtype=np.float64), *_SEEN_BOUNDS)
    return min(float(said.sum()) * min(1.0, _SEEN_PAIRS / max(1, len(said))), _SEEN_MOST)


def grow_places(bench: Workbench, places: Places, some: Suggestions, *, only: int | None = None) -> Beliefs:
    """Join places, as far as suggestions and what is seen make it likely; ``places`` is changed."""
    seen: dict[bytes, float] = {}

    def test(first: _Numbers, second: _Numbers, poses: _Array, followed: _Numbers) -> float:
        related = set(zip(some.source[followed].tolist(), some.target[followed].tolist(), strict=True))
        pairs = [pair for _, pair in bench.near(first, second, poses, _SEEN_SHARE)[:_SEEN_PAIRS] if pair not in related]
        return seen_together([_said(bench, pair, poses, seen) for pair in pairs])

    return believe(places, some, test, only=only)


def _said(bench: Workbench, pair: Pair, poses: _Array, seen: dict[bytes, float]) -> float:
    """Return what is seen of a pair where poses put it; the same pair at the same place is looked at once."""
    motion = (inverse(poses[[pair[1]]]) @ poses[[pair[0]]])[0]
    key = np.array(pair).tobytes() + motion.tobytes()
    if key not in seen:
        (sighting,) = bench.look([pair], poses, "")
        seen[key] = sighting.support
    return seen[key]


def components_of(labels: _Numbers) -> list[_Numbers]:
    """Return the scans of each place, the largest place first; of equal ones, that with the lowest scan."""
    members = [np.flatnonzero(labels == label) for label in np.unique(labels)]
    return sorted(members, key=lambda scans: (-len(scans), int(scans[0])))
