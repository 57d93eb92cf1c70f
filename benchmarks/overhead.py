"""What a call of find_clique costs besides the search: checks, crossing into the core, and making the result.

The whole call is timed, and in it the one call of the core that does the search; what is outside is the difference.
With ``--before``, another build of the package is measured in the same run, turn by turn.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from common import argument_parser, check, real_graph, real_graph_names, write_report

import clipperplus as cp
from clipperplus import _core
from clipperplus.bench.tables import markdown_table
from clipperplus.clique._search_state import SearchState

SIZES = (5, 20, 100, 500)
METHODS = ("auto", "exact", "clipper+", "greedy")
MOST_OUTSIDE = 20.0
"""Microseconds outside of the core that a call on a small graph may take."""
TOUCHED = 2**26
"""Bytes that are touched before a call, to see what that alone costs."""
TURNS = 5
SECONDS = 0.03
"""Of repeating one call, a turn."""


def registration_like(n: int, seed: int = 0) -> cp.Graph:
    """Return the consistency graph of n associations of which a quarter is right."""
    random = np.random.default_rng(seed)
    source = random.random((n, 3))
    target = np.where(np.arange(n)[:, None] < max(3, n // 4), source, random.random((n, 3)))
    return cp.consistency_graph(source, target, epsilon=0.3)  # so wide that most need more than the greedy clique


def median_us(action: Callable[[], object]) -> float:
    """Return the median of the processor's time for an action, in microseconds: other work does not count."""
    times: list[float] = []
    end = time.perf_counter() + SECONDS
    while len(times) < 5 or time.perf_counter() < end:
        start = time.process_time()
        action()
        times.append(time.process_time() - start)
    return statistics.median(times) * 1e6


def whole_calls(graphs: dict[str, cp.Graph], methods: tuple[str, ...]) -> dict[str, float]:
    """Return what a call takes, by graph and method."""
    calls = {}
    for name, graph in graphs.items():
        for method in methods:
            calls[f"{name} {method}"] = median_us(lambda g=graph, m=method: cp.find_clique(g, method=m))  # type: ignore[misc]
    return calls


class Outside:
    """Times calls of find_clique, and inside of them those of the core that search."""

    def __init__(self) -> None:
        """Put a clock around the searches of the core."""
        self._inside = 0.0
        for name in ("find_exact", "find_clipperplus", "find_greedy"):
            setattr(SearchState, name, self._timed(getattr(_core.SearchState, name)))

    def _timed(self, search: Callable[..., None]) -> Callable[..., None]:
        def search_and_note(state: SearchState, *settings: object) -> None:
            start = time.perf_counter()
            search(state, *settings)
            self._inside = time.perf_counter() - start

        return search_and_note

    def measure(self, graph: cp.Graph, method: str, before: Callable[[], object] = lambda: None) -> tuple[float, float]:
        """Return the median time of a call, and of what is outside of the core, in microseconds.

        ``before`` is done before every call, and not timed.
        """
        whole: list[float] = []
        outside: list[float] = []
        end = time.perf_counter() + TURNS * SECONDS
        while len(whole) < TURNS or time.perf_counter() < end:
            before()
            start = time.perf_counter()
            cp.find_clique(graph, method=method)
            whole.append(time.perf_counter() - start)
            outside.append(whole[-1] - self._inside)
        return statistics.median(whole) * 1e6, statistics.median(outside) * 1e6


def small_graphs() -> dict[str, cp.Graph]:
    """Return graphs of several sizes."""
    return {str(n): registration_like(n) for n in SIZES}


def real_graphs(data: Path) -> dict[str, cp.Graph]:
    """Return the graphs of real scans."""
    return {name: cp.Graph.from_adjacency(real_graph(data, name)[0]) for name in real_graph_names(data)}


def measure_here(data: Path) -> dict[str, float]:
    """Return all whole calls, of whichever build is imported."""
    return whole_calls(small_graphs(), METHODS) | whole_calls(real_graphs(data), ("auto",))


def measure_elsewhere(source: Path | None, data: Path) -> dict[str, float]:
    """Do the same in another process, with the package that is in a folder, or this one."""
    environment = dict(os.environ) if source is None else {**os.environ, "PYTHONPATH": str(source)}
    command = [sys.executable, __file__, "--data", str(data), "--raw"]
    output = subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout
    return dict(json.loads(output))


def medians(turns: list[dict[str, float]]) -> dict[str, float]:
    """Return the median over all turns."""
    return {key: statistics.median(turn[key] for turn in turns) for key in turns[0]}


