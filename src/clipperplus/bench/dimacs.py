"""Table I of the paper: DIMACS graphs, or any folder of graph files, with the published numbers beside ours."""

from __future__ import annotations

import statistics
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ..clique import find_clique
from ..errors import OptionError
from ..graphs import Graph, read_graph
from ..graphs.files import graph_name
from .families import FAMILIES
from .measuring import COMPARED, LABELS, Row, means, measure, method_columns, proofs, ratio
from .published import TimesAndRatios, published_cells, times_and_ratios
from .store import Store
from .tables import Table, three_digits

__all__ = [
    "BEST_KNOWN",
    "CLIQUE_NUMBERS",
    "PAPER",
    "QUICK_SECONDS_FOR_PROOF",
    "SECONDS_FOR_PROOF",
    "Problem",
    "columns",
    "conclusions",
    "problems",
    "run",
    "summary",
    "tables",
]

_PAPER_TIMES_AND_RATIOS = {
    "C125.9": (4.1, 0.97, 4.5, 0.56, 10.9, 1.0, 9.1, 1.0, 0.7, 0.85, 0.8, 1.0, 1.6, 1.0),
    "C250.9": (4.7, 0.89, 3.6, 0.34, 7.8, 0.95, 6.8, 0.95, 2.7, 0.8, 6.4, 0.95, 8.7, 0.95),
    "brock200_2": (2.2, 0.67, 51.8, 0.75, 4.3, 0.83, 4.0, 0.83, 1.4, 0.83, 2.6, 0.83, 3.8, 0.83),
    "brock200_4": (1.7, 0.76, 9.4, 0.88, 4.2, 0.88, 8.9, 0.65, 1.7, 0.82, 29.4, 0.82, 3.6, 0.94),
    "gen200_p0.9_44": (6.1, 0.75, 3.9, 0.2, 10.4, 0.84, 10.9, 0.89, 2.2, 0.73, 4.7, 0.89, 6.4, 0.89),
    "gen200_p0.9_55": (4.6, 0.69, 2.7, 0.38, 4.9, 0.69, 6.8, 1.0, 2.0, 0.64, 1.6, 1.0, 3.7, 1.0),
    "keller4": (2.3, 0.64, 4.0, 0.64, 2.8, 0.73, 2.8, 0.64, 1.0, 0.82, 35.4, 0.64, 5.8, 0.82),
    "p_hat300-1": (1.3, 0.75, 33.9, 0.88, 6.5, 1.0, 4.3, 1.0, 2.1, 0.88, 4.9, 1.0, 10.7, 1.0),
    "p_hat300-2": (2.8, 0.96, 11.3, 0.92, 10.9, 1.0, 15.9, 0.96, 3.7, 0.84, 6.5, 1.0, 10.1, 1.0),
}
PAPER = {name: times_and_ratios(values) for name, values in _PAPER_TIMES_AND_RATIOS.items()}
"""Graph → method → the paper's time in milliseconds and ratio."""

CLIQUE_NUMBERS = {
    **{"C125.9": 34, "C250.9": 44, "C2000.5": 16, "C4000.5": 18, "DSJC500_5": 13, "DSJC1000_5": 15},
    **{"MANN_a9": 16, "MANN_a27": 126, "MANN_a45": 345, "MANN_a81": 1100},
    **{"brock200_1": 21, "brock200_2": 12, "brock200_3": 15, "brock200_4": 17},
    **{"brock400_1": 27, "brock400_2": 29, "brock400_3": 31, "brock400_4": 33},
    **{"brock800_1": 23, "brock800_2": 24, "brock800_3": 25, "brock800_4": 26},
    **{"c-fat200-1": 12, "c-fat200-2": 24, "c-fat200-5": 58},
    **{"c-fat500-1": 14, "c-fat500-2": 26, "c-fat500-5": 64, "c-fat500-10": 126},
    **{"gen200_p0.9_44": 44, "gen200_p0.9_55": 55},
    **{"gen400_p0.9_55": 55, "gen400_p0.9_65": 65, "gen400_p0.9_75": 75},
    **{"hamming6-2": 32, "hamming6-4": 4, "hamming8-2": 128, "hamming8-4": 16, "hamming10-2": 512, "hamming10-4": 40},
    **{"johnson8-2-4": 4, "johnson8-4-4": 14, "johnson16-2-4": 8, "johnson32-2-4": 16},
    **{"keller4": 11, "keller5": 27, "keller6": 59},
    **{"p_hat300-1": 8, "p_hat300-2": 25, "p_hat300-3": 36, "p_hat500-1": 9, "p_hat500-2": 36, "p_hat500-3": 50},
    **{"p_hat700-1": 11, "p_hat700-2": 44, "p_hat700-3": 62, "p_hat1000-1": 10, "p_hat1000-2": 46, "p_hat1000-3": 68},
    **{"p_hat1500-1": 12, "p_hat1500-2": 65, "p_hat1500-3": 94},
    **{"san200_0.7_1": 30, "san200_0.7_2": 18, "san200_0.9_1": 70, "san200_0.9_2": 60, "san200_0.9_3": 44},
    **{"san400_0.5_1": 13, "san400_0.7_1": 40, "san400_0.7_2": 30, "san400_0.7_3": 22, "san400_0.9_1": 100},
    **{"san1000": 15, "sanr200_0.7": 18, "sanr200_0.9": 42, "sanr400_0.5": 13, "sanr400_0.7": 21},
}
"""From the literature. Graphs whose clique number is open are not here."""

