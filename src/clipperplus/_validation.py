"""Checks of arguments, in one place: each names the argument, what was expected and what came."""

from __future__ import annotations

import math
import numbers
import operator
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from ._limits import check_fits
from ._words import said, shown
from .errors import ClipperPlusError, LandmarkError, OptionError

__all__ = [
    "as_array",
    "as_integer",
    "as_length",
    "as_number",
    "as_points",
    "as_unit_vectors",
    "attribute_of",
    "in_order",
    "scaled_to_unit",
]


_Number = TypeVar("_Number", np.float32, np.float64)


def as_integer(name: str, value: Any, low: int, high: int, error: type[ClipperPlusError] = OptionError) -> int:
    """Return an int in [low, high]; numpy integers are fine, bools and floats are not."""
    try:
        if isinstance(value, (bool, np.bool_)):
            raise TypeError
        number = operator.index(value)
    except TypeError:
        raise error(f"{name}: expected an integer, got {shown(value)}") from None
    if not low <= number <= high:
        raise error(f"{name}: expected an integer from {low} to {high}, got {shown(number)}")
    return number


def as_number(name: str, value: Any, low: float, high: float, *, open_interval: bool = False) -> float:
    """Return a finite float in [low, high], or in (low, high); numpy numbers are fine, bools and arrays are not."""
    no_numbers = (bool, np.bool_, np.timedelta64)  # though Python and numpy count them among the integers
    if isinstance(value, no_numbers) or not isinstance(value, numbers.Real):
        raise OptionError(f"{name}: expected a number, got {shown(value)}")
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
        raise OptionError(f"{name}: expected {expected}, got {shown(value)}")
    return number


def as_length(name: str, value: Any) -> float:
    """Return a positive length that can be squared and divided by."""
    length = as_number(name, value, 0.0, math.inf, open_interval=True)
    return as_number(name, length, 1e-100, 1e100)


def as_array(name: str, value: Any, error: type[ClipperPlusError]) -> npt.NDArray[Any]:
    """Return a numpy array; masked arrays (whose mask would be lost) and ragged lists are refused.

    So is what cannot be made one, whatever its ``__array__`` raises, and what is larger than the memory.
    """
    try:
        array = np.asanyarray(value)
    except Exception as reason:
        kind = "" if isinstance(reason, (TypeError, ValueError)) else f"{type(reason).__name__}: "
        raise error(f"{name}: expected an array, got {type(value).__name__} ({kind}{said(reason)})") from None
    if isinstance(array, np.ma.MaskedArray):
        raise error(f"{name}: expected an array without a mask, got a masked array; use .filled() or .compressed()")
    array = np.asarray(array)
    if 0 in array.strides:  # one number in many places: whoever works on it writes it out
        _check_copy(name, array.nbytes)
    return array


def attribute_of(name: str, value: Any, attribute: str, default: Any = None) -> Any:
    """Return what something with points, of whatever library, says in an attribute; what that raises gets a name."""
    if isinstance(value, np.ndarray):
        return default
    try:
        return getattr(value, attribute, default)
    except Exception as reason:
        got = f"{type(value).__name__}, where it raises {type(reason).__name__}: {said(reason)}"
        raise LandmarkError(f"{name}: expected something with .{attribute}, got {got}") from None


def as_points(name: str, value: Any, dimensions: tuple[int, ...] = (2, 3)) -> npt.NDArray[np.float64]:
    """Return points as rows of float64 coordinates; anything with a ``.points`` attribute is taken as a cloud."""
    array = as_array(name, attribute_of(name, value, "points", value), LandmarkError)
    expected = " or ".join(f"(n, {dimension})" for dimension in reversed(dimensions))
    if array.shape == (0,):
        return np.empty((0, max(dimensions)))
    if array.ndim != 2 or array.shape[1] not in dimensions:
        hint = f"; did you mean {name}.T?" if array.ndim == 2 and array.shape[0] in dimensions else ""
        raise LandmarkError(f"{name}: expected points of shape {expected}, got {array.shape}{hint}")
    if array.dtype.kind not in "iuf":
        raise LandmarkError(f"{name}: expected numbers, got dtype {array.dtype}")
    with np.errstate(over="ignore"):  # a long double may be too large
        points = in_order(array, np.float64, name)
    finite = np.isfinite(points)
    if not finite.all():
        wrong = int(finite.all(axis=1).argmin())
        raise LandmarkError(f"{name}: point {wrong} is {points[wrong].tolist()}; expected finite coordinates")
    return points


def in_order(array: npt.NDArray[Any], dtype: type[_Number], name: str = "array") -> npt.NDArray[_Number]:
    """Return an array as the core reads it: row after row, and aligned, as a part of a buffer may not be.

    A copy that is larger than the memory is refused.
    """
    if array.dtype != dtype or not (array.flags.c_contiguous and array.flags.aligned):
        _check_copy(name, array.size * np.dtype(dtype).itemsize)
    return np.require(array, dtype, ["C_CONTIGUOUS", "ALIGNED"])


def _check_copy(name: str, needed: int) -> None:
    """Refuse an array that takes more than the memory."""
    check_fits(f"{name}: in memory it takes", needed)


def as_unit_vectors(name: str, value: Any, count: int) -> npt.NDArray[np.float64]:
    """Return ``count`` directions in space, scaled to length 1."""
    vectors = as_points(name, value, dimensions=(3,))
    if len(vectors) != count:
        raise LandmarkError(f"{name}: expected as many as there are points, {count}, got {len(vectors)}")
    zero = ~vectors.any(axis=1)
    if zero.any():
        raise LandmarkError(f"{name}: vector {int(zero.argmax())} is zero; expected directions")
    return scaled_to_unit(vectors)


def scaled_to_unit(vectors: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return vectors, none of them zero, scaled to length 1."""
    scaled = vectors / np.abs(vectors).max(axis=1, initial=0.0)[:, None]  # so that no square overflows or vanishes
    return np.asarray(scaled / np.linalg.norm(scaled, axis=1)[:, None])
