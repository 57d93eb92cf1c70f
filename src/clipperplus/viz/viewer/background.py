"""Work that goes on in the background while its settings change: only the newest settings count."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeAlias, TypeVar

__all__ = ["Background", "Listener", "Progress", "Report", "Superseded"]

_Settings = TypeVar("_Settings")
_Result = TypeVar("_Result")
_Told = TypeVar("_Told", contravariant=True)


@dataclass(frozen=True)
class Progress:
    """How far some work has come."""

    step: str
    """What is being done now."""
    share: float
    """Of the steps, those that are done: from 0 to 1."""


Report: TypeAlias = Callable[[Progress], None]


class Superseded(Exception):  # noqa: N818 - it is no error
    """Ends work whose settings are not the newest any more."""


class Listener(Protocol[_Told]):
    """Who is told how the work goes, in the thread of the work."""

    def progressed(self, progress: Progress) -> None:
        """Hear that a step begins."""

    def finished(self, result: _Told) -> None:
        """Hear what came out for the newest settings."""

    def failed(self, error: Exception) -> None:
        """Hear what went wrong with the newest settings; the work goes on with the next ones."""


class Background(Generic[_Settings, _Result]):
    """A thread that does some work for the newest settings, again and again.

    The work is called with the settings and with a function that it must tell every step: this is where it ends, with
    :class:`Superseded`, as soon as there are newer settings. Whatever else it raises is told to the listener.
    """

    def __init__(self, work: Callable[[_Settings, Report], _Result], listener: Listener[_Result]) -> None:
        """Start the thread, which waits for settings."""
        self._work = work
        self._listener = listener
        self._changed = threading.Condition()
        self._newest: tuple[int, _Settings] | None = None
        """The newest settings and their number: they are counted, since the same ones can come back after others."""
        self._begun = 0
        """The number of those that are worked on, or were last."""
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="clipperplus-background", daemon=True)
        self._thread.start()

    def request(self, settings: _Settings) -> None:
        """Do the work for these settings, and give up what is being done for others; nothing if they are the newest."""
        with self._changed:
            number, newest = self._newest or (0, None)
            if number and settings == newest:
                return
            self._newest = number + 1, settings
            self._changed.notify()

    def close(self, timeout: float) -> None:
        """End the thread at the next step of the work, and wait so many seconds for it; nobody is told any more."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        self._thread.join(timeout)

    def _run(self) -> None:
        while (task := self._next()) is not None:
            self._do(*task)

    def _next(self) -> tuple[int, _Settings] | None:
        """Wait for settings that are not worked on yet; None once all is to end."""
        with self._changed:
            while not self._closed:
                if self._newest is not None and self._newest[0] > self._begun:
                    self._begun = self._newest[0]
                    return self._newest
                self._changed.wait()
            return None

    def _do(self, number: int, settings: _Settings) -> None:
        def report(progress: Progress) -> None:
            if self._is_stale(number):
                raise Superseded
            self._listener.progressed(progress)

        try:
            result = self._work(settings, report)
            if not self._is_stale(number):
                self._listener.finished(result)
        except Superseded:
            pass
        except Exception as error:
            if not self._is_stale(number):
                self._listener.failed(error)

    def _is_stale(self, number: int) -> bool:
        with self._changed:
            return self._closed or self._newest is None or number != self._newest[0]
