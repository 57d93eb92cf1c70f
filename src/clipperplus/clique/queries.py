"""Questions about a set of vertices."""

from __future__ import annotations

import numpy.typing as npt

from .. import _core
from ..graphs import Graph
from ._arguments import as_vertices, check_graph

__all__ = ["is_clique", "is_maximal"]


def is_clique(graph: Graph, vertices: npt.ArrayLike) -> bool:
    """Whether every two of these distinct vertices are joined. The empty set is a clique."""
    check_graph(graph)
    chosen = as_vertices(graph, "vertices", vertices)
    return chosen.size < 2 or _core.make_maximal(graph._native, chosen)[1] == 0


def is_maximal(graph: Graph, vertices: npt.ArrayLike) -> bool:
    """Whether these vertices are a clique that no further vertex can join."""
    check_graph(graph)
    _, removed, added = _core.make_maximal(graph._native, as_vertices(graph, "vertices", vertices))
    return removed == 0 and added == 0
