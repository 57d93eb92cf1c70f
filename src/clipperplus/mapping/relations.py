"""What two scans have to do with each other: registered, or looked at where a map puts them."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from ..clouds.prepared import PreparedCloud
from ..registration import register
from ..registration.confidence import Evidence, Status
from ..registration.kept import (
    NOT_WHOLE,
    check_covariances,
    check_evidence,
    check_motions,
    check_number,
    check_texts,
    numbers,
)
from ..registration.verification import AGREEING_COSINE, compare, polish, sample

__all__ = ["Relating", "Relation", "Sighting", "look_at", "not_related", "relate", "usual_conflict", "what_is_seen"]

_Array: TypeAlias = npt.NDArray[np.float64]
Effort: TypeAlias = Literal["low", "normal", "high"]

_ALTERNATIVES = 4
"""Of a registration: other motions that are remembered."""
_WARPED = 0.08
"""Logarithm of the scale by which two scans of one thing may seem to differ in size, because they are bent."""
_POLISHING_STEPS = 8
"""Of ICP, from where a map puts two scans."""
_MOST_AGREED, _AGREED_SCALE = 2.0, 0.25
"""What a pair says at most in favour of a map, and the share of the source that must be seen with the target for it."""
_STEADY, _SLID = 2.0, 10.0
"""Voxels by which ICP may move a scan that speaks for a map, and from which on it says nothing for it."""
_MOST_AGAINST, _EDGES, _CONFLICT_SCALE = 6.0, 2.5, 1.5
"""What it says at most against it; how many times the usual conflict may be there, and by how many it grows by 1."""
_THIN_WALLS, _BACKS_SCALE = 0.1, 0.025
"""The same of surfaces that were seen from two sides at one place."""
_SIDED_POINTS = 600
"""Of the source, by which is told from which side a surface was seen."""
_CERTAIN, _USUAL_SHARE, _USUAL_TIMES = 0.95, 0.7, 5.5
"""Of pairs this certain, the conflict that such a share of them does not exceed, so many times, is usual, …"""
_NEVER_USUAL = 0.025
"""… but for those with more than this: there may be twin rooms among them; …"""
_USUAL_CONFLICTS = 0.004, 0.02
"""… within bounds: at edges there is always some. …"""
_FEW, _MOST, _MEANINGLESS = 8, 0.6, 1.0
"""… If there are not few, and not most have less than that, then sensors were not where they seem to have been, and
conflicts say nothing."""
_LARGEST = 700.0
"""Logarithm that is worth an exponential."""
_NO_MATCHES = (np.empty((0, 3)), np.empty((0, 3)))


@dataclass(frozen=True, eq=False)
class Relation:
    """What a registration said about two scans."""

    source: int
    target: int
    """Numbers of the scans."""
    effort: Effort
    """How far it looked."""
    status: Status
    motions: _Array
    """``(h, 4, 4)`` from source to target: the answer, then alternatives; empty if there is no answer."""
    rivalries: _Array
    """``(h,)``: how nearly each is as good as the answer, which has 1."""
    evidence: Evidence
    """Of the answer."""
    covariance: _Array | None
    """``(6, 6)`` of the answer, as in :class:`clipperplus.Pose`."""
    undetermined: _Array
    """``(k, 6)``: unit motions that the scans do not determine."""
    back_to_back: _Array
    """``(h,)``: of what each lays on the other surface, the share that was seen from its other side."""
    reasons: tuple[str, ...] = ()
    """Why the answer is not to be trusted; nothing if it is."""
    seconds: float = field(default=0.0, compare=False)

    def confidence(self, prior: float) -> float:
        """Return the probability that the answer is right, where this share of pairs belongs together."""
        wrong, elsewhere = self.against
        return 1.0 / (1.0 + wrong + elsewhere * (1.0 - prior) / prior)

    @functools.cached_property
    def against(self) -> tuple[float, float]:
        """How many times as likely as the answer it is that another motion is right, and that there is none.

        The latter if half of the pairs belong together. Scans that are fused from many views are warped: that two of
        them seem to differ a little in size is no proof against a pair that others may confirm.
        """
        evidence = self.evidence
        if evidence.is_scaled and evidence.scale is not None and abs(math.log(evidence.scale)) < _WARPED:
            evidence = replace(evidence, scale_deviation=abs(evidence.scale - 1.0))
        odds = evidence.log_odds() if len(self.motions) else None
        if odds is None:
            return math.inf, math.inf
        wrong, elsewhere = (math.exp(min(max(-log, -_LARGEST), _LARGEST)) for log in odds)
        return wrong, elsewhere

    @property
    def is_open(self) -> bool:
        """Whether the scans leave a direction of the motion open."""
        return len(self.undetermined) > 0

    def to_dict(self) -> dict[str, Any]:
        """Return it in plain Python types, all numbers to the last bit."""
        return {
            "effort": self.effort,
            "status": self.status.value,
            "motions": self.motions.tolist(),
            "rivalries": self.rivalries.tolist(),
            "evidence": asdict(self.evidence),
            "covariance": None if self.covariance is None else self.covariance.tolist(),
            "undetermined": self.undetermined.tolist(),
            "back_to_back": self.back_to_back.tolist(),
            "reasons": list(self.reasons),
            "seconds": self.seconds,
        }

    @classmethod
    def from_dict(cls, source: int, target: int, about: dict[str, Any]) -> Relation:
        """Return what :meth:`to_dict` wrote, about these scans."""
        evidence = dict(about["evidence"])
        if evidence["viewpoints"] is not None:
            evidence["viewpoints"] = tuple(evidence["viewpoints"])
        covariance = about["covariance"]
        return cls(
            source=source,
            target=target,
            effort=about["effort"],
            status=Status(about["status"]),
            motions=np.array(about["motions"], dtype=np.float64).reshape(-1, 4, 4),
            rivalries=np.array(about["rivalries"], dtype=np.float64),
            evidence=Evidence(**evidence),
            covariance=None if covariance is None else np.array(covariance, dtype=np.float64),
            undetermined=np.array(about["undetermined"], dtype=np.float64).reshape(-1, 6),
            back_to_back=np.array(about["back_to_back"], dtype=np.float64),
            reasons=tuple(about["reasons"]),
            seconds=float(about["seconds"]),
        )

    @classmethod
    def is_whole(cls, about: dict[str, Any]) -> bool:
        """Whether something is what :meth:`to_dict` wrote: a file may have been changed by others."""
        try:
            _check(about)
            cls.from_dict(0, 1, about)
        except NOT_WHOLE:
            return False
        return True


def _check(about: dict[str, Any]) -> None:
    """Refuse what is not as it was written."""
    if about["effort"] not in get_args(Effort):
        raise ValueError("expected how far it looked")
    motions, rivalries, backs = (numbers(about[name]) for name in ("motions", "rivalries", "back_to_back"))
    undetermined, covariance = numbers(about["undetermined"]), about["covariance"]
    if len(motions):
        check_motions(motions)
    if not motions.shape[0] == rivalries.size == backs.size or rivalries.ndim != 1 or backs.ndim != 1:
        raise ValueError("expected as many rivalries and shares as motions")
    if (rivalries < 0.0).any() or (backs < 0.0).any() or (backs > 1.0).any():
        raise ValueError("expected rivalries of at least 0, and shares from 0 to 1")
    if undetermined.shape not in ((0,), (len(undetermined), 6)):
        raise ValueError("expected unit motions")
    if covariance is not None:
        check_covariances(numbers([covariance]))
    check_texts(about["reasons"])
    check_evidence(about["evidence"])
    check_number(about["seconds"])


@dataclass(frozen=True)
class Relating:
    """Registration of two scans, of which is kept what a map needs: done here, or on another machine."""

    effort: Effort
    free_space: bool

    def __call__(self, source: PreparedCloud, target: PreparedCloud) -> dict[str, Any]:
        """Return what :meth:`Relation.from_dict` takes."""
        return relate(source, target, self.effort, free_space=self.free_space).to_dict()


def relate(source: PreparedCloud, target: PreparedCloud, effort: Effort, *, free_space: bool) -> Relation:
    """Register two scans, 0 and 1, and remember what a map needs of it."""
    pose = register(source, target, effort=effort, free_space=free_space, max_alternatives=_ALTERNATIVES)
    motions = np.empty((0, 4, 4))
    if pose.T_target_source is not None:
        motions = np.array([pose.T_target_source, *(other.T_target_source for other in pose.alternatives)])
    return Relation(
        source=0,
        target=1,
        effort=effort,
        status=pose.status,
        motions=motions,
        rivalries=np.array([1.0, *(other.rivalry or 0.0 for other in pose.alternatives)])[: len(motions)],
        evidence=pose.evidence,
        covariance=pose.covariance,
        undetermined=pose.degenerate_directions,
        back_to_back=np.array([back_to_back(source, target, motion) if free_space else 0.0 for motion in motions]),
        reasons=tuple(reason.text for reason in pose.reasons),
        seconds=pose.seconds,
    )


def not_related(source: int, target: int, effort: Effort, reason: str) -> Relation:
    """Return what is known of two scans whose registration failed: nothing but why."""
    nothing = np.empty(0)
    return Relation(
        source=source,
        target=target,
        effort=effort,
        status=Status.TOO_FEW_INLIERS,
        motions=np.empty((0, 4, 4)),
        rivalries=nothing,
        evidence=Evidence(associations=0, explained=0, runner_up=0.0),
        covariance=None,
        undetermined=np.empty((0, 6)),
        back_to_back=nothing,
        reasons=(reason,),
    )


def usual_conflict(relations: Iterable[Relation]) -> float:
    """Return the conflict that pairs of these scans have even if they are right: they are bent, or things moved.

    Clean scans have hardly any, and then a little tells a room from its twin.
    """
    found = [relation.evidence.conflict or 0.0 for relation in relations if relation.confidence(0.5) > _CERTAIN]
    usual = [conflict for conflict in found if conflict < _NEVER_USUAL]
    if len(found) >= _FEW and len(usual) < _MOST * len(found):
        return _MEANINGLESS
    bound = _USUAL_TIMES * float(np.quantile(usual, _USUAL_SHARE)) if usual else np.inf
    return float(f"{min(max(bound, _USUAL_CONFLICTS[0]), _USUAL_CONFLICTS[1]):.2g}")


@dataclass(frozen=True, eq=False)
class Sighting:
    """What two scans show where a map puts them."""

    motion: _Array
    """``(4, 4)`` from source to target, improved by ICP if that is better."""
    shift: float
    """By how much ICP moved the source, root mean square, in voxels."""
    is_improved: bool
    """Whether the motion is that of ICP."""
    overlap: float
    """Share of the source that lies on the target's surface."""
    against: float
    """Share of the source that lies there at an angle."""
    detail: float
    """The overlap with points counted by how much the surface bends."""
    residual: float
    """Root mean square distance of what overlaps, in voxels."""
    conflict: float | None
    """Share of both in what the other's sensor looked through; None if that is not known."""
    back_to_back: float
    """Share of what overlaps that was seen from both sides; 0 where it is not known where the sensors stood."""
    usual_conflict: float
    """That of pairs of such scans which are right."""

    @property
    def support(self) -> float:
        """How much they speak for the map: about the logarithm of how many times as likely this is if it is right.

        For it speaks what both saw of one surface, if ICP need not move them far to see it. Against it, what lies where
        the other's sensor looked through, but for what is usual at edges, and surfaces seen from two sides at one
        place, but for thin walls.
        """
        fronts = (1.0 - self.back_to_back) * self.overlap - self.against
        backs = self.back_to_back * self.overlap - _THIN_WALLS
        through = (self.conflict or 0.0) / self.usual_conflict - _EDGES
        slid = max(0.0, self.shift - _STEADY) / (_SLID - _STEADY) if self.is_improved else 0.0
        agreed = _MOST_AGREED * min(1.0, max(0.0, fronts) / _AGREED_SCALE) * max(0.0, 1.0 - slid)
        against = max(0.0, through) / _CONFLICT_SCALE + max(0.0, backs) / _BACKS_SCALE
        return agreed - min(against, _MOST_AGAINST)


