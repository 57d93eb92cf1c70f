"""What a registration returns: a transform, and the reasons to believe it."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from os import PathLike
from typing import Any

import numpy as np
import numpy.typing as npt

from .._timing import Stage
from ..clique import CliqueResult
from ..geometry.motions import MOTIONS, scale_of
from ..geometry.poses import rotation_angles, without_scale
from ..graphs import Graph
from .confidence import Evidence, Status
from .directions import name_motions
from .reasons import Case, Reason, Rival, find_reasons

__all__ = ["RIVALRY", "Hypothesis", "Pose", "is_rival", "lever_of", "rivals_of", "without_transform"]


_FLAT = 1e-12
"""By how much a motion may fail to keep the plane of x and y."""
_RIVAL = 0.9
"""Share of the agreeing associations from which on another transform makes an answer ambiguous, …"""
RIVALRY = 0.7
"""… and how nearly as well it must explain the clouds, where there are some."""


@dataclass(frozen=True, eq=False)
class Hypothesis:
    """A transform that a large consistent set of associations suggests."""

    T_target_source: npt.NDArray[np.float64]
    """``(4, 4)``."""
    inliers: npt.NDArray[np.int64]
    """Numbers of the associations that it explains."""
    score: float
    """How well it explains the data, relative to the pose that was returned; above 1 only if a method or a time limit
    missed the largest clique."""
    overlap: float | None = None
    """Share of the source that lies on the target's surface under it; None where there are no clouds."""
    rivalry: float | None = None
    """How nearly as well as the pose that was returned it explains the clouds: from 0, where they contradict it, to
    about 1, where nothing tells the two apart; None where there are no clouds."""

    @property
    def support(self) -> int:
        """How many associations it explains."""
        return len(self.inliers)

    def to_dict(self) -> dict[str, Any]:
        """Return it in plain Python types."""
        return {
            "T_target_source": self.T_target_source.tolist(),
            "support": self.support,
            "score": self.score,
            "overlap": self.overlap,
            "rivalry": self.rivalry,
        }


