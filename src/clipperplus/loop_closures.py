"""Which loop closures to believe: the largest set that agrees with the odometry and with each other.

J. G. Mangelson, D. Dominic, R. M. Eustice and R. Vasudevan, "Pairwise consistent measurement set maximization for
robust multi-robot map merging", ICRA 2018.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .clique import find_clique
from .consistency import consistency_graph
from .errors import LandmarkError
from .graph import Graph
from .invariants import Pairs, RelativePoses
from .poses import as_poses
from .validation import as_number

__all__ = ["LoopClosureSet", "LoopClosures", "consistent_loop_closures"]


@dataclass(frozen=True, eq=False)
class LoopClosureSet:
    """Loop closures that agree with each other; no larger set does."""

    inliers: npt.NDArray[np.int64]
    """Their numbers, sorted. Of several largest sets, the one that is complete first."""
    graph: Graph
    """Which loop closures agree, pair by pair."""


def consistent_loop_closures(
    trajectory_a: npt.ArrayLike,
    trajectory_b: npt.ArrayLike,
    loops: npt.ArrayLike,
    measurements: npt.ArrayLike,
    *,
    rotation: float = math.radians(5.0),
    translation: float = 0.5,
    covariances: npt.ArrayLike | None = None,
    deviations: float = 4.1,
) -> LoopClosureSet:
    """Find the largest set of loop closures that are pairwise consistent, proven.

    Parameters
    ----------
    trajectory_a, trajectory_b
        ``(k, 4, 4)`` poses from odometry, each in a frame of its own. For one robot, the same twice.
    loops
        ``(m, 2)``: which pose of a and which of b a loop closure connects.
    measurements
        ``(m, 4, 4)``: the pose of b as seen from that of a.
    rotation, translation
        By how much the cycle of two loop closures and the odometry between them may turn (radians) and move (metres).
    covariances, deviations
        Of the measurements, ``(6, 6)`` or ``(m, 6, 6)``, and a bound on the Mahalanobis distance of the cycle, which
        then takes the place of the other two. See :class:`clipperplus.invariants.RelativePoses`.

    """
    invariant = RelativePoses(measurements, rotation=rotation, covariances=covariances, deviations=deviations)
    measured = np.asarray(invariant.measurements)
    pairs = np.asarray(loops)
    if len(pairs) != len(measured):
        raise LandmarkError(f"measurements: expected one per loop closure, {len(pairs)}, got {len(measured)}")
    graph = consistency_graph(
        trajectory_a,
        trajectory_b,
        pairs if pairs.size else np.empty((0, 2), dtype=np.int64),
        epsilon=as_number("translation", translation, 0.0, math.inf, open_interval=True),
        invariant=invariant,
        one_to_one=False,
    )
    size = find_clique(graph, method="exact").size
    low, high = size, graph.num_vertices  # the smallest number of loop closures among which so many agree
    while low < high:
        middle = (low + high) // 2
        if find_clique(graph.subgraph(np.arange(middle)), method="exact").size < size:
            low = middle + 1
        else:
            high = middle
    return LoopClosureSet(_largest_with_last(graph.adjacency()[:high, :high]), graph)


def _largest_with_last(adjacency: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
    """Return the largest clique that the last vertex belongs to."""
    last = len(adjacency) - 1
    if last < 0:
        return np.empty(0, dtype=np.int64)
    around = np.flatnonzero(adjacency[last])
    neighbourhood = Graph.from_adjacency(adjacency[np.ix_(around, around)])
    return np.append(around[find_clique(neighbourhood, method="exact").vertices], last)


class LoopClosures:
    """The same, one loop closure at a time.

    Each costs its consistency with those before it, and a search among the ones that it agrees with. After every step
    ``inliers`` is what :func:`consistent_loop_closures` gives for all loop closures so far.
    """

    def __init__(
        self,
        trajectory_a: npt.ArrayLike = (),
        trajectory_b: npt.ArrayLike = (),
        *,
        rotation: float = math.radians(5.0),
        translation: float = 0.5,
        covariance: npt.ArrayLike | None = None,
        deviations: float = 4.1,
    ) -> None:
        """Begin without loop closures; settings are those of :func:`consistent_loop_closures`."""
        self._trajectories = [as_poses("trajectory_a", trajectory_a), as_poses("trajectory_b", trajectory_b)]
        self._translation = as_number("translation", translation, 0.0, math.inf, open_interval=True)
        self._settings = {"rotation": rotation, "covariances": covariance, "deviations": deviations}
        RelativePoses(np.empty((0, 4, 4)), **self._settings)  # type: ignore[arg-type]
        self._measurements = np.empty((0, 4, 4))
        self._loops = np.empty((0, 2), dtype=np.int64)
        self._agree = np.zeros((64, 64), dtype=np.bool_)
        self._inliers: npt.NDArray[np.int64] = np.empty(0, dtype=np.int64)

    def __len__(self) -> int:
        """Return the number of loop closures."""
        return len(self._loops)

    @property
    def inliers(self) -> npt.NDArray[np.int64]:
        """Numbers of the loop closures to believe, sorted."""
        return self._inliers.copy()

    @property
    def graph(self) -> Graph:
        """Which loop closures agree, pair by pair."""
        return Graph.from_adjacency(self._agree[: len(self), : len(self)])

    def extend(self, *, trajectory_a: npt.ArrayLike = (), trajectory_b: npt.ArrayLike = ()) -> None:
        """Append poses to the trajectories."""
        new = as_poses("trajectory_a", trajectory_a), as_poses("trajectory_b", trajectory_b)
        self._trajectories = [np.concatenate(parts) for parts in zip(self._trajectories, new, strict=True)]

    def add(self, pose_a: int, pose_b: int, measurement: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """Take a loop closure between two poses that are there; return the numbers of those to believe now."""
        loop = np.array([pose_a, pose_b])
        sizes = [len(trajectory) for trajectory in self._trajectories]
        if loop.dtype.kind not in "iu" or loop.shape != (2,) or (loop < 0).any() or (loop >= sizes).any():
            raise LandmarkError(
                f"pose_a, pose_b: expected numbers below {sizes[0]} and {sizes[1]}, got {loop.tolist()}"
            )
        measured = as_poses("measurement", np.asarray(measurement)[None])
        n = len(self)
        measurements, loops = np.concatenate((self._measurements, measured)), np.concatenate((self._loops, loop[None]))
        invariant = RelativePoses(measurements, **self._settings)  # type: ignore[arg-type]
        earlier, latest = np.arange(n), np.full(n, n)
        first, second = (Pairs(loops[k, 0], loops[k, 1], k) for k in (earlier, latest))
        a, b = self._trajectories
        with np.errstate(all="ignore"):
            row = invariant.residuals(a, b, first, second, np.full(n, self._translation)) < 1.0
        if n == len(self._agree):
            grown = np.zeros((2 * n, 2 * n), dtype=np.bool_)
            grown[:n, :n] = self._agree
            self._agree = grown
        self._agree[n, :n] = self._agree[:n, n] = row
        self._measurements, self._loops = measurements, loops
        if np.count_nonzero(row) >= len(self._inliers):  # else no larger set is possible
            with_it = _largest_with_last(self._agree[: n + 1, : n + 1])
            if len(with_it) > len(self._inliers):
                self._inliers = with_it
        return self.inliers
