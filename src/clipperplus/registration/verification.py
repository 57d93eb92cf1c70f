"""Which of several motions is the right one: lay one cloud on the other and look.

A motion is first improved by a few steps of point-to-plane ICP. What then speaks for it: bent parts of the source that
come to lie on the target's surface, since even ones lie on any, how closely they do, and associations that it explains.
What speaks against it: points that lie on the surface but at an angle to it, and points that come to lie where a sensor
looked through. The last is the strongest evidence: right motions have hardly any such points, most wrong ones have
many. Normals are compared without their sign, which may not be known.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _core
from ..clouds.prepared import PreparedCloud
from ..clouds.surfaces import OrientedPoints, OrientedSurface, Some
from ..geometry.motions import RIGID, Motion
from ..geometry.poses import inverse

__all__ = [
    "AGREEING_COSINE",
    "FREE_SPACE_MARGIN",
    "Verified",
    "compare",
    "explained_by",
    "polish",
    "refine",
    "residuals_of",
    "sample",
    "settle",
    "verify_motions",
]

_Array = npt.NDArray[np.float64]

_FIRST_STEPS, _FIRST_POINTS = 3, 300
"""Steps of ICP for all motions, and points of each cloud for that and to compare them by then. Of the motions only …"""
_SECOND_MOTIONS = 40
"""… so many go on, …"""
_SECOND_STEPS, _SECOND_POINTS = 7, 1200
"""… with more steps, and are compared by more points. Where it is worth it, …"""
_LAST_MOTIONS = 12
"""… so many go on once more, …"""
_LAST_STEPS, _LAST_POINTS = 5, 1500
"""… with so many steps and points, as the answer does, and are compared by all points."""
_REFINING_POINTS = 500
"""Points of the source that these steps look at, and …"""
_REFINING_REACH = 2.5
"""… voxels within which they take another point for their own, …"""
_REFINING_COSINE = 0.5
"""… if the normals differ by less than 60°."""
AGREEING_COSINE = 0.8
"""Normals agree that differ by less than 37°."""
_EXPLAINED = 2.0
"""Voxels within which an association is explained."""
FREE_SPACE_MARGIN = 3.0
"""Voxels by which a point must be nearer to a sensor than what it saw there, to be in its way."""
# The score is detail · exp(-(residual / scale)²) · (1 + explained)^power / (1 + conflict / scale), with round numbers
# near what is best.
_POWER_OF_EXPLAINED = 0.5
"""Of what matches say beside the surfaces."""
_CONFLICT_SCALE = 0.02
"""Share of points in free space that halves a score."""
_RESIDUAL_SCALE = 0.3
"""Voxels: a residual that divides a score by e."""


@dataclass(frozen=True, eq=False)
class Verified:
    """Motions with what speaks for and against each."""

    motions: _Array
    """``(k, 4, 4)``, refined."""
    numbers: npt.NDArray[np.int64]
    """Which one it was of those that were given."""
    explained: npt.NDArray[np.int64]
    """Associations that it explains."""
    overlap: _Array
    """Share of the source points that lie on the target's surface, their normals along its."""
    against: _Array
    """Share of the source points that lie on the surface at an angle."""
    detail: _Array
    """The overlap with each point counted by how much the surface bends there: the geometric mean of source and target,
    each laid on the other."""
    residual: _Array
    """Root mean square distance along the normals, in voxels, of what overlaps, each point counted in the same way."""
    conflict: _Array | None
    """Share of the source in the target's free space, plus that of the target in the source's; None: not looked at."""
    fit: _Array
    """How well the surfaces agree: the score without the associations, whose number among equal motions is luck."""
    score: _Array

    def best(self, most: int) -> Verified:
        """Return the motions with the highest scores, the best first."""
        return self.only(np.argsort(-self.score, kind="stable")[:most])

    def beside(self, others: Verified) -> Verified:
        """Return these and others."""
        columns: dict[str, Any] = {}
        for column in fields(self):
            mine, theirs = getattr(self, column.name), getattr(others, column.name)
            columns[column.name] = None if mine is None else np.concatenate((mine, theirs))
        return Verified(**columns)

    def only(self, chosen: npt.NDArray[Any]) -> Verified:
        """Return some of the motions, by their numbers here or a mask."""
        columns: dict[str, Any] = {}
        for column in fields(self):
            values = getattr(self, column.name)
            columns[column.name] = None if values is None else values[chosen]
        return Verified(**columns)


def verify_motions(
    source: PreparedCloud,
    target: PreparedCloud,
    matched: tuple[_Array, _Array],
    motions: _Array,
    *,
    free_space: bool,
    threads: int,
    thoroughly: bool = False,
    model: Motion = RIGID,
) -> Verified:
    """Refine motions and order them by how well they explain associations and clouds.

    ``matched`` are the source and target point of every association; ``free_space`` says whether to look for points
    where a sensor looked through; ``thoroughly``, whether the best are worth looking at all of their points. Motions
    of the ``model`` stay of it. Those that are hopeless after a few steps are left out.
    """
    about: dict[str, Any] = {"free_space": free_space, "threads": threads}
    refined = refine(source, target, motions, _FIRST_STEPS, _FIRST_POINTS, threads, model=model)
    promising = compare(source, target, matched, refined, count=_FIRST_POINTS, **about).best(_SECOND_MOTIONS)
    refined = refine(source, target, promising.motions, _SECOND_STEPS, _REFINING_POINTS, threads, model=model)
    verified = compare(source, target, matched, refined, numbers=promising.numbers, **about).best(_SECOND_MOTIONS)
    if not thoroughly:
        return verified
    first, rest = (
        verified.only(np.arange(len(verified.motions))[of]) for of in (slice(_LAST_MOTIONS), slice(_LAST_MOTIONS, None))
    )
    refined = refine(source, target, first.motions, _LAST_STEPS, _LAST_POINTS, threads, model=model)
    finalists = compare(source, target, matched, refined, numbers=first.numbers, count=None, **about)
    return finalists.beside(rest).best(_SECOND_MOTIONS)


