"""CLIPPER+ where edges have weights, against all cliques of small graphs, against CLIPPER, and step by step."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import oracles
import pytest
import scipy.sparse
from common import as_in_paper, matched_points, real_graph_names
from edge_weights import weighted_matches
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import graphs, random_graph, symmetric_weights, uniform_graphs

import clipperplus as cp
from clipperplus import _core

FOREVER = _core.Watch(None, False)


def find(graph: cp.Graph, weights: Any, **settings: Any) -> cp.CliqueResult:
    return cp.find_clique(graph, method="clipper+", weights=weights, **settings)


def native_weights(graph: cp.Graph, weights: np.ndarray) -> _core.EdgeWeights:
    rows = scipy.sparse.csr_array(weights)
    arrays = rows.indptr.astype(np.int64), rows.indices.astype(np.int32), rows.data
    return _core.EdgeWeights(graph._native, *arrays)


@settings(max_examples=300)
@given(uniform_graphs(min_vertices=1, max_vertices=12), st.integers(0, 100))
def test_no_value_is_above_the_best_of_all_cliques(graph: cp.Graph, seed: int) -> None:
    weights = symmetric_weights(graph, seed)
    result = find(graph, weights)
    assert oracles.is_maximal(graph, result.vertices)
    assert result.value == pytest.approx(oracles.clique_value(weights, result.vertices), rel=1e-12)
    best = max(oracles.clique_value(weights, clique) for clique in oracles.all_cliques(graph))
    assert result.value is not None
    assert result.value <= best * (1 + 1e-12)


def test_the_best_maximal_clique_is_found_nearly_always() -> None:
    hits = 0
    for seed in range(200):
        graph = random_graph(14, [0.3, 0.5, 0.7, 0.9][seed % 4], seed)
        weights = symmetric_weights(graph, seed)
        maximal = [clique for clique in oracles.all_cliques(graph) if oracles.is_maximal(graph, clique)]
        best = max(oracles.clique_value(weights, clique) for clique in maximal)
        value = find(graph, weights).value
        assert value is not None
        hits += value >= best * (1 - 1e-12)
    assert hits >= 195


@given(graphs())
def test_values_of_clipper_and_clipperplus_are_those_of_their_cliques(graph: cp.Graph) -> None:
    weights = symmetric_weights(graph, 1)
    for method in ("clipper", "clipper+"):
        result = cp.find_clique(graph, method=method, weights=weights)
        if graph.num_vertices == 0:
            assert result.value == 0.0
        else:
            assert result.value == pytest.approx(oracles.clique_value(weights, result.vertices), rel=1e-12)
        assert json.loads(json.dumps(result.to_dict()))["value"] == result.value
        assert cp.find_clique(graph, method=method).value is None


@given(graphs())
def test_weights_of_one_are_no_smaller_than_no_weights(graph: cp.Graph) -> None:
    result = find(graph, graph.adjacency())
    assert result.value == pytest.approx(result.size)
    assert cp.find_clique(graph, method="clipper+").size <= result.size <= result.upper_bound


@given(uniform_graphs(min_vertices=1, max_vertices=20), st.integers(0, 100))
def test_weights_of_zero_give_some_maximal_clique_of_value_one(graph: cp.Graph, seed: int) -> None:
    result = find(graph, np.zeros((graph.num_vertices, graph.num_vertices)))
    assert result.value == 1.0
    assert oracles.is_maximal(graph, result.vertices)


@pytest.mark.parametrize("seed", range(40))
def test_simulated_matches_never_have_a_lower_value_than_clippers(seed: int) -> None:
    graph, weights = weighted_matches(seed)
    ours = find(graph, weights)
    theirs = cp.find_clique(graph, method="clipper", weights=weights)
    assert ours.value is not None
    assert theirs.value is not None
    assert ours.value >= theirs.value * (1 - 1e-12)


def test_real_graphs_never_have_a_lower_value_than_clippers(data_folder: Path) -> None:
    for name in filter(as_in_paper, real_graph_names(data_folder)):
        source, target, epsilon = matched_points(data_folder, name)
        graph = cp.consistency_graph(source, target, epsilon=epsilon)
        weights = cp.consistency_weights(source, target, epsilon=epsilon)
        ours = find(graph, weights)
        theirs = cp.find_clique(graph, method="clipper", weights=weights)
        assert ours.value is not None
        assert theirs.value is not None
        assert ours.value >= theirs.value * (1 - 1e-12), name


def test_a_known_clique_is_never_made_worse() -> None:
    """The start may be smaller than what is found, and of better value all the same."""
    graph = cp.Graph.from_edges(7, [(0, 1), (1, 2), (0, 2), (3, 4), (3, 5), (3, 6), (4, 5), (4, 6), (5, 6)])
    weights = graph.adjacency() * 0.1
    weights[:3, :3] *= 10.0
    for method in ("clipper", "clipper+"):
        result = cp.find_clique(graph, method=method, weights=weights, start=[0, 1, 2], time_limit=0.0)
        assert result.vertices.tolist() == [0, 1, 2]
        assert result.value == pytest.approx(3.0)
        assert result.history[-1].size == 3


def test_threads_and_instruction_sets_and_storage_change_nothing() -> None:
    graph, weights = weighted_matches(3)
    expected = find(graph, weights)
    before = _core.simd_selected()
    try:
        for name in _core.simd_available():
            _core.select_simd(name)
            assert find(graph, weights, threads=3).vertices.tolist() == expected.vertices.tolist()
    finally:
        _core.select_simd(before)
    sparse = cp.Graph.from_edges(9000, graph.edges())
    assert (graph.representation, sparse.representation) == ("bits", "csr")
    wide = scipy.sparse.csr_array(weights)
    wide.resize((9000, 9000))
    assert find(sparse, wide).value == pytest.approx(expected.value, rel=0.02)


def test_a_time_limit_gives_a_maximal_clique() -> None:
    graph = random_graph(1500, 0.9, 0)
    weights = symmetric_weights(graph, 0)
    for limit in (0.0, 0.05):
        began = time.perf_counter()
        result = find(graph, weights, time_limit=limit)
        assert time.perf_counter() - began < 1.5
        assert cp.is_maximal(graph, result.vertices)
        assert result.value == pytest.approx(oracles.clique_value(weights, result.vertices))


def test_a_start_vector_and_settings_of_the_relaxation_are_obeyed() -> None:
    graph = random_graph(60, 0.5, 3)
    weights = symmetric_weights(graph, 3)
    chosen = np.zeros(60)
    chosen[7] = 1.0
    for options in (cp.RelaxationOptions(start=chosen), cp.RelaxationOptions(optimiser="lbfgs", max_outer=1)):
        result = find(graph, weights, relaxation=options)
        assert cp.is_maximal(graph, result.vertices)
    with pytest.raises(cp.OptionError, match="start: expected one entry per vertex"):
        find(graph, weights, relaxation=cp.RelaxationOptions(start=[1.0]))


def test_a_memory_limit_counts_the_weights_that_are_copied() -> None:
    graph = random_graph(300, 0.9, 0)
    with pytest.raises(cp.MemoryLimitError) as without:
        cp.find_clique(graph, method="clipper+", memory_limit=0)
    with pytest.raises(cp.MemoryLimitError) as weighted:
        find(graph, symmetric_weights(graph, 0), memory_limit=0)
    assert weighted.value.needed - without.value.needed >= 24 * graph.num_edges


# The steps ------------------------------------------------------------------------------------------------------------


@given(uniform_graphs(max_vertices=24), st.integers(0, 100))
def test_weighted_core_numbers_are_those_of_the_definition(graph: cp.Graph, seed: int) -> None:
    weights = symmetric_weights(graph, seed)
    order, cores = _core.edge_weighted_cores(native_weights(graph, weights))
    assert sorted(order.tolist()) == list(range(graph.num_vertices))
    assert (np.diff(cores) <= 0.0).all()
    assert cores == pytest.approx(oracles.weighted_core_numbers(weights)[order], abs=1e-12)


def test_weighted_core_numbers_of_equal_weights_are_the_core_numbers_also_of_large_graphs() -> None:
    graph = random_graph(3000, 0.01, 1)
    order, cores = _core.edge_weighted_cores(native_weights(graph, graph.adjacency().astype(float)))
    assert cores.tolist() == graph.core_numbers()[order].tolist()


@given(uniform_graphs(min_vertices=1, max_vertices=12), st.integers(0, 100))
def test_pruning_by_weighted_cores_keeps_the_clique_of_best_value(graph: cp.Graph, seed: int) -> None:
    weights = symmetric_weights(graph, seed)
    best = max(oracles.all_cliques(graph), key=lambda clique: oracles.clique_value(weights, clique))
    order, cores = _core.edge_weighted_cores(native_weights(graph, weights))
    kept = order[cores >= _core.least_core(oracles.clique_value(weights, best))]
    assert set(best) <= set(kept.tolist())


@given(uniform_graphs(min_vertices=1, max_vertices=30), st.integers(0, 100))
def test_exchange_never_makes_a_clique_worse(graph: cp.Graph, seed: int) -> None:
    weights = symmetric_weights(graph, seed)
    native = native_weights(graph, weights)
    claim = np.random.default_rng(seed).permutation(graph.num_vertices).astype(np.int64)
    grown, steps = _core.edge_weighted_search(graph._native, native, claim, 0, FOREVER)
    found, _ = _core.edge_weighted_search(graph._native, native, claim, 60, FOREVER)
    assert steps == 0
    assert oracles.is_clique(graph, found)
    assert oracles.is_maximal(graph, found)
    assert native.value_of(found) >= native.value_of(grown) - 1e-12
    assert native.value_of(found) == pytest.approx(oracles.clique_value(weights, found), rel=1e-12)


@given(uniform_graphs(min_vertices=2, max_vertices=20), st.integers(0, 100))
def test_a_part_has_the_weights_between_its_vertices_that_are_still_joined(graph: cp.Graph, seed: int) -> None:
    weights = symmetric_weights(graph, seed)
    vertices = np.random.default_rng(seed).permutation(graph.num_vertices)[:7].astype(np.int32)
    edges = graph.subgraph(vertices).edges()[seed % 2 :: 1 + seed % 2]
    thinned = cp.Graph.from_edges(len(vertices), edges)
    part = native_weights(graph, weights).part(thinned._native, vertices)
    expected = weights[np.ix_(vertices, vertices)] * thinned.adjacency()
    for clique in oracles.all_cliques(thinned):
        members = np.array(clique, dtype=np.int64)
        assert part.value_of(members) == pytest.approx(oracles.clique_value(expected, clique), rel=1e-12)


def test_tidy_and_untidy_sparse_matrices_mean_the_same() -> None:
    graph = random_graph(50, 0.5, 2)
    weights = symmetric_weights(graph, 2)
    tidy = scipy.sparse.csr_array(weights)
    shuffled = scipy.sparse.csr_array(weights)
    for row in range(50):
        place = slice(shuffled.indptr[row], shuffled.indptr[row + 1])
        shuffled.indices[place], shuffled.data[place] = shuffled.indices[place][::-1], shuffled.data[place][::-1]
    wide = scipy.sparse.csr_array(weights)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    stored_zeros = scipy.sparse.csr_array(weights)
    stored_zeros = stored_zeros + 0.0 * scipy.sparse.eye_array(50)
    expected = find(graph, weights)
    for matrix in (tidy, shuffled, wide, stored_zeros, tidy.astype(np.float32)):
        result = find(graph, matrix)
        assert result.vertices.tolist() == expected.vertices.tolist()
        assert result.value == pytest.approx(expected.value, rel=1e-6)


def test_the_core_refuses_what_does_not_fit() -> None:
    graph, other = random_graph(5, 0.9, 0), random_graph(6, 0.9, 0)
    weights = native_weights(graph, symmetric_weights(graph, 0))
    vertices = np.array([0, 9], dtype=np.int64)
    for message, call in (
        ("vertex out of range", lambda: weights.value_of(vertices)),
        ("vertex out of range", lambda: _core.edge_weighted_search(graph._native, weights, vertices, 1, FOREVER)),
        ("as many vertices", lambda: _core.edge_weighted_search(other._native, weights, vertices[:1], 1, FOREVER)),
        ("one entry per vertex", lambda: _core.edge_weighted_greedy(graph._native, weights, np.zeros(4), FOREVER)),
        ("those of the graph", lambda: weights.part(graph._native, np.arange(4, dtype=np.int32))),
        ("distinct", lambda: weights.part(graph._native, np.array([0, 1, 2, 3, 3], dtype=np.int32))),
        ("vertex out of range", lambda: weights.part(graph._native, np.array([0, 1, 2, 3, 5], dtype=np.int32))),
        ("as many", lambda: _core.relax(other._native, np.ones(6), _core.RelaxationOptions(), FOREVER, weights)),
    ):
        with pytest.raises(ValueError, match=message):
            call()
