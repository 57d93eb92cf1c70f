"""find_clique: every answer is a maximal clique with a true bound, whatever the method, threads or instruction set."""

from __future__ import annotations

import json
from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import clique_number, clique_number_by_subsets, is_clique, is_maximal
from strategies import graphs, planted_cliques, random_graph, uniform_graphs

import clipperplus as cp
from clipperplus import _core
from clipperplus.clique import METHODS

FOREVER = _core.Watch(None, False)


def check(graph: cp.Graph, result: cp.CliqueResult, omega: int) -> None:
    vertices = result.vertices.tolist()
    assert vertices == sorted(set(vertices))
    assert is_clique(graph, vertices)
    assert is_maximal(graph, vertices)
    assert result.size == len(vertices) <= omega <= result.upper_bound
    assert result.optimal == (result.size == result.upper_bound)
    assert (result.certificate is cp.Certificate.NONE) == (not result.optimal)


@settings(max_examples=1500)
@given(graph=graphs())
def test_every_answer_is_a_maximal_clique_with_a_true_bound(graph: cp.Graph) -> None:
    omega = clique_number(graph)
    for method in METHODS:
        result = cp.find_clique(graph, method=method)
        check(graph, result, omega)


@settings(max_examples=30)
@given(graph=uniform_graphs(min_vertices=2, max_vertices=30), seed=st.integers(0, 10**6))
def test_every_answer_holds_on_csr_too(graph: cp.Graph, seed: int) -> None:
    """The same graphs, hidden among 6000 vertices."""
    places = np.random.default_rng(seed).permutation(6000)[: graph.num_vertices]
    hidden = cp.Graph.from_edges(6000, places[graph.edges()])
    assert hidden.representation == "csr"
    omega = clique_number(graph)
    for method in METHODS:
        result = cp.find_clique(hidden, method=method)
        assert is_clique(hidden, result.vertices.tolist())
        assert result.size <= omega <= result.upper_bound
        if method == "exact":
            assert result.size == omega == result.upper_bound


@settings(max_examples=3000)
@given(st.one_of(graphs(), uniform_graphs(max_vertices=60)))
def test_exact_search_proves_the_maximum(graph: cp.Graph) -> None:
    result = cp.find_clique(graph, method="exact")
    check(graph, result, clique_number(graph))
    assert result.optimal


@settings(max_examples=1000)
@given(graph=st.one_of(graphs(), uniform_graphs(max_vertices=40)), start=st.integers(0, 12))
def test_branch_and_bound_alone_proves_the_maximum(graph: cp.Graph, start: int) -> None:
    """Without the greedy clique, the bounds and the reductions before it, from any size that must be beaten."""
    ordered, _, order = _core.order_by_core(graph._native)
    clique, upper_bound, _, complete = _core.search_clique(ordered, start, 2**64 - 1, 1, True, True, FOREVER)
    omega = clique_number(graph)
    assert complete
    assert max(upper_bound, start) == max(omega, start)
    assert clique.size == (omega if omega > start else 0)
    assert is_clique(graph, order[clique].tolist())


@settings(max_examples=1000)
@given(graph=st.one_of(graphs(), uniform_graphs(max_vertices=40)), size=st.integers(0, 12))
def test_reductions_keep_every_larger_clique(graph: cp.Graph, size: int) -> None:
    reduced, vertices = _core.reduce(graph._native.prefix(graph.num_vertices), size, 1, FOREVER)
    kept = graph.subgraph(vertices)
    assert clique_number(kept) == clique_number(graph) or clique_number(graph) <= size
    pairs = {tuple(pair) for pair in reduced.edges().reshape(-1, 2).tolist()}
    assert pairs <= {tuple(pair) for pair in kept.edges().tolist()}
    inner = cp.Graph.from_edges(kept.num_vertices, sorted(pairs))
    assert clique_number(inner) == clique_number(graph) or clique_number(graph) <= size


