"""Large graphs, memory, overhead outside the kernels, and Python threads. Each case runs in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from common import (
    argument_parser,
    check,
    median_ms,
    real_graph,
    reset_peak,
    resident_mb,
    write_report,
)

import clipperplus as cp
from clipperplus import _core
from clipperplus.bench.tables import markdown_table


def million_vertices(_: Path) -> list[tuple[str, str, str]]:
    """Ten million random edges on a million vertices."""
    n = 1_000_000
    edges = np.random.default_rng(0).integers(0, n, size=(10_500_000, 2))
    edges = edges[edges[:, 0] != edges[:, 1]][:10_000_000]
    before = reset_peak()
    start = time.perf_counter()
    graph = cp.Graph.from_edges(n, edges)
    loaded = time.perf_counter() - start
    peak = resident_mb("VmHWM") - before
    start = time.perf_counter()
    cores = graph.core_numbers()
    seconds = time.perf_counter() - start
    later = sum(int((cores >= k).sum()) for k in range(1, int(cores.max()) + 1))
    if later != int(cores.sum()):
        sys.exit("core numbers are inconsistent")
    return [
        ("1 000 000 vertices, 10 000 000 edges: from an edge array", f"{loaded:.2f} s", ""),
        ("– memory of the graph; at the peak of loading", f"{graph.nbytes / 2**20:.0f} MB; {peak:.0f} MB", ""),
        ("– core numbers", f"{seconds:.2f} s", "2 s"),
    ]


def twenty_thousand(_: Path) -> list[tuple[str, str, str]]:
    """A graph of 20 000 vertices at density 0.05; another process makes the edges, so that only they are in memory."""
    n = 20_000
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "edges.npy"
        code = (
            f"import numpy as np; r = np.random.default_rng(1); n = {n}; u, v = np.triu_indices(n, 1); "
            "k = np.flatnonzero(r.random(u.size, dtype=np.float32) < 0.05); "
            f"np.save({str(path)!r}, np.column_stack((u[k], v[k])).astype(np.int32))"
        )
        subprocess.run([sys.executable, "-c", code], check=True)
        edges = np.load(path)
    before = reset_peak()
    start = time.perf_counter()
    graph = cp.Graph.from_edges(n, edges)
    seconds = time.perf_counter() - start
    peak = resident_mb("VmHWM") - before
    reset_peak()
    result = cp.find_clique(graph, method="clipper+")
    solving = resident_mb("VmHWM") - before
    check(graph, result)
    return [
        (f"20 000 vertices, density {graph.density:.3f}: from an edge array", f"{seconds:.2f} s", ""),
        ("– memory of the graph", f"{graph.nbytes / 2**20:.0f} MB", "150 MB"),
        ("– memory at the peak of loading, above the edge array", f"{peak:.0f} MB", "150 MB"),
        ("– memory at the peak of clipper+, with the graph", f"{solving:.0f} MB", ""),
        ("– clipper+", f"{result.seconds:.2f} s", ""),
    ]


def memory_of_a_solve(data: Path) -> list[tuple[str, str, str]]:
    """Peak memory of loading and solving rgbd_b_k3 above the interpreter with its imports."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "edges.npy"
        code = (
            f"import sys, pathlib, numpy as np; sys.path.insert(0, {str(Path(__file__).parent)!r}); import common; "
            f"matrix, _ = common.real_graph(pathlib.Path({str(data)!r}), 'rgbd_b_k3'); "
            f"np.save({str(path)!r}, np.argwhere(np.triu(matrix)).astype(np.int32))"
        )
        subprocess.run([sys.executable, "-c", code], check=True)
        before = reset_peak()
        edges = np.load(path)
    graph = cp.Graph.from_edges(4542, edges)
    result = cp.find_clique(graph, method="clipper+")
    peak = resident_mb("VmHWM") - before
    check(graph, result, 142)
    return [("rgbd_b_k3: peak memory of loading and clipper+ above the interpreter's", f"{peak:.1f} MB", "60 MB")]


def overhead(data: Path) -> list[tuple[str, str, str]]:
    """Time of find_clique that is not spent inside the compiled core, on a graph of 872 vertices."""
    matrix, omega = real_graph(data, "redkitchen_0_26")
    graph = cp.Graph.from_adjacency(matrix)
    check(graph, cp.find_clique(graph), omega)
    inside = 0.0

    def timed(function: Any) -> Any:
        def wrapper(*arguments: Any) -> Any:
            nonlocal inside
            start = time.perf_counter()
            try:
                return function(*arguments)
            finally:
                inside += time.perf_counter() - start

        return wrapper

    rows = []
    names = ("order_by_core", "greedy_clique", "greedy_colours", "relax", "make_maximal")
    originals = {name: getattr(_core, name) for name in names}
    prefix = _core.Graph.prefix
    for method in ("greedy", "clipper+"):
        outside = []
        for name in names:
            setattr(_core, name, timed(originals[name]))
        _core.Graph.prefix = timed(prefix)  # type: ignore[method-assign]
        for _ in range(51):
            inside = 0.0
            start = time.perf_counter()
            cp.find_clique(graph, method=method)
            outside.append(time.perf_counter() - start - inside)
        for name in names:
            setattr(_core, name, originals[name])
        _core.Graph.prefix = prefix  # type: ignore[method-assign]
        label = f"872 vertices: time of find_clique({method}) outside the kernels"
        rows.append((label, f"{float(np.median(outside)) * 1e3:.3f} ms", "0.2 ms"))
    return rows


def python_threads(data: Path) -> list[tuple[str, str, str]]:
    """Eight solves, one after the other and from four Python threads."""
    matrix, omega = real_graph(data, "rgbd_b_k3")
    graph = cp.Graph.from_adjacency(matrix)

    def solve(_: int) -> list[int]:
        result = cp.find_clique(graph, method="clipper+")
        check(graph, result, omega)
        return list(result.vertices)

    expected = solve(0)
    serial = median_ms(lambda: [solve(i) for i in range(8)], 3)
    with ThreadPoolExecutor(4) as pool:
        if any(answer != expected for answer in pool.map(solve, range(8))):
            sys.exit("threads changed an answer")
        parallel = median_ms(lambda: list(pool.map(solve, range(8))), 3)
    return [("8 solves of rgbd_b_k3 from 4 Python threads: speed-up on 2 cores", f"{serial / parallel:.2f} ×", "")]


CASES = {
    function.__name__: function
    for function in (million_vertices, twenty_thousand, memory_of_a_solve, overhead, python_threads)
}


def main() -> None:
    parser = argument_parser(__doc__ or "")
    parser.add_argument("--case", choices=CASES, help="run one case and print its rows as JSON")
    arguments = parser.parse_known_args()[0]
    if arguments.case:
        print(json.dumps(CASES[arguments.case](arguments.data)))
        return
    rows = []
    for name in CASES:
        command = [sys.executable, __file__, "--case", name, "--data", str(arguments.data)]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        rows += json.loads(done.stdout)
    body = markdown_table(("what", "measured", "at most"), rows)
    write_report("scale", "Scale, memory and overhead", "python benchmarks/scale.py --data DIR", body)


if __name__ == "__main__":
    main()
