"""Sparse matrices of others, taken apart without trusting their arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .._words import said
from ..errors import ClipperPlusError

__all__ = ["cells_to_rows", "is_sparse", "sparse_cells"]


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
    except Exception as reason:  # whatever its attributes raise
        raise error(f"{name}: the sparse matrix cannot be read ({said(reason)})") from None
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
