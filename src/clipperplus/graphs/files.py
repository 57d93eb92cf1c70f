"""Graph files: DIMACS ASCII and binary, MatrixMarket, edge lists, each also gzipped.

The format follows from the name:

========================  ==============================================================
``.clq``, ``.col``        DIMACS ASCII, ``p edge N M`` and ``e i j``, vertices from 1; their weights as ``n i w``
``.clq.b``, ``.col.b``    DIMACS binary, a text preamble and a packed lower triangle
``.mtx``                  MatrixMarket coordinate matrix, vertices from 1
``.txt``, ``.edges``      one edge per line, vertices from 0, ``#`` comments
========================  ==============================================================
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .. import _core
from .._limits import check_fits
from .._paths import as_path, is_gzip, read_file, write_bytes
from ..errors import FileFormatError, GraphError
from .graph import Graph

__all__ = ["graph_name", "read_graph", "write_graph"]


def read_graph(path: str | os.PathLike[str], *, size_limit: int | None = None) -> Graph:
    """Read a graph file; the format follows from the name (see the module's table), ``.gz`` is unpacked.

    A graph that would take more than ``size_limit`` bytes is refused with :class:`MemoryLimitError` before it is made;
    without it, more than 256 MiB and 100 times the size of the file. A vertex takes 24 bytes, with edges or without.
    """
    path = as_path(path)
    parse, _ = _format(path)
    data, limit = read_file(path, size_limit)
    try:
        with limit.enforced():
            return parse(data, limit.limit - len(data))
    except _core.TextTooLarge as error:
        limit.check(len(data) + int(str(error)))
        raise
    except _core.TextError as error:
        raise FileFormatError(f"{path}: {error}") from None
    except GraphError as error:
        raise FileFormatError(f"{path}: {error}") from None


def write_graph(path: str | os.PathLike[str], graph: Graph) -> None:
    """Write a graph file; the format follows from the name, as in :func:`read_graph`.

    Weights of vertices are kept in DIMACS files; the other formats have no place for them, and are refused.
    """
    path = as_path(path)
    if not isinstance(graph, Graph):
        raise GraphError(f"graph: expected a clipperplus.Graph, got {type(graph).__name__}")
    _, render = _format(path)
    write_bytes(path, render(graph))


def graph_name(path: Path) -> str | None:
    """Return the name of a graph file without its ending; None if it does not end like a graph file."""
    plain = path.name[:-3] if is_gzip(path) else path.name
    suffix = next((suffix for suffix in _FORMATS if plain.lower().endswith(suffix)), None)
    return None if suffix is None else plain[: -len(suffix)]


def _format(path: Path) -> tuple[Callable[[bytes, int], Graph], Callable[[Graph], bytes]]:
    name = path.name.lower().removesuffix(".gz")
    for suffix, functions in _FORMATS.items():
        if name.endswith(suffix):
            return functions
    known = " ".join(_FORMATS)
    raise FileFormatError(f"{path}: unknown kind of graph file; known endings are {known}, each also with .gz")


def _parse_dimacs(data: bytes, limit: int) -> Graph:
    return _weighted(*_core.parse_dimacs(data, limit))


def _parse_dimacs_binary(data: bytes, limit: int) -> Graph:
    return _weighted(*_core.parse_dimacs_binary(data, limit))


def _parse_matrix_market(data: bytes, limit: int) -> Graph:
    return Graph._wrap(_core.parse_matrix_market(data, limit))


def _parse_edge_list(data: bytes, limit: int) -> Graph:
    return Graph._wrap(_core.parse_edge_list(data, limit))


def _weighted(native: _core.Graph, weights: Any) -> Graph:
    graph = Graph._wrap(native)
    return graph if weights is None else graph.with_vertex_weights(weights)


def _weight_lines(graph: Graph) -> str:
    weights = () if graph.vertex_weights is None else graph.vertex_weights.tolist()
    return "".join(f"n {vertex} {weight!r}\n" for vertex, weight in enumerate(weights, start=1))


def _check_unweighted(graph: Graph) -> None:
    if graph.vertex_weights is not None:
        raise GraphError("graph: this format has no weights of vertices; use .clq, or graph.unweighted()")


def _render_dimacs(graph: Graph) -> bytes:
    header = f"p edge {graph.num_vertices} {graph.num_edges}\n{_weight_lines(graph)}".encode()
    return header + _edge_lines(graph, "e ", 1, True)


def _render_dimacs_binary(graph: Graph) -> bytes:
    n = graph.num_vertices
    if n * n // 16 > _BINARY_LIMIT_BYTES:
        raise GraphError(f"graph: {n} vertices would take {n * n / 2**34:.0f} GiB in this format; use .clq or .edges")
    return _core.format_dimacs_binary(graph._native, _weight_lines(graph))


def _render_matrix_market(graph: Graph) -> bytes:
    _check_unweighted(graph)
    header = f"%%MatrixMarket matrix coordinate pattern symmetric\n{graph.num_vertices} {graph.num_vertices} "
    return f"{header}{graph.num_edges}\n".encode() + _edge_lines(graph, "", 1, False)


def _render_edge_list(graph: Graph) -> bytes:
    _check_unweighted(graph)
    header = f"# vertices {graph.num_vertices} edges {graph.num_edges}\n".encode()
    return header + _edge_lines(graph, "", 0, True)


def _edge_lines(graph: Graph, prefix: str, base: int, lower_first: bool) -> bytes:
    """Return a line for each edge; while they are made, they are there twice."""
    longest = len(prefix) + 2 * len(str(graph.num_vertices)) + 2
    check_fits(f"graph: {graph.num_edges} edges as text take", 2 * longest * graph.num_edges)
    return _core.format_edges(graph._native, prefix, base, lower_first)


_BINARY_LIMIT_BYTES = 4 << 30
_FORMATS = {
    ".clq": (_parse_dimacs, _render_dimacs),
    ".col": (_parse_dimacs, _render_dimacs),
    ".clq.b": (_parse_dimacs_binary, _render_dimacs_binary),
    ".col.b": (_parse_dimacs_binary, _render_dimacs_binary),
    ".mtx": (_parse_matrix_market, _render_matrix_market),
    ".txt": (_parse_edge_list, _render_edge_list),
    ".edges": (_parse_edge_list, _render_edge_list),
}
