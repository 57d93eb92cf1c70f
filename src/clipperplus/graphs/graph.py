"""Graph: simple, undirected, immutable, validated once.

Rows are bit-packed where that pays and CSR otherwise; the choice follows from the numbers of vertices and edges alone
and can be read off :attr:`Graph.representation`.
"""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from .. import _core
from .._limits import check_fits
from .._validation import as_array, as_integer
from .._words import shown
from ..errors import GraphError, MissingPackageError
from ._sparse import cells_to_rows, is_sparse, sparse_cells
from ._vertex_weights import as_vertex_weights

__all__ = ["Graph"]

_DENSE_LIMIT_BYTES = 4 << 30
_PAIR_BYTES = 16
"""An edge as a pair of integers."""
_ROW_BYTES = 16
"""An edge while it is pickled: twice a column, in an array and in the pickle."""
_NETWORKX_BYTES = 330
"""An edge of networkx: two entries of dictionaries, and a dictionary of its own; measured."""
_SPARSE_BYTES = 10
"""An edge in a sparse matrix: twice a column and a truth value."""


class Graph:
    """A simple undirected graph on the vertices 0 … n-1.

    Build one with :meth:`from_edges`, :meth:`from_adjacency` or :meth:`from_networkx`, or read one with
    :func:`clipperplus.read_graph`. Graphs compare by value, pickle, and never change. Vertices may have weights:
    :meth:`with_vertex_weights`.
    """

    __slots__ = ("_native", "_weights")
    _native: _core.Graph
    _weights: npt.NDArray[Any] | None

    def __init__(self) -> None:
        raise GraphError("use Graph.from_edges, Graph.from_adjacency, Graph.from_networkx or read_graph")

    @classmethod
    def _wrap(cls, native: _core.Graph, weights: npt.NDArray[Any] | None = None) -> Graph:
        graph = object.__new__(cls)
        object.__setattr__(graph, "_native", native)
        object.__setattr__(graph, "_weights", weights)
        return graph

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a Graph cannot be changed (tried to set {name!r})")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"a Graph cannot be changed (tried to delete {name!r})")

    # Construction ---------------------------------------------------------------------------------------------------

    @classmethod
    def from_edges(cls, n: int, edges: npt.ArrayLike) -> Graph:
        """Make the graph with ``n`` vertices and the given pairs of vertices.

        ``edges`` is ``(m, 2)``, integers. Repeated edges, in either direction, collapse; self-loops and vertices out
        of range are refused. An empty list gives a graph without edges.
        """
        n = _vertex_count("n", n)
        pairs = as_array("edges", edges, GraphError)
        if pairs.shape in ((0,), (0, 2)):
            pairs = np.empty((0, 2), dtype=np.int64)
        if pairs.ndim != 2 or pairs.shape[1] != 2:
            hint = "; did you mean edges.T?" if pairs.ndim == 2 and pairs.shape[0] == 2 else ""
            raise GraphError(f"edges: expected an array of shape (m, 2), got {pairs.shape}{hint}")
        if pairs.dtype.kind not in "iu":
            raise GraphError(f"edges: expected integers, got dtype {pairs.dtype}")
        if pairs.dtype.kind == "u" and pairs.size and pairs.max() > np.iinfo(np.int64).max:
            raise GraphError(f"edges: vertex {pairs.max()} is out of range for {n} vertices")
        if pairs.dtype not in (np.int32, np.int64) or not pairs.dtype.isnative or not pairs.flags.aligned:
            pairs = pairs.astype(np.int64)
        try:
            return cls._wrap(_core.Graph.from_edges(n, pairs))
        except _core.InvalidGraph as error:
            raise GraphError(str(error)) from None

    @classmethod
    def from_adjacency(cls, adjacency: Any) -> Graph:
        """Make a graph from a square, symmetric matrix of zeros and ones with a zero diagonal.

        Takes a dense array (bool, integer or float) or any ``scipy.sparse`` matrix or array. Stored zeros of a sparse
        matrix count as zeros.
        """
        if is_sparse(adjacency):
            return cls._from_sparse(adjacency)
        matrix = as_array("adjacency", adjacency, GraphError)
        _check_square(matrix.shape)
        if matrix.dtype != np.bool_:
            if matrix.dtype.kind not in "iuf":
                raise GraphError(f"adjacency: expected bool, integer or float entries, got dtype {matrix.dtype}")
            ones = matrix == 1
            wrong = ~(ones | (matrix == 0))
            if wrong.any():
                row, column = np.unravel_index(int(wrong.argmax()), matrix.shape)
                raise GraphError(f"adjacency: entry ({row}, {column}) is {matrix[row, column]}; expected 0 or 1")
            matrix = ones
        rows = np.packbits(matrix, axis=1, bitorder="little")
        try:
            return cls._wrap(_core.Graph.from_packed_rows(np.ascontiguousarray(rows)))
        except _core.InvalidGraph as error:
            raise GraphError(str(error)) from None

    @classmethod
    def _from_sparse(cls, adjacency: Any) -> Graph:
        n = _check_square(adjacency.shape)
        cells, values = sparse_cells("adjacency", adjacency, n, GraphError)
        wrong = np.flatnonzero((values != 0) & (values != 1))
        if wrong.size:
            row, column = divmod(int(cells[wrong[0]]), n)
            raise GraphError(f"adjacency: entry ({row}, {column}) is {values[wrong[0]]}; expected 0 or 1")
        try:
            return cls._wrap(_core.Graph.from_csr(*cells_to_rows(cells[values == 1], n)))
        except _core.InvalidGraph as error:
            raise GraphError(str(error)) from None

    @classmethod
    def from_networkx(cls, graph: Any, *, weight: str | None = "weight") -> Graph:
        """Make a graph from an undirected networkx graph; vertex i is the i-th of ``graph.nodes``.

        Parallel edges collapse; directed graphs and self-loops are refused. Nodes with an attribute named ``weight``
        have that weight; if some have one, all must.
        """
        if isinstance(graph, type) or not hasattr(graph, "is_directed") or not hasattr(graph, "edges"):
            raise GraphError(f"graph: expected a networkx graph, got {shown(graph)}")
        if graph.is_directed():
            raise GraphError("graph: expected an undirected networkx graph; graph.to_undirected() makes one")
        index = {node: i for i, node in enumerate(graph.nodes)}
        edges = [(index[u], index[v]) for u, v in graph.edges()]
        made = cls.from_edges(len(index), np.array(edges, dtype=np.int64).reshape(-1, 2))
        weights = {} if weight is None else dict(graph.nodes(data=weight, default=None))
        if all(value is None for value in weights.values()):
            return made
        without = next((node for node, value in weights.items() if value is None), None)
        if without is not None:
            raise GraphError(
                f"graph: node {without!r:.40} has no {weight!r}, but others have; weight=None ignores them"
            )
        return made.with_vertex_weights(list(weights.values()))

    def to_networkx(self) -> Any:
        """Return a ``networkx.Graph`` on the nodes 0 … n-1; weights of vertices become ``weight`` of its nodes."""
        try:
            import networkx
        except ImportError:
            raise MissingPackageError("to_networkx needs networkx: pip install networkx") from None
        self._check_edges_fit("in networkx", _NETWORKX_BYTES)
        made = networkx.Graph()
        made.add_nodes_from(range(self.num_vertices))
        made.add_edges_from(self.edges().tolist())
        if self._weights is not None:
            networkx.set_node_attributes(made, dict(enumerate(self._weights.tolist())), "weight")
        return made

    def with_vertex_weights(self, weights: npt.ArrayLike) -> Graph:
        """Return the same graph with a weight for each vertex, ``(n,)``: integers or floats of at least 0.

        :func:`clipperplus.find_clique` then looks for the heaviest clique. Subgraphs, the complement, pickles and
        DIMACS files keep the weights.
        """
        return Graph._wrap(self._native, as_vertex_weights("weights", weights, self.num_vertices))

    def unweighted(self) -> Graph:
        """Return the same graph without weights."""
        return Graph._wrap(self._native)

    # What it is -----------------------------------------------------------------------------------------------------

    @property
    def num_vertices(self) -> int:
        """Number of vertices."""
        return self._native.num_vertices

    @property
    def num_edges(self) -> int:
        """Number of edges, each counted once."""
        return self._native.num_edges

    @property
    def density(self) -> float:
        """Share of the possible edges that exist; 0 for a graph of fewer than two vertices."""
        possible = self.num_vertices * (self.num_vertices - 1) // 2
        return self.num_edges / possible if possible else 0.0

    @property
    def representation(self) -> str:
        """``"bits"`` or ``"csr"``: how the graph is stored."""
        return "bits" if self._native.has_bits else "csr"

    @property
    def nbytes(self) -> int:
        """Memory of the graph in bytes."""
        return self._native.nbytes

    @property
    def vertex_weights(self) -> npt.NDArray[np.int64] | npt.NDArray[np.float64] | None:
        """``(n,)``, read-only: what each vertex weighs, integers or floats; None if nothing was said."""
        return self._weights

    def degrees(self) -> npt.NDArray[np.int64]:
        """Number of neighbours of every vertex."""
        return self._native.degrees()

    def has_edge(self, u: int, v: int) -> bool:
        """Whether ``u`` and ``v`` are neighbours."""
        return self._native.has_edge(self._vertex("u", u), self._vertex("v", v))

    def neighbours(self, v: int) -> npt.NDArray[np.int64]:
        """Neighbours of ``v``, sorted. ``neighbors`` is the same, for those who come from networkx."""
        return self._native.neighbours(self._vertex("v", v))

    neighbors = neighbours

    def edges(self) -> npt.NDArray[np.int64]:
        """All edges as ``(m, 2)`` pairs u < v, sorted."""
        self._check_edges_fit("as pairs", _PAIR_BYTES)
        return self._native.edges().reshape(-1, 2)

    def adjacency(self, *, sparse: bool = False) -> Any:
        """Return the adjacency matrix: a dense bool array, or with ``sparse=True`` a ``scipy.sparse.csr_array``."""
        n = self.num_vertices
        if sparse:
            from scipy.sparse import csr_array

            self._check_edges_fit("as a sparse matrix", _SPARSE_BYTES)
            offsets, neighbours = self._native.csr()
            if neighbours.size < 2**31:  # or scipy would widen the columns instead
                offsets = offsets.astype(np.int32)
            return csr_array((np.ones(neighbours.size, dtype=np.bool_), neighbours, offsets), shape=(n, n))
        if n * n > _DENSE_LIMIT_BYTES:
            raise GraphError(f"a dense matrix of {n} × {n} would take {n * n / 2**30:.0f} GiB; use sparse=True")
        check_fits(f"adjacency: a dense matrix of {n} × {n} takes", n * n)
        matrix = np.zeros((n, n), dtype=np.bool_)
        for vertex in range(n):
            matrix[vertex, self._native.neighbours(vertex)] = True
        return matrix

    def core_numbers(self) -> npt.NDArray[np.int64]:
        """Core number of every vertex: the largest k such that it lies in a subgraph of least degree k."""
        return _core.core_numbers(self._native)[0].astype(np.int64)

    def degeneracy_order(self) -> npt.NDArray[np.int64]:
        """Order the vertices smallest-last: each has at most its core number of neighbours among those after it."""
        return _core.core_numbers(self._native)[1].astype(np.int64)

    # What comes from it ---------------------------------------------------------------------------------------------

    def subgraph(self, vertices: npt.ArrayLike) -> Graph:
        """Return the graph on ``vertices``, relabelled 0 … k-1 in the order given. A permutation reorders the graph."""
        chosen = as_array("vertices", vertices, GraphError)
        if chosen.shape == (0,):
            chosen = np.empty(0, dtype=np.int64)
        if chosen.ndim != 1 or chosen.dtype.kind not in "iu":
            raise GraphError(f"vertices: expected a vector of integers, got shape {chosen.shape}, dtype {chosen.dtype}")
        chosen = np.array(chosen, dtype=np.int64)  # a copy: the caller's array may change
        outside = np.flatnonzero((chosen < 0) | (chosen >= self.num_vertices))
        if outside.size:
            raise GraphError(
                f"vertices: entry {outside[0]} is {chosen[outside[0]]}, "
                f"but there are {self.num_vertices} vertices, counted from 0"
            )
        counts = np.bincount(chosen, minlength=1)
        if counts.max() > 1:
            raise GraphError(f"vertices: vertex {int((counts > 1).argmax())} is listed more than once")
        weights = None
        if self._weights is not None:
            weights = self._weights[chosen]
            weights.flags.writeable = False
        return Graph._wrap(self._native.subgraph(chosen.astype(np.int32)), weights)

    def complement(self) -> Graph:
        """Return the graph whose edges are the pairs that are not joined here."""
        n = self.num_vertices
        if n * n // 8 > _DENSE_LIMIT_BYTES:
            raise GraphError(f"the complement of a sparse graph of {n} vertices would take {n * n / 2**33:.0f} GiB")
        return Graph._wrap(self._native.complement(), self._weights)

    # Python ---------------------------------------------------------------------------------------------------------

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Graph):
            return NotImplemented
        if self._weights is None or other._weights is None:
            return self._weights is other._weights and self._native == other._native
        return self._native == other._native and bool(np.array_equal(self._weights, other._weights))

    def __hash__(self) -> int:
        return hash((self.num_vertices, self.num_edges))

    def __repr__(self) -> str:
        weighted = "" if self._weights is None else ", with weights"
        return (
            f"Graph({self.num_vertices} vertices, {self.num_edges} edges, density {self.density:.3g}, "
            f"{self.representation}{weighted})"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        if self._native.has_bits:  # half of them, as in a file
            return _again_from_bits, (_core.format_dimacs_binary(self._native, ""), self._weights)
        self._check_edges_fit("pickled", _ROW_BYTES)
        return _again_from_rows, (*self._native.csr(), self._weights)

    def _check_edges_fit(self, how: str, bytes_an_edge: int) -> None:
        """Refuse edges that are larger than the memory in another form, which may take many times that of the graph."""
        count = self.num_edges
        check_fits(f"graph: {count} edges {how} take", bytes_an_edge * count)

    def _vertex(self, name: str, v: int) -> int:
        return as_integer(name, v, 0, self.num_vertices - 1, GraphError)


def _again(n: int, edges: npt.NDArray[np.int64], weights: npt.NDArray[Any] | None) -> Graph:
    """Make a graph that the first version pickled."""
    graph = Graph.from_edges(n, edges)
    return graph if weights is None else graph.with_vertex_weights(weights)


def _again_from_bits(content: bytes, weights: npt.NDArray[Any] | None) -> Graph:
    """Make a dense graph that was pickled."""
    graph = Graph._wrap(_core.parse_dimacs_binary(content, 2**62)[0])
    return graph if weights is None else graph.with_vertex_weights(weights)


def _again_from_rows(
    offsets: npt.NDArray[np.int64], neighbours: npt.NDArray[np.int32], weights: npt.NDArray[Any] | None
) -> Graph:
    """Make a sparse graph that was pickled."""
    graph = Graph._wrap(_core.Graph.from_csr(offsets, neighbours))
    return graph if weights is None else graph.with_vertex_weights(weights)


def _vertex_count(name: str, n: int) -> int:
    return as_integer(name, n, 0, _core.Graph.MAX_VERTICES, GraphError)


def _check_square(shape: tuple[int, ...]) -> int:
    if len(shape) != 2 or shape[0] != shape[1]:
        raise GraphError(f"adjacency: expected a square matrix, got shape {tuple(shape)}")
    return _vertex_count("adjacency: number of rows", shape[0])
