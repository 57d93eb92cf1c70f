"""The sizes that the methods must reach on DIMACS and real registration graphs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from common import as_in_paper, real_graph, real_graph_names
from quality import METHODS, WANTED

import clipperplus as cp


@pytest.mark.parametrize("name", WANTED)
def test_dimacs_sizes(data_folder: Path, name: str) -> None:
    graph = cp.read_graph(data_folder / "dimacs" / f"{name}.clq.gz")
    sizes = [cp.find_clique(graph, method=method).size for method in METHODS]
    assert all(found >= wanted for found, wanted in zip(sizes, WANTED[name], strict=True)), sizes


def test_registration_graphs(data_folder: Path) -> None:
    ratios = []
    for name in filter(as_in_paper, real_graph_names(data_folder)):
        matrix, omega = real_graph(data_folder, name)
        graph = cp.Graph.from_adjacency(matrix)
        result = cp.find_clique(graph, method="clipper+")
        greedy = cp.find_clique(graph, method="greedy")
        assert greedy.size <= result.size <= omega <= result.upper_bound
        ratios.append(result.size / omega)
    assert len(ratios) == 60
    assert np.mean(ratios) >= 0.985
