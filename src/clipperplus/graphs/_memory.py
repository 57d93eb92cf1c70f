"""How much memory a graph takes: one that cannot fit is refused before the work."""

from __future__ import annotations

from .._limits import check_fits

__all__ = ["check_graph_fits", "graph_bytes"]


def graph_bytes(count: int, density: float) -> int:
    """Return what a graph of so many vertices takes, with this share of all edges: as bits, or as compressed rows."""
    return min(count**2 // 8, int(density * count**2) * 4)


def check_graph_fits(what: str, count: int, density: float) -> None:
    """Refuse a graph of so many vertices, with this share of all edges, that is larger than the memory.

    ``what`` names the vertices, for the message.
    """
    check_fits(f"{what}: the graph of {count} of them takes", graph_bytes(count, density))