BEST_KNOWN = {"C500.9": 57, "C1000.9": 68, "C2000.9": 80}
"""Largest cliques that were ever found where the clique number is open."""

SECONDS_FOR_PROOF, QUICK_SECONDS_FOR_PROOF = 10.0, 1.0
_QUICK_FAMILIES = (
    *("keller4", "hamming6-2", "hamming6-4", "hamming8-2", "hamming8-4", "johnson8-2-4", "johnson8-4-4"),
    *("johnson16-2-4", "c-fat200-1", "c-fat200-2", "c-fat200-5", "MANN_a9", "MANN_a27"),
)
_QUICK_FILES = 9
_SECONDS_AGAINST_PUBLISHED = 1.0


@dataclass(frozen=True)
class Problem:
    """A graph by name."""

    name: str
    path: Path | None = None
    """Its file; None for a graph that a formula gives."""

    def load(self) -> Graph:
        """Read or make the graph."""
        return FAMILIES[self.name]() if self.path is None else read_graph(self.path).unweighted()

    def size(self) -> int:
        """Return the bytes of its file."""
        return 0 if self.path is None else self.path.stat().st_size

    @property
    def checksum(self) -> str:
        """Tells one file from another of the same name."""
        return "formula" if self.path is None else f"{zlib.crc32(self.path.read_bytes()):08x}"


def problems(data: Path | None, *, quick: bool = False) -> list[Problem]:
    """Return the graph files of a folder, the paper's first, or without one the families that a formula gives.

    ``quick`` leaves those of the paper, or the smallest.
    """
    if data is None:
        found = [Problem(name) for name in FAMILIES]
        found = [problem for problem in found if problem.name in _QUICK_FAMILIES] if quick else found
    else:
        found = _graph_files(data)
        if quick:
            papers = [problem for problem in found if problem.name in PAPER]
            found = papers or sorted(found, key=Problem.size)[:_QUICK_FILES]
    for problem in found:
        if problem.path is not None:
            problem.load()  # a file that is no graph is better known before anything is measured
    return sorted(found, key=lambda problem: problem.name not in PAPER)


def _graph_files(data: Path) -> list[Problem]:
    if not data.is_dir():
        raise OptionError(f"data: {data} is not a folder")
    found: dict[str, Problem] = {}
    for path in sorted(data.iterdir()):
        name = graph_name(path)
        if name is None or not path.is_file():
            continue
        if name in found:
            raise OptionError(f"data: {data} has more than one file of the graph {name}")
        if not name.isprintable():
            raise OptionError(f"data: the name of the file {str(path)!r} cannot be printed")
        found[name] = Problem(name, path)
    if not found:
        raise OptionError(f"data: no graph files in {data}; expected .clq, .clq.b, .mtx, .txt or .edges, also .gz")
    return list(found.values())


def columns(methods: Iterable[str]) -> list[str]:
    """Return the headings of the CSV file."""
    head = ["graph", "checksum", "vertices", "edges", "sparsity", "clique number", "clique number is"]
    return head + method_columns(methods)


def run(
    chosen: Iterable[Problem],
    methods: list[str],
    store: Store,
    *,
    time_limit: float | Literal["default"] = "default",
    seconds_for_proof: float = SECONDS_FOR_PROOF,
) -> list[Row]:
    """Measure every method on every graph that the store does not have yet; return the rows of all of them.

    Where no method proves the clique number and the literature does not have it, the exact search gets some seconds.
    """
    rows = []
    for problem in chosen:
        checksum = problem.checksum
        row = store.find(problem.name, checksum)
        if row is None:
            row = {"graph": problem.name, "checksum": checksum}
            row |= _measure(problem, methods, time_limit, seconds_for_proof)
            store.add(row)
        rows.append(row)
    return rows


