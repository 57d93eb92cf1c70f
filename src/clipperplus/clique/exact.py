"""The maximum clique, with proof: reductions, a strong bound at the root, branch and bound on what is left.

P. San Segundo, A. Nikolaev and M. Batsyn, "Infra-chromatic bound for exact maximum clique search", 2015;
E. Tomita et al., "A simple and faster branch-and-bound algorithm for finding a maximum clique", 2010.
"""

from __future__ import annotations

import numpy as np

from .. import _core
from .bounds import bound_by_colours, bound_by_cores
from .clipperplus import relax_outside_clique
from .greedy import greedy_clique
from .ordering import OrderedGraph, order_by_core
from .relaxation import RelaxationOptions
from .result import Certificate
from .run import Run

__all__ = ["find_exact"]

_QUICK_NODES = 100
"""Nodes of the first search: enough for most registration graphs, cheaper than a relaxation."""
_NO_LIMIT = 2**63


def find_exact(run: Run, options: RelaxationOptions) -> None:
    """Search for the maximum clique: the cheap bounds first, the relaxation only where they and a quick search fail."""
    start = options.start_vector(run.graph.num_vertices)
    ordered = order_by_core(run)
    bound_by_cores(run, ordered)
    greedy_clique(run, ordered)
    bound_by_colours(run, ordered)
    search(run, ordered, node_limit=_QUICK_NODES)
    if run.proven or run.out_of_time or run.nodes_left() == 0:
        return
    relax_outside_clique(run, ordered, start, options)
    search(run, ordered, node_limit=_NO_LIMIT)


def search(run: Run, ordered: OrderedGraph, *, node_limit: int) -> None:
    """Reduce the graph to where a larger clique can lie, and look at all that could be one."""
    if run.proven or run.out_of_time:
        return
    kernel = ordered.prune(run.size)
    places = np.arange(kernel.num_vertices, dtype=np.int32)
    if kernel.has_bits:
        kernel, places = _core.reduce(kernel, run.size, run.seconds_left())
        run.record("reduction", vertices=kernel.num_vertices)
    kernel, _, order = _core.order_by_core(kernel)
    clique, bound, nodes, complete = _core.search_clique(
        kernel, run.size, min(node_limit, run.nodes_left()), run.seconds_left()
    )
    run.nodes += nodes
    size_before = run.size
    if clique.size:
        claim = ordered.original(places[order[clique]].astype(np.int64))
        run.offer("search", claim, vertices=kernel.num_vertices, iterations=nodes)
    else:
        run.record("search", vertices=kernel.num_vertices, iterations=nodes)
    run.bound(run.size if complete else max(size_before, bound, run.size), Certificate.SEARCH)
