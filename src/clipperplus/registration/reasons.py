"""Why an answer is not to be trusted: in words, with what may help, and in numbers.

Every reason is a rule: when it holds, what it says, what helps, and the numbers it is about. A new one is one more
entry of ``_RULES``; what it looks at is a field of :class:`~clipperplus.Evidence`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

from .confidence import CHANCE_ALLOWED, Evidence, Status

__all__ = ["Case", "Reason", "Rival", "find_reasons"]

_TURNED = 15.0
"""Degrees from which on a rival is turned; below, it is shifted."""


@dataclass(frozen=True)
class Reason:
    """Why an answer is not to be trusted."""

    kind: str
    """Short and always the same, to be compared with: ``"mirrored"``, ``"scaled"``, ``"chance"``, ``"rival"`` …"""
    text: str
    """What is wrong, in a sentence."""
    help: str
    """What may be done about it."""
    numbers: dict[str, float]
    """What it is about, by name."""

    def to_dict(self) -> dict[str, Any]:
        """Return it in plain Python types."""
        return asdict(self)


class Rival(NamedTuple):
    """Another transform that explains the data about as well."""

    turn: float
    """Degrees between it and the answer."""
    shift: float
    """Metres between where it and the answer move the middle of the source."""
    score: float
    """Relative to the answer's."""


@dataclass(frozen=True)
class Case:
    """What is known of an answer when it is judged."""

    status: Status
    confidence: float
    min_confidence: float
    prior: float
    evidence: Evidence
    agreeing: int
    """Associations of the largest consistent set."""
    points: tuple[int, int]
    """How many the source and the target have."""
    rivals: tuple[Rival, ...]
    """The best first; only those that are returned with the answer."""
    undetermined: tuple[str, ...]
    """Turns and shifts, in words."""

    @property
    def of_clouds(self) -> bool:
        """Whether there are surfaces to speak of."""
        return self.evidence.overlap is not None


@dataclass(frozen=True)
class _Rule:
    kind: str
    holds: Callable[[Case], bool]
    text: Callable[[Case], str]
    help: Callable[[Case], str]
    numbers: Callable[[Case], dict[str, float]] = lambda case: {}

    def reason(self, case: Case) -> Reason:
        numbers = {name: float(value) for name, value in self.numbers(case).items()}
        return Reason(self.kind, self.text(case), self.help(case), numbers)


class _Weight(NamedTuple):
    """A number of the evidence that may be what makes the confidence low."""

    field: str
    usual: float
    """What right answers have: how much more confidence there were with it is how much it weighs."""
    text: str
    help: str


_OVERLAP_MORE = "use scans that share more of the scene, or larger ones"
_WEIGHTS = (
    _Weight("explained", 100, "only {explained} of {associations} matches agree with it", _OVERLAP_MORE),
    _Weight(
        "rivalry",
        0.1,
        "another transform explains the scans {rivalry:.0%} as well",
        "let other knowledge choose, such as odometry or a rough transform: see the alternatives",
    ),
    _Weight(
        "runner_up",
        0.3,
        "the best other transform has {runner_up:.2f} of its score",
        "let other knowledge choose, such as odometry or a rough transform: see the alternatives",
    ),
    _Weight("overlap", 0.5, "only {overlap:.0%} of the source lies on the target's surface", _OVERLAP_MORE),
    _Weight("against", 0.02, "{against:.0%} of the source lies at an angle to the target's surface", _OVERLAP_MORE),
    _Weight("detail", 0.3, "only {detail:.0%} of what is bent lies on the target's surface", _OVERLAP_MORE),
    _Weight(
        "nearby_overlap",
        0.6,
        "only {nearby_overlap:.0%} of what comes near the other surface lies on it",
        "check that the scans are of the same place, and that little has changed",
    ),
    _Weight("residual", 0.15, "the surfaces stay {residual:.2f} voxels apart", "try smaller voxels"),
    _Weight(
        "conflict",
        0.005,
        "{conflict:.1%} of the points lie where the other sensor looked through",
        "tell where the sensors were; of maps and models, say free_space=False",
    ),
    _Weight("undetermined", 0, "{undetermined} directions of the motion are open", "use scans that see more shapes"),
    _Weight("points", 1000, "only {points} points are left in voxels", "try smaller voxels"),
)


def find_reasons(case: Case) -> tuple[Reason, ...]:
    """Return all that speaks against an answer, what its status says first; nothing if it is to be trusted."""
    if case.status is Status.OK:
        return ()
    return tuple(rule.reason(case) for rule in _RULES if rule.holds(case))


def _too_few(case: Case) -> str:
    if case.agreeing < 3:
        return f"only {case.agreeing} of {case.evidence.associations} matches agree, and a transform takes three"
    if case.of_clouds:
        return "no more of the surfaces agrees than disagrees under it"
    return "no transform that the matches suggest makes more of the surfaces agree than disagree"


def _rival(case: Case) -> str:
    others = "another transform explains the scans about as well"
    if not case.rivals:
        return others
    best = case.rivals[0]
    return f"{others}, {best.turn:.0f}° and {best.shift:.3g} m from this one: see the alternatives"


def _rival_numbers(case: Case) -> dict[str, float]:
    return case.rivals[0]._asdict() if case.rivals else {"score": case.evidence.runner_up}


def _has_rival(case: Case, *, turned: bool) -> bool:
    return bool(case.rivals) and case.of_clouds and (case.rivals[0].turn >= _TURNED) == turned


def _scale_numbers(case: Case) -> dict[str, float]:
    found = case.evidence
    return {
        "scale": found.scale or 1.0,
        "deviation": found.scale_deviation or 0.0,
        "gain": found.scale_gain or 1.0,
    }


