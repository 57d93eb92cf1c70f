"""H. Yang, P. Antonante, V. Tzoumas and L. Carlone, "Graduated non-convexity for robust spatial perception", RA-L 2020.

Least squares with weights, which follow from the residuals by a loss that is nearly convex at first and becomes the
robust one step by step: truncated least squares (TLS), or Geman and McClure's (GM).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ._least_squares import least_squares

__all__ = ["gm_weights", "graduate_tls", "solve_gm", "solve_tls", "tls_weights"]

_Array: TypeAlias = npt.NDArray[np.float64]
_Fit: TypeAlias = Callable[[_Array], _Array]
"""Weights in, squared residuals out."""

_STEP = 1.4
"""By which the loss becomes less convex: the paper's Remark 5."""
_MOST_STEPS = 100
_SETTLED = 1e-6
"""Relative change of the cost, below which the paper stops."""


def tls_weights(squares: _Array, mu: float, bound: float) -> _Array:
    """Return equation (14): weights of squared residuals for truncated least squares; mu grows from near 0."""
    between = bound * np.sqrt(mu * (mu + 1.0) / np.maximum(squares, 1e-300)) - mu
    low, high = mu / (mu + 1.0) * bound**2, (mu + 1.0) / mu * bound**2
    return np.where(squares >= high, 0.0, np.where(squares <= low, 1.0, between))


def gm_weights(squares: _Array, mu: float, bound: float) -> _Array:
    """Return equation (12): weights of squared residuals for Geman and McClure's loss; mu falls to 1."""
    return np.asarray((mu * bound**2 / (squares + mu * bound**2)) ** 2)


def graduate_tls(fit: _Fit, count: int, bound: float) -> _Array:
    """Return the weights of ``count`` measurements that graduated truncated least squares ends with."""
    weights = np.ones(count)
    squares = fit(weights)
    largest = float(squares.max(initial=0.0))
    if 2.0 * largest <= bound**2:
        return weights  # the loss is that of least squares already
    mu, last = bound**2 / (2.0 * largest - bound**2), np.inf
    for _ in range(_MOST_STEPS):
        weights = tls_weights(squares, mu, bound)
        if np.count_nonzero(weights) < 3:
            break
        squares = fit(weights)
        cost = float(weights @ squares)
        if abs(last - cost) <= _SETTLED * last and np.isin(weights, (0.0, 1.0)).all():
            break
        mu, last = _STEP * mu, cost
    return weights


def graduate_gm(fit: _Fit, count: int, bound: float) -> _Array:
    """Return the weights that the graduated loss of Geman and McClure ends with."""
    weights = np.ones(count)
    squares = fit(weights)
    mu = max(1.0, 2.0 * float(squares.max(initial=0.0)) / bound**2)
    for _ in range(_MOST_STEPS):
        weights = gm_weights(squares, mu, bound)
        squares = fit(weights)
        if mu <= 1.0:
            break
        mu = max(1.0, mu / _STEP)
    return weights


def solve_tls(source: _Array, target: _Array, epsilon: float) -> _Array | None:
    """Return the motion by truncated least squares."""
    return _solve(source, target, epsilon, graduate_tls)


def solve_gm(source: _Array, target: _Array, epsilon: float) -> _Array | None:
    """Return the motion by the loss of Geman and McClure."""
    return _solve(source, target, epsilon, graduate_gm)


def _solve(
    source: _Array, target: _Array, epsilon: float, graduate: Callable[[_Fit, int, float], _Array]
) -> _Array | None:
    if len(source) < 3:
        return None

    def fit(weights: _Array) -> _Array:
        motion = least_squares(source, target, weights)
        return np.asarray(((source @ motion[:3, :3].T + motion[:3, 3] - target) ** 2).sum(axis=1))

    weights = graduate(fit, len(source), epsilon)
    return least_squares(source, target, weights) if np.count_nonzero(weights) >= 3 else None
