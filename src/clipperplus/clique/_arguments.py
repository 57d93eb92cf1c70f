"""Checks of arguments that the searches share."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from .. import _core
from .._validation import as_array, as_number
from ..errors import ClipperPlusError, GraphError, OptionError
from ..graphs import Graph

__all__ = ["as_clique", "as_time_limit", "as_vertices", "check_graph"]


def check_graph(graph: object) -> None:
    """Refuse what is no Graph."""
    if not isinstance(graph, Graph):
        raise GraphError(
            f"graph: expected a clipperplus.Graph, got {type(graph).__name__}; "
            "Graph.from_adjacency and Graph.from_networkx make one"
        )


def as_time_limit(seconds: object) -> float | None:
    """Return seconds of at least zero; None, also for infinity, is no limit."""
    if seconds is None or (isinstance(seconds, float) and seconds == math.inf):
        return None
    return as_number("time_limit", seconds, 0.0, math.inf)


def as_vertices(
    graph: Graph, name: str, vertices: npt.ArrayLike, error: type[ClipperPlusError] = OptionError
) -> npt.NDArray[np.int64]:
    """Return distinct vertices of the graph as an array."""
    array = as_array(name, vertices, error)
    if array.shape == (0,):
        return np.empty(0, dtype=np.int64)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise error(f"{name}: expected a list of vertices, got an array of shape {array.shape}, dtype {array.dtype}")
    outside = (array < 0) | (array >= graph.num_vertices)
    if outside.any():
        raise error(f"{name}: vertex {array[outside][0]} is out of range for {graph.num_vertices} vertices")
    array = np.ascontiguousarray(array, dtype=np.int64)
    if np.unique(array).size < array.size:
        raise error(f"{name}: expected distinct vertices, some appear twice")
    return array


def as_clique(graph: Graph, name: str, vertices: npt.ArrayLike) -> npt.NDArray[np.int64]:
    """Return the vertices of a clique of the graph as an array."""
    array = as_vertices(graph, name, vertices)
    if array.size > 1 and _core.make_maximal(graph._native, array)[1] > 0:
        raise OptionError(f"{name}: the {array.size} vertices are no clique, some of them are not joined")
    return array
