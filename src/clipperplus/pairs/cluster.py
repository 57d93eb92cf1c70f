"""Tasks on the workers of a Dask cluster.

A cloud is prepared on one worker and goes from there to those that need it: Dask keeps it, moves it, and makes it again
where a worker was lost. Of all clouds as many are kept there as fit; those that were not used for the longest go first.
Tasks go in batches that take about half a second, so that what Dask needs for each hardly matters, and no more
batches are on their way than keep the workers busy.
"""

from __future__ import annotations

import asyncio
import logging
import queue
import time
import uuid
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeVar

from distributed import Client, Future
from distributed.scheduler import KilledWorker

from .._build import core_info
from ..clouds.scan import Unread
from ..errors import ClusterError
from .on_worker import Batch, Outcome, look_there, prepare_there, work_there
from .recipes import Failure, Look, Recipe
from .tasks import Done, Task

__all__ = ["Cluster"]

_LOGGER = logging.getLogger("clipperplus.pairs")

_Item = TypeVar("_Item")

_BATCH_SECONDS, _MOST_TASKS = 0.4, 64
"""What a batch is meant to take, and tasks that it has at most."""
_AHEAD = 3
"""Batches for each thread of the workers: one that is done, one that waits, one whose result is on its way."""
_LOOKS = 8
"""Files that are looked at in one go."""
_KILLED, _LOST_MOST = 5, 20
"""Times that a batch may be given back because workers ended again and again, Dask tries some times each, and because
the scheduler lost it; …"""
_GIVEN_BACK_MOST = 100
"""… each counts its part of this."""
_SHARE, _USUAL_MEMORY = 0.4, 4 << 30
"""Of a worker's memory, for clouds: half for those that Dask keeps there, half for what registration adds to those that
it uses; and bytes of one that does not say."""
_USUAL_CLOUD = 4 << 20
"""Bytes that a cloud is taken to need until it is known."""
_PATIENCE = 60.0
"""Seconds to wait for a scheduler that was lost, and for workers."""
_COUNTED_EVERY = 1.0
"""Seconds after which workers are counted again."""
_TICK = 0.5
"""Seconds after which to see whether all is well, if nothing comes."""


