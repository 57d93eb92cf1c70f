"""The graph in order of decreasing core number: what Algorithms 1 and 3 start from."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from .. import _core
from .run import Run

__all__ = ["OrderedGraph", "order_by_core"]


@dataclass(frozen=True)
class OrderedGraph:
    """A graph relabelled so that core numbers do not increase: a reversed degeneracy order.

    The vertices with core number at least k are then the first few, so pruning takes a prefix and keeps labels.
    """

    graph: _core.Graph
    """The relabelled graph."""
    cores: npt.NDArray[np.int32]
    """Core number of every vertex in the new order."""
    order: npt.NDArray[np.int32]
    """``order[i]`` is the vertex of the input graph that is now called i."""
    _last_pruned: dict[int, _core.Graph] = field(default_factory=dict, repr=False)

    def prune(self, size: int) -> _core.Graph:
        """Return the part in which a clique larger than ``size`` lies: core numbers of at least ``size``."""
        kept = int(np.count_nonzero(self.cores >= size))
        if kept == self.cores.size:
            return self.graph
        if kept not in self._last_pruned:  # the bounds and the relaxation ask for the same part
            self._last_pruned.clear()
            self._last_pruned[kept] = self.graph.prefix(kept)
        return self._last_pruned[kept]

    def original(self, positions: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Translate new labels to vertices of the input graph."""
        return self.order[positions].astype(np.int64)


def order_by_core(run: Run) -> OrderedGraph:
    """Compute core numbers and reorder the graph of the run by them."""
    ordered = OrderedGraph(*_core.order_by_core(run.native))
    run.record("order", vertices=ordered.order.size)
    return ordered
