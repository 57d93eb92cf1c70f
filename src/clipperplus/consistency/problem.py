"""Landmarks, associations, and what makes these consistent: checked, and joined to a graph."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _core
from .._validation import as_integer, as_number
from .._words import shown
from ..errors import LandmarkError, OptionError
from ..graphs import Graph
from ..graphs._memory import check_graph_fits
from ..invariants import (
    CameraReprojection,
    Distance,
    DistanceAndNormals,
    GroupInvariant,
    GroupSampling,
    Invariant,
    Pairs,
    Under,
)
from ..invariants.base import as_residuals
from ..invariants.camera import CameraGroups, find_camera_groups
from ..invariants.groups import join_groups
from ..invariants.motions import in_space
from .arguments import as_associations, as_epsilon, check_compared

__all__ = ["PAIRS_AT_ONCE", "ConsistencyProblem"]

_DISTANCE = Distance()
_SAMPLING = GroupSampling()
PAIRS_AT_ONCE = 1 << 18
"""Pairs that a function in Python looks at in one call: their coordinates and differences fit the cache."""
_SURELY_FITS = 2**16
"""Associations whose graph, of at most 512 MiB, any machine has room for. Of more, …"""
_SAMPLED_PAIRS = 2**14
"""… so many pairs tell how large the graph will be."""
_AS_BITS = 1 / 64
"""Share of the edges from which on graphs are bits, whose size does not depend on it."""


@dataclass(frozen=True, eq=False)
class ConsistencyProblem:
    """Landmarks, associations and what makes them consistent, checked."""

    source: Any
    target: Any
    invariant: Any
    """An :class:`Invariant`, or a :class:`GroupInvariant`."""
    pairs: npt.NDArray[np.int64] | None
    """``(m, 2)``, or None for landmark k with landmark k."""
    count: int
    epsilon: float | npt.NDArray[np.float64]
    one_to_one: bool
    min_distance: float
    groups: GroupSampling = _SAMPLING

    @classmethod
    def check(
        cls,
        source: Any,
        target: Any,
        associations: npt.ArrayLike | None,
        epsilon: float | npt.ArrayLike,
        invariant: Invariant | GroupInvariant | None,
        one_to_one: bool,
        min_distance: float,
        groups: GroupSampling | None = None,
    ) -> ConsistencyProblem:
        """Refuse what is wrong, with the argument's name."""
        invariant = _DISTANCE if invariant is None else invariant
        arity = as_integer("invariant arity", getattr(invariant, "arity", 2), 2, 4)
        if groups is not None and (arity == 2 or not isinstance(groups, GroupSampling)):
            raise OptionError(
                f"groups: expected None, or GroupSampling for an invariant of groups, got {shown(groups)}"
            )
        # As isinstance(invariant, Invariant), which takes longer than a small graph.
        asked = "residuals" if arity == 2 else "group_residuals"
        methods = (getattr(invariant, name, None) for name in ("landmarks", asked))
        if isinstance(invariant, type) or not all(map(callable, methods)):
            raise OptionError(f"invariant: expected one of clipperplus.invariants, got {shown(invariant)}")
        if not isinstance(one_to_one, bool):
            raise OptionError(f"one_to_one: expected True or False, got {shown(one_to_one)}")
        min_distance = as_number("min_distance", min_distance, 0.0, math.inf)
        if min_distance > 0.0 and type(invariant) not in (Distance, DistanceAndNormals, Under):
            raise OptionError(f"min_distance: {type(invariant).__name__} is not about distances of points")
        sets = invariant.landmarks("source", source), invariant.landmarks("target", target)
        for landmarks in sets:
            if not hasattr(landmarks, "__len__"):
                kind = type(landmarks).__name__
                raise OptionError(f"invariant: expected landmarks that have a length of its .landmarks(), got {kind}")
        if type(invariant) in (Distance, Under) and all(map(len, sets)) and sets[0].shape[1] != sets[1].shape[1]:
            raise LandmarkError(f"target: {sets[1].shape[1]} coordinates a point, the source has {sets[0].shape[1]}")
        return cls._of(sets, invariant, associations, epsilon, one_to_one, min_distance, groups or _SAMPLING)

    @classmethod
    def of_points(
        cls,
        source: npt.NDArray[np.float64],
        target: npt.NDArray[np.float64],
        associations: npt.ArrayLike | None,
        epsilon: float | npt.ArrayLike,
    ) -> ConsistencyProblem:
        """Take points that were checked."""
        return cls._of((source, target), _DISTANCE, associations, epsilon)

    @classmethod
    def _of(
        cls,
        sets: tuple[Any, Any],
        invariant: Any,
        associations: npt.ArrayLike | None,
        epsilon: float | npt.ArrayLike,
        one_to_one: bool = True,
        min_distance: float = 0.0,
        groups: GroupSampling = _SAMPLING,
    ) -> ConsistencyProblem:
        pairs = None if associations is None else as_associations("associations", associations, sets, compared=True)
        if pairs is None and len(sets[0]) != len(sets[1]):
            sizes = f"{len(sets[1])} landmarks for {len(sets[0])} of the source"
            raise LandmarkError(f"target: {sizes}; pass associations, or as many of both")
        count = len(sets[0]) if pairs is None else len(pairs)
        check_compared("associations", count)
        return cls(*sets, invariant, pairs, count, as_epsilon(epsilon, count), one_to_one, min_distance, groups)

    @property
    def arity(self) -> int:
        """How many associations the invariant compares."""
        return int(getattr(self.invariant, "arity", 2))

    @property
    def associations(self) -> npt.NDArray[np.int64]:
        """``(m, 2)``, also where they are landmark k with landmark k."""
        return (
            np.repeat(np.arange(self.count, dtype=np.int64)[:, None], 2, axis=1) if self.pairs is None else self.pairs
        )

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
            found = self.invariant.residuals(self.source, self.target, first, second, self.epsilons(i, j))
        values = as_residuals(found)
        if values.shape != i.shape:
            raise OptionError(f"invariant: expected one residual per pair, shape {i.shape}, got {values.shape}")
        return values

    def join(self, threads: int, min_clique_size: int = 0) -> Graph:
        """Return the graph; distances of points are the core's work."""
        if type(self.invariant) is Distance:
            return self.join_points(self.source, self.target, threads, min_clique_size)
        if type(self.invariant) is DistanceAndNormals:
            edges = self.join_points(self.source.points, self.target.points, threads, min_clique_size).edges()
            edges = self.keep_by_normals(self.invariant, edges)
        elif type(self.invariant) is Under:
            graph = self.join_points(self.source, self.target, threads, min_clique_size, self.offsets(self.invariant))
            if isinstance(self.epsilon, float):
                return graph
            edges = graph.edges()
            edges = edges[self.residuals(*edges.T) < 1.0]
        elif type(self.invariant) is CameraReprojection:
            edges = self.find_cameras(threads).graph.edges()
        elif self.arity > 2:
            edges = self.keep_one_to_one(join_groups(self.count, self.arity, self.groups_agree, self.groups))
        else:
            edges = np.concatenate([np.empty((0, 2), dtype=np.int64), *self.consistent_pairs()])
        if min_clique_size > 1:
            degrees = np.bincount(edges.ravel(), minlength=self.count)
            edges = edges[(degrees[edges] >= min_clique_size - 1).all(axis=1)]
        return Graph.from_edges(self.count, edges)

    def offsets(self, invariant: Under) -> npt.NDArray[np.float64] | None:
        """Return vectors in which pairs agree, beside distances; NaN for associations that agree with none."""
        pairs = self.associations
        with np.errstate(over="ignore", invalid="ignore"):
            matched = in_space(self.source[pairs[:, 0]]), in_space(self.target[pairs[:, 1]])
            offsets, strays = invariant.model.offsets(*matched), invariant.model.strays(*matched)
            if offsets is not None and strays is not None and len(pairs):
                bound = self.epsilon if isinstance(self.epsilon, float) else self.epsilon + self.epsilon.max()
                offsets[~(strays < bound)] = np.nan
        return offsets

    def find_cameras(self, threads: int) -> CameraGroups:
        """Look for groups of matches that a camera sees together, in the core."""
        if not isinstance(self.epsilon, float):
            raise OptionError("epsilon: expected one number of pixels for a camera, got one per association")
        if self.count > _SURELY_FITS:
            raise OptionError(f"associations: expected at most {_SURELY_FITS} for a camera, got {self.count}")
        pairs = self.associations
        matched = self.source[pairs[:, 0]], self.target[pairs[:, 1]]
        found = find_camera_groups(*matched, self.invariant.intrinsics, self.epsilon, self.groups, threads)
        if not self.one_to_one or self.pairs is None:
            return found
        return found._replace(graph=Graph.from_edges(self.count, self.keep_one_to_one(found.graph.edges())))

    def groups_agree(self, groups: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """Ask the invariant about groups of associations, ``(g, arity)``."""
        agree = np.ones(len(groups), dtype=np.bool_)
        if self.one_to_one and self.pairs is not None:
            for i, j in itertools.combinations(groups.T, 2):
                agree &= (self.pairs[i] != self.pairs[j]).all(axis=1)
        columns = tuple(np.ascontiguousarray(column) for column in groups[agree].T)
        for column in columns:
            column.flags.writeable = False  # a function of the caller's will see them
        if isinstance(self.epsilon, float):
            bounds = np.full(len(columns[0]), self.epsilon)
        else:
            bounds = self.epsilon[groups[agree]].sum(axis=1)
        with np.errstate(all="ignore"):  # what is no number is not consistent
            members = tuple(map(self.side, columns))
            values = as_residuals(self.invariant.group_residuals(self.source, self.target, members, bounds))
        if values.shape != bounds.shape:
            raise OptionError(f"invariant: expected one residual per group, shape {bounds.shape}, got {values.shape}")
        agree[agree] = values < 1.0
        return agree

    def keep_one_to_one(self, edges: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return the edges of associations that share no landmark, where they must not."""
        if not self.one_to_one or self.pairs is None:
            return edges
        return np.asarray(edges[(self.pairs[edges[:, 0]] != self.pairs[edges[:, 1]]).all(axis=1)])

    def join_points(
        self,
        source: Any,
        target: Any,
        threads: int,
        min_clique_size: int,
        offsets: npt.NDArray[np.float64] | None = None,
    ) -> Graph:
        """Join by distance, and what else pairs agree in, in the core."""
        if source.shape[1] != target.shape[1]:  # one of them is empty, and so is the graph
            source, target = np.empty((0, 3)), np.empty((0, 3))
        if self.count > _SURELY_FITS:
            density = self.sampled_density()
            # How many edges those lose that agree with too few others is not known: rows get shorter by that.
            if min_clique_size < 2 or density >= _AS_BITS:
                check_graph_fits("associations", self.count, density)
        native = _core.join_by_distance(
            source,
            target,
            self.pairs,
            self.epsilon if isinstance(self.epsilon, float) else 1.0,
            None if isinstance(self.epsilon, float) else self.epsilon,
            self.min_distance,
            self.one_to_one,
            min_clique_size,
            threads,
            offsets,
        )
        return Graph._wrap(native)

    def sampled_density(self) -> float:
        """Return about which share of the pairs agrees."""
        i, j = np.random.default_rng(0).integers(self.count, size=(2, _SAMPLED_PAIRS))
        agree = (self.residuals(i, j) < 1.0) & (i != j)
        if self.one_to_one and self.pairs is not None:
            agree &= (self.pairs[i] != self.pairs[j]).all(axis=1)
        return float(agree.mean())

    def keep_by_normals(self, invariant: DistanceAndNormals, edges: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return the edges whose normals agree too."""
        kept = [np.empty((0, 2), dtype=np.int64)]
        for start in range(0, len(edges), PAIRS_AT_ONCE):
            chunk = edges[start : start + PAIRS_AT_ONCE]
            sides = self.side(chunk[:, 0]), self.side(chunk[:, 1])
            kept.append(chunk[invariant.angle_residuals(self.source, self.target, *sides) < 1.0])
        return np.concatenate(kept)

    def consistent_pairs(self) -> Iterator[npt.NDArray[np.int64]]:
        """Ask the invariant about all pairs, some rows at a time."""
        numbers = np.arange(self.count, dtype=np.int64)
        for first in range(0, self.count, rows := max(1, PAIRS_AT_ONCE // max(1, self.count))):
            i, j = (grid.ravel() for grid in np.meshgrid(numbers[first : first + rows], numbers, indexing="ij"))
            above = j > i
            if self.one_to_one and self.pairs is not None:
                above &= (self.pairs[i] != self.pairs[j]).all(axis=1)
            i, j = i[above], j[above]
            if not i.size:
                continue
            i.flags.writeable = j.flags.writeable = False  # a function of the caller's will see them
            agree = self.residuals(i, j) < 1.0
            yield np.column_stack((i[agree], j[agree]))
