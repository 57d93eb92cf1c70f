"""From a vector to a clique: the last step of every method that ends with a vector."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ._search_state import SearchState

__all__ = ["offer_largest_entries"]


def offer_largest_entries(
    state: SearchState,
    stage: str,
    vector: npt.NDArray[np.float64],
    *,
    iterations: int,
    converged: bool,
    named: int = 0,
) -> None:
    """Offer the vertices in decreasing order of their entries, each added while they stay a clique.

    Ties go to the lowest index. A method that says how large its clique is passes that as ``named``. The vector itself
    is kept for the result.
    """
    vector.flags.writeable = False
    state.relaxed = vector
    order = np.argsort(-vector, kind="stable").astype(np.int64, copy=False)
    state.offer(stage, order, count=iterations, converged=converged, named=named)
