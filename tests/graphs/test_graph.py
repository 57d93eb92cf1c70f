"""Graph: what it accepts, what it refuses and in which words, and what it answers."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from oracles import to_networkx
from strategies import graphs, random_graph, uniform_graphs

import clipperplus as cp
from clipperplus.graphs.graph import _again

TRIANGLE_AND_PATH = [(0, 1), (1, 2), (0, 2), (3, 4), (4, 5)]


def test_edges_come_back_sorted_and_once() -> None:
    graph = cp.Graph.from_edges(6, [(4, 3), (1, 0), (0, 1), (2, 1), (0, 2), (4, 5), (5, 4)])
    assert graph.edges().tolist() == sorted(map(list, TRIANGLE_AND_PATH))
    assert (graph.num_vertices, graph.num_edges) == (6, 5)
    assert graph.density == pytest.approx(5 / 15)


@pytest.mark.parametrize("n", [0, 1, 2, 63, 64, 65, 500])
def test_graph_without_edges_is_valid(n: int) -> None:
    graph = cp.Graph.from_edges(n, [])
    assert (graph.num_vertices, graph.num_edges, graph.density) == (n, 0, 0.0)
    assert graph.edges().shape == (0, 2)
    assert graph.core_numbers().tolist() == [0] * n
    assert graph == cp.Graph.from_adjacency(np.zeros((n, n)))


@pytest.mark.parametrize(
    "dtype", [np.bool_, np.uint8, np.int8, np.int16, np.int32, np.int64, np.uint64, np.float16, np.float32, np.float64]
)
@pytest.mark.parametrize("order", ["C", "F"])
def test_dense_matrices_of_every_kind_give_the_same_graph(dtype: type, order: str) -> None:
    matrix = random_graph(70, 0.3, 0).adjacency()
    assert cp.Graph.from_adjacency(np.asarray(matrix, dtype=dtype, order=order)) == cp.Graph.from_adjacency(matrix)


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"])
def test_sparse_matrices_of_every_format_give_the_same_graph(form: str) -> None:
    matrix = random_graph(40, 0.3, 0).adjacency()
    sparse = sp.csr_array(matrix.astype(float)).asformat(form)
    assert cp.Graph.from_adjacency(sparse) == cp.Graph.from_adjacency(matrix)


def test_stored_zeros_of_a_sparse_matrix_are_no_edges() -> None:
    entries = ([1, 1, 0, 0], ([0, 1, 1, 2], [1, 0, 2, 1]))
    assert cp.Graph.from_adjacency(sp.coo_array(entries, shape=(3, 3))).edges().tolist() == [[0, 1]]


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int32, np.uint32, np.int64, np.uint64, ">i4", ">i8"])
def test_edges_of_every_integer_type_and_memory_order(dtype: str) -> None:
    edges = np.array(TRIANGLE_AND_PATH, dtype=dtype)
    expected = cp.Graph.from_edges(6, TRIANGLE_AND_PATH)
    assert cp.Graph.from_edges(6, edges) == expected
    assert cp.Graph.from_edges(6, np.asfortranarray(edges)) == expected
    assert cp.Graph.from_edges(6, edges[::-1, ::-1]) == expected
    assert cp.Graph.from_edges(6, np.repeat(edges, 2, axis=0)[::2]) == expected


def test_networkx_graph_keeps_its_node_order() -> None:
    source = nx.MultiGraph([("b", "a"), ("a", "c"), ("a", "b")])
    graph = cp.Graph.from_networkx(source)
    assert list(source.nodes) == ["b", "a", "c"]
    assert graph.edges().tolist() == [[0, 1], [1, 2]]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: cp.Graph.from_edges(3, [(0, 1), (1, 3)]), r"edges: edge 1 is \(1, 3\), but there are 3 vertices"),
        (lambda: cp.Graph.from_edges(3, [(0, -1)]), r"edges: edge 0 is \(0, -1\)"),
        (lambda: cp.Graph.from_edges(3, [(0, 1), (2, 2)]), r"edges: edge 1 is \(2, 2\), a self-loop"),
        (lambda: cp.Graph.from_edges(-1, []), r"n: expected an integer from 0 to \d+, got -1"),
        (lambda: cp.Graph.from_edges(2**40, []), r"n: expected an integer from 0 to \d+, got 1099511627776"),
        (lambda: cp.Graph.from_edges(2.5, []), r"n: expected an integer, got 2.5"),
        (lambda: cp.Graph.from_edges(3, np.zeros((3, 0), int)), r"edges: expected an array of shape \(m, 2\)"),
        (lambda: cp.Graph.from_edges(3, [(0, 1), (2,)]), r"edges: expected an array, got list"),
        (lambda: cp.Graph.from_edges(3, np.ma.zeros((1, 2), int)), r"edges: expected an array without a mask"),
        (lambda: cp.Graph.from_edges(3, [(0.0, 1.0)]), r"edges: expected integers, got dtype float64"),
        (lambda: cp.Graph.from_edges(9, np.zeros((2, 5), int)), r"shape \(m, 2\), got \(2, 5\); did you mean edges.T"),
        (lambda: cp.Graph.from_edges(3, [0, 1]), r"edges: expected an array of shape \(m, 2\), got \(2,\)"),
        (lambda: cp.Graph.from_edges(3, np.array([(0, 2**64 - 1)], np.uint64)), r"edges: vertex 18446744073709551615"),
        (lambda: cp.Graph.from_adjacency(np.zeros((2, 3))), r"adjacency: expected a square matrix, got shape \(2, 3\)"),
        (lambda: cp.Graph.from_adjacency(5), r"adjacency: expected a square matrix, got shape \(\)"),
        (lambda: cp.Graph.from_adjacency([[0, 1], [0, 0]]), r"entry \(0, 1\) is 1 and entry \(1, 0\) is 0"),
        (lambda: cp.Graph.from_adjacency(np.eye(3)), r"entry \(0, 0\) is a self-loop"),
        (lambda: cp.Graph.from_adjacency([[0, 0.5], [0.5, 0]]), r"entry \(0, 1\) is 0.5; expected 0 or 1"),
        (lambda: cp.Graph.from_adjacency([[0, np.nan], [1, 0]]), r"entry \(0, 1\) is nan; expected 0 or 1"),
        (lambda: cp.Graph.from_adjacency([["a"]]), r"adjacency: expected bool, integer or float entries"),
        (lambda: cp.Graph.from_adjacency(sp.csr_array([[0, 1], [0, 0]])), r"entry \(0, 1\) is 1 and entry \(1, 0\)"),
        (lambda: cp.Graph.from_adjacency(sp.csr_array([[0, 2], [2, 0]])), r"entry \(0, 1\) is 2; expected 0 or 1"),
        (lambda: cp.Graph.from_adjacency(sp.csr_array([[0, 0], [0, 1]])), r"entry \(1, 1\) is a self-loop"),
        (lambda: cp.Graph.from_networkx(nx.DiGraph([(0, 1)])), r"graph: expected an undirected networkx graph"),
        (lambda: cp.Graph.from_networkx([1]), r"graph: expected a networkx graph, got \[1\]"),
        (lambda: cp.Graph.from_networkx(nx.Graph), r"graph: expected a networkx graph"),
        (lambda: cp.Graph.from_adjacency(sp.csr_array(1j * np.ones((2, 2)))), r"got dtype complex128"),
        (lambda: cp.Graph(), r"use Graph.from_edges"),
    ],
)
def test_wrong_input_is_refused_with_the_first_offender(make: object, message: str) -> None:
    with pytest.raises(cp.GraphError, match=message):
        make()  # type: ignore[operator]


def broken_sparse(**arrays: object) -> sp.csr_array:
    """A sparse triangle with some of its arrays replaced."""
    matrix = sp.csr_array(np.ones((3, 3)) - np.eye(3))
    for name, value in arrays.items():
        setattr(matrix, name, np.asarray(value))
    return matrix


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (broken_sparse(indptr=[0, 10**6, 4, 6]), "row pointers of the sparse matrix are broken"),
        (broken_sparse(indptr=[0, 2, 4, 9]), "fewer entries than its row pointers promise"),
        (broken_sparse(indptr=[0, 2]), "row pointers of the sparse matrix are broken"),
        (broken_sparse(indices=np.array([1, 2, 0, 2, 0, 1]) + 2**32), r"an index of the sparse matrix is not in 0 … 2"),
        (broken_sparse(data=[1.0, 1.0]), "fewer entries than its row pointers promise"),
    ],
)
def test_broken_sparse_matrices_are_refused(matrix: sp.csr_array, message: str) -> None:
    with pytest.raises(cp.GraphError, match=message):
        cp.Graph.from_adjacency(matrix)


@pytest.mark.parametrize("form", ["csc", "coo"])
def test_broken_indices_are_refused_in_every_common_format(form: str) -> None:
    matrix = broken_sparse().asformat(form)
    (matrix.indices if form == "csc" else matrix.row)[0] = 10**8
    with pytest.raises(cp.GraphError, match="an index of the sparse matrix is not in 0 … 2"):
        cp.Graph.from_adjacency(matrix)


def test_duplicates_of_a_sparse_matrix_are_added_whatever_it_claims() -> None:
    twice = sp.csr_array((np.ones(4), [1, 1, 0, 0], [0, 2, 4]), shape=(2, 2))
    twice.has_canonical_format = True
    with pytest.raises(cp.GraphError, match=r"entry \(0, 1\) is 2.0; expected 0 or 1"):
        cp.Graph.from_adjacency(twice)
    halves = sp.csr_array(([0.5, 0.5, 1.0], [1, 1, 0], [0, 2, 3]), shape=(2, 2))
    assert cp.Graph.from_adjacency(halves).edges().tolist() == [[0, 1]]


@given(graphs())
def test_core_numbers_agree_with_networkx(graph: cp.Graph) -> None:
    expected = nx.core_number(to_networkx(graph))
    assert graph.core_numbers().tolist() == [expected[v] for v in range(graph.num_vertices)]


@given(graphs())
def test_degeneracy_order_leaves_at_most_the_core_number_of_later_neighbours(graph: cp.Graph) -> None:
    order, cores = graph.degeneracy_order(), graph.core_numbers()
    assert sorted(order.tolist()) == list(range(graph.num_vertices))
    place = np.argsort(order)
    for v in range(graph.num_vertices):
        assert (place[graph.neighbours(v)] > place[v]).sum() <= cores[v]
    assert (np.diff(cores[order]) >= 0).all()


@given(graphs(), st.randoms(use_true_random=False))
def test_subgraph_agrees_with_the_matrix(graph: cp.Graph, random: object) -> None:
    n = graph.num_vertices
    vertices = random.sample(range(n), random.randint(0, n))  # type: ignore[attr-defined]
    sub = graph.subgraph(vertices)
    assert np.array_equal(sub.adjacency(), graph.adjacency()[np.ix_(vertices, vertices)])
    assert sub.num_edges == sub.adjacency().sum() // 2


@given(uniform_graphs())
def test_complement_agrees_with_the_matrix(graph: cp.Graph) -> None:
    n = graph.num_vertices
    assert np.array_equal(graph.complement().adjacency(), ~graph.adjacency() & ~np.eye(n, dtype=bool))


@given(graphs())
def test_queries_agree_with_the_matrix(graph: cp.Graph) -> None:
    matrix = graph.adjacency()
    assert np.array_equal(graph.degrees(), matrix.sum(axis=1))
    assert np.array_equal(graph.adjacency(sparse=True).toarray(), matrix)
    for v in range(graph.num_vertices):
        assert graph.neighbours(v).tolist() == graph.neighbors(v).tolist() == np.flatnonzero(matrix[v]).tolist()
    assert pickle.loads(pickle.dumps(graph)) == graph
    assert copy.deepcopy(graph) == graph


def test_large_sparse_graph_is_csr_and_answers_the_same() -> None:
    source = nx.gnm_random_graph(6000, 30_000, seed=3)
    graph = cp.Graph.from_networkx(source)
    assert graph.representation == "csr"
    cores = nx.core_number(source)
    assert graph.core_numbers().tolist() == [cores[v] for v in range(6000)]
    assert graph.subgraph(np.arange(100)).representation == "bits"
    assert graph.subgraph(np.arange(6000)[::-1]).subgraph(np.arange(6000)[::-1]) == graph
    assert graph.has_edge(*source.edges.__iter__().__next__())
    assert graph.complement().complement() == graph


@pytest.mark.parametrize("joined", [1, 50, 3000, 9000, 13_000])
def test_vertices_without_neighbours_go_first_and_change_nothing_for_the_others(joined: int) -> None:
    random = np.random.default_rng(joined)
    places = np.sort(random.choice(20_000, joined + 1, replace=False))
    path = np.column_stack((places[:-1], places[1:]))  # so that each has a neighbour
    edges = np.concatenate((path, random.choice(places, (3 * joined, 2))))
    graph = cp.Graph.from_edges(20_000, edges[edges[:, 0] != edges[:, 1]])
    assert graph.representation == "csr"
    source = nx.Graph(graph.edges().tolist())
    cores, expected = graph.core_numbers(), nx.core_number(source)
    assert cores.tolist() == [expected.get(v, 0) for v in range(20_000)]
    order = graph.degeneracy_order()
    alone = np.setdiff1d(np.arange(20_000), places)
    assert order[: len(alone)].tolist() == alone.tolist()
    assert sorted(order.tolist()) == list(range(20_000))
    later = np.empty(20_000, dtype=np.int64)
    later[order] = np.arange(20_000)
    u, v = graph.edges().T
    first = np.where(later[u] < later[v], u, v)
    assert (np.bincount(first, minlength=20_000) <= cores).all()
    turned = graph.subgraph(order[::-1])
    assert turned.representation == "csr"
    assert turned.subgraph(np.argsort(order[::-1])) == graph
    kept = np.concatenate((places, alone[:5000]))
    assert graph.subgraph(kept).num_edges == graph.num_edges
    result = cp.find_clique(graph, method="exact")
    assert result.optimal
    assert result.size == max(map(len, nx.find_cliques(source)))


def test_vertices_out_of_range_or_repeated_are_refused() -> None:
    graph = cp.Graph.from_edges(6, TRIANGLE_AND_PATH)
    with pytest.raises(cp.GraphError, match=r"vertices: entry 1 is 6, but there are 6 vertices"):
        graph.subgraph([0, 6])
    with pytest.raises(cp.GraphError, match=r"vertices: vertex 2 is listed more than once"):
        graph.subgraph([2, 1, 2])
    with pytest.raises(cp.GraphError, match=r"vertices: expected a vector of integers"):
        graph.subgraph([0.5])
    with pytest.raises(cp.GraphError, match=r"v: expected an integer from 0 to 5, got 6"):
        graph.neighbours(6)
    with pytest.raises(cp.GraphError, match=r"u: expected an integer, got 'a'"):
        graph.has_edge("a", 1)  # type: ignore[arg-type]


def test_graphs_cannot_be_changed_and_compare_by_value() -> None:
    graph = cp.Graph.from_edges(6, TRIANGLE_AND_PATH)
    with pytest.raises(AttributeError, match="cannot be changed"):
        graph.num_vertices = 3  # type: ignore[misc]
    with pytest.raises(AttributeError, match="cannot be changed"):
        del graph._native
    assert graph != cp.Graph.from_edges(7, TRIANGLE_AND_PATH)
    assert graph != "graph"
    assert len({graph, cp.Graph.from_edges(6, TRIANGLE_AND_PATH)}) == 1
    assert repr(graph) == "Graph(6 vertices, 5 edges, density 0.333, bits)"


def test_matrices_that_would_not_fit_are_refused() -> None:
    graph = cp.Graph.from_edges(1_000_000, [(0, 1)])
    with pytest.raises(cp.GraphError, match="sparse=True"):
        graph.adjacency()
    with pytest.raises(cp.GraphError, match="complement"):
        graph.complement()


def test_weights_of_vertices_go_where_the_vertices_go() -> None:
    graph = cp.Graph.from_edges(4, [(0, 1), (1, 2)]).with_vertex_weights([5, 6, 7, 8])
    assert graph.vertex_weights is not None
    assert graph.subgraph([3, 1]).vertex_weights.tolist() == [8, 6]  # type: ignore[union-attr]
    assert graph.complement().vertex_weights.tolist() == [5, 6, 7, 8]  # type: ignore[union-attr]
    assert pickle.loads(pickle.dumps(graph)) == graph
    assert copy.deepcopy(graph) == graph
    assert graph != graph.unweighted()
    assert graph.unweighted().vertex_weights is None
    assert graph != graph.with_vertex_weights([5, 6, 7, 9])
    assert "with weights" in repr(graph)
    with pytest.raises(ValueError, match="read-only"):
        graph.vertex_weights[0] = 1


def test_networkx_keeps_weights_both_ways() -> None:
    graph = cp.Graph.from_edges(3, [(0, 2)]).with_vertex_weights([1, 4, 2])
    theirs = graph.to_networkx()
    assert nx.max_weight_clique(theirs) == ([1], 4)
    assert cp.Graph.from_networkx(theirs) == graph
    assert cp.Graph.from_networkx(theirs, weight=None) == graph.unweighted()
    del theirs.nodes[1]["weight"]
    with pytest.raises(cp.GraphError, match="node 1 has no 'weight', but others have"):
        cp.Graph.from_networkx(theirs)


def test_a_change_of_the_array_of_weights_does_not_reach_the_graph() -> None:
    weights = np.array([1.0, 2.0])
    graph = cp.Graph.from_edges(2, []).with_vertex_weights(weights)
    weights[0] = -1.0
    assert graph.vertex_weights is not None
    assert graph.vertex_weights.tolist() == [1.0, 2.0]


def test_a_dense_graph_is_pickled_as_bits_and_a_sparse_one_as_rows() -> None:
    dense = random_graph(400, 0.5, seed=0)
    assert len(pickle.dumps(dense)) < 400 * 400 // 16 + 1000
    sparse = cp.Graph.from_edges(100_000, np.column_stack((np.arange(99_999), np.arange(1, 100_000))))
    assert (dense.representation, sparse.representation) == ("bits", "csr")
    for graph in (dense, sparse):
        again = pickle.loads(pickle.dumps(graph.with_vertex_weights(np.arange(graph.num_vertices))))
        assert again.unweighted() == graph
        assert again.representation == graph.representation
        assert np.array_equal(again.vertex_weights, np.arange(graph.num_vertices))


def test_a_pickle_of_the_first_version_can_be_read() -> None:
    class Before:
        def __reduce__(self) -> Any:
            return _again, (4, np.array([[0, 1], [2, 3]]), np.array([1, 2, 3, 4]))

    expected = cp.Graph.from_edges(4, [(0, 1), (2, 3)]).with_vertex_weights([1, 2, 3, 4])
    assert pickle.loads(pickle.dumps(Before())) == expected


@pytest.mark.parametrize(
    ("form", "needed"),
    [
        (lambda graph, folder: graph.edges(), 16),
        (lambda graph, folder: graph.adjacency(sparse=True), 10),
        (lambda graph, folder: graph.to_networkx(), 330),
        (lambda graph, folder: cp.write_graph(folder / "graph.clq", graph), 32),
        (lambda graph, folder: cp.write_graph(folder / "graph.mtx", graph), 28),
        (lambda graph, folder: cp.write_graph(folder / "graph.txt", graph), 28),
        (lambda graph, folder: pickle.dumps(graph), 16),
    ],
)
def test_forms_larger_than_the_memory_are_refused_before_the_work(
    form: Callable[[cp.Graph, Path], Any], needed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = cp.Graph.from_edges(100_000, np.column_stack((np.arange(99_999), np.arange(1, 100_000))))
    assert graph.representation == "csr"
    monkeypatch.setattr("clipperplus._limits.ALWAYS_FINE", 0)
    monkeypatch.setattr("clipperplus._limits.machine_memory", lambda: 99_999 * needed - 1)
    with pytest.raises(
        cp.MemoryLimitError, match=r"graph: 99999 edges .* take about .* GiB, this machine has"
    ) as refused:
        form(graph, tmp_path)
    assert refused.value.needed == 99_999 * needed
    assert not list(tmp_path.iterdir())
    monkeypatch.setattr("clipperplus._limits.machine_memory", lambda: 99_999 * needed)
    form(graph, tmp_path)
