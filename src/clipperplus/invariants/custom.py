"""Functions of one's own."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from .._validation import as_number
from ..errors import LandmarkError, OptionError
from .base import Pairs, Vector, as_residuals

__all__ = ["Custom"]


@dataclass(frozen=True, eq=False)
class Custom:
    """Any function of pairs of associations; they are consistent where it is below the threshold.

    Landmarks are whatever has a length; they are passed to the function as they are.
    """

    residual: Callable[[Any, Any, Pairs, Pairs], npt.ArrayLike]
    """``residual(source, target, first, second)``: one number for every pair; NaN is inconsistent. It must be symmetric
    in the two associations."""
    threshold: float
    """Above zero, in the unit of the function."""

    def __post_init__(self) -> None:
        if not callable(self.residual):
            raise OptionError(f"residual: expected a function, got {type(self.residual).__name__}")
        bound = as_number("threshold", self.threshold, 0.0, math.inf, open_interval=True)
        object.__setattr__(self, "threshold", bound)  # frozen, but this is construction

    def landmarks(self, name: str, given: Any) -> Any:
        """Take anything that has a length."""
        try:
            len(given)
        except TypeError:
            raise LandmarkError(f"{name}: expected landmarks with a length, got {type(given).__name__}") from None
        return given

    def residuals(self, source: Any, target: Any, first: Pairs, second: Pairs, epsilon: Vector) -> Vector:
        """Return what the function says, by the threshold."""
        return as_residuals(self.residual(source, target, first, second)) / self.threshold
