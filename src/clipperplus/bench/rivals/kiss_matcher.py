"""H. Lim et al., "KISS-Matcher: fast and robust point cloud registration revisited", ICRA 2025: its ``kiss_matcher``.

What it does with matches: graph-theoretic pruning (ROBIN), then graduated non-convexity.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...viz.packages import require

__all__ = ["solve"]

_Array = npt.NDArray[np.float64]


def solve(source: _Array, target: _Array, epsilon: float) -> _Array | None:
    """Return what it finds in units of the noise bound: it refuses small ones."""
    package = require("kiss_matcher", "KISS-Matcher", "bench")
    settings = package.KISSMatcherConfig(
        voxel_size=1.0,
        use_voxel_sampling=False,
        robin_noise_bound_gain=1.0,
        solver_noise_bound_gain=1.0,
        enable_noise_bound_clamping=False,
    )
    centres = source.mean(axis=0), target.mean(axis=0)  # it has single precision
    matched = [
        ((points - centre) / epsilon).astype(np.float32)
        for points, centre in zip((source, target), centres, strict=True)
    ]
    answer = package.KISSMatcher(settings).prune_and_solve(*matched)
    rotation = np.array(answer.rotation, dtype=np.float64)
    motion = np.eye(4)
    motion[:3, :3] = rotation
    motion[:3, 3] = epsilon * np.ravel(answer.translation) + centres[1] - rotation @ centres[0]
    return motion if answer.valid and np.isfinite(motion).all() else None
