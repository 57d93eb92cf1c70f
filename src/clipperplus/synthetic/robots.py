"""Two robots with loop closures between them, right ones and wrong ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .._validation import as_integer, as_number
from ..geometry.poses import inverse

__all__ = ["TwoRobots", "two_robots"]


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
    """The same of the second one."""
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
