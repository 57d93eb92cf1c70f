"""The graph in order of decreasing core number: what Algorithms 1 and 3 start from."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .. import _core
from ._search_state import SearchState

__all__ = ["OrderedGraph", "order_by_core"]


class OrderedGraph:
    """A graph relabelled so that core numbers do not increase: a reversed degeneracy order.

    The vertices with core number at least k are then the first few, so pruning takes a prefix and keeps labels.
    """

    def __init__(self, native: _core.Graph) -> None:
        self._native = native
        self._graph: _core.Graph | None
        self._graph, cores, order = _core.order_by_core(native)
        self.cores = cores
        """Core number of every vertex in the new order."""
        self.order = order
        """``order[i]`` is the vertex of the input graph that is now called i."""

    def prune(self, size: int) -> _core.Graph:
        """Return the part in which a clique larger than ``size`` lies: core numbers of at least ``size``.

        Cliques only get larger, so the rest is not needed again and its memory is freed.
        """
        kept = int(np.count_nonzero(self.cores >= size))
        if self._graph is None:
            self._graph = self._native.subgraph(self.order[:kept])
        elif kept < self._graph.num_vertices:
            self._graph = self._graph.prefix(kept)
        return self._graph

    def give_away(self, size: int) -> _core.Graph:
        """Return the same part for good: it is made again if it is asked for once more."""
        pruned, self._graph = self.prune(size), None
        return pruned

    def original(self, positions: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Translate new labels to vertices of the input graph."""
        return self.order[positions].astype(np.int64)


def order_by_core(state: SearchState) -> OrderedGraph:
    """Compute core numbers and reorder the graph that is searched by them."""
    ordered = OrderedGraph(state.native)
    state.record("order", vertices=ordered.order.size)
    return ordered
