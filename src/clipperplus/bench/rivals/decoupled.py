"""H. Yang, J. Shi and L. Carlone, "TEASER: fast and certifiable point cloud registration", T-RO 2021.

As in their TEASER++: a maximum clique of the translation-invariant measurements, the rotation by graduated
non-convexity on a chain of those that are left, and the translation by voting, axis by axis. Their package is not on
PyPI (``pyteaser`` there summarizes news).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...clique import find_clique
from ...consistency import consistency_graph
from ._least_squares import least_squares
from .gnc import graduate_tls

__all__ = ["solve"]

_Array = npt.NDArray[np.float64]


def solve(source: _Array, target: _Array, epsilon: float) -> _Array | None:
    """Return rotation and translation, one after the other."""
    chosen = find_clique(consistency_graph(source, target, epsilon=epsilon), method="exact", time_limit=1.0).vertices
    if len(chosen) < 3:
        return None
    source, target = source[chosen], target[chosen]
    here, there = (np.roll(points, -1, axis=0) - points for points in (source, target))
    rotation = _rotation(here, there, epsilon)
    motion = np.eye(4)
    motion[:3, :3] = rotation
    motion[:3, 3] = [_vote(axis, epsilon) for axis in (target - source @ rotation.T).T]
    return motion


def _rotation(source: _Array, target: _Array, bound: float) -> _Array:
    """Return the rotation between vectors: each with its opposite, they have no translation between them."""
    here, there = (np.concatenate((vectors, -vectors)) for vectors in (source, target))

    def rotate(weights: _Array) -> _Array:
        return least_squares(here, there, np.tile(weights, 2))[:3, :3]

    def fit(weights: _Array) -> _Array:
        return np.asarray(((source @ rotate(weights).T - target) ** 2).sum(axis=1))

    weights = graduate_tls(fit, len(source), bound)
    return rotate(weights if np.count_nonzero(weights) >= 2 else np.ones(len(source)))


def _vote(values: _Array, bound: float) -> float:
    """Return the mean of the values that are within the bound of one place, by the least truncated cost."""
    ends = np.sort(np.concatenate((values - bound, values + bound)))
    places = (ends[1:] + ends[:-1]) / 2.0
    members = np.abs(values - places[:, None]) <= bound
    counts = np.maximum(members.sum(axis=1), 1)
    means = members @ values / counts
    spread = (members * (values - means[:, None]) ** 2).sum(axis=1)
    costs = spread / bound**2 + len(values) - members.sum(axis=1)
    return float(means[costs.argmin()])
