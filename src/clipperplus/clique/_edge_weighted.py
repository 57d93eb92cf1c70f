"""CLIPPER+ where edges have weights: what the paper names as future work.

The value of a clique of k vertices is ``u' M u`` with ``u = 1 / √k`` on it and 0 elsewhere, where M has the weights of
the edges and ones on the diagonal: CLIPPER's objective. It is one and the mean, over the vertices, of the weight that
joins them to the others; with weights of one it is k.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from .. import _core
from ._bounds import bound_by_colours, bound_by_cores
from ._ordering import OrderedGraph, order_by_core
from ._search_state import SearchState
from .greedy import greedy_clique
from .relaxation import RelaxationOptions, relax

__all__ = ["find_edge_weighted"]

_PATIENCE = 50
"""Steps of an exchange that bring no better clique, on the whole graph …"""
_PATIENCE_IN_PART = 400
"""… and on what is left of it, where a step costs less."""
_TOLERANCE = 0.03
"""Of the relaxation, at least: exchange follows. Closer ones took longer, for values better by 0.0001 on average."""


@dataclass(frozen=True, eq=False)
class _Part:
    """What is left of the graph, with vertices by decreasing weighted core number."""

    graph: _core.Graph
    weights: _core.EdgeWeights
    cores: npt.NDArray[np.float64]
    vertices: npt.NDArray[np.int32]
    """Vertices of the input graph, by index in the part."""


def find_edge_weighted(state: SearchState, relaxation: RelaxationOptions, weights: _core.EdgeWeights) -> None:
    """Algorithm 3 for the weighted objective.

    Algorithm 1, which does not look at weights, and exchange of vertices give a first clique to prune by. In what is
    left, Algorithm 1 goes along weighted core numbers, and Algorithm 2 starts from the complement of the best clique,
    then from everywhere; all end with exchange of vertices. The clique of best value stays.
    """
    start = relaxation.start_vector(state.graph.num_vertices)
    ordered = order_by_core(state)
    bound_by_cores(state, ordered)
    greedy_clique(state, ordered)
    search = _Search(state, weights)
    if state.size and not state.out_of_time:
        search.exchange()
        part = _prune(state, ordered, weights)
        search.weighted_greedy(part)
        if start is None:
            start = np.ones(state.graph.num_vertices)
            outside = start.copy()
            outside[state.clique] = 0.0
            search.relax(part, outside, relaxation)
        search.relax(part, start, relaxation)
    bound_by_colours(state, ordered)


def _prune(state: SearchState, ordered: OrderedGraph, weights: _core.EdgeWeights) -> _Part:
    """Return the part of the graph in which a clique of a value above f lies, that of the best one so far.

    - As no weight exceeds 1, a clique of k vertices has a value of at most k. One above f has more than f vertices, so
      what belongs to no clique of more than ⌊f⌋ vertices goes.
    - Let C be a clique of best value, F, with k vertices and edges of total weight W = k (F - 1) / 2. Without a vertex
      that is joined to the others by w, the value would be 1 + 2 (W - w) / (k - 1); as that is no better, w is at least
      W / k = (F - 1) / 2. So C is a subgraph in which every vertex is joined to the others by (F - 1) / 2 or more, and
      vertices of a lower weighted core number than (f - 1) / 2 go.
    """
    size = math.floor(state.value)
    graph, kept = _core.reduce(ordered.give_away(size), size, state.threads, state.watch)
    vertices = ordered.order[kept]
    weights = weights.part(graph, vertices)
    order, cores = _core.edge_weighted_cores(weights)
    cores = cores[cores >= _core.least_core(state.value)]
    order = np.ascontiguousarray(order[: cores.size])
    graph = graph.subgraph(order)
    part = _Part(graph, weights.part(graph, order), cores, vertices[order])
    state.record("reduction", vertices=order.size)
    return part


@dataclass(frozen=True, eq=False)
class _Search:
    """The steps of the search."""

    state: SearchState
    weights: _core.EdgeWeights

    def exchange(self) -> None:
        """Look around the best clique on the whole graph."""
        state = self.state
        clique, steps = _core.edge_weighted_search(state.native, self.weights, state.clique, _PATIENCE, state.watch)
        state.offer("exchange", clique, vertices=state.graph.num_vertices, iterations=steps)

    def weighted_greedy(self, part: _Part) -> None:
        """From vertices of large weighted core numbers, grow cliques by the vertices that are joined to them best."""
        if part.vertices.size == 0 or self.state.out_of_time:
            return
        clique, starts = _core.edge_weighted_greedy(part.graph, part.weights, part.cores, self.state.watch)
        self._offer("weighted greedy", part, clique, starts)

    def relax(self, part: _Part, start: npt.NDArray[np.float64], options: RelaxationOptions) -> None:
        """Relax from a vector on the whole graph, or what of it is on the part."""
        guess = start[part.vertices]
        if not guess.any() or self.state.out_of_time:
            return
        coarse = replace(options, tol_u=max(options.tol_u, _TOLERANCE), tol_f=max(options.tol_f, _TOLERANCE))
        solution = relax(part.graph, guess, coarse, self.state.watch, part.weights)
        claim = np.argsort(-solution.u, kind="stable").astype(np.int64, copy=False)
        self._offer("relaxation", part, claim, solution.inner_steps, converged=solution.finished)

    def _offer(
        self, stage: str, part: _Part, claim: npt.NDArray[np.int64], iterations: int, converged: bool | None = None
    ) -> None:
        """Look around a clique of the part."""
        state = self.state
        clique, _ = _core.edge_weighted_search(part.graph, part.weights, claim, _PATIENCE_IN_PART, state.watch)
        found = part.vertices[clique].astype(np.int64)
        state.offer(stage, found, vertices=part.vertices.size, iterations=iterations, converged=converged)
