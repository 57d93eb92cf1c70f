"""What stderr shows while something runs: a bar on a terminal, a line a minute elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.text import Text

from ..clique._search_state import Callback

__all__ = ["live_bar", "live_line"]

_EVERY = 60.0
"""Seconds between two lines."""


@contextmanager
def live_line(unit: str) -> Iterator[Callback | None]:
    """Show what the callback is told, until the end of the block; nothing where stderr is no terminal.

    ``unit`` is what cliques are measured in.
    """
    console = Console(stderr=True)
    if not console.is_terminal:
        yield None
        return
    with console.status("searching …") as status:

        def show(size: float, upper_bound: float, seconds: float) -> None:
            found = f"clique of {size:.12g} {unit} after {seconds:.1f} s"
            status.update(f"{found}, none has more than {upper_bound:.12g}")

        yield show


@contextmanager
def live_bar(first: str) -> Iterator[Callable[[str, int, int], None]]:
    """Show a bar, with the rate and the time that is left, of what the callback is told; elsewhere a line a minute.

    The callback is told what is being done, how much of it is done, and how much there is. Until then ``first`` is.
    """
    console = Console(stderr=True)
    if not console.is_terminal:
        yield _Lines().tell
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), _Rate(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(first, total=None)
        last = (first, 0)

        def show(what: str, done: int, total: int) -> None:
            nonlocal last
            if what != last[0] or done < last[1]:
                bar.reset(task, description=what)
            bar.update(task, completed=done, total=total)
            last = (what, done)

        yield show


class _Rate(ProgressColumn):
    """How much is done in a second."""

    def render(self, task: Task) -> Text:
        return Text("" if not task.speed else f"{task.speed:.3g}/s", style="progress.data.speed")


class _Lines:
    """A line a minute, with the rate and the time that is left."""

    def __init__(self) -> None:
        self._what, self._last = "", time.monotonic()
        self._since = self._last, 0

    def tell(self, what: str, done: int, total: int) -> None:
        now = time.monotonic()
        if what != self._what:
            self._what, self._since = what, (now, done)
        if now - self._last < _EVERY:
            return
        self._last = now
        began, before = self._since
        rate = (done - before) / (now - began) if now > began else 0.0
        left = f", {rate:.3g} a second, {(total - done) / rate:.0f} s left" if rate > 0.0 else ""
        print(f"clipperplus: {what}: {done} of {total}{left}", file=sys.stderr, flush=True)
