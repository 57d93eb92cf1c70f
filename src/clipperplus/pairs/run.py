"""Many pairs of clouds, registered here or on a cluster, each once."""

from __future__ import annotations

import logging
import numbers
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._validation import as_integer, as_length, as_number
from .._words import shown
from ..clouds.recent import Recent
from ..clouds.scan import Scan, Unread, as_scan
from ..clouds.voxels import rounded_size
from ..errors import LandmarkError, MissingPackageError, OptionError
from ..registration import register
from .arguments import check_surroundings, length_of
from .here import Here, as_they_come
from .order import one_after_the_other
from .recipes import Failure, Look, Recipe, look_at
from .result import PairResult
from .store import Key, PairStore, StoreFullError
from .tasks import OPTIONS, Done, Registering, Task

if TYPE_CHECKING:
    from distributed import Client

    from .cluster import Cluster

__all__ = ["all_cores", "cluster_of", "register_pairs"]

_LOGGER = logging.getLogger("clipperplus.pairs")

_USUAL_MEMORY = 1 << 30
"""Bytes for prepared clouds in this process, unless told."""


def register_pairs(
    pairs: Iterable[Sequence[Any]],
    *,
    clouds: Sequence[Any] | None = None,
    client: Client | None = None,
    store: str | PathLike[str] | None = None,
    voxel_size: float | None = None,
    pair_time_limit: float | None = None,
    memory: int | None = None,
    size_limit: int | None = None,
    threads: int | None = None,
    progress: Callable[[str, int, int], object] | None = None,
    **options: Any,
) -> Iterator[PairResult]:
    """Register many pairs, here or on a Dask cluster; results come as they are done, in any order.

    Each is what :func:`clipperplus.register` gives for the pair, to the last bit, wherever it was computed. A pair that
    fails says why, and does not keep others from being done.

    Parameters
    ----------
    pairs
        ``(source, target)`` each, or ``(source, target, options)``: names of files, points, anything with ``.points``,
        or numbers of ``clouds``.
    clouds
        What numbers in ``pairs`` stand for.
    client
        ``distributed.Client`` of a cluster whose workers do the work; None: this process. Workers read files by
        themselves where they can; what they cannot read is sent to them. Needs the extra ``cluster``.
    store
        A file to which every result is written before it is returned, and from which it is taken if it is there: the
        same call after an interruption does the rest. None: nothing is kept.
    voxel_size
        Metres; None: chosen for each pair, as :func:`clipperplus.register` does.
    pair_time_limit
        Seconds after which a pair is given up, at the end of the step in which they are over; None: never. The same
        holds for preparing a cloud. What takes much longer on a worker is ended with its process.
    memory
        Bytes for prepared clouds, in this process or on each worker; those that were not used for the longest go
        first. None: 1 GB here, two fifths of the memory of a worker there.
    size_limit
        Bytes that what a file holds may take, as in :func:`clipperplus.read_cloud`.
    threads
        Of this process; None: all cores. The results do not depend on it.
    progress
        Called as work goes on, with what is being done, how much of it is done, and how much there is. What it raises
        ends the work and is passed on.
    options
        Those of :func:`clipperplus.register` that are numbers or names: ``epsilon``, ``matches``, ``ratio``,
        ``method``, ``time_limit``, ``effort``, ``refine``, ``free_space``, ``min_confidence``, ``prior``,
        ``max_alternatives``.

    """
    check_surroundings(store, client, progress)
    if clouds is not None:
        length_of("clouds", clouds, "clouds")
    common = checked_options({**options, "voxel_size": voxel_size})
    limit = None if pair_time_limit is None else as_number("pair_time_limit", pair_time_limit, 0.0, np.inf)
    most = None if memory is None else as_integer("memory", memory, 1, 2**62)
    read_at_most = None if size_limit is None else as_integer("size_limit", size_limit, 0, 2**62)
    count = all_cores() if threads is None else as_integer("threads", threads, 1, 1024)
    wanted = _Wanted.of(pairs, clouds, common, limit, read_at_most)
    run = _Run(wanted, count, most, progress)
    return run.results(store, client)


def all_cores() -> int:
    """Return how many cores this process may use."""
    return min(1024, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)


def checked_options(options: Mapping[str, Any], name: str = "options") -> dict[str, Any]:
    """Return options of a registration that were checked, those that were not given as they are usually."""
    for option in options:
        if option not in OPTIONS and option != "voxel_size":
            raise OptionError(f"{name}: expected some of voxel_size, {', '.join(OPTIONS)}, got {shown(option)}")
    full = {**OPTIONS, "voxel_size": None, **options}
    nothing = np.empty((0, 3))
    register(nothing, nothing, **full)  # checks them all, and does nothing else
    return {option: _plain(value) for option, value in full.items()}


