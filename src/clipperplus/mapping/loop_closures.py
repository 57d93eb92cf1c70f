"""Which loop closures to believe: the largest set that agrees with the odometry and with each other.

J. G. Mangelson, D. Dominic, R. M. Eustice and R. Vasudevan, "Pairwise consistent measurement set maximization for
robust multi-robot map merging", ICRA 2018.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .._validation import as_array, as_integer, as_number
from ..clique import CliqueResult, check_limit, find_clique
from ..consistency import as_associations, consistency_graph
from ..errors import LandmarkError, OptionError
from ..geometry.poses import Poses, as_poses
from ..graphs import Graph
from ..invariants import Odometry, Pairs, RelativePoses
from ..invariants.odometry import agree_alone, as_trajectory
from ..invariants.relative_poses import as_covariances, cycle_residuals
from ._chance import WIDEST, narrowed

__all__ = ["LoopClosureSet", "LoopClosures", "consistent_loop_closures"]


@dataclass(frozen=True, eq=False)
class LoopClosureSet:
    """Loop closures that agree with each other; no larger set does, or none is known."""

    inliers: npt.NDArray[np.int64]
    """Their numbers, sorted. Of several largest sets, the one that is complete first, unless time ran out."""
    graph: Graph
    """Which loop closures agree, pair by pair."""
    upper_bound: int
    """Proven: no more of them agree with each other."""
    deviations: float | None = None
    """The bound on Mahalanobis distances that they were compared with; None: on rotation and translation."""

    @property
    def optimal(self) -> bool:
        """Whether it is proven that no larger set agrees."""
        return len(self.inliers) == self.upper_bound


def consistent_loop_closures(
    trajectory_a: npt.ArrayLike | Odometry,
    trajectory_b: npt.ArrayLike | Odometry,
    loops: npt.ArrayLike,
    measurements: npt.ArrayLike,
    *,
    rotation: float = math.radians(5.0),
    translation: float = 0.5,
    covariances: npt.ArrayLike | None = None,
    deviations: float | None = 4.1,
    time_limit: float | None = None,
    threads: int = 1,
    seed: int = 0,
) -> LoopClosureSet:
    """Find the largest set of loop closures that are pairwise consistent, proven.

    Parameters
    ----------
    trajectory_a, trajectory_b
        ``(k, 4, 4)`` poses from odometry, each in a frame of its own; for one robot, the same twice. Poses count as
        exact: where the way between two loop closures is long, give :class:`clipperplus.invariants.Odometry`, whose
        errors grow with it. Of one robot, give one object twice: then loop closures must agree with it alone, too.
    loops
        ``(m, 2)``: which pose of a and which of b a loop closure connects.
    measurements
        ``(m, 4, 4)``: the pose of b as seen from that of a.
    rotation, translation
        By how much the cycle of two loop closures and the odometry between them may turn (radians) and move (metres).
    covariances, deviations
        Of the measurements, ``(6, 6)`` or ``(m, 6, 6)``, and a bound on the Mahalanobis distance of the cycle, which
        then takes the place of the other two. See :class:`clipperplus.invariants.RelativePoses`. Where covariances are
        too large, or the odometry is too vague, wrong loop closures agree as well as right ones. None: the bound is 5,
        or as much less as it takes that loop closures which are made up, and wrong, find no agreement: of 400 no more
        than four agree with 95 % of those believed. Where it is far below 4.1, covariances are likely too large.
    time_limit
        Seconds for all searches together, after which the best set so far is returned; None or infinity for no limit.
        Finding out which loop closures agree is always completed.
    threads
        Threads to use. The result does not depend on it.
    seed
        Of the loop closures that are made up.

    """
    invariant = RelativePoses(
        measurements,
        rotation=rotation,
        covariances=covariances,
        deviations=WIDEST if deviations is None else deviations,
    )
    trajectories = as_trajectory("trajectory_a", trajectory_a), as_trajectory("trajectory_b", trajectory_b)
    pairs = as_associations("loops", loops, trajectories)
    count = len(np.asarray(invariant.measurements))
    if len(pairs) != count:
        raise LandmarkError(f"measurements: expected one per loop closure, {len(pairs)}, got {count}")
    bound = as_number("translation", translation, 0.0, math.inf, open_interval=True)
    search = _Search(time_limit, threads)
    if deviations is None:
        if covariances is None:
            raise OptionError("deviations: expected a number, because there are no covariances")
        random = np.random.default_rng(as_integer("seed", seed, 0, 2**63))
        invariant = narrowed(invariant, trajectories, pairs, random, lambda graph: search.largest(graph).vertices)
    graph = consistency_graph(*trajectories, pairs, epsilon=bound, invariant=invariant, one_to_one=False)
    ends = Pairs(pairs[:, 0], pairs[:, 1], np.arange(count))
    spread = None if covariances is None else np.asarray(invariant.covariances)
    possible = np.flatnonzero(
        agree_alone(*trajectories, np.asarray(invariant.measurements), spread, ends, invariant.deviations)
    )
    inliers, upper_bound = search.first_largest(graph if len(possible) == count else graph.subgraph(possible))
    return LoopClosureSet(possible[inliers], graph, upper_bound, None if covariances is None else invariant.deviations)


class _Search:
    """Searches for largest sets that share one time limit."""

    def __init__(self, time_limit: float | None, threads: int) -> None:
        limit = check_limit("exact", time_limit)
        self._end = None if limit is None else time.perf_counter() + limit
        self._threads = as_integer("threads", threads, 1, 1024)

    def largest(self, graph: Graph) -> CliqueResult:
        """Search for a largest clique in the time that is left."""
        left = None if self._end is None else max(0.0, self._end - time.perf_counter())
        return find_clique(graph, method="exact", time_limit=left, threads=self._threads)

    def largest_with(self, graph: Graph, number: int) -> tuple[npt.NDArray[np.int64], int]:
        """Return a largest clique of a vertex and some before it, and what is proven of its size."""
        around = graph.neighbours(number)
        around = around[around < number]
        found = self.largest(graph.subgraph(around))
        return np.append(around[found.vertices], number), int(found.upper_bound) + 1

    def first_largest(self, graph: Graph) -> tuple[npt.NDArray[np.int64], int]:
        """Return the largest clique that is complete first, and what is proven of its size."""
        found = self.largest(graph)
        best, size = found.vertices, found.size
        if size == 0 or not found.optimal:
            return best, int(found.upper_bound)
        low, high = size, int(best[-1]) + 1  # the smallest number of vertices among which so many are joined
        while low < high:
            middle = (low + high) // 2
            found = self.largest(graph.subgraph(np.arange(middle)))
            if found.size == size:
                best, high = found.vertices, int(found.vertices[-1]) + 1
            elif found.optimal or found.upper_bound < size:
                low = middle + 1
            else:
                return best, size  # out of time
        first = self.largest_with(graph, high - 1)[0]
        return (first if len(first) == size else best), size


class LoopClosures:
    """The same, one loop closure at a time.

    Each costs its consistency with those before it, and a search among the ones that it agrees with. After every step
    ``inliers`` is what :func:`consistent_loop_closures` gives for all loop closures so far.
    """

    def __init__(
        self,
        trajectory_a: npt.ArrayLike | Odometry = (),
        trajectory_b: npt.ArrayLike | Odometry = (),
        *,
        rotation: float = math.radians(5.0),
        translation: float = 0.5,
        covariance: npt.ArrayLike | None = None,
        deviations: float = 4.1,
        time_limit: float | None = None,
        threads: int = 1,
    ) -> None:
        """Begin without loop closures.

        Settings are those of :func:`consistent_loop_closures`; ``covariance`` is that of every loop closure which comes
        without one of its own, ``time_limit`` is for each step.
        """
        self._trajectories = as_trajectory("trajectory_a", trajectory_a), as_trajectory("trajectory_b", trajectory_b)
        self._translation = as_number("translation", translation, 0.0, math.inf, open_interval=True)
        self._covariance = None if covariance is None else as_covariances("covariance", covariance, 1)
        checked = RelativePoses(np.empty((0, 4, 4)), rotation=rotation, deviations=deviations)
        self._bound = checked.rotation if covariance is None else checked.deviations
        self._limits = time_limit, threads
        _Search(*self._limits)  # so that wrong ones are refused here
        self._loops = np.empty((0, 2), dtype=np.int64)
        self._measurements, self._covariances = np.empty((0, 4, 4)), np.empty((0, 6, 6))
        self._agree = np.zeros((64, 64), dtype=np.bool_)  # written to in place
        self._inliers: npt.NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self._upper_bound = 0

    def __getstate__(self) -> dict[str, Any]:
        """Return what a copy has of its own: both may go on from here."""
        return self.__dict__ | {"_agree": self._agree.copy()}

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

    @property
    def upper_bound(self) -> int:
        """Proven: no more loop closures agree with each other."""
        return self._upper_bound

    @property
    def optimal(self) -> bool:
        """Whether it is proven that no larger set agrees; so without a time limit."""
        return len(self._inliers) == self._upper_bound

    def extend(
        self, *, trajectory_a: npt.ArrayLike | Odometry = (), trajectory_b: npt.ArrayLike | Odometry = ()
    ) -> None:
        """Append poses to the trajectories: with errors of their steps where those before have some, and only there."""
        a, b = as_trajectory("trajectory_a", trajectory_a), as_trajectory("trajectory_b", trajectory_b)
        old_a, old_b = self._trajectories
        one_robot = a is b and (old_a is old_b or len(old_a) == len(old_b) == 0)
        longer = _joined("trajectory_a", old_a, a)
        self._trajectories = longer, longer if one_robot else _joined("trajectory_b", old_b, b)

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
        row, possible = self._agreement(loops, measurements, None if spread is None else covariances)
        self._loops, self._measurements, self._covariances = loops, measurements, covariances
        if n == len(self._agree):
            grown = np.zeros((2 * n, 2 * n), dtype=np.bool_)
            grown[:n, :n] = self._agree
            self._agree = grown
        self._agree[n, :n] = self._agree[:n, n] = row
        around = np.flatnonzero(row)
        if possible and len(around) >= len(self._inliers):  # else no larger set is possible
            found = _Search(*self._limits).largest(Graph.from_adjacency(self._agree[np.ix_(around, around)]))
            self._upper_bound = max(self._upper_bound, int(found.upper_bound) + 1)
            if found.size >= len(self._inliers):
                self._inliers = np.append(around[found.vertices], n)
        return self.inliers

    def _agreement(
        self,
        loops: npt.NDArray[np.int64],
        measurements: npt.NDArray[np.float64],
        covariances: npt.NDArray[np.float64] | None,
    ) -> tuple[npt.NDArray[np.bool_], bool]:
        """Return which loop closures agree with the last one, and whether the odometry alone does."""
        n = len(loops) - 1
        first, second = (Pairs(loops[k, 0], loops[k, 1], k) for k in (np.arange(n), np.full(n, n)))
        epsilon = np.full(n, self._translation)
        with np.errstate(all="ignore"):
            residuals = cycle_residuals(
                *self._trajectories, measurements, covariances, first, second, self._bound, epsilon
            )
        last = Pairs(loops[n:, 0], loops[n:, 1], np.array([n]))
        alone = agree_alone(*self._trajectories, measurements, covariances, last, self._bound)
        return np.asarray(residuals < 1.0), bool(alone[0])


def _joined(name: str, before: Poses | Odometry, after: Poses | Odometry) -> Poses | Odometry:
    """Return a trajectory with more poses."""
    if len(after) == 0:
        return before
    if len(before) == 0:
        return after
    if isinstance(before, Odometry) and isinstance(after, Odometry):
        return before.followed_by(after)
    if isinstance(before, Odometry) or isinstance(after, Odometry):
        raise LandmarkError(f"{name}: expected {type(before).__name__}, as before, got {type(after).__name__}")
    return np.concatenate((before, after))
