"""Checks of arguments, in one place: each names the argument, what was expected and what came."""

from __future__ import annotations

import math
import numbers
import operator
from typing import Any

import numpy as np
import numpy.typing as npt

from .errors import ClipperPlusError, OptionError

__all__ = ["as_array", "as_integer", "as_number"]


def as_integer(name: str, value: Any, low: int, high: int, error: type[ClipperPlusError] = OptionError) -> int:
    """Return an int in [low, high]; numpy integers are fine, bools and floats are not."""
    try:
        if isinstance(value, (bool, np.bool_)):
            raise TypeError
        number = operator.index(value)
    except TypeError:
        raise error(f"{name}: expected an integer, got {value!r}") from None
    if not low <= number <= high:
        raise error(f"{name}: expected an integer from {low} to {high}, got {number}")
    return number


def as_number(name: str, value: Any, low: float, high: float, *, open_interval: bool = False) -> float:
    """Return a finite float in [low, high], or in (low, high); numpy numbers are fine, bools and arrays are not."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Real):
        raise OptionError(f"{name}: expected a number, got {value!r}")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    inside = low < number < high if open_interval else low <= number <= high
    if not inside or not math.isfinite(number):
        if high == math.inf:
            expected = f"a finite number {'above' if open_interval else 'of at least'} {low:g}"
        else:
            expected = f"a number {f'between {low:g} and' if open_interval else f'from {low:g} to'} {high:g}"
        raise OptionError(f"{name}: expected {expected}, got {value!r}")
    return number


def as_array(name: str, value: Any, error: type[ClipperPlusError]) -> npt.NDArray[Any]:
    """Return a numpy array; masked arrays (whose mask would be lost) and ragged lists are refused."""
    if isinstance(value, np.ma.MaskedArray):
        raise error(f"{name}: expected an array without a mask, got a masked array; use .filled() or .compressed()")
    try:
        return np.asarray(value)
    except (ValueError, TypeError) as reason:
        raise error(f"{name}: expected an array, got {type(value).__name__} ({reason})") from None
