"""From associations to a graph: which of them agree with each other."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _core
from .errors import LandmarkError, OptionError
from .graph import Graph
from .invariants import Distance, DistanceAndNormals, Invariant, Pairs
from .validation import as_array, as_integer, as_number

__all__ = ["consistency_graph", "consistency_weights"]

_DISTANCE = Distance()
_PAIRS_AT_ONCE = 1 << 18
"""Pairs that a function in Python looks at in one call: their coordinates and differences fit the cache."""


def consistency_graph(
    source: Any,
    target: Any,
    associations: npt.ArrayLike | None = None,
    *,
    epsilon: float | npt.ArrayLike = 0.05,
    invariant: Invariant | None = None,
    one_to_one: bool = True,
    min_distance: float = 0.0,
    min_clique_size: int = 0,
    threads: int = 1,
) -> Graph:
    """Join the associations that agree with each other: a vertex each, an edge for each consistent pair.

    Parameters
    ----------
    source, target
        Landmarks as the invariant takes them; for points ``(n, 3)`` or ``(n, 2)`` coordinates in metres.
    associations
        ``(m, 2)`` numbers of a source and a target landmark each; None: landmark k with landmark k.
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
    threads
        Threads to use, for distances between points. The result does not depend on it.

    Returns
    -------
    Graph
        For points exactly what double precision gives, pairs on the threshold included. Stored as bits or, where that
        is smaller, as compressed rows (``graph.representation``).

    """
    problem = _Problem.check(source, target, associations, epsilon, invariant, one_to_one, min_distance)
    threads = as_integer("threads", threads, 1, 1024)
    min_clique_size = as_integer("min_clique_size", min_clique_size, 0, 2**31)
    if isinstance(problem.invariant, (Distance, DistanceAndNormals)):
        with_normals = isinstance(problem.invariant, DistanceAndNormals)
        graph = problem.join_points(threads, 0 if with_normals else min_clique_size)
        if not with_normals:
            return graph
        edges = problem.keep_by_normals(graph.edges())
    else:
        edges = np.concatenate([np.empty((0, 2), dtype=np.int64), *problem.consistent_pairs()])
    if min_clique_size > 1:
        degrees = np.bincount(edges.ravel(), minlength=problem.count)
        edges = edges[(degrees[edges] >= min_clique_size - 1).all(axis=1)]
    return Graph.from_edges(problem.count, edges)


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
    """Score the consistent pairs of :func:`consistency_graph`, for ``find_clique(…, method="clipper", weights=…)``.

    Returns a symmetric ``scipy.sparse.csr_array`` of ``exp(-r² / (2 sigma²))``, where r is the difference of the
    distances in metres; for other invariants, r is how much a pair disagrees, where epsilon is just too much. ``sigma``
    is in the same unit; None: a third of epsilon.
    """
    from scipy.sparse import csr_array

    settings = {"epsilon": epsilon, "invariant": invariant, "one_to_one": one_to_one, "min_distance": min_distance}
    graph = consistency_graph(source, target, associations, threads=threads, **settings)  # type: ignore[arg-type]
    problem = _Problem.check(source, target, associations, **settings)  # type: ignore[arg-type]
    if sigma is not None:
        sigma = as_number("sigma", sigma, 0.0, math.inf, open_interval=True)
    edges = graph.edges()
    scores = np.empty(len(edges))
    for start in range(0, len(edges), _PAIRS_AT_ONCE):
        chunk = slice(start, start + _PAIRS_AT_ONCE)
        i, j = edges[chunk].T
        bound = problem.epsilons(i, j)
        spread = bound / 3.0 if sigma is None else sigma
        scores[chunk] = np.exp(-0.5 * (problem.residuals(i, j) * bound / spread) ** 2)
    n = graph.num_vertices
    both = np.concatenate((edges, edges[:, ::-1]))
    return csr_array((np.tile(scores, 2), both.T), shape=(n, n))


@dataclass(frozen=True, eq=False)
class _Problem:
    """The arguments, checked."""

    source: Any
    target: Any
    invariant: Invariant
    pairs: npt.NDArray[np.int64] | None
    """``(m, 2)``, or None for landmark k with landmark k."""
    count: int
    epsilon: float | npt.NDArray[np.float64]
    one_to_one: bool
    min_distance: float

    @classmethod
    def check(
        cls,
        source: Any,
        target: Any,
        associations: npt.ArrayLike | None,
        epsilon: float | npt.ArrayLike,
        invariant: Invariant | None,
        one_to_one: bool,
        min_distance: float,
    ) -> _Problem:
        """Refuse what is wrong, with the argument's name."""
        invariant = _DISTANCE if invariant is None else invariant
        # As isinstance(invariant, Invariant), which takes longer than a small graph.
        methods = (getattr(invariant, name, None) for name in ("landmarks", "residuals"))
        if isinstance(invariant, type) or not all(map(callable, methods)):
            raise OptionError(f"invariant: expected one of clipperplus.invariants, got {invariant!r}")
        if not isinstance(one_to_one, bool):
            raise OptionError(f"one_to_one: expected True or False, got {one_to_one!r}")
        min_distance = as_number("min_distance", min_distance, 0.0, math.inf)
        if min_distance > 0.0 and not isinstance(invariant, (Distance, DistanceAndNormals)):
            raise OptionError(f"min_distance: {type(invariant).__name__} is not about distances of points")
        sets = invariant.landmarks("source", source), invariant.landmarks("target", target)
        if isinstance(invariant, Distance) and sets[0].shape[1] != sets[1].shape[1]:
            raise LandmarkError(f"target: {sets[1].shape[1]} coordinates a point, the source has {sets[0].shape[1]}")
        pairs = _as_associations(associations, len(sets[0]), len(sets[1]))
        count = len(sets[0]) if pairs is None else len(pairs)
        return cls(*sets, invariant, pairs, count, _as_epsilon(epsilon, count), one_to_one, min_distance)

    def epsilons(self, i: npt.NDArray[np.int64], j: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """Return the bound of every pair."""
        if isinstance(self.epsilon, float):
            return np.full(len(i), self.epsilon)
        return np.asarray(self.epsilon[i] + self.epsilon[j])

    def side(self, i: npt.NDArray[np.int64]) -> Pairs:
        """Return associations with their landmarks."""
        return Pairs(i, i, i) if self.pairs is None else Pairs(self.pairs[i, 0], self.pairs[i, 1], i)

    def residuals(self, i: npt.NDArray[np.int64], j: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """Return how much pairs of associations disagree; 1 is just too much."""
        with np.errstate(all="ignore"):  # what is no number is not consistent
            first, second = self.side(i), self.side(j)
            return self.invariant.residuals(self.source, self.target, first, second, self.epsilons(i, j))

    def join_points(self, threads: int, min_clique_size: int) -> Graph:
        """Join by distance, in the core."""
        source, target = self.source, self.target
        if isinstance(self.invariant, DistanceAndNormals):
            source, target = source.position, target.position
        each = None if isinstance(self.epsilon, float) else self.epsilon
        native = _core.join_by_distance(
            source,
            target,
            self.pairs,
            self.epsilon if isinstance(self.epsilon, float) else 1.0,
            each,
            self.min_distance,
            self.one_to_one,
            min_clique_size,
            threads,
        )
        return Graph._wrap(native)

    def keep_by_normals(self, edges: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return the edges whose normals agree too."""
        assert isinstance(self.invariant, DistanceAndNormals)
        kept = [np.empty((0, 2), dtype=np.int64)]
        for start in range(0, len(edges), _PAIRS_AT_ONCE):
            chunk = edges[start : start + _PAIRS_AT_ONCE]
            sides = self.side(chunk[:, 0]), self.side(chunk[:, 1])
            kept.append(chunk[self.invariant.angle_residuals(self.source, self.target, *sides) < 1.0])
        return np.concatenate(kept)

    def consistent_pairs(self) -> Iterator[npt.NDArray[np.int64]]:
        """Ask the invariant about all pairs, some rows at a time."""
        numbers = np.arange(self.count, dtype=np.int64)
        for first in range(0, self.count, rows := max(1, _PAIRS_AT_ONCE // max(1, self.count))):
            i, j = (grid.ravel() for grid in np.meshgrid(numbers[first : first + rows], numbers, indexing="ij"))
            above = j > i
            if self.one_to_one and self.pairs is not None:
                above &= (self.pairs[i] != self.pairs[j]).all(axis=1)
            i, j = i[above], j[above]
            agree = self.residuals(i, j) < 1.0
            yield np.column_stack((i[agree], j[agree]))


def _as_associations(associations: npt.ArrayLike | None, sources: int, targets: int) -> npt.NDArray[np.int64] | None:
    if associations is None:
        if sources != targets:
            raise LandmarkError(
                f"target: {targets} landmarks for {sources} of the source; pass associations, or as many of both"
            )
        return None
    pairs = as_array("associations", associations, LandmarkError)
    if pairs.size == 0 and pairs.shape in ((0,), (0, 2)):
        return np.empty((0, 2), dtype=np.int64)
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        hint = "; did you mean associations.T?" if pairs.ndim == 2 and pairs.shape[0] == 2 else ""
        raise LandmarkError(f"associations: expected an array of shape (m, 2), got {pairs.shape}{hint}")
    if pairs.dtype.kind not in "iu":
        raise LandmarkError(f"associations: expected integers, got dtype {pairs.dtype}")
    for column, (name, there) in enumerate((("source", sources), ("target", targets))):
        outside = np.flatnonzero((pairs[:, column] < 0) | (pairs[:, column] >= there))
        if outside.size:
            number = pairs[outside[0], column]
            raise LandmarkError(f"associations: row {outside[0]} names {name} {number}; there are {there}")
    return np.array(pairs, dtype=np.int64)


def _as_epsilon(epsilon: Any, count: int) -> float | npt.NDArray[np.float64]:
    if np.ndim(epsilon) == 0:
        return as_number("epsilon", epsilon, 0.0, math.inf, open_interval=True)
    bounds = as_array("epsilon", epsilon, OptionError)
    if bounds.dtype.kind not in "iuf" or bounds.shape != (count,):
        raise OptionError(
            f"epsilon: expected a number or one per association, shape ({count},), got shape {bounds.shape}, "
            f"dtype {bounds.dtype}"
        )
    bounds = np.array(bounds, dtype=np.float64)
    wrong = np.flatnonzero(~(np.isfinite(bounds) & (bounds > 0.0)))
    if wrong.size:
        raise OptionError(f"epsilon: entry {wrong[0]} is {bounds[wrong[0]]}; expected finite numbers above 0")
    return bounds
