"""Algorithm 3: CLIPPER+.

K. Fathian and T. Summers, "CLIPPER+: A Fast Maximal Clique Algorithm for Robust Global Registration", RA-L 2024.
"""

from __future__ import annotations

import numpy as np

from .bounds import bound_by_colours, bound_by_cores
from .greedy import greedy_clique
from .ordering import order_by_core
from .relaxation import RelaxationOptions, relax
from .run import Run

__all__ = ["find_clipperplus"]


def find_clipperplus(run: Run, options: RelaxationOptions) -> None:
    """Greedy clique, core pruning, early end with a certificate, relaxation from the complement of the greedy clique.

    Line numbers are those of the paper's listing.
    """
    start = options.start_vector(run.graph.num_vertices)
    ordered = order_by_core(run)  # line 3: K
    bound_by_cores(run, ordered)
    greedy_clique(run, ordered)  # line 4: C
    pruned = ordered.prune(run.size)  # lines 5 and 6: A' is the part with K ≥ |C|
    bound_by_colours(run, pruned)
    if run.proven or run.out_of_time:  # line 7: maximum clique found
        return

    if start is None:  # line 9: 0 on C, else 1
        start = np.ones(run.graph.num_vertices)
        start[run.clique] = 0.0
    guess = start[ordered.order[: pruned.num_vertices]]
    if not guess.any():  # a start vector of the caller's that is zero on all of A'
        return
    support, steps = relax(pruned, guess, options, run.seconds_left())  # line 10
    greedy_size = run.size
    run.offer("relaxation", ordered.original(support), vertices=pruned.num_vertices, iterations=steps)  # line 11
    if run.size > greedy_size:
        bound_by_colours(run, ordered.prune(run.size))
