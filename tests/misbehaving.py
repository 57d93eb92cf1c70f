"""Work on pairs that goes wrong, for workers to do: it must be in a module that they can import."""

from __future__ import annotations

import os
import signal
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clipperplus import PreparedCloud
from clipperplus.pairs.recipes import Recipe


def tries(marks: Path | str, name: str) -> int:
    """Return how often something was begun."""
    path = Path(marks) / name
    return len(path.read_text(encoding="ascii")) if path.exists() else 0


@dataclass(frozen=True)
class Counting:
    """Work that counts points, and leaves a mark whenever it is begun."""

    marks: str
    name: str
    seconds: float = 0.0

    def __call__(self, source: PreparedCloud, target: PreparedCloud) -> dict[str, Any]:
        with (Path(self.marks) / self.name).open("a", encoding="ascii") as file:
            file.write("x")
        time.sleep(self.seconds)
        return self.answer(source, target)

    def answer(self, source: PreparedCloud, target: PreparedCloud) -> dict[str, Any]:
        return {"points": [len(source.points), len(target.points)]}


@dataclass(frozen=True)
class Poisonous(Counting):
    """Work that ends the process it is done in, the first times that it is begun."""

    times: int = 1_000_000

    def answer(self, source: PreparedCloud, target: PreparedCloud) -> dict[str, Any]:
        if tries(self.marks, self.name) <= self.times:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().answer(source, target)


@dataclass(frozen=True, eq=False)
class PoisonousRecipe(Recipe):
    """A cloud that ends the process in which it is prepared."""

    marks: str = ""

    def make(self) -> PreparedCloud:
        with (Path(self.marks) / "cloud").open("a", encoding="ascii") as file:
            file.write("x")
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError


@dataclass(frozen=True)
class Failing(Counting):
    """Work that raises."""

    def answer(self, source: PreparedCloud, target: PreparedCloud) -> dict[str, Any]:
        raise MemoryError


@dataclass(frozen=True)
class Endless(Counting):
    """Work that does not end by itself, and has a limit."""

    limit: float = 0.1

    def answer(self, source: PreparedCloud, target: PreparedCloud) -> dict[str, Any]:
        time.sleep(600.0)
        return {}


@dataclass(frozen=True)
class EndingItsParent(Counting):
    """Work that ends the process that it is done in, or the one that started that."""

    def answer(self, source: PreparedCloud, target: PreparedCloud) -> dict[str, Any]:
        careful = "quarantine" in " ".join(sys.orig_argv)
        os.kill(os.getppid() if careful else os.getpid(), signal.SIGKILL)
        time.sleep(60.0)
        return {}
