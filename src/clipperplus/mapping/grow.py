"""From relations to places: what to believe of the pairs that were registered, and which to register next."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Collection, Iterable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from .beliefs import Beliefs, believe
from .places import Places, Suggestions
from .relations import Relation
from .workbench import Pair, Workbench

__all__ = ["components_of", "grow_places", "least_seen", "overlap_prior", "seen_together", "suggestions_of"]

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
_RIGHT_ALTERNATIVE = 0.5
"""Share of the wrong answers for pairs that belong together whose best alternative is right, and …"""
_OPEN_ALTERNATIVE = 0.03
"""… of those that leave a direction open, which may be anywhere."""
_FOUND = 0.5
"""Share of the pairs that belong together whose answer is right."""
_LEAST_PROBABILITY = 0.001
_CONFLICT_SCALE, _MOST_AGAINST = 1.2, 12.0
"""So many times the usual conflict, beyond it, take 1 from the logarithm of the odds, up to this."""
_BACK_TO_BACK = -5.0
"""Of a motion under which two scans saw the same surface from its two sides."""
_SEEN_PAIRS = 16
"""That are looked at where two places would become one, at most, …"""
_SEEN_SHARE = 0.1
"""… of those of which this share comes near the other."""
_SEEN_WEIGHT = 0.5
"""Pairs beside each other show the same."""
_TELLING = 0.1
"""What a pair says that shows anything."""
_SEEN_BOUNDS = -3.0, 2.0
"""What one pair says, …"""
_SEEN_MOST = 6.0
"""… and what all of them say in favour, at most: walls lie on walls."""
_MISPLACED = -3.0
"""Logarithm of the probability that a sensor was found at a wrong place."""
_SEEN_AT_ONCE, _HOPELESS = 4, -6.0
"""Pairs that are looked at before it is asked whether to go on, and what they say if it is not worth it."""


def overlap_prior(relations: Iterable[Relation]) -> float:
    """Return which share of the pairs that were registered belongs together, as their confidences have it.

    Where most pairs of a folder are of different places, a confidence says less; how many are is what the confidences
    say together.
    """
    wrong, elsewhere = np.array([relation.against for relation in relations]).reshape(-1, 2).T
    prior = 0.5
    for _ in range(_PRIOR_ROUNDS if len(wrong) else 0):
        mean = float((1.0 / (1.0 + wrong + elsewhere * ((1.0 - prior) / prior))).mean())
        prior = min(max(mean, _PRIORS[0]), _PRIORS[1])
    return prior


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
        missed = (1.0 - confidence) * share * _missed(prior)
        weights += [_log_odds(missed * min(1.0, rivalry)) for rivalry in relation.rivalries[1:]]
        rows += [
            (number, relation.source, relation.target, motion, weight + _BACK_TO_BACK * backs)
            for motion, weight, backs in zip(relation.motions, weights, relation.back_to_back, strict=True)
            if ((relation.source, relation.target), motion.tobytes()) not in refuted
        ]
    numbers, sources, targets = (np.array([row[k] for row in rows], dtype=np.int64) for k in range(3))
    motions = np.array([row[3] for row in rows]).reshape(-1, 4, 4)
    return Suggestions(numbers, sources, targets, motions, np.array([row[4] for row in rows], dtype=np.float64))


def _missed(prior: float) -> float:
    """Return which share of the pairs with wrong answers belongs together, if ``prior`` of all pairs do."""
    missed = (1.0 - _FOUND) * prior
    return missed / (missed + 1.0 - prior)


def _log_odds(probability: float) -> float:
    bounded = min(max(probability, _LEAST_PROBABILITY), 1.0 - _LEAST_PROBABILITY)
    return math.log(bounded / (1.0 - bounded))


def seen_together(supports: Iterable[float], least: float = -np.inf) -> float:
    """Return what several pairs say together about two places, as the logarithm of odds: many no more than some.

    Pairs that show next to nothing are not counted.
    """
    said = _SEEN_WEIGHT * np.clip(np.array(list(supports), dtype=np.float64), *_SEEN_BOUNDS)
    telling = int(np.count_nonzero(np.abs(said) >= _TELLING))
    return max(min(float(said.sum()) * min(1.0, _SEEN_PAIRS / max(1, telling)), _SEEN_MOST), least)


def least_seen(bench: Workbench, first: Collection[int], second: Collection[int]) -> float:
    """Return what can be seen against a union of two places, at most.

    Whatever contradicts a single scan may be due to one thing: its sensor was not where it seems to have been.
    """
    single = [next(iter(scans)) for scans in (first, second) if len(scans) == 1]
    return _MISPLACED if any(bench.outlines[scan].viewpoint.source == "found" for scan in single) else -np.inf


def grow_places(
    bench: Workbench,
    places: Places,
    some: Suggestions,
    *,
    likely: float,
    only: int | None = None,
    tested: dict[bytes, float] | None = None,
) -> Beliefs:
    """Join places, as far as suggestions and what is seen make it ``likely``, odds' logarithm; ``places`` is changed.

    What was ``tested`` before need not be looked at again; what is tested is put there.
    """
    known = {} if tested is None else tested

    def test(first: _Numbers, second: _Numbers, poses: _Array, followed: _Numbers) -> float:
        parts = some.source[followed], some.target[followed], first, second, poses[first], poses[second]
        all_of_it = hashlib.sha256(np.float64(bench.usual_conflict).tobytes())
        for part in parts:
            all_of_it.update(len(part).to_bytes(8, "little") + part.tobytes())
        key = all_of_it.digest()
        if key not in known:
            known[key] = look(first, second, poses, followed)
        return known[key]

    def look(first: _Numbers, second: _Numbers, poses: _Array, followed: _Numbers) -> float:
        related = set(zip(some.source[followed].tolist(), some.target[followed].tolist(), strict=True))
        pairs = [pair for _, pair in bench.near(first, second, poses, _SEEN_SHARE)[:_SEEN_PAIRS] if pair not in related]
        said: list[float] = []
        while pairs and seen_together(said) > _HOPELESS:
            said += [sighting.support for sighting in bench.look(pairs[:_SEEN_AT_ONCE], poses, "")]
            pairs = pairs[_SEEN_AT_ONCE:]
        return seen_together(said, least_seen(bench, first.tolist(), second.tolist()))

    return believe(places, some, test, likely=likely, only=only)


def components_of(labels: _Numbers) -> list[_Numbers]:
    """Return the scans of each place, the largest place first; of equal ones, that with the lowest scan."""
    members = [np.flatnonzero(labels == label) for label in np.unique(labels)]
    return sorted(members, key=lambda scans: (-len(scans), int(scans[0])))
