"""A line on stderr that follows a search while it runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console

from ..clique._search_state import Callback

__all__ = ["live_line"]


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
