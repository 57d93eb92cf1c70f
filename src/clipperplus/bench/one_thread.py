"""A process in which everything has one thread: other packages take the number from variables when they are loaded."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import active_children, get_context

__all__ = ["one_thread"]

_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@contextmanager
def one_thread() -> Iterator[Executor]:
    """Give such a process; what it is to do must be importable. It ends at once where something is raised here."""
    before = {name: os.environ.get(name) for name in _VARIABLES}
    others = set(active_children())
    os.environ.update(dict.fromkeys(_VARIABLES, "1"))
    try:
        with ProcessPoolExecutor(1, get_context("spawn"), _confine) as process:
            try:
                yield process
            except BaseException:
                for child in set(active_children()) - others:
                    child.terminate()
                raise
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _confine() -> None:
    """Stay on one core, and leave Ctrl-C to the process that waits."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(os, "sched_setaffinity"):  # some packages heed no variable
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