@dataclass(frozen=True, eq=False)
class Pose:
    """A transform from the source's frame to the target's, and why it is, or is not, to be trusted."""

    status: Status
    """What to make of it."""
    T_target_source: npt.NDArray[np.float64] | None
    """``(4, 4)``; moves points of the source into the frame of the target: scale · R, and a translation. Points of the
    plane are at height 0. None if there are too few inliers, or if the surfaces disagree."""
    associations: npt.NDArray[np.int64] = field(repr=False)
    """``(m, 2)``: source and target point of each putative match."""
    inliers: npt.NDArray[np.int64] = field(repr=False)
    """Numbers of the associations that the transform explains, sorted."""
    residuals: npt.NDArray[np.float64] = field(repr=False)
    """``(m,)``, metres: how far the transform moves each source point from its match; NaN without a transform."""
    clique: CliqueResult = field(repr=False)
    """The largest mutually consistent set of associations, and whether it is proven to be the largest."""
    confidence: float
    """Probability, from 0 to 1, that the transform is right, as calibrated on real scans."""
    evidence: Evidence = field(repr=False)
    """What speaks for and against the transform: what the confidence is made of."""
    covariance: npt.NDArray[np.float64] | None = field(repr=False)
    """``(6, 6)`` of a small motion ξ = (rotation vector in rad, translation in m) in the frame of the target, rotation
    about the target's origin: true transform = exp(ξ) · ``T_target_source``. Zero in the directions that a motion which
    is less than rigid does not have. Of a similarity, the true one is exp(ξ) after ``T_target_source``, enlarged about
    the target's origin by what the scale is off, which makes ξ no smaller. None without a transform."""
    degenerate_directions: npt.NDArray[np.float64] = field(repr=False)
    """``(k, 6)``: unit motions ξ, about the centre of the inliers, that the data do not determine."""
    alternatives: tuple[Hypothesis, ...] = field(repr=False)
    """Other transforms, the best first."""
    stages: tuple[Stage, ...] = field(repr=False)
    """What was done and how long it took."""
    seconds: float
    """Time of all of it."""
    graph: Graph = field(repr=False)
    """The consistency graph: a vertex for each association, an edge where two of them agree. It grows with the square
    of their number, and is most of what a pickled pose takes."""
    min_confidence: float = 0.5
    """What was asked for: below it the status is ``UNCERTAIN``."""
    prior: float = 0.5
    """How likely it was said to be beforehand that the two belong together."""
    overlap: float | None = None
    """Share of the source that lies on the target's surface, normals included; None where there are no clouds."""
    voxel_size: float | None = None
    """Metres; None where there are no clouds."""
    epsilon: float = 0.0
    """By how much distances between associated points may differ, in metres; typically, where each has its bound."""
    source_points: npt.NDArray[np.float64] = field(default_factory=lambda: np.empty((0, 3)), repr=False)
    """The points that associations number: voxel means where clouds were given."""
    target_points: npt.NDArray[np.float64] = field(default_factory=lambda: np.empty((0, 3)), repr=False)
    """The same of the target."""
    motion: str = "rigid"
    """Which transforms there might have been."""
    scale_deviation: float = 0.0
    """Standard deviation of the scale, as a share of it; 0 where it was known to be 1."""

    @property
    def scale(self) -> float | None:
        """By how much the transform enlarges: 1 but for similarities; None without a transform."""
        if self.T_target_source is None:
            return None
        return scale_of(self.T_target_source) if MOTIONS[self.motion].has_scale else 1.0

    @property
    def transform_2d(self) -> npt.NDArray[np.float64] | None:
        """``(3, 3)``: what a planar motion does to x and y; None if it leaves their plane, or there is none."""
        T = self.T_target_source
        if T is None or self.motion != "planar" or np.abs(T[2, :2]).max() + np.abs(T[:2, 2]).max() > _FLAT:
            return None
        return T[np.ix_([0, 1, 3], [0, 1, 3])]

    @property
    def num_inliers(self) -> int:
        """How many associations the transform explains."""
        return len(self.inliers)

    @property
    def inlier_rmse(self) -> float | None:
        """Root mean square of the inliers' residuals, in metres; None without inliers."""
        chosen = self.residuals[self.inliers]
        return float(np.sqrt(np.mean(chosen**2))) if len(chosen) and self.T_target_source is not None else None

    @property
    def reasons(self) -> tuple[Reason, ...]:
        """Why it is not to be trusted, what matters most first; nothing if it is."""
        return find_reasons(
            Case(
                status=self.status,
                confidence=self.confidence,
                min_confidence=self.min_confidence,
                prior=self.prior,
                evidence=self.evidence,
                agreeing=self.clique.size,
                points=(len(self.source_points), len(self.target_points)),
                rivals=rivals_of(self.T_target_source, self.alternatives, self.source_points),
                undetermined=tuple(name_motions(self.degenerate_directions, lever_of(self.target_points))),
            )
        )

    def plot(self, path: str | PathLike[str] | None = None, *, source: Any = None, target: Any = None) -> Any:
        """Draw the scans as given, with their matches, and aligned, each from three sides.

        Parameters
        ----------
        path
            Where to write the figure: ``.png``, ``.svg`` or ``.pdf``; None: nowhere.
        source, target
            The clouds to show; None: ``source_points`` and ``target_points``. Thinned where there are many points.

        Returns
        -------
        matplotlib.figure.Figure
            Needs the extra ``viz``.

        """
        from ..viz.figures import draw_pose

        return draw_pose(self, path, source=source, target=target)

    def report(
        self,
        path: str | PathLike[str],
        *,
        source: Any = None,
        target: Any = None,
        names: tuple[str, str] = ("source", "target"),
        command: str | None = None,
    ) -> None:
        """Write all about the registration as one HTML file, to be opened in a browser; it needs no network.

        It has the clouds in 3-D before and after, matches, consistency graph and clique, times and numbers.

        Parameters
        ----------
        path
            The file to write. Needs the extra ``viz``.
        source, target
            The clouds to show; None: ``source_points`` and ``target_points``. Thinned where there are many points.
        names
            What to call the clouds.
        command
            The command that did it, to be shown.

        """
        from ..viz.report import write_report

        write_report(self, path, source=source, target=target, names=names, command=command)

    def to_dict(self) -> dict[str, Any]:
        """Return the result in plain Python types, as ``clipperplus register --json`` prints it."""
        return {
            "status": self.status.value,
            "T_target_source": None if self.T_target_source is None else self.T_target_source.tolist(),
            "motion": self.motion,
            "scale": self.scale,
            "reasons": [reason.to_dict() for reason in self.reasons],
            "confidence": self.confidence,
            "prior": self.prior,
            "num_associations": len(self.associations),
            "num_inliers": self.num_inliers,
            "inlier_rmse": self.inlier_rmse,
            "overlap": self.overlap,
            "clique": {
                "size": self.clique.size,
                "upper_bound": self.clique.upper_bound,
                "optimal": self.clique.optimal,
                "certificate": self.clique.certificate.value,
                "method": self.clique.method,
            },
            "covariance": None if self.covariance is None else self.covariance.tolist(),
            "degenerate_directions": self.degenerate_directions.tolist(),
            "alternatives": [other.to_dict() for other in self.alternatives],
            "voxel_size": self.voxel_size,
            "epsilon": self.epsilon,
            "evidence": {name: _as_json(value) for name, value in asdict(self.evidence).items()},
            "associations": self.associations.tolist(),
            "inliers": self.inliers.tolist(),
            "stages": [{"name": s.name, "seconds": s.seconds, "count": s.count} for s in self.stages],
            "seconds": self.seconds,
        }


