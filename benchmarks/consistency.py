"""Time and memory from matched points to the graph, and to the proven clique."""

from __future__ import annotations

import os

# Before numpy is imported: what is compared with must not use more threads than the core.
os.environ.update({"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"})

import sys
from functools import partial

import numpy as np
import numpy.typing as npt
from common import argument_parser, check, median_ms, reset_peak, resident_mb, write_report
from scipy.spatial.distance import pdist

import clipperplus as cp
from clipperplus.bench.tables import markdown_table

ROOM, HALL = np.array([6.0, 5.0, 2.5]), np.array([60.0, 50.0, 8.0])
# Associations, space in metres, epsilon in metres, threads, milliseconds wanted.
CASES = (
    (1000, ROOM, 0.05, 1, 0.4),
    (1000, HALL, 0.1, 1, 0.4),
    (5000, ROOM, 0.05, 1, 8.0),
    (5000, HALL, 0.1, 1, 8.0),
    (20_000, ROOM, 0.05, 2, 120.0),
    (20_000, HALL, 0.1, 2, 120.0),
    (100_000, ROOM, 0.005, 2, 4000.0),
    (100_000, HALL, 0.1, 2, 4000.0),
)
WANTED_AGAINST_PDIST, WANTED_WHOLE_MS = 20.0, 60.0

Points = npt.NDArray[np.float64]


def matched_points(n: int, space: Points, epsilon: float) -> tuple[Points, Points, npt.NDArray[np.int64]]:
    """Return matched points, of which one in a hundred is right, and which they are."""
    random = np.random.default_rng(n)
    source, target = random.uniform(size=(2, n, 3)) * space
    inliers = np.sort(random.permutation(n)[: n // 100])
    noise = random.normal(size=(inliers.size, 3))
    target[inliers] = source[inliers] + noise * (epsilon / 4 / np.linalg.norm(noise, axis=1))[:, None]
    return source, target, inliers


def by_pdist(source: Points, target: Points, epsilon: float) -> npt.NDArray[np.bool_]:
    """The same with scipy: all distances of both clouds, compared."""
    return np.asarray(np.abs(pdist(source) - pdist(target)) < epsilon)


def edges_agree(graph: cp.Graph, source: Points, target: Points, epsilon: float) -> None:
    """End the benchmark if the graph is not that of the definition."""
    random = np.random.default_rng(0)
    for i in random.integers(graph.num_vertices, size=50):
        gap = np.linalg.norm(source - source[i], axis=1) - np.linalg.norm(target - target[i], axis=1)
        if not np.array_equal(graph.neighbours(int(i)), np.setdiff1d(np.flatnonzero(np.abs(gap) < epsilon), i)):
            sys.exit(f"association {i} of {graph.num_vertices} has other neighbours than by the definition")


def main() -> None:
    argument_parser(__doc__ or "").parse_known_args()
    rows = []
    for n, space, epsilon, threads, wanted in CASES:
        source, target, _ = matched_points(n, space, epsilon)
        before = reset_peak()
        graph = cp.consistency_graph(source, target, epsilon=epsilon, threads=threads)
        peak = (resident_mb("VmHWM") - before) * 2**20
        edges_agree(graph, source, target, epsilon)
        ms = median_ms(
            partial(cp.consistency_graph, source, target, epsilon=epsilon, threads=threads),
            repeats=51 if n <= 5000 else 15 if n <= 20_000 else 3,
        )
        where = "room" if space is ROOM else "hall"
        memory = f"{peak / 2**20:.1f} MiB" if n > 5000 else ""
        stored = f"{graph.nbytes / 2**20:.1f} MiB, {graph.representation}"
        rows.append((f"{n} in a {where}", threads, f"{graph.density:.4f}", stored, memory, f"{ms:.2f}", f"{wanted:g}"))
    columns = ("associations", "threads", "density", "graph", "peak", "ms", "wanted")
    table = markdown_table(columns, rows)

    source, target, inliers = matched_points(5000, ROOM, 0.05)
    graph = cp.consistency_graph(source, target, epsilon=0.05)
    if graph.num_edges != np.count_nonzero(by_pdist(source, target, 0.05)):
        sys.exit("pdist gives another number of edges")
    scipy_ms = median_ms(lambda: by_pdist(source, target, 0.05))
    ours_ms = median_ms(lambda: cp.consistency_graph(source, target, epsilon=0.05), repeats=51)

    def whole() -> cp.CliqueResult:
        return cp.find_clique(cp.consistency_graph(source, target, epsilon=0.05))

    result = whole()
    check(graph, result)
    if not result.optimal or not np.isin(inliers, result.vertices).all():
        sys.exit("the right associations were not found, or not proven")
    whole_ms = median_ms(whole)
    text = (
        "Matched points in a room of 6 × 5 × 2.5 m (epsilon 5 cm, 5 mm for 100 000) or a hall of 60 × 50 × 8 m\n"
        "(10 cm), one in a hundred right. Neighbours of fifty associations are compared with the definition first.\n"
        "The peak is resident memory above that before the call, graph included; wanted: 5 % more than the graph.\n\n"
        f"{table}\n"
        f"5000 in the room against scipy's `pdist` of both clouds: {ours_ms:.1f} and {scipy_ms:.0f} ms, "
        f"{scipy_ms / ours_ms:.0f} ×; wanted {WANTED_AGAINST_PDIST:.0f} ×.\n\n"
        f"From 5000 matched points in the room, 99 % outliers, to the proven clique of {result.size}, one thread: "
        f"{whole_ms:.1f} ms; wanted {WANTED_WHOLE_MS:.0f} ms.\n"
    )
    write_report("consistency", "From matched points to a graph", "python benchmarks/consistency.py", text)


if __name__ == "__main__":
    main()
