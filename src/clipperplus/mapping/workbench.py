"""The scans of a map while it is made: prepared clouds, what is known of pairs, and work on many of them at once."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from .. import _core
from ..clouds.prepared import PreparedCloud
from ..geometry.poses import inverse
from ..pairs.here import Here
from ..pairs.order import one_after_the_other
from ..pairs.recipes import Failure
from ..pairs.tasks import Engine, Task
from .links import link_covariance
from .outlines import CORNERS, Outline, Outlines
from .relations import Effort, Relating, Relation, Sighting, look_at, not_related, usual_conflict, what_is_seen

__all__ = ["Pair", "RelationStore", "Workbench"]

_Array: TypeAlias = npt.NDArray[np.float64]
_Numbers: TypeAlias = npt.NDArray[np.int64]
Pair: TypeAlias = tuple[int, int]
"""Numbers of two scans, the lower one first: the source and the target of a registration."""
_LOGGER = logging.getLogger("clipperplus.mapping")
_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

_SAME = 0.2
"""Voxels by which a scan may be moved and still show the same, …"""
_LOOKS = 4
"""… and how many looks at a pair are remembered, the last ones."""


class RelationStore(Protocol):
    """Where relations are kept beyond one run."""

    def get(self, source: int, target: int, effort: Effort) -> Relation | None:
        """Return what is known of two scans."""

    def put(self, relations: Iterable[Relation]) -> None:
        """Keep relations for good."""


class Workbench:
    """Prepared scans, and what is known of pairs of them."""

    def __init__(
        self,
        clouds: Sequence[PreparedCloud],
        *,
        described: Sequence[PreparedCloud] | None = None,
        outlines: Sequence[Outline] | None = None,
        free_space: bool,
        threads: int,
        store: RelationStore | None = None,
        engine: Engine | None = None,
        progress: Callable[[str, int, int], object] | None = None,
        usual: float | None = None,
    ) -> None:
        """Begin without knowing anything; ``progress`` is told what is done, how much of it, and of how much.

        ``described`` are the same clouds with features, if these have none, and ``outlines`` what stands for them.
        Pairs are registered by an ``engine`` that knows scans by their numbers; None: here. ``usual`` is the conflict
        of pairs that are right, if that is known; otherwise it is what relations say.
        """
        self.clouds, self.free_space, self._store = clouds, free_space, store
        self._described = clouds if described is None else described
        self.outlines = [Outline(cloud) for cloud in clouds] if outlines is None else list(outlines)
        self.voxel_size = clouds[0].voxel_size if len(clouds) else 1.0
        self.corners = np.array([outline.corners for outline in self.outlines]).reshape(len(clouds), CORNERS, 3)
        self._sharing = Outlines(self.outlines, self.voxel_size)
        self.relations: dict[Pair, Relation] = {}
        self._covariances: dict[Pair, deque[tuple[bytes, _Array]]] = {}
        self._looks: dict[Pair, deque[tuple[_Array, tuple[Sighting, Sighting]]]] = {}
        self.usual_conflict = usual_conflict(()) if usual is None else usual
        """The conflict that pairs of these scans have even if they are right."""
        self._threads, self._progress, self._usual = threads, progress, usual
        self._engine = Here(threads, lambda key: self._described[int(key)]) if engine is None else engine

    def relate(self, pairs: Iterable[Pair], effort: Effort, what: str) -> None:
        """Register pairs that the store does not know of; each is kept there as soon as it is done."""
        store, wanted = self._store, list(pairs)
        known = {pair: None if store is None else store.get(*pair, effort) for pair in wanted}
        new = one_after_the_other([pair for pair, relation in known.items() if relation is None])
        work = Relating(effort, self.free_space)
        tasks = [Task(k, str(i), str(j), work) for k, (i, j) in enumerate(new)]
        done = 0
        for some in self._engine.work(tasks):
            found: list[Relation] = []
            for task, answer in some:
                source, target = new[task.number]
                if isinstance(answer, Failure):
                    _LOGGER.warning("scans %d and %d: %s", source, target, answer.reason)
                    known[source, target] = not_related(source, target, effort, answer.reason)
                else:
                    known[source, target] = relation = Relation.from_dict(source, target, answer)
                    found.append(relation)
            if store is not None:
                store.put(found)
            for _ in some:
                done += 1
                self._tell(what, done, len(new))
        self.relations |= {pair: relation for pair, relation in known.items() if relation is not None}
        if self._usual is None:
            self.usual_conflict = usual_conflict(self.relations.values())

    def look(self, pairs: Sequence[Pair], poses: _Array, what: str) -> list[Sighting]:
        """Look at pairs where poses put them, unless they were looked at there before."""
        numbers = np.array(pairs, dtype=np.int64).reshape(-1, 2)
        motions = inverse(poses[numbers[:, 1]]) @ poses[numbers[:, 0]]
        known = [self._looked_at(pair, motion) for pair, motion in zip(pairs, motions, strict=True)]
        new = [k for k, both in enumerate(known) if both is None]

        def work(k: int) -> tuple[Sighting, Sighting]:
            source, target = (self.clouds[scan] for scan in pairs[k])
            return look_at(source, target, motions[k], free_space=self.free_space)

        rank = {pair: number for number, pair in enumerate(one_after_the_other([pairs[k] for k in new]))}
        new.sort(key=lambda k: rank[pairs[k]])
        for k, both in zip(new, self.each(work, new, what), strict=True):
            known[k] = both
            self._looks.setdefault(pairs[k], deque(maxlen=_LOOKS)).append((motions[k], both))
        return [what_is_seen(both, self.usual_conflict) for both in known if both is not None]

    def _looked_at(self, pair: Pair, motion: _Array) -> tuple[Sighting, Sighting] | None:
        """Return what was seen of a pair where a motion puts it, or hardly anywhere else."""
        for there, both in self._looks.get(pair, ()):
            change = motion - there
            moved = self.corners[pair[0]] @ change[:3, :3].T + change[:3, 3]
            if float((moved**2).sum(axis=1).mean()) <= (_SAME * self.voxel_size) ** 2:
                return both
        return None

    def covariance(self, pair: Pair, motion: _Array) -> _Array:
        """Return the covariance of a motion that lays two scans on each other; of the last ones it is remembered."""
        remembered, key = self._covariances.setdefault(pair, deque(maxlen=_LOOKS)), motion.tobytes()
        for known, covariance in tuple(remembered):
            if known == key:
                return covariance
        covariance = link_covariance(self.clouds[pair[0]], self.clouds[pair[1]], motion)
        remembered.append((key, covariance))
        return covariance

    def near(self, first: _Numbers, second: _Numbers, poses: _Array, least: float) -> list[tuple[float, Pair]]:
        """Return the pairs that share this much under poses, those that share the most first."""
        shares = self._sharing.shares(first, second, poses)
        found = {
            (min(i, j), max(i, j)): float(share)
            for i, j, share in zip(*_of_matrix(first, second, shares, shares >= least), strict=True)
            if i != j
        }
        return sorted(((share, pair) for pair, share in found.items()), key=lambda item: (-item[0], item[1]))

    def each(self, work: Callable[[_Item], _Result], items: list[_Item], what: str) -> Iterator[_Result]:
        """Do something with each item, in their order, on several threads."""
        if self._threads == 1 or len(items) < 2:
            for done, result in enumerate(map(work, items), start=1):
                self._tell(what, done, len(items))
                yield result
            return
        stop = _core.Stop()
        pool = ThreadPoolExecutor(self._threads, initializer=stop.obey)
        try:
            for done, result in enumerate(pool.map(work, items), start=1):
                self._tell(what, done, len(items))
                yield result
        finally:
            stop.say()  # what has not ended by now is not waited for
            pool.shutdown(wait=True, cancel_futures=True)

    def _tell(self, what: str, done: int, total: int) -> None:
        if self._progress is not None and what:
            self._progress(what, done, total)


def _of_matrix(
    first: _Numbers, second: _Numbers, values: _Array, chosen: npt.NDArray[np.bool_]
) -> tuple[list[int], list[int], list[float]]:
    """Return the numbers of rows and columns, and the values, of the entries that are chosen."""
    rows, columns = np.nonzero(chosen)
    return first[rows].tolist(), second[columns].tolist(), values[rows, columns].tolist()
