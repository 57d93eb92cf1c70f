"""What is measured, how, and on which machine."""

from __future__ import annotations

import math
import os
import platform
import statistics
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np

from .._build import core_info
from ..clique import METHODS, CliqueResult, find_clique
from ..errors import ClipperPlusError, OptionError
from ..graphs import Graph
from .tables import three_digits

__all__ = [
    "COMPARED",
    "LABELS",
    "Row",
    "as_methods",
    "check_answer",
    "compare_times",
    "environment",
    "is_sound",
    "means",
    "measure",
    "measure_all",
    "method_columns",
    "proofs",
    "ratio",
]

LABELS = {
    "pelillo": "Pelillo",
    "ding": "Ding",
    "belachew": "Belachew",
    "clipper": "CLIPPER",
    "greedy": "Greedy",
    "relaxation": "Optim",
    "clipper+": "CLIPPER+",
    "auto": "ours",
    "exact": "ours, no limit",
}
"""Method → its heading, the paper's where it has one, in the paper's order."""

COMPARED = tuple(method for method in LABELS if method not in ("auto", "exact"))
"""The methods that the paper compares."""

Row: TypeAlias = dict[str, str]
"""What was measured on one graph: heading → text, a line of a CSV file."""

_REPEATS, _LONG_SECONDS = 5, 0.2
_COUNTS = ("vertices", "edges", "outliers", "clique number", "i", "j")


def as_methods(text: str | None) -> list[str]:
    """Return the methods that a comma-separated list names; without one, the paper's and ours."""
    if text is None:
        return [*COMPARED, "auto"]
    methods = [name.strip() for name in text.split(",") if name.strip()]
    unknown = [name for name in methods if name not in METHODS]
    if unknown or not methods:
        raise OptionError(f"methods: expected names from {', '.join(METHODS)}, got {text!r}")
    return list(dict.fromkeys(methods))


def method_columns(methods: Iterable[str]) -> list[str]:
    """Return the headings of what is measured of every method."""
    return [f"{method} {what}" for method in methods for what in ("size", "ms", "proven")]


def measure(
    graph: Graph, method: str, *, time_limit: float | Literal["default"] = "default", repeats: int = _REPEATS
) -> tuple[CliqueResult, Row]:
    """Return the result, and its cells with the median time in milliseconds; what takes long runs once.

    The answer is checked: a wrong one has no time.
    """
    milliseconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        result = find_clique(graph, method=method, time_limit=time_limit)
        milliseconds.append((time.perf_counter() - start) * 1e3)
        if milliseconds[-1] > 1e3 * _LONG_SECONDS:
            break
    check_answer(graph, result)
    cells = (str(result.size), f"{statistics.median(milliseconds):.4f}", "yes" if result.optimal else "no")
    return result, dict(zip(method_columns([method]), cells, strict=True))


def measure_all(graph: Graph, methods: Iterable[str], *, omega: int | None, repeats: int) -> Row:
    """Return the cells of several methods, whose answers are also checked against the clique number if it is known."""
    row: Row = {}
    for method in methods:
        result, cells = measure(graph, method, repeats=repeats)
        check_answer(graph, result, omega)
        row |= cells
    return row


def check_answer(graph: Graph, result: CliqueResult, omega: int | None = None) -> None:
    """Refuse an answer that is no clique, or that contradicts the clique number where it is known."""
    joined = graph.subgraph(result.vertices).num_edges
    if joined != result.size * (result.size - 1) // 2:
        raise ClipperPlusError(f"{result.method}: not a clique")
    if omega is not None and not result.size <= omega <= result.upper_bound:
        raise ClipperPlusError(
            f"{result.method}: {result.size} … {result.upper_bound} contradicts clique number {omega}"
        )


def ratio(row: Row, method: str) -> float:
    """Return r, the size of a method's clique by the clique number; 1 for a graph without vertices."""
    omega = int(row["clique number"])
    return int(row[f"{method} size"]) / omega if omega else 1.0


def means(rows: Sequence[Row], methods: Iterable[str]) -> dict[str, dict[str, float]]:
    """Return mean ratio and mean time in milliseconds of every method."""
    return {
        method: {
            "ratio": statistics.fmean(ratio(row, method) for row in rows),
            "ms": statistics.fmean(float(row[f"{method} ms"]) for row in rows),
        }
        for method in methods
    }


def is_sound(row: Row) -> bool:
    """Whether the cells of a row can have been measured."""
    try:
        for heading, cell in row.items():
            if heading.endswith(" size"):
                sound = 0 <= int(cell) <= int(row["clique number"])
            elif heading.endswith(" ms") or heading == "sparsity":
                sound = 0.0 <= float(cell) < math.inf
            elif heading.endswith((" proven", " registered")):
                sound = cell in ("yes", "no")
            else:
                sound = heading not in _COUNTS or int(cell) >= 0
            if not sound:
                return False
    except ValueError:
        return False
    return True


def proofs(rows: list[Row], methods: list[str]) -> list[str]:
    """Say how often the methods that can prove their answer did."""
    said = []
    for method in methods:
        if method not in COMPARED:
            proven = sum(row[f"{method} proven"] == "yes" for row in rows)
            lowest = min((ratio(row, method) for row in rows), default=1.0)
            said.append(f"`{method}`: proven on {proven} of {len(rows)} graphs, lowest r {lowest:.3f}.")
    return said


def compare_times(ms: dict[str, float], others: Sequence[str]) -> list[str]:
    """Say how many times as long as ours other methods take, by their mean times."""
    said = []
    for method in ms:
        if method not in COMPARED and others:
            times = ", ".join(f"{LABELS[other]} {ms[other] / ms[method]:.2f}" for other in others)
            said.append(f"Mean time by that of `{method}`, {three_digits(ms[method])} ms: {times}.")
    return said


def environment() -> dict[str, str]:
    """Describe machine, commit and versions."""
    info = core_info()
    return {
        "processor": f"{_processor()}, {os.cpu_count()} cores",
        "system": platform.system(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "clipperplus": info.version,
        "commit": info.commit,
        "instruction set": info.simd,
        "compiler": info.compiler,
    }


def _processor() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()
