"""How nearly another motion is as good as an answer, by what the scans show.

Two motions are told apart by the points that only one of them explains: points that lie on the other surface under one,
and where a sensor looked through under the other. What one explains and the other leaves open tells nothing: it may not
have been seen. A rival explains as much as the answer, and nothing contradicts it more.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from .. import _core
from ..clouds.prepared import PreparedCloud
from ..geometry.poses import inverse
from .verification import AGREEING_COSINE, FREE_SPACE_MARGIN, sample

__all__ = ["AGREES", "FAR", "UNSEEN", "Origin", "Rivals", "check_both_ways", "places_of", "rivalry_of", "spread_points"]

_Array: TypeAlias = npt.NDArray[np.float64]
_Checks: TypeAlias = npt.NDArray[np.uint8]
Origin: TypeAlias = Literal["match", "turn", "shift", "repeat", "slide", "mirror"]
"""Where a motion comes from: matches suggest it, or it was made from the answer."""

UNSEEN, AGREES, _ACROSS, _IN_FREE_SPACE = 0, 1, 2, 3
"""Checks of a point: out of view; on the surface; at an angle to it; where the other sensor looked through. What is
left is behind what that saw."""
_CHECKED_POINTS = 600
"""Of each cloud."""
# How nearly a rival is as good is a product: what it explains, relative to the answer, all points and bent ones, and a
# factor that falls as more of what the answer explains is contradicted under it than the other way round, …
_IN_FREE_SPACE_SCALE, _ACROSS_SCALE = (0.033, 0.25), (0.15, 0.4)
"""… shares by which it falls to 1/e, of all points and of bent ones: where the other sensor looked through or, if this
is not known, at an angle to the surface, which is far weaker evidence; …"""
_ELSEWHERE_SCALE = 1.0
"""… and one by which it does where the two explain different points."""
_POWER_OF_MORE = 0.35
"""Of what it explains, of all points and of bent ones: where two sensors see less in common, that is less."""
_MOST = 1.1
"""Explaining more than the answer does is no better than this."""
FAR = 4.0
"""Voxels, root mean square over its points, by which a motion must move the source elsewhere to be another."""


@dataclass(frozen=True, eq=False)
class Rivals:
    """Motions that are far from an answer, with how nearly each is as good."""

    motions: _Array
    """``(k, 4, 4)``."""
    origins: tuple[Origin, ...]
    """Where each comes from."""
    rivalry: _Array
    """``(k,)``: from 0, it cannot be, to about 1, nothing tells them apart."""


def spread_points(points: _Array) -> _Array:
    """Return some of the points, without strays, by which motions are told apart."""
    chosen = points[:: max(1, len(points) // 50)]
    far = np.linalg.norm(chosen - np.median(chosen, axis=0), axis=1)
    return np.asarray(chosen[far <= np.quantile(far, 0.9)])


def places_of(motions: _Array, points: _Array) -> _Array:
    """Return rows whose distances are how far apart motions move the points, root mean square."""
    turned = motions[:, :3, :3].reshape(-1, 3) @ points.T  # one product is faster than one for each motion
    places = turned.reshape(len(motions), 3, len(points)) + motions[:, :3, 3:]
    return np.asarray(places.reshape(len(motions), -1) / np.sqrt(max(1, len(points))))


def rivalry_of(
    source: PreparedCloud, target: PreparedCloud, answer: _Array, motions: _Array, *, free_space: bool, threads: int
) -> _Array:
    """Return how nearly each motion is as good as the answer."""
    contradicted = _IN_FREE_SPACE if free_space else _ACROSS
    both = np.concatenate((answer[None], motions))
    shares = [
        _shares(checks, contradicted, np.ones(len(bends))) + _shares(checks, contradicted, bends)
        for checks, bends in check_both_ways(source, target, both, free_space=free_space, threads=threads)
    ]
    # Each is the mean of both ways, of all points and of bent ones.
    plain, bent = (
        [0.5 * (first + second) for first, second in zip(shares[0][of], shares[1][of], strict=True)]
        for of in (slice(0, 5), slice(5, 10))
    )
    more, worse, elsewhere = _relation(*plain)
    more_bent, worse_bent, _ = _relation(*bent)
    scale, scale_bent = _IN_FREE_SPACE_SCALE if free_space else _ACROSS_SCALE
    falls = worse / scale + worse_bent / scale_bent + elsewhere / _ELSEWHERE_SCALE
    return np.asarray((more * more_bent) ** _POWER_OF_MORE * np.exp(-falls))


def check_both_ways(
    source: PreparedCloud, target: PreparedCloud, motions: _Array, *, free_space: bool, threads: int
) -> Iterator[tuple[_Checks, _Array]]:
    """Return how points of the source, and then of the target, fare under each motion, and their bends."""
    voxel = target.voxel_size
    for cloud, other, moves in ((source, target, motions), (target, source, inverse(motions))):
        points, normals, bends = sample(cloud, _CHECKED_POINTS)
        sight, margin = other.sight if free_space else None, FREE_SPACE_MARGIN * voxel
        checks = _core.check_points(
            other.surface, sight, points, normals, moves, voxel, AGREEING_COSINE, margin, threads
        )
        yield checks, bends


def _shares(checks: _Checks, against: int, weights: _Array) -> list[_Array]:
    """Return shares of the weights, of the first motion with each of the others.

    What it explains, and what the other does; of its points what is contradicted there, and the other way round; and
    what each explains of which nothing is known under the other, the lesser of both.
    """
    weights = weights / max(float(weights.sum()), 1e-300)
    agrees, contradicted = checks == AGREES, checks == against
    unknown = ~agrees & (checks != _ACROSS) & (checks != _IN_FREE_SPACE)
    first, others = agrees[0], agrees[1:]
    return [
        np.full(len(others), first @ weights),
        others @ weights,
        (contradicted[1:] & first) @ weights,
        (others & contradicted[0]) @ weights,
        np.minimum((first & unknown[1:]) @ weights, (others & unknown[0]) @ weights),
    ]


def _relation(
    mine: _Array, theirs: _Array, against: _Array, back: _Array, apart: _Array
) -> tuple[_Array, _Array, _Array]:
    """Return what others explain, by how much more they are contradicted, and what each explains elsewhere.

    All relative to what the answer explains.
    """
    explained = np.maximum(mine, 1e-300)
    return np.minimum(theirs / explained, _MOST), np.maximum(against - back, 0.0) / explained, apart / explained
