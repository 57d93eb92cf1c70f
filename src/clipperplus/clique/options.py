"""What the settings of the continuous methods share: checked fields and a start vector."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..errors import OptionError
from ..validation import as_array, as_integer, as_number

__all__ = ["ContinuousOptions"]


@dataclass(frozen=True, eq=False, kw_only=True)
class ContinuousOptions:
    """Settings of a method that ends with a vector. Fields are checked and made plain numbers at construction."""

    start: npt.ArrayLike | None = None
    """Start vector, one nonnegative entry per vertex of the graph. None: the method's own."""

    def start_vector(self, n: int) -> npt.NDArray[np.float64] | None:
        """Return the start vector, checked against a graph of n vertices."""
        if self.start is None:
            return None
        start = as_array("start", self.start, OptionError)
        if start.dtype.kind not in "biuf":
            raise OptionError(f"start: expected numbers, got dtype {start.dtype}")
        start = np.ascontiguousarray(start, dtype=np.float64)
        if start.shape != (n,):
            raise OptionError(f"start: expected one entry per vertex, shape ({n},), got {start.shape}")
        wrong = np.flatnonzero(~(np.isfinite(start) & (start >= 0)))
        if wrong.size:
            raise OptionError(f"start: entry {wrong[0]} is {start[wrong[0]]}; expected finite, nonnegative numbers")
        if not start.any() and n > 0:
            raise OptionError("start: expected at least one positive entry")
        return start

    def _check_integers(self, *names: str, low: int = 1, high: int = 10**9) -> None:
        for name in names:
            self._set(name, as_integer(name, getattr(self, name), low, high))

    def _check_numbers(
        self, *names: str, low: float = 0.0, high: float = math.inf, open_interval: bool = False
    ) -> None:
        for name in names:
            self._set(name, as_number(name, getattr(self, name), low, high, open_interval=open_interval))

    def _set(self, name: str, value: float) -> None:
        object.__setattr__(self, name, value)  # frozen, but this is construction
