"""Which of several motions is the right one: lay one cloud on the other and look.

A motion is first improved by a few steps of point-to-plane ICP. What then speaks for it: associations that it explains,
and points of the source that come to lie on the target's surface, facing the same way. What speaks against it: points
that lie on the surface but face another way, and points that come to lie where a sensor looked through. The last is the
strongest evidence: right motions have hardly any such points, most wrong ones have many.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .. import _core
from ..features import PreparedCloud
from ..poses import inverse

__all__ = ["Verified", "explained_by", "verify"]

_Array = npt.NDArray[np.float64]

_REFINING_POINTS = 500
"""Points of the source that steps of ICP look at, and …"""
_REFINING_STEPS = 10
_REFINING_REACH = 2.5
"""… voxels within which they take another point for their own, …"""
_REFINING_COSINE = 0.5
"""… if the normals differ by less than 60°."""
_COMPARED_POINTS = 1200
"""Points of each cloud that are compared under a motion."""
_AGREEING_COSINE = 0.8
"""Normals agree that differ by less than 37°."""
_EXPLAINED = 2.0
"""Voxels within which an association is explained."""
_FREE_SPACE_MARGIN = 3.0
"""Voxels by which a point must be nearer to a sensor than what it saw there, to be in its way."""
_CONFLICT_SCALE = 0.02
"""Share of points in free space that halves a score."""
_POLISHING_STEPS = 5


@dataclass(frozen=True, eq=False)
class Verified:
    """Motions with what speaks for and against each, the best first."""

    motions: _Array
    """``(k, 4, 4)``, refined."""
    explained: npt.NDArray[np.int64]
    """Associations that it explains."""
    overlap: _Array
    """Share of the source points that lie on the target's surface and face the same way."""
    against: _Array
    """Share of the source points that lie on the surface and do not."""
    conflict: _Array | None
    """Share of the source in the target's free space, plus that of the target in the source's; None: not looked at."""
    score: _Array


def verify(
    source: PreparedCloud,
    target: PreparedCloud,
    matched: tuple[_Array, _Array],
    motions: _Array,
    *,
    free_space: bool,
    threads: int,
) -> Verified:
    """Refine motions and order them by how well they explain associations and clouds.

    ``matched`` are the source and target point of every association; ``free_space`` says whether to look for points
    where a sensor looked through.
    """
    voxel = target.voxel_size
    points, normals = _sample(source, _REFINING_POINTS)
    refined = _core.refine_motions(
        target.surface,
        points,
        normals,
        motions,
        _REFINING_REACH * voxel,
        _REFINING_COSINE,
        _REFINING_STEPS,
        False,
        threads,
    )
    points, normals = _sample(source, _COMPARED_POINTS)
    near, agreeing = _core.measure_overlaps(target.surface, points, normals, refined, voxel, _AGREEING_COSINE, threads)
    overlap = agreeing / max(1, len(points))
    against = near / max(1, len(points)) - overlap
    conflict = _conflict(source, target, refined, threads) if free_space else None
    explained = _core.count_explained(*matched, refined, _EXPLAINED * voxel)
    penalty = 1.0 if conflict is None else 1.0 + conflict / _CONFLICT_SCALE
    score = np.asarray(np.maximum(overlap - against, 0.0) * explained / penalty)
    order = np.argsort(-score, kind="stable")
    return Verified(
        motions=refined[order],
        explained=explained[order],
        overlap=overlap[order],
        against=against[order],
        conflict=None if conflict is None else conflict[order],
        score=score[order],
    )


def polish(source: PreparedCloud, target: PreparedCloud, motion: _Array, *, threads: int) -> _Array:
    """Improve a motion by steps of ICP with all points."""
    return np.asarray(
        _core.refine_motions(
            target.surface,
            source.points,
            source.normals,
            np.ascontiguousarray(motion[None]),
            _REFINING_REACH * target.voxel_size,
            _REFINING_COSINE,
            _POLISHING_STEPS,
            True,
            threads,
        )[0]
    )


def explained_by(motion: _Array, matched: tuple[_Array, _Array], voxel_size: float) -> npt.NDArray[np.bool_]:
    """Whether a motion brings each source point near its match."""
    return np.asarray(residuals_of(motion, matched) < _EXPLAINED * voxel_size)


def residuals_of(motion: _Array, matched: tuple[_Array, _Array]) -> _Array:
    """Return how far a motion moves source points from their matches."""
    return np.asarray(np.linalg.norm(matched[0] @ motion[:3, :3].T + motion[:3, 3] - matched[1], axis=1))


def _conflict(source: PreparedCloud, target: PreparedCloud, motions: _Array, threads: int) -> _Array:
    margin = _FREE_SPACE_MARGIN * target.voxel_size
    share = np.zeros(len(motions))
    for cloud, sight, moves in ((source, target.sight, motions), (target, source.sight, inverse(motions))):
        points, _ = _sample(cloud, _COMPARED_POINTS)
        share += sight.count_in_front(points, moves, margin, threads) / max(1, len(points))
    return share


def _sample(cloud: PreparedCloud, count: int) -> tuple[_Array, _Array]:
    """Return evenly chosen points and normals: they are in the order of their voxels, so of space."""
    step = max(1, len(cloud.points) // count)
    return np.ascontiguousarray(cloud.points[::step]), np.ascontiguousarray(cloud.normals[::step])