@settings(max_examples=200)
@given(graph=uniform_graphs(min_vertices=20, max_vertices=60), nodes=st.integers(0, 50))
def test_a_node_limit_gives_a_true_bound_and_always_the_same_answer(graph: cp.Graph, nodes: int) -> None:
    result = cp.find_clique(graph, method="exact", node_limit=nodes)
    check(graph, result, clique_number(graph))
    again = cp.find_clique(graph, method="exact", node_limit=nodes, threads=2)
    assert again.vertices.tolist() == result.vertices.tolist()
    assert again.upper_bound == result.upper_bound


@settings(max_examples=500)
@given(uniform_graphs(max_vertices=9))
def test_bounds_hold_against_all_subsets(graph: cp.Graph) -> None:
    check(graph, cp.find_clique(graph), clique_number_by_subsets(graph))


@given(planted_cliques(max_vertices=120))
def test_larger_planted_cliques(graph: cp.Graph) -> None:
    omega = clique_number(graph)
    for method in METHODS:
        check(graph, cp.find_clique(graph, method=method), omega)


@given(graphs())
def test_clipperplus_is_never_below_greedy(graph: cp.Graph) -> None:
    assert cp.find_clique(graph, method="clipper+").size >= cp.find_clique(graph, method="greedy").size


@given(graph=uniform_graphs(max_vertices=40), seed=st.integers(0, 10**6))
def test_relabelling_vertices_keeps_the_core_bound_and_the_validity(graph: cp.Graph, seed: int) -> None:
    shuffled = graph.subgraph(np.random.default_rng(seed).permutation(graph.num_vertices))
    a, b = cp.find_clique(graph, method="greedy"), cp.find_clique(shuffled, method="greedy")
    assert sorted(graph.core_numbers()) == sorted(shuffled.core_numbers())
    assert b.size <= a.upper_bound
    assert a.size <= b.upper_bound
    if a.optimal and b.optimal:
        assert a.size == b.size


CASES = [(50, 0.5), (64, 0.9), (300, 0.1), (301, 0.6), (700, 0.3)]


@pytest.mark.parametrize("method", METHODS)
def test_all_instruction_sets_give_the_same_answer(simd: str, method: str, reference: dict[str, list[object]]) -> None:
    answers = []
    for seed, (n, density) in enumerate(CASES):
        result = cp.find_clique(random_graph(n, density, seed), method=method, time_limit=None)
        stages = [(s.name, s.clique_size, s.vertices, s.iterations, s.removed, s.added) for s in result.stages]
        answers.append((result.vertices.tolist(), result.upper_bound, result.certificate, stages))
    assert answers == reference.setdefault(method, answers)


@pytest.fixture(scope="module")
def reference() -> dict[str, list[object]]:
    """Answers of the first instruction set, by method."""
    return {}


def test_the_number_of_threads_does_not_change_the_answer() -> None:
    for seed, (n, density) in enumerate([*CASES, (3000, 0.02)]):
        graph = random_graph(n, density, seed)
        expected = cp.find_clique(graph, method="clipper+")
        for threads in (2, 3, 8):
            result = cp.find_clique(graph, method="clipper+", threads=threads)
            assert result.vertices.tolist() == expected.vertices.tolist()
            assert result.upper_bound == expected.upper_bound


def test_bits_and_csr_find_cliques_in_large_sparse_graphs() -> None:
    random = np.random.default_rng(2)
    n = 30_000
    background = random.integers(0, n, size=(150_000, 2))
    background = background[background[:, 0] != background[:, 1]]
    planted = random.permutation(n)[:25]
    clique_edges = np.array([(u, v) for i, u in enumerate(planted) for v in planted[:i]])
    graph = cp.Graph.from_edges(n, np.concatenate((background, clique_edges)))
    assert graph.representation == "csr"
    for method in METHODS:
        result = cp.find_clique(graph, method=method)
        assert result.vertices.tolist() == sorted(planted.tolist())
        assert result.optimal


