"""Upper bounds on the clique number that cost next to nothing."""

from __future__ import annotations

from .. import _core
from .ordering import OrderedGraph, order_by_core
from .result import Certificate
from .run import Run

__all__ = ["bound_afterwards", "bound_by_colours", "bound_by_cores"]


def bound_by_cores(run: Run, ordered: OrderedGraph) -> None:
    """A clique of size c needs vertices of core number c - 1."""
    run.bound(int(ordered.cores[0]) + 1 if ordered.cores.size else 0, Certificate.CORE_BOUND)


def bound_by_colours(run: Run, ordered: OrderedGraph) -> None:
    """Colour the part of the graph in which a clique larger than the best one would lie."""
    if run.proven or run.out_of_time:
        return
    pruned = ordered.prune(run.size)
    colours = _core.greedy_colours(pruned, run.watch)
    if colours is not None:
        run.bound(max(run.size, colours), Certificate.COLOUR_BOUND)
    run.record("colouring", vertices=pruned.num_vertices, iterations=colours)


def bound_afterwards(run: Run) -> None:
    """Look for a certificate once a method that needs no order has ended."""
    ordered = order_by_core(run)
    bound_by_cores(run, ordered)
    bound_by_colours(run, ordered)
