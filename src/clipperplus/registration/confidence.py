"""Whether to believe a transform: the evidence, a calibrated probability, and the status that follows."""

from __future__ import annotations

import enum
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["Evidence", "Status", "judge"]


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
    """Fewer than three associations agree: there is no transform."""


_AMBIGUOUS = 0.9
"""Another transform that explains so large a share of what the best does makes it ambiguous."""


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
    """Share of the source where the target's sensor looked through, plus the same the other way round."""

    def confidence(self) -> float:
        """Return the probability that the transform is right."""
        return 0.5


def judge(
    confidence: float, min_confidence: float, weak_directions: npt.NDArray[np.float64], runner_up: float
) -> Status:
    """Return what to make of a transform."""
    if len(weak_directions):
        return Status.DEGENERATE
    if runner_up >= _AMBIGUOUS:
        return Status.AMBIGUOUS
    return Status.OK if confidence >= min_confidence else Status.UNCERTAIN
