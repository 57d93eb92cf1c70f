"""Matched points with ever more outliers: the rivals side by side, each with the same matches and the same noise bound.

The bunny of the paper's Section V-B, with 1000 associations in place of 200, so that of 99.5 % outliers five inliers
are left, and its second cloud moved at random; and matches of real scans, with the outliers that they have.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import BrokenExecutor, Executor
from dataclasses import asdict, dataclass
from typing import Any

from ..errors import ClipperPlusError
from ..evaluation import Protocol
from ..geometry.transforms import rotation_error, translation_error
from .match_problems import BUNNY, KINDS, Kind, Matches, Problem
from .measuring import Row
from .one_thread import one_thread
from .rivals import OURS, RIVALS, why_missing
from .store import Store
from .tables import Table, three_digits

__all__ = ["OURS", "Level", "columns", "conclusions", "levels", "measure", "run", "summary", "tables"]

_REPEATS, _LONG_SECONDS = 3, 0.1
_MANY_OUTLIERS = 80.0
"""Per cent, above which ours is to be the fastest."""


def columns(methods: Iterable[str]) -> list[str]:
    """Return the headings of the CSV file."""
    cells = [f"{method} {what}" for method in methods for what in ("registered", "trusted", "degrees", "metres", "ms")]
    return ["problem", "checksum", "kind", "matches", "outlier share", *cells]


def run(found: Iterable[Problem], methods: Sequence[str], store: Store) -> list[Row]:
    """Measure every method on every problem that the store does not have yet; return the rows of all of them."""
    rows = []
    with one_thread() as process:
        for problem in found:
            matches = problem.matches()
            row = store.find(problem.name, matches.checksum)
            if row is None:
                row = {"problem": problem.name, "checksum": matches.checksum, "kind": problem.kind}
                row |= {"matches": str(len(matches.source)), "outlier share": f"{matches.outliers:.2f}"}
                for method in methods:
                    row |= _measure_there(process, method, problem, matches)
                store.add(row)
            rows.append(row)
    return rows


def _measure_there(process: Executor, method: str, problem: Problem, matches: Matches) -> Row:
    try:
        return process.submit(measure, method, matches, KINDS[problem.kind].protocol).result()
    except BrokenExecutor:
        raise ClipperPlusError(f"{method}: the process that it ran in ended on {problem.name}") from None


def measure(method: str, matches: Matches, protocol: Protocol) -> Row:
    """Compare the answer of a method with the truth, then time it: the median of three, what takes long once.

    It is the time of the processor: everything is on one core, and others who use it do not count.
    """
    rival, given = RIVALS[method], (matches.source, matches.target, matches.epsilon)
    if (why := why_missing(method)) is not None:  # and it is imported, which is not to be timed
        raise ClipperPlusError(f"{method}: {why}")
    start = time.process_time()
    motion = rival.solve(*given)
    seconds = [time.process_time() - start]
    cells = {"registered": "no", "degrees": "", "metres": ""}
    if motion is not None:
        errors = rotation_error(motion, matches.truth), translation_error(motion, matches.truth)
        right = errors[0] < protocol.max_rotation_deg and errors[1] < protocol.max_translation
        cells = {"registered": "yes" if right else "no", "degrees": f"{errors[0]:.4f}", "metres": f"{errors[1]:.5f}"}
    if seconds[0] < _LONG_SECONDS:
        seconds.clear()
        for _ in range(_REPEATS):
            start = time.process_time()
            rival.solve(*given)
            seconds.append(time.process_time() - start)
    cells["ms"] = f"{1e3 * statistics.median(seconds):.4f}"
    cells["trusted"] = "" if rival.trusts is None else "yes" if rival.trusts(*given) else "no"
    return {f"{method} {what}": cell for what, cell in cells.items()}


@dataclass(frozen=True)
class Level:
    """Problems of a kind with about as many outliers."""

    kind: str
    label: str
    """Which outliers, or the kind where that is all."""
    outliers: float
    """Per cent, the median."""
    problems: int
    right: dict[str, int]
    """Method → how many it solves."""
    degrees: dict[str, float | None]
    """Method → median error where it is right."""
    metres: dict[str, float | None]
    ms: dict[str, float]
    """Method → median time in milliseconds, right or not."""

    @property
    def name(self) -> str:
        """Kind and outliers."""
        return self.kind if self.label == self.kind else f"{self.kind} {self.label}"


def levels(rows: Sequence[Row], methods: Sequence[str]) -> list[Level]:
    """Return what was measured at every level, kind by kind, few outliers first."""
    groups: dict[tuple[str, float], list[Row]] = {}
    for row in rows:
        share = float(row["outlier share"])
        end = next((end for end in KINDS[row["kind"]].levels if share <= end), share)
        groups.setdefault((row["kind"], end), []).append(row)
    order = list(KINDS)
    return [
        _level(KINDS[kind], end, groups[kind, end], methods)
        for kind, end in sorted(groups, key=lambda key: (order.index(key[0]), key[1]))
    ]


def _level(kind: Kind, end: float, rows: Sequence[Row], methods: Sequence[str]) -> Level:
    if len(kind.levels) == 1:
        label = kind.name
    elif not kind.levels:
        label = f"{end:g} %"
    else:
        label = f"{max((other for other in kind.levels if other < end), default=0.0):g}–{end:g} %"

    def of_right(method: str, what: str) -> list[float]:
        return [float(row[f"{method} {what}"]) for row in rows if row[f"{method} registered"] == "yes"]

    def errors(what: str) -> dict[str, float | None]:
        found = {method: of_right(method, what) for method in methods}
        return {method: statistics.median(some) if some else None for method, some in found.items()}

    return Level(
        kind.name,
        label,
        statistics.median(float(row["outlier share"]) for row in rows),
        len(rows),
        {method: len(of_right(method, "ms")) for method in methods},
        errors("degrees"),
        errors("metres"),
        {method: statistics.median(float(row[f"{method} ms"]) for row in rows) for method in methods},
    )


def summary(rows: Sequence[Row], methods: Sequence[str]) -> list[dict[str, Any]]:
    """Return the levels as plain values."""
    return [asdict(level) for level in levels(rows, methods)]


def tables(rows: Sequence[Row], methods: Sequence[str], missing: dict[str, str]) -> list[Table]:
    """Return success, time and errors by outliers, and what the methods are."""
    found = levels(rows, methods)
    about = [[rival.label, rival.paper, rival.made_by] for rival in (RIVALS[method] for method in methods)]
    about += [[RIVALS[method].label, RIVALS[method].paper, f"not measured: {why}"] for method, why in missing.items()]
    result = []
    for title, real in (("The bunny", False), ("Real matches", True)):
        shown = [level for level in found if (level.kind != BUNNY) is real]
        result += [_table(f"{title}: {what}", shown, methods, cell) for what, cell in _QUANTITIES] if shown else []
    return [*result, Table("Methods", ["method", "published", "here"], about)]


def _table(title: str, shown: list[Level], methods: Sequence[str], cell: Callable[[Level, str], str]) -> Table:
    counts = ["problems", *(str(level.problems) for level in shown)]
    body = [[RIVALS[method].label, *(cell(level, method) for level in shown)] for method in methods]
    return Table(title, ["outliers", *(level.label for level in shown)], [counts, *body])


def _error(value: float | None, scale: float = 1.0) -> str:
    return "" if value is None else three_digits(scale * value)


_QUANTITIES: list[tuple[str, Callable[[Level, str], str]]] = [
    ("share that is right", lambda level, method: f"{level.right[method] / level.problems:.2f}"),
    ("median ms of one core", lambda level, method: three_digits(level.ms[method])),
    ("median rotation error where right, degrees", lambda level, method: _error(level.degrees[method])),
    ("median translation error where right, mm", lambda level, method: _error(level.metres[method], 1e3)),
]


def conclusions(rows: Sequence[Row], methods: Sequence[str]) -> list[str]:
    """Say where ours is not first in success, and who is faster above 80 % outliers."""
    if OURS not in methods or not rows:
        return []
    found = levels(rows, methods)
    others = [method for method in methods if method != OURS]
    beaten = [
        f"{level.name} ({', '.join(f'{RIVALS[m].label} {level.right[m]}' for m in better)}, ours {level.right[OURS]} "
        f"of {level.problems})"
        for level in found
        if (better := [method for method in others if level.right[method] > level.right[OURS]])
    ]
    said = [f"Right more often than ours: {'; '.join(beaten)}." if beaten else "None is right more often than ours."]
    many = [level for level in found if level.outliers > _MANY_OUTLIERS]
    for what, as_often in (("as often right", True), ("less often right", False)):
        faster: dict[str, list[str]] = {}
        for level in many:
            for method in others:
                if level.ms[method] < level.ms[OURS] and (level.right[method] >= level.right[OURS]) is as_often:
                    faster.setdefault(RIVALS[method].label, []).append(level.name)
        named = "; ".join(f"{label} at {', '.join(names)}" for label, names in faster.items())
        said.append(f"Above {_MANY_OUTLIERS:g} % outliers, faster than ours and {what}: {named or 'none'}.")
    return [*said, _trust(rows)]


def _trust(rows: Sequence[Row]) -> str:
    """Say how many of our answers are trusted, right ones and wrong ones."""
    right = [row[f"{OURS} trusted"] for row in rows if row[f"{OURS} registered"] == "yes"]
    wrong = [row[f"{OURS} trusted"] for row in rows if row[f"{OURS} registered"] == "no"]
    return (
        f"Of ours, {right.count('yes')} of {len(right)} right answers are called OK, and {wrong.count('yes')} of "
        f"{len(wrong)} wrong ones; the others do not say."
    )
