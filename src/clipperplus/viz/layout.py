"""Places for the vertices of a small graph: edges are springs, all vertices push each other away.

T. M. J. Fruchterman and E. M. Reingold, "Graph drawing by force-directed placement", 1991. A step costs n² operations:
this is for the few hundred vertices whose picture can be read.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..graphs import Graph

__all__ = ["spring_layout"]

_STEPS = 120


def spring_layout(graph: Graph, centre: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """Return ``(n, 2)`` places within the unit disc; the vertices ``centre`` begin in the middle. Always the same."""
    n = graph.num_vertices
    if n == 0:
        return np.empty((0, 2))
    joined = graph.adjacency().astype(np.float64)
    angle = np.arange(n) * np.pi * (3.0 - np.sqrt(5.0))  # the golden angle: spread evenly, without chance
    radius = np.full(n, 1.0)
    radius[centre] = 0.3
    places = (radius * np.sqrt((np.arange(n) + 0.5) / n))[:, None] * np.column_stack((np.cos(angle), np.sin(angle)))
    length = 1.0 / np.sqrt(n)
    for step in range(_STEPS):
        apart = places[:, None] - places[None]
        distance = np.maximum(np.hypot(apart[..., 0], apart[..., 1]), 1e-6)
        force = length**2 / distance**2 - joined * distance / length
        shift = np.einsum("ijk,ij->ik", apart, force)
        shift -= 0.5 * places  # what is joined to nothing does not drift away
        far = np.maximum(np.hypot(shift[:, 0], shift[:, 1]), 1e-12)
        reach = 0.1 * (1.0 - step / _STEPS)
        places = places + shift * (np.minimum(far, reach) / far)[:, None]
    centred: npt.NDArray[np.float64] = places - places.mean(axis=0)
    return centred / max(float(np.hypot(*centred.T).max()), 1e-12)
