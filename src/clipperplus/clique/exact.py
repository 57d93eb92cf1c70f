"""The maximum clique, with proof: reductions, a good clique from local search, branch and bound on what is left.

P. San Segundo, A. Nikolaev and M. Batsyn, "Infra-chromatic bound for exact maximum clique search", 2015;
E. Tomita et al., "A simple and faster branch-and-bound algorithm for finding a maximum clique", 2010;
Q. Wu, J.-K. Hao and F. Glover, "Multi-neighborhood tabu search for the maximum weight clique problem", 2012.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .. import _core
from .bounds import bound_by_colours, bound_by_cores
from .clipperplus import relax_outside_clique
from .greedy import greedy_clique
from .ordering import order_by_core
from .relaxation import RelaxationOptions
from .result import Certificate
from .run import Run

__all__ = ["find_exact"]

_ROUNDS = ((0, 20), (500, 50), (1_000, 100), (2_000, 200), (4_000, 800), (8_000, 4_000), (20_000, 20_000))
"""Steps of local search and nodes of branch and bound, round by round: most registration graphs need the first only."""
_ROUND_VERTICES = 512
"""Kernels with more vertices get fewer nodes a round: the cost of a node grows with the square of their number."""
_LAST_ROUND = (200_000, 2**63)
_LOCAL_SEARCH_VERTICES = 2**15 - 1


@dataclass(frozen=True)
class _Kernel:
    """The part of the graph in which a larger clique lies, ordered by decreasing core number."""

    graph: _core.Graph
    vertices: npt.NDArray[np.int64]
    """Vertices of the input graph, by index in the kernel."""


def find_exact(run: Run, options: RelaxationOptions) -> None:
    """Search for the maximum clique: cheap bounds first, then rounds of more and more effort until it is proven."""
    start = options.start_vector(run.graph.num_vertices)
    ordered = order_by_core(run)
    bound_by_cores(run, ordered)
    greedy_clique(run, ordered)
    bound_by_colours(run, ordered)
    if not _go_on(run):
        return
    pruned = ordered.prune(run.size)
    kernel = _reduce(run, _Kernel(pruned, ordered.original(np.arange(pruned.num_vertices))))
    for steps, nodes in _ROUNDS:
        scale = max(1.0, kernel.graph.num_vertices / _ROUND_VERTICES)
        kernel = _search_round(run, kernel, round(steps * scale), max(20, round(nodes / scale**2)))
    if _go_on(run):
        size_before = run.size
        relax_outside_clique(run, ordered, start, options)
        if run.size > size_before:
            kernel = _reduce(run, kernel)
    _search_round(run, kernel, *_LAST_ROUND)


def _go_on(run: Run) -> bool:
    return not run.proven and not run.out_of_time and run.nodes_left() > 0


def _search_round(run: Run, kernel: _Kernel, steps: int, nodes: int) -> _Kernel:
    """Look for a larger clique, first by local search, then systematically; return what is left of the kernel."""
    size_before = run.size
    if _go_on(run) and steps > 0:
        _local_search(run, kernel, steps)
    if _go_on(run):
        if run.size > size_before:
            kernel = _reduce(run, kernel)
        _branch_and_bound(run, kernel, nodes)
    return kernel


def _reduce(run: Run, kernel: _Kernel) -> _Kernel:
    """Drop what cannot belong to a clique larger than the best one."""
    graph, vertices = kernel.graph, kernel.vertices
    if graph.has_bits:
        graph, kept = _core.reduce(graph, run.size, run.seconds_left())
        vertices = vertices[kept]
    graph, _, order = _core.order_by_core(graph)
    run.record("reduction", vertices=graph.num_vertices)
    return _Kernel(graph, vertices[order])


def _local_search(run: Run, kernel: _Kernel, steps: int) -> None:
    if not kernel.graph.has_bits or not 0 < kernel.graph.num_vertices <= _LOCAL_SEARCH_VERTICES:
        return
    start = np.flatnonzero(np.isin(kernel.vertices, run.clique))
    clique, done = _core.local_search(kernel.graph, start, steps, run.upper_bound, steps, run.seconds_left())
    run.offer("local search", kernel.vertices[clique], vertices=kernel.graph.num_vertices, iterations=done)


def _branch_and_bound(run: Run, kernel: _Kernel, nodes: int) -> None:
    clique, bound, visited, complete = _core.search_clique(
        kernel.graph, run.size, min(nodes, run.nodes_left()), run.seconds_left()
    )
    run.nodes += visited
    if clique.size:
        run.offer("search", kernel.vertices[clique], vertices=kernel.graph.num_vertices, iterations=visited)
    else:
        run.record("search", vertices=kernel.graph.num_vertices, iterations=visited)
    run.bound(run.size if complete else max(bound, run.size), Certificate.SEARCH)
