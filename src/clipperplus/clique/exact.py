"""The maximum clique, with proof: reductions, a good clique from local search, branch and bound on what is left.

P. San Segundo, A. Nikolaev and M. Batsyn, "Infra-chromatic bound for exact maximum clique search", 2015;
E. Tomita et al., "A simple and faster branch-and-bound algorithm for finding a maximum clique", 2010;
Q. Wu, J.-K. Hao and F. Glover, "Multi-neighborhood tabu search for the maximum weight clique problem", 2012.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

from .. import _core
from ..errors import OptionError
from ._bounds import bound_by_colours, bound_by_cores
from ._ordering import order_by_core
from ._search_state import SearchState
from .clipperplus import relax_outside_clique
from .greedy import greedy_clique
from .relaxation import RelaxationOptions
from .result import Certificate

__all__ = ["Kernel", "SearchOptions", "can_look_around", "find_exact", "go_on", "reduce_kernel"]

_ROUNDS = ((0, 20), (2_000, 20), (2_000, 100), (4_000, 400), (8_000, 4_000), (20_000, 20_000))
"""Patience of the local search and nodes of the branch and bound, round by round: most registration graphs need the
first or the second only."""
_LAST_PATIENCE = 200_000
_LAST_PATIENCE_UNDER_LIMIT = 1_000_000
"""The last local search, before the search that runs to the end: where that end will hardly be reached, the clique is
what counts."""
_ROUND_VERTICES = 512
"""Kernels with more vertices get fewer nodes a round, whose cost grows with the square of that, and more patience."""
_LARGEST_SCALE = 8.0
_SHARE_BEFORE_RELAXATION = 0.25
"""Of a time limit: the rest is left to the relaxation, so that the clique is not smaller than that of ``clipper+``."""
_LOCAL_SEARCH_VERTICES = 2**15 - 1


@dataclass(frozen=True)
class SearchOptions:
    """What ``auto`` and ``exact`` may use. Every part only saves time: without it the answer has the same size."""

    core_bound: bool = True
    """Stop where core numbers prove the clique to be maximum."""
    colour_bound: bool = True
    """Stop where a greedy colouring proves the clique to be maximum."""
    reduction: bool = True
    """Drop vertices and edges that no larger clique can have."""
    local_search: bool = True
    """Look for larger cliques by tabu search."""
    relaxation: bool = True
    """Look for a larger clique with the paper's relaxation, once the cheap steps have not closed the gap."""
    recolouring: bool = True
    """Bound nodes of the search better by moving vertices between colour classes."""
    propagation: bool = True
    """Bound nodes of the search better by unit propagation over colour classes."""

    def __post_init__(self) -> None:
        for option in fields(self):
            value = getattr(self, option.name)
            if not isinstance(value, bool):
                raise OptionError(f"{option.name}: expected True or False, got {value!r}")


@dataclass(frozen=True)
class Kernel:
    """The part of the graph in which a larger clique lies, ordered by decreasing core number."""

    graph: _core.Graph
    vertices: npt.NDArray[np.int64]
    """Vertices of the input graph, by index in the kernel."""


def find_exact(state: SearchState, relaxation: RelaxationOptions, search: SearchOptions) -> None:
    """Search for the maximum clique: cheap bounds first, then rounds of more and more effort until it is proven."""
    start = relaxation.start_vector(state.graph.num_vertices)
    ordered = order_by_core(state)
    if search.core_bound:
        bound_by_cores(state, ordered)
    greedy_clique(state, ordered)
    if search.colour_bound:
        bound_by_colours(state, ordered)
    if not go_on(state):
        return
    pruned = ordered.give_away(state.size if search.reduction else 0)
    kernel = Kernel(pruned, ordered.original(np.arange(pruned.num_vertices)))
    steps = _Search(state, search)
    kernel = steps.reduce(kernel)
    early = state.watch if state.time_limit is None else state.watch.within(_SHARE_BEFORE_RELAXATION * state.time_limit)
    for seed, (patience, nodes) in enumerate(_ROUNDS):
        if not go_on(state) or early.expired:
            break
        scale = min(_LARGEST_SCALE, max(1.0, kernel.graph.num_vertices / _ROUND_VERTICES))
        kernel = steps.look_around(kernel, round(patience * scale), seed, early)
        steps.branch_and_bound(kernel, max(20, round(nodes / scale**2)), early)
    if go_on(state):
        steps.bound_at_root(kernel)
    if go_on(state) and search.relaxation:
        size_before = state.size
        relax_outside_clique(state, ordered, start, relaxation)
        if state.size > size_before:
            kernel = steps.reduce(kernel)
    if go_on(state):
        patience = _LAST_PATIENCE if state.time_limit is None else _LAST_PATIENCE_UNDER_LIMIT
        kernel = steps.look_around(kernel, patience, len(_ROUNDS), state.watch)
    if go_on(state):
        steps.branch_and_bound(kernel, state.nodes_left(), state.watch)


