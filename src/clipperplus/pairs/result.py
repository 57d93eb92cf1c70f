"""What came of one of many pairs."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ..registration import Evidence, Status
from ..registration.kept import (
    NOT_WHOLE,
    check_covariances,
    check_evidence,
    check_motions,
    check_number,
    check_texts,
    numbers,
)

__all__ = ["PairResult"]


@dataclass(frozen=True, eq=False)
class PairResult:
    """What came of one of many pairs: what a :class:`clipperplus.Pose` says in short, or why there is nothing."""

    number: int
    """Of the pair, in the order in which they were given."""
    source: str
    target: str
    """Names of the clouds."""
    status: Status | None = None
    """What to make of it; None if it could not be computed."""
    T_target_source: npt.NDArray[np.float64] | None = None
    """``(4, 4)``; moves points of the source into the frame of the target. None if there is none."""
    confidence: float = 0.0
    """Probability, from 0 to 1, that the transform is right."""
    covariance: npt.NDArray[np.float64] | None = field(default=None, repr=False)
    """``(6, 6)``, as in :class:`clipperplus.Pose`."""
    overlap: float | None = None
    """Share of the source that lies on the target's surface."""
    num_inliers: int = 0
    """Matches that the transform explains."""
    is_proven: bool = False
    """Whether no larger set of matches agrees."""
    reasons: tuple[str, ...] = ()
    """Why it is not to be trusted; nothing if it is."""
    alternatives: npt.NDArray[np.float64] = field(default_factory=lambda: np.empty((0, 4, 4)), repr=False)
    """``(k, 4, 4)``: other transforms, the best first."""
    rivalries: npt.NDArray[np.float64] = field(default_factory=lambda: np.empty(0), repr=False)
    """``(k,)``: how nearly as well as the answer each explains the clouds."""
    evidence: Evidence | None = field(default=None, repr=False)
    """What the confidence is made of."""
    voxel_size: float | None = None
    """Metres."""
    seconds: float = 0.0
    """Time of the registration, wherever and whenever it was done."""
    failure: str | None = None
    """Why it could not be computed; None if it was. The same call tries it again."""
    was_known: bool = False
    """Whether it was in the store."""

    @classmethod
    def of(
        cls, number: int, source: str, target: str, answer: Mapping[str, Any], *, was_known: bool = False
    ) -> PairResult:
        """Return what was computed, now or in another run."""
        evidence, motion, covariance = dict(answer["evidence"]), answer["T_target_source"], answer["covariance"]
        if evidence["viewpoints"] is not None:
            evidence["viewpoints"] = tuple(evidence["viewpoints"])
        others = answer["alternatives"]
        return cls(
            number=number,
            source=source,
            target=target,
            status=Status(answer["status"]),
            T_target_source=None if motion is None else np.array(motion, dtype=np.float64),
            confidence=float(answer["confidence"]),
            covariance=None if covariance is None else np.array(covariance, dtype=np.float64),
            overlap=answer["overlap"],
            num_inliers=int(answer["num_inliers"]),
            is_proven=bool(answer["proven"]),
            reasons=tuple(answer["reasons"]),
            alternatives=np.array([other["T_target_source"] for other in others], dtype=np.float64).reshape(-1, 4, 4),
            rivalries=np.array([other["rivalry"] or 0.0 for other in others], dtype=np.float64),
            evidence=Evidence(**evidence),
            voxel_size=answer["voxel_size"],
            seconds=float(answer["seconds"]),
            was_known=was_known,
        )

    @classmethod
    def is_whole(cls, answer: Mapping[str, Any]) -> bool:
        """Whether something is an answer: a file may have been changed by others."""
        try:
            _check(answer)
            cls.of(0, "", "", answer)
        except NOT_WHOLE:
            return False
        return True

    def to_dict(self) -> dict[str, Any]:
        """Return it in plain Python types."""
        return {
            "number": self.number,
            "source": self.source,
            "target": self.target,
            "status": None if self.status is None else self.status.value,
            "T_target_source": None if self.T_target_source is None else self.T_target_source.tolist(),
            "confidence": self.confidence,
            "covariance": None if self.covariance is None else self.covariance.tolist(),
            "overlap": self.overlap,
            "num_inliers": self.num_inliers,
            "proven": self.is_proven,
            "reasons": list(self.reasons),
            "alternatives": self.alternatives.tolist(),
            "rivalries": self.rivalries.tolist(),
            "evidence": None if self.evidence is None else asdict(self.evidence),
            "voxel_size": self.voxel_size,
            "seconds": self.seconds,
            "failure": self.failure,
            "was_known": self.was_known,
        }


def _check(answer: Mapping[str, Any]) -> None:
    """Refuse an answer that is not as it was written."""
    motion, covariance, others = answer["T_target_source"], answer["covariance"], answer["alternatives"]
    if motion is None and Status(answer["status"]) is Status.OK:
        raise ValueError("expected a transform to trust")
    given = [] if motion is None else [motion]
    check_motions(numbers([*given, *(other["T_target_source"] for other in others)] or np.empty((0, 4, 4))))
    if covariance is not None:
        check_covariances(numbers([covariance]))
    for other in others:
        if other["rivalry"] is not None:
            check_number(other["rivalry"])
    check_number(answer["confidence"], high=1.0)
    if answer["overlap"] is not None:
        check_number(answer["overlap"])
    check_number(answer["num_inliers"], high=2**31 - 1)
    if not isinstance(answer["num_inliers"], int) or not isinstance(answer["proven"], bool):
        raise ValueError("expected a count, and whether it is proven")
    check_texts(answer["reasons"])
    check_evidence(answer["evidence"])
    check_number(answer["voxel_size"], sys.float_info.min)
    check_number(answer["seconds"])
