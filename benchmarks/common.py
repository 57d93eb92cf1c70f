"""What the benchmarks share: data, timing, and tables with machine and commit."""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import clipperplus as cp

RESULTS = Path(__file__).resolve().parent / "results"
DEFAULT_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"

# The paper's nine DIMACS graphs with their clique numbers.
PAPER_DIMACS = {
    "C125.9": 34,
    "C250.9": 44,
    "brock200_2": 12,
    "brock200_4": 17,
    "gen200_p0.9_44": 44,
    "gen200_p0.9_55": 55,
    "keller4": 11,
    "p_hat300-1": 8,
    "p_hat300-2": 25,
}


def argument_parser(description: str) -> argparse.ArgumentParser:
    """Return a parser with the options that every benchmark has; options of the others are ignored."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--data", type=Path, default=DEFAULT_DATA, help="folder with dimacs/ and graphs/")
    return parser


def real_graph_names(data: Path) -> list[str]:
    """Return the names of all real graphs, those made as in the paper first."""
    names = sorted(path.stem for path in (data / "graphs").glob("*.npz"))
    if not names:
        sys.exit(f"no graphs in {data / 'graphs'}: pass --data DIR (see benchmarks/README.md)")
    return sorted(names, key=lambda name: not as_in_paper(name))


def as_in_paper(name: str) -> bool:
    """Whether a graph was made with the paper's settings: one match per point, epsilon 5 cm."""
    return name.startswith(("redkitchen_", "hotel_uc_"))


def real_graph(data: Path, name: str) -> tuple[npt.NDArray[np.bool_], int]:
    """Return adjacency matrix and clique number of a real graph."""
    stored = np.load(data / "graphs" / f"{name}.npz")
    n = int(stored["n"])
    return np.unpackbits(stored["adjacency"], axis=1)[:, :n].astype(np.bool_), int(stored["omega"])


def check(graph: cp.Graph, result: cp.CliqueResult, omega: int | None = None) -> None:
    """End the benchmark if an answer is not a clique or contradicts the known clique number."""
    block = graph.subgraph(result.vertices)
    if block.num_edges != result.size * (result.size - 1) // 2:
        sys.exit(f"{result.method}: not a clique")
    if omega is not None and not result.size <= omega <= result.upper_bound:
        sys.exit(f"{result.method}: {result.size} … {result.upper_bound} contradicts clique number {omega}")


def median_ms(action: Callable[[], Any], repeats: int = 5) -> float:
    """Return the median time of an action in milliseconds."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return statistics.median(times) * 1e3


def resident_mb(field: str) -> float:
    """Return a size from the process's status: VmRSS now, VmHWM the largest since the last reset."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(field)) / 1024


def reset_peak() -> float:
    """Forget the largest resident size so far; return the current one."""
    Path("/proc/self/clear_refs").write_text("5")
    return resident_mb("VmRSS")


def machine() -> str:
    """Return processor, cores and versions in a line."""
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        lines = cpuinfo.read_text().splitlines()
        model = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), model)
    info = cp.core_info()
    return (
        f"{model}, {os.cpu_count()} cores; {platform.system()}; Python {platform.python_version()}, "
        f"numpy {np.__version__}; clipperplus {info.version}, {info.simd}, {info.compiler}"
    )


def commit() -> str:
    """Return the commit that is measured, with a mark if the tree differs from it."""
    folder = Path(__file__).resolve().parent
    try:
        described = subprocess.run(
            ["git", "describe", "--always", "--dirty", "--exclude", "*"],
            cwd=folder,
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return described.stdout.strip()


def markdown_table(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return a table with the first column left and the others right aligned."""
    lines = ["| " + " | ".join(columns) + " |", "| --- |" + " ---: |" * (len(columns) - 1)]
    lines += ["| " + " | ".join(map(str, row)) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def write_report(name: str, title: str, command: str, body: str) -> None:
    """Write a generated report to results/ and print it."""
    today = datetime.date.today().isoformat()
    head = f"# {title}\n\nGenerated {today} by `{command}` at commit {commit()}.\n\nMachine: {machine()}.\n\n"
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.md").write_text(head + body)
    print(head + body)
