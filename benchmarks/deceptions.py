"""How often a registration is wrong and sure of itself, on scenes made to deceive it, and what not lying costs.

Every kind of ``clipperplus.bench.deceptions`` is tried several times, with nothing told but the points. Writes a table,
and ``results/deceptions/tries.csv`` with the evidence of every answer.
"""

from __future__ import annotations

import csv
import functools
from collections.abc import Callable, Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from common import RESULTS, argument_parser, in_processes, write_report

import clipperplus as cp
from clipperplus.bench.deceptions import KINDS, Kind
from clipperplus.bench.tables import markdown_table

TRIES = 40
CSV = RESULTS / "deceptions" / "tries.csv"
Row = dict[str, Any]


def attempt(job: tuple[str, int], data: Path | None) -> Row:
    """Try a deception."""
    name, number = job
    kind = KINDS[name]
    deception = kind.number(number, data if kind.needs_data else None)
    pose = deception.answer()
    outcome = kind.judge(deception, pose)
    row: Row = {
        "kind": name,
        "family": kind.family,
        "number": number,
        "real": int(kind.needs_data),
        "has_truth": int(deception.truth is not None),
        "right": int(outcome.right),
        "among": int(outcome.among),
        "status": pose.status.value,
        "confidence": pose.confidence,
        "milliseconds": 1e3 * pose.seconds,
        "voxel_size": pose.voxel_size,
        "alternatives": len(pose.alternatives),
    }
    evidence = asdict(pose.evidence)
    return row | {k: "+".join(v) if isinstance(v, tuple) else v for k, v in evidence.items()}


def is_ok(row: Row) -> bool:
    """Whether an answer is to be trusted."""
    return bool(row["status"] == cp.Status.OK.value)


def lies(row: Row) -> bool:
    """Whether an answer is to be trusted, and wrong."""
    return is_ok(row) and not row["right"]


def kinds_table(rows: list[Row], kinds: Iterable[Kind]) -> str:
    """Return how each kind was answered."""
    lines = []
    for kind in kinds:
        part = [row for row in rows if row["kind"] == kind.name]
        false = sum(map(lies, part))
        states = [sum(row["status"] == state.value for row in part) for state in list(cp.Status)[1:]]
        has_truth = any(row["has_truth"] for row in part)
        worst = max((row["confidence"] for row in part if not row["right"]), default=0.0)
        lines.append(
            (
                kind.name,
                len(part),
                f"**{false}**" if false else "0",
                sum(is_ok(row) and row["right"] for row in part) if has_truth else "–",
                sum(row["right"] for row in part) if has_truth else "–",
                *states,
                sum(row["among"] for row in part) if has_truth and kind.countable else "–",
                f"{worst:.2f}",
                f"{np.median([row['milliseconds'] for row in part]):.0f}",
            )
        )
    states = [state.value for state in list(cp.Status)[1:]]
    titles = ("", "tries", "OK, wrong", "OK, right", "right", *states, "truth among", "worst wrong", "ms")
    return markdown_table(titles, lines)


def totals_table(rows: list[Row]) -> str:
    """Return the shares that matter, beside what is wanted."""

    def share(part: list[Row], count: Callable[[Row], bool]) -> str:
        return f"**{sum(map(count, part)) / len(part):.3f}** of {len(part)}" if part else "–"

    family = {name: [row for row in rows if row["family"] == name] for name in ("decidable", "undecidable", "honest")}
    right = [row for row in family["honest"] if row["right"]]
    countable = [row for row in family["undecidable"] if KINDS[row["kind"]].countable]
    lines = [
        ("decidable: OK and wrong", share(family["decidable"], lies), "at most 0.01 of 1000 or more"),
        ("undecidable: not (OK and wrong)", share(family["undecidable"], lambda row: not lies(row)), "0.95"),
        ("undecidable: truth among answer and alternatives", share(countable, lambda row: bool(row["among"])), "0.80"),
        ("honest, simulated: right answers that are OK", share([r for r in right if not r["real"]], is_ok), "0.97"),
        ("honest, real: right answers that are OK", share([r for r in right if r["real"]], is_ok), "0.96"),
        ("honest: OK and wrong", share(family["honest"], lies), ""),
    ]
    return markdown_table(("", "measured", "wanted"), lines)


def report(rows: list[Row], kinds: list[Kind]) -> str:
    """Return all tables."""
    heads = {
        "decidable": "Decidable: no wrong answer may be trusted",
        "undecidable": "Undecidable, or nearly so: trusted only if right",
        "honest": "Honest: right answers stay trusted",
    }
    parts = [totals_table(rows)]
    for family, head in heads.items():
        chosen = [kind for kind in kinds if kind.family == family]
        if chosen:
            parts.append(f"## {head}\n\n{kinds_table(rows, chosen)}")
    return "\n".join(parts)


def main() -> None:
    """Try all, and write the report."""
    parser = argument_parser(__doc__ or "")
    parser.add_argument("--tries", type=int, help=f"of each kind, {TRIES} by default; nothing is written if given")
    parser.add_argument("--first", type=int, default=0, help="number of the first try")
    parser.add_argument(
        "--only", nargs="+", metavar="KIND", help="parts of the names of kinds; nothing is written then"
    )
    parser.add_argument("--csv", type=Path, help="where to write the evidence of all tries")
    parser.add_argument("--processes", type=int, default=2)
    options, _ = parser.parse_known_args()
    data = options.data if options.data.is_dir() else None
    kinds = [kind for kind in KINDS.values() if data or not kind.needs_data]
    if options.only:
        kinds = [kind for kind in kinds if any(part in kind.name for part in options.only)]
    numbers = range(options.first, options.first + (options.tries or TRIES))
    jobs = [(kind.name, number) for number in numbers for kind in kinds]
    rows = in_processes(functools.partial(attempt, data=data), jobs, options.processes)
    whole = not (options.only or options.tries)
    file = options.csv or (CSV if whole else None)
    if file:
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("w", newline="") as stream:
            writer = csv.DictWriter(stream, list(rows[0]))
            writer.writeheader()
            writer.writerows({k: f"{v:.6g}" if isinstance(v, float) else v for k, v in row.items()} for row in rows)
    if not whole:
        print(report(rows, kinds))
        return
    body = f"""Nothing told but the points; some clouds are in the frame of their sensor, some are moved. Right is
what is within 15° and 30 cm of the truth, outdoors 5° and 60 cm. "Truth among": of the answer and
its alternatives, or one of these shifted along what is said to be open.
"Worst wrong" is the highest confidence of a wrong answer, whatever its status.
[What is tried](../../docs/deceptions.md).

{report(rows, kinds)}"""
    write_report("deceptions", "Deceptions", "python benchmarks/deceptions.py --data DIR", body)


if __name__ == "__main__":
    main()
