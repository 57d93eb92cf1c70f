"""The sizes that the methods must reach on DIMACS and real registration graphs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import clipperplus as cp

# The paper's nine graphs: (clipper+, greedy, relaxation from all ones), each at least.
DIMACS = {
    "C125.9": (34, 29, 34),
    "C250.9": (42, 35, 42),
    "brock200_2": (10, 10, 10),
    "brock200_4": (16, 14, 14),
    "gen200_p0.9_44": (39, 32, 39),
    "gen200_p0.9_55": (55, 35, 55),
    "keller4": (9, 9, 7),
    "p_hat300-1": (8, 7, 8),
    "p_hat300-2": (25, 21, 25),
}


def real_graph(path: Path) -> tuple[cp.Graph, int]:
    stored = np.load(path)
    n = int(stored["n"])
    return cp.Graph.from_adjacency(np.unpackbits(stored["adjacency"], axis=1)[:, :n].astype(bool)), int(stored["omega"])


@pytest.mark.parametrize("name", DIMACS)
def test_dimacs_sizes(data_folder: Path, name: str) -> None:
    graph = cp.read_graph(data_folder / "dimacs" / f"{name}.clq.gz")
    sizes = [cp.find_clique(graph, method=method).size for method in ("clipper+", "greedy", "relaxation")]
    assert all(found >= wanted for found, wanted in zip(sizes, DIMACS[name], strict=True)), sizes


def test_registration_graphs(data_folder: Path) -> None:
    ratios = []
    for path in sorted(data_folder.glob("graphs/redkitchen_*.npz")) + sorted(data_folder.glob("graphs/hotel_uc_*.npz")):
        graph, omega = real_graph(path)
        result = cp.find_clique(graph, method="clipper+")
        greedy = cp.find_clique(graph, method="greedy")
        assert greedy.size <= result.size <= omega <= result.upper_bound
        ratios.append(result.size / omega)
    assert len(ratios) == 60
    assert np.mean(ratios) >= 0.985
