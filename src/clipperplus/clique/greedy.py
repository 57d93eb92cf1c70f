"""Algorithm 1 of CLIPPER+: the degeneracy-ordered greedy maximal clique.

K. Fathian and T. Summers, "CLIPPER+: A Fast Maximal Clique Algorithm for Robust Global Registration", RA-L 2024,
after R. Rossi et al., "Parallel Maximum Clique Algorithms", 2015.
"""

from __future__ import annotations

from .. import _core
from .bounds import bound_by_colours, bound_by_cores
from .ordering import OrderedGraph, order_by_core
from .run import Run

__all__ = ["find_greedy", "greedy_clique"]


def find_greedy(run: Run) -> None:
    """Run Algorithm 1 alone, with the bounds that come cheap."""
    ordered = order_by_core(run)
    bound_by_cores(run, ordered)
    greedy_clique(run, ordered)
    bound_by_colours(run, ordered)


def greedy_clique(run: Run, ordered: OrderedGraph) -> None:
    """From every vertex that still matters, grow a clique along decreasing core numbers; offer the largest."""
    clique, starts = _core.greedy_clique(ordered.prune(0), ordered.cores, run.threads, run.watch)
    run.offer("greedy", ordered.original(clique), vertices=ordered.cores.size, iterations=starts)
