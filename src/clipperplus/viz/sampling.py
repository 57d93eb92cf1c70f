"""Fewer points, so that a picture of many is still drawn at once."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["thin"]


def thin(points: npt.NDArray[np.float64], most: int) -> npt.NDArray[np.float64]:
    """Return at most so many rows, in their order; always the same ones for the same number of rows.

    They are drawn at random, because scans are regular: every tenth point of one may be all of a single beam.
    """
    if len(points) <= most:
        return points
    chosen = np.random.default_rng(0).choice(len(points), size=most, replace=False)
    return points[np.sort(chosen)]
