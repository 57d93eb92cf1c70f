"""From associations to a graph: which of them agree with each other."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from .._limits import check_fits
from .._validation import as_integer, as_number
from ..errors import OptionError
from ..graphs import Graph
from ..invariants import Custom, GroupInvariant, GroupSampling, Invariant
from .arguments import as_associations, check_compared
from .points import check_of_points, points_problem
from .problem import PAIRS_AT_ONCE, ConsistencyProblem

__all__ = [
    "ConsistencyProblem",
    "as_associations",
    "check_compared",
    "check_of_points",
    "consistency_graph",
    "consistency_weights",
    "points_problem",
]

_BYTES_AN_EDGE = 36
"""Of scores, while they are made: twice a column and a number, and the matrix of ones that is before them; measured."""


def consistency_graph(
    source: Any,
    target: Any,
    associations: npt.ArrayLike | None = None,
    *,
    epsilon: float | npt.ArrayLike = 0.05,
    invariant: Invariant | GroupInvariant | None = None,
    one_to_one: bool = True,
    min_distance: float = 0.0,
    min_clique_size: int = 0,
    groups: GroupSampling | None = None,
    threads: int = 1,
) -> Graph:
    """Join the associations that agree with each other: a vertex each, an edge for each consistent pair.

    Parameters
    ----------
    source, target
        Landmarks as the invariant takes them; for points ``(n, 3)`` or ``(n, 2)`` coordinates in metres.
    associations
        ``(m, 2)`` numbers of a source and a target landmark each; None: landmark k with landmark k. All pairs of them
        are compared, which takes seconds for 100 000 and minutes for 1 000 000; more are refused, with
        :class:`MemoryLimitError`.
    epsilon
        By how much distances may differ, in metres; or one noise bound per association, of which a pair has the sum.
    invariant
        What the motion does not change; None: :class:`clipperplus.invariants.Distance`.
    one_to_one
        Whether two associations that share a landmark contradict each other.
    min_distance
        Points closer than this, in metres, in one of the sets prove nothing: such pairs are not joined.
    min_clique_size
        Only cliques of at least so many associations are wanted: those that agree with too few others lose their edges.
        They keep their numbers.
    groups
        Of invariants of three or four associations: how many groups are looked at, and how many make an edge; None:
        :class:`clipperplus.invariants.GroupSampling` as it is. A group has the sum of the noise bounds of its members.
    threads
        Threads for the distances between points; other invariants are asked on one. The result does not depend on it.

    Returns
    -------
    Graph
        For points exactly what double precision gives, pairs on the threshold included. Stored as bits or, where that
        is smaller, as compressed rows (``graph.representation``).

    """
    problem = ConsistencyProblem.check(
        source, target, associations, epsilon, invariant, one_to_one, min_distance, groups
    )
    return problem.join(
        as_integer("threads", threads, 1, 1024), as_integer("min_clique_size", min_clique_size, 0, 2**31)
    )


def consistency_weights(
    source: Any,
    target: Any,
    associations: npt.ArrayLike | None = None,
    *,
    epsilon: float | npt.ArrayLike = 0.05,
    sigma: float | None = None,
    invariant: Invariant | None = None,
    one_to_one: bool = True,
    min_distance: float = 0.0,
    threads: int = 1,
) -> Any:
    """Score the consistent pairs of :func:`consistency_graph`, for ``find_clique(…, method="clipper+", weights=…)``.

    Returns a symmetric ``scipy.sparse.csr_array`` of ``exp(-r² / (2 sigma²))``, where r is the difference of the
    distances in metres; for :class:`~clipperplus.invariants.Custom`, what the function says; for the others, how much a
    pair disagrees, where epsilon is just too much. ``sigma`` is in the same unit; None: a third of the bound.
    """
    from scipy.sparse import coo_array

    if sigma is not None:
        sigma = as_number("sigma", sigma, 0.0, math.inf, open_interval=True)
    problem = ConsistencyProblem.check(source, target, associations, epsilon, invariant, one_to_one, min_distance)
    if problem.arity > 2:
        raise OptionError(f"invariant: expected one of pairs, which can be scored, got {type(invariant).__name__}")
    graph = problem.join(as_integer("threads", threads, 1, 1024))
    needed = _BYTES_AN_EDGE * graph.num_edges
    check_fits(f"associations: scores of {graph.num_edges} consistent pairs take", needed)
    weights = graph.adjacency(sparse=True).astype(np.float64)
    # Row after row, the pairs (i, j) with i < j come to each j in the order of i, in which row j has them, too.
    mirrored = weights.indptr[:-1].astype(np.int64)
    last = 0
    while last < problem.count:
        first, most = last, int(weights.indptr[last]) + PAIRS_AT_ONCE
        last = max(first + 1, int(np.searchsorted(weights.indptr, most, side="right")) - 1)
        start, end = weights.indptr[[first, last]]
        i = np.repeat(np.arange(first, last), np.diff(weights.indptr[first : last + 1]))
        upper = np.flatnonzero(i < weights.indices[start:end])
        entries = start + upper
        i, j = i[upper], weights.indices[entries].astype(np.int64)
        i.flags.writeable = j.flags.writeable = False  # a function of the caller's will see them
        bound = problem.epsilons(i, j)
        if isinstance(problem.invariant, Custom):
            bound = np.full(len(i), problem.invariant.threshold)
        with np.errstate(all="ignore"):
            steps = 3.0 if sigma is None else bound / sigma  # standard deviations up to the bound
            scores = np.exp(-0.5 * (problem.residuals(i, j) * steps) ** 2)
        weights.data[entries] = scores
        columns = coo_array((scores, (i, j)), shape=weights.shape).tocsc()
        counts = np.diff(columns.indptr)
        weights.data[np.repeat(mirrored - columns.indptr[:-1], counts) + np.arange(len(j))] = columns.data
        mirrored += counts
    weights.eliminate_zeros()  # scores too small for a number
    return weights
