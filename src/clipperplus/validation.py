"""Checks of arguments, in one place: each names the argument, what was expected and what came."""

from __future__ import annotations

import math
import numbers
import operator
from typing import Any

import numpy as np
import numpy.typing as npt

from .errors import ClipperPlusError, LandmarkError, OptionError

__all__ = [
    "as_array",
    "as_integer",
    "as_length",
    "as_number",
    "as_points",
    "as_unit_vectors",
    "cells_to_rows",
    "is_sparse",
    "sparse_cells",
]


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


def as_length(name: str, value: Any) -> float:
    """Return a positive length that can be squared and divided by."""
    length = as_number(name, value, 0.0, math.inf, open_interval=True)
    return as_number(name, length, 1e-100, 1e100)


def as_array(name: str, value: Any, error: type[ClipperPlusError]) -> npt.NDArray[Any]:
    """Return a numpy array; masked arrays (whose mask would be lost) and ragged lists are refused."""
    if isinstance(value, np.ma.MaskedArray):
        raise error(f"{name}: expected an array without a mask, got a masked array; use .filled() or .compressed()")
    try:
        return np.asarray(value)
    except (ValueError, TypeError) as reason:
        raise error(f"{name}: expected an array, got {type(value).__name__} ({reason})") from None


def as_points(name: str, value: Any, dimensions: tuple[int, ...] = (2, 3)) -> npt.NDArray[np.float64]:
    """Return points as rows of float64 coordinates; anything with a ``.points`` attribute is taken as a cloud."""
    if not isinstance(value, np.ndarray) and hasattr(value, "points"):
        value = value.points
    array = as_array(name, value, LandmarkError)
    expected = " or ".join(f"(n, {dimension})" for dimension in reversed(dimensions))
    if array.shape == (0,):
        return np.empty((0, max(dimensions)))
    if array.ndim != 2 or array.shape[1] not in dimensions:
        hint = f"; did you mean {name}.T?" if array.ndim == 2 and array.shape[0] in dimensions else ""
        raise LandmarkError(f"{name}: expected points of shape {expected}, got {array.shape}{hint}")
    if array.dtype.kind not in "iuf":
        raise LandmarkError(f"{name}: expected numbers, got dtype {array.dtype}")
    with np.errstate(over="ignore"):  # a long double may be too large
        points = np.ascontiguousarray(array, dtype=np.float64)
    finite = np.isfinite(points)
    if not finite.all():
        wrong = int(finite.all(axis=1).argmin())
        raise LandmarkError(f"{name}: point {wrong} is {points[wrong].tolist()}; expected finite coordinates")
    return points


def as_unit_vectors(name: str, value: Any, count: int) -> npt.NDArray[np.float64]:
    """Return ``count`` directions in space, scaled to length 1."""
    vectors = as_points(name, value, dimensions=(3,))
    if len(vectors) != count:
        raise LandmarkError(f"{name}: expected as many as there are points, {count}, got {len(vectors)}")
    largest = np.abs(vectors).max(axis=1, initial=0.0)
    if (largest == 0.0).any():
        raise LandmarkError(f"{name}: vector {int(largest.argmin())} is zero; expected directions")
    scaled = vectors / largest[:, None]  # so that no square overflows or vanishes
    return np.asarray(scaled / np.linalg.norm(scaled, axis=1)[:, None])


def is_sparse(matrix: Any) -> bool:
    """Whether a matrix comes from ``scipy.sparse``, without importing it."""
    return not isinstance(matrix, type) and hasattr(matrix, "tocoo") and hasattr(matrix, "format")


def sparse_cells(
    name: str, matrix: Any, n: int, error: type[ClipperPlusError]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[Any]]:
    """Return the stored entries of a sparse n × n matrix as sorted cells ``row * n + column``, and their values.

    Entries that are stored several times are added up.
    """
    rows, columns, values = _sparse_entries(name, matrix, n, error)
    if values.dtype.kind not in "biuf":
        raise error(f"{name}: expected bool, integer or float entries, got dtype {values.dtype}")
    cells = rows * n + columns
    if (np.diff(cells) <= 0).any():  # unsorted, or entries to be added up
        cells, place = np.unique(cells, return_inverse=True)
        total = np.zeros(cells.size)
        np.add.at(total, place, values)
        values = total
    return cells, values


