"""The way from prepared scans to places: register what looks alike, believe what agrees, look again, and go on."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from .beliefs import Beliefs, Places, Suggestions, Union
from .grow import components_of, grow_places, least_seen, overlap_prior, seen_together, suggestions_of
from .rough_poses import RoughPoses
from .settle import Link, Settled, link_covariance, look_around, settle
from .similarity import suggest_pairs
from .workbench import Pair, Workbench

__all__ = ["Survey", "make_survey"]

_Array: TypeAlias = npt.NDArray[np.float64]
_Numbers: TypeAlias = npt.NDArray[np.int64]

NEIGHBOURS = 6
"""Scans that look most like each one, with which it is registered at first."""
_MORE_PAIRS = 6
"""Pairs that are tried for each place that is still alone, twice as many in every round, …"""
_MOST_PAIRS = 12
"""… and for each scan, at most, in all."""
_CLOSER_LOOKS = 4
"""Pairs of each such place, the likeliest ones, that are registered again with more effort, in every round."""
_ROUNDS = 10
_HOPELESS = 0.02
"""Confidence of an answer below which a closer look is not worth it."""
_WORTH_IT, _LIKELY = -4.0, 0.4
"""Logarithm of the odds from which on two places become one, to see more of them once their poses have settled, and
below which that is undone."""
_LAST_LOOKS = 2
"""At all pairs that overlap, in the end: each makes the poses more precise."""
_MOST_CONFIDENT = 0.999


@dataclass(frozen=True, eq=False)
class Survey:
    """Places, and how it came to them."""

    places: tuple[Settled, ...]
    """Of two scans or more, the largest first."""
    confidence: _Array
    """``(n,)`` of each scan, relative to its place."""
    priors: dict[Pair, float]
    """How likely it was beforehand that each pair which was registered belongs together."""
    usual_conflict: float
    """The conflict that pairs of these scans have even if they are right."""
    proven: bool
    """Whether every set of pairs that agree is proven to be the largest."""


def make_survey(
    bench: Workbench, similarities: _Array, rough: RoughPoses | None = None, pairs: list[Pair] | None = None
) -> Survey:
    """Find places; ``rough`` is what is known of the poses; if ``pairs`` are given, no others are registered."""
    surveyor = _Surveyor(bench, similarities, rough)
    if pairs is None:
        near = [] if rough is None else _neighbours(bench, rough)
        surveyor.register([*near, *((int(a), int(b)) for a, b in suggest_pairs(similarities, NEIGHBOURS))])
    else:
        surveyor.register([(min(pair), max(pair)) for pair in pairs if pair[0] != pair[1]])
    for number in range(_ROUNDS):
        surveyor.grow()
        if not surveyor.register_more(number, fresh=pairs is None):
            break
    return surveyor.finish()


def _neighbours(bench: Workbench, rough: RoughPoses) -> list[Pair]:
    """Return the pairs that are nearest to each other under rough poses."""
    places = np.einsum("nij,nj->ni", rough.poses[:, :3, :3], bench.corners[:, 0]) + rough.poses[:, :3, 3]
    apart = np.linalg.norm(places[:, None] - places, axis=2)
    closeness = np.where(np.isnan(apart), -np.inf, -apart)
    np.fill_diagonal(closeness, -np.inf)
    pairs = ((int(a), int(b)) for a, b in suggest_pairs(closeness, NEIGHBOURS))
    return [pair for pair in pairs if np.isfinite(closeness[pair])]


class _Surveyor:
    """What is known so far."""

    def __init__(self, bench: Workbench, similarities: _Array, rough: RoughPoses | None) -> None:
        self._bench, self._similarities, self._rough = bench, similarities, rough
        self._places = Places(bench.corners, bench.voxel_size)
        self._batches: list[list[Pair]] = []
        self._links: dict[Pair, Link] = {}
        self._settled: dict[int, Settled] = {}
        self._unions: list[Union] = []
        self._refuted: set[tuple[Pair, bytes]] = set()
        self._proven = True
        self._seen: dict[bytes, float] = {}

    def register(self, pairs: list[Pair]) -> None:
        """Register pairs that were not yet, quickly; they share how likely it is that they belong together."""
        new = sorted({pair for pair in pairs if pair not in self._bench.relations})
        if new:
            self._bench.relate(new, "low", "registering pairs")
            self._batches.append(new)

    def grow(self) -> None:
        """Join what agrees, and settle the places that changed; undo what is refuted by looking, and begin again."""
        self._seen.clear()  # since then, more is known of what is usual
        while True:
            before, known, links = self._places.copy(), dict(self._settled), dict(self._links)
            some, beliefs = self._join()
            wrong = [union for union in beliefs.unions if self._odds(union) < _LIKELY]
            if not wrong:
                self._unions += beliefs.unions
                self._proven = self._proven and beliefs.proven
                return
            for number in (int(number) for union in wrong for number in union.followed):
                pair = (int(some.source[number]), int(some.target[number]))
                self._refuted.add((pair, some.motions[number].tobytes()))
            self._places, self._settled, self._links = before, known, links

    def _join(self) -> tuple[Suggestions, Beliefs]:
        pairs, some = self._suggestions()
        before = {label: len(scans) for label, scans in self._members().items()}
        beliefs = grow_places(self._bench, self._places, some, likely=_WORTH_IT, seen=self._seen)
        self._link(pairs, some, beliefs)
        for label, scans in self._members().items():
            if len(scans) > 1 and before.get(label) != len(scans):
                links = tuple(link for pair, link in sorted(self._links.items()) if pair[0] in scans)
                self._settle(label, look_around(self._bench, settle(scans, beliefs.poses[scans], links, {}), ""))
        return some, beliefs

    def _odds(self, union: Union) -> float:
        """Return the logarithm of the odds of a union, now that its places have settled."""
        first, second = set(union.first.tolist()), set(union.second.tolist())
        seen = self._settled[int(self._places.labels[union.first[0]])].sightings
        across = [
            sighting.support
            for (a, b), sighting in seen.items()
            if (a in first and b in second) or (a in second and b in first)
        ]
        return union.weight + seen_together(across, least_seen(self._bench, first, second))

    def _settle(self, label: int, place: Settled) -> None:
        self._settled[label] = place
        self._links |= {(link.source, link.target): link for link in place.links}
        related = np.array([(link.source, link.target) for link in place.links])
        self._places.settle(place.scans, place.poses, related)

    def _members(self) -> dict[int, _Numbers]:
        return {int(scans[0]): scans for scans in components_of(self._places.labels)}

    def priors(self) -> dict[Pair, float]:
        """Return how likely it was that each pair belongs together: those that were tried together are alike."""
        relations = self._bench.relations
        batches = ((overlap_prior(relations[pair] for pair in batch), batch) for batch in self._batches)
        return {pair: prior for prior, batch in batches for pair in batch}

    def _suggestions(self) -> tuple[list[Pair], Suggestions]:
        priors = self.priors()
        pairs = sorted(priors)
        relations = [self._bench.relations[pair] for pair in pairs]
        refuted = self._refuted | self._denied()
        bench, chances = self._bench, [priors[pair] for pair in pairs]
        return pairs, suggestions_of(relations, chances, bench.usual_conflict, refuted)

    def _denied(self) -> set[tuple[Pair, bytes]]:
        """Return what contradicts the poses that are roughly known."""
        if self._rough is None:
            return set()
        return {
            (pair, motion.tobytes())
            for pair, relation in self._bench.relations.items()
            for motion, allowed in zip(
                relation.motions,
                self._rough.allows(*pair, relation.motions, self._bench.corners[pair[0], 0]),
                strict=True,
            )
            if not allowed
        }

    def _link(self, pairs: list[Pair], some: Suggestions, beliefs: Beliefs) -> None:
        """Remember what is believed now."""
        followed = {int(number) for union in beliefs.unions for number in union.followed}
        for number in np.flatnonzero(beliefs.believed).tolist():
            pair = pairs[some.relation[number]]
            first = number == 0 or some.relation[number - 1] != some.relation[number]
            if pair not in self._links or number in followed:
                clouds = [self._bench.clouds[scan] for scan in pair]
                covariance = link_covariance(clouds[0], clouds[1], some.motions[number])
                origin: Literal["registered", "alternative"] = "registered" if first else "alternative"
                self._links[pair] = Link(pair[0], pair[1], some.motions[number], covariance, origin)

    def register_more(self, number: int, *, fresh: bool) -> bool:
        """Register more pairs of different places, or the same looking closer; say whether anything was left to try."""
        labels, relations = self._places.labels, self._bench.relations
        members = components_of(labels)
        if len(members) < 2:
            return False
        alone = members[1:] if len(members[0]) > 2 else members
        untried, doubtful = set[Pair](), set[Pair]()
        for scans in alone:
            if fresh:
                untried.update(self._untried(scans, _MORE_PAIRS * 2**number))
            looked = [
                (-relation.confidence(0.5), pair)
                for pair, relation in relations.items()
                if labels[pair[0]] != labels[pair[1]]
                and (labels[scans[0]] in (labels[pair[0]], labels[pair[1]]))
                and relation.effort == "low"
                and relation.confidence(0.5) >= _HOPELESS
            ]
            doubtful.update(pair for _, pair in sorted(looked)[:_CLOSER_LOOKS])
        left = _MOST_PAIRS * len(labels) - len(relations)
        ranked = sorted(untried, key=lambda pair: (-self._similarities[pair], pair))[: max(0, left)]
        self.register(ranked)
        if doubtful:
            self._bench.relate(sorted(doubtful), "normal", "looking closer")
        return bool(ranked or doubtful)

    def _untried(self, scans: _Numbers, most: int) -> list[Pair]:
        """Return pairs of a place with others that look most alike and were not registered."""
        labels = self._places.labels
        others = np.flatnonzero(labels != labels[scans[0]])
        alike = self._similarities[np.ix_(scans, others)]
        found: list[Pair] = []
        for flat in np.argsort(-alike, axis=None, kind="stable").tolist():
            one, other = int(scans[flat // len(others)]), int(others[flat % len(others)])
            pair = (min(one, other), max(one, other))
            if pair not in self._bench.relations:
                found.append(pair)
                if len(found) == most:
                    break
        return found

    def finish(self) -> Survey:
        """Look at all pairs that overlap once more, and say how sure each pose is."""
        for label, scans in self._members().items():
            for _ in range(_LAST_LOOKS if len(scans) > 1 else 0):
                self._settle(label, look_around(self._bench, self._settled[label], "looking again"))
        places = tuple(self._settled[label] for label, scans in self._members().items() if len(scans) > 1)
        return Survey(places, self._confidence(places), self.priors(), self._bench.usual_conflict, self._proven)

    def _confidence(self, places: tuple[Settled, ...]) -> _Array:
        """Return how sure each scan's pose is: that of every union by which its side, the smaller one, came in."""
        result = np.zeros(len(self._places.labels))
        for place in places:
            result[place.scans] = 1.0
        for union in self._unions:
            smaller = union.second if len(union.second) <= len(union.first) else union.first
            result[smaller] *= min(_MOST_CONFIDENT, 1.0 / (1.0 + math.exp(-max(-30.0, self._odds(union)))))
        return result
