"""Whether to believe a transform: the evidence, a calibrated probability, and the status that follows."""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .calibration import OF_CLOUDS, OF_MATCHES, OF_SCANS

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


_LEAST_RUNNER_UP = 0.2
"""That nothing else was found says no more than that it is this much worse."""
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
    viewpoints: tuple[str, str] | None = None
    """Where the sensors of source and target were, for the conflict: as it was ``"told"``, at the ``"origin"``, or at a
    place that was ``"found"`` because it cannot have been there; None where this was not looked at."""

    def confidence(self) -> float:
        """Return the probability that the transform is right: logistic in the logarithms of the evidence."""
        if self.overlap is None:
            if self.explained < 3:  # do not determine a motion
                return 0.0
            (constant, *weights), terms = OF_MATCHES, matches_terms(self)
        else:
            (constant, *weights), terms = OF_CLOUDS if self.conflict is None else OF_SCANS, clouds_terms(self)
        logit = constant + sum(weight * term for weight, term in zip(weights, terms, strict=True))
        if self.points is not None:
            logit += WEIGHT_OF_FEW_POINTS * math.log(min(1.0, max(self.points, 1) / ENOUGH_POINTS))
        return 1.0 / (1.0 + math.exp(-max(-700.0, min(700.0, logit))))


def clouds_terms(evidence: Evidence) -> list[float]:
    """Return what the logit of an answer for two clouds is linear in; one less where nothing is known of conflicts."""
    numbers = [
        1.0 + evidence.explained,
        max((evidence.overlap or 0.0) - (evidence.against or 0.0), 0.005),
        min(max(evidence.runner_up, _LEAST_RUNNER_UP), 10.0),
        1.0 + evidence.undetermined,
        max(evidence.detail or 0.0, 0.002),
        max(evidence.residual or 0.0, 0.03),
    ]
    if evidence.conflict is not None:
        numbers.append(1.0 + evidence.conflict / 0.005)
    return [math.log(number) for number in numbers]


def matches_terms(evidence: Evidence) -> list[float]:
    """Return what the logit of an answer for matched points is linear in."""
    numbers = (1.0 + evidence.explained, 1.0 + evidence.associations, max(evidence.runner_up, 0.05))
    return [math.log(number) for number in numbers]


def judge(
    confidence: float, min_confidence: float, weak_directions: npt.NDArray[np.float64], *, has_rival: bool
) -> Status:
    """Return what to make of a transform; a rival is another one that explains the data as well."""
    if len(weak_directions):
        return Status.DEGENERATE
    if has_rival:
        return Status.AMBIGUOUS
    return Status.OK if confidence >= min_confidence else Status.UNCERTAIN
