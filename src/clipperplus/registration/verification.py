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
from ..clouds.prepared import PreparedCloud
from ..geometry.poses import inverse

__all__ = ["AGREEING_COSINE", "Verified", "compare", "explained_by", "polish", "residuals_of", "verify"]

_Array = npt.NDArray[np.float64]

_FIRST_STEPS, _FIRST_POINTS = 3, 300
"""Steps of ICP for all motions, and points of each cloud for that and to compare them by then. Of the motions only …"""
_SECOND_MOTIONS = 40
"""… so many go on, …"""
_SECOND_STEPS, _SECOND_POINTS = 7, 1200
"""… with more steps, and are compared by more points. The last motion has …"""
_LAST_STEPS, _LAST_POINTS = 5, 1500
"""… more steps with still more points."""
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
_FREE_SPACE_MARGIN = 3.0
"""Voxels by which a point must be nearer to a sensor than what it saw there, to be in its way."""
_CONFLICT_SCALE = 0.02
"""Share of points in free space that halves a score."""


@dataclass(frozen=True, eq=False)
class Verified:
    """Motions with what speaks for and against each."""

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

    def best(self, most: int) -> Verified:
        """Return the motions with the highest scores, the best first."""
        order = np.argsort(-self.score, kind="stable")[:most]
        conflict = None if self.conflict is None else self.conflict[order]
        return Verified(
            np.ascontiguousarray(self.motions[order]),
            self.explained[order],
            self.overlap[order],
            self.against[order],
            conflict,
            self.score[order],
        )


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
    where a sensor looked through. Motions that are hopeless after a few steps are left out.
    """
    refined = _refine(source, target, motions, _FIRST_STEPS, _FIRST_POINTS, threads)
    promising = compare(
        source, target, matched, refined, free_space=free_space, threads=threads, count=_FIRST_POINTS
    ).best(_SECOND_MOTIONS)
    refined = _refine(source, target, promising.motions, _SECOND_STEPS, _REFINING_POINTS, threads)
    return compare(source, target, matched, refined, free_space=free_space, threads=threads).best(_SECOND_MOTIONS)


def _refine(
    source: PreparedCloud, target: PreparedCloud, motions: _Array, steps: int, count: int, threads: int
) -> _Array:
    reach = _REFINING_REACH * target.voxel_size
    points, normals = _sample(source, count)
    return _core.refine_motions(
        target.surface, points, normals, motions, reach, _REFINING_COSINE, steps, False, threads
    )


def compare(
    source: PreparedCloud,
    target: PreparedCloud,
    matched: tuple[_Array, _Array],
    motions: _Array,
    *,
    free_space: bool,
    threads: int,
    count: int = _SECOND_POINTS,
) -> Verified:
    """Find what speaks for and against each motion, looking at about ``count`` points of each cloud."""
    voxel = target.voxel_size
    points, normals = _sample(source, count)
    near, agreeing = _core.measure_overlaps(target.surface, points, normals, motions, voxel, AGREEING_COSINE, threads)
    overlap = agreeing / max(1, len(points))
    against = near / max(1, len(points)) - overlap
    conflict = _conflict(source, target, motions, count, threads) if free_space else None
    explained = _core.count_explained(*matched, motions, _EXPLAINED * voxel)
    penalty = 1.0 if conflict is None else 1.0 + conflict / _CONFLICT_SCALE
    score = np.asarray(np.maximum(overlap - against, 0.0) * explained / penalty)
    return Verified(motions, explained, overlap, against, conflict, score)


def polish(source: PreparedCloud, target: PreparedCloud, motion: _Array, *, threads: int) -> _Array:
    """Improve a motion by steps of ICP with more points, looked up with more care."""
    points, normals = _sample(source, _LAST_POINTS)
    return np.asarray(
        _core.refine_motions(
            target.surface,
            points,
            normals,
            np.ascontiguousarray(motion[None]),
            _REFINING_REACH * target.voxel_size,
            _REFINING_COSINE,
            _LAST_STEPS,
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


def _conflict(source: PreparedCloud, target: PreparedCloud, motions: _Array, count: int, threads: int) -> _Array:
    margin = _FREE_SPACE_MARGIN * target.voxel_size
    share = np.zeros(len(motions))
    for cloud, sight, moves in ((source, target.sight, motions), (target, source.sight, inverse(motions))):
        points, _ = _sample(cloud, count)
        share += sight.count_in_front(points, moves, margin, threads) / max(1, len(points))
    return share


def _sample(cloud: PreparedCloud, count: int) -> tuple[_Array, _Array]:
    """Return evenly chosen points and normals: they are in the order of their voxels, so of space."""
    step = max(1, len(cloud.points) // count)
    return np.ascontiguousarray(cloud.points[::step]), np.ascontiguousarray(cloud.normals[::step])
