"""CLIPPER on graphs with weights: what they mean, in which forms they come, and which are refused."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import plain
import pytest
import scipy.sparse
from hypothesis import given
from strategies import random_graph, symmetric_weights, uniform_graphs

import clipperplus as cp


def test_weights_of_one_are_no_weights() -> None:
    for seed in range(10):
        graph = random_graph(60, 0.5, seed)
        options = cp.ClipperOptions(max_outer=3, max_inner=10)
        without = cp.find_clique(graph, method="clipper", options=options).relaxed
        with_ones = cp.find_clique(graph, method="clipper", options=options, weights=graph.adjacency()).relaxed
        assert without is not None
        assert with_ones is not None
        assert np.abs(without - with_ones).max() < 1e-9


def test_of_two_cliques_the_heavier_one_is_found() -> None:
    halves = np.arange(20) // 10
    adjacency = (halves[:, None] == halves) & ~np.eye(20, dtype=bool)
    graph = cp.Graph.from_adjacency(adjacency)
    for heavy in (0, 1):
        weights = np.where(halves == heavy, 0.9, 0.5)[:, None] * adjacency
        result = cp.find_clique(graph, method="clipper", weights=weights)
        assert result.vertices.tolist() == np.flatnonzero(halves == heavy).tolist()


def test_the_answer_grows_along_the_vector_not_along_the_index() -> None:
    """A heavy clique of ten beside two light vertices with lower numbers: round(F) alone would name four of the ten."""
    weights = np.zeros((12, 12))
    weights[2:, 2:], weights[2:8, 2:8] = 0.45, 0.5
    weights[:8, :2] = weights[:2, :8] = 0.1
    np.fill_diagonal(weights, 0.0)
    graph = cp.Graph.from_adjacency(weights > 0)
    assert cp.find_clique(graph, method="clipper", weights=weights).vertices.tolist() == list(range(2, 12))


@given(uniform_graphs(min_vertices=1))
def test_weighted_answers_follow_the_vector(graph: cp.Graph) -> None:
    result = cp.find_clique(graph, method="clipper", weights=symmetric_weights(graph, 3))
    assert result.relaxed is not None
    assert result.vertices.tolist() == sorted(plain.round_to_clique(graph.adjacency(), result.relaxed))


def test_dense_and_sparse_weights_of_every_format_mean_the_same() -> None:
    graph = random_graph(40, 0.4, 7)
    weights = symmetric_weights(graph, 2) + np.eye(40)  # the diagonal is not used
    expected = cp.find_clique(graph, method="clipper", weights=weights)
    duplicated = scipy.sparse.coo_array(weights / 2)
    duplicated = scipy.sparse.coo_array(
        (np.tile(duplicated.data, 2), (np.tile(duplicated.row, 2), np.tile(duplicated.col, 2))), shape=(40, 40)
    )
    forms = [scipy.sparse.csr_array(weights), scipy.sparse.csc_matrix(weights), duplicated, weights.tolist()]
    forms += [scipy.sparse.lil_array(weights), np.asfortranarray(weights), weights.astype(np.float32)]
    for form in forms:
        result = cp.find_clique(graph, method="clipper", weights=form)
        assert np.allclose(result.relaxed, expected.relaxed, atol=1e-4)
        assert result.vertices.tolist() == expected.vertices.tolist()


@pytest.mark.parametrize("method", ["auto", "exact", "greedy", "relaxation", "pelillo", "ding", "belachew"])
def test_other_methods_say_that_they_take_no_weights(method: str) -> None:
    graph = cp.Graph.from_edges(3, [(0, 1)])
    with pytest.raises(cp.OptionError, match=r"weights: method '.*' takes no weights; 'clipper\+' and 'clipper' do"):
        cp.find_clique(graph, method=method, weights=graph.adjacency())


def matrix_of(entries: dict[tuple[int, int], float]) -> np.ndarray:
    matrix = np.zeros((3, 3))
    for cell, value in entries.items():
        matrix[cell] = value
    return matrix


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.zeros((2, 2)), r"weights: expected one row and column per vertex, shape \(3, 3\), got \(2, 2\)"),
        (np.zeros(9), r"shape \(3, 3\), got \(9,\)"),
        (scipy.sparse.csr_array((3, 4)), r"shape \(3, 3\), got \(3, 4\)"),
        (matrix_of({(0, 1): 1.5, (1, 0): 1.5}), r"weights: entry \(0, 1\) is 1.5; expected a number from 0 to 1"),
        (matrix_of({(0, 1): -0.5, (1, 0): -0.5}), r"weights: entry \(0, 1\) is -0.5"),
        (matrix_of({(0, 1): np.nan}), r"weights: entry \(0, 1\) is nan"),
        (matrix_of({(1, 0): np.inf}), r"weights: entry \(1, 0\) is inf"),
        (matrix_of({(0, 1): 0.5}), r"not symmetric: entry \(0, 1\) is positive, entry \(1, 0\) is 0"),
        (matrix_of({(1, 0): 0.5}), r"not symmetric: entry \(1, 0\) is positive, entry \(0, 1\) is 0"),
        (matrix_of({(0, 1): 0.5, (1, 0): 0.4}), r"entry \(0, 1\) is 0.5 and entry \(1, 0\) is 0.4"),
        (matrix_of({(1, 2): 0.5, (2, 1): 0.5}), r"entry \(1, 2\) is positive, but the graph has no such edge"),
        (np.full((3, 3), "a"), "weights: expected bool, integer or float entries"),
        (np.zeros((3, 3), dtype=complex), "weights: expected bool, integer or float entries"),
        (scipy.sparse.csr_array(np.zeros((3, 3), dtype=complex)), "weights: expected bool, integer or float"),
        (np.ma.zeros((3, 3)), "weights: expected an array without a mask"),
        ("heavy", r"shape \(3, 3\), got \(\)"),
    ],
)
def test_wrong_weights_are_refused(weights: object, message: str) -> None:
    graph = cp.Graph.from_edges(3, [(0, 1)])
    with pytest.raises(cp.OptionError, match=message):
        cp.find_clique(graph, method="clipper", weights=weights)


def broken_matrices() -> list[object]:
    """Sparse matrices of every format whose arrays contradict each other; scipy would crash on some of them."""
    full = np.ones((6, 6)) - np.eye(6)
    made = []

    def break_one(kind: Callable[..., object], **changes: object) -> None:
        matrix = kind(full)
        for name, value in changes.items():
            setattr(matrix, name, value)
        made.append(matrix)

    break_one(scipy.sparse.dia_matrix, offsets=np.array([1, 2]))
    break_one(scipy.sparse.dia_matrix, offsets=np.array(["a"] * 11))
    for place in ("rows", "data"):
        matrix = scipy.sparse.lil_matrix(full)
        getattr(matrix, place)[0] = [1]
        made.append(matrix)
    matrix = scipy.sparse.lil_matrix(full)
    matrix.rows[0] = [1, 2, 3, 4, 10**6]
    made.append(matrix)
    blocks = scipy.sparse.bsr_matrix(full, blocksize=(2, 2))
    blocks.indptr = blocks.indptr + 7
    made.append(blocks)
    blocks = scipy.sparse.bsr_matrix(full, blocksize=(2, 2))
    blocks.indices = blocks.indices + 100
    made.append(blocks)
    for kind in (scipy.sparse.csr_matrix, scipy.sparse.csc_matrix):
        pointers = kind(full).indptr.astype(np.int64)
        pointers[-1] = 10**13  # not even memory for so many may be asked for
        break_one(kind, indptr=pointers)
        break_one(kind, indptr=np.array(["a"] * 7))
        break_one(kind, indices=kind(full).indices + 0.5)
        break_one(kind, indices=kind(full).indices + 100)
        break_one(kind, data=np.ones(3))
    return made


@pytest.mark.parametrize("matrix", broken_matrices(), ids=lambda matrix: matrix.format)
def test_broken_sparse_matrices_are_refused(matrix: object) -> None:
    graph = cp.Graph.from_edges(6, []).complement()
    with pytest.raises(cp.OptionError, match="weights: "):
        cp.find_clique(graph, method="clipper", weights=matrix)
    with pytest.raises(cp.GraphError, match="adjacency: "):
        cp.Graph.from_adjacency(matrix)


def test_what_is_no_matrix_is_refused() -> None:
    class NoShape:
        format = "csr"

        def tocoo(self) -> None:
            raise AssertionError

    graph = cp.Graph.from_edges(3, [(0, 1)])
    for thing in (scipy.sparse.csr_matrix, NoShape(), object()):
        with pytest.raises(cp.OptionError, match="weights: expected one row and column per vertex"):
            cp.find_clique(graph, method="clipper", weights=thing)


def test_the_diagonal_is_not_looked_at() -> None:
    graph = cp.Graph.from_edges(3, [(0, 1)])
    for value in (np.nan, -1.0, 1e300):
        weights = np.diag([value, 0.5, value])
        assert cp.find_clique(graph, method="clipper", weights=weights).size == 2
        assert cp.find_clique(graph, method="clipper", weights=scipy.sparse.csr_array(weights)).size == 2


def test_checking_the_weights_is_part_of_the_time() -> None:
    graph = random_graph(1500, 0.9, 0)
    weights = symmetric_weights(graph, 0)
    result = cp.find_clique(graph, method="clipper", weights=weights, time_limit=0.0)
    assert result.stages[0].name == "weights"
    assert result.seconds >= result.stages[0].seconds > 0.0
    assert result.seconds < 1.0
    assert cp.is_maximal(graph, result.vertices)


def test_weights_of_an_empty_graph_are_an_empty_matrix() -> None:
    result = cp.find_clique(cp.Graph.from_edges(0, []), method="clipper", weights=np.zeros((0, 0)))
    assert result.size == 0
    assert result.optimal
