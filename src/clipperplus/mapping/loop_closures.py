"""Which loop closures to believe: the largest set that agrees with the odometry and with each other.

J. G. Mangelson, D. Dominic, R. M. Eustice and R. Vasudevan, "Pairwise consistent measurement set maximization for
robust multi-robot map merging", ICRA 2018.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .._validation import as_array, as_integer, as_number
from ..clique import find_clique
from ..consistency import as_associations, consistency_graph
from ..errors import LandmarkError, OptionError
from ..geometry.poses import as_poses
from ..graphs import Graph
from ..invariants import Pairs, RelativePoses
from ..invariants.relative_poses import as_covariances, cycle_residuals

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
    trajectories = as_poses("trajectory_a", trajectory_a), as_poses("trajectory_b", trajectory_b)
    pairs = as_associations("loops", loops, trajectories)
    count = len(np.asarray(invariant.measurements))
    if len(pairs) != count:
        raise LandmarkError(f"measurements: expected one per loop closure, {len(pairs)}, got {count}")
    bound = as_number("translation", translation, 0.0, math.inf, open_interval=True)
    graph = consistency_graph(*trajectories, pairs, epsilon=bound, invariant=invariant, one_to_one=False)
    size = find_clique(graph, method="exact").size
    low, high = size, graph.num_vertices  # the smallest number of loop closures among which so many agree
    while low < high:
        middle = (low + high) // 2
        if find_clique(graph.subgraph(np.arange(middle)), method="exact").size < size:
            low = middle + 1
        else:
            high = middle
    if size == 0:
        return LoopClosureSet(np.empty(0, dtype=np.int64), graph)
    around = graph.neighbours(high - 1)
    around = around[around < high - 1]
    return LoopClosureSet(_largest_with(high - 1, around, graph.subgraph(around)), graph)


def _largest_with(number: int, around: npt.NDArray[np.int64], neighbourhood: Graph) -> npt.NDArray[np.int64]:
    """Return the largest clique that a vertex belongs to, given those before it that it is joined to."""
    return np.append(around[find_clique(neighbourhood, method="exact").vertices], number)


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
        """Begin without loop closures.

        Settings are those of :func:`consistent_loop_closures`; ``covariance`` is that of every loop closure which comes
        without one of its own.
        """
        self._trajectories = as_poses("trajectory_a", trajectory_a), as_poses("trajectory_b", trajectory_b)
        self._translation = as_number("translation", translation, 0.0, math.inf, open_interval=True)
        self._covariance = None if covariance is None else as_covariances("covariance", covariance, 1)
        checked = RelativePoses(np.empty((0, 4, 4)), rotation=rotation, deviations=deviations)
        self._bound = checked.rotation if covariance is None else checked.deviations
        self._loops = np.empty((0, 2), dtype=np.int64)
        self._measurements, self._covariances = np.empty((0, 4, 4)), np.empty((0, 6, 6))
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
        a, b = (np.concatenate(parts) for parts in zip(self._trajectories, new, strict=True))
        self._trajectories = a, b

    def add(
        self, pose_a: int, pose_b: int, measurement: npt.ArrayLike, *, covariance: npt.ArrayLike | None = None
    ) -> npt.NDArray[np.int64]:
        """Take a loop closure between two poses that are there; return the numbers of those to believe now."""
        a, b = self._trajectories
        loop = as_integer("pose_a", pose_a, 0, len(a) - 1), as_integer("pose_b", pose_b, 0, len(b) - 1)
        measured = as_poses("measurement", as_array("measurement", measurement, LandmarkError)[None])
        spread = self._covariance
        if covariance is not None:
            if spread is None:
                raise OptionError("covariance: expected None, because LoopClosures was made without a covariance")
            spread = as_covariances("covariance", covariance, 1)
        n = len(self)
        loops, measurements = np.concatenate((self._loops, [loop])), np.concatenate((self._measurements, measured))
        covariances = self._covariances if spread is None else np.concatenate((self._covariances, spread))
        row = self._agreement(loops, measurements, None if spread is None else covariances)
        self._loops, self._measurements, self._covariances = loops, measurements, covariances
        if n == len(self._agree):
            grown = np.zeros((2 * n, 2 * n), dtype=np.bool_)
            grown[:n, :n] = self._agree
            self._agree = grown
        self._agree[n, :n] = self._agree[:n, n] = row
        around = np.flatnonzero(row)
        if len(around) >= len(self._inliers):  # else no larger set is possible
            with_it = _largest_with(n, around, Graph.from_adjacency(self._agree[np.ix_(around, around)]))
            if len(with_it) > len(self._inliers):
                self._inliers = with_it
        return self.inliers

    def _agreement(
        self,
        loops: npt.NDArray[np.int64],
        measurements: npt.NDArray[np.float64],
        covariances: npt.NDArray[np.float64] | None,
    ) -> npt.NDArray[np.bool_]:
        """Return which loop closures agree with the last one."""
        n = len(loops) - 1
        first, second = (Pairs(loops[k, 0], loops[k, 1], k) for k in (np.arange(n), np.full(n, n)))
        epsilon = np.full(n, self._translation)
        with np.errstate(all="ignore"):
            residuals = cycle_residuals(
                *self._trajectories, measurements, covariances, first, second, self._bound, epsilon
            )
        return np.asarray(residuals < 1.0)