def _plain(value: Any) -> Any:
    """Return a number of any kind as one that JSON has; all else as it is."""
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, int):
        return value
    return float(value) if isinstance(value, numbers.Real) else value


class _Pair(NamedTuple):
    """One that is wanted."""

    source: int
    target: int
    """Numbers of clouds."""
    options: dict[str, Any]


@dataclass(eq=False)
class _Wanted:
    """What is wanted: pairs, and the clouds of them."""

    limit: float | None
    size_limit: int | None
    clouds: list[Unread | Scan] = field(default_factory=list)
    pairs: list[_Pair] = field(default_factory=list)
    _numbers: dict[object, int] = field(default_factory=dict)
    _alive: list[Any] = field(default_factory=list)
    """What was given, so that no other gets its identity meanwhile."""

    @classmethod
    def of(
        cls,
        pairs: Iterable[Sequence[Any]],
        clouds: Sequence[Any] | None,
        common: dict[str, Any],
        limit: float | None,
        size_limit: int | None,
    ) -> _Wanted:
        """Check pairs."""
        result, known = cls(limit, size_limit), dict[str, dict[str, Any]]()
        if isinstance(pairs, str | bytes) or not hasattr(pairs, "__iter__") or not getattr(pairs, "ndim", True):
            raise LandmarkError(f"pairs: expected pairs of clouds, got {type(pairs).__name__}")
        for number, pair in enumerate(pairs):
            listed = hasattr(pair, "__len__") and hasattr(pair, "__getitem__") and getattr(pair, "ndim", True)
            if isinstance(pair, str | bytes | Mapping) or not listed or len(pair) not in (2, 3):
                raise LandmarkError(f"pairs[{number}]: expected two clouds, and options or none, got {shown(pair)}")
            own = pair[2] if len(pair) == 3 else {}
            if not isinstance(own, Mapping):
                raise OptionError(f"pairs[{number}]: expected options as a mapping, got {shown(own)}")
            text = repr(sorted(own.items(), key=repr)) if own else ""
            if text not in known:
                given = {**common, **own}
                known[text] = common if not own else checked_options(given, f"pairs[{number}]")
            source, target = (result._number(cloud, clouds, f"pairs[{number}]") for cloud in pair[:2])
            result.pairs.append(_Pair(source, target, known[text]))
        return result

    def _number(self, cloud: Any, clouds: Sequence[Any] | None, where: str) -> int:
        """Return the number of a cloud, which may have come before."""
        if isinstance(cloud, int | np.integer) and not isinstance(cloud, bool):
            if clouds is None or not 0 <= cloud < len(clouds):
                there = "no clouds" if clouds is None else f"{len(clouds)} clouds"
                raise LandmarkError(f"{where}: expected a cloud, or the number of one, got {cloud} of {there}")
            where, cloud = f"clouds[{cloud}]", clouds[int(cloud)]
        key: object = fspath(cloud) if isinstance(cloud, str | PathLike) else id(cloud)
        if key not in self._numbers:
            if isinstance(key, str):
                self.clouds.append(Unread(os.path.abspath(key), key, self.size_limit))
            else:
                self.clouds.append(as_scan(cloud, where))
                self._alive.append(cloud)
            self._numbers[key] = len(self._numbers)
        return self._numbers[key]

    def names(self, pair: _Pair) -> tuple[str, str]:
        """Return those of the clouds of a pair."""
        return self.clouds[pair.source].name, self.clouds[pair.target].name


