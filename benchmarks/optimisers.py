"""Algorithm 2 along the gradient and along quasi-Newton directions: steps, products, time and clique sizes."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from common import argument_parser, check, real_graph, real_graph_names, write_report

import clipperplus as cp
from clipperplus.bench.tables import markdown_table

OPTIMISERS = ("gradient", "lbfgs")
METHODS = ("relaxation", "clipper+")


def real_graphs(data: Path) -> Iterable[tuple[str, cp.Graph]]:
    for name in real_graph_names(data):
        yield name, cp.Graph.from_adjacency(real_graph(data, name)[0])


def dimacs_graphs(data: Path) -> Iterable[tuple[str, cp.Graph]]:
    for path in sorted((data / "dimacs").glob("*.clq.gz")):
        yield path.name.removesuffix(".clq.gz"), cp.read_graph(path)


def measure(graph: cp.Graph, method: str, optimiser: str) -> tuple[int, int | None, float]:
    """Return the size, the steps, none where bounds alone prove it, and the milliseconds of the relaxation."""
    settings = cp.RelaxationOptions(optimiser=optimiser)  # type: ignore[arg-type]

    def relaxation() -> cp.CliqueStage | None:
        result = cp.find_clique(graph, method=method, relaxation=settings)
        check(graph, result)
        sizes.add(result.size)
        return next((stage for stage in result.stages if stage.name == "relaxation"), None)

    sizes: set[int] = set()
    stages = [relaxation() for _ in range(3)]
    (size,) = sizes
    if stages[0] is None:
        return size, None, 0.0
    return size, stages[0].iterations, min(stage.seconds for stage in stages if stage is not None) * 1e3


def compare(graphs: Iterable[tuple[str, cp.Graph]], method: str) -> tuple[list[tuple[Any, ...]], tuple[Any, ...]]:
    """Return a row for each graph that the relaxation is used on, and what they come to."""
    rows = []
    for name, graph in graphs:
        (size, steps, ms), (other, fewer, other_ms) = (measure(graph, method, which) for which in OPTIMISERS)
        if steps is not None or fewer is not None:
            rows.append((name, graph.num_vertices, size, other, steps, fewer, ms, other_ms))
    columns = np.array([row[2:] for row in rows], dtype=np.float64)
    sizes, others, steps_of, fewer_of, times, other_times = columns.T
    total = (
        len(rows),
        int((others < sizes).sum()),
        int((others > sizes).sum()),
        f"{np.mean(others / sizes):.4f}",
        int(steps_of.sum()),
        int(fewer_of.sum()),
        f"{times.sum():.1f}",
        f"{other_times.sum():.1f}",
        f"{times.sum() / other_times.sum():.2f}",
    )
    return rows, total


def main() -> None:
    data: Path = argument_parser(__doc__ or "").parse_known_args()[0].data
    totals, tables = [], ""
    for title, source in (("real graphs", real_graphs), ("DIMACS", dimacs_graphs)):
        for method in METHODS:
            rows, total = compare(source(data), method)
            totals.append((f"{title}, `{method}`", *total))
            cells = [(*row[:6], f"{row[6]:.2f}", f"{row[7]:.2f}") for row in rows]
            columns = ("graph", "n", "size: gradient", "lbfgs", "steps: gradient", "lbfgs", "ms: gradient", "lbfgs")
            tables += f"\n## {title.capitalize()}, `{method}`\n\n" + markdown_table(columns, cells)
    head = (
        *("graphs", "relaxed", "lbfgs smaller", "larger", "mean ratio of sizes", "steps: gradient", "lbfgs"),
        *("ms: gradient", "lbfgs", "gradient ÷ lbfgs"),
    )
    about = (
        "`RelaxationOptions(optimiser=…)` on one thread: clique sizes, steps of the ascent, and the least of three\n"
        "times of the relaxation alone. Graphs on which `clipper+` ends with a proof before that are left out.\n\n"
    )
    body = about + markdown_table(head, totals) + tables
    write_report("optimisers", "Gradient and quasi-Newton ascent", "python benchmarks/optimisers.py --data DIR", body)


if __name__ == "__main__":
    main()
