"""Time from a built graph to the answer, on one thread, side by side with another implementation."""

from __future__ import annotations

import csv
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt
from common import (
    argument_parser,
    as_in_paper,
    check,
    median_ms,
    real_graph,
    real_graph_names,
    write_report,
)

import clipperplus as cp
from clipperplus.bench.tables import markdown_table


@dataclass(frozen=True)
class Row:
    """One graph: sizes and milliseconds of ours and theirs."""

    name: str
    n: int
    density: float
    omega: int
    sizes: tuple[int, ...]
    ours: tuple[float, ...]
    their_sizes: tuple[int, ...]
    theirs: tuple[float, ...]

    def ratio(self, which: int) -> float:
        """How many times faster a method of ours is than theirs."""
        return self.theirs[which] / self.ours[which]


METHODS = ("exact", "clipper+", "greedy")
THEIRS = (0, 0, 1)
"""Which of the reference's two methods each is compared with: its CLIPPER+ or its greedy clique."""


def run_reference(program: Path, matrix: npt.NDArray[np.bool_]) -> tuple[tuple[int, int], tuple[float, float]]:
    """Let the other implementation solve a graph; its protocol is in benchmarks/README.md."""
    with tempfile.NamedTemporaryFile(suffix=".bin") as file:
        np.int32(len(matrix)).tofile(file)
        matrix.astype(np.uint8).tofile(file)
        file.flush()
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        done = subprocess.run([program, file.name], capture_output=True, text=True, check=True, env=environment)
    _, size, _, ms, greedy_size, greedy_ms = done.stdout.strip().split(",")
    return (int(size), int(greedy_size)), (float(ms), float(greedy_ms))


def stored_reference(data: Path) -> dict[str, tuple[tuple[int, int], tuple[float, float]]]:
    """Read times that were taken elsewhere."""
    with (data / "graphs" / "reference.csv").open() as file:
        return {
            row["graph"]: (
                (int(row["reference_clipperplus_size"]), int(row["reference_greedy_size"])),
                (float(row["reference_clipperplus_ms"]), max(float(row["reference_greedy_ms"]), 0.05)),
            )
            for row in csv.DictReader(file)
        }


def summary(rows: list[Row], which: int) -> tuple[object, ...]:
    ratios = [row.ratio(which) for row in rows]
    total = sum(row.theirs[which] for row in rows) / sum(row.ours[which] for row in rows)
    slowest = min(rows, key=lambda row: row.ratio(which))
    return (
        f"{sum(row.ours[which] for row in rows):.1f}",
        f"{sum(row.theirs[which] for row in rows):.1f}",
        f"{total:.1f}",
        f"{np.exp(np.mean(np.log(ratios))):.1f}",
        f"{min(ratios):.1f} ({slowest.name})",
    )


def main() -> None:
    parser = argument_parser(__doc__ or "")
    parser.add_argument("--reference", type=Path, help="program to compare with (see benchmarks/README.md)")
    parser.add_argument("--reference-name", default="the paper authors' C++ at -O3, one thread", help="what it is")
    arguments = parser.parse_known_args()[0]
    data: Path = arguments.data
    stored = None if arguments.reference else stored_reference(data)

    rows = []
    for name in real_graph_names(data):
        matrix, omega = real_graph(data, name)
        graph = cp.Graph.from_adjacency(matrix)
        sizes, times = [], []
        for method in METHODS:
            result = cp.find_clique(graph, method=method, threads=1)
            check(graph, result, omega)
            if method == "exact" and not result.optimal:
                sys.exit(f"{name}: not proven")
            sizes.append(result.size)
            times.append(median_ms(partial(cp.find_clique, graph, method=method, threads=1), 7))
        reference_sizes, reference_ms = stored[name] if stored else run_reference(arguments.reference, matrix)
        rows.append(
            Row(
                name,
                graph.num_vertices,
                graph.density,
                omega,
                tuple(sizes),
                tuple(times),
                tuple(reference_sizes[which] for which in THEIRS),
                tuple(reference_ms[which] for which in THEIRS),
            )
        )
        ratios = (f"{rows[-1].ratio(which):.1f} × {method}" for which, method in enumerate(METHODS))
        print(f"{name}: {', '.join(ratios)}", file=sys.stderr)

    paper = [row for row in rows if as_in_paper(row.name)]
    others = [row for row in rows if not as_in_paper(row.name)]
    if stored:
        body = "Reference: times stored in reference.csv, **taken on another machine**.\n\n"
    else:
        body = f"Reference: {arguments.reference_name}, measured in the same run.\n\n"
    body += "Ours: median of 7 calls of `find_clique(graph, threads=1)`, with the checks and bounds that it includes. "
    body += "Nothing is kept between calls.\n\n## The 60 graphs made with the paper's settings\n\n"
    body += markdown_table(
        ("method", "ours, total ms", "reference, total ms", "× in total", "× in geometric mean", "× at worst"),
        [(method, *summary(paper, which)) for which, method in enumerate(METHODS)],
    )
    columns = ["graph", "n", "density", "maximum"]
    columns += ["exact ms", "reference's CLIPPER+ ms", "×", "size, proven", "its size"]
    columns += ["clipper+ ms", "reference's CLIPPER+ ms", "×", "size", "its size"]
    columns += ["greedy ms", "its greedy ms", "×", "greedy size", "its greedy size"]

    def cells(row: Row) -> tuple[object, ...]:
        result: tuple[object, ...] = (row.name, row.n, f"{row.density:.3f}", row.omega)
        for which in range(len(METHODS)):
            result += (f"{row.ours[which]:.2f}", f"{row.theirs[which]:.2f}", f"{row.ratio(which):.1f}")
            result += (row.sizes[which], row.their_sizes[which])
        return result

    body += "\n## Harder graphs\n\n" + markdown_table(columns, [cells(row) for row in others])
    body += "\n## Each of the 60\n\n" + markdown_table(columns, [cells(row) for row in paper])
    write_report("speed", "Speed", "python benchmarks/speed.py --data DIR --reference PROGRAM", body)


if __name__ == "__main__":
    main()
