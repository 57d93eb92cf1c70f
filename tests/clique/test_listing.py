"""More than one clique: every maximal clique above a size, once, against networkx."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import clique_number, is_clique, is_maximal, to_networkx
from strategies import graphs, random_graph, uniform_graphs

import clipperplus as cp


def maximal_cliques(graph: cp.Graph, above: int) -> list[list[int]]:
    found = (sorted(clique) for clique in nx.find_cliques(to_networkx(graph)))
    return sorted((clique for clique in found if len(clique) > above), key=lambda clique: (-len(clique), clique))


def as_lists(cliques: cp.CliqueList) -> list[list[int]]:
    return [clique.tolist() for clique in cliques]


@settings(max_examples=800)
@given(graph=st.one_of(graphs(), uniform_graphs(max_vertices=45)), size=st.integers(0, 10))
def test_cliques_above_a_size_and_maximum_ones_are_those_of_networkx(graph: cp.Graph, size: int) -> None:
    expected = maximal_cliques(graph, 0)
    above, largest = cp.find_cliques_above(graph, size, limit=None), cp.find_maximum_cliques(graph, limit=None)
    assert above.complete
    assert largest.complete
    assert as_lists(above) == [clique for clique in expected if len(clique) > size]
    assert as_lists(largest) == ([clique for clique in expected if len(clique) == len(expected[0])] or [[]])


@settings(max_examples=30)
@given(graph=uniform_graphs(min_vertices=2, max_vertices=30), size=st.integers(1, 5), seed=st.integers(0, 10**6))
def test_the_same_on_csr(graph: cp.Graph, size: int, seed: int) -> None:
    places = np.random.default_rng(seed).permutation(6000)[: graph.num_vertices]
    hidden = cp.Graph.from_edges(6000, places[graph.edges()])
    assert hidden.representation == "csr"
    expected = sorted(sorted(places[clique].tolist()) for clique in maximal_cliques(graph, size))
    assert sorted(as_lists(cp.find_cliques_above(hidden, size, limit=None))) == expected


def test_a_hub_with_more_neighbours_than_fit_among_the_excluded() -> None:
    """A star of 9000 triangles: most neighbours of the hub come after it in the order."""
    edges = [(0, v) for v in range(1, 18_001)] + [(v, v + 1) for v in range(1, 18_001, 2)]
    listed = cp.find_cliques_above(cp.Graph.from_edges(18_001, edges), 2, limit=None)
    assert listed.complete
    assert as_lists(listed) == [[0, v, v + 1] for v in range(1, 18_001, 2)]


@settings(max_examples=200)
@given(graph=graphs(), limit=st.integers(0, 6), size=st.integers(0, 4))
def test_a_limit_gives_some_of_them_and_says_so(graph: cp.Graph, limit: int, size: int) -> None:
    everything = maximal_cliques(graph, size)
    some = cp.find_cliques_above(graph, size, limit=limit)
    assert len(some) == min(limit, len(everything))
    assert some.complete == (len(everything) <= limit)
    assert all(clique in everything for clique in as_lists(some))
    assert as_lists(cp.find_cliques_above(graph, size, limit=limit)) == as_lists(some)


def test_instruction_sets_agree(simd: str) -> None:
    graph = random_graph(90, 0.7, 6)
    assert as_lists(cp.find_cliques_above(graph, 14, limit=None)) == maximal_cliques(graph, 14)


def test_an_exponential_number_of_cliques_does_no_harm() -> None:
    """2^30 maximum cliques: pairs of which one is taken each."""
    graph = cp.Graph.from_edges(60, [(2 * i, 2 * i + 1) for i in range(30)]).complement()
    listed = cp.find_maximum_cliques(graph, limit=50)
    assert len(listed) == 50
    assert not listed.complete
    assert all(clique.size == 30 and is_clique(graph, clique) and is_maximal(graph, clique) for clique in listed)
    assert cp.find_maximum_cliques(graph, limit=None, time_limit=0.02).complete is False


def test_listing_a_complete_graph_is_no_work() -> None:
    """One maximal clique, whatever size is asked for: an excluded vertex that is joined to all ends a branch."""
    graph = cp.Graph.from_adjacency(~np.eye(60, dtype=bool))
    for size in (0, 1, 20, 30, 45, 59):
        listed = cp.find_cliques_above(graph, size, time_limit=10.0)
        assert listed.complete
        assert as_lists(listed) == [list(range(60))]


@settings(max_examples=60)
@given(parts=st.lists(st.integers(1, 3), min_size=8, max_size=12), size=st.integers(0, 12))
def test_complete_multipartite_graphs_have_the_product_of_their_parts(parts: list[int], size: int) -> None:
    label = np.repeat(np.arange(len(parts)), parts)
    graph = cp.Graph.from_adjacency(label[:, None] != label[None, :])
    listed = cp.find_cliques_above(graph, size, limit=None)
    assert len(listed) == (int(np.prod(parts)) if len(parts) > size else 0)


def test_a_time_limit_too_short_to_prove_anything_is_said() -> None:
    listed = cp.find_maximum_cliques(random_graph(260, 0.9, 5), time_limit=0.05)
    assert not listed.complete
    assert len(listed) == 1


def test_a_list_is_a_sequence_of_read_only_arrays() -> None:
    listed = cp.find_cliques_above(cp.Graph.from_edges(5, [(0, 1), (2, 3), (3, 4), (2, 4)]), 1)
    assert isinstance(listed, cp.CliqueList)
    assert [clique.tolist() for clique in listed] == [[2, 3, 4], [0, 1]]
    assert listed[0].tolist() == [2, 3, 4]
    assert len(listed[:1]) == 1
    assert [1, 0] in listed
    assert listed[0] in listed
    assert [0, 2] not in listed
    with pytest.raises(ValueError, match="read-only"):
        listed[0][0] = 1


def test_the_empty_graph_has_one_maximum_clique_and_none_above_a_size() -> None:
    graph = cp.Graph.from_edges(0, [])
    listed = cp.find_maximum_cliques(graph)
    assert (len(listed), listed[0].size, listed.complete) == (1, 0, True)
    assert not listed[0].flags.writeable
    assert (len(cp.find_maximum_cliques(graph, limit=0)), cp.find_maximum_cliques(graph, limit=0).complete) == (
        0,
        False,
    )
    assert (len(cp.find_cliques_above(graph, 0)), cp.find_cliques_above(graph, 0).complete) == (0, True)
    assert len(cp.find_maximum_cliques(random_graph(260, 0.9, 5), limit=0, time_limit=0.05)) == 0


def test_wrong_arguments_are_named() -> None:
    graph = random_graph(10, 0.5, 1)
    with pytest.raises(cp.OptionError, match="size: expected an integer"):
        cp.find_cliques_above(graph, 2.5)  # type: ignore[arg-type]
    with pytest.raises(cp.OptionError, match="size: expected an integer from 0"):
        cp.find_cliques_above(graph, -1)
    with pytest.raises(cp.OptionError, match="limit: expected an integer from 0"):
        cp.find_maximum_cliques(graph, limit=-1)
    with pytest.raises(cp.OptionError, match="time_limit"):
        cp.find_maximum_cliques(graph, time_limit=-1)
    with pytest.raises(cp.GraphError, match=r"graph: expected a clipperplus\.Graph, got list"):
        cp.find_maximum_cliques([])  # type: ignore[arg-type]


@settings(max_examples=300)
@given(graph=graphs(), data=st.data())
def test_is_clique_and_is_maximal_follow_the_definition(graph: cp.Graph, data: st.DataObject) -> None:
    n = graph.num_vertices
    chosen = data.draw(st.lists(st.integers(0, n - 1), unique=True, max_size=6)) if n else []
    assert cp.is_clique(graph, chosen) == is_clique(graph, chosen)
    assert cp.is_maximal(graph, chosen) == (is_clique(graph, chosen) and is_maximal(graph, chosen))


@settings(max_examples=100)
@given(graphs())
def test_clique_number_is_that_of_the_oracle(graph: cp.Graph) -> None:
    assert cp.clique_number(graph) == clique_number(graph)


def test_questions_about_what_is_no_set_of_vertices_are_refused() -> None:
    graph = random_graph(10, 0.5, 1)
    for ask in (cp.is_clique, cp.is_maximal):
        with pytest.raises(cp.OptionError, match="vertices: vertex 10 is out of range"):
            ask(graph, [10])
        with pytest.raises(cp.OptionError, match="vertices: expected distinct vertices"):
            ask(graph, [1, 1])
