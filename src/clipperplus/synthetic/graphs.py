"""Consistency graphs of simulated registration problems, with known inliers."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .._validation import as_integer, as_number
from ..consistency import consistency_graph
from ..graphs import Graph

__all__ = ["RegistrationGraph", "registration_graph"]


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
