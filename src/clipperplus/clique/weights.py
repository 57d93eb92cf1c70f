"""Weights of the edges: a matrix of the caller's, checked against the graph."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import OptionError
from ..graph import Graph
from ..validation import as_array, cells_to_rows, is_sparse, sparse_cells
from .clipper import WeightRows

__all__ = ["as_weights"]

_ASYMMETRY = 1e-9
"""By how much two entries that should be equal may differ: they may have been computed one by one."""


def as_weights(graph: Graph, weights: Any) -> WeightRows:
    """Return the rows of a symmetric matrix with entries in [0, 1] that is zero where the graph has no edge.

    Takes a dense array or any ``scipy.sparse`` matrix. The diagonal is not used.
    """
    n = graph.num_vertices
    shape = tuple(weights.shape) if is_sparse(weights) else as_array("weights", weights, OptionError).shape
    if shape != (n, n):
        raise OptionError(f"weights: expected one row and column per vertex, shape ({n}, {n}), got {shape}")
    if is_sparse(weights):
        cells, values = sparse_cells("weights", weights, n, OptionError)
    else:
        cells, values = _dense_cells(as_array("weights", weights, OptionError))
    values = values.astype(np.float64)
    wrong = np.flatnonzero(~((values >= 0.0) & (values <= 1.0)))
    if wrong.size:
        cell = divmod(int(cells[wrong[0]]), n)
        raise OptionError(f"weights: entry {cell} is {values[wrong[0]]}; expected a number from 0 to 1")
    used = (values > 0.0) & (cells // n != cells % n) if n else np.zeros(0, dtype=np.bool_)
    cells, values = cells[used], values[used]
    _check_symmetry(cells, values, n)
    _check_edges(graph, cells)
    return *cells_to_rows(cells, n), values


def _dense_cells(matrix: npt.NDArray[Any]) -> tuple[npt.NDArray[np.int64], npt.NDArray[Any]]:
    if matrix.dtype.kind not in "biuf":
        raise OptionError(f"weights: expected bool, integer or float entries, got dtype {matrix.dtype}")
    cells = np.flatnonzero(matrix)  # NaN is not zero either
    return cells.astype(np.int64, copy=False), matrix.ravel()[cells]


def _check_symmetry(cells: npt.NDArray[np.int64], values: npt.NDArray[np.float64], n: int) -> None:
    mirrored = cells % n * n + cells // n if n else cells
    order = np.argsort(mirrored)
    mirrored, other = mirrored[order], values[order]
    missing = np.flatnonzero(cells != mirrored)
    if missing.size:  # the first difference of two sorted lists: the smaller one is in one of them only
        row, column = divmod(int(min(cells[missing[0]], mirrored[missing[0]])), n)
        there = cells[missing[0]] < mirrored[missing[0]]
        row, column = (row, column) if there else (column, row)
        raise OptionError(f"weights: not symmetric: entry ({row}, {column}) is positive, entry ({column}, {row}) is 0")
    unequal = np.flatnonzero(np.abs(values - other) > _ASYMMETRY)
    if unequal.size:
        row, column = divmod(int(cells[unequal[0]]), n)
        raise OptionError(
            f"weights: not symmetric: entry ({row}, {column}) is {values[unequal[0]]} and "
            f"entry ({column}, {row}) is {other[unequal[0]]}"
        )


def _check_edges(graph: Graph, cells: npt.NDArray[np.int64]) -> None:
    n = graph.num_vertices
    offsets, neighbours = graph._native.csr()
    edges = np.repeat(np.arange(n, dtype=np.int64), np.diff(offsets)) * n + neighbours
    outside = np.flatnonzero(~np.isin(cells, edges, assume_unique=True))
    if outside.size:
        row, column = divmod(int(cells[outside[0]]), n)
        raise OptionError(
            f"weights: entry ({row}, {column}) is positive, but the graph has no such edge; "
            "expected zeros where two vertices are not joined"
        )
