"""Graph files: DIMACS ASCII and binary, MatrixMarket, edge lists, each also gzipped.

The format follows from the name:

========================  ==============================================================
``.clq``, ``.col``        DIMACS ASCII, ``p edge N M`` and ``e i j``, vertices from 1
``.clq.b``, ``.col.b``    DIMACS binary, a text preamble and a packed lower triangle
``.mtx``                  MatrixMarket coordinate matrix, vertices from 1
``.txt``, ``.edges``      one edge per line, vertices from 0, ``#`` comments
========================  ==============================================================
"""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np

from .. import _core
from ..errors import FileFormatError
from ..graph import Graph

__all__ = ["read_graph", "write_graph"]


def read_graph(path: str | os.PathLike[str]) -> Graph:
    """Read a graph file; the format follows from the name (see the module's table), ``.gz`` is unpacked."""
    path = Path(path)
    parse, _ = _format(path)
    data = path.read_bytes()
    if path.suffix == ".gz":
        try:
            data = gzip.decompress(data)
        except (EOFError, OSError, zlib.error) as error:
            raise FileFormatError(f"{path}: not a complete gzip file ({error})") from None
    try:
        return parse(data)
    except _core.TextError as error:
        raise FileFormatError(f"{path}: {error}") from None
    except FileFormatError as error:
        raise FileFormatError(f"{path}: {error}") from None


def write_graph(path: str | os.PathLike[str], graph: Graph) -> None:
    """Write a graph file; the format follows from the name, as in :func:`read_graph`."""
    path = Path(path)
    _, render = _format(path)
    data = render(graph)
    path.write_bytes(gzip.compress(data, mtime=0) if path.suffix == ".gz" else data)


def _format(path: Path) -> tuple[Callable[[bytes], Graph], Callable[[Graph], bytes]]:
    name = path.name.lower().removesuffix(".gz")
    for suffix, functions in _FORMATS.items():
        if name.endswith(suffix):
            return functions
    known = " ".join(_FORMATS)
    raise FileFormatError(f"{path}: unknown kind of graph file; known endings are {known}, each also with .gz")


def _graph_from_text(parsed: tuple[int, np.ndarray[tuple[int], np.dtype[np.int64]]]) -> Graph:
    n, edges = parsed
    return Graph.from_edges(n, edges.reshape(-1, 2))


def _edge_lines(graph: Graph, prefix: str, base: int) -> bytes:
    return _core.format_edges(graph.edges().reshape(-1), prefix, base)


def _parse_dimacs(data: bytes) -> Graph:
    return _graph_from_text(_core.parse_dimacs(data))


def _render_dimacs(graph: Graph) -> bytes:
    return f"p edge {graph.num_vertices} {graph.num_edges}\n".encode() + _edge_lines(graph, "e ", 1)


def _parse_dimacs_binary(data: bytes) -> Graph:
    """Parse the DIMACS binary format.

    The first line holds the length of a preamble, the preamble is DIMACS ASCII without edges; then row i of the lower
    triangle follows in i // 8 + 1 bytes, column 0 in the highest bit.
    """
    first, newline, rest = data.partition(b"\n")
    if not newline or len(first) > 20 or not first.strip().isdigit():
        raise FileFormatError("line 1: expected the length of the preamble; not a DIMACS binary file")
    length = int(first)
    if length > len(rest):
        raise FileFormatError(f"line 1: the preamble should have {length} bytes, the file has {len(rest)} more")
    n, m = _dimacs_size(rest[:length])
    packed = np.frombuffer(rest, dtype=np.uint8, offset=length)
    if packed.size != _row_start(n):
        raise FileFormatError(
            f"byte {len(first) + 1 + length}: {n} vertices need {_row_start(n)} bytes of rows, "
            f"the file has {packed.size}"
        )
    edges = []
    for i in range(n):
        row = np.unpackbits(packed[_row_start(i) : _row_start(i + 1)])
        columns = np.flatnonzero(row)
        if columns.size and columns[-1] >= i:
            raise FileFormatError(
                f"byte {len(first) + 1 + length + _row_start(i)}: row {i + 1} has bit {columns[-1] + 1} set, "
                "on or above the diagonal"
            )
        edges.append(np.column_stack((np.full(columns.size, i), columns)))
    pairs = np.concatenate(edges) if edges else np.empty((0, 2), dtype=np.int64)
    if len(pairs) != m:
        raise FileFormatError(f"line 1: the preamble promises {m} edges, the rows hold {len(pairs)}")
    return Graph.from_edges(n, pairs)


def _row_start(i: int) -> int:
    """Bytes before row i of a packed lower triangle: the sum of k // 8 + 1 over k < i."""
    full, rest = divmod(i, 8)
    return i + 4 * full * (full - 1) + full * rest


def _dimacs_size(preamble: bytes) -> tuple[int, int]:
    for number, line in enumerate(preamble.split(b"\n"), start=2):
        words = line.split()
        if words[:1] == [b"p"]:
            if len(words) != 4 or not words[2].isdigit() or not words[3].isdigit():
                raise FileFormatError(f"line {number}: expected 'p edge N M'")
            n, m = int(words[2]), int(words[3])
            if n > _core.Graph.MAX_VERTICES:
                raise FileFormatError(f"line {number}: {n} vertices are too many")
            return n, m
    raise FileFormatError("line 2: the preamble has no 'p edge N M' line")


def _render_dimacs_binary(graph: Graph) -> bytes:
    preamble = f"p edge {graph.num_vertices} {graph.num_edges}\n".encode()
    rows = []
    for i in range(graph.num_vertices):
        row = np.zeros(8 * (i // 8 + 1), dtype=np.uint8)
        neighbours = graph.neighbors(i)
        row[neighbours[neighbours < i]] = 1
        rows.append(np.packbits(row).tobytes())
    return f"{len(preamble)}\n".encode() + preamble + b"".join(rows)


def _parse_matrix_market(data: bytes) -> Graph:
    return _graph_from_text(_core.parse_matrix_market(data))


def _render_matrix_market(graph: Graph) -> bytes:
    header = f"%%MatrixMarket matrix coordinate pattern symmetric\n{graph.num_vertices} {graph.num_vertices} "
    lower = np.ascontiguousarray(graph.edges()[:, ::-1]).reshape(-1)
    return f"{header}{graph.num_edges}\n".encode() + _core.format_edges(lower, "", 1)


def _parse_edge_list(data: bytes) -> Graph:
    return _graph_from_text(_core.parse_edge_list(data))


def _render_edge_list(graph: Graph) -> bytes:
    return f"# vertices {graph.num_vertices} edges {graph.num_edges}\n".encode() + _edge_lines(graph, "", 0)


_FORMATS = {
    ".clq": (_parse_dimacs, _render_dimacs),
    ".col": (_parse_dimacs, _render_dimacs),
    ".clq.b": (_parse_dimacs_binary, _render_dimacs_binary),
    ".col.b": (_parse_dimacs_binary, _render_dimacs_binary),
    ".mtx": (_parse_matrix_market, _render_matrix_market),
    ".txt": (_parse_edge_list, _render_edge_list),
    ".edges": (_parse_edge_list, _render_edge_list),
}
