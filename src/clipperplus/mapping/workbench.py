"""The scans of a map while it is made: prepared clouds, what is known of pairs, and work on many of them at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from ..clouds.prepared import PreparedCloud
from ..geometry.poses import inverse
from .relations import Effort, Relation, Sighting, look_at, relate, usual_conflict

__all__ = ["Pair", "RelationStore", "Workbench"]

_Array: TypeAlias = npt.NDArray[np.float64]
_Numbers: TypeAlias = npt.NDArray[np.int64]
Pair: TypeAlias = tuple[int, int]
"""Numbers of two scans, the lower one first: the source and the target of a registration."""
_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

_CORNERS, _CORNER_REACH = 7, 1.5
"""Points that stand for a scan: its middle, and corners so many deviations from it."""
_COVERING_POINTS = 100
"""Of a scan, by which is told how much of it comes near another."""


class RelationStore(Protocol):
    """Where relations are kept beyond one run."""

    def get(self, source: int, target: int, effort: Effort) -> Relation | None:
        """Return what is known of two scans."""

    def put(self, relation: Relation) -> None:
        """Keep a relation for good."""


class Workbench:
    """Prepared scans, and what is known of pairs of them."""

    def __init__(
        self,
        clouds: Sequence[PreparedCloud],
        *,
        free_space: bool,
        threads: int,
        store: RelationStore | None = None,
        progress: Callable[[str, int, int], object] | None = None,
        usual: float | None = None,
    ) -> None:
        """Begin without knowing anything; ``progress`` is told what is done, how much of it, and of how much.

        ``usual`` is the conflict of pairs that are right, if that is known; otherwise it is what relations say.
        """
        self.clouds, self.free_space, self._store = tuple(clouds), free_space, store
        self.voxel_size = clouds[0].voxel_size if clouds else 1.0
        self.corners = np.array([_corners(cloud) for cloud in clouds]).reshape(len(clouds), _CORNERS, 3)
        middles = self.corners[:, 0]
        self._middles = middles
        self._radii = np.array(
            [
                np.linalg.norm(cloud.points - middle, axis=1).max(initial=0.0)
                for cloud, middle in zip(clouds, middles, strict=True)
            ]
        )
        self.relations: dict[Pair, Relation] = {}
        self.usual_conflict = usual_conflict(()) if usual is None else usual
        """The conflict that pairs of these scans have even if they are right."""
        self._threads, self._progress, self._usual = threads, progress, usual

    def relate(self, pairs: Iterable[Pair], effort: Effort, what: str) -> None:
        """Register pairs that the store does not know of; each is kept there as soon as it is done."""
        store, wanted = self._store, list(pairs)
        known = {pair: None if store is None else store.get(*pair, effort) for pair in wanted}

        def work(pair: Pair) -> Relation:
            relation = relate(self.clouds, *pair, effort, free_space=self.free_space)
            if store is not None:
                store.put(relation)
            return relation

        new = [pair for pair, relation in known.items() if relation is None]
        found = dict(zip(new, self.each(work, new, what), strict=True))
        self.relations |= {pair: known[pair] or found[pair] for pair in wanted}
        if self._usual is None:
            self.usual_conflict = usual_conflict(self.relations.values())

    def look(self, pairs: Sequence[Pair], poses: _Array, what: str) -> list[Sighting]:
        """Look at pairs where poses put them."""

        def work(pair: Pair) -> Sighting:
            source, target = pair
            motion = (inverse(poses[[target]]) @ poses[[source]])[0]
            clouds = self.clouds[source], self.clouds[target]
            return look_at(*clouds, motion, free_space=self.free_space, usual_conflict=self.usual_conflict)

        return list(self.each(work, list(pairs), what))

    def near(self, first: _Numbers, second: _Numbers, poses: _Array, least: float) -> list[tuple[float, Pair]]:
        """Return the pairs of which this share comes near the other under poses, those that share the most first."""
        places = np.einsum("nij,nj->ni", poses[:, :3, :3], self._middles) + poses[:, :3, 3]
        reach = self._radii[first][:, None] + self._radii[second]
        close = np.linalg.norm(places[first][:, None] - places[second], axis=2) < reach
        found = []
        for a, b in zip(*np.nonzero(close), strict=True):
            i, j = sorted((int(first[a]), int(second[b])))
            if i != j:
                found.append((i, j))
        pairs = sorted(set(found))
        if not pairs:
            return []
        numbers = np.array(pairs)
        motions = inverse(poses[numbers[:, 1]]) @ poses[numbers[:, 0]]
        back = inverse(motions)
        shares = [
            max(self._covered(i, j, motion), self._covered(j, i, other))
            for (i, j), motion, other in zip(pairs, motions, back, strict=True)
        ]
        order = sorted(range(len(pairs)), key=lambda k: (-shares[k], pairs[k]))
        return [(shares[k], pairs[k]) for k in order if shares[k] >= least]

    def _covered(self, source: int, target: int, motion: _Array) -> float:
        """Return which share of a scan comes near another."""
        points = self.clouds[source].points
        some = points[:: max(1, len(points) // _COVERING_POINTS)]
        near = self.clouds[target].surface.near(some @ motion[:3, :3].T + motion[:3, 3])
        return float(np.count_nonzero(near >= 0)) / max(1, len(some))

    def each(self, work: Callable[[_Item], _Result], items: list[_Item], what: str) -> Iterator[_Result]:
        """Do something with each item, in their order, on several threads."""
        if self._threads == 1 or len(items) < 2:
            for done, result in enumerate(map(work, items), start=1):
                self._tell(what, done, len(items))
                yield result
            return
        pool = ThreadPoolExecutor(self._threads)
        try:
            for done, result in enumerate(pool.map(work, items), start=1):
                self._tell(what, done, len(items))
                yield result
        finally:
            pool.shutdown(wait=True, cancel_futures=True)

    def _tell(self, what: str, done: int, total: int) -> None:
        if self._progress is not None and what:
            self._progress(what, done, total)


def _corners(cloud: PreparedCloud) -> _Array:
    """Return the middle of a scan, and places along its main axes: how far these move is how far the scan does."""
    points = cloud.points
    if not len(points):
        return np.zeros((_CORNERS, 3))
    middle = points.mean(axis=0)
    values, axes = np.linalg.eigh(np.cov(points.T) if len(points) > 1 else np.zeros((3, 3)))
    arms = (_CORNER_REACH * np.sqrt(np.maximum(values, 0.0)))[:, None] * axes.T
    return np.concatenate((middle[None], middle + arms, middle - arms))
