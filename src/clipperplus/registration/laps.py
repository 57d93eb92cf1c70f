"""How long each step of a registration takes."""

from __future__ import annotations

import time

from .pose import RegistrationStage

__all__ = ["Laps"]


class Laps:
    """A stopwatch that remembers the steps."""

    def __init__(self) -> None:
        self._start = self._last = time.perf_counter()
        self._stages: list[RegistrationStage] = []

    def lap(self, name: str, count: int | None = None) -> None:
        """End a step that began when the last one ended."""
        now = time.perf_counter()
        self.add(name, now - self._last, count)
        self._last = now

    def add(self, name: str, seconds: float, count: int | None = None) -> None:
        """Note a step that was timed elsewhere; the time since the last step is forgotten."""
        self._stages.append(RegistrationStage(name, seconds, count))
        self._last = time.perf_counter()

    @property
    def stages(self) -> tuple[RegistrationStage, ...]:
        """The steps so far."""
        return tuple(self._stages)

    @property
    def seconds(self) -> float:
        """Time since the start."""
        return time.perf_counter() - self._start
