"""What became of every pair of scans that was looked at, and of those that fit nowhere, in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ..geometry.poses import inverse
from ..registration.confidence import Status
from .links import Link
from .map import Edge, EdgeStatus
from .relations import Relation
from .survey import Survey
from .workbench import Pair, Workbench

__all__ = ["make_edges", "why_alone"]

_Array: TypeAlias = npt.NDArray[np.float64]
_Numbers: TypeAlias = npt.NDArray[np.int64]


def make_edges(bench: Workbench, survey: Survey, numbers: _Numbers) -> Iterator[Edge]:
    """Yield what became of each pair, in the numbering of the caller."""
    links = {(link.source, link.target): link for place in survey.places for link in place.links}
    poses = {int(scan): pose for place in survey.places for scan, pose in zip(place.scans, place.poses, strict=True)}
    home = {int(scan): number for number, place in enumerate(survey.places) for scan in place.scans}
    for pair in sorted(links.keys() | bench.relations.keys()):
        source, target = pair
        relation, link = bench.relations.get(pair), links.get(pair)
        together = home.get(source, -1) == home.get(target, -2)
        where = (inverse(poses[target][None]) @ poses[source][None])[0] if together else None
        if link is not None and where is not None:
            yield _believed(bench, survey, pair, numbers, relation, link, where)
        elif relation is not None:
            yield _not_believed(bench, survey, pair, numbers, relation, where)


def _believed(
    bench: Workbench,
    survey: Survey,
    pair: Pair,
    numbers: _Numbers,
    relation: Relation | None,
    link: Link,
    where: _Array,
) -> Edge:
    """Return an edge that the map is made of."""
    of_map = float(survey.confidence[list(pair)].min())
    own = None if relation is None else relation.confidence(survey.priors[pair])
    reason = {
        "registered": "the answer of the registration, and it agrees with the others",
        "alternative": "an alternative of the registration that agrees with the others",
        "seen": "both scans show the same where the map puts them",
    }[link.origin]
    return Edge(
        source=int(numbers[link.source]),
        target=int(numbers[link.target]),
        status=EdgeStatus.BELIEVED,
        reason=reason,
        origin=link.origin,
        confidence=own if link.origin == "registered" and own is not None else of_map,
        T_target_source=link.motion,
        covariance=link.covariance,
        overlap=link.overlap,
        shift=_shift(bench, pair[0], link.motion, where),
    )


def _not_believed(
    bench: Workbench, survey: Survey, pair: Pair, numbers: _Numbers, relation: Relation, where: _Array | None
) -> Edge:
    """Return a pair that was registered in vain."""
    prior = survey.priors[pair]
    confidence = relation.confidence(prior)
    motion = relation.motions[0] if len(relation.motions) else None
    shift = None if motion is None or where is None else _shift(bench, pair[0], motion, where)
    refused = shift is not None and motion is not None
    if motion is None:
        reason = relation.reasons[0] if relation.reasons else "no transform was found"
    elif refused:
        reason = f"it would move the scan by {shift:.2f} m from where all others put it"
    elif relation.reasons:
        reason = relation.reasons[0]
    else:
        reason = (
            f"a confidence of {confidence:.2f} is not enough where {100.0 * prior:.0f} % of such pairs belong together"
        )
    return Edge(
        source=int(numbers[pair[0]]),
        target=int(numbers[pair[1]]),
        status=EdgeStatus.REFUSED if refused else EdgeStatus.DOUBTED,
        reason=reason,
        origin="registered",
        confidence=confidence,
        T_target_source=motion,
        covariance=relation.covariance if motion is not None else None,
        overlap=relation.evidence.overlap,
        shift=shift,
    )


def _shift(bench: Workbench, source: int, motion: _Array, where: _Array) -> float:
    """Return how far apart two motions put a scan, root mean square, in metres."""
    change = motion - where
    moved = bench.corners[source] @ change[:3, :3].T + change[:3, 3]
    return float(np.sqrt((moved**2).sum(axis=1).mean()))


def why_alone(
    count: int, placed: npt.NDArray[np.bool_], numbers: _Numbers, bench: Workbench, survey: Survey
) -> list[str]:
    """Return why each scan was left out; nothing for those that were placed."""
    reasons = ["" if there else "it has too few points" for there in placed]
    for scan, number in enumerate(numbers.tolist()):
        if placed[number]:
            continue
        tried = [relation for pair, relation in bench.relations.items() if scan in pair]
        if not tried:
            reasons[number] = "there is no other scan that it could belong to"
            continue
        best = max(tried, key=lambda relation: _promise(relation, survey))
        other = int(numbers[best.target if best.source == scan else best.source])
        because = best.reasons[0] if best.reasons else f"its confidence is {_own_confidence(best, survey):.2f}"
        scans = "the one scan" if len(tried) == 1 else f"any of {len(tried)} scans"
        reasons[number] = f"it does not fit {scans} that it was registered with; nearest came scan {other}: {because}"
    return reasons


def _promise(relation: Relation, survey: Survey) -> tuple[float, float]:
    """Return how nearly a pair would have been believed: one that is certain to be mirrored or scaled says the most."""
    explained = relation.status is Status.MIRRORED or relation.evidence.is_scaled
    return 1.0 if explained else _own_confidence(relation, survey), relation.evidence.overlap or 0.0


def _own_confidence(relation: Relation, survey: Survey) -> float:
    return relation.confidence(survey.priors[relation.source, relation.target])
