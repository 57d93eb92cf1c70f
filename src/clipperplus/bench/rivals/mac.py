"""X. Zhang, J. Yang, S. Zhang and Y. Zhang, "3D registration with maximal cliques", CVPR 2023.

A graph of matches with second-order weights; its maximal cliques; for every match the clique of largest weight that it
is in; a motion for each, and of these the one that explains the matches best. A dense graph has more maximal cliques
than can be listed: then, as in the authors' code, only matches that are connected most strongly are looked at; here
half of them, and half of these, until the list is complete.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ...clique import find_cliques_above
from ...graphs import Graph
from ...viz.packages import require
from ._least_squares import least_squares
from .spectral import pairwise

__all__ = ["MOST_CLIQUES", "solve"]

_Array = npt.NDArray[np.float64]

MOST_CLIQUES = 20_000
_MOST_MOTIONS = 1000
"""Of the heaviest cliques: the paper's K."""
_SECONDS = 1.0
"""For each list."""
_DENSE = 0.05
"""Share of entries from which a product of full matrices is faster."""


def solve(source: _Array, target: _Array, epsilon: float) -> _Array | None:
    """Return the motion of the clique by which the matches are explained best, by mean absolute error."""
    first = pairwise(source, target, epsilon, lambda differences: np.exp(-((differences / epsilon) ** 2) / 2.0))
    second = _second_order(first)
    best, most = None, 0.0
    for clique in _guided(second, _list(second)):
        motion = least_squares(source[clique], target[clique])
        gaps = np.linalg.norm(source @ motion[:3, :3].T + motion[:3, 3] - target, axis=1)
        score = float(np.maximum(0.0, 1.0 - gaps / epsilon).sum())
        if score > most:
            best, most = motion, score
    return best


def _second_order(first: Any) -> Any:
    """Return the weights of pairs, each times what its ends have in common: the paper's equation (5)."""
    if first.nnz < _DENSE * first.shape[0] ** 2:
        return first.multiply(first @ first).tocsr()
    full = first.toarray()
    common = full @ full
    return first.multiply(common).tocsr()


def _list(weights: Any) -> list[npt.NDArray[np.int64]]:
    """Return maximal cliques of at least three of the matches that are connected most strongly."""
    by_strength = np.argsort(-np.asarray(weights.sum(axis=1)).ravel(), kind="stable")
    while True:
        kept = np.sort(by_strength)
        i, j = weights[kept][:, kept].nonzero()
        graph = Graph.from_edges(len(kept), np.column_stack((i, j))[i < j])
        found = find_cliques_above(graph, 2, limit=MOST_CLIQUES, time_limit=_SECONDS)
        if found.complete or len(kept) <= 3:
            return [kept[clique] for clique in found.cliques]
        by_strength = by_strength[: len(kept) // 2]


def _guided(weights: Any, cliques: list[npt.NDArray[np.int64]]) -> list[npt.NDArray[np.int64]]:
    """Return the cliques that are the heaviest of a match, the heaviest of all first."""
    order = np.argsort(-_masses(weights, cliques), kind="stable")
    best = np.full(weights.shape[0], -1)
    for number in order[::-1]:  # the heaviest comes last and stays
        best[cliques[number]] = number
    wanted = set(best.tolist())
    return [cliques[number] for number in order if number in wanted][:_MOST_MOTIONS]


def _masses(weights: Any, cliques: list[npt.NDArray[np.int64]]) -> _Array:
    """Return the sums of the weights within cliques."""
    sizes = [len(clique) for clique in cliques]
    members = np.concatenate([np.empty(0, dtype=np.int64), *cliques])
    ends = np.concatenate(([0], np.cumsum(sizes, dtype=np.int64)))
    sparse = require("scipy.sparse", "the weights of cliques", "bench")
    inside = sparse.csr_array((np.ones(len(members)), members, ends), shape=(len(cliques), weights.shape[0]))
    return np.asarray((inside @ weights).multiply(inside).sum(axis=1)).ravel()
