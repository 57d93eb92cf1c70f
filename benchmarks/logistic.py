"""The logistic model with the greatest likelihood: what makes right answers more likely than wrong ones."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


def fit(terms: Array, right: Array) -> Array:
    """Return the weights, by Newton's method."""
    weights = np.zeros(terms.shape[1])
    for _ in range(50):
        chance = probability(terms, weights)
        slope = terms.T @ (right - chance) - 1e-3 * weights  # a little regularization keeps it finite
        curvature = (terms * (chance * (1.0 - chance))[:, None]).T @ terms + 1e-3 * np.eye(len(weights))
        step = np.linalg.solve(curvature, slope)
        weights += step
        if np.abs(step).max() < 1e-9:
            break
    return weights


def probability(terms: Array, weights: Array) -> Array:
    """Return the chance of each answer to be right."""
    return np.asarray(1.0 / (1.0 + np.exp(np.clip(-terms @ weights, -700.0, 700.0))))
