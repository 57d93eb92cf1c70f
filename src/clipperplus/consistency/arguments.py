"""Checks of associations and of how much they may disagree."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from .._validation import as_array, as_number
from ..errors import LandmarkError, MemoryLimitError, OptionError
from ..graphs._memory import graph_bytes

__all__ = ["as_associations", "as_epsilon", "check_compared"]


MOST_COMPARED = 1_000_000
"""Associations that are all compared with each other: half a million million pairs take minutes, twice as many four
times as long."""


def check_compared(name: str, count: int) -> None:
    """Refuse more associations than can be compared with each other."""
    if count > MOST_COMPARED:
        needed = graph_bytes(count, 1.0)
        size = f"their graph could take {needed / 2**30:.1f} GiB"
        raise MemoryLimitError(
            f"{name}: expected at most {MOST_COMPARED}, as each is compared with all others, got {count}; {size}",
            needed,
        )


def as_associations(
    name: str, associations: npt.ArrayLike, sets: tuple[Any, Any], *, compared: bool = False
) -> npt.NDArray[np.int64]:
    """Return pairs of numbers of landmarks, checked, as a copy; ``compared``: with each other, which bounds them."""
    pairs = as_array(name, associations, LandmarkError)
    if pairs.size == 0 and pairs.shape in ((0,), (0, 2)):
        return np.empty((0, 2), dtype=np.int64)
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        hint = f"; did you mean {name}.T?" if pairs.ndim == 2 and pairs.shape[0] == 2 else ""
        raise LandmarkError(f"{name}: expected an array of shape (m, 2), got {pairs.shape}{hint}")
    if compared:
        check_compared(name, len(pairs))  # before anything of that size is made
    if pairs.dtype.kind not in "iu":
        raise LandmarkError(f"{name}: expected integers, got dtype {pairs.dtype}")
    for column, (which, there) in enumerate((("first", len(sets[0])), ("second", len(sets[1])))):
        outside = np.flatnonzero((pairs[:, column] < 0) | (pairs[:, column] >= there))
        if outside.size:
            number = pairs[outside[0], column]
            raise LandmarkError(f"{name}: row {outside[0]} names number {number} of the {which} set; it has {there}")
    return np.array(pairs, dtype=np.int64)


def as_epsilon(epsilon: Any, count: int) -> float | npt.NDArray[np.float64]:
    """Return by how much pairs may disagree: one number, or one per association."""
    bounds = as_array("epsilon", epsilon, OptionError)
    if bounds.ndim == 0:
        return as_number("epsilon", epsilon, 0.0, math.inf, open_interval=True)
    if bounds.dtype.kind not in "iuf" or bounds.shape != (count,):
        raise OptionError(
            f"epsilon: expected a number or one per association, shape ({count},), got shape {bounds.shape}, "
            f"dtype {bounds.dtype}"
        )
    with np.errstate(over="ignore"):  # a long double may be too large
        bounds = np.array(bounds, dtype=np.float64)
    wrong = np.flatnonzero(~(np.isfinite(bounds) & (bounds > 0.0)))
    if wrong.size:
        raise OptionError(f"epsilon: entry {wrong[0]} is {bounds[wrong[0]]}; expected finite numbers above 0")
    return bounds
