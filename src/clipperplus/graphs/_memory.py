"""How much memory this machine has: what cannot fit is refused before the work."""

from __future__ import annotations

import os
import sys

from ..errors import MemoryLimitError

__all__ = ["check_graph_fits", "machine_memory"]


def machine_memory() -> int | None:
    """Return the bytes of memory of this machine; None where the system does not say."""
    if sys.platform == "win32":
        return _windows_memory()
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return None


def _windows_memory() -> int | None:
    """Ask GlobalMemoryStatusEx, whose answer is two 32-bit numbers, its own size first, and seven 64-bit ones."""
    import ctypes

    answer = (ctypes.c_uint64 * 8)()
    answer[0] = ctypes.sizeof(answer)
    kernel = ctypes.WinDLL("kernel32")  # type: ignore[attr-defined, unused-ignore]
    return int(answer[1]) if kernel.GlobalMemoryStatusEx(ctypes.byref(answer)) else None


def check_graph_fits(what: str, count: int, density: float) -> None:
    """Refuse a graph of so many vertices, with this share of all edges, that is larger than the memory.

    ``what`` names the vertices, for the message.
    """
    memory = machine_memory()
    needed = min(count**2 // 8, int(density * count**2) * 4)  # as bits, or as compressed rows
    if memory is not None and needed > memory:
        raise MemoryLimitError(
            f"{what}: the graph of {count} of them takes about {needed / 2**30:.0f} GiB, "
            f"this machine has {memory / 2**30:.0f}; expected fewer",
            needed,
        )
