"""What is said of the surroundings of work on many pairs: checked before the work."""

from __future__ import annotations

from collections.abc import Mapping, Set, Sized
from typing import Any

from .._paths import as_path
from .._words import shown
from ..errors import ClipperPlusError, LandmarkError, OptionError

__all__ = ["check_surroundings", "length_of"]


def check_surroundings(store: Any, client: Any, progress: Any) -> None:
    """Refuse what is no name of a file, no client of Dask, or no function; each may be None."""
    if store is not None:
        try:
            as_path(store)
        except ClipperPlusError:
            raise OptionError(f"store: expected the name of a file, got {shown(store)}") from None
    if client is not None and not callable(getattr(client, "scheduler_info", None)):
        raise OptionError(f"client: expected a distributed.Client, got {shown(client)}")
    if progress is not None and not callable(progress):
        raise OptionError(f"progress: expected a function, got {type(progress).__name__}")


def length_of(name: str, several: Any, what: str) -> int:
    """Return how many there are in a list; a text is none, nor is what has no order."""
    if not isinstance(several, str | bytes | Mapping | Set) and isinstance(several, Sized):
        try:
            return len(several)
        except TypeError:  # an array of no dimensions, or a sparse one
            pass
    raise LandmarkError(f"{name}: expected {what} in a list, got {type(several).__name__}")
