"""The way from prepared scans to places: register what looks alike, believe what agrees, look again, and go on."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from .beliefs import Beliefs, Union, join_again, standing, unions_without
from .candidates import doubtful_pairs, first_pairs, more_pairs
from .grow import components_of, grow_places, least_seen, overlap_prior, seen_together, suggestions_of
from .links import Link, are_connected
from .places import Places, Suggestions
from .rough_poses import RoughPoses
from .settle import Settled, look_around, settle
from .workbench import Pair, Workbench

__all__ = ["Survey", "make_survey"]

_Array: TypeAlias = npt.NDArray[np.float64]
_Numbers: TypeAlias = npt.NDArray[np.int64]

_ROUNDS = 10
_WORTH_IT, _LIKELY = -4.0, 0.2
"""Logarithm of the odds from which on two places become one, to see more of them once their poses have settled, and
below which that is undone."""
_LIKELY_ALONE, _SUGGESTED_ENOUGH = 3.2, 1.0
"""The same of a single scan for which suggestions do not say so much: one of walls lies on walls in many places."""
_STAYS_ALONE = 2.0
"""Logarithm of the odds below which such a scan is taken out again in the end."""
_REFUTED = -3.0
"""Logarithm of the odds below which what led to it is not followed again. In between, …"""
_SUGGESTED, _SUGGESTED_SHARE = 6, 0.15
"""… so many pairs that would share this much, those that share the most, are registered, to know more."""
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
        surveyor.register(first_pairs(bench.corners[:, 0], similarities, rough))
    else:
        surveyor.register([(min(pair), max(pair)) for pair in pairs if pair[0] != pair[1]])
    for number in range(_ROUNDS):
        surveyor.grow()
        if not surveyor.register_more(number, fresh=pairs is None):
            break
    return surveyor.finish()


def _least(union: Union) -> float:
    """Return the logarithm of the odds below which a union is undone."""
    single = min(len(union.first), len(union.second)) == 1
    return _LIKELY_ALONE if single and union.weight < _SUGGESTED_ENOUGH else _LIKELY


_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


def _put_back(
    now: dict[_Key, _Value], before: dict[_Key, _Value], scans: _Numbers, scan_of: Callable[[_Key], int]
) -> dict[_Key, _Value]:
    """Return what is known now, but of some scans what was known before."""
    some = set(scans.tolist())
    others = {key: value for key, value in now.items() if scan_of(key) not in some}
    return others | {key: value for key, value in before.items() if scan_of(key) in some}


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
        self._doubted: set[tuple[Pair, bytes]] = set()
        self._suggested: set[Pair] = set()
        self._tested: dict[bytes, float] = {}
        self._proven = True

    def register(self, pairs: list[Pair]) -> None:
        """Register pairs that were not yet, quickly; they share how likely it is that they belong together."""
        new = sorted({pair for pair in pairs if pair not in self._bench.relations})
        if new:
            self._bench.relate(new, "low", "registering pairs")
            self._batches.append(new)

    def grow(self) -> None:
        """Join what agrees, and settle the places that changed; undo what looking refutes, and try again there."""
        self._doubted.clear()  # since then, more is known
        while True:
            before, known, links = self._places.copy(), dict(self._settled), dict(self._links)
            pairs, some = self._suggestions()
            beliefs = grow_places(self._bench, self._places, some, likely=_WORTH_IT, tested=self._tested)
            self._proven = self._proven and beliefs.proven
            self._take_over(pairs, some, beliefs)
            odds = [self._odds(union) for union in beliefs.unions]
            stands = [likely >= _least(union) for union, likely in zip(beliefs.unions, odds, strict=True)]
            if all(stands):
                self._unions += beliefs.unions
                return
            for union, likely in zip(beliefs.unions, odds, strict=True):
                if likely < _least(union):
                    self._refute(union, some, for_good=likely < _REFUTED)
            self._undo(beliefs.unions, stands, before, known, links)
            kept = [union for group in standing(beliefs.unions, stands) for union in group]
            self._unions += kept
            undone = [
                union for union in kept if self._places.labels[union.first[0]] != self._places.labels[union.second[0]]
            ]
            self._take_over(pairs, some, join_again(self._places, some, undone))

    def _undo(
        self,
        unions: Sequence[Union],
        stands: Sequence[bool],
        before: Places,
        known: dict[int, Settled],
        links: dict[Pair, Link],
    ) -> None:
        """Undo all unions of places of which one does not stand."""
        wrong = [union.first[0] for union, good in zip(unions, stands, strict=True) if not good]
        scans = np.flatnonzero(np.isin(self._places.labels, self._places.labels[wrong]))
        self._places.undo(scans, before)
        self._settled = _put_back(self._settled, known, scans, lambda label: label)
        self._links = _put_back(self._links, links, scans, lambda pair: pair[0])

    def _refute(self, union: Union, some: Suggestions, *, for_good: bool) -> None:
        """Do not follow what led to a union; if not for good, registrations that it suggests may show it right."""
        for number in union.followed.tolist():
            pair = (int(some.source[number]), int(some.target[number]))
            (self._refuted if for_good else self._doubted).add((pair, some.motions[number].tobytes()))
        if not for_good:
            near = self._bench.near(union.first, union.second, self._places.poses, _SUGGESTED_SHARE)
            new = [pair for _, pair in near if pair not in self._bench.relations]
            self._suggested.update(new[:_SUGGESTED])

    def _take_over(self, pairs: list[Pair], some: Suggestions, beliefs: Beliefs) -> None:
        """Remember what is believed, and settle the places that changed."""
        self._link(pairs, some, beliefs)
        for label, scans in self._members().items():
            known = self._settled.get(label)
            if len(scans) > 1 and (known is None or len(known.scans) != len(scans)):
                links = tuple(link for pair, link in sorted(self._links.items()) if pair[0] in scans)
                self._settle(label, look_around(self._bench, settle(scans, beliefs.poses[scans], links, {}), ""))

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
        refuted = self._refuted | self._doubted | self._denied()
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
                covariance = self._bench.covariance(pair, some.motions[number])
                origin: Literal["registered", "alternative"] = "registered" if first else "alternative"
                self._links[pair] = Link(pair[0], pair[1], some.motions[number], covariance, origin)

    def register_more(self, number: int, *, fresh: bool) -> bool:
        """Register more pairs of different places, or the same looking closer; say whether anything was left to try."""
        labels, relations = self._places.labels, self._bench.relations
        if len(np.unique(labels)) < 2:
            return False
        suggested = sorted(self._suggested) if fresh else []
        self._suggested.clear()
        untried = more_pairs(labels, relations, self._similarities, number) if fresh else []
        doubtful = doubtful_pairs(labels, relations)
        self.register(suggested)
        self.register(untried)
        if doubtful:
            self._bench.relate(doubtful, "normal", "looking closer")
        return bool(suggested or untried or doubtful)

    def finish(self) -> Survey:
        """Look at all pairs that overlap once more, leave out what does not stand it, and say how sure each pose is."""
        for label, scans in self._members().items():
            for _ in range(_LAST_LOOKS if len(scans) > 1 else 0):
                self._settle(label, look_around(self._bench, self._settled[label], "looking again"))
        self._leave_out()
        places = self._large_places()
        return Survey(places, self._confidence(places), self.priors(), self._bench.usual_conflict, self._proven)

    def _large_places(self) -> tuple[Settled, ...]:
        """Return places of several scans, the largest first."""
        return tuple(self._settled[label] for label, scans in self._members().items() if len(scans) > 1)

    def _leave_out(self) -> None:
        """Take scans out that joined a place alone, and that by now may as well be somewhere else."""
        single = {
            int(scans[0]): union
            for union in self._unions
            for scans in (union.first, union.second)
            if len(scans) == 1 and len(union.first) + len(union.second) > 2
        }
        sure = self._confidence(self._large_places())
        for scan, union in single.items():
            label = int(self._places.labels[scan])
            links = tuple(link for link in self._settled[label].links if scan not in (link.source, link.target))
            rest = self._settled[label].scans
            rest = rest[rest != scan]
            if union.weight >= _SUGGESTED_ENOUGH:
                stays = self._odds(union) >= 0.0
            else:
                stays = self._odds(union) >= _STAYS_ALONE and sure[scan] >= 0.5
            if stays or not are_connected(rest, links):
                continue
            self._unions = unions_without(self._unions, scan)
            self._links = {pair: link for pair, link in self._links.items() if scan not in pair}
            self._places.take_out(scan)
            keep = np.isin(self._settled[label].scans, rest)
            sightings = {pair: seen for pair, seen in self._settled[label].sightings.items() if scan not in pair}
            poses = self._settled[label].poses[keep]
            del self._settled[label]
            self._settle(int(rest[0]), settle(rest, poses, links, sightings))

    def _confidence(self, places: tuple[Settled, ...]) -> _Array:
        """Return how sure each scan's pose is: that of every union by which its side, the smaller one, came in."""
        result = np.zeros(len(self._places.labels))
        for place in places:
            result[place.scans] = 1.0
        for union in self._unions:
            smaller = union.second if len(union.second) <= len(union.first) else union.first
            result[smaller] *= min(_MOST_CONFIDENT, 1.0 / (1.0 + math.exp(-max(-30.0, self._odds(union)))))
        return result
