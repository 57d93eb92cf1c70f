"""What stderr shows while something runs, if it is a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from ..clique._search_state import Callback

__all__ = ["live_bar", "live_line"]


@contextmanager
def live_line() -> Iterator[Callback | None]:
    """Show what the callback is told, until the end of the block; nothing where stderr is no terminal."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield None
        return
    with console.status("searching …") as status:

        def show(size: int, upper_bound: int, seconds: float) -> None:
            status.update(f"clique of {size} vertices after {seconds:.1f} s, none has more than {upper_bound}")

        yield show


@contextmanager
def live_bar(first: str) -> Iterator[Callable[[str, int, int], None]]:
    """Show a bar, with the time that is left, of what the callback is told; nothing where stderr is no terminal.

    The callback is told what is being done, how much of it is done, and how much there is. Until then ``first`` is.
    """
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal, transient=True) as bar:
        task = bar.add_task(first, total=None)
        last = (first, 0)

        def show(what: str, done: int, total: int) -> None:
            nonlocal last
            if what != last[0] or done < last[1]:
                bar.reset(task, description=what)
            bar.update(task, completed=done, total=total)
            last = (what, done)

        yield show
