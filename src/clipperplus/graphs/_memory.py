"""How much memory this machine has: what cannot fit is refused before the work."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path

from ..errors import MemoryLimitError

__all__ = ["check_fits", "check_graph_fits", "graph_bytes", "machine_memory"]

_GROUP_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
"""What a container may have, in both versions of control groups."""

_ALWAYS_FINE = 256 << 20
"""Bytes that are not worth asking the system for."""


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
    if needed < _ALWAYS_FINE:
        return
    memory = machine_memory()
    if most is not None and needed > most and (memory is None or most <= memory):
        allowed = f"{most / 2**30:.1f} are allowed"
    elif memory is not None and needed > memory:
        allowed = f"this machine has {memory / 2**30:.1f}"
    else:
        return
    raise MemoryLimitError(f"{what} about {needed / 2**30:.1f} GiB, {allowed}; expected fewer", needed)


def graph_bytes(count: int, density: float) -> int:
    """Return what a graph of so many vertices takes, with this share of all edges: as bits, or as compressed rows."""
    return min(count**2 // 8, int(density * count**2) * 4)


def check_graph_fits(what: str, count: int, density: float) -> None:
    """Refuse a graph of so many vertices, with this share of all edges, that is larger than the memory.

    ``what`` names the vertices, for the message.
    """
    check_fits(f"{what}: the graph of {count} of them takes", graph_bytes(count, density))
