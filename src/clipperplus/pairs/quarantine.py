"""Work that has taken a process down before, done once more in a process that nobody else depends on.

The child is this module, run by itself: it is sent what to do through a pipe by the process that started it, and nobody
else, and sends back what came of it. If it ends before that, the work is what ended it.
"""

from __future__ import annotations

import os
import pickle
import signal
import struct
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import IO, Any

from .recipes import Failure

__all__ = ["Quarantine"]

_LENGTH = struct.Struct("<Q")


class Quarantine:
    """A process for dangerous work; it is started when needed, and again if it was ended."""

    def __init__(self, memory: int | None = None) -> None:
        """Limit it to so many bytes of memory, if told and where that can be done."""
        self._memory, self._child = memory, None

    _child: subprocess.Popen[bytes] | None

    def __enter__(self) -> Quarantine:
        """Begin."""
        return self

    def __exit__(self, *error: object) -> None:
        """End the process."""
        if self._child is not None:
            self._child.kill()
            self._child.communicate()

    def run(self, work: Callable[..., Any], *arguments: Any, limit: float | None = None) -> Any:
        """Return what work gives, or a failure if it ended the process, or took longer than so many seconds."""
        child = self._started()
        assert child.stdin is not None
        assert child.stdout is not None
        watchdog = None if limit is None else threading.Timer(limit, child.kill)
        try:
            if watchdog is not None:
                watchdog.start()
            _send(child.stdin, (work, arguments))
            return _receive(child.stdout)
        except (EOFError, OSError):
            too_long = watchdog is not None and watchdog.finished.is_set()
            child.kill()
            child.communicate()
            self._child = None
            if too_long:
                return Failure(f"took longer than {limit:g} s, and did not end by itself")
            return Failure(f"ended the process that worked on it, twice: {_ending(child.returncode)}")
        finally:
            if watchdog is not None:
                watchdog.cancel()

    def _started(self) -> subprocess.Popen[bytes]:
        if self._child is None:
            command = [sys.executable, "-m", __name__, str(self._memory or 0)]
            places = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}  # as here
            self._child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=places)
        return self._child


def _ending(status: int) -> str:
    """Say how a process ended."""
    if status >= 0:
        return f"exit status {status}"
    try:
        return signal.Signals(-status).name
    except ValueError:
        return f"signal {-status}"


def _send(pipe: IO[bytes], what: Any) -> None:
    data = pickle.dumps(what, protocol=5)
    pipe.write(_LENGTH.pack(len(data)))
    pipe.write(data)
    pipe.flush()


def _receive(pipe: IO[bytes]) -> Any:
    head = pipe.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        raise EOFError
    (length,) = _LENGTH.unpack(head)
    data = pipe.read(length)
    if len(data) < length:
        raise EOFError
    return pickle.loads(data)


def _limit_memory(most: int) -> None:
    """Let this process have no more memory of its own, where the system can do that."""
    if most and sys.platform == "linux":
        import resource

        with suppress(ValueError, OSError):  # there is a lower limit
            resource.setrlimit(resource.RLIMIT_DATA, (most, most))


def _main() -> None:
    """Do what comes in, until nothing does."""
    _limit_memory(int(sys.argv[1]))
    source, answer = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr  # what anything prints must not come between
    while True:
        try:
            work, arguments = _receive(source)
        except EOFError:
            return
        try:
            result = work(*arguments)
        except Exception as error:
            result = Failure.of(error)
        _send(answer, result)


if __name__ == "__main__":
    _main()
