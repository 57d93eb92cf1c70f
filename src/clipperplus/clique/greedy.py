"""Algorithm 1 of CLIPPER+: the degeneracy-ordered greedy maximal clique.

K. Fathian and T. Summers, "CLIPPER+: A Fast Maximal Clique Algorithm for Robust Global Registration", RA-L 2024,
after R. Rossi et al., "Parallel Maximum Clique Algorithms", 2015.
"""

from __future__ import annotations

from .. import _core
from ._bounds import bound_by_colours, bound_by_cores
from ._ordering import OrderedGraph, order_by_core
from ._search_state import SearchState

__all__ = ["find_greedy", "greedy_clique"]


def find_greedy(state: SearchState) -> None:
    """Run Algorithm 1 alone, with the bounds that come cheap."""
    ordered = order_by_core(state)
    bound_by_cores(state, ordered)
    greedy_clique(state, ordered)
    bound_by_colours(state, ordered)


def greedy_clique(state: SearchState, ordered: OrderedGraph) -> None:
    """From every vertex that still matters, grow a clique along decreasing core numbers; offer the largest."""
    clique, starts = _core.greedy_clique(ordered.prune(0), ordered.cores, state.threads, state.watch)
    state.offer("greedy", ordered.original(clique), vertices=ordered.cores.size, iterations=starts)