class Cluster:
    """The workers of a cluster."""

    def __init__(self, client: Client, recipe_of: Callable[[str], Recipe], memory: int | None = None) -> None:
        """Use a client; clouds have keys. ``memory``: bytes for clouds on each worker; None: a share of what it has."""
        self._client, self._recipe_of, self._memory = client, recipe_of, memory
        self._clouds: OrderedDict[str, Future] = OrderedDict()
        self._sizes: dict[str, int] = {}
        self._raw: dict[str, int] = {}
        self._sent: set[str] = set()
        self._tried_again: set[int] = set()
        self._arrived: queue.SimpleQueue[Future] = queue.SimpleQueue()
        self._task_seconds: float | None = None
        self._threads, self._counted, self._least_memory = 0, -_PATIENCE, _USUAL_MEMORY

    def close(self) -> None:
        """Let the cluster forget the clouds that were kept there."""
        self._clouds.clear()

    def look(self, clouds: Sequence[Unread]) -> Iterator[list[tuple[Unread, Look | Failure]]]:
        """Look at clouds in files that workers can read; some at a time, in any order."""
        groups = [tuple(clouds[first : first + _LOOKS]) for first in range(0, len(clouds), _LOOKS)]

        def submit(group: tuple[Unread, ...]) -> Future:
            key = f"look-{uuid.uuid4().hex}"
            return self._client.submit(look_there, group, key, core_info().version, key=key)

        for group, found in self._each(deque(groups), submit):
            looks = [found] * len(group) if isinstance(found, Failure) else found
            yield list(zip(group, looks, strict=True))

    def work(self, tasks: Sequence[Task]) -> Iterator[list[Done]]:
        """Do tasks, and return what came of them, some at a time, in any order."""
        left, batches = deque(tasks), deque[tuple[Task, ...]]()
        self._tried_again.clear()

        def more() -> None:
            if not batches and left:
                batches.append(tuple(left.popleft() for _ in range(min(self._batch_size(), len(left)))))

        for batch, outcome in self._each(batches, self._submit, more):
            if isinstance(outcome, Failure):
                yield [(task, outcome) for task in batch]
                continue
            self._learn(outcome, len(batch))
            again = self._missing(batch, outcome)
            left.extend(again)
            numbers = {task.number for task in again}
            yield [
                (task, result)
                for task, result in zip(batch, outcome.results, strict=True)
                if task.number not in numbers
            ]

    def _batch_size(self) -> int:
        if self._task_seconds is None:
            return 1
        return max(1, min(_MOST_TASKS, int(_BATCH_SECONDS / max(self._task_seconds, 1e-6))))

    def _learn(self, outcome: Outcome, count: int) -> None:
        """Remember how long tasks take, and how large clouds are."""
        each = outcome.seconds / count
        self._task_seconds = each if self._task_seconds is None else 0.8 * self._task_seconds + 0.2 * each
        self._sizes |= outcome.sizes

    def _missing(self, batch: tuple[Task, ...], outcome: Outcome) -> list[Task]:
        """Return tasks to be done again because a worker does not have a file: from now on it is sent.

        If it is not here either, the failure stands the next time.
        """
        again = [
            task
            for task, result in zip(batch, outcome.results, strict=True)
            if isinstance(result, Failure) and result.is_missing and task.number not in self._tried_again
        ]
        self._tried_again |= {task.number for task in again}
        for key in outcome.missing - self._sent:
            self._sent.add(key)
            self._clouds.pop(key, None)
        return again

    def _submit(self, tasks: tuple[Task, ...]) -> Future:
        name = f"pairs-{uuid.uuid4().hex}"
        self._check()
        keys = sorted({key for task in tasks for key in (task.source, task.target)})
        clouds = {key: self._cloud(key) for key in keys}
        self._forget(set(keys))
        recipes = {key: self._recipe_of(key).key for key in keys}
        batch = Batch(name, core_info().version, tasks, recipes, self._room())
        return self._client.submit(work_there, batch, clouds, key=name)

    def _cloud(self, key: str) -> Future:
        """Return a prepared cloud that is, or will be, on some worker."""
        known = self._clouds.pop(key, None)
        if known is None or known.status in ("cancelled", "lost", "error"):
            recipe = self._recipe_of(key)
            if key in self._sent:
                with suppress(Exception):  # what is wrong with it, a worker will say
                    recipe = recipe.with_points()
            self._raw[key] = recipe.nbytes
            name = f"{recipe.key}-{uuid.uuid4().hex}"
            known = self._client.submit(prepare_there, recipe, name, core_info().version, key=name)
        self._clouds[key] = known  # as the most recent one
        return known

    def _forget(self, used: set[str]) -> None:
        """Let go of clouds that were not used for the longest, until the rest fits into the memory of a worker.

        Those of which nothing is known yet stay, and those that could not be prepared: they may have taken a worker
        along. The scheduler keeps the points of those that are sent.
        """
        most = self._room()
        sizes = {key: max(self._sizes.get(key, _USUAL_CLOUD), self._raw[key]) for key in self._clouds}
        total = sum(sizes.values())
        for key in [key for key in self._clouds if key not in used and self._sizes.get(key)]:
            if total <= most:
                break
            total -= sizes[key]
            del self._clouds[key]

    def _room(self) -> int:
        """Return the bytes that there are on each worker for the clouds that Dask keeps, and as many for others."""
        return max(1, (self._memory or int(_SHARE * self._least_memory)) // 2)

    def _each(
        self,
        items: deque[_Item],
        submit: Callable[[_Item], Future],
        more: Callable[[], None] = lambda: None,
    ) -> Iterator[tuple[_Item, Any]]:
        """Submit items, no more at a time than keep the workers busy, and return what came of each.

        Whatever is lost on the way is submitted again. ``more`` may add items.
        """
        flying: dict[Future, _Item] = {}
        given_back: Counter[int] = Counter()
        try:
            while True:
                more()
                while items and len(flying) < self._most_at_once():
                    item = items.popleft()
                    future = submit(item)
                    flying[future] = item
                    future.add_done_callback(self._arrived.put)
                    more()
                if not flying:
                    return
                for future in self._some(flying):
                    item = flying.pop(future)
                    result = self._result(future)
                    if result is _LOST or result is _ENDED:
                        given_back[id(item)] += _GIVEN_BACK_MOST // (_KILLED if result is _ENDED else _LOST_MOST)
                        if given_back[id(item)] < _GIVEN_BACK_MOST:
                            items.append(item)  # the same object: it is known by its identity
                            continue
                        result = Failure("the workers that it was given to ended, again and again")
                    del given_back[id(item)]
                    yield item, result
        finally:
            with suppress(Exception):  # the cluster may be gone, and then so is this
                self._client.cancel(list(flying))

    def _some(self, flying: Mapping[Future, object]) -> list[Future]:
        """Return what has arrived; wait until something has, and for the cluster if it was lost."""
        while True:
            found: dict[Future, None] = {}
            try:
                found[self._arrived.get(timeout=_TICK)] = None
                while True:
                    found[self._arrived.get_nowait()] = None
            except queue.Empty:
                pass
            self._check()
            arrived = [future for future in found if future in flying]
            if not found:  # the news of some may be lost with the scheduler, and workers may all be gone
                self._most_at_once()
                arrived = [future for future in flying if future.status != "pending"]
            if arrived:
                return arrived

    def _result(self, future: Future) -> Any:
        """Return what came of something: a result, a failure, or that it was lost, or that its worker ended."""
        if future.status in ("cancelled", "lost", "pending"):
            return _LOST
        try:
            return future.result(timeout=_PATIENCE)
        except KilledWorker as error:
            _LOGGER.warning("workers ended again and again: %s", error)
            return _ENDED
        except Exception as error:
            if self._client.status != "running" or future.status in ("cancelled", "lost", "pending"):
                return _LOST
            return Failure.of(error)

    def _check(self) -> None:
        """Wait for a scheduler that was lost; what it had is lost, too."""
        if self._client.status == "running":
            return
        _LOGGER.warning("the scheduler is lost; waiting for it")
        end = time.monotonic() + _PATIENCE
        while self._client.status != "running":
            if self._client.status in ("closed", "closing") or time.monotonic() > end:
                raise ClusterError("the scheduler of the cluster is gone, and did not come back")
            time.sleep(_TICK)
        self._clouds.clear()
        self._counted = -_PATIENCE

    def _most_at_once(self) -> int:
        """Return how many batches may be on their way, by the threads that there are; they may come and go."""
        while time.monotonic() - self._counted > _COUNTED_EVERY:
            self._check()
            try:
                self._client.wait_for_workers(1, timeout=_PATIENCE)
                self._threads = sum(self._client.nthreads().values())
                limits = [about.get("memory_limit") for about in self._client.scheduler_info()["workers"].values()]
            except (asyncio.TimeoutError, OSError, RuntimeError) as error:
                if isinstance(error, asyncio.TimeoutError) and self._client.status == "running":
                    raise ClusterError(f"the cluster has had no workers for {_PATIENCE:g} s") from None
                time.sleep(_TICK)  # the scheduler was lost while it was asked
                self._check()
                continue
            self._least_memory = min((limit for limit in limits if limit), default=_USUAL_MEMORY)
            self._counted = time.monotonic()
        return max(2, _AHEAD * self._threads)


_LOST, _ENDED = object(), object()