def cells_to_rows(cells: npt.NDArray[np.int64], n: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]:
    """Return the offsets of the rows and the columns of sorted cells of an n × n matrix."""
    offsets = np.searchsorted(cells, np.arange(n + 1, dtype=np.int64) * n).astype(np.int64)
    return offsets, (cells % n).astype(np.int32) if n else np.empty(0, dtype=np.int32)


def _sparse_entries(
    name: str, matrix: Any, n: int, error: type[ClipperPlusError]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[Any]]:
    """Return row, column and value of the entries that a sparse matrix stores.

    scipy trusts the arrays of a matrix and crashes on broken ones. Those of CSR, CSC and COO are checked and used here;
    what makes scipy's conversion of the other formats safe is checked before.
    """
    broken = error(f"{name}: the arrays of the sparse matrix contradict each other")
    try:
        if matrix.format in ("csr", "csc"):
            offsets = _as_indices(matrix.indptr)
            inner, values = matrix.indices, matrix.data
            if offsets.shape != (n + 1,) or offsets[0] != 0 or (np.diff(offsets) < 0).any():
                raise error(f"{name}: the row pointers of the sparse matrix are broken")
            stored = int(offsets[-1])
            if min(np.size(inner), np.size(values)) < stored:
                raise error(f"{name}: the sparse matrix has fewer entries than its row pointers promise")
            outer = np.repeat(np.arange(n, dtype=np.int64), np.diff(offsets))
            rows, columns = (outer, inner) if matrix.format == "csr" else (inner, outer)
        else:
            _check_before_conversion(matrix, n, broken)
            coo = matrix.tocoo()
            rows, columns, values = coo.row, coo.col, coo.data
            stored = max(np.size(rows), np.size(columns), np.size(values))
        if any(np.ndim(array) != 1 or np.size(array) < stored for array in (rows, columns, values)):
            raise broken
        rows, columns = (_as_indices(array[:stored]) for array in (rows, columns))
        values = np.array(values[:stored])
    except ClipperPlusError:
        raise
    except (TypeError, ValueError, IndexError, AttributeError, KeyError) as reason:
        raise error(f"{name}: the sparse matrix cannot be read ({reason})") from None
    for indices in (rows, columns):
        if stored and not 0 <= indices.min() <= indices.max() < n:
            raise error(f"{name}: an index of the sparse matrix is not in 0 … {n - 1}")
    return rows, columns, values


def _as_indices(array: Any) -> npt.NDArray[np.int64]:
    indices = np.asarray(array)
    if indices.dtype.kind not in "iu" and indices.size:
        raise TypeError(f"indices of dtype {indices.dtype}")
    return np.array(indices, dtype=np.int64)  # a copy: the caller's array may change


def _check_before_conversion(matrix: Any, n: int, broken: ClipperPlusError) -> None:
    """Refuse matrices in diagonal, list and block form whose arrays do not fit together."""
    if matrix.format == "dia":
        offsets = _as_indices(matrix.offsets)
        if np.ndim(matrix.data) != 2 or offsets.shape != np.shape(matrix.data)[:1]:
            raise broken
    elif matrix.format == "lil":
        if np.shape(matrix.rows) != (n,) or np.shape(matrix.data) != (n,):
            raise broken
        for columns, values in zip(matrix.rows, matrix.data, strict=True):
            if len(columns) != len(values) or not all(0 <= int(column) < n for column in columns):
                raise broken
    elif matrix.format == "bsr":
        height, width = np.shape(matrix.data)[1:]
        offsets, indices = _as_indices(matrix.indptr), _as_indices(matrix.indices)
        fits = offsets.shape == (n // height + 1,) and offsets[0] == 0 and not (np.diff(offsets) < 0).any()
        if not fits or not offsets[-1] <= min(len(indices), len(matrix.data)):
            raise broken
        if indices.size and not 0 <= indices.min() <= indices.max() < n // width:
            raise broken
