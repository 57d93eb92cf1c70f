"""How much memory work, and what a file holds, may take: asked before anything is reserved.

Work that needs more than the machine has is refused by :func:`check_fits`. For files there is one rule for all readers.

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

import operator
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from ._words import shown
from .errors import MemoryLimitError, OptionError

__all__ = ["ALWAYS_FINE", "HIGHEST_RATIO", "LONGEST_LINE", "SizeLimit", "check_fits", "machine_memory"]

ALWAYS_FINE = 256 << 20
"""Bytes that what a file holds may take, however small the file is; and that are not worth asking the system for."""
HIGHEST_RATIO = 100
"""More than that only up to so many times the size of the file."""
LONGEST_LINE = 1 << 20
"""Bytes. A line of text that is longer is none: its words, as objects of Python, would take a hundred times that."""
_GROUP_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
"""What a container may have, in both versions of control groups."""


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
            made = cls(path, file_size, _as_bytes(size_limit))
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
        except (MemoryError, MemoryLimitError) as error:
            if getattr(error, "needed", None) is not None:  # the limit, not the end of the memory
                raise
            raise MemoryLimitError(f"{self.path}: not enough memory for what it holds", self.file_size) from None


def _as_bytes(size_limit: object) -> int:
    """Return a number of bytes; this module is below the checks of other arguments, which ask it themselves."""
    try:
        if isinstance(size_limit, bool):
            raise TypeError
        number = operator.index(size_limit)  # type: ignore[arg-type]
    except TypeError:
        raise OptionError(f"size_limit: expected an integer, got {shown(size_limit)}") from None
    if not 0 <= number <= 2**62:
        raise OptionError(f"size_limit: expected an integer from 0 to {2**62}, got {shown(number)}")
    return number


def machine_memory() -> int | None:
    """Return the bytes of memory that this process can have; None where the system does not say.

    They are those of the machine, or of the container, or what ``ulimit`` allows.
    """
    if sys.platform == "win32":
        return _windows_memory()
    known = []
    with suppress(OSError, ValueError):
        known.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    for name in _GROUP_LIMITS:
        with suppress(OSError, ValueError):  # there is none, or it says "max"
            known.append(int(Path(name).read_text("ascii")))
    import resource

    limits = (resource.getrlimit(kind)[0] for kind in (resource.RLIMIT_AS, resource.RLIMIT_DATA))
    known += [limit for limit in limits if limit != resource.RLIM_INFINITY]
    return min((bytes_ for bytes_ in known if bytes_ > 0), default=None)


def _windows_memory() -> int | None:
    """Ask GlobalMemoryStatusEx, whose answer is two 32-bit numbers, its own size first, and seven 64-bit ones."""
    import ctypes

    answer = (ctypes.c_uint64 * 8)()
    answer[0] = ctypes.sizeof(answer)
    kernel = ctypes.WinDLL("kernel32")  # type: ignore[attr-defined, unused-ignore]
    return int(answer[1]) if kernel.GlobalMemoryStatusEx(ctypes.byref(answer)) else None


def check_fits(what: str, needed: int, most: int | None = None) -> None:
    """Refuse what needs more bytes than this machine has, or than ``most``. ``what`` begins the message."""
    if needed < ALWAYS_FINE:
        return
    memory = machine_memory()
    if most is not None and needed > most and (memory is None or most <= memory):
        allowed = f"{most / 2**30:.1f} are allowed"
    elif memory is not None and needed > memory:
        allowed = f"this machine has {memory / 2**30:.1f}"
    else:
        return
    raise MemoryLimitError(f"{what} about {needed / 2**30:.1f} GiB, {allowed}; expected fewer", needed)
