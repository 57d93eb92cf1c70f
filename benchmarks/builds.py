"""Builds of the package beside each other, of other compilers or earlier commits: the work that the README tells of.

    python benchmarks/builds.py --other DIR --other DIR  # folders into which wheels were unpacked

All do the same work in turns, each in processes of its own, on one thread; what is compared is processor time. Answers
must be the same to the last bit.
"""

from __future__ import annotations

import hashlib
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from clouds import dense
from common import argument_parser, as_in_paper, matched_points, real_graph, real_graph_names, write_report

import clipperplus as cp
from clipperplus.bench.tables import markdown_table
from clipperplus.synthetic import registration_graph, room_scans, street_scans

TURNS, REPEATS = 7, 3
LARGE, MANY = 5_000_000, 20_000
"""Points of a cloud, and associations, simulated."""


def work(data: Path) -> dict[str, Callable[[], Iterable[Any]]]:
    """Return what is done, by name: each gives arrays that are the answer."""
    names = [name for name in real_graph_names(data) if as_in_paper(name)]
    graphs = [cp.Graph.from_adjacency(real_graph(data, name)[0]) for name in names]
    matches = [matched_points(data, name) for name in names]
    scans = {"room": room_scans(), "street": street_scans()}

    def cliques(method: Any) -> Iterable[Any]:
        return [cp.find_clique(graph, method=method).vertices for graph in graphs]

    def prepare(cloud: Any) -> Iterable[Any]:
        prepared = cp.prepare(cloud, threads=1)
        return prepared.points, prepared.normals, prepared.features

    def register(pair: Any) -> Iterable[Any]:
        return (cp.register(pair.source, pair.target, threads=1).T_target_source,)

    jobs: dict[str, Callable[[], Iterable[Any]]] = {
        f"`{method}`, {len(graphs)} graphs": partial(cliques, method) for method in ("exact", "clipper+", "greedy")
    }
    jobs["`consistency_graph`, the same"] = lambda: [
        cp.consistency_graph(source, target, epsilon=epsilon).num_edges for source, target, epsilon in matches
    ]
    jobs["`solve`, the same"] = lambda: [
        cp.solve(source, target, epsilon=epsilon).T_target_source for source, target, epsilon in matches
    ]
    for name, pair in scans.items():
        jobs[f"`prepare`, a {name}"] = partial(prepare, pair.source)
        jobs[f"`register`, a {name}"] = partial(register, pair)
    large = dense(scans["room"].source, LARGE, 0, np.float32)
    jobs[f"`prepare`, {LARGE / 1e6:g} million points"] = partial(prepare, large)
    simulated = registration_graph(MANY, outlier_ratio=0.98, epsilon=0.1).graph
    jobs[f"`exact`, {MANY} associations"] = lambda: [cp.find_clique(simulated, method="exact").vertices]
    return jobs


def measure_here(data: Path) -> dict[str, Any]:
    """Return times in milliseconds and answers, of whichever build is imported."""
    times, answers = {}, {}
    for name, action in work(data).items():
        answer = action()
        digest = hashlib.sha256(b"".join(np.ascontiguousarray(part).tobytes() for part in answer))
        answers[name] = digest.hexdigest()
        taken = []
        for _ in range(REPEATS):
            start = time.process_time()
            action()
            taken.append(time.process_time() - start)
        times[name] = 1e3 * min(taken)
    info = cp.core_info()
    return {
        "times": times,
        "answers": answers,
        "place": cp.__file__,
        "build": f"{info.compiler}, commit {info.commit}, {info.simd}",
    }


def measure_in_process(folder: Path | None, data: Path) -> dict[str, Any]:
    """Do the same in another process, with the package that is in a folder, or this one."""
    environment = dict(os.environ) if folder is None else {**os.environ, "PYTHONPATH": str(folder.resolve())}
    command = [sys.executable, __file__, "--data", str(data), "--raw"]
    return dict(json.loads(subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE).stdout))


def main() -> None:
    """Measure all, and write a table for each."""
    parser = argument_parser(__doc__ or "")
    parser.add_argument("--other", type=Path, action="append", help="folder with another build of the package")
    parser.add_argument("--raw", action="store_true", help="print times and answers as JSON, and nothing else")
    arguments, _ = parser.parse_known_args()
    if arguments.raw:
        print(json.dumps(measure_here(arguments.data)))
        return
    if not arguments.other:
        sys.exit("expected --other DIR")
    turns: list[list[dict[str, Any]]] = []
    for turn in range(TURNS):
        turns.append([measure_in_process(folder, arguments.data) for folder in (None, *arguments.other)])
        print(f"\r{turn + 1} of {TURNS}", end="", file=sys.stderr)
    one, *others = turns[0]
    body = (
        f"This build: {one['build']}. Milliseconds of one thread, medians of {TURNS} turns; the ratio is above 1 where "
        "this build is the faster one. The answers are equal.\n"
    )
    for number, other in enumerate(others, 1):
        if one["place"] == other["place"]:
            sys.exit(f"both are the build in {one['place']}: install the package for this, not as editable")
        differ = [name for name, answer in one["answers"].items() if other["answers"][name] != answer]
        if differ:
            sys.exit(f"the answers are not the same: {', '.join(differ)}")
        body += f"\n## Beside {other['build']}\n\n{compared(turns, number)}"
    write_report("builds", "Builds beside each other", "python benchmarks/builds.py --other DIR", body)


def compared(turns: Sequence[Sequence[dict[str, Any]]], other: int) -> str:
    """Return the times of this build and of another, and their ratio."""
    rows = []
    for name in turns[0][0]["times"]:
        pairs = [(turn[0]["times"][name], turn[other]["times"][name]) for turn in turns]
        here, there = (statistics.median(pair[build] for pair in pairs) for build in (0, 1))
        ratio = statistics.median(there / here for here, there in pairs)
        rows.append((name, f"{here:.1f}", f"{there:.1f}", f"{ratio:.2f}"))
    return markdown_table(("work", "this build", "the other", "ratio"), rows)


if __name__ == "__main__":
    main()
