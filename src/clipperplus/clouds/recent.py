"""What takes long to make and much memory to keep: as much of it as fits is kept, the rest is made again."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from typing import Any, Protocol, TypeVar, cast

from .. import _core

__all__ = ["Recent"]


class _Sized(Protocol):
    @property
    def nbytes(self) -> int:
        """Memory, in bytes; it may grow."""


_Made = TypeVar("_Made", bound=_Sized)

_GIVEN_BACK = 0.25
"""Of the memory that may be kept: as much is forgotten before it is given back, which takes some milliseconds."""


class Recent:
    """What was made most recently, of any kind, as far as it fits into some memory. Several threads may ask."""

    def __init__(self, most_bytes: int) -> None:
        """Keep no more than so many bytes, but for what is in use."""
        self._most, self._made = most_bytes, OrderedDict[Hashable, Future[Any]]()
        self._changing, self._forgotten = threading.Lock(), 0

    def get(self, key: Hashable, make: Callable[[], _Made]) -> _Made:
        """Return what has a key, made now if it is not there; who asks for it meanwhile waits."""
        with self._changing:
            known = self._made.pop(key, None)
            made = known or Future[Any]()
            self._made[key] = made  # as the most recent one
            if known is None:
                self._forget()
        if known is None:
            try:
                made.set_result(make())
            except BaseException as error:
                with self._changing:
                    self._made.pop(key, None)
                made.set_exception(error)
                raise
        return cast(_Made, made.result())

    def clear(self) -> None:
        """Forget all that was made, because nobody will ask for it again."""
        with self._changing:
            self._made.clear()
            self._give_back()

    def _forget(self) -> None:
        """Forget what was not asked for the longest, until the rest fits; what is being made does not count yet."""
        done = [(key, made.result().nbytes) for key, made in self._made.items() if made.done()]
        left = sum(size for _, size in done)
        for key, size in done:
            if left <= self._most:
                break
            del self._made[key]
            left -= size
            self._forgotten += size
        if self._forgotten > _GIVEN_BACK * self._most:
            self._give_back()

    def _give_back(self) -> None:
        """Give what is free back to the system: pieces differ in size, and it would be taken many times over."""
        self._forgotten = 0
        _core.give_back_memory()
