"""Weights of the edges: a matrix of the caller's, checked against the graph."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _core
from .._validation import as_array
from ..errors import OptionError
from ..graphs import Graph
from ..graphs._sparse import cells_to_rows, is_sparse, sparse_cells

__all__ = ["as_weights"]


def as_weights(graph: Graph, weights: Any) -> _core.EdgeWeights:
    """Take a symmetric matrix with entries in [0, 1] that is zero where the graph has no edge.

    It may be a dense array or any ``scipy.sparse`` matrix. The diagonal is not used.
    """
    n = graph.num_vertices
    matrix = weights if is_sparse(weights) else as_array("weights", weights, OptionError)
    shape = tuple(getattr(matrix, "shape", ()))
    if shape != (n, n):
        raise OptionError(f"weights: expected one row and column per vertex, shape ({n}, {n}), got {shape}")
    try:
        if is_sparse(matrix) and (tidy := _from_tidy_rows(graph, matrix)) is not None:
            return tidy
        offsets, columns, values = _sparse_rows(matrix, n) if is_sparse(matrix) else _dense_rows(matrix)
        with np.errstate(over="ignore"):  # a long double may be too large
            values = np.ascontiguousarray(values, dtype=np.float64)
        return _core.EdgeWeights(graph._native, offsets, columns, values)
    except _core.InvalidWeights as error:
        raise OptionError(f"weights: {error}") from None


_ROW_DTYPES = (np.int64, np.int32, np.float64)
_Rows = tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], npt.NDArray[Any]]
"""Offsets of the rows, columns and values of the entries that are not zero, without the diagonal."""


def _from_tidy_rows(graph: Graph, matrix: Any) -> _core.EdgeWeights | None:
    """Take the arrays of a CSR matrix as they are, if they need no work, like those of ``consistency_weights``."""
    if matrix.format != "csr":
        return None
    arrays = (getattr(matrix, name, None) for name in ("indptr", "indices", "data"))
    rows = [array for array in arrays if isinstance(array, np.ndarray) and array.ndim == 1]
    if len(rows) < 3 or [array.dtype.kind for array in rows] != ["i", "i", "f"]:
        return None
    offsets, columns, values = (
        np.ascontiguousarray(array, dtype) for array, dtype in zip(rows, _ROW_DTYPES, strict=True)
    )
    if columns is not rows[1] and not np.array_equal(columns, rows[1]):  # too large for the dtype
        return None
    return _core.EdgeWeights.of_tidy_rows(graph._native, offsets, columns, values)


def _sparse_rows(matrix: Any, n: int) -> _Rows:
    cells, values = sparse_cells("weights", matrix, n, OptionError)
    used = (values != 0) & (cells % (n + 1) != 0)  # cells of the diagonal are multiples of n + 1
    offsets, columns = cells_to_rows(cells[used], n)
    return offsets, columns, values[used]


def _dense_rows(matrix: npt.NDArray[Any]) -> _Rows:
    if matrix.dtype.kind not in "biuf":
        raise OptionError(f"weights: expected bool, integer or float entries, got dtype {matrix.dtype}")
    used = matrix != 0  # NaN is not zero either
    np.fill_diagonal(used, False)
    offsets = np.concatenate(([0], np.cumsum(np.count_nonzero(used, axis=1)))).astype(np.int64)
    return offsets, np.nonzero(used)[1].astype(np.int32), matrix[used]
