"""What runs on the workers of a Dask cluster.

Work that ends its worker would be given to the next one, and end that, too. Therefore the scheduler is told what is
begun and what came to its end. Work that was begun before, and did not, is done in :mod:`~.quarantine`: if it ends that
process, it is to blame; if its worker was ended by something else, it was not, and is simply done.
"""

from __future__ import annotations

import copy
import os
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

from distributed import Worker, get_worker
from distributed.utils import sync

from .._build import core_info
from ..clouds.prepared import PreparedCloud
from ..clouds.recent import Recent
from ..clouds.scan import Unread
from .quarantine import Quarantine
from .recipes import Failure, Look, Recipe, look_at, made
from .tasks import Task, do

__all__ = ["Batch", "Outcome", "look_there", "prepare_there", "work_there"]

_Result = TypeVar("_Result")

_TIMES, _AND = 2.0, 2.0
"""So many times as long as it may, and seconds more, may pass until something that has a limit is ended."""
_recent: dict[int, Recent] = {}
"""What was made of clouds on this worker, most recently, and the bytes that there are for it."""


class Batch(NamedTuple):
    """Some tasks that are done one after the other, on one worker."""

    name: str
    """Dask's key of it."""
    version: str
    """Of the client's package."""
    tasks: tuple[Task, ...]
    recipes: dict[str, str]
    """Of each cloud's key, that of its recipe: the worker may have it from another run, where it had another key."""
    memory: int
    """Bytes for what registration adds to clouds."""


class Outcome(NamedTuple):
    """What came of a batch."""

    results: list[dict[str, Any] | Failure]
    """In the order of the tasks."""
    sizes: dict[str, int]
    """Bytes that each cloud takes; 0 where it could not be prepared."""
    missing: set[str]
    """Clouds whose file the worker that prepared them does not have."""
    seconds: float


def look_there(clouds: Sequence[Unread], name: str, version: str) -> list[Look | Failure]:
    """Look at clouds in files; ``name`` is Dask's key, and ``version`` that of the client's package."""
    if other := _other_version(version):
        return [other for _ in clouds]
    return _watched(
        name,
        lambda: [look_at(cloud) for cloud in clouds],
        lambda quarantine: [quarantine.run(look_at, cloud) for cloud in clouds],
    )


def prepare_there(recipe: Recipe, name: str, version: str) -> PreparedCloud | Failure:
    """Make a prepared cloud."""
    if other := _other_version(version):
        return other
    limit = _hard(recipe.limit)
    result: PreparedCloud | Failure = _watched(
        name,
        lambda: _in_time(limit, lambda: made(recipe)),
        lambda quarantine: quarantine.run(made, recipe, limit=limit),
    )
    return result


def work_there(batch: Batch, clouds: dict[str, PreparedCloud | Failure]) -> Outcome:
    """Do some tasks with clouds that were prepared on whichever worker."""
    start = time.perf_counter()
    if other := _other_version(batch.version):
        return Outcome([other for _ in batch.tasks], {}, set(), time.perf_counter() - start)
    results = _watched(
        batch.name,
        lambda: [_do(task, clouds, batch) for task in batch.tasks],
        lambda quarantine: [
            quarantine.run(do, task, clouds[task.source], clouds[task.target], limit=_limit_of(task))
            for task in batch.tasks
        ],
    )
    sizes = {key: cloud.nbytes if isinstance(cloud, PreparedCloud) else 0 for key, cloud in clouds.items()}
    missing = {key for key, cloud in clouds.items() if isinstance(cloud, Failure) and cloud.is_missing}
    return Outcome(results, sizes, missing, time.perf_counter() - start)


def _other_version(version: str) -> Failure | None:
    """Return that this worker has another version of the package than the client: what it says may differ."""
    here = core_info().version
    return None if here == version else Failure(f"a worker has clipperplus {here}, and the client {version}")


def _do(task: Task, clouds: dict[str, PreparedCloud | Failure], batch: Batch) -> dict[str, Any] | Failure:
    source, target = (_mine(batch.recipes[key], clouds[key], batch.memory) for key in (task.source, task.target))
    return _in_time(_limit_of(task), lambda: do(task, source, target))


def _limit_of(task: Task) -> float | None:
    """Return the seconds after which a task is ended, whatever it is doing."""
    return _hard(getattr(task.work, "limit", None))


def _hard(limit: float | None) -> float | None:
    """Return when to end what does not end by itself where it should have."""
    return None if limit is None else _TIMES * limit + _AND


def _in_time(limit: float | None, work: Callable[[], _Result]) -> _Result:
    """Do work; if it takes too long, end this worker: then it is done in a process that is ended for it."""
    if limit is None:
        return work()
    watchdog = threading.Timer(limit, os._exit, (1,))
    watchdog.daemon = True
    watchdog.start()
    try:
        return work()
    finally:
        watchdog.cancel()


def _mine(recipe: str, cloud: PreparedCloud | Failure, memory: int) -> PreparedCloud | Failure:
    """Return a cloud of this worker's own: what is added to it is kept as long as there is room.

    The points are those of the cloud that Dask has, without a copy.
    """
    if isinstance(cloud, Failure):
        return cloud
    if memory not in _recent:
        _recent.clear()  # there is no room for two of them
    return _recent.setdefault(memory, Recent(memory)).get(recipe, lambda: copy.copy(cloud))


def _watched(name: str, work: Callable[[], _Result], carefully: Callable[[Quarantine], _Result]) -> _Result:
    """Do work, or do it carefully if it was begun before and did not come to its end.

    The scheduler forgets what was begun when it forgets the task of that name.
    """
    worker = get_worker()
    if _ask(worker, "get_metadata", keys=[name], default=False):
        with Quarantine(_memory_of(worker)) as quarantine:
            return carefully(quarantine)
    _ask(worker, "set_metadata", keys=[name], value=True)
    result = work()
    _ask(worker, "set_metadata", keys=[name], value=False)
    return result


def _ask(worker: Worker, what: str, **about: Any) -> Any:
    """Ask the scheduler, and wait for what it says."""
    return sync(worker.loop, getattr(worker.scheduler, what), **about)


def _memory_of(worker: Worker) -> int | None:
    """Return the bytes of memory that a worker may have, if that is known."""
    limit = worker.memory_manager.memory_limit
    return int(limit) if limit else None
