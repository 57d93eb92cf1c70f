"""What the search for the pose of a camera returns, and the reasons to believe it."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from .._timing import Stage
from ..clique import CliqueResult
from ..graphs import Graph
from .confidence import CHANCE_ALLOWED, Evidence, Status
from .directions import name_motions
from .reasons import Reason

__all__ = ["CameraHypothesis", "CameraPose"]


@dataclass(frozen=True, eq=False)
class CameraHypothesis:
    """Another pose that a large set of matches suggests."""

    T_camera_world: npt.NDArray[np.float64]
    """``(4, 4)``."""
    inliers: npt.NDArray[np.int64]
    """Numbers of the matches that it explains."""
    score: float
    """How well it explains the matches, relative to the pose that was returned."""

    @property
    def support(self) -> int:
        """How many matches it explains."""
        return len(self.inliers)

    def to_dict(self) -> dict[str, Any]:
        """Return it in plain Python types."""
        return {"T_camera_world": self.T_camera_world.tolist(), "support": self.support, "score": self.score}


@dataclass(frozen=True, eq=False)
class CameraPose:
    """Where a camera is, and why this is, or is not, to be trusted."""

    status: Status
    """What to make of it."""
    T_camera_world: npt.NDArray[np.float64] | None
    """``(4, 4)``; moves points into the frame of the camera: x right, y down, z ahead. None if there are too few
    inliers, or if the points determine no pose."""
    associations: npt.NDArray[np.int64] = field(repr=False)
    """``(m, 2)``: point and pixel of each putative match."""
    inliers: npt.NDArray[np.int64] = field(repr=False)
    """Numbers of the matches that the pose brings to within epsilon, sorted."""
    residuals: npt.NDArray[np.float64] = field(repr=False)
    """``(m,)``, pixels: how far each point is seen from its pixel; NaN behind the camera, and without a pose."""
    clique: CliqueResult = field(repr=False)
    """The largest set of matches of which all pairs are found together in enough groups, and whether it is proven to be
    the largest of the graph."""
    confidence: float
    """Probability, from 0 to 1, that the pose is no work of chance, and that no other one is the right one."""
    evidence: Evidence = field(repr=False)
    """What the confidence is made of: ``associations``, ``explained``, ``runner_up``, ``chance``, ``undetermined``."""
    covariance: npt.NDArray[np.float64] | None = field(repr=False)
    """``(6, 6)`` of a small motion ξ = (rotation vector in rad, translation in the unit of the points) in the frame of
    the camera: true pose = exp(ξ) · ``T_camera_world``. None without a pose."""
    degenerate_directions: npt.NDArray[np.float64] = field(repr=False)
    """``(k, 6)``: unit motions ξ that the matches do not determine."""
    alternatives: tuple[CameraHypothesis, ...] = field(repr=False)
    """Other poses, the best first."""
    stages: tuple[Stage, ...] = field(repr=False)
    """What was done and how long it took."""
    seconds: float
    """Time of all of it."""
    graph: Graph = field(repr=False)
    """A vertex for each match, an edge where two are found together in enough groups."""
    intrinsics: npt.NDArray[np.float64] = field(repr=False)
    """``(3, 3)``."""
    points: npt.NDArray[np.float64] = field(repr=False)
    """``(n, 3)``, as given."""
    pixels: npt.NDArray[np.float64] = field(repr=False)
    """``(n, 2)``, as given."""
    epsilon: float
    """Pixels by which right matches may be off."""
    min_confidence: float = 0.5
    """What was asked for: below it the status is ``UNCERTAIN``."""
    prior: float = 0.5
    """How likely it was said to be beforehand that there is a right pose."""

    @property
    def num_inliers(self) -> int:
        """How many matches the pose explains."""
        return len(self.inliers)

    @property
    def inlier_rmse(self) -> float | None:
        """Root mean square of the inliers' residuals, in pixels; None without inliers."""
        return float(np.sqrt(np.mean(self.residuals[self.inliers] ** 2))) if self.num_inliers else None

    @property
    def camera_centre(self) -> npt.NDArray[np.float64] | None:
        """Where the camera is, among the points; None without a pose."""
        if self.T_camera_world is None:
            return None
        return np.asarray(-self.T_camera_world[:3, :3].T @ self.T_camera_world[:3, 3])

    @property
    def reasons(self) -> tuple[Reason, ...]:
        """Why it is not to be trusted, what matters most first; nothing if it is."""
        return () if self.status is Status.OK else tuple(_reasons(self))

    def to_dict(self) -> dict[str, Any]:
        """Return the result in plain Python types."""
        clique = self.clique.to_dict()
        return {
            "status": self.status.value,
            "T_camera_world": None if self.T_camera_world is None else self.T_camera_world.tolist(),
            "reasons": [reason.to_dict() for reason in self.reasons],
            "confidence": self.confidence,
            "prior": self.prior,
            "num_associations": len(self.associations),
            "num_inliers": self.num_inliers,
            "inlier_rmse": self.inlier_rmse,
            "clique": {key: clique[key] for key in ("size", "upper_bound", "optimal", "certificate", "method")},
            "covariance": None if self.covariance is None else self.covariance.tolist(),
            "degenerate_directions": self.degenerate_directions.tolist(),
            "alternatives": [other.to_dict() for other in self.alternatives],
            "epsilon": self.epsilon,
            "intrinsics": self.intrinsics.tolist(),
            "evidence": asdict(self.evidence),
            "associations": self.associations.tolist(),
            "inliers": self.inliers.tolist(),
            "stages": [{"name": s.name, "seconds": s.seconds, "count": s.count} for s in self.stages],
            "seconds": self.seconds,
        }


