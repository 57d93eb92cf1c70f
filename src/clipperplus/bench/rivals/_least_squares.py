"""The fit of a motion without checks, for methods that fit thousands: they are to be timed, and not the checks."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ... import _core

__all__ = ["least_squares"]

_Array = npt.NDArray[np.float64]


def least_squares(source: _Array, target: _Array, weights: _Array | None = None) -> _Array:
    """Return the motion of matched points; those of weight 0 are as if they were not there."""
    if weights is None:
        weights = np.ones(len(source))
    elif not weights.all():
        used = weights > 0.0
        source, target, weights = source[used], target[used], weights[used]
    motion: _Array = _core.fit_motion(source, target, weights)[0]
    return motion
