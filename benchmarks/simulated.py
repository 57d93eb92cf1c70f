"""Simulated consistency graphs with many associations: the proof's time, memory and threads. One process a graph."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt
from common import argument_parser, check, median_ms, reset_peak, resident_mb, write_report

import clipperplus as cp
from clipperplus.bench.tables import markdown_table

ROOM = np.array([6.0, 5.0, 2.5])
"""Metres."""
TARGETS_MS = {5000: 40.0, 10_000: 150.0, 20_000: 1000.0, 100_000: 30_000.0}
CASES = [*itertools.product((5000, 10_000, 20_000), (0.006, 0.02, 0.1), (0.05, 0.1)), (100_000, 0.005, 0.024)]


def edges_of(n: int, inlier_ratio: float, epsilon: float, seed: int = 0) -> npt.NDArray[np.int32]:
    """Join associations of two scans of a room that agree in distance within epsilon, a block of rows at a time.

    An inlier is seen in both scans with an error below epsilon / 4, so that inliers are a clique; outliers match two
    unrelated points. Distances are in single precision: good enough to make a graph, not to decide on a real one.
    """
    random = np.random.default_rng(seed)
    source, target = random.uniform(size=(n, 3)) * ROOM, random.uniform(size=(n, 3)) * ROOM
    inliers = np.sort(random.permutation(n)[: round(n * inlier_ratio)])
    noise = random.normal(size=(inliers.size, 3))
    noise *= (epsilon / 4 * random.uniform(size=inliers.size) / np.linalg.norm(noise, axis=1))[:, None]
    target[inliers] = source[inliers] + noise
    block = max(1, 20_000_000 // n)
    found = []

    def distances(points: npt.NDArray[np.float32], begin: int, end: int) -> npt.NDArray[np.float32]:
        rows, columns = points[begin:end], points[begin:]
        squared = (rows**2).sum(1)[:, None] + (columns**2).sum(1)[None, :] - 2 * rows @ columns.T
        return np.asarray(np.sqrt(np.maximum(squared, 0.0)))

    points = source.astype(np.float32), target.astype(np.float32)
    for begin in range(0, n, block):
        end = min(n, begin + block)
        gap = np.abs(distances(points[0], begin, end) - distances(points[1], begin, end))
        i, j = np.nonzero(np.triu(gap < epsilon, k=1))
        found.append(np.column_stack((i + begin, j + begin)).astype(np.int32))
    return np.concatenate(found)


def measure(path: Path, n: int) -> list[float]:
    """Load a graph and prove its maximum clique on one and on two threads."""
    edges = np.load(path)
    graph = cp.Graph.from_edges(n, edges)
    del edges
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
    parser.add_argument("--measure", nargs=2, metavar=("EDGES", "N"), help="measure one graph and print JSON")
    arguments = parser.parse_known_args()[0]
    if arguments.measure:
        print(json.dumps(measure(Path(arguments.measure[0]), int(arguments.measure[1]))))
        return
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "edges.npy"
        for n, inliers, epsilon in CASES:
            np.save(store, edges_of(n, inliers, epsilon))
            start = time.perf_counter()
            command = [sys.executable, __file__, "--measure", str(store), str(n)]
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
