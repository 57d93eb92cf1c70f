"""M. Leordeanu and M. Hebert, "A spectral technique for correspondence problems using pairwise constraints", ICCV 2005.

The principal eigenvector of a matrix of pairwise scores says how much each match belongs to the main cluster. The most
confident match is taken and those in conflict with it are struck out, until none are left. Two are in conflict where
they share a point, as in the paper, or where their score is 0: distances are kept by a rigid motion.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ...consistency import consistency_graph
from ...geometry.motions import fit_transform
from ...viz.packages import require

__all__ = ["pairwise", "solve"]

_Array = npt.NDArray[np.float64]

_REACH = 3.0
"""Standard deviations: where the paper's score 4.5 - d² / 2 σ² becomes 0. It is put at the noise bound."""
_ITERATIONS, _SETTLED = 100, 1e-6


def solve(source: _Array, target: _Array, epsilon: float) -> _Array | None:
    """Return the least-squares motion of the matches that are taken."""
    scores = pairwise(
        source, target, epsilon, lambda differences: (_REACH**2 - (_REACH * differences / epsilon) ** 2) / 2.0
    )
    chosen = _take(scores, _principal(scores))
    return fit_transform(source[chosen], target[chosen]) if len(chosen) >= 3 else None


def pairwise(source: _Array, target: _Array, epsilon: float, score: Any) -> Any:
    """Return the sparse symmetric matrix of scores of differences between distances, below epsilon."""
    sparse = require("scipy.sparse", "a matrix of pairwise scores", "bench")
    edges = consistency_graph(source, target, epsilon=epsilon).edges()
    i, j = edges.T
    differences = np.linalg.norm(source[i] - source[j], axis=1) - np.linalg.norm(target[i] - target[j], axis=1)
    half = sparse.coo_array((score(differences), (i, j)), shape=(len(source),) * 2)
    return (half + half.T).tocsr()


def _principal(matrix: Any) -> _Array:
    """Return the principal eigenvector by power iteration."""
    vector = np.full(matrix.shape[0], 1.0 / np.sqrt(max(1, matrix.shape[0])))
    for _ in range(_ITERATIONS):
        product = matrix @ vector
        product /= max(float(np.linalg.norm(product)), 1e-300)
        settled = np.abs(product - vector).max(initial=0.0) < _SETTLED
        vector = product
        if settled:
            break
    return vector


def _take(scores: Any, vector: _Array) -> list[int]:
    """Return the most confident matches that are not in conflict with each other."""
    left = vector.copy()
    chosen = []
    while left.size and left.max() > 0.0:
        best = int(left.argmax())
        chosen.append(best)
        agree = np.zeros(left.size, dtype=np.bool_)
        agree[scores.indices[scores.indptr[best] : scores.indptr[best + 1]]] = True
        left[~agree] = 0.0
    return chosen