def _measure(
    problem: Problem, methods: list[str], time_limit: float | Literal["default"], seconds_for_proof: float
) -> Row:
    graph = problem.load()
    row = {"vertices": str(graph.num_vertices), "edges": str(graph.num_edges)}
    row["sparsity"] = f"{1.0 - graph.density:.4f}"
    best, bound = 0, graph.num_vertices
    for method in methods:
        result, cells = measure(graph, method, time_limit=time_limit)
        best, bound = max(best, result.size), min(bound, int(result.upper_bound))
        row |= cells
    omega, source = _clique_number(problem.name, graph, best, bound, seconds_for_proof)
    return {**row, "clique number": str(omega), "clique number is": source}


def _clique_number(name: str, graph: Graph, best: int, bound: int, seconds: float) -> tuple[int, str]:
    """Return the clique number, or the largest clique known, and which of the two it is.

    A file may have a famous name and hold another graph: a proof is worth more than what is published, and what
    contradicts the graph's own cliques and bounds is not believed.
    """
    published = CLIQUE_NUMBERS.get(name, BEST_KNOWN.get(name))
    if best < bound:
        limit = seconds if published is None else min(seconds, _SECONDS_AGAINST_PUBLISHED)
        result = find_clique(graph, method="exact", time_limit=limit)
        best, bound = max(best, result.size), min(bound, int(result.upper_bound))
    if best == bound:
        return best, "proven"
    if published is not None and best <= published <= bound:
        return published, "published" if name in CLIQUE_NUMBERS else "best known"
    return best, "largest found"


def summary(rows: list[Row], methods: list[str]) -> dict[str, TimesAndRatios]:
    """Return mean ratio and time of every method over all graphs, and over the paper's if all of them are there."""
    groups = {"all": rows}
    papers = [row for row in rows if row["graph"] in PAPER]
    if len(papers) == len(PAPER):
        groups["nine"] = papers
    found = {group: means(members, methods) for group, members in groups.items() if members}
    if "nine" in found:
        found["the paper"] = {
            method: {what: statistics.fmean(PAPER[name][method][what] for name in PAPER) for what in ("ratio", "ms")}
            for method in methods
            if method in COMPARED
        }
    return found


def tables(rows: list[Row], methods: list[str]) -> list[Table]:
    """Return the paper's Table I, ratios and times apart, with what the paper has."""
    headings = ["graph", "n", "sparsity", "ω", *(LABELS[method] for method in methods)]
    found = summary(rows, methods)

    def make(title: str, what: str, number: Callable[[Row, str], float], text: Callable[[float], str]) -> Table:
        lines, published = [], []
        for row in rows:
            open_end = row["clique number is"] in ("best known", "largest found")
            omega = ("≥ " if open_end else "") + row["clique number"]
            head = [row["graph"], row["vertices"], f"{float(row['sparsity']):.2f}", omega]
            lines.append(head + [text(number(row, method)) for method in methods])
            published.append(_published(PAPER.get(row["graph"], {}), methods, what))
        for group in ("nine", "all"):
            if group in found:
                lines.append([f"mean of {group}", "", "", "", *(text(found[group][m][what]) for m in methods)])
                papers = found.get("the paper", {}) if group == "nine" else {}
                published.append(_published(papers, methods, what))
        return Table(title, headings, lines, published, dispensable=("n", "sparsity"))

    return [
        make("Ratio of the clique number", "ratio", ratio, "{:.3f}".format),
        make("Time in ms", "ms", lambda row, method: float(row[f"{method} ms"]), three_digits),
    ]


def _published(of_method: TimesAndRatios, methods: list[str], what: str) -> list[str] | None:
    return ["", "", "", "", *published_cells(of_method, methods, what)] if of_method else None


def conclusions(rows: list[Row], methods: list[str]) -> list[str]:
    """Say in sentences what the tables show."""
    said = proofs(rows, methods)
    for method in methods:
        unproven = [row["graph"] for row in rows if method not in COMPARED and row[f"{method} proven"] == "no"]
        if unproven:
            said.append(f"Not proven by `{method}` within its time limit: {', '.join(unproven)}.")
    names = [row["graph"] for row in rows]
    missing = [name for name in PAPER if name not in names]
    if missing:
        said.append(
            f"Of the paper's graphs {', '.join(missing)} are missing: pass `--data` a folder with the files of the "
            "second DIMACS challenge (for example from https://iridia.ulb.ac.be/~fmascia/maximum_clique/)."
        )
    return said
