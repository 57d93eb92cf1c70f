"""The heaviest clique: ``greedy``, ``clipper+``, ``auto`` and ``exact`` where vertices have weights.

S. Held, W. Cook and E. Sewell, "Maximum-weight stable sets and safe lower bounds for graph coloring", 2012;
Z. Fang, C.-M. Li and K. Xu, "An exact algorithm based on MaxSAT reasoning for the maximum weight clique problem", 2016;
Q. Wu, J.-K. Hao and F. Glover, "Multi-neighborhood tabu search for the maximum weight clique problem", 2012.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .. import _core
from ._search_state import SearchState
from .exact import SearchOptions, can_look_around, go_on
from .relaxation import RelaxationOptions, relax
from .result import Certificate

__all__ = ["find_weighted_clipperplus", "find_weighted_exact", "find_weighted_greedy"]

_ROUNDS = ((1_000, 100), (4_000, 2_000))
"""Patience of the local search and nodes of the branch and bound, round by round."""
_LAST_PATIENCE, _LAST_PATIENCE_UNDER_LIMIT = 20_000, 1_000_000
"""The last local search, before the search that runs to the end: where that end will hardly be reached, the clique is
what counts."""


@dataclass(frozen=True)
class _Ordered:
    """A graph in order of decreasing weighted core number, of which no clique is heavier than its first."""

    graph: _core.Graph
    cores: npt.NDArray[np.int64]
    units: npt.NDArray[np.int64]
    """What its vertices weigh."""
    vertices: npt.NDArray[np.int64]
    """Vertices of the input graph, by index in this one."""

    def prune(self, weight: int) -> _Ordered:
        """Return the part in which a clique heavier than this lies: a prefix, which keeps its labels."""
        kept = int(np.count_nonzero(self.cores > weight))
        if kept == self.cores.size:
            return self
        return _Ordered(self.graph.prefix(kept), self.cores[:kept], self.units[:kept], self.vertices[:kept])


def find_weighted_greedy(state: SearchState) -> None:
    """Run Algorithm 1 with weighted core numbers, with the bounds that come cheap."""
    ordered = _order(state)
    _bound_by_cores(state, ordered)
    _grow_greedily(state, ordered)
    _bound_by_cover(state, ordered)


def find_weighted_clipperplus(state: SearchState, relaxation: RelaxationOptions) -> None:
    """Run Algorithm 3 with weighted core numbers: the relaxation begins with the weights outside the greedy clique."""
    given = relaxation.start_vector(state.graph.num_vertices)
    ordered = _order(state)
    _bound_by_cores(state, ordered)
    _grow_greedily(state, ordered)
    _bound_by_cover(state, ordered)
    if state.proven or state.out_of_time:
        return
    pruned = ordered.prune(state.weight)
    start = pruned.units / pruned.units.max() if given is None else given[pruned.vertices]
    if given is None:
        start[np.isin(pruned.vertices, state.clique)] = 0.0
    if not start.any():
        return
    solution = relax(pruned.graph, start, relaxation, state.watch)
    state.offer(
        "relaxation",
        pruned.vertices[solution.support],
        vertices=pruned.vertices.size,
        iterations=solution.inner_steps,
        converged=solution.finished,
    )
    _bound_by_cover(state, pruned)


def find_weighted_exact(state: SearchState, relaxation: RelaxationOptions, search: SearchOptions) -> None:
    """Search for the heaviest clique: cheap bounds first, then rounds of more and more effort until it is proven.

    There is no relaxation, and the bounds of the search have no parts that could be switched off: those options do
    nothing here.
    """
    relaxation.start_vector(state.graph.num_vertices)  # refused if it is wrong, although it is not used
    ordered = _order(state)
    if search.core_bound:
        _bound_by_cores(state, ordered)
    _grow_greedily(state, ordered)
    if search.colour_bound:
        _bound_by_cover(state, ordered)
    last = _LAST_PATIENCE if state.time_limit is None else _LAST_PATIENCE_UNDER_LIMIT
    for seed, (patience, nodes) in enumerate((*_ROUNDS, (last, state.nodes_left()))):
        if not go_on(state):
            return
        if search.reduction:
            ordered = ordered.prune(state.weight)
        if search.local_search:
            _look_around(state, ordered, patience, seed)
        if go_on(state):
            _branch_and_bound(state, ordered.prune(state.weight) if search.reduction else ordered, nodes)


def _order(state: SearchState) -> _Ordered:
    assert state.vertex_weights is not None
    units = state.vertex_weights.units
    graph, cores, order = _core.order_by_weighted_core(state.native, units)
    state.record("order", vertices=order.size)
    return _Ordered(graph, cores, units[order], order.astype(np.int64))


def _bound_by_cores(state: SearchState, ordered: _Ordered) -> None:
    state.bound(int(ordered.cores[0]) if ordered.cores.size else 0, Certificate.CORE_BOUND)


def _bound_by_cover(state: SearchState, ordered: _Ordered) -> None:
    """Cover the part of the graph in which a heavier clique would lie by independent sets."""
    if state.proven or state.out_of_time:
        return
    pruned = ordered.prune(state.weight)
    cover = _core.weighted_cover(pruned.graph, pruned.units, state.watch)
    if cover is not None:
        state.bound(max(state.weight, cover), Certificate.COLOUR_BOUND)
    state.record("cover", vertices=pruned.vertices.size)


def _grow_greedily(state: SearchState, ordered: _Ordered) -> None:
    clique, starts = _core.weighted_greedy_clique(ordered.graph, ordered.units, ordered.cores, state.watch)
    state.offer("greedy", ordered.vertices[clique], vertices=ordered.vertices.size, iterations=starts)


def _look_around(state: SearchState, ordered: _Ordered, patience: int, seed: int) -> None:
    """Look for a heavier clique by local search."""
    if not can_look_around(ordered.graph):
        return
    start = np.flatnonzero(np.isin(ordered.vertices, state.clique))
    clique, steps = _core.weighted_local_search(
        ordered.graph, ordered.units, start, patience, state.upper_bound, seed, state.watch
    )
    state.offer("local search", ordered.vertices[clique], vertices=ordered.vertices.size, iterations=steps)


def _branch_and_bound(state: SearchState, ordered: _Ordered, nodes: int) -> None:
    nodes = min(nodes, state.nodes_left())
    began = state.seconds
    clique, bound, visited, complete, course = _core.search_weighted_clique(
        ordered.graph, ordered.units, ordered.cores, state.weight, nodes, state.threads, state.on_progress, state.watch
    )
    state.nodes += visited
    for seconds, weight, upper_bound in course:
        state.progress(weight, upper_bound, began + seconds)
    if clique.size:
        state.offer("search", ordered.vertices[clique], vertices=ordered.vertices.size, iterations=visited)
    else:
        state.record("search", vertices=ordered.vertices.size, iterations=visited)
    state.bound(state.weight if complete else max(bound, state.weight), Certificate.SEARCH)
