"""Simulated data with known truth: deterministic by seed, no download."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .consistency import consistency_graph
from .graph import Graph
from .poses import inverse
from .validation import as_integer, as_number

__all__ = ["RegistrationGraph", "TwoRobots", "rabbit_surface", "registration_graph", "two_robots"]


@dataclass(frozen=True, eq=False)
class RegistrationGraph:
    """The consistency graph of a simulated registration problem."""

    graph: Graph
    """One vertex per association; an edge where two associations agree."""
    inliers: npt.NDArray[np.int64]
    """The correct associations. They form a clique."""


def registration_graph(
    associations: int = 1000, *, outlier_ratio: float = 0.95, epsilon: float = 0.05, seed: int = 0
) -> RegistrationGraph:
    """Simulate matched points of two scans of a room and join the associations that agree in distance.

    Points lie in a room of 6 × 5 × 2.5 m. An inlier is seen in both scans with an error below ``epsilon / 4`` metres,
    so that inliers always agree; an outlier matches two unrelated points. The graph is what
    ``| ‖a_i - a_j‖ - ‖b_i - b_j‖ | < epsilon`` gives.
    """
    associations = as_integer("associations", associations, 0, 1_000_000)
    outlier_ratio = as_number("outlier_ratio", outlier_ratio, 0.0, 1.0)
    epsilon = as_number("epsilon", epsilon, 0.0, math.inf, open_interval=True)
    random = np.random.default_rng(as_integer("seed", seed, 0, 2**63))
    room = np.array([6.0, 5.0, 2.5])
    source = random.uniform(size=(associations, 3)) * room
    target = random.uniform(size=(associations, 3)) * room
    inliers = np.sort(random.permutation(associations)[: round(associations * (1.0 - outlier_ratio))])
    noise = random.normal(size=(inliers.size, 3))
    noise *= (epsilon / 4 * random.uniform(size=inliers.size) / np.linalg.norm(noise, axis=1))[:, None]
    target[inliers] = source[inliers] + noise  # the motion between the scans does not change any distance

    return RegistrationGraph(consistency_graph(source, target, epsilon=epsilon), inliers)


# Body, head, two ears and a tail: centre and half axes, in metres. All of them touch another one.
_RABBIT = np.array(
    [
        [[0.000, 0.000, 0.000], [0.062, 0.045, 0.050]],
        [[0.055, 0.000, 0.050], [0.034, 0.028, 0.030]],
        [[0.050, 0.014, 0.100], [0.009, 0.006, 0.034]],
        [[0.050, -0.014, 0.100], [0.009, 0.006, 0.034]],
        [[-0.064, 0.000, 0.004], [0.014, 0.014, 0.014]],
    ]
)


def rabbit_surface(points: int = 1000, *, seed: int = 0) -> npt.NDArray[np.float64]:
    """Points spread evenly, by area, over the surface of a rabbit made of ellipsoids; it fits into a 0.2 m cube."""
    points = as_integer("points", points, 0, 10_000_000)
    random = np.random.default_rng(as_integer("seed", seed, 0, 2**63))
    centres, axes = _RABBIT[:, 0], _RABBIT[:, 1]
    # Of the map from the unit sphere to an ellipsoid: the largest factor by which it stretches an area.
    stretch = axes.prod(axis=1) / axes.min(axis=1)
    kept = np.empty((0, 3))
    while len(kept) < points:
        count = 4 * points + 64
        part = random.choice(len(axes), size=count, p=stretch / stretch.sum())
        sphere = random.normal(size=(count, 3))
        sphere /= np.linalg.norm(sphere, axis=1)[:, None]
        factor = np.linalg.norm(sphere / axes[part], axis=1) * axes.min(axis=1)[part]
        candidates = centres[part] + sphere * axes[part]
        inside = (((candidates[:, None] - centres) / axes) ** 2).sum(axis=2) < 1.0 - 1e-9  # of any of the parts
        kept = np.concatenate((kept, candidates[(random.uniform(size=count) < factor) & ~inside.any(axis=1)]))
    return kept[:points]


@dataclass(frozen=True, eq=False)
class TwoRobots:
    """Two robots that drive through one place, with odometry that drifts, and loop closures between them."""

    trajectory_a: npt.NDArray[np.float64]
    """``(k, 4, 4)`` poses of the first robot from its odometry, in a frame of its own."""
    trajectory_b: npt.NDArray[np.float64]
    """The same of the second one."""
    truth_a: npt.NDArray[np.float64]
    """Where the robots really were, in a common frame."""
    truth_b: npt.NDArray[np.float64]
    loops: npt.NDArray[np.int64]
    """``(m, 2)``: pose of the first robot, pose of the second."""
    measurements: npt.NDArray[np.float64]
    """``(m, 4, 4)``: the second pose as seen from the first; wrong ones are anything."""
    inliers: npt.NDArray[np.int64]
    """The loop closures that are right."""


def two_robots(poses: int = 100, loops: int = 60, *, outlier_ratio: float = 0.7, seed: int = 0) -> TwoRobots:
    """Simulate two robots that drive through a hall of 20 m; odometry has errors of 0.05° and 3 mm a step.

    A right loop closure has an error of 0.3° and 2 cm; a wrong one is a random pose, or, as perceptual aliasing makes
    them, one of three places that look alike.
    """
    poses = as_integer("poses", poses, 2, 100_000)
    loops = as_integer("loops", loops, 0, 1_000_000)
    outlier_ratio = as_number("outlier_ratio", outlier_ratio, 0.0, 1.0)
    random = np.random.default_rng(as_integer("seed", seed, 0, 2**63))
    angle = np.linspace(0.0, 2.0 * np.pi, poses)
    truths = []
    for radius, phase in ((8.0, 0.0), (6.0, 2.0)):
        x, y = radius * np.cos(angle + phase), 0.6 * radius * np.sin(2.0 * (angle + phase))
        heading = np.arctan2(np.gradient(y), np.gradient(x))
        turn = np.stack((np.zeros(poses), np.zeros(poses), heading), axis=1)
        truths.append(_motions(turn, np.stack((x, y, np.zeros(poses)), axis=1)))
    odometry = []
    for truth in truths:
        steps = inverse(truth[:-1]) @ truth[1:] @ _noise(random, poses - 1, np.radians(0.05), 0.003)
        driven = [np.eye(4)]
        for step in steps:
            driven.append(driven[-1] @ step)
        odometry.append(np.array(driven))

    ends = random.integers(poses, size=(loops, 2))
    measured = inverse(truths[0][ends[:, 0]]) @ truths[1][ends[:, 1]] @ _noise(random, loops, np.radians(0.3), 0.02)
    wrong = random.permutation(loops)[: round(loops * outlier_ratio)]
    alike = _noise(random, 3, 1.0, 5.0)[random.integers(3, size=wrong.size)]
    anything = _noise(random, wrong.size, 1.0, 5.0)
    measured[wrong] = np.where((random.random(wrong.size) < 0.3)[:, None, None], alike, anything)
    inliers = np.setdiff1d(np.arange(loops), wrong)
    return TwoRobots(odometry[0], odometry[1], truths[0], truths[1], ends, measured, inliers)


def _noise(random: np.random.Generator, count: int, angle: float, length: float) -> npt.NDArray[np.float64]:
    return _motions(random.normal(0.0, angle, (count, 3)), random.normal(0.0, length, (count, 3)))


def _motions(turns: npt.NDArray[np.float64], moves: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return rigid motions from rotation vectors and translations (Rodrigues' formula)."""
    angles = np.linalg.norm(turns, axis=1)
    axes = turns / np.where(angles > 0.0, angles, 1.0)[:, None]
    x, y, z = axes.T
    zero = np.zeros_like(x)
    cross = np.stack((zero, -z, y, z, zero, -x, -y, x, zero), axis=1).reshape(-1, 3, 3)
    result = np.zeros((len(turns), 4, 4))
    result[:, :3, :3] = np.eye(3) + np.sin(angles)[:, None, None] * cross
    result[:, :3, :3] += (1.0 - np.cos(angles))[:, None, None] * (cross @ cross)
    result[:, :3, 3] = moves
    result[:, 3, 3] = 1.0
    return result
