"""Whether transforms that somebody else found are right: "is this loop closure to be believed?"."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from .._timing import Stopwatch
from .._validation import as_array, as_integer, as_length, as_number
from .._words import shown
from ..errors import LandmarkError, OptionError
from ..geometry.motions import RIGID
from ..geometry.poses import FILE_ROUNDING, as_poses, made_rigid
from .candidates import Candidates
from .confidence import Evidence, Status, as_prior, judge
from .descent import descend
from .directions import name_motions
from .given import Given, described_alike, voxel_sizes_of
from .looks import LookOptions, look_for_motions
from .pose import Hypothesis, lever_of, rivals_of
from .reasons import Case, Reason, find_reasons
from .verification import polish

__all__ = ["Verification", "verify"]

_STEPS = 30
"""Of ICP, at most: what is judged is where a transform settles."""


@dataclass(frozen=True, eq=False)
class Verification:
    """What two clouds say about a transform."""

    status: Status
    """What to make of it."""
    T_target_source: npt.NDArray[np.float64]
    """``(4, 4)``, as it was given."""
    T_refined: npt.NDArray[np.float64]
    """``(4, 4)``: after some steps of ICP. The evidence is that of this one."""
    shift: float
    """Metres that these steps moved the source, root mean square: a transform that is right moves little."""
    confidence: float
    """Probability, from 0 to 1, that the refined transform is right."""
    evidence: Evidence = field(repr=False)
    """What speaks for and against it."""
    covariance: npt.NDArray[np.float64] = field(repr=False)
    """``(6, 6)``, as in :class:`Pose`."""
    degenerate_directions: npt.NDArray[np.float64] = field(repr=False)
    """``(k, 6)``, as in :class:`Pose`."""
    alternatives: tuple[Hypothesis, ...] = field(repr=False)
    """Other transforms, the best first, with scores relative to this one: above 1, they explain the clouds better."""
    reasons: tuple[Reason, ...] = field(default=(), repr=False)
    """Why it is not to be trusted, what matters most first; nothing if it is."""

    def to_dict(self) -> dict[str, Any]:
        """Return it in plain Python types."""
        return {
            "status": self.status.value,
            "reasons": [reason.to_dict() for reason in self.reasons],
            "T_target_source": self.T_target_source.tolist(),
            "T_refined": self.T_refined.tolist(),
            "shift": self.shift,
            "confidence": self.confidence,
            "evidence": asdict(self.evidence),
            "covariance": self.covariance.tolist(),
            "degenerate_directions": self.degenerate_directions.tolist(),
            "alternatives": [other.to_dict() for other in self.alternatives],
        }


def verify(
    source: Any,
    target: Any,
    transforms: npt.ArrayLike,
    *,
    voxel_size: float | None = None,
    source_viewpoint: npt.ArrayLike | None = None,
    target_viewpoint: npt.ArrayLike | None = None,
    free_space: bool = True,
    min_confidence: float = 0.5,
    prior: float = 0.5,
    max_alternatives: int = 10,
    threads: int = 1,
) -> tuple[Verification, ...]:
    """Say of transforms between two scans how likely each is right, and why.

    The clouds are matched as :func:`register` does it, so that there is something to compare the transforms with, and
    the confidence means the same.

    Parameters
    ----------
    source, target
        ``(n, 3)`` points, anything with ``.points``, or a :class:`PreparedCloud`.
    transforms
        ``(k, 4, 4)`` or ``(4, 4)``: each moves points of the source into the frame of the target.
    voxel_size, source_viewpoint, target_viewpoint, free_space, min_confidence, prior, max_alternatives, threads
        As in :func:`register`. A transform that is off by more than some voxels is not found to be right.

    Returns
    -------
    verifications
        One for each transform, in their order.

    """
    if not isinstance(free_space, bool):
        raise OptionError(f"free_space: expected True or False, got {shown(free_space)}")
    min_confidence = as_number("min_confidence", min_confidence, 0.0, 1.0)
    prior = as_prior(prior)
    max_alternatives = as_integer("max_alternatives", max_alternatives, 0, 100)
    threads = as_integer("threads", threads, 1, 1024)
    voxel_size = None if voxel_size is None else as_length("voxel_size", voxel_size)
    array = as_array("transforms", transforms, LandmarkError)
    if array.shape == (0,):
        array = np.empty((0, 4, 4))
    if array.shape[-2:] != (4, 4) or array.ndim not in (2, 3):
        raise LandmarkError(f"transforms: expected an array of shape (k, 4, 4), got {array.shape}")
    motions = as_poses("transforms", array.reshape(-1, 4, 4), FILE_ROUNDING)
    given = (
        Given.check("source", source, source_viewpoint, None, threads),
        Given.check("target", target, target_viewpoint, None, threads),
    )
    sizes = voxel_sizes_of(given, voxel_size, threads)
    moving, fixed = (cloud.prepare(sizes.matched, threads, Stopwatch()) for cloud in given)
    moving, fixed = described_alike(moving, fixed, threads)
    options = LookOptions(sizes.matched, sizes.matched, threads=threads)
    found = look_for_motions(moving, fixed, None, options, Stopwatch())
    candidates = Candidates(moving, fixed, free_space=free_space, prior=prior, others=max_alternatives, threads=threads)
    candidates.add(found)
    candidates.verify()
    starts, results = made_rigid(motions), []
    polished = [polish(moving, fixed, start, steps=_STEPS, threads=threads) for start in starts]
    settled = descend(given, (moving, fixed), np.array(polished).reshape(-1, 4, 4), sizes, RIGID, threads)
    for motion, start, refined in zip(motions, starts, settled, strict=True):
        answer = candidates.weigh(refined, found, is_best=False)
        change = refined - start
        with np.errstate(over="ignore"):
            moved = moving.points @ change[:3, :3].T + change[:3, 3]
            shift = float(np.sqrt((moved**2).sum(axis=1).mean())) if len(moved) else 0.0
        confidence = answer.confidence if answer.exists else 0.0
        status = judge(confidence, min_confidence, answer.weak, has_rival=answer.has_rival, evidence=answer.evidence)
        alternatives = answer.others[:max_alternatives]
        case = Case(
            status=status if answer.exists else Status.TOO_FEW_INLIERS,
            confidence=confidence,
            min_confidence=min_confidence,
            prior=prior,
            evidence=answer.evidence,
            agreeing=len(answer.inliers),
            points=(len(moving.points), len(fixed.points)),
            rivals=rivals_of(refined, alternatives, moving.points),
            undetermined=tuple(name_motions(answer.weak, lever_of(fixed.points))),
        )
        results.append(
            Verification(
                status=case.status,
                T_target_source=motion,
                T_refined=refined,
                shift=shift,
                confidence=confidence,
                evidence=answer.evidence,
                covariance=answer.information.covariance(),
                degenerate_directions=answer.weak,
                alternatives=alternatives,
                reasons=find_reasons(case),
            )
        )
    return tuple(results)
