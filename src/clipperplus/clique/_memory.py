"""How much memory a search could need, before it begins."""

from __future__ import annotations

from .. import _core
from ..errors import MemoryLimitError
from ..graphs import Graph

__all__ = ["fit_into_memory", "memory_needed"]

_COPIES = 5
"""The graph in order, its pruned part, the relaxation's or the reduction's copy of that, the result of the reduction,
and the colour classes of its first node."""
_BYTES_A_VERTEX = 256
"""Orders, core numbers, degrees, marks, the start vector and what the relaxation keeps beside it."""
_COPIES_OF_SUBPROBLEM = 8
"""For each thread: three stages of making it, its colour classes, its levels, and nodes given to other threads."""


_VERTICES_A_BLOCK, _BYTES_AN_EDGE = 512, 16
"""Edges between a block and the rest that the reduction finds weak, in arrays that grow."""


_BYTES_A_WEIGHT = 24
"""Of an edge, in both directions: ``clipper+`` takes the part of the weights that it looks at, twice."""

_DENSE_BYTES = 1 << 23
"""A small part of them is kept as a dense matrix, too."""


def memory_needed(graph: _core.Graph, threads: int, weighted: bool = False) -> int:
    """Return an upper bound on the bytes that any method needs besides the graph and the weights of its edges."""
    n = graph.num_vertices
    largest = int(graph.degrees().max(initial=0))
    subproblem = min(largest * (largest // 512 + 1) * 64, 2 * graph.nbytes)
    edges = min(graph.num_edges, n * _VERTICES_A_BLOCK)
    fixed = _COPIES * graph.nbytes + _BYTES_A_VERTEX * n + _BYTES_AN_EDGE * edges + (1 << 20)
    part = 2 * _BYTES_A_WEIGHT * graph.num_edges + _DENSE_BYTES if weighted else 0
    return fixed + part + threads * _COPIES_OF_SUBPROBLEM * subproblem


def fit_into_memory(graph: Graph, limit: int, threads: int, weighted: bool = False) -> _core.Graph:
    """Return the graph in a form with which a search stays below the limit, or refuse it."""
    needed = memory_needed(graph._native, threads, weighted)
    if needed <= limit:
        return graph._native
    compact = graph._native.compact()
    with_compact = compact.nbytes + memory_needed(compact, threads, weighted)
    if with_compact <= limit:
        return compact
    least = min(needed, with_compact)
    raise MemoryLimitError(
        f"memory_limit: the search could need {least} bytes ({least / 2**20:.0f} MiB) besides the graph on "
        f"{threads} thread{'s' if threads > 1 else ''}, {limit} are allowed",
        least,
    )
