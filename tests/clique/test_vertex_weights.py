"""Weights of vertices: the heaviest clique, with proof, against brute force and networkx."""

from __future__ import annotations

import math
import signal
import threading
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import is_clique, is_maximal, to_networkx
from strategies import graphs, random_graph, sparse_complements, uniform_graphs
from vertex_weights import PUBLISHED

import clipperplus as cp

METHODS = ("auto", "exact", "clipper+", "greedy")


def heaviest(graph: cp.Graph, weights: npt.NDArray[Any]) -> float:
    """What the heaviest maximal clique weighs, by listing all of them."""
    return max((math.fsum(weights[list(clique)]) for clique in nx.find_cliques(to_networkx(graph))), default=0)


def dimacs_weights(n: int) -> npt.NDArray[np.int64]:
    return np.arange(1, n + 1) % 200 + 1


@st.composite
def weighted(draw: st.DrawFn) -> tuple[cp.Graph, npt.NDArray[Any]]:
    graph = draw(st.one_of(graphs(), uniform_graphs(max_vertices=40), sparse_complements(max_vertices=30)))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = graph.num_vertices
    kind = draw(st.sampled_from(["small", "zeros", "large", "floats", "far apart"]))
    if kind == "floats":
        return graph, random.random(n)
    if kind == "far apart":
        return graph, 10.0 ** random.uniform(-12.0, 12.0, n)
    return graph, random.integers(0, {"small": 5, "zeros": 2, "large": 2**40}[kind], n)


@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=200)
@given(case=weighted())
def test_the_answer_is_a_clique_whose_weight_is_bounded(method: str, case: tuple[cp.Graph, npt.NDArray[Any]]) -> None:
    graph, weights = case
    result = cp.find_clique(graph, method=method, vertex_weights=weights)
    assert is_clique(graph, result.vertices.tolist())
    assert graph.num_vertices == 0 or is_maximal(graph, result.vertices.tolist())
    assert result.weight == math.fsum(weights[result.vertices])
    best = heaviest(graph, weights)
    assert result.upper_bound >= best * (1.0 - 1e-14)
    if method in ("auto", "exact"):
        assert result.optimal
    if result.optimal:
        assert result.weight == pytest.approx(best, rel=1e-14)
        assert isinstance(result.weight, int) == (weights.dtype.kind == "i")


@pytest.mark.parametrize(("n", "density"), [(70, 0.5), (60, 0.8), (45, 0.9), (40, 0.95)])
@pytest.mark.parametrize("seed", range(4))
def test_networkx_agrees_where_bounds_have_much_to_do(n: int, density: float, seed: int) -> None:
    """Small graphs are solved before a wrong bound shows."""
    graph = random_graph(n, density, seed)
    weights = np.random.default_rng(seed).integers(0, 100, n)
    theirs = to_networkx(graph)
    nx.set_node_attributes(theirs, dict(enumerate(weights.tolist())), "weight")
    _, expected = nx.max_weight_clique(theirs)
    result = cp.find_clique(graph, method="exact", vertex_weights=weights)
    assert (result.weight, result.optimal) == (expected, True)


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_weights_are_found_and_proven(name: str, data_folder: Path) -> None:
    graph = cp.read_graph(data_folder / "dimacs" / f"{name}.clq.gz")
    weights = dimacs_weights(graph.num_vertices)
    result = cp.find_clique(graph, method="exact", vertex_weights=weights)
    assert (result.weight, result.optimal, result.certificate) == (PUBLISHED[name], True, cp.Certificate.SEARCH)


@given(graph=graphs())
def test_weights_of_one_count_vertices(graph: cp.Graph) -> None:
    ones = np.ones(graph.num_vertices, dtype=np.int64)
    result = cp.find_clique(graph, method="exact", vertex_weights=ones)
    assert result.weight == result.size == cp.clique_number(graph)


def test_without_weights_the_weight_is_the_size() -> None:
    result = cp.find_clique(random_graph(50, 0.5, 0))
    assert result.weight == result.size == result.upper_bound


@settings(max_examples=50)
@given(case=weighted(), seed=st.integers(0, 2**32 - 1))
def test_relabelling_scaling_and_a_vertex_joined_to_all(case: tuple[cp.Graph, npt.NDArray[Any]], seed: int) -> None:
    graph, weights = case
    expected = cp.find_clique(graph, method="exact", vertex_weights=weights).weight
    order = np.random.default_rng(seed).permutation(graph.num_vertices)
    moved = cp.find_clique(graph.subgraph(order), method="exact", vertex_weights=weights[order])
    assert moved.weight == pytest.approx(expected, rel=1e-14)
    doubled = cp.find_clique(graph, method="exact", vertex_weights=8 * weights)
    assert doubled.weight == pytest.approx(8 * expected, rel=1e-14)
    n = graph.num_vertices
    hub = np.column_stack((np.arange(n), np.full(n, n)))
    joined = cp.Graph.from_edges(n + 1, np.concatenate((graph.edges(), hub)))
    more = cp.find_clique(joined, method="exact", vertex_weights=np.append(weights, 3))
    assert more.weight == pytest.approx(expected + 3, rel=1e-13)


@pytest.mark.parametrize("method", METHODS)
def test_the_same_clique_on_any_number_of_threads(method: str) -> None:
    graph = random_graph(140, 0.7, 3)
    weights = np.random.default_rng(3).integers(1, 6, 140)  # many cliques of the same weight
    one, several = (cp.find_clique(graph, method=method, vertex_weights=weights, threads=t) for t in (1, 3))
    assert one.vertices.tolist() == several.vertices.tolist()
    assert one.upper_bound == several.upper_bound