def refine(
    source: PreparedCloud,
    target: PreparedCloud,
    motions: _Array,
    steps: int,
    count: int,
    threads: int,
    *,
    precisely: bool = False,
    model: Motion = RIGID,
) -> _Array:
    """Improve motions by steps of ICP, looking at about ``count`` points of the source; those of a model stay of it."""
    points, normals, _ = sample(source, count)
    return settle(Some(points, normals), target, motions, steps, threads, precisely=precisely, model=model)


def settle(
    source: OrientedPoints,
    target: OrientedSurface,
    motions: _Array,
    steps: int,
    threads: int,
    *,
    precisely: bool,
    model: Motion,
) -> _Array:
    """Do the same, looking at all points of the source."""
    reach, cosine, motions = _REFINING_REACH * target.voxel_size, _REFINING_COSINE, np.ascontiguousarray(motions)
    points, normals, surface = source.points, source.normals, target.surface
    return _core.refine_motions(
        surface, points, normals, motions, reach, cosine, steps, precisely, threads, None, model.core
    )


def compare(
    source: PreparedCloud,
    target: PreparedCloud,
    matched: tuple[_Array, _Array],
    motions: _Array,
    *,
    free_space: bool,
    threads: int,
    count: int | None = _SECOND_POINTS,
    numbers: npt.NDArray[np.int64] | None = None,
) -> Verified:
    """Find what speaks for and against each motion, looking at about ``count`` points of each cloud, or at all."""
    voxel = target.voxel_size
    near, overlap, detail, square = _lay_on(source, target, motions, count, threads)
    _, _, detail_back, square_back = _lay_on(target, source, inverse(motions), count, threads)
    detail = np.sqrt(detail * detail_back)
    residual = np.sqrt(0.5 * (square + square_back))
    conflict = _conflict(source, target, motions, count, threads) if free_space else None
    explained = _core.count_explained(*matched, motions, _EXPLAINED * voxel)
    penalty = 1.0 if conflict is None else 1.0 + conflict / _CONFLICT_SCALE
    fit = detail * np.exp(-((residual / _RESIDUAL_SCALE) ** 2)) / penalty
    return Verified(
        motions=motions,
        numbers=np.arange(len(motions)) if numbers is None else numbers,
        explained=explained,
        overlap=overlap,
        against=near - overlap,
        detail=detail,
        residual=residual,
        conflict=conflict,
        fit=np.asarray(fit),
        score=np.asarray(fit * (1.0 + explained) ** _POWER_OF_EXPLAINED),
    )


def _lay_on(
    source: PreparedCloud, target: PreparedCloud, motions: _Array, count: int | None, threads: int
) -> tuple[_Array, _Array, _Array, _Array]:
    """Return which share of the source comes near the target's surface, and which along it; which share of its bends
    does, and the mean square distance of these along the normals, in voxels.
    """
    points, normals, bends = sample(source, count)
    near, agreeing, bent, squares = _core.measure_overlaps(
        target.surface, points, normals, bends, motions, target.voxel_size, AGREEING_COSINE, threads
    ).T
    number = max(1, len(points))
    square = squares / np.maximum(bent, 1e-300) / target.voxel_size**2
    return near / number, agreeing / number, bent / max(bends.sum(), 1e-300), square


def polish(
    source: PreparedCloud,
    target: PreparedCloud,
    motion: _Array,
    *,
    steps: int = _LAST_STEPS,
    threads: int,
    model: Motion = RIGID,
) -> _Array:
    """Improve a motion by steps of ICP with more points, looked up with more care."""
    refined = refine(source, target, motion[None], steps, _LAST_POINTS, threads, precisely=True, model=model)
    return np.asarray(refined[0])


def explained_by(motion: _Array, matched: tuple[_Array, _Array], voxel_size: float) -> npt.NDArray[np.bool_]:
    """Whether a motion brings each source point near its match."""
    return np.asarray(residuals_of(motion, matched) < _EXPLAINED * voxel_size)


def residuals_of(motion: _Array, matched: tuple[_Array, _Array]) -> _Array:
    """Return how far a motion moves source points from their matches."""
    return np.asarray(np.linalg.norm(matched[0] @ motion[:3, :3].T + motion[:3, 3] - matched[1], axis=1))


def _conflict(source: PreparedCloud, target: PreparedCloud, motions: _Array, count: int | None, threads: int) -> _Array:
    margin = FREE_SPACE_MARGIN * target.voxel_size
    share = np.zeros(len(motions))
    for cloud, sight, moves in ((source, target.sight, motions), (target, source.sight, inverse(motions))):
        points, *_ = sample(cloud, count)
        share += sight.count_in_front(points, moves, margin, threads) / max(1, len(points))
    return share


def sample(cloud: PreparedCloud, count: int | None) -> tuple[_Array, _Array, _Array]:
    """Return evenly chosen points, their normals and bends: they are in the order of their voxels, so of space."""
    return cloud._every(1 if count is None else max(1, len(cloud.points) // count))