def outside_table(data: Path) -> tuple[str, float]:
    """Return the table of what is outside of the core, and the largest of it."""
    clock = Outside()
    graphs = [(f"{n} vertices", graph, method) for n, graph in small_graphs().items() for method in METHODS]
    graphs += [(name, graph, "auto") for name, graph in real_graphs(data).items()]
    rows: list[tuple[str, str, int, float, float]] = []
    for name, graph, method in graphs:
        found = cp.find_clique(graph, method=method)
        check(graph, found)
        rows.append((name, method, len(found.stages), *clock.measure(graph, method)))
    table = markdown_table(
        ("graph", "method", "stages", "call, µs", "core, µs", "outside, µs"),
        [
            (name, method, str(stages), f"{whole:.1f}", f"{whole - outside:.1f}", f"{outside:.1f}")
            for name, method, stages, whole, outside in rows[: len(SIZES) * len(METHODS)]
        ],
    )
    small, real = rows[: len(SIZES) * len(METHODS)], rows[len(SIZES) * len(METHODS) :]
    outsides = [row[-1] for row in real]
    longer = sorted((row for row in real if row[-1] > MOST_OUTSIDE), key=lambda row: row[3])
    table += (
        f"\n`auto` on {len(real)} graphs of real scans: {statistics.median(outsides):.1f} µs outside in the median; "
        f"{len(longer)} are above {MOST_OUTSIDE:.0f} µs.\n\n"
    )
    table += markdown_table(
        ("graph above it", "call, ms", "outside, µs"),
        [(name, f"{whole / 1e3:.1f}", f"{outside:.1f}") for name, _, _, whole, outside in longer],
    )
    memory = np.zeros(TOUCHED, dtype=np.uint8)
    warm, cold = (clock.measure(registration_like(20), "auto", before)[1] for before in (lambda: None, memory.sum))
    table += (
        f"\nWhat cold caches alone cost: `auto` on 20 vertices takes {warm:.1f} µs outside, and {cold:.1f} µs where "
        f"{TOUCHED >> 20} MiB were read before every call.\n"
    )
    return table, max(row[-1] for row in small)


def comparison(before: Path, data: Path) -> str:
    """Return tables of calls before and now."""
    then, now = [], []
    for _ in range(TURNS):
        then.append(measure_elsewhere(before, data))
        now.append(measure_elsewhere(None, data))
    old, new = medians(then), medians(now)
    small = [key for key in old if key.split()[0].isdigit()]
    rows = [(*key.split(), f"{old[key]:.1f}", f"{new[key]:.1f}", f"{new[key] / old[key]:.2f}") for key in small]
    body = "\n## Before and now\n\nProcessor time, on one thread.\n\n" + markdown_table(
        ("vertices", "method", "before, µs", "now, µs", "ratio"), rows
    )
    real = [key for key in old if key not in small]
    ratios = sorted((new[key] / old[key], key.split()[0]) for key in real)
    return body + (
        f"\n`auto` on the {len(real)} graphs of real scans, ratio of a graph: median {ratios[len(real) // 2][0]:.2f}, "
        f"from {ratios[0][0]:.2f} ({ratios[0][1]}) to {ratios[-1][0]:.2f} ({ratios[-1][1]}, which takes "
        f"{new[ratios[-1][1] + ' auto'] / 1e3:.1f} ms).\n"
    )


def main() -> None:
    """Measure, and write the table."""
    parser = argument_parser(__doc__ or "")
    parser.add_argument("--before", type=Path, help="folder with another build of the package, to compare with")
    parser.add_argument("--raw", action="store_true", help="print the times of whole calls as JSON, and nothing else")
    arguments, _ = parser.parse_known_args()
    if arguments.raw:
        print(json.dumps(measure_here(arguments.data)))
        return
    table, worst = outside_table(arguments.data)
    body = (
        f"A call on a small graph takes {worst:.1f} µs outside of the core at most; "
        f"{MOST_OUTSIDE:.0f} are allowed.\n\n{table}"
    )
    if arguments.before is not None:
        body += comparison(arguments.before, arguments.data)
    command = "python benchmarks/overhead.py" + (" --before DIR" if arguments.before is not None else "")
    write_report("overhead", "What a call costs besides the search", command, body)
    if worst > MOST_OUTSIDE:
        sys.exit(f"{worst:.1f} µs outside of the core")


if __name__ == "__main__":
    main()