def _reasons(pose: CameraPose) -> list[Reason]:
    """Return all that speaks against a pose, what its status says first."""
    found: list[Reason] = []
    evidence = pose.evidence
    if pose.status is Status.TOO_FEW_INLIERS:
        text = f"only {pose.clique.size} of {evidence.associations} matches agree, and a pose takes four"
        advice = "bring more matches, or an epsilon as large as the errors of right ones"
        numbers = {"agreeing": float(pose.clique.size), "associations": float(evidence.associations)}
        found.append(Reason("too few inliers", text, advice, numbers))
    if pose.status is Status.DEGENERATE:
        where = (pose.T_camera_world if pose.T_camera_world is not None else np.eye(4))[:3, 3]
        open_motions = name_motions(pose.degenerate_directions, float(np.linalg.norm(where)) or 1.0)
        what = " and ".join(open_motions) or "the pose: they are on a line, or at one place"
        advice = "use points that are spread over space, or over a plane at least"
        found.append(
            Reason("degenerate", f"the points do not determine {what}", advice, {"directions": evidence.undetermined})
        )
    if pose.status is Status.AMBIGUOUS:
        text = f"another pose explains the matches {evidence.runner_up:.0%} as well: see the alternatives"
        advice = "let other knowledge choose, or use points that are not all on a plane or in a repeating pattern"
        found.append(Reason("rival", text, advice, {"score": evidence.runner_up}))
    if evidence.chance is not None and evidence.chance > CHANCE_ALLOWED:
        expected = math.exp(min(evidence.chance, 300.0))
        many = f"{expected:.2g}" if expected < 1e6 else "very many"
        text = (
            f"{evidence.explained} matches that agree may be chance: of {evidence.associations} random ones, {many} "
            "such sets are expected"
        )
        advice = "use more or better matches, or a smaller epsilon"
        numbers = {"log_expected": evidence.chance, "explained": float(evidence.explained)}
        found.append(Reason("chance", text, advice, numbers))
    if pose.status is Status.UNCERTAIN:
        text = f"the confidence, {pose.confidence:.2f}, is below {pose.min_confidence:g}"
        numbers = {"confidence": pose.confidence, "min_confidence": pose.min_confidence, "prior": pose.prior}
        found.append(Reason("low confidence", text, "use more or better matches", numbers))
    return found