def test_a_heavy_clique_in_a_large_sparse_graph() -> None:
    random = np.random.default_rng(0)
    n, hidden = 30_000, np.arange(100, 112)
    edges = random.integers(0, n, (90_000, 2))
    inside = np.array([(a, b) for a in hidden for b in hidden if a < b])
    graph = cp.Graph.from_edges(n, np.concatenate((edges[edges[:, 0] != edges[:, 1]], inside)))
    assert graph.representation == "csr"
    weights = random.integers(1, 10, n)
    weights[hidden] += 20
    result = cp.find_clique(graph, method="exact", vertex_weights=weights)
    assert result.optimal
    assert set(hidden.tolist()) <= set(result.vertices.tolist())


def test_sums_of_integers_are_exact_where_floats_are_not() -> None:
    graph = cp.Graph.from_edges(3, [(0, 1)])
    weights = np.array([2**60, 1, 2**60], dtype=np.int64)  # one more than the single vertex, lost in a float
    result = cp.find_clique(graph, vertex_weights=weights)
    assert (result.vertices.tolist(), result.weight) == ([0, 1], 2**60 + 1)


def test_zero_weights_are_allowed_and_the_clique_is_maximal_all_the_same() -> None:
    graph = random_graph(30, 0.6, 1)
    result = cp.find_clique(graph, vertex_weights=np.zeros(30))
    assert (result.weight, result.optimal) == (0.0, True)
    assert is_maximal(graph, result.vertices.tolist())


HARD = random_graph(260, 0.9, 5)
HARD_WEIGHTS = dimacs_weights(260)


@pytest.mark.parametrize("threads", [1, 2])
def test_a_time_limit_returns_the_best_so_far_with_its_bound(threads: int) -> None:
    result = cp.find_clique(HARD, method="exact", vertex_weights=HARD_WEIGHTS, time_limit=0.3, threads=threads)
    assert not result.optimal
    assert result.seconds < 2.0
    assert result.weight < result.upper_bound < HARD_WEIGHTS.sum()
    assert result.weight == HARD_WEIGHTS[result.vertices].sum()


def test_a_node_limit_gives_the_same_answer_every_time() -> None:
    limited = [
        cp.find_clique(HARD, method="exact", vertex_weights=HARD_WEIGHTS, node_limit=500, threads=t) for t in (1, 2)
    ]
    assert limited[0].vertices.tolist() == limited[1].vertices.tolist()
    assert limited[0].upper_bound == limited[1].upper_bound


def test_a_callback_is_told_of_weights_that_grow_and_bounds_that_fall() -> None:
    told: list[tuple[float, float, float]] = []
    graph = random_graph(150, 0.8, 2)
    weights = np.random.default_rng(2).random(150)
    result = cp.find_clique(graph, method="exact", vertex_weights=weights, callback=lambda *news: told.append(news))
    best, bounds, _ = zip(*told, strict=True)
    assert list(best) == sorted(best)
    assert list(bounds) == sorted(bounds, reverse=True)
    assert best[-1] == pytest.approx(result.weight)
    assert [tuple(news)[1:] for news in result.history] == [(b, u) for b, u in zip(best, bounds, strict=True)]


def test_a_start_is_never_lost() -> None:
    weights = HARD_WEIGHTS
    start = cp.find_clique(HARD, vertex_weights=weights, time_limit=0.2)
    result = cp.find_clique(HARD, method="greedy", vertex_weights=weights, start=start.vertices)
    assert result.weight >= start.weight


def test_ctrl_c_returns_the_best_so_far() -> None:
    timer = threading.Timer(0.3, signal.raise_signal, (signal.SIGINT,))
    timer.start()
    result = cp.find_clique(HARD, method="exact", vertex_weights=HARD_WEIGHTS, threads=2, on_interrupt="return")
    timer.join()
    assert result.interrupted
    assert result.seconds < 1.0
    assert result.weight > 0


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, 2], "expected 3 numbers, one per vertex"),
        ([1, -1, 2], "weight 1 is -1"),
        ([1.0, np.nan, 2.0], "weight 1 is nan"),
        ([1.0, np.inf, 2.0], "weight 1 is inf"),
        (["a", "b", "c"], "expected real numbers"),
        ([[1, 2, 3]], "expected 3 numbers"),
        ([2**61, 2**61, 1], "less than 2"),
        ([1e308, 1e308, 1e308], "finite sum"),
        ([1j, 1, 1], "expected real numbers"),
    ],
)
def test_wrong_weights_are_refused(weights: Any, message: str) -> None:
    graph = cp.Graph.from_edges(3, [(0, 1)])
    with pytest.raises(cp.OptionError, match="vertex_weights: .*" + message):
        cp.find_clique(graph, vertex_weights=weights)
    with pytest.raises(cp.GraphError, match="weights: .*" + message):
        graph.with_vertex_weights(weights)


@pytest.mark.parametrize("method", ["clipper", "pelillo", "ding", "belachew", "relaxation"])
def test_methods_that_cannot_weigh_say_so(method: str) -> None:
    graph = cp.Graph.from_edges(3, [(0, 1)]).with_vertex_weights([1, 2, 3])
    with pytest.raises(cp.OptionError, match="takes none"):
        cp.find_clique(graph, method=method)
    assert cp.find_clique(graph.unweighted(), method=method).size == 2


def test_a_graph_with_weights_is_searched_by_them() -> None:
    graph = cp.Graph.from_edges(4, [(0, 1), (1, 2), (0, 2)]).with_vertex_weights([1, 1, 1, 7])
    assert cp.find_clique(graph).vertices.tolist() == [3]
    assert cp.find_clique(graph, vertex_weights=[1, 1, 1, 1]).vertices.tolist() == [0, 1, 2]
    assert cp.clique_number(graph) == 3
