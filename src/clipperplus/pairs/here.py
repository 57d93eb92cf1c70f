"""Tasks on the threads of this process."""

from __future__ import annotations

import collections
import itertools
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import TypeVar

from .. import _core
from ..clouds.prepared import PreparedCloud
from .recipes import Failure
from .tasks import Done, Task, do

__all__ = ["Here", "as_they_come"]

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

_AHEAD = 2
"""Items that wait for each thread."""


class Here:
    """Threads of this process."""

    def __init__(self, threads: int, cloud_of: Callable[[str], PreparedCloud]) -> None:
        """Use threads; clouds have keys."""
        self._threads, self._cloud_of = threads, cloud_of

    def work(self, tasks: Sequence[Task]) -> Iterator[list[Done]]:
        """Do tasks, and return what came of them, some at a time, in any order."""
        return as_they_come(self._do, tasks, self._threads)

    def _do(self, task: Task) -> Done:
        try:
            source, target = self._cloud_of(task.source), self._cloud_of(task.target)
        except Exception as error:
            return task, Failure.of(error)
        return task, do(task, source, target)


def as_they_come(work: Callable[[_Item], _Result], items: Sequence[_Item], threads: int) -> Iterator[list[_Result]]:
    """Do something with each item on several threads, and return what came of it, some at a time, in any order."""
    if threads == 1:
        for item in items:
            yield [work(item)]
        return
    left, running, stop = collections.deque(items), set[Future[_Result]](), _core.Stop()
    pool = ThreadPoolExecutor(threads, initializer=stop.obey)
    try:
        while left or running:
            free = _AHEAD * threads - len(running)
            running |= {pool.submit(work, left.popleft()) for _ in itertools.repeat(None, min(free, len(left)))}
            done, running = wait(running, return_when=FIRST_COMPLETED)
            yield [future.result() for future in done]
    finally:
        stop.say()  # what has not ended by now is not waited for
        pool.shutdown(wait=True, cancel_futures=True)