@pytest.mark.parametrize("method", METHODS)
def test_smallest_graphs(method: str) -> None:
    empty = cp.find_clique(cp.Graph.from_edges(0, []), method=method)
    assert (empty.size, empty.upper_bound, empty.optimal) == (0, 0, True)
    single = cp.find_clique(cp.Graph.from_edges(1, []), method=method)
    assert (single.vertices.tolist(), single.upper_bound) == ([0], 1)
    loose = cp.find_clique(cp.Graph.from_edges(100, []), method=method)
    assert (loose.size, loose.optimal) == (1, True)
    complete = cp.find_clique(cp.Graph.from_edges(100, []).complement(), method=method)
    assert (complete.size, complete.certificate) == (100, cp.Certificate.CORE_BOUND)


def test_the_graph_of_the_papers_first_figure() -> None:
    result = cp.find_clique(cp.Graph.from_edges(5, [(0, 3), (1, 2), (1, 4), (2, 4)]))
    assert result.vertices.tolist() == [1, 2, 4]
    assert result.optimal


def test_result_tells_what_happened() -> None:
    result = cp.find_clique(random_graph(200, 0.6, 1), method="clipper+")
    assert [stage.name for stage in result.stages][:3] == ["order", "greedy", "colouring"]
    assert 0 < sum(stage.seconds for stage in result.stages) <= result.seconds
    assert result.method == "clipper+"
    as_dict = json.loads(json.dumps(result.to_dict()))
    assert as_dict["vertices"] == result.vertices.tolist()
    assert as_dict["stages"][1]["name"] == "greedy"
    result.to_dict()["stages"][1]["name"] = "changed"
    assert result.stages[1].name == "greedy"
    with pytest.raises(ValueError, match="read-only"):
        result.vertices[0] = 7


def test_what_the_check_repairs_is_counted() -> None:
    """On a vertex-transitive graph the ascent cannot leave the symmetric point: its support is no clique."""
    six_cycle = cp.Graph.from_edges(6, [(i, (i + 1) % 6) for i in range(6)])
    result = cp.find_clique(six_cycle, method="relaxation")
    assert result.size == 2
    assert result.stages[0].name == "relaxation"
    assert result.stages[0].removed == 4


def test_numpy_numbers_are_numbers() -> None:
    graph = random_graph(50, 0.5, 0)
    options = cp.RelaxationOptions(max_inner=np.int64(5), tol_u=np.float32(1e-6))
    result = cp.find_clique(graph, threads=np.int32(2), time_limit=np.float32(1.0), relaxation=options)
    assert result.size > 0
    assert cp.find_clique(graph, time_limit=float("inf")).size > 0


