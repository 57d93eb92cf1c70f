"""Clusters of Dask as processes that can be killed: a scheduler, workers, and what a client has started."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from clipperplus import PreparedCloud
from clipperplus.pairs.clients import connected
from clipperplus.pairs.tasks import Work

_LOOPBACK = "127.0.0.1"
_PATIENCE = 60.0


class DaskProcesses:
    """A scheduler and workers of one thread each, every one a process of its own."""

    def __init__(self, workers: int) -> None:
        with socket.socket() as place:
            place.bind((_LOOPBACK, 0))
            self._port = place.getsockname()[1]
        self.address = f"tcp://{_LOOPBACK}:{self._port}"
        self._workers = [f"worker {number}" for number in range(workers)]
        self._running: dict[str, subprocess.Popen[bytes]] = {}

    def start(self) -> None:
        """Start all."""
        for name in ("scheduler", *self._workers):
            tool = "scheduler" if name == "scheduler" else "worker"
            about = ["--port", str(self._port)] if tool == "scheduler" else [self.address, "--nthreads", "1"]
            command = [sys.executable, "-m", f"distributed.cli.dask_{tool}", *about, "--host", _LOOPBACK]
            self._running[name] = subprocess.Popen(
                [*command, "--no-dashboard"],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            )

    def kill_scheduler(self) -> None:
        """Kill the scheduler; workers end with it, as Dask has it."""
        self._running["scheduler"].kill()
        for process in self._running.values():
            process.wait(timeout=_PATIENCE)

    def kill_workers(self) -> None:
        """Kill all workers, and those that would start them again."""
        for name in self._workers:
            process = self._running[name]
            children = _children(process.pid)
            process.kill()
            for child in children:
                with suppress(psutil.Error):
                    child.kill()

    def end(self) -> None:
        """End all that is left."""
        for process in self._running.values():
            for child in _children(process.pid):
                with suppress(psutil.Error):
                    child.kill()
            process.kill()
            process.wait()


@contextmanager
def dask_processes(workers: int = 2) -> Iterator[tuple[DaskProcesses, Any]]:
    """Start a cluster, and connect a client once all are there."""
    cluster = DaskProcesses(workers)
    cluster.start()
    try:
        end = time.monotonic() + _PATIENCE
        while not _answers(cluster.address):
            if time.monotonic() > end:
                raise TimeoutError(cluster.address)
            time.sleep(0.1)
        with connected(cluster.address) as connection:
            connection.client.wait_for_workers(workers, timeout=_PATIENCE)
            yield cluster, connection.client
    finally:
        cluster.end()


def _answers(address: str) -> bool:
    with suppress(OSError), socket.create_connection((_LOOPBACK, int(address.rsplit(":", 1)[1])), timeout=1.0):
        return True
    return False


def workers_of(process: int) -> list[psutil.Process]:
    """Return the worker processes that a process has started, those that Dask's nannies look after."""

    def is_worker(child: psutil.Process) -> bool:
        with suppress(psutil.Error):
            return "spawn_main" in " ".join(child.cmdline())
        return False

    return list(filter(is_worker, _children(process)))


def _children(process: int) -> list[psutil.Process]:
    found: list[psutil.Process] = []
    with suppress(psutil.Error):
        found = psutil.Process(process).children(recursive=True)
    return found


@dataclass(frozen=True)
class Marked:
    """Work that leaves a mark in a folder whenever it is begun, so that what is done again is seen."""

    work: Work
    marks: str

    def __call__(self, source: PreparedCloud, target: PreparedCloud) -> dict[str, Any]:
        """Do it."""
        with (Path(self.marks) / str(os.getpid())).open("a", encoding="ascii") as file:
            file.write("x")
        return self.work(source, target)
