"""The adjacency matrix of a graph as a picture, in an order in which its clique can be seen.

A graph of a hundred thousand vertices has more pairs than a screen has pixels: a pixel stands for the pairs of two
runs of vertices, and is as dark as the share of them that are edges. Memory is that of the picture, whatever the graph.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..graphs import Graph
from . import palette

__all__ = ["adjacency_picture", "order_by_clique", "order_by_core"]

_Vertices = npt.NDArray[np.int64]

_FAINTEST = 0.3
"""How dark a pixel with few edges is at least, from 0 to 1: sparse graphs are not blank."""


def order_by_core(graph: Graph) -> _Vertices:
    """Return the vertices by decreasing core number."""
    return graph.degeneracy_order()[::-1]


def order_by_clique(graph: Graph, clique: _Vertices) -> _Vertices:
    """Return the vertices of a clique, then those that are joined to most of them; ties by core number."""
    joined = np.zeros(graph.num_vertices, dtype=np.int64)
    for vertex in clique:
        joined[graph.neighbours(int(vertex))] += 1
    joined[clique] = graph.num_vertices
    return np.lexsort((-graph.core_numbers(), -joined))


def adjacency_picture(graph: Graph, order: _Vertices, clique: _Vertices, most: int) -> npt.NDArray[np.uint8]:
    """Return ``(p, p, 3)`` red, green and blue, p at most ``most``: edges grey, those of the clique green."""
    n = graph.num_vertices
    size = min(n, most)
    if size == 0:
        return np.full((1, 1, 3), 255, dtype=np.uint8)
    cell = np.empty(n, dtype=np.int64)
    cell[order] = np.arange(n) * size // n
    edges = np.zeros((size, size))
    for vertex in range(n):
        edges[cell[vertex]] += np.bincount(cell[graph.neighbours(vertex)], minlength=size)
    width = np.bincount(cell, minlength=size)
    share = edges / np.outer(width, width)
    darkness = np.where(share > 0.0, _FAINTEST + (1.0 - _FAINTEST) * share, 0.0)[:, :, None]
    picture = 255.0 + darkness * (np.array(palette.rgb(palette.EDGE)) - 255.0)
    marked = np.zeros(size, dtype=np.bool_)
    marked[cell[clique]] = True
    picture[np.ix_(marked, marked)] = palette.rgb(palette.INLIER)
    return picture.round().astype(np.uint8)