def _as_json(value: Any) -> Any:
    """Return what JSON can hold: it has no infinity, as the deviation of a scale of which nothing is known."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def is_rival(other: Hypothesis) -> bool:
    """Whether another transform explains the clouds about as well, or the associations where there are no clouds."""
    return other.score >= _RIVAL if other.rivalry is None else other.rivalry >= RIVALRY


def rivals_of(
    motion: npt.NDArray[np.float64] | None, others: tuple[Hypothesis, ...], points: npt.NDArray[np.float64]
) -> tuple[Rival, ...]:
    """Return how far those that explain the data as well are from an answer, for a source of these points."""
    found = tuple(filter(is_rival, others))
    if motion is None or not found:
        return ()
    motions = np.array([other.T_target_source for other in found])
    turns = np.degrees(rotation_angles(without_scale(motion)[:3, :3].T @ without_scale(motions)[:, :3, :3]))
    changes = motions - motion
    middle = points.mean(axis=0) if len(points) else np.zeros(3)
    shifts = np.linalg.norm(changes[:, :3, :3] @ middle + changes[:, :3, 3], axis=1)
    scores = [other.score for other in found]
    return tuple(map(Rival, turns.tolist(), shifts.tolist(), scores))


def lever_of(points: npt.NDArray[np.float64]) -> float:
    """Return how far, in metres, a turn by 1 rad moves points; 1 where they say nothing about it."""
    with np.errstate(over="ignore", invalid="ignore"):
        lever = float(np.sqrt(np.var(points, axis=0).sum())) if len(points) else 0.0
    return lever if 0.0 < lever < np.inf else 1.0


def without_transform(associations: npt.NDArray[np.int64], clique: CliqueResult, **about: Any) -> Pose:
    """Return the answer where there is no transform; ``about`` are fields of the pose."""
    return Pose(
        status=Status.TOO_FEW_INLIERS,
        T_target_source=None,
        associations=associations,
        inliers=np.empty(0, dtype=np.int64),
        residuals=np.full(len(associations), np.nan),
        clique=clique,
        confidence=0.0,
        evidence=Evidence(associations=len(associations), explained=0, runner_up=0.0),
        covariance=None,
        degenerate_directions=np.empty((0, 6)),
        alternatives=(),
        **about,
    )
