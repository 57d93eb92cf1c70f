"""Simulated consistency graphs with many associations: the proof's time, memory and threads. One process a graph."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
import time
from functools import partial

from common import argument_parser, check, median_ms, reset_peak, resident_mb, write_report

import clipperplus as cp
from clipperplus.bench.tables import markdown_table
from clipperplus.synthetic import registration_graph

TARGETS_MS = {5000: 40.0, 10_000: 150.0, 20_000: 1000.0, 100_000: 30_000.0}
CASES = [*itertools.product((5000, 10_000, 20_000), (0.006, 0.02, 0.1), (0.05, 0.1)), (100_000, 0.005, 0.024)]


def measure(n: int, inlier_ratio: float, epsilon: float) -> list[float]:
    """Make a graph and prove its maximum clique on one and on two threads."""
    graph = registration_graph(n, outlier_ratio=1.0 - inlier_ratio, epsilon=epsilon).graph
    before = reset_peak()
    result = cp.find_clique(graph, method="exact", threads=2)
    peak = resident_mb("VmHWM") - before
    check(graph, result)
    repeats = 1 if n > 20_000 else 5
    times = [median_ms(partial(cp.find_clique, graph, method="exact", threads=threads), repeats) for threads in (1, 2)]
    bits = n * (-(-n // 512)) * 64 / 2**20
    return [graph.density, result.size, result.optimal, *times, peak, bits, graph.nbytes / 2**20]


def main() -> None:
    parser = argument_parser(__doc__ or "")
    parser.add_argument("--measure", nargs=3, metavar=("N", "INLIERS", "EPSILON"), help="one graph, as JSON")
    arguments = parser.parse_known_args()[0]
    if arguments.measure:
        n, inliers, epsilon = arguments.measure
        print(json.dumps(measure(int(n), float(inliers), float(epsilon))))
        return
    rows = []
    for n, inliers, epsilon in CASES:
        start = time.perf_counter()
        command = [sys.executable, __file__, "--measure", str(n), str(inliers), str(epsilon)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        density, size, optimal, one, two, peak, bits, graph_mb = json.loads(done.stdout)
        if size < round(n * inliers):
            sys.exit(f"{n} associations: a clique of {size} is smaller than the one that was planted")
        target = TARGETS_MS[n]
        missed = "" if optimal and two <= target else " **missed**"
        rows.append(
            (
                *(f"{n}", f"{inliers:.1%}", f"{epsilon:g}", f"{density:.3f}", size, "yes" if optimal else "no"),
                *(f"{one:.1f}", f"{two:.1f}", f"{target:g}{missed}", f"{graph_mb:.0f}", f"{peak:.0f}"),
                f"{peak / bits:.2f}" if n <= 20_000 else "CSR",
            )
        )
        print(rows[-1], f"{time.perf_counter() - start:.0f} s", file=sys.stderr)
    body = (
        '`find_clique(graph, method="exact")`, median of 5 calls (one for the largest). Points of two scans of a room '
    )
    body += "of 6 × 5 × 2.5 m; `epsilon` in metres. Peak: what the search needs on two threads besides the graph. "
    body += "Targets: time on two threads; memory 2 × the bit matrix, 4 GB in all for the largest.\n\n"
    columns = ["n", "inliers", "epsilon", "density", "clique", "proven", "ms, 1 thread", "ms, 2 threads", "target ms"]
    columns += ["graph MiB", "peak MiB", "peak / bit matrix"]
    body += markdown_table(columns, rows)
    write_report("simulated", "Many associations", "python benchmarks/simulated.py", body)


if __name__ == "__main__":
    main()
