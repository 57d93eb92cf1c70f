"""How long each step of something takes."""

from __future__ import annotations

import time
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

    def __init__(self) -> None:
        self._start = self._last = time.perf_counter()
        self._steps: list[Lap] = []

    def lap(self, name: str, count: int | None = None) -> None:
        """End a step that began when the last one ended."""
        now = time.perf_counter()
        self._steps.append(Lap(name, now - self._last, count))
        self._last = now

    def add(self, steps: tuple[Lap, ...], prefix: str) -> None:
        """Note steps that were timed elsewhere; the time since the last step is theirs."""
        self._steps += [Lap(prefix + step.name, step.seconds, step.count) for step in steps]
        self._last = time.perf_counter()

    @property
    def steps(self) -> tuple[Lap, ...]:
        """The steps so far."""
        return tuple(self._steps)

    @property
    def seconds(self) -> float:
        """Time since the start."""
        return time.perf_counter() - self._start
