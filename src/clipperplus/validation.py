"""Checks of arguments, in one place: each names the argument, what was expected and what came."""

from __future__ import annotations

import math
import numbers
import operator
from typing import Any

import numpy as np
import numpy.typing as npt

from .errors import ClipperPlusError, OptionError

__all__ = ["as_array", "as_integer", "as_number", "cells_to_rows", "is_sparse", "sparse_cells"]


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


def is_sparse(matrix: Any) -> bool:
    """Whether a matrix comes from ``scipy.sparse``, without importing it."""
    return hasattr(matrix, "tocoo") and hasattr(matrix, "format")


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

    scipy trusts the arrays of a matrix and crashes on broken ones, so those of the common formats are checked here
    before anything uses them.
    """
    if matrix.format in ("csr", "csc"):
        offsets = np.array(matrix.indptr, dtype=np.int64)
        if offsets.shape != (n + 1,) or offsets[0] != 0 or (np.diff(offsets) < 0).any():
            raise error(f"{name}: the row pointers of the sparse matrix are broken")
        outer = np.repeat(np.arange(n, dtype=np.int64), np.diff(offsets))
        inner, values = matrix.indices, matrix.data
        rows, columns = (outer, inner) if matrix.format == "csr" else (inner, outer)
        stored = int(offsets[-1])
    else:
        coo = matrix.tocoo()
        rows, columns, values = coo.row, coo.col, coo.data
        stored = max(np.size(rows), np.size(columns), np.size(values))
    for array in (rows, columns, values):
        if np.ndim(array) != 1 or np.size(array) < stored:
            raise error(f"{name}: the sparse matrix has fewer entries than its row pointers promise")
    rows, columns = (np.array(array[:stored], dtype=np.int64) for array in (rows, columns))
    for indices in (rows, columns):
        if stored and not 0 <= indices.min() <= indices.max() < n:
            raise error(f"{name}: an index of the sparse matrix is not in 0 … {n - 1}")
    return rows, columns, np.array(values[:stored])
