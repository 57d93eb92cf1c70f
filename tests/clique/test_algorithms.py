"""Algorithms 1 and 2 against plain numpy renderings of the paper's listings."""

from __future__ import annotations

import dataclasses

import numpy as np
import oracles
import plain
import pytest
from hypothesis import given, settings
from strategies import graphs, random_graph, uniform_graphs

import clipperplus as cp
from clipperplus import _core

FOREVER = _core.Watch(None, False)


@settings(max_examples=1000)
@given(graphs())
def test_greedy_size_is_that_of_the_papers_listing(graph: cp.Graph) -> None:
    order = graph.degeneracy_order()[::-1]
    expected = len(plain.greedy(graph.adjacency()[np.ix_(order, order)], graph.core_numbers()[order]))
    assert cp.find_clique(graph, method="greedy").size == expected


@given(uniform_graphs(max_vertices=24))
def test_colour_bound_is_at_most_the_core_bound(graph: cp.Graph) -> None:
    ordered = graph.subgraph(graph.degeneracy_order()[::-1])
    colours = _core.greedy_colours(ordered._native, FOREVER)
    assert colours is not None
    assert oracles.clique_number(graph) <= colours <= graph.core_numbers().max(initial=-1) + 1


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize(("n", "density"), [(40, 0.3), (90, 0.6), (150, 0.1)])
def test_first_steps_of_the_ascent_are_the_papers(n: int, density: float, seed: int) -> None:
    """Before rounding errors decide between branches, both follow the same path: compare after a few values of d."""
    graph = random_graph(n, density, seed)
    start = np.random.default_rng(seed).random(n)
    options = _core.RelaxationOptions()
    options.max_outer, options.max_inner = 2, 5
    ours = _core.relax(graph._native, start, options, FOREVER)
    theirs, _ = plain.relaxation(graph.adjacency(), start, max_outer=2, max_inner=5)
    assert np.abs(ours.u - theirs).max() < 1e-10


def test_the_ascent_reaches_what_the_papers_rendering_reaches() -> None:
    """Rounding sends single runs to different cliques; over many graphs the sizes must agree on average."""
    ours, theirs = [], []
    for seed in range(60):
        graph = random_graph(60, [0.2, 0.5, 0.8][seed % 3], seed)
        ours.append(cp.find_clique(graph, method="relaxation").size)
        u, _ = plain.relaxation(graph.adjacency(), np.ones(60))
        claim = np.argsort(-u, kind="stable")[: int((u > 1e-9).sum())]
        theirs.append(_core.make_maximal(graph._native, claim)[0].size)
    assert np.mean(ours) == pytest.approx(np.mean(theirs), rel=0.02)
    assert np.mean(np.array(ours) == np.array(theirs)) > 0.7


def test_csr_and_bits_follow_the_same_path() -> None:
    """The same component, alone as bits and inside a large sparse graph as CSR."""
    dense = random_graph(80, 0.5, 5)
    sparse = cp.Graph.from_edges(6000, dense.edges())
    assert (dense.representation, sparse.representation) == ("bits", "csr")
    options = _core.RelaxationOptions()
    options.max_outer, options.max_inner = 3, 8
    start = np.random.default_rng(0).random(80)
    in_bits = _core.relax(dense._native, start, options, FOREVER)
    in_csr = _core.relax(sparse._native, np.concatenate((start, np.zeros(5920))), options, FOREVER)
    assert np.abs(in_bits.u - in_csr.u[:80]).max() < 1e-10
    assert not in_csr.u[80:].any()


def test_a_start_vector_decides_between_two_cliques() -> None:
    """Two disjoint triangles: the ascent ends in the one where it starts."""
    triangles = cp.Graph.from_edges(6, [(0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5)])
    for chosen in ([0, 1, 2], [3, 4, 5]):
        start = np.full(6, 0.1)
        start[chosen] = 1.0
        options = cp.RelaxationOptions(start=start)
        assert cp.find_clique(triangles, method="relaxation", relaxation=options).vertices.tolist() == chosen


def test_the_defaults_of_the_core_and_of_python_agree() -> None:
    core, python = _core.RelaxationOptions(), cp.RelaxationOptions()
    for field in dataclasses.fields(python):
        if field.name != "start":
            assert getattr(core, field.name) == getattr(python, field.name)


def test_iteration_limits_are_obeyed() -> None:
    graph = random_graph(100, 0.5, 1)
    options = _core.RelaxationOptions()
    options.max_outer, options.max_inner, options.max_line_search = 3, 4, 2
    result = _core.relax(graph._native, np.ones(100), options, FOREVER)
    assert result.outer_steps == 3
    assert result.inner_steps <= 12
    assert result.evaluations <= 24
    assert not result.finished