def look_at(
    source: PreparedCloud, target: PreparedCloud, motion: _Array, *, free_space: bool
) -> tuple[Sighting, Sighting]:
    """Look at two scans that a motion lays on each other, improved by ICP, and as it is."""
    improved = polish(source, target, motion, steps=_POLISHING_STEPS, threads=1)
    motions = np.stack((improved, motion))
    seen = compare(source, target, _NO_MATCHES, motions, free_space=free_space, threads=1)
    change = (improved - motion)[:3]
    moved = source.points @ change[:, :3].T + change[:, 3]
    shift = float(np.sqrt((moved**2).sum(axis=1).mean())) / target.voxel_size if len(moved) else 0.0
    first, second = (
        Sighting(
            motion=at,
            shift=shift,
            is_improved=k == 0,
            overlap=float(seen.overlap[k]),
            against=float(seen.against[k]),
            detail=float(seen.detail[k]),
            residual=float(seen.residual[k]),
            conflict=None if seen.conflict is None else float(seen.conflict[k]),
            back_to_back=back_to_back(source, target, at) if free_space else 0.0,
            usual_conflict=_USUAL_CONFLICTS[1],
        )
        for k, at in enumerate(motions)
    )
    return first, second


def what_is_seen(both: tuple[Sighting, Sighting], usual_conflict: float) -> Sighting:
    """Return what is seen of two scans, given the conflict that is usual.

    Where they have little in common, ICP leads astray; if more speaks for the motion as it is, that is what is seen.
    """
    return max((replace(seen, usual_conflict=usual_conflict) for seen in both), key=lambda seen: seen.support)


def back_to_back(source: PreparedCloud, target: PreparedCloud, motion: _Array) -> float:
    """Return, of what a motion lays on the other surface, the share that was seen from its other side.

    Walls have two sides, but not at one place. Where nothing is known of a wrong motion, it often lays two scans back
    to back: each is behind what the other saw, so that nothing is in the way. Normals point to where the sensors stood;
    if those places were only found, they may be on the wrong side, and this counts for half.
    """
    points, normals, _ = sample(source, _SIDED_POINTS)
    places = points @ motion[:3, :3].T + motion[:3, 3]
    numbers = target.surface.near(places)
    found = np.flatnonzero(numbers >= 0)
    apart = np.linalg.norm(target.points[numbers[found]] - places[found], axis=1)
    cosines = np.einsum("ij,ij->i", normals[found] @ motion[:3, :3].T, target.normals[numbers[found]])
    lies = (apart <= target.voxel_size) & (np.abs(cosines) >= AGREEING_COSINE)
    share = float(np.count_nonzero(lies & (cosines < 0.0))) / max(1, int(np.count_nonzero(lies)))
    known = "found" not in (source.viewpoint.source, target.viewpoint.source)
    return share if known else 0.5 * share
