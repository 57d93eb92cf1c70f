"""Scans, some of which have known relations: places, each with a frame of its own, and what is suggested about them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ..geometry.poses import inverse

__all__ = ["APART", "Places", "Suggestions"]

_Array: TypeAlias = npt.NDArray[np.float64]
_Numbers: TypeAlias = npt.NDArray[np.int64]

APART = 6.0
"""Voxels by which the ends of a chain of two registrations may be apart; it grows with the root of their number."""


@dataclass(frozen=True, eq=False)
class Suggestions:
    """How pairs of scans may lie to each other, each with how likely it is."""

    relation: _Numbers
    """``(m,)``: the registration that each comes from. Of those of one, at most one is right."""
    source: _Numbers
    target: _Numbers
    motions: _Array
    """``(m, 4, 4)`` from source to target."""
    weights: _Array
    """``(m,)``: logarithms of the odds."""


class Places:
    """Scans, some of which have known relations: places, each with a frame of its own."""

    def __init__(self, corners: _Array, voxel_size: float) -> None:
        """Begin with each scan alone; ``corners`` are ``(n, c, 3)`` points that stand for each scan."""
        count = len(corners)
        self.corners, self.voxel_size = corners, voxel_size
        self.labels = np.arange(count)
        self.poses = np.tile(np.eye(4), (count, 1, 1))
        self.hops = np.full((count, count), np.inf)
        """Registrations between two scans of a place, along the shortest chain."""
        np.fill_diagonal(self.hops, 0.0)

    def copy(self) -> Places:
        """Return the same again."""
        other = Places(self.corners, self.voxel_size)
        other.labels, other.poses, other.hops = self.labels.copy(), self.poses.copy(), self.hops.copy()
        return other

    def undo(self, scans: _Numbers, before: Places) -> None:
        """Put scans, all those of some places, where they were before."""
        self.labels[scans], self.poses[scans] = before.labels[scans], before.poses[scans]
        self.hops[np.ix_(scans, scans)] = before.hops[np.ix_(scans, scans)]

    def take_out(self, scan: int) -> None:
        """Make a scan a place of its own again."""
        place = self.scans(int(self.labels[scan]))
        rest = place[place != scan]
        self.labels[rest], self.labels[scan] = rest[0], scan
        self.hops[scan], self.hops[:, scan] = np.inf, np.inf
        self.poses[scan], self.hops[scan, scan] = np.eye(4), 0.0

    def settle(self, scans: _Numbers, poses: _Array, pairs: _Numbers) -> None:
        """Put the scans of one place where they stand; ``pairs`` of them are related."""
        self.poses[scans] = poses
        hops = np.full((len(scans), len(scans)), np.inf)
        local = np.full(len(self.labels), -1)
        local[scans] = np.arange(len(scans))
        ends = local[pairs]
        hops[ends[:, 0], ends[:, 1]] = hops[ends[:, 1], ends[:, 0]] = 1.0
        np.fill_diagonal(hops, 0.0)
        for middle in range(len(scans)):  # Floyd and Warshall
            np.minimum(hops, hops[:, middle, None] + hops[middle], out=hops)
        self.hops[np.ix_(scans, scans)] = hops

    def scans(self, label: int) -> _Numbers:
        """Return the scans of a place."""
        return np.flatnonzero(self.labels == label)

    def implied(self, some: Suggestions, numbers: _Numbers, first: int) -> _Array:
        """Return how suggestions put the other place into the frame of the first, ``(k, 4, 4)``."""
        source, target = some.source[numbers], some.target[numbers]
        there = self.poses[target] @ some.motions[numbers] @ inverse(self.poses[source])
        outwards = self.labels[source] == first
        there[outwards] = inverse(there[outwards])
        return np.asarray(there)

    def agreement(self, some: Suggestions, numbers: _Numbers, first: int, implied: _Array) -> npt.NDArray[np.bool_]:
        """Return which of several suggestions between two places agree about how these lie, ``(k, k)``."""
        source, target = some.source[numbers], some.target[numbers]
        outwards = self.labels[source] == first
        here, there = np.where(outwards, source, target), np.where(outwards, target, source)
        corners = np.einsum("nij,ncj->nci", self.poses[there, :3, :3], self.corners[there])
        corners += self.poses[there, None, :3, 3]
        square = _mean_squares(implied, corners)
        hops = 2.0 + self.hops[np.ix_(here, here)] + self.hops[np.ix_(there, there)]
        bound = (APART * self.voxel_size) ** 2 * hops / 2.0
        relation = some.relation[numbers]
        agree = (np.maximum(square, square.T) <= bound) & (relation[:, None] != relation)
        return np.asarray(agree)

    def join(self, first: int, second: int, motion: _Array, pairs: _Numbers) -> None:
        """Make two places one, the second moved into the frame of the first; ``pairs`` of scans relate them."""
        a, b = self.scans(first), self.scans(second)
        self.poses[b] = motion @ self.poses[b]
        here = np.where((self.labels[pairs[:, 0]] == first)[:, None], pairs, pairs[:, ::-1])
        between = (self.hops[np.ix_(a, here[:, 0])][:, None] + 1.0 + self.hops[np.ix_(b, here[:, 1])][None]).min(axis=2)
        self.hops[np.ix_(a, b)] = between
        self.hops[np.ix_(b, a)] = between.T
        self.labels[b] = first

    def agreeing(self, some: Suggestions) -> npt.NDArray[np.bool_]:
        """Return which suggestions agree with where the scans of one place are."""
        source, target = some.source, some.target
        implied = inverse(self.poses[target]) @ self.poses[source]
        change = implied - some.motions
        corners = np.einsum("nij,ncj->nci", change[:, :3, :3], self.corners[source]) + change[:, None, :3, 3]
        square = (corners**2).sum(axis=2).mean(axis=1)
        together = self.labels[source] == self.labels[target]
        hops = np.where(together, 1.0 + self.hops[source, target], 0.0)
        return np.asarray(together & (square <= (APART * self.voxel_size) ** 2 * hops / 2.0))


def _mean_squares(motions: _Array, points: _Array) -> _Array:
    """Return how far motions ``(k, 4, 4)`` put sets of points ``(k, c, 3)`` from where the set's own motion puts it.

    Entry (k, n) is the mean square distance between the n-th set moved by the k-th motion, and by the n-th. With
    A = (R t) and S the mean of x xᵀ over the points of a set it is tr((A_k - A_n) S_n (A_k - A_n)ᵀ): two products.
    """
    middle = points.reshape(-1, 3).mean(axis=0)
    moves = motions[:, :3].copy()
    moves[:, :, 3] += moves[:, :, :3] @ middle
    moves[:, :, 3] -= moves[:, :, 3].mean(axis=0)  # about the middle, so that differences keep their digits
    ones = np.concatenate((points - middle, np.ones((*points.shape[:2], 1))), axis=2)
    spreads = ones.transpose(0, 2, 1) @ ones / points.shape[1]
    count = len(motions)
    other = (moves.transpose(0, 2, 1) @ moves).reshape(count, 16) @ spreads.reshape(count, 16).T
    both = moves.reshape(count, 12) @ (moves @ spreads).reshape(count, 12).T
    return np.asarray(np.maximum(other - 2.0 * both + np.diag(both), 0.0))
