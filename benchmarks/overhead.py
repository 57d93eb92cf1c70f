"""What a call of find_clique costs besides the search: checks, crossing into the core, and making the result.

The whole call is timed, and the call of the core inside it with the same arguments; what is outside is the difference.
With ``--before``, another build of the package is measured in the same run, turn by turn.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from common import DEFAULT_DATA, check, real_graph, real_graph_names, write_report

import clipperplus as cp
from clipperplus import _core
from clipperplus.bench.tables import markdown_table

SIZES = (5, 20, 100, 500)
METHODS = ("auto", "exact", "clipper+", "greedy")
MOST_OUTSIDE = 20.0
"""Microseconds outside of the core that a call may take."""
TURNS = 5
SECONDS = 0.03
"""Of repeating one call, a turn."""


def registration_like(n: int, seed: int = 0) -> cp.Graph:
    """Return the consistency graph of n associations of which a quarter is right."""
    random = np.random.default_rng(seed)
    source = random.random((n, 3))
    target = np.where(np.arange(n)[:, None] < max(3, n // 4), source, random.random((n, 3)))
    return cp.consistency_graph(source, target, epsilon=0.05)


def median_us(action: Callable[[], object]) -> float:
    """Return the median time of an action in microseconds."""
    times: list[float] = []
    end = time.perf_counter() + SECONDS
    while len(times) < 5 or time.perf_counter() < end:
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return statistics.median(times) * 1e6


def whole_calls(graphs: dict[str, cp.Graph], methods: tuple[str, ...]) -> dict[str, float]:
    """Return what a call takes, by graph and method."""
    calls = {}
    for name, graph in graphs.items():
        for method in methods:
            calls[f"{name} {method}"] = median_us(lambda g=graph, m=method: cp.find_clique(g, method=m))  # type: ignore[misc]
    return calls


def core_call(graph: cp.Graph, method: str) -> float:
    """Return the median time of the core alone, in microseconds; each search has a state of its own."""
    native, limit = graph._native, 1.0 if method == "auto" else None
    times: list[float] = []
    end = time.perf_counter() + SECONDS
    while len(times) < 5 or time.perf_counter() < end:
        state = _core.SearchState(native, limit, 1, None, None, False, None)
        start = time.perf_counter()
        if method == "greedy":
            state.find_greedy()
        elif method == "clipper+":
            state.find_clipperplus(None)
        else:
            state.find_exact(None, None)
        times.append(time.perf_counter() - start)
    return statistics.median(times) * 1e6


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


def outside_table() -> tuple[str, float]:
    """Return the table of what is outside of the core, and the largest of it."""
    rows, worst = [], 0.0
    for name, graph in small_graphs().items():
        for method in METHODS:
            check(graph, cp.find_clique(graph, method=method))
            pairs = [(whole_calls({name: graph}, (method,)), core_call(graph, method)) for _ in range(TURNS)]
            whole = statistics.median(pair[0][f"{name} {method}"] for pair in pairs)
            outside = statistics.median(pair[0][f"{name} {method}"] - pair[1] for pair in pairs)
            worst = max(worst, outside)
            rows.append((name, method, f"{whole:.1f}", f"{whole - outside:.1f}", f"{outside:.1f}"))
    return markdown_table(("vertices", "method", "call, µs", "core, µs", "outside, µs"), rows), worst


def comparison(before: Path, data: Path) -> str:
    """Return tables of calls before and now."""
    then, now = [], []
    for _ in range(TURNS):
        then.append(measure_elsewhere(before, data))
        now.append(measure_elsewhere(None, data))
    old, new = medians(then), medians(now)
    small = [key for key in old if key.split()[0].isdigit()]
    rows = [(*key.split(), f"{old[key]:.1f}", f"{new[key]:.1f}", f"{new[key] / old[key]:.2f}") for key in small]
    body = "\n## Before and now\n\n" + markdown_table(("vertices", "method", "before, µs", "now, µs", "ratio"), rows)
    real = [key for key in old if key not in small]
    ratios = sorted(new[key] / old[key] for key in real)
    sums = f"{sum(old[key] for key in real) / 1e3:.1f} ms before, {sum(new[key] for key in real) / 1e3:.1f} ms now"
    return body + (
        f"\n`auto` on the {len(real)} graphs of real scans: all together {sums}; ratio of a graph: median "
        f"{statistics.median(ratios):.2f}, from {ratios[0]:.2f} to {ratios[-1]:.2f}.\n"
    )


def main() -> None:
    """Measure, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DEFAULT_DATA, help="folder with graphs/")
    parser.add_argument("--before", type=Path, help="folder with another build of the package, to compare with")
    parser.add_argument("--raw", action="store_true", help="print the times of whole calls as JSON, and nothing else")
    arguments = parser.parse_args()
    if arguments.raw:
        print(json.dumps(measure_here(arguments.data)))
        return
    table, worst = outside_table()
    body = f"A call takes {worst:.1f} µs outside of the core at most; {MOST_OUTSIDE:.0f} are allowed.\n\n{table}"
    if arguments.before is not None:
        body += comparison(arguments.before, arguments.data)
    command = "python benchmarks/overhead.py" + (" --before DIR" if arguments.before is not None else "")
    write_report("overhead", "What a call costs besides the search", command, body)
    if worst > MOST_OUTSIDE:
        sys.exit(f"{worst:.1f} µs outside of the core")


if __name__ == "__main__":
    main()
