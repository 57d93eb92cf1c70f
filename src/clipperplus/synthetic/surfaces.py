"""Points on the surface of a known body."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .._validation import as_integer

__all__ = ["rabbit_surface"]

# Body, head, two ears and a tail: centre and half axes, in metres. All of them touch another one.
_RABBIT = np.array(
    [
        [[0.000, 0.000, 0.000], [0.062, 0.045, 0.050]],
        [[0.055, 0.000, 0.050], [0.034, 0.028, 0.030]],
        [[0.050, 0.014, 0.100], [0.009, 0.006, 0.034]],
        [[0.050, -0.014, 0.100], [0.009, 0.006, 0.034]],
        [[-0.064, 0.000, 0.004], [0.014, 0.014, 0.014]],
    ]
)


def rabbit_surface(points: int = 1000, *, seed: int = 0) -> npt.NDArray[np.float64]:
    """Points spread evenly, by area, over the surface of a rabbit made of ellipsoids; it fits into a 0.2 m cube."""
    points = as_integer("points", points, 0, 10_000_000)
    random = np.random.default_rng(as_integer("seed", seed, 0, 2**63))
    centres, axes = _RABBIT[:, 0], _RABBIT[:, 1]
    # Of the map from the unit sphere to an ellipsoid: the largest factor by which it stretches an area.
    stretch = axes.prod(axis=1) / axes.min(axis=1)
    kept = np.empty((0, 3))
    while len(kept) < points:
        count = 4 * points + 64
        part = random.choice(len(axes), size=count, p=stretch / stretch.sum())
        sphere = random.normal(size=(count, 3))
        sphere /= np.linalg.norm(sphere, axis=1)[:, None]
        factor = np.linalg.norm(sphere / axes[part], axis=1) * axes.min(axis=1)[part]
        candidates = centres[part] + sphere * axes[part]
        inside = (((candidates[:, None] - centres) / axes) ** 2).sum(axis=2) < 1.0 - 1e-9  # of any of the parts
        kept = np.concatenate((kept, candidates[(random.uniform(size=count) < factor) & ~inside.any(axis=1)]))
    return kept[:points]
