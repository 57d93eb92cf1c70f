"""A transform to all associations that it explains, not only to those of the clique that it comes from.

The associations of a clique are chosen because they agree, so their errors are alike: their fit is off by what they
have in common. Others near it know better. Weights of Geman and McClure, 1 / (1 + r²)², iterated from the clique's fit,
where r is the residual by epsilon; see Zhang, "Parameter estimation techniques", IVC 1997.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..geometry.motions import RIGID, Motion
from .verification import residuals_of

__all__ = ["LARGEST", "explained", "refit", "robust_weights", "slopes"]

_Array = npt.NDArray[np.float64]

LARGEST = 3.0
"""Times epsilon: residuals from here on count for nothing. Right matches of real scans miss by about one epsilon."""
_ITERATIONS = 10
_SETTLED = 1e-4
"""Change of a weight: below it, the transform moves no more."""
_LOOKED_AT = 10.0
"""Times epsilon: associations that the first fit misses by more are not looked at."""


def robust_weights(relative: _Array) -> _Array:
    """Return how much residuals count, relative to epsilon: 1 for none, a quarter at epsilon, 0 from three on."""
    near = np.minimum(relative, LARGEST)
    return np.where(relative < LARGEST, 1.0 / (1.0 + near**2) ** 2, 0.0)


def slopes(relative: _Array) -> _Array:
    """Return by how much the pull of a residual, weight times residual, grows with it, on average over directions."""
    squares = relative**2
    return np.asarray(robust_weights(relative) * (1.0 - 4.0 / 3.0 * squares / (1.0 + squares)))


def refit(matched: tuple[_Array, _Array], start: _Array, epsilon: _Array, model: Motion = RIGID) -> _Array:
    """Return the transform of all associations around the given one, which stays if it explains more of them.

    ``epsilon`` has the bound of every association: that of a pair of such.
    """
    relative = _relative(start, matched, epsilon)
    near = relative < _LOOKED_AT
    source, target, bounds = matched[0][near], matched[1][near], epsilon[near]
    shares = (bounds.min(initial=np.inf) / bounds) ** 2
    motion, last = start, np.zeros(len(bounds))
    for step in range(_ITERATIONS):
        weights = robust_weights(_relative(motion, (source, target), bounds) if step else relative[near])
        if np.abs(weights - last).max(initial=0.0) < _SETTLED:
            break
        if np.count_nonzero(weights) < model.least:
            return start
        motion, last = model.fit(source, target, shares * weights), weights
    return motion if explained(_relative(motion, matched, epsilon)) >= explained(relative) else start


def explained(relative: _Array) -> float:
    """Return how many associations residuals, by epsilon, explain: half of one that is left at epsilon."""
    return float((1.0 / (1.0 + relative[relative < LARGEST] ** 2)).sum())


def _relative(motion: _Array, matched: tuple[_Array, _Array], epsilon: _Array) -> _Array:
    """Return the residuals by epsilon."""
    with np.errstate(over="ignore"):  # as good as infinite
        return np.asarray(residuals_of(motion, matched) / epsilon)
