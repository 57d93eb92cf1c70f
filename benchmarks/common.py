"""What the benchmarks share: data, timing, and tables with machine and commit."""

from __future__ import annotations

import argparse
import datetime
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

import clipperplus as cp
from clipperplus.bench.dimacs import CLIQUE_NUMBERS, PAPER
from clipperplus.bench.map_sequences import sequence
from clipperplus.bench.measuring import check_answer, environment
from clipperplus.bench.tables import describe

Job = TypeVar("Job")
Result = TypeVar("Result")

RESULTS = Path(__file__).resolve().parent / "results"
DEFAULT_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"

PAPER_DIMACS = {name: CLIQUE_NUMBERS[name] for name in PAPER}
"""The paper's nine DIMACS graphs with their clique numbers."""


def argument_parser(description: str) -> argparse.ArgumentParser:
    """Return a parser with the options that every benchmark has; options of the others are ignored."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--data", type=Path, default=DEFAULT_DATA, help="folder with dimacs/ and graphs/")
    return parser


def in_processes(work: Callable[[Job], Result], jobs: Sequence[Job], processes: int) -> list[Result]:
    """Do all jobs in several processes, in their order, and say how far it is."""
    results: list[Result] = []
    with ProcessPoolExecutor(processes) as pool:
        for result in pool.map(work, jobs, chunksize=2):
            results.append(result)
            print(f"\r{len(results)} of {len(jobs)}", end="", file=sys.stderr)
    print(file=sys.stderr)
    return results


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


def matched_points(data: Path, name: str) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], float]:
    """Return the matched points, source and target, that a graph made as in the paper came from, and its epsilon."""
    stored = np.load(data / "graphs" / f"{name}.npz")
    return stored["source"], stored["target"], float(stored["epsilon"])


class Scans(NamedTuple):
    """Of one place, one after the other."""

    clouds: list[npt.NDArray[np.float64]]
    poses: npt.NDArray[np.float64]
    """``(k, 4, 4)``, scan → world."""

    def pairs_apart(self, least: float, most: float) -> npt.NDArray[np.int64]:
        """Return the pairs of scans whose sensors were so many metres apart."""
        places = self.poses[:, :3, 3]
        apart = np.linalg.norm(places[:, None] - places, axis=2)
        return np.argwhere(np.triu((apart >= least) & (apart < most), 1))

    def motion(self, i: int, j: int) -> npt.NDArray[np.float64]:
        """Return the motion from scan j to scan i."""
        return np.asarray(np.linalg.inv(self.poses[i]) @ self.poses[j])


def scans_of(data: Path, name: str) -> Scans:
    """Return the scans of a sequence."""
    clouds, poses = sequence(data / "sequences" / f"{name}.npz")
    return Scans(clouds, poses.astype(np.float64))


def check(graph: cp.Graph, result: cp.CliqueResult, omega: int | None = None) -> None:
    """End the benchmark if an answer is not a clique or contradicts the known clique number."""
    try:
        check_answer(graph, result, omega)
    except cp.ClipperPlusError as error:
        sys.exit(str(error))


def median_ms(action: Callable[[], Any], repeats: int = 5) -> float:
    """Return the median time of an action in milliseconds."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return statistics.median(times) * 1e3


def least_ms(action: Callable[[], Any], repeats: int = 5) -> float:
    """Return the least time of an action in milliseconds: of two that are compared on a machine with other work."""
    return min(median_ms(action, 1) for _ in range(repeats))


def resident_mb(field: str) -> float:
    """Return a size from the process's status: VmRSS now, VmHWM the largest since the last reset."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(field)) / 1024


def reset_peak() -> float:
    """Forget the largest resident size so far; return the current one."""
    Path("/proc/self/clear_refs").write_text("5")
    return resident_mb("VmRSS")


def write_report(name: str, title: str, command: str, body: str) -> None:
    """Write a generated report to results/ and print it."""
    today = datetime.date.today().isoformat()
    head = f"# {title}\n\nGenerated {today} by `{command}`.\n\n{describe(environment())}\n\n"
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.md").write_text(head + body)
    print(head + body)
