"""The exact search beside what else can be installed from PyPI: networkit, igraph, networkx (the ``bench`` extra)."""

from __future__ import annotations

import math
import multiprocessing
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np
import numpy.typing as npt
from common import argument_parser, check, median_ms, real_graph, real_graph_names, write_report

import clipperplus as cp
from clipperplus.bench.tables import markdown_table

Edges = npt.NDArray[np.int64]
SMALLEST = 100
"""Vertices: below, the time of a call is that of Python."""


def networkit(n: int, edges: Edges) -> Callable[[], int]:
    """MaximalCliques(maximumOnly=True)."""
    import networkit as nk

    graph = nk.Graph(n)
    for u, v in edges.tolist():
        graph.addEdge(u, v)

    def solve() -> int:
        search = nk.clique.MaximalCliques(graph, maximumOnly=True)
        search.run()
        return max(map(len, search.getCliques()))

    return solve


def igraph(n: int, edges: Edges) -> Callable[[], int]:
    """clique_number()."""
    import igraph as ig

    graph = ig.Graph(n, edges.tolist())
    return lambda: int(graph.clique_number())


def networkx(n: int, edges: Edges) -> Callable[[], int]:
    """max_weight_clique(weight=None)."""
    import networkx as nx

    graph = nx.Graph()
    graph.add_nodes_from(range(n))
    graph.add_edges_from(edges.tolist())
    return lambda: int(nx.max_weight_clique(graph, weight=None)[1])


PEERS = {"networkit": networkit, "igraph": igraph, "networkx": networkx}


def _solve(peer: str, n: int, edges: Edges, answer: Connection) -> None:
    solve = PEERS[peer](n, edges)
    answer.send(None)  # the graph is built, the clock starts
    start = time.perf_counter()
    size = solve()
    answer.send((size, time.perf_counter() - start))


def run_peer(peer: str, graph: cp.Graph, limit: float) -> tuple[int | None, float]:
    """Let a peer solve a graph in a process of its own; None and the limit if it does not within that."""
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(
        target=_solve, args=(peer, graph.num_vertices, graph.edges(), theirs)
    )
    process.start()
    try:
        if not ours.poll(60.0):
            sys.exit(f"{peer} did not build its graph within a minute")
        ours.recv()
        return ours.recv() if ours.poll(limit) else (None, limit)
    finally:
        process.kill()
        process.join()


def graphs(data: Path) -> list[tuple[str, cp.Graph]]:
    found = [(name, cp.Graph.from_adjacency(real_graph(data, name)[0])) for name in real_graph_names(data)]
    paths = sorted((data / "dimacs").glob("*.clq.gz"))
    found += [(path.name.removesuffix(".clq.gz"), cp.read_graph(path)) for path in paths]
    return [(name, graph) for name, graph in found if graph.num_vertices >= SMALLEST]


def main() -> None:
    parser = argument_parser(__doc__ or "")
    parser.add_argument("--peer-limit", type=float, default=10.0, help="seconds for a peer and a graph")
    arguments = parser.parse_known_args()[0]
    limit = arguments.peer_limit
    rows: list[tuple[object, ...]] = []
    ratios: dict[str, list[float]] = {peer: [] for peer in PEERS}
    for name, graph in graphs(arguments.data):
        result = cp.find_clique(graph, method="exact", time_limit=limit)
        check(graph, result)
        ms = result.seconds * 1e3
        if ms < 1000:
            ms = median_ms(partial(cp.find_clique, graph, method="exact"), 5)
        cells: list[object] = [name, graph.num_vertices, f"{graph.density:.3f}"]
        cells += [result.size if result.optimal else f"{result.size} … {result.upper_bound}"]
        cells += [f"{ms:.2f}" if result.optimal else f"> {limit * 1e3:g}"]
        for peer in PEERS:
            size, seconds = run_peer(peer, graph, limit)
            if size is not None and not result.size <= size <= result.upper_bound:
                sys.exit(f"{name}: {peer} finds {size}, we {result.size} … {result.upper_bound}")
            if size is None and not result.optimal:  # neither is done: nothing to compare
                cells += [f"> {limit * 1e3:g}", ""]
                continue
            ratio = seconds * 1e3 / ms
            ratios[peer].append(ratio)
            mark = " **slower**" if ratio < 1 else ""
            cells += [
                f"{'> ' if size is None else ''}{seconds * 1e3:.1f}",
                f"{'> ' if size is None else ''}{ratio:.0f}{mark}",
            ]
        rows.append(tuple(cells))
        print(rows[-1], file=sys.stderr)
    body = f"One thread each, from a built graph to the clique number; a peer gets {limit:g} s a graph. "
    body += "A ratio with > is a lower bound: the peer was stopped.\n\n"
    summary = [
        (
            peer,
            str(PEERS[peer].__doc__).rstrip("."),
            len(values),
            f"{math.exp(statistics.fmean(map(math.log, values))):.0f}",
            f"{min(values):.1f}",
        )
        for peer, values in ratios.items()
    ]
    body += markdown_table(("peer", "call", "graphs", "× in geometric mean, at least", "× at worst"), summary)
    columns = ["graph", "n", "density", "clique number", "ours ms"]
    for peer in PEERS:
        columns += [f"{peer} ms", "×"]
    body += "\n" + markdown_table(columns, rows)
    write_report("peers", "Beside other packages", "python benchmarks/peers.py --data DIR", body)


if __name__ == "__main__":
    main()
