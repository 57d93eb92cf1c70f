"""From a vector to a clique: the last step of every method that ends with a vector."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .run import Run

__all__ = ["offer_largest_entries"]


def offer_largest_entries(
    run: Run, stage: str, vector: npt.NDArray[np.float64], *, iterations: int, count: int | None = None
) -> None:
    """Offer the vertices in decreasing order of their entries, each added while they stay a clique.

    Ties go to the lowest index. With ``count``, only so many vertices are looked at; the clique is grown to a maximal
    one in any case. The vector itself is kept for the result.
    """
    vector.flags.writeable = False
    run.relaxed = vector
    claim = np.argsort(-vector, kind="stable")[:count]
    run.offer(stage, claim.astype(np.int64, copy=False), vertices=vector.size, iterations=iterations)
