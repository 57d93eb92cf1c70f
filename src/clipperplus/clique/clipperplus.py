"""Algorithm 3: CLIPPER+.

K. Fathian and T. Summers, "CLIPPER+: A Fast Maximal Clique Algorithm for Robust Global Registration", RA-L 2024.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .. import _core
from ._bounds import bound_by_colours, bound_by_cores
from ._edge_weighted import find_edge_weighted
from ._ordering import OrderedGraph, order_by_core
from ._search_state import SearchState
from .greedy import greedy_clique
from .relaxation import RelaxationOptions, relax

__all__ = ["find_clipperplus", "relax_outside_clique"]


def find_clipperplus(
    state: SearchState, relaxation: RelaxationOptions, weights: _core.EdgeWeights | None = None
) -> None:
    """Greedy clique, core pruning, early end with a certificate, relaxation from the complement of the greedy clique.

    Line numbers are those of the paper's listing.
    """
    if weights is not None:
        find_edge_weighted(state, relaxation, weights)
        return
    start = relaxation.start_vector(state.graph.num_vertices)
    ordered = order_by_core(state)  # line 3: K
    bound_by_cores(state, ordered)
    greedy_clique(state, ordered)  # line 4: C
    bound_by_colours(state, ordered)
    if state.proven or state.out_of_time:  # line 7: maximum clique found
        return
    relax_outside_clique(state, ordered, start, relaxation)


def relax_outside_clique(
    state: SearchState, ordered: OrderedGraph, start: npt.NDArray[np.float64] | None, options: RelaxationOptions
) -> None:
    """Lines 5 to 11: prune by core numbers, relax from the complement of C, keep the larger clique."""
    pruned = ordered.prune(state.size)  # lines 5 and 6: A' is the part with K ≥ |C|
    if start is None:  # line 9: 0 on C, else 1
        start = np.ones(state.graph.num_vertices)
        start[state.clique] = 0.0
    guess = start[ordered.order[: pruned.num_vertices]]
    if not guess.any():  # a start vector of the caller's that is zero on all of A'
        return
    solution = relax(pruned, guess, options, state.watch)  # line 10
    size_before = state.size
    state.offer(  # line 11
        "relaxation",
        ordered.original(solution.support),
        vertices=pruned.num_vertices,
        iterations=solution.inner_steps,
        converged=solution.finished,
    )
    if state.size > size_before:
        bound_by_colours(state, ordered)