def go_on(state: SearchState) -> bool:
    """Whether there is something left to prove, and time for it."""
    return not state.proven and not state.out_of_time and state.nodes_left() > 0


def can_look_around(graph: _core.Graph) -> bool:
    """Whether the local searches take a graph."""
    return graph.has_bits and graph.num_vertices <= _LOCAL_SEARCH_VERTICES


def reduce_kernel(kernel: Kernel, size: int, threads: int, watch: _core.Watch) -> Kernel:
    """Drop what cannot belong to a clique of more than ``size`` vertices. The kernel that is given is used up."""
    graph, kept = _core.reduce(kernel.graph, size, threads, watch)
    graph, _, order = _core.order_by_core(graph)
    return Kernel(graph, kernel.vertices[kept][order])


@dataclass(frozen=True)
class _Search:
    """The steps that the rounds are made of."""

    state: SearchState
    options: SearchOptions

    def reduce(self, kernel: Kernel) -> Kernel:
        if not self.options.reduction:
            return kernel
        kernel = reduce_kernel(kernel, self.state.size, self.state.threads, self.state.watch)
        self.state.record("reduction", vertices=kernel.graph.num_vertices)
        return kernel

    def look_around(self, kernel: Kernel, patience: int, seed: int, watch: _core.Watch) -> Kernel:
        """Look for a larger clique by local search; return what is left of the kernel then."""
        n = kernel.graph.num_vertices
        if patience == 0 or not self.options.local_search or not can_look_around(kernel.graph):
            return kernel
        state, size_before = self.state, self.state.size
        start = np.flatnonzero(np.isin(kernel.vertices, state.clique))
        clique, steps = _core.local_search(kernel.graph, start, patience, state.upper_bound, seed, watch)
        state.offer("local search", kernel.vertices[clique], vertices=n, iterations=steps)
        return self.reduce(kernel) if state.size > size_before and go_on(state) else kernel

    def branch_and_bound(self, kernel: Kernel, nodes: int, watch: _core.Watch) -> None:
        state = self.state
        if not go_on(state):
            return
        nodes = min(nodes, state.nodes_left())
        began = state.seconds
        clique, bound, visited, complete, course = _core.search_clique(
            kernel.graph,
            state.size,
            nodes,
            state.threads,
            self.options.recolouring,
            self.options.propagation,
            state.on_progress,
            watch,
        )
        state.nodes += visited
        for seconds, size, upper_bound in course:
            state.progress(size, upper_bound, began + seconds)
        n = kernel.graph.num_vertices
        if clique.size:
            state.offer("search", kernel.vertices[clique], vertices=n, iterations=visited)
        else:
            state.record("search", vertices=n, iterations=visited)
        state.bound(state.size if complete else max(bound, state.size), Certificate.SEARCH)

    def bound_at_root(self, kernel: Kernel) -> None:
        """Bound the whole kernel as the search bounds its nodes: for a search that may be cut off."""
        state = self.state
        bound = _core.bound_at_root(
            kernel.graph, state.size, state.upper_bound, self.options.recolouring, self.options.propagation, state.watch
        )
        state.bound(bound, Certificate.SEARCH)
        state.record("root bound", vertices=kernel.graph.num_vertices)