class _Run:
    """The way from pairs to results."""

    def __init__(
        self, wanted: _Wanted, threads: int, memory: int | None, progress: Callable[[str, int, int], object] | None
    ) -> None:
        self._wanted, self._threads, self._memory, self._progress = wanted, threads, memory, progress
        self._recipes: dict[str, Recipe] = {}
        self._works: dict[tuple[int, float], Registering] = {}
        self._keys: dict[int, Key] = {}
        self._same: dict[Key, list[int]] = {}
        self._done = 0

    def results(self, store: str | PathLike[str] | None, client: Client | None) -> Iterator[PairResult]:
        """Return all results; what is wrong with the store or the cluster is said at once."""
        with ExitStack() as exits:
            kept = None if store is None else exits.enter_context(PairStore(store))
            cluster = None if client is None else cluster_of(client, self._recipes.__getitem__, self._memory)
            if cluster is not None:
                exits.callback(cluster.close)
            return self._all(exits.pop_all(), kept, cluster)

    def _all(self, exits: ExitStack, store: PairStore | None, cluster: Cluster | None) -> Iterator[PairResult]:
        with exits:
            looks = self._looks(cluster)
            tasks = []
            for number in range(len(self._wanted.pairs)):
                task = self._task(number, looks)
                if isinstance(task, Failure):
                    yield self._result(number, task)
                elif task is not None:
                    tasks.append(task)
            left = []
            for task in tasks:
                known = None if store is None else store.get(self._keys[task.number])
                if known is None or not PairResult.is_whole(known):
                    left.append(task)
                else:
                    yield from self._results(task, known, was_known=True)
            ordered = one_after_the_other(left, lambda task: (task.source, task.target))
            for some in (cluster or self._here()).work(ordered):
                for task, answer in self._committed(some, store):
                    yield from self._results(task, answer)

    def _here(self) -> Here:
        recent = Recent(self._memory or _USUAL_MEMORY)
        return Here(self._threads, lambda key: recent.get(key, self._recipes[key].make))

    def _looks(self, cluster: Cluster | None) -> list[Look | Failure]:
        """Look at all clouds: at files where the work is done, if they can be read there."""
        clouds = self._wanted.clouds
        looks: dict[int, Look | Failure] = {}

        def take(number: int, look: Look | Failure) -> None:
            looks[number] = look
            self._tell("looking at clouds", len(looks), len(clouds))

        if cluster is not None:
            files = {cloud: number for number, cloud in enumerate(clouds) if isinstance(cloud, Unread)}
            for some in cluster.look(list(files)):
                for cloud, look in some:
                    if not isinstance(look, Failure) or not look.is_missing:
                        take(files[cloud], look)
        left = [number for number in range(len(clouds)) if number not in looks]
        for found in as_they_come(lambda number: (number, look_at(clouds[number])), left, self._threads):
            for number, look in found:
                take(number, look)
        return [looks[number] for number in range(len(clouds))]

    def _task(self, number: int, looks: list[Look | Failure]) -> Task | Failure | None:
        """Return what is to be done for a pair; None if the same is done for another one."""
        pair = self._wanted.pairs[number]
        source, target = looks[pair.source], looks[pair.target]
        if isinstance(source, Failure) or isinstance(target, Failure):
            return source if isinstance(source, Failure) else target  # type: ignore[return-value]
        given = pair.options["voxel_size"]
        size = rounded_size(max(source.size, target.size)) if given is None else as_length("voxel_size", given)
        fine = pair.options["refine"] is not None
        recipes = [
            Recipe(self._wanted.clouds[cloud], look.content, size, fine, limit=self._wanted.limit)
            for cloud, look in ((pair.source, source), (pair.target, target))
        ]
        one, other = (self._recipes.setdefault(recipe.key, recipe).key for recipe in recipes)
        work = self._works.get((id(pair.options), size))  # most pairs have the same
        if work is None:
            work = Registering({**pair.options, "voxel_size": size}, self._wanted.limit)
            self._works[id(pair.options), size] = work
        key = Key(source.content, target.content, work.text)
        same = self._same.setdefault(key, [])
        same.append(number)
        self._keys[number] = key
        return Task(number, one, other, work) if len(same) == 1 else None

    def _committed(self, some: list[Done], store: PairStore | None) -> list[Done]:
        """Keep what was computed; what cannot be kept has failed, because the next run will not know of it."""
        answers = [(self._keys[task.number], answer) for task, answer in some if not isinstance(answer, Failure)]
        if store is None or not answers:
            return some
        try:
            store.put(answers)
        except StoreFullError as error:
            failure = Failure(str(error))
            return [(task, answer if isinstance(answer, Failure) else failure) for task, answer in some]
        return some

    def _results(
        self, task: Task, answer: dict[str, Any] | Failure, *, was_known: bool = False
    ) -> Iterator[PairResult]:
        """Return what came of a task, for every pair that it is for."""
        for number in self._same[self._keys[task.number]]:
            yield self._result(number, answer, was_known=was_known)

    def _result(self, number: int, answer: dict[str, Any] | Failure, *, was_known: bool = False) -> PairResult:
        source, target = self._wanted.names(self._wanted.pairs[number])
        self._done += 1
        self._tell("registering pairs", self._done, len(self._wanted.pairs))
        if isinstance(answer, Failure):
            _LOGGER.warning("%s and %s: %s", source, target, answer.reason)
            return PairResult(number, source, target, failure=answer.reason)
        _LOGGER.debug("%s and %s: %s", source, target, answer["status"])
        return PairResult.of(number, source, target, answer, was_known=was_known)

    def _tell(self, what: str, done: int, total: int) -> None:
        if self._progress is not None:
            self._progress(what, done, total)


def cluster_of(client: Client, recipe_of: Callable[[str], Recipe], memory: int | None = None) -> Cluster:
    """Return a cluster to work on; needs the extra ``cluster``."""
    try:
        from .cluster import Cluster
    except ImportError:
        raise MissingPackageError("a cluster needs Dask: pip install 'clipperplus[cluster]'") from None
    return Cluster(client, recipe_of, memory)
