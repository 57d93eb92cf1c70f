"""How long each step of something takes."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["Stage", "Stopwatch"]


@dataclass(frozen=True)
class Stage:
    """One step of something that takes several."""

    name: str
    """What was done."""
    seconds: float
    """Time it took."""
    count: int | None = None
    """How many came out of it: points, associations, edges, hypotheses."""


class Stopwatch:
    """Measures one step after the other, and remembers them."""

    def __init__(self, listener: Callable[[Stage], object] | None = None) -> None:
        """Start; ``listener`` is told of every step as it ends."""
        self._start = self._last = time.perf_counter()
        self._stages: list[Stage] = []
        self._listener = listener

    def split(self) -> float:
        """Return the seconds since the last step ended, and begin the next one."""
        now = time.perf_counter()
        taken, self._last = now - self._last, now
        return taken

    def lap(self, name: str, count: int | None = None) -> None:
        """End a step that began when the last one ended."""
        self._note(Stage(name, self.split(), count))

    def add(self, stages: tuple[Stage, ...], prefix: str) -> None:
        """Note steps that were timed elsewhere; the time since the last step is theirs."""
        for stage in stages:
            self._note(Stage(prefix + stage.name, stage.seconds, stage.count))
        self.split()

    def _note(self, stage: Stage) -> None:
        self._stages.append(stage)
        if self._listener is not None:
            self._listener(stage)

    @property
    def stages(self) -> tuple[Stage, ...]:
        """The steps so far."""
        return tuple(self._stages)

    @property
    def seconds(self) -> float:
        """Time since the start."""
        return time.perf_counter() - self._start
