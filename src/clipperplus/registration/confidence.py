"""Whether to believe a transform: the evidence, a calibrated probability, and the status that follows."""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .._validation import as_number
from .calibration import OF_CLOUDS, OF_MATCHES, OF_SCANS

__all__ = [
    "CHANCE_ALLOWED",
    "ENOUGH_POINTS",
    "WEIGHT_OF_FEW_POINTS",
    "Evidence",
    "Status",
    "as_prior",
    "clouds_terms",
    "judge",
    "matches_terms",
]


class Status(enum.Enum):
    """What to make of a pose."""

    OK = "ok"
    """Trust it."""
    UNCERTAIN = "uncertain"
    """There is a transform, but its confidence is below what was asked for, or the target is scaled: see
    ``pose.reasons``."""
    AMBIGUOUS = "ambiguous"
    """Another transform explains the data about as well: see ``pose.alternatives``."""
    DEGENERATE = "degenerate"
    """Some directions of the motion are not determined: see ``pose.degenerate_directions``."""
    MIRRORED = "mirrored"
    """The matches agree with a mirrored copy of the source, and with no rotation of it."""
    TOO_FEW_INLIERS = "too few inliers"
    """Fewer than three associations agree, or no more of the surfaces agrees than disagrees: there is no transform."""


_LEAST_RUNNER_UP = 0.05
"""Of matches: how small a share of the largest set the next one may be and still count, and …"""
_LEAST_RIVAL = 0.2
"""… of clouds: that nothing else was found says no more than that it is this much worse."""
# With few points, wrong answers explain the little that there is. More than benchmarks/few_points.py fits by now: one
# wrong answer in fifteen would be trusted with 200 points or fewer otherwise.
ENOUGH_POINTS = 1000
WEIGHT_OF_FEW_POINTS = 3.0
CHANCE_ALLOWED = math.log(0.005)
"""Of the logarithm of how many such sets chance is expected to bring: there the confidence is a half at most."""
_SCALE_DEVIATIONS = 4.5
"""By how many deviations the scale must be off from 1 for this to be certain, and …"""
_SCALE_GAIN = 1.2
"""… how many times as much it must explain: right answers have up to 1.11, by errors that neighbours share."""


@dataclass(frozen=True)
class Evidence:
    """What speaks for and against a transform, in numbers without a unit."""

    associations: int
    """Putative ones."""
    explained: int
    """Associations that the transform explains."""
    runner_up: float
    """Score of the best other transform, relative to this one's; 0 without one."""
    overlap: float | None = None
    """Share of the source that lies on the target's surface, its normals along the target's; None without clouds."""
    against: float | None = None
    """Share of the source that lies on the target's surface at an angle to it."""
    detail: float | None = None
    """The overlap with each point counted by how much the surface bends there: even surfaces lie on any other."""
    residual: float | None = None
    """Root mean square distance along the normals, in voxels, of what overlaps, each point counted in the same way."""
    conflict: float | None = None
    """Share of the source where the target's sensor looked through, plus the same the other way round; None where this
    was not looked at."""
    undetermined: int = 0
    """Directions of the motion that the surfaces do not determine."""
    points: int | None = None
    """Points of the smaller cloud, reduced to voxels; None without clouds."""
    rivalry: float | None = None
    """How nearly as well as this one the best other transform explains the clouds: from 0, where they contradict all
    others, to about 1, where nothing tells the two apart; None without clouds."""
    viewpoints: tuple[str, str] | None = None
    """Where the sensors of source and target were, for the conflict: as it was ``"told"``, at the ``"origin"``, or at a
    place that was ``"found"`` because it cannot have been there; None where this was not looked at."""

    chance: float | None = None
    """Natural logarithm of how many sets of consistent associations, as large as this one, are expected if all of them
    are random; None where this was not looked at."""
    mirrored: bool | None = None
    """Whether a reflection explains the associations, or lays one surface on the other, and no rotation does so; None
    where this was not looked at."""
    scale: float | None = None
    """By how much the target is larger than the source, by the associations that agree, or by the surfaces; None: not
    looked at."""
    scale_deviation: float | None = None
    """Standard deviation of the scale."""
    scale_gain: float | None = None
    """How many times as much is explained with the scale as without; None: not looked at."""
    noise: bool | None = None
    """Whether normals agree no better than random ones; None: not looked at."""
    sensor_pattern: bool | None = None
    """Whether what agrees is a pattern of the sensor instead of the scene; None: not looked at."""
    beyond_motion: bool | None = None
    """Whether a rigid motion beside it that is not of the kind that was asked for fits clearly better, as where ``up``
    is not what was said; None: not looked at."""
    nearby_overlap: float | None = None
    """Share of what comes within about four voxels of the other surface that lies on it; None: not looked at."""

    @property
    def is_scaled(self) -> bool:
        """Whether source and target are certain to differ in size."""
        if self.scale is None or self.scale_deviation is None:
            return False
        explains = self.scale_gain is None or self.scale_gain > _SCALE_GAIN
        return explains and abs(self.scale - 1.0) > _SCALE_DEVIATIONS * self.scale_deviation

    @property
    def is_refuted(self) -> bool:
        """Whether it is certain that the transform is not to be trusted, whatever else speaks for it."""
        doubts = (self.mirrored, self.is_scaled, self.noise, self.sensor_pattern, self.beyond_motion)
        return any(doubt is True for doubt in doubts)

    def confidence(self, prior: float = 0.5) -> float:
        """Return the probability that the transform is right.

        It may be wrong, or there may be no right one because the two do not belong together: the logarithm of the odds
        against each is linear in logarithms of the evidence. ``prior``, between 0 and 1, is how likely it is beforehand
        that they do belong together.
        """
        odds = self.log_odds()
        if odds is None:
            return 0.0
        return 1.0 / (1.0 + _exp(-odds[0]) + _exp(-(odds[1] + math.log(prior / (1.0 - prior)))))

    def log_odds(self) -> tuple[float, float] | None:
        """Return the logarithms of the odds that the transform is not wrong, and that the two belong together.

        The latter for a prior of one half. None if it is certain that the transform is not to be trusted.
        """
        if self.is_refuted:
            return None
        model: tuple[tuple[float, ...], ...]
        if self.overlap is None:
            if self.explained < 3:  # do not determine a motion
                return None
            model, terms = OF_MATCHES, matches_terms(self)
        else:
            model, terms = OF_CLOUDS if self.conflict is None else OF_SCANS, clouds_terms(self)
        few = 0.0
        if self.points is not None:
            few = WEIGHT_OF_FEW_POINTS * math.log(min(1.0, max(self.points, 1) / ENOUGH_POINTS))
        wrong, elsewhere = (
            few + constant + sum(weight * term for weight, term in zip(weights, terms, strict=True))
            for constant, *weights in model
        )
        if self.chance is not None:
            elsewhere = min(elsewhere, CHANCE_ALLOWED - self.chance)
        return wrong, elsewhere


