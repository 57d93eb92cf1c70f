"""What the vertices of a graph weigh."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .._validation import as_array
from ..errors import ClipperPlusError, GraphError

__all__ = ["as_vertex_weights"]

_MOST = 2**62
"""All integers together are less than this: their sums are exact then."""


def as_vertex_weights(
    name: str, weights: Any, count: int, error: type[ClipperPlusError] = GraphError
) -> npt.NDArray[np.int64] | npt.NDArray[np.float64]:
    """Return one weight for each vertex, at least 0, as a read-only array: integers as they are, else floats."""
    array = as_array(name, weights, error)
    if array.shape != (count,):
        raise error(f"{name}: expected {count} numbers, one per vertex, got shape {array.shape}")
    if array.dtype.kind not in "biuf" and array.size:
        raise error(f"{name}: expected real numbers, got dtype {array.dtype}")
    with np.errstate(over="ignore"):  # a long double may be too large
        numbers = array.astype(np.float64)
    sound = np.isfinite(numbers) & (numbers >= 0.0)
    if not sound.all():
        wrong = int(sound.argmin())
        raise error(f"{name}: weight {wrong} is {array[wrong]}; expected finite numbers of at least 0")
    if array.dtype.kind in "biu":
        if sum(array.tolist()) >= _MOST:
            raise error(f"{name}: expected integers whose sum is less than 2**62; use floats")
        numbers = array.astype(np.int64)
    else:
        with np.errstate(over="ignore"):
            total = numbers.sum()
        if not np.isfinite(total):
            raise error(f"{name}: expected numbers with a finite sum")
    numbers.flags.writeable = False
    return numbers
