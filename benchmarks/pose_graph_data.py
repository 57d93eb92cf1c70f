"""Pose graphs with wrong loop closures: published ones with injected ones, and a real run with its own."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import gtsam
import numpy as np
import numpy.typing as npt
from pose_graph_gtsam import factors_of, optimised, poses_of

from clipperplus.geometry.poses import Poses, inverse, logarithm, rotation_angles
from clipperplus.invariants import Odometry
from clipperplus.io.pose_graphs import PoseGraph, read_g2o

Array = npt.NDArray[np.float64]

REAL = "bicocca_closures_0.100"
RIGHT_METRES, RIGHT_RADIANS = 1.5, 0.3
"""By how much a loop closure of the real run may differ from its truth, which is matched by arc length, to be right."""
DRAWN = 150
"""Right loop closures of the published graphs that are drawn: with thousands, and wrong ones, GTSAM takes hours."""
ROW = 10
"""Every eleventh time, wrong ones come in rows of so many that agree with each other, as places that look alike do."""


@dataclass(frozen=True, eq=False)
class Problem:
    """One robot: its odometry, loop closures, and where it was."""

    name: str
    dimension: int
    odometry: Odometry
    steps: Poses
    """``(k - 1, 4, 4)``: its motions from pose to pose."""
    loops: npt.NDArray[np.int64]
    measurements: Poses
    covariances: Array
    right: npt.NDArray[np.bool_]
    """Which loop closures are right."""
    truth: Poses

    @property
    def typical_error(self) -> float:
        """Median of the Mahalanobis distances of right loop closures from the truth."""
        a, b = self.loops[self.right].T
        errors = logarithm(inverse(self.measurements[self.right]) @ inverse(self.truth[a]) @ self.truth[b])[..., None]
        squares = (errors * np.linalg.solve(self.covariances[self.right], errors)).sum(axis=(1, 2))
        return float(np.sqrt(np.median(squares)))


def real_problem(data: Path) -> Problem:
    """Return the real run, whose truth says which of its loop closures are right."""
    graph = _read(data, REAL)
    steps, rest = _split(graph)
    driven = _driven(graph.measurements[steps])
    truth = along(driven, _read(data, "bicocca_gps").poses)
    loops = graph.edges[rest]
    error = inverse(graph.measurements[rest]) @ inverse(truth[loops[:, 0]]) @ truth[loops[:, 1]]
    right = (np.linalg.norm(error[:, :3, 3], axis=1) < RIGHT_METRES) & (rotation_angles(error) < RIGHT_RADIANS)
    return _problem(REAL, graph, steps, loops, graph.measurements[rest], _covariances(graph)[rest], right, truth)


def injected_problem(data: Path, name: str, share: float, seed: int) -> Problem:
    """Return a published graph, thinned out, with wrong loop closures as a share of all."""
    graph = _read(data, name)
    steps, rest = _split(graph)
    truth = _optimum(graph)
    random = np.random.default_rng(seed)
    rest = np.sort(random.permutation(rest)[:DRAWN])
    loops, measured, covariances = graph.edges[rest], graph.measurements[rest], _covariances(graph)[rest]
    errors = inverse(inverse(truth[loops[:, 0]]) @ truth[loops[:, 1]]) @ measured
    count, wrong = len(truth), round(share / (1.0 - share) * len(rest))
    ends: list[tuple[int, int]] = []
    motions: list[Array] = []
    while len(ends) < wrong:
        i, j = random.integers(count, size=2).tolist()
        seen = measured[random.integers(len(rest))]
        row = min(ROW if random.random() < 1.0 / 11.0 else 1, wrong - len(ends), count - max(i, j))
        if abs(i - j) < 50:
            continue
        for k in range(row):  # what is seen at the first moves as the robot does
            error = errors[random.integers(len(rest))]
            there = inverse(truth[i + k][None])[0] @ truth[i] @ seen @ inverse(truth[j][None])[0] @ truth[j + k]
            ends.append((i + k, j + k))
            motions.append(there @ error)
    return _problem(
        name,
        graph,
        steps,
        np.concatenate((loops, np.array(ends, dtype=np.int64).reshape(-1, 2))),
        np.concatenate((measured, np.array(motions).reshape(-1, 4, 4))),
        np.concatenate((covariances, covariances[random.integers(len(rest), size=wrong)])),
        np.arange(len(rest) + wrong) < len(rest),
        truth,
    )


def along(driven: Poses, known: Poses) -> Poses:
    """Return known poses for those of odometry, by how far the robot has driven and how it turned there.

    The files have no times. Both drove the same way, so headings turn at the same places; lengths differ by some
    percent. The difference of the two arc lengths that makes turns agree best, and changes slowly, comes from dynamic
    programming.
    """
    grid, around, change = 0.1, 1.0, 0.02  # metres; metres; cost of a change of the difference by one cell
    arc, turned = _arc_and_heading(driven)
    known_arc, known_turned = _arc_and_heading(known)
    places, known_places = np.arange(0.0, arc[-1], grid), np.arange(0.0, known_arc[-1], grid)

    def turns(at: Array, arcs: Array, headings: Array) -> Array:
        return np.interp(at + around, arcs, headings) - np.interp(at - around, arcs, headings)

    here, there = turns(places, arc, turned), turns(known_places, known_arc, known_turned)
    differences = np.arange(round(-10.0 / grid), round(40.0 / grid))
    at = np.arange(len(places))[:, None] + differences
    outside = (at < 0) | (at >= len(there))
    costs = np.minimum((here[:, None] - there[np.clip(at, 0, len(there) - 1)]) ** 2, 1.0)
    costs[outside] = 5.0
    best = np.where(np.abs(differences) * grid < 1.0, costs[0], np.inf)  # both begin at the same place
    came_from = np.zeros(costs.shape, dtype=np.int64)
    for row in range(1, len(places)):
        options = np.stack((best, np.append(np.inf, best[:-1]) + change, np.append(best[1:], np.inf) + change))
        came_from[row] = np.array([0, -1, 1])[options.argmin(axis=0)]
        best = options.min(axis=0) + costs[row]
    path = np.empty(len(places), dtype=np.int64)
    cell = int(best.argmin())
    for row in range(len(places) - 1, -1, -1):
        path[row] = cell
        cell += came_from[row, cell]
    smooth = np.convolve(np.pad(differences[path] * grid, 25, mode="edge"), np.full(51, 1.0 / 51.0), "valid")
    wanted = np.interp(arc, places, places + smooth)
    x, y, heading = (np.interp(wanted, known_arc, part) for part in (known[:, 0, 3], known[:, 1, 3], known_turned))
    poses = np.tile(np.eye(4), (len(driven), 1, 1))
    poses[:, 0, 0], poses[:, 0, 1], poses[:, 1, 0], poses[:, 1, 1] = _rotations(heading)
    poses[:, 0, 3], poses[:, 1, 3] = x, y
    return poses


def _rotations(angles: Array) -> tuple[Array, Array, Array, Array]:
    return np.cos(angles), -np.sin(angles), np.sin(angles), np.cos(angles)


def _arc_and_heading(poses: Poses) -> tuple[Array, Array]:
    lengths = np.linalg.norm(np.diff(poses[:, :3, 3], axis=0), axis=1)
    standing = 1e-9 * np.arange(len(poses))  # so that arc lengths grow
    return np.append(0.0, np.cumsum(lengths)) + standing, np.unwrap(np.arctan2(poses[:, 1, 0], poses[:, 0, 0]))


def _read(data: Path, name: str) -> PoseGraph:
    path = data / "posegraphs" / f"{name}.g2o.gz"
    if not path.exists():
        sys.exit(f"no pose graph {path}: pass --data DIR (see benchmarks/README.md)")
    return read_g2o(path)


def _split(graph: PoseGraph) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the edges of odometry, one from each pose to the next, and all others."""
    following = np.flatnonzero(graph.edges[:, 1] - graph.edges[:, 0] == 1)
    poses, first = np.unique(graph.edges[following, 0], return_index=True)
    if len(poses) != len(graph.poses) - 1:
        sys.exit("a pose graph without odometry from each pose to the next")
    steps = following[first]
    return steps, np.setdiff1d(np.arange(len(graph.edges)), steps)


def _covariances(graph: PoseGraph) -> Array:
    return np.asarray(graph.covariances)


def _driven(steps: Poses) -> Poses:
    poses = [np.eye(4)]
    for step in steps:
        poses.append(poses[-1] @ step)
    return np.array(poses)


def _optimum(graph: PoseGraph) -> Poses:
    """Return the poses that all edges of a published graph agree on best."""
    factors, start = factors_of(graph.dimension, graph.poses, graph.edges, graph.measurements, _covariances(graph))
    if graph.dimension == 3:
        start = gtsam.InitializePose3.initialize(factors)
    return poses_of(optimised(factors, start), graph.dimension)


def _problem(
    name: str,
    graph: PoseGraph,
    steps: npt.NDArray[np.int64],
    loops: npt.NDArray[np.int64],
    measurements: Poses,
    covariances: Array,
    right: npt.NDArray[np.bool_],
    truth: Poses,
) -> Problem:
    motions, spreads = graph.measurements[steps], _covariances(graph)[steps]
    odometry = Odometry(_driven(motions), np.concatenate((np.zeros((1, 6, 6)), spreads)))
    return Problem(name, graph.dimension, odometry, motions, loops, measurements, covariances, right, truth)
