"""What is measured, how, and on which machine."""

from __future__ import annotations

import os
import platform
import statistics
import time
from pathlib import Path
from typing import Literal

import numpy as np

from ..clique import METHODS, CliqueResult, find_clique
from ..errors import OptionError
from ..graph import Graph
from ..info import core_info

__all__ = ["COMPARED", "LABELS", "as_methods", "environment", "measure"]

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

_REPEATS, _LONG_SECONDS = 5, 0.2


def as_methods(text: str | None) -> list[str]:
    """Return the methods that a comma-separated list names; without one, the paper's and ours."""
    if text is None:
        return [*COMPARED, "auto"]
    methods = [name.strip() for name in text.split(",") if name.strip()]
    unknown = [name for name in methods if name not in METHODS]
    if unknown or not methods:
        raise OptionError(f"methods: expected names from {', '.join(METHODS)}, got {text!r}")
    return list(dict.fromkeys(methods))


def measure(
    graph: Graph, method: str, *, time_limit: float | Literal["default"] = "default", repeats: int = _REPEATS
) -> tuple[CliqueResult, float]:
    """Return the result and the median time in milliseconds; what takes long runs once."""
    milliseconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        result = find_clique(graph, method=method, time_limit=time_limit)
        milliseconds.append((time.perf_counter() - start) * 1e3)
        if milliseconds[-1] > 1e3 * _LONG_SECONDS:
            break
    return result, statistics.median(milliseconds)


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
