"""Simulated data with known truth: deterministic by seed, no download."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .graph import Graph
from .validation import as_integer, as_number

__all__ = ["RegistrationGraph", "join_by_distance", "rabbit_surface", "registration_graph"]


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
    associations = as_integer("associations", associations, 0, 20_000)
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

    return RegistrationGraph(join_by_distance(source, target, epsilon), inliers)


def join_by_distance(source: npt.NDArray[np.float64], target: npt.NDArray[np.float64], epsilon: float) -> Graph:
    """Join the associations of row i with row i that agree: ``| ‖a_i - a_j‖ - ‖b_i - b_j‖ | < epsilon``."""
    rows = [np.empty((0, 2), dtype=np.int64)]
    for i in range(len(source) - 1):
        gap = np.linalg.norm(source[i + 1 :] - source[i], axis=1) - np.linalg.norm(target[i + 1 :] - target[i], axis=1)
        agreeing = np.flatnonzero(np.abs(gap) < epsilon) + i + 1
        rows.append(np.column_stack((np.full(agreeing.size, i), agreeing)))
    return Graph.from_edges(len(source), np.concatenate(rows))


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