def _chance(case: Case) -> str:
    expected = math.exp(min(case.evidence.chance or 0.0, 300.0))
    many = f"{expected:.2g}" if expected < 1e6 else "very many"
    return (
        f"{case.evidence.explained} matches that agree may be chance: of {case.evidence.associations} random ones, "
        f"{many} such sets are expected"
    )


def _heaviest(case: Case) -> tuple[_Weight | None, float]:
    """Return what weighs most against an answer: the number without which the confidence would be highest."""
    best: tuple[_Weight | None, float] = None, case.evidence.confidence(case.prior)
    for weight in _WEIGHTS:
        if getattr(case.evidence, weight.field) is not None:
            usual: dict[str, Any] = {weight.field: weight.usual}
            confidence = replace(case.evidence, **usual).confidence(case.prior)
            if confidence > best[1]:
                best = weight, confidence
    return best


def _low_confidence(case: Case) -> str:
    said = f"the confidence, {case.confidence:.2f}, is below {case.min_confidence:g}"
    weight, confidence = _heaviest(case)
    if case.prior < 0.5 and case.evidence.confidence(0.5) > confidence:
        return f"{said}: most of all, a prior of {case.prior:g} speaks against it"
    return said if weight is None else f"{said}: most of all, {weight.text.format(**asdict(case.evidence))}"


def _low_confidence_help(case: Case) -> str:
    weight, _ = _heaviest(case)
    return _OVERLAP_MORE if weight is None else weight.help


def _low_confidence_numbers(case: Case) -> dict[str, float]:
    weight, _ = _heaviest(case)
    found = {} if weight is None else {weight.field: float(getattr(case.evidence, weight.field))}
    return {"confidence": case.confidence, "min_confidence": case.min_confidence, "prior": case.prior, **found}


_RULES = (
    _Rule(
        "no points",
        lambda case: 0 in case.points,
        lambda case: f"the {'target' if case.points[0] else 'source'} has no points",
        lambda case: "check the file, and whether its points are finite numbers",
    ),
    _Rule(
        "too few inliers",
        lambda case: case.status is Status.TOO_FEW_INLIERS and 0 not in case.points,
        _too_few,
        lambda case: "check that the scans overlap, and that epsilon is as large as the errors of right matches",
        lambda case: {"agreeing": case.agreeing, "associations": case.evidence.associations},
    ),
    _Rule(
        "mirrored",
        lambda case: case.evidence.mirrored is True,
        lambda case: "the matches agree with a mirrored copy, and with no rotation",
        lambda case: "one of the two has its axes swapped or the sign of one changed: undo that",
    ),
    _Rule(
        "scaled",
        lambda case: case.evidence.is_scaled,
        lambda case: f"the target is {case.evidence.scale or 1.0:.4g} times as large as the source",
        lambda case: "bring both to the same unit: divide the target's coordinates by this number",
        _scale_numbers,
    ),
    _Rule(
        "beyond motion",
        lambda case: case.evidence.beyond_motion is True,
        lambda case: "a rigid motion that is not of the kind that was asked for fits clearly better",
        lambda case: "check what is up in both frames, or allow more motions",
    ),
    _Rule(
        "degenerate",
        lambda case: case.status is Status.DEGENERATE or bool(case.undetermined),
        lambda case: f"the scans do not determine {' and '.join(case.undetermined) or 'the motion'}",
        lambda case: "use the other directions, or scans that see more shapes: see degenerate_directions",
        lambda case: {"directions": case.evidence.undetermined or len(case.undetermined)},
    ),
    _Rule(
        "rival",
        lambda case: case.status is Status.AMBIGUOUS or bool(case.rivals),
        _rival,
        lambda case: "let other knowledge choose, such as odometry or a rough transform; larger scans help",
        _rival_numbers,
    ),
    _Rule(
        "symmetric",
        lambda case: _has_rival(case, turned=True),
        lambda case: f"the scene looks about the same when it is turned by {case.rivals[0].turn:.0f}°",
        lambda case: "scan what tells the sides apart, or say roughly how the scans are turned",
        _rival_numbers,
    ),
    _Rule(
        "repetition",
        lambda case: _has_rival(case, turned=False),
        lambda case: f"the scene repeats itself: it looks about the same {case.rivals[0].shift:.3g} m further",
        lambda case: "scan up to where the repetition ends, or say roughly where the scans are",
        _rival_numbers,
    ),
    _Rule(
        "noise",
        lambda case: case.evidence.noise is True,
        lambda case: "the points look like noise: their normals agree no better than random ones",
        lambda case: "try larger voxels, or clouds with less noise",
    ),
    _Rule(
        "sensor pattern",
        lambda case: case.evidence.sensor_pattern is True,
        lambda case: "what agrees is the pattern of the sensor, which moves with it, not the scene",
        lambda case: "try voxels larger than the gaps between scan lines",
    ),
    _Rule(
        "chance",
        lambda case: not case.evidence.is_refuted and (case.evidence.chance or -math.inf) > CHANCE_ALLOWED,
        _chance,
        lambda case: "use more or better matches, or a smaller epsilon",
        lambda case: {"log_expected": case.evidence.chance or 0.0, "explained": case.evidence.explained},
    ),
    _Rule(
        "low confidence",
        lambda case: case.status is Status.UNCERTAIN and not case.evidence.is_refuted,
        _low_confidence,
        _low_confidence_help,
        _low_confidence_numbers,
    ),
)
"""In the order in which they are said."""