def _exp(number: float) -> float:
    return math.exp(max(-700.0, min(700.0, number)))


def clouds_terms(evidence: Evidence) -> list[float]:
    """Return what the odds of an answer for two clouds are linear in; one less where nothing is known of conflicts.

    How many matches agree is not among it: once the surfaces are compared, it says nothing more.
    """
    numbers = [
        max((evidence.overlap or 0.0) - (evidence.against or 0.0), 0.005),
        max(evidence.rivalry or 0.0, _LEAST_RIVAL),
        min(max(evidence.runner_up, _LEAST_RIVAL), 10.0),
        1.0 + evidence.undetermined,
        max(evidence.detail or 0.0, 0.002),
        max(evidence.nearby_overlap or 0.0, 0.05),
        max(evidence.residual or 0.0, 0.03),
        1.0 + abs(math.log(evidence.scale or 1.0)) / 0.02,
        min(max(evidence.scale_deviation or 0.0, 0.001), 1.0),
    ]
    if evidence.conflict is not None:
        numbers.append(1.0 + evidence.conflict / 0.005)
    return [math.log(number) for number in numbers]


def matches_terms(evidence: Evidence) -> list[float]:
    """Return what the logit of an answer for matched points is linear in."""
    # Where no other set of three was found, one of two may still be there: of few, that is much.
    runner_up = min(max(evidence.runner_up, 2.0 / max(evidence.explained, 1), _LEAST_RUNNER_UP), 1.0)
    numbers = (1.0 + evidence.explained, 1.0 + evidence.associations, runner_up)
    return [math.log(number) for number in numbers]


def as_prior(prior: object) -> float:
    """Return a probability that leaves both possible."""
    return as_number("prior", prior, 0.0, 1.0, open_interval=True)


def judge(
    confidence: float,
    min_confidence: float,
    weak_directions: npt.NDArray[np.float64],
    *,
    has_rival: bool,
    evidence: Evidence | None = None,
) -> Status:
    """Return what to make of a transform; a rival is another one that explains the data as well.

    What is refuted is not to be trusted however little confidence is asked for.
    """
    if evidence is not None and evidence.mirrored:
        return Status.MIRRORED
    if len(weak_directions):
        return Status.DEGENERATE
    if has_rival:
        return Status.AMBIGUOUS
    refuted = evidence is not None and evidence.is_refuted
    return Status.OK if confidence >= min_confidence and not refuted else Status.UNCERTAIN
