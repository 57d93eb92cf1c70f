"""Clique sizes against the true maximum: DIMACS and real registration graphs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from common import (
    PAPER_DIMACS,
    argument_parser,
    as_in_paper,
    check,
    real_graph,
    real_graph_names,
    write_report,
)

import clipperplus as cp
from clipperplus.bench.tables import markdown_table

# At least these sizes: clipper+, greedy, relaxation from all ones.
WANTED = {
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
METHODS = ("clipper+", "greedy", "relaxation")


def main() -> None:
    data: Path = argument_parser(__doc__ or "").parse_known_args()[0].data
    body = "## DIMACS, the paper's nine graphs\n\nSize found, and in brackets the size to reach.\n\n"
    rows = []
    for name, omega in PAPER_DIMACS.items():
        graph = cp.read_graph(data / "dimacs" / f"{name}.clq.gz")
        cells = []
        for method, wanted in zip(METHODS, WANTED[name], strict=True):
            result = cp.find_clique(graph, method=method)
            check(graph, result, omega)
            cells.append(f"{result.size} ({wanted}){'' if result.size >= wanted else ' **short**'}")
        rows.append((name, graph.num_vertices, f"{graph.density:.2f}", omega, *cells))
    body += markdown_table(("graph", "n", "density", "maximum", *METHODS), rows)

    body += "\n## Real registration graphs\n\n"
    ratios: dict[str, list[float]] = {method: [] for method in METHODS}
    rows = []
    for name in real_graph_names(data):
        matrix, omega = real_graph(data, name)
        graph = cp.Graph.from_adjacency(matrix)
        sizes = []
        for method in METHODS:
            result = cp.find_clique(graph, method=method)
            check(graph, result, omega)
            sizes.append(result.size)
            if as_in_paper(name):
                ratios[method].append(result.size / omega)
        rows.append((name, graph.num_vertices, f"{graph.density:.3f}", omega, *sizes))
    body += f"The {len(ratios['greedy'])} graphs made with the paper's settings (target for clipper+: 0.985):\n\n"
    body += markdown_table(
        ("method", "mean size ÷ maximum", "worst", "maximum found in"),
        [
            (method, f"{np.mean(r):.4f}", f"{np.min(r):.3f}", f"{np.mean(np.array(r) == 1) * 100:.0f} %")
            for method, r in ratios.items()
        ],
    )
    below = sum(c < g for c, g in zip(ratios["clipper+"], ratios["greedy"], strict=True))
    body += f"\nGraphs where clipper+ is below greedy: {below}.\n\n"
    body += markdown_table(("graph", "n", "density", "maximum", *METHODS), rows)
    write_report("quality", "Clique sizes", "python benchmarks/quality.py --data DIR", body)


if __name__ == "__main__":
    main()
