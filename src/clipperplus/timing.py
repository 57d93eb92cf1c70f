"""How long each step of something takes."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["Lap", "Laps"]


@dataclass(frozen=True)
class Lap:
    """One step."""

    name: str
    """What was done."""
    seconds: float
    """Time it took."""
    count: int | None = None
    """What came out of it: points, associations, edges, hypotheses."""


class Laps:
    """A stopwatch that remembers the steps."""

    def __init__(self, listener: Callable[[Lap], object] | None = None) -> None:
        """Start; ``listener`` is told of every step as it ends."""
        self._start = self._last = time.perf_counter()
        self._steps: list[Lap] = []
        self._listener = listener

    def lap(self, name: str, count: int | None = None) -> None:
        """End a step that began when the last one ended."""
        now = time.perf_counter()
        self._note(Lap(name, now - self._last, count))
        self._last = now

    def add(self, steps: tuple[Lap, ...], prefix: str) -> None:
        """Note steps that were timed elsewhere; the time since the last step is theirs."""
        for step in steps:
            self._note(Lap(prefix + step.name, step.seconds, step.count))
        self._last = time.perf_counter()

    def _note(self, step: Lap) -> None:
        self._steps.append(step)
        if self._listener is not None:
            self._listener(step)

    @property
    def steps(self) -> tuple[Lap, ...]:
        """The steps so far."""
        return tuple(self._steps)

    @property
    def seconds(self) -> float:
        """Time since the start."""
        return time.perf_counter() - self._start