def test_a_time_limit_still_gives_a_valid_answer() -> None:
    graph = random_graph(2000, 0.5, 3)
    result = cp.find_clique(graph, time_limit=0.0)
    assert is_clique(graph, result.vertices.tolist())
    assert result.size >= 2
    assert result.size <= result.upper_bound
    assert result.seconds < 0.5


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"method": "magic"},
            "method: expected one of auto, exact, clipper\\+, greedy, relaxation, .*, got 'magic'",
        ),
        ({"method": None}, "method: expected one of"),
        ({"threads": 0}, "threads: expected an integer from 1 to 1024, got 0"),
        ({"threads": 1.5}, "threads: expected an integer, got 1.5"),
        ({"threads": True}, "threads: expected an integer, got True"),
        ({"time_limit": -1}, "time_limit: expected a finite number of at least 0, got -1"),
        ({"time_limit": 10**400}, "time_limit: expected a finite number"),
        ({"time_limit": [1.0, 2.0]}, "time_limit: expected a number"),
        ({"time_limit": True}, "time_limit: expected a number, got True"),
        ({"relaxation": cp.RelaxationOptions(start=[[1], [1, 2]])}, "start: expected an array"),
        ({"relaxation": cp.RelaxationOptions(start=["a", "b", "c"])}, "start: expected numbers, got dtype"),
        ({"relaxation": cp.RelaxationOptions(start=np.ones(3, complex))}, "start: expected numbers, got dtype"),
        ({"relaxation": cp.RelaxationOptions(start=np.full(3, np.longdouble("1e400")))}, "start: entry 0 is inf"),
        ({"relaxation": cp.RelaxationOptions(start=np.ma.ones(3))}, "start: expected an array without a mask"),
        ({"time_limit": float("nan")}, "time_limit: expected"),
        ({"time_limit": "soon"}, "time_limit: expected"),
        ({"method": "greedy", "relaxation": cp.RelaxationOptions()}, "relaxation: method 'greedy' has no relaxation"),
        ({"method": "clipper+", "node_limit": 5}, "node_limit: method 'clipper\\+' has no search"),
        ({"node_limit": -1}, "node_limit: expected an integer from 0"),
        ({"relaxation": {"tol_u": 1}}, "relaxation: expected RelaxationOptions, got dict"),
        ({"relaxation": cp.RelaxationOptions(start=[1.0])}, r"start: expected one entry per vertex, shape \(3,\)"),
        ({"relaxation": cp.RelaxationOptions(start=[1, -1, 0])}, r"start: entry 1 is -1.0"),
        ({"relaxation": cp.RelaxationOptions(start=[1, np.nan, 0])}, r"start: entry 1 is nan"),
        ({"relaxation": cp.RelaxationOptions(start=[0, 0, 0])}, "start: expected at least one positive entry"),
    ],
)
def test_wrong_options_are_refused(arguments: dict[str, object], message: str) -> None:
    graph = cp.Graph.from_edges(3, [(0, 1)])
    with pytest.raises(cp.OptionError, match=message):
        cp.find_clique(graph, **arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("tol_u", -1.0),
        ("tol_f", float("nan")),
        ("max_inner", 0),
        ("max_outer", 2.5),
        ("max_line_search", -3),
        ("sigma", 1.0),
        ("beta", 0.0),
        ("min_alpha", 5.0),
        ("max_alpha", float("inf")),
        ("epsilon", "small"),
    ],
)
def test_wrong_relaxation_options_are_refused(field: str, value: object) -> None:
    with pytest.raises(cp.OptionError, match=f"{field}: expected"):
        cp.RelaxationOptions(**{field: value})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("ours", "core"),
    [(cp.RelaxationOptions(), _core.RelaxationOptions()), (cp.SearchOptions(), _core.SearchOptions())],
    ids=["relaxation", "search"],
)
def test_what_is_not_given_is_in_the_core_what_it_is_here(ours: object, core: object) -> None:
    """Options that are not given are not handed to the core, which has its own."""
    named = [option.name for option in fields(ours) if option.name != "start"]  # type: ignore[arg-type]
    assert {name: getattr(core, name) for name in named} == {name: getattr(ours, name) for name in named}


def test_every_option_reaches_the_core() -> None:
    changed = {"tol_u": 0.1, "tol_f": 0.2, "max_inner": 3, "max_outer": 4, "max_line_search": 5, "epsilon": 0.6}
    changed |= {"sigma": 0.7, "beta": 0.8, "min_alpha": 0.9, "max_alpha": 1.1, "optimiser": "lbfgs"}
    native = cp.RelaxationOptions(**changed).for_graph(cp.Graph.from_edges(3, [])._native)  # type: ignore[arg-type]
    assert set(changed) == {option.name for option in fields(cp.RelaxationOptions)} - {"start"}
    assert {name: getattr(native, name) for name in changed} == changed
    for option in fields(cp.SearchOptions):
        switched = cp.SearchOptions(**{option.name: False}).to_core()
        assert [each.name for each in fields(cp.SearchOptions) if not getattr(switched, each.name)] == [option.name]


def test_something_that_is_no_graph_is_refused_with_a_hint() -> None:
    with pytest.raises(cp.GraphError, match=r"graph: expected a clipperplus.Graph, got ndarray; Graph.from_adjacency"):
        cp.find_clique(np.zeros((3, 3)))  # type: ignore[arg-type]
