"""Two builds of the package beside each other, such as wheels of another compiler: the work that the README tells of.

    python benchmarks/builds.py --other DIR  # a folder into which a wheel was unpacked

Both do the same work in turns, each in processes of its own, on one thread; what is compared is processor time. Answers
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
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from common import argument_parser, as_in_paper, matched_points, real_graph, real_graph_names, write_report

import clipperplus as cp
from clipperplus.bench.tables import markdown_table
from clipperplus.synthetic import room_scans, street_scans

TURNS, REPEATS = 7, 3


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
    """Measure both, and write the table."""
    parser = argument_parser(__doc__ or "")
    parser.add_argument("--other", type=Path, help="folder with another build of the package")
    parser.add_argument("--raw", action="store_true", help="print times and answers as JSON, and nothing else")
    arguments, _ = parser.parse_known_args()
    if arguments.raw:
        print(json.dumps(measure_here(arguments.data)))
        return
    if arguments.other is None:
        sys.exit("expected --other DIR")
    turns: list[tuple[dict[str, Any], dict[str, Any]]] = []
    for turn in range(TURNS):
        turns.append((measure_in_process(None, arguments.data), measure_in_process(arguments.other, arguments.data)))
        print(f"\r{turn + 1} of {TURNS}", end="", file=sys.stderr)
    one, other = turns[0]
    if one["place"] == other["place"]:
        sys.exit(f"both are the build in {one['place']}: install the package for this, not as editable")
    differ = [name for name, answer in one["answers"].items() if other["answers"][name] != answer]
    if differ:
        sys.exit(f"the answers are not the same: {', '.join(differ)}")
    rows = []
    for name in one["times"]:
        here, there = (statistics.median(turn[build]["times"][name] for turn in turns) for build in (0, 1))
        ratio = statistics.median(turn[1]["times"][name] / turn[0]["times"][name] for turn in turns)
        rows.append((name, f"{here:.1f}", f"{there:.1f}", f"{ratio:.2f}"))
    body = (
        f"This one: {one['build']}. The other: {other['build']}. Milliseconds of one thread; the answers are equal.\n\n"
    )
    body += markdown_table(("work", "this build", "the other", "ratio"), rows)
    write_report("builds", "Two builds beside each other", "python benchmarks/builds.py --other DIR", body)


if __name__ == "__main__":
    main()
