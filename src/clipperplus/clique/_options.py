"""What the settings of the continuous methods share: checked fields, a start vector, limits of an ascent."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from .. import _core
from .._validation import as_array, as_integer, as_number
from ..errors import OptionError

__all__ = ["AscentOptions", "ContinuousOptions"]

_Native = TypeVar(
    "_Native", _core.RelaxationOptions, _core.ClipperOptions, _core.ReplicatorOptions, _core.BelachewOptions
)
_NOT_OF_THE_KERNEL = ("start", "seed", "perturbation")
"""What decides on the start vector; all other fields have their counterpart in the core."""


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
        with np.errstate(over="ignore"):  # a long double may be too large
            start = np.ascontiguousarray(start, dtype=np.float64)
        if start.shape != (n,):
            raise OptionError(f"start: expected one entry per vertex, shape ({n},), got {start.shape}")
        wrong = np.flatnonzero(~(np.isfinite(start) & (start >= 0)))
        if wrong.size:
            raise OptionError(f"start: entry {wrong[0]} is {start[wrong[0]]}; expected finite, nonnegative numbers")
        if not start.any() and n > 0:
            raise OptionError("start: expected at least one positive entry")
        return start

    def to_core(self, native: _Native) -> _Native:
        """Copy the settings of the kernel to its own options."""
        for option in fields(self):
            if option.name not in _NOT_OF_THE_KERNEL:
                setattr(native, option.name, getattr(self, option.name))
        return native

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


@dataclass(frozen=True, eq=False, kw_only=True)
class AscentOptions(ContinuousOptions):
    """Settings of an ascent that raises d step by step: Algorithm 2 and CLIPPER."""

    tol_u: float = 1e-8
    """The inner loop ends when the step in u is shorter than this …"""
    tol_f: float = 1e-9
    """… or changes the objective by less than this."""
    max_inner: int = 200
    """Gradient steps for one d."""
    max_outer: int = 1000
    """Values of d."""
    max_line_search: int
    """Tries for one step."""
    epsilon: float = 1e-9
    """What counts as zero in u."""

    def __post_init__(self) -> None:
        self._check_integers("max_inner", "max_outer", "max_line_search")
        self._check_numbers("tol_u", "tol_f", "epsilon")
