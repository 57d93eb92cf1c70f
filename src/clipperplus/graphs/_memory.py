"""How much memory this machine has: what cannot fit is refused before the work."""

from __future__ import annotations

from .._limits import machine_memory
from ..errors import MemoryLimitError

__all__ = ["check_graph_fits", "machine_memory"]


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
