"""More than one clique: all maximum ones, or all above a size.

C. Bron and J. Kerbosch, "Algorithm 457: finding all cliques of an undirected graph", 1973;
E. Tomita, A. Tanaka and H. Takahashi, "The worst-case time complexity for generating all maximal cliques", 2006.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import overload

import numpy as np
import numpy.typing as npt

from .._validation import as_integer
from ..graphs import Graph
from ._arguments import as_time_limit, check_graph
from ._search_state import SearchState
from .exact import find_exact

__all__ = ["CliqueList", "find_cliques_above", "find_maximum_cliques"]

_NO_LIMIT = 2**63


@dataclass(frozen=True, eq=False)
class CliqueList:
    """Maximal cliques, largest first; each a sorted, read-only array of vertices. Has a length, indices and ``in``."""

    cliques: tuple[npt.NDArray[np.int64], ...]
    """The cliques: by decreasing size, then by their vertices."""
    complete: bool
    """Whether these are all there are."""

    def __len__(self) -> int:
        return len(self.cliques)

    @overload
    def __getitem__(self, index: int) -> npt.NDArray[np.int64]: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[npt.NDArray[np.int64], ...]: ...
    def __getitem__(self, index: int | slice) -> npt.NDArray[np.int64] | tuple[npt.NDArray[np.int64], ...]:
        return self.cliques[index]

    def __contains__(self, clique: object) -> bool:
        wanted = np.unique(np.asarray(clique))
        return any(np.array_equal(known, wanted) for known in self.cliques)

    def __iter__(self) -> Iterator[npt.NDArray[np.int64]]:
        return iter(self.cliques)


def find_maximum_cliques(
    graph: Graph, *, limit: int | None = 1000, time_limit: float | None = None, threads: int = 1
) -> CliqueList:
    """Find all maximum cliques: more than one means that the largest consistent set is ambiguous.

    Parameters
    ----------
    graph
        The graph to search.
    limit
        How many cliques to return at most; None for all, of which there can be exponentially many.
    time_limit
        Seconds; None for no limit. What is found in time need not be maximum: ``complete`` is then False.
    threads
        Threads for finding the size of a maximum clique.

    """
    check_graph(graph)
    state = SearchState(graph, time_limit=as_time_limit(time_limit), threads=as_integer("threads", threads, 1, 1024))
    most = _as_limit(limit)
    find_exact(state)
    if state.proven and state.size > 0:
        return _list(state, state.size - 1, most, maximum=True)
    complete = state.proven and most > 0  # the one maximum clique of the empty graph is empty
    return CliqueList((state.close("exact").vertices,)[:most], complete)


def find_cliques_above(
    graph: Graph, size: int, *, limit: int | None = 1000, time_limit: float | None = None
) -> CliqueList:
    """Find all maximal cliques of more than ``size`` vertices: the hypotheses that that many associations support.

    Parameters
    ----------
    graph
        The graph to search.
    size
        Only larger cliques are returned; 0 asks for every maximal clique.
    limit
        How many cliques to return at most, in the order in which they are found; None for all, of which there can be
        exponentially many.
    time_limit
        Seconds; None for no limit. ``complete`` is False if it was too short.

    """
    check_graph(graph)
    size = as_integer("size", size, 0, _NO_LIMIT)
    return _list(SearchState(graph, time_limit=as_time_limit(time_limit)), size, _as_limit(limit), maximum=False)


def _as_limit(limit: int | None) -> int:
    return _NO_LIMIT if limit is None else as_integer("limit", limit, 0, _NO_LIMIT)


def _list(state: SearchState, size: int, limit: int, *, maximum: bool) -> CliqueList:
    cliques, complete = state.list_cliques(size, maximum, limit)
    for clique in cliques:
        clique.flags.writeable = False
    return CliqueList(tuple(_in_order(cliques)), complete)


def _in_order(cliques: list[npt.NDArray[np.int64]]) -> Iterator[npt.NDArray[np.int64]]:
    """Yield cliques by decreasing size, then by their vertices; in less time than it takes to find them."""
    of_size: dict[int, list[npt.NDArray[np.int64]]] = {}
    for clique in cliques:
        of_size.setdefault(clique.size, []).append(clique)
    for size in sorted(of_size, reverse=True):
        alike = of_size[size]
        order = np.lexsort(np.array(alike).T[::-1]) if len(alike) > 1 else np.zeros(1, dtype=np.int64)
        yield from (alike[k] for k in order.tolist())
