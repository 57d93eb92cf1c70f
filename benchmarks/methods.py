"""Every method of the paper beside a straightforward numpy version of it, at n = 1000 on one thread."""

from __future__ import annotations

import os

# Before numpy is imported: its matrix products must not use more threads than the core.
os.environ.update({"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"})

import sys
import time
from collections.abc import Callable

import numpy as np
import plain
from common import argument_parser, check, median_ms, write_report

import clipperplus as cp
from clipperplus.bench.tables import markdown_table
from clipperplus.synthetic import registration_graph

N = 1000
TARGET = 5.0
SIZE_TOLERANCE = 0.1


def random_graph(density: float) -> cp.Graph:
    upper = np.triu(np.random.default_rng(0).random((N, N)) < density, 1)
    return cp.Graph.from_adjacency(upper | upper.T)


GRAPHS: dict[str, Callable[[], cp.Graph]] = {
    "registration, 95 % outliers": lambda: registration_graph(N, outlier_ratio=0.95).graph,
    "random, density 0.1": lambda: random_graph(0.1),
    "random, density 0.5": lambda: random_graph(0.5),
    "random, density 0.9": lambda: random_graph(0.9),
}


def plain_versions(graph: cp.Graph) -> dict[str, Callable[[], int]]:
    """Return the numpy version of every method as a function that gives the size of its clique."""
    A = graph.adjacency()
    perturbed = 1.0 + 1e-3 * np.random.default_rng(0).random(N)
    uniform = np.random.default_rng(0).random(N)

    def rounded(vector: plain.Vector) -> int:
        return len(plain.round_to_clique(A, vector))

    def greedy() -> int:
        order, cores = plain.order_by_core(A)
        return len(plain.greedy(A[np.ix_(order, order)], cores))

    return {
        "pelillo": lambda: rounded(plain.replicator(A, perturbed)[0]),
        "ding": lambda: rounded(plain.replicator(A, perturbed, beta=1.05)[0]),
        "belachew": lambda: rounded(plain.belachew(A, np.ones(N))[0]),
        "clipper": lambda: rounded(plain.clipper(A.astype(float), A, uniform)[0]),
        "greedy": greedy,
        "relaxation": lambda: rounded(plain.relaxation(A, np.ones(N))[0]),
        "clipper+": lambda: len(plain.clipperplus(A)),
    }


def compare(graph: cp.Graph, method: str, version: Callable[[], int]) -> tuple[int, int, float, float]:
    """Return both sizes and both times in milliseconds."""
    result = cp.find_clique(graph, method=method)
    check(graph, result)
    start = time.perf_counter()
    size = version()
    their_ms = (time.perf_counter() - start) * 1e3
    if abs(size - result.size) > max(2, SIZE_TOLERANCE * size):
        sys.exit(f"{method}: sizes {result.size} and {size} are too far apart for the same method")
    return result.size, size, median_ms(lambda: cp.find_clique(graph, method=method)), their_ms


def main() -> None:
    argument_parser(__doc__ or "").parse_known_args()
    rows, ratios = [], []
    for title, make in GRAPHS.items():
        graph = make()
        for method, version in plain_versions(graph).items():
            size, their_size, ms, their_ms = compare(graph, method, version)
            ratios.append(their_ms / ms)
            name = f"{title}: {method}"
            rows.append((name, size, their_size, f"{ms:.2f}", f"{their_ms:.0f}", f"{ratios[-1]:.1f}"))
    table = markdown_table(("graph and method", "size", "numpy's size", "ms", "numpy ms", "ratio"), rows)
    verdict = f"Smallest ratio {min(ratios):.1f}; wanted at least {TARGET:.0f}.\n\n"
    about = (
        "Time of `find_clique`, with its checks and bounds, against the version in `plain.py` without them;\n"
        "the same settings and start vectors, so that sizes differ by rounding errors and ties only. Single runs of\n"
        "numpy, medians of five of ours.\n\n"
    )
    write_report("methods", "The paper's methods beside numpy", "python benchmarks/methods.py", about + verdict + table)


if __name__ == "__main__":
    main()
