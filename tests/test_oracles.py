"""Oracles that are more than a definition agree with ones that are not."""

from __future__ import annotations

import networkx as nx
from hypothesis import given
from oracles import clique_number, clique_number_by_subsets, to_networkx
from strategies import graphs, uniform_graphs

import clipperplus as cp


@given(graphs())
def test_the_clique_number_is_the_size_of_the_largest_of_all_maximal_cliques(graph: cp.Graph) -> None:
    assert clique_number(graph) == max(map(len, nx.find_cliques(to_networkx(graph))), default=0)


@given(uniform_graphs(max_vertices=9))
def test_the_clique_number_is_that_of_all_subsets(graph: cp.Graph) -> None:
    assert clique_number(graph) == clique_number_by_subsets(graph)
