"""Whether to believe a transform: the evidence, a calibrated probability, and the status that follows."""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["ENOUGH_POINTS", "WEIGHT_OF_FEW_POINTS", "Evidence", "Status", "clouds_terms", "judge", "matches_terms"]


class Status(enum.Enum):
    """What to make of a pose."""

    OK = "ok"
    """Trust it."""
    UNCERTAIN = "uncertain"
    """There is a transform, but its confidence is below what was asked for."""
    AMBIGUOUS = "ambiguous"
    """Another transform explains the data about as well: see ``pose.alternatives``."""
    DEGENERATE = "degenerate"
    """Some directions of the motion are not determined: see ``pose.degenerate_directions``."""
    TOO_FEW_INLIERS = "too few inliers"
    """Fewer than three associations agree, or no more of the surfaces agrees than disagrees: there is no transform."""


# Fitted by benchmarks/confidence.py to the answers for 1737 pairs of 3DMatch and 3DLoMatch fragments and 1000 pairs of
# fragments of different places; benchmarks/results/confidence.md has the reliability plot. The constant, then the
# weights of clouds_terms() for scans, whose sensors saw free space, and for clouds without …
_OF_SCANS = (-1.754, 1.990, 1.095, -0.852, -3.656, -2.673)
_OF_CLOUDS = (-7.995, 2.441, 0.693, -2.202, -4.637)
# … and of matches_terms().
_OF_MATCHES = (-8.377, 4.819, -0.985, -7.665)
# With few points, wrong answers explain the little that there is. Fitted by benchmarks/few_points.py:
ENOUGH_POINTS = 1000
WEIGHT_OF_FEW_POINTS = 3.0


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
    """Share of the source that lies on the target's surface and faces the same way; None without clouds."""
    against: float | None = None
    """Share of the source that lies on the target's surface and faces another way."""
    conflict: float | None = None
    """Share of the source where the target's sensor looked through, plus the same the other way round; None where this
    was not looked at."""
    undetermined: int = 0
    """Directions of the motion that the surfaces do not determine."""
    points: int | None = None
    """Points of the smaller cloud, reduced to voxels; None without clouds."""

    def confidence(self) -> float:
        """Return the probability that the transform is right: logistic in the logarithms of the evidence."""
        if self.overlap is None or self.against is None:
            if self.explained < 3:  # do not determine a motion
                return 0.0
            (constant, *weights), terms = _OF_MATCHES, matches_terms(self.explained, self.associations, self.runner_up)
        else:
            (constant, *weights) = _OF_CLOUDS if self.conflict is None else _OF_SCANS
            net = self.overlap - self.against
            terms = clouds_terms(self.explained, net, self.runner_up, self.undetermined, self.conflict)
        logit = constant + sum(weight * term for weight, term in zip(weights, terms, strict=True))
        if self.points is not None:
            logit += WEIGHT_OF_FEW_POINTS * math.log(min(1.0, max(self.points, 1) / ENOUGH_POINTS))
        return 1.0 / (1.0 + math.exp(-max(-700.0, min(700.0, logit))))


def clouds_terms(
    explained: int, net_overlap: float, runner_up: float, undetermined: int, conflict: float | None
) -> list[float]:
    """Return what the logit of an answer for two clouds is linear in; one less where nothing is known of conflicts."""
    numbers = [1.0 + explained, max(net_overlap, 0.005), max(runner_up, 0.01), 1.0 + undetermined]
    if conflict is not None:
        numbers.append(1.0 + conflict / 0.005)
    return [math.log(number) for number in numbers]


def matches_terms(explained: int, associations: int, runner_up: float) -> list[float]:
    """Return what the logit of an answer for matched points is linear in."""
    return [math.log(number) for number in (1.0 + explained, 1.0 + associations, max(runner_up, 0.05))]


def judge(
    confidence: float, min_confidence: float, weak_directions: npt.NDArray[np.float64], *, has_rival: bool
) -> Status:
    """Return what to make of a transform; a rival is another one that explains the data as well."""
    if len(weak_directions):
        return Status.DEGENERATE
    if has_rival:
        return Status.AMBIGUOUS
    return Status.OK if confidence >= min_confidence else Status.UNCERTAIN
