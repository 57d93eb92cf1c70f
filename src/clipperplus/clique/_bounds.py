"""Upper bounds on the clique number that cost next to nothing."""

from __future__ import annotations

from .. import _core
from ._ordering import OrderedGraph, order_by_core
from ._search_state import SearchState
from .result import Certificate

__all__ = ["bound_afterwards", "bound_by_colours", "bound_by_cores"]


def bound_by_cores(state: SearchState, ordered: OrderedGraph) -> None:
    """A clique of size c needs vertices of core number c - 1."""
    state.bound(int(ordered.cores[0]) + 1 if ordered.cores.size else 0, Certificate.CORE_BOUND)


def bound_by_colours(state: SearchState, ordered: OrderedGraph) -> None:
    """Colour the part of the graph in which a clique larger than the best one would lie."""
    if state.proven or state.out_of_time:
        return
    pruned = ordered.prune(state.size)
    colours = _core.greedy_colours(pruned, state.watch)
    if colours is not None:
        state.bound(max(state.size, colours), Certificate.COLOUR_BOUND)
    state.record("colouring", vertices=pruned.num_vertices, iterations=colours)


def bound_afterwards(state: SearchState) -> None:
    """Look for a certificate once a method that needs no order has ended."""
    ordered = order_by_core(state)
    bound_by_cores(state, ordered)
    bound_by_colours(state, ordered)
