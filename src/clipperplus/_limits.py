"""How much memory what a file holds may take: one rule for all readers, checked before anything is reserved.

Small files can promise a lot: eleven bytes name vertex 67 108 863, three megabytes of gzip are six gigabytes of zeros.
So a reader works out what it is going to reserve, and :class:`SizeLimit` refuses it above

    max(``ALWAYS_FINE``, ``HIGHEST_RATIO`` × size of the file),

or above the memory of the machine, if that is less. Real files stay far below. Text becomes at most some ten times its
size, since a number takes two bytes or more there and eight here; gzip, LZF and LAZ of measured data, and gzip of lists
of edges, make 2 to 20 of one, and 100 leaves room for those that repeat themselves. What is small in any case, 256 MiB,
may come from a file of any size: ten million vertices without edges, or as many points. Where a caller knows better,
every reader takes ``size_limit``, in bytes, instead of the rule; it may be lower, too.

What is counted is what a reader keeps: unpacked bytes, lines, numbers. While it converts one into the other it may take
as much again.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ._validation import as_integer
from .errors import MemoryLimitError

__all__ = ["ALWAYS_FINE", "HIGHEST_RATIO", "LONGEST_LINE", "SizeLimit", "machine_memory"]

ALWAYS_FINE = 256 << 20
"""Bytes that what a file holds may take, however small the file is."""
HIGHEST_RATIO = 100
"""More than that only up to so many times the size of the file."""
LONGEST_LINE = 1 << 20
"""Bytes. A line of text that is longer is none: its words, as objects of Python, would take a hundred times that."""


@dataclass(frozen=True)
class SizeLimit:
    """What the content of one file may take."""

    path: Path
    file_size: int
    """Bytes."""
    limit: int
    """Bytes."""

    @classmethod
    def of(cls, path: Path, file_size: int, size_limit: int | None) -> SizeLimit:
        """Return what the caller allows, or else the rule; a file that is itself larger is refused."""
        if size_limit is None:
            memory = machine_memory()
            limit = max(ALWAYS_FINE, HIGHEST_RATIO * file_size)
            made = cls(path, file_size, limit if memory is None else min(limit, memory))
        else:
            made = cls(path, file_size, as_integer("size_limit", size_limit, 0, 2**62))
        made.check(file_size)
        return made

    def check(self, needed: int, where: str = "") -> None:
        """Refuse content that takes so many bytes; ``where`` in the file that is said."""
        if needed > self.limit:
            raise MemoryLimitError(
                f"{self.path}: {where}{': ' if where else ''}what it holds takes {needed} bytes or more "
                f"({needed / 2**20:.0f} MiB), of a file of {self.file_size}; {self.limit} are allowed, "
                "unless size_limit says more",
                needed,
            )

    @contextmanager
    def enforced(self) -> Iterator[None]:
        """Turn the end of the memory, which may come before the limit, into an error that names the file."""
        try:
            yield
        except MemoryError:
            raise MemoryLimitError(f"{self.path}: not enough memory for what it holds", self.file_size) from None


def machine_memory() -> int | None:
    """Return the bytes of memory of this machine; None where the system does not say."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None
