"""D. Barath, J. Noskova, M. Ivashechkin and J. Matas, "MAGSAC++", CVPR 2020: their ``pymagsac``."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...viz.packages import require
from .ransac import CONFIDENCE, MOST_SAMPLES

__all__ = ["solve"]

_Array = npt.NDArray[np.float64]

_UNIFORM = 0
"""No match is known to be better than another."""


def solve(source: _Array, target: _Array, epsilon: float) -> _Array | None:
    """Return what it finds; the noise bound is the largest standard deviation that it goes through."""
    package = require("pymagsac", "MAGSAC++", "bench")
    transposed, _ = package.findRigidTransformation(
        np.ascontiguousarray(np.hstack((source, target))),
        np.ones(len(source)),
        sampler=_UNIFORM,
        use_magsac_plus_plus=True,
        sigma_th=epsilon,
        conf=CONFIDENCE,
        max_iters=MOST_SAMPLES,
    )
    return None if transposed is None else np.asarray(transposed, dtype=np.float64).T
