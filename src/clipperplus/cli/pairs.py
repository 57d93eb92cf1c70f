"""``clipperplus pairs``: many pairs of scans, from a list to a table."""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from ..errors import ClusterError, OptionError
from ..pairs import register_pairs
from ..pairs.lists import ListedPair, read_pairs
from ..pairs.result import PairResult
from ..pairs.table import PairTable
from .cluster import ClusterAddress, Memory, Where, Workers
from .live import live_bar
from .options import Epsilon, SizeLimit, Threads, VoxelSize, as_bytes, as_threads
from .outputs import check_outputs
from .printing import end, labelled_lines, literal

__all__ = ["command"]

_STORE, _TABLE = "pairs.sqlite", "pairs"
"""Files in the folder of results."""
_INTERRUPTED = 130
"""Exit status after Ctrl-C."""
_MOST_SHOWN = 10
"""Pairs that failed, at most: the table has all."""


def command(
    pairs: Annotated[
        Path,
        typer.Argument(
            help="A list with the names of two point clouds a line, separated by a comma; a first line may name the "
            "columns: source, target, and options such as voxel_size.",
            metavar="LIST.csv",
        ),
    ],
    output: Annotated[Path, typer.Option(help="Folder for the table, and for what is known so far.")],
    voxel_size: VoxelSize = None,
    epsilon: Epsilon = None,
    effort: Annotated[
        str, typer.Option(help="How far to look on where an answer is not trusted.", metavar="low|normal|high")
    ] = "normal",
    refine: Annotated[str | None, typer.Option(help="gicp: finish with generalized ICP.", metavar="gicp")] = None,
    free_space: Annotated[
        bool,
        typer.Option(help="Whether points where a sensor looked through speak against a transform. Not for maps."),
    ] = True,
    min_confidence: Annotated[float, typer.Option(help="Less than this, from 0 to 1, is not to be trusted.")] = 0.5,
    prior: Annotated[
        float, typer.Option(help="How likely it is beforehand that two scans overlap, between 0 and 1.")
    ] = 0.5,
    pair_time_limit: Annotated[
        float | None, typer.Option(help="Seconds after which a pair is given up, at the end of a step.")
    ] = None,
    workers: Workers = None,
    cluster: ClusterAddress = None,
    memory: Memory = None,
    size_limit: SizeLimit = None,
    threads: Threads = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Register many pairs of scans, here or on many machines, and write a table of their transforms.

    Every result is kept as soon as it is there: after Ctrl-C, or a crash, the same command does the rest.

    Exit status 0: all pairs were computed, whatever came of them; 1: some failed, and why is said; 2: wrong input.
    """
    where = Where(workers, cluster, memory)
    where.check()
    most = as_bytes("--size-limit", size_limit)
    wanted = read_pairs(pairs, size_limit=most)
    if output.exists() and not output.is_dir():
        raise OptionError(f"output: expected a folder, got the file {output}")
    tables = [output / f"{_TABLE}.csv", output / f"{_TABLE}.parquet", output / _STORE]
    alike = {Path(end) for pair in wanted for end in pair[:2] if end.endswith(tables[0].name)}  # a cloud may be .csv
    check_outputs((("output", path) for path in tables), (pairs, *alike))
    output.mkdir(parents=True, exist_ok=True)
    options: dict[str, Any] = {"epsilon": epsilon, "effort": effort, "refine": refine, "free_space": free_space}
    options |= {"min_confidence": min_confidence, "prior": prior}
    run = _Run(wanted)
    start = time.perf_counter()
    try:
        with where.client() as client, live_bar("starting") as show:
            results = register_pairs(
                wanted,
                client=client,
                store=output / _STORE,
                voxel_size=voxel_size,
                pair_time_limit=pair_time_limit,
                memory=where.memory_for_clouds,
                size_limit=most,
                threads=as_threads(threads),
                progress=show,
                **options,
            )
            for result in results:
                run.take(result)
    except (KeyboardInterrupt, ClusterError) as error:
        run.table.write(output, _TABLE)
        said = f"{run.done} of {len(wanted)} pairs are done; the same command goes on from there"
        if isinstance(error, ClusterError):
            raise ClusterError(f"{error}; {said}") from None
        print(f"clipperplus: interrupted: {said}", file=sys.stderr)
        sys.exit(_INTERRUPTED)
    seconds = time.perf_counter() - start
    if as_json:
        typer.echo(json.dumps(run.to_dict(seconds)))
    else:
        run.print(seconds)
    written = run.table.write(output, _TABLE)
    end([] if as_json else [f"written: {path}" for path in written], run.doubt)


class _Run:
    """What came of the pairs so far."""

    def __init__(self, wanted: list[ListedPair]) -> None:
        self.table, self.done, self._total = PairTable(wanted), 0, len(wanted)
        self._statuses, self._known, self._failed = Counter[str](), 0, list[PairResult]()

    def take(self, result: PairResult) -> None:
        self.table.add(result)
        self.done += 1
        self._known += result.was_known
        if result.failure is not None:
            self._failed.append(result)
        elif result.status is not None:
            self._statuses[result.status.value] += 1

    @property
    def doubt(self) -> str | None:
        """Why not all is well; None if it is."""
        if not self._failed:
            return None
        return f"{len(self._failed)} of {self._total} pairs failed; the same command tries them again"

    def to_dict(self, seconds: float) -> dict[str, Any]:
        """Return what is printed, in plain types."""
        failed = [{"source": one.source, "target": one.target, "failure": one.failure} for one in self._failed]
        statuses = dict(self._statuses)
        return {"pairs": self._total, "known": self._known, "status": statuses, "failed": failed, "seconds": seconds}

    def print(self, seconds: float) -> None:
        """Print it for a person to read."""
        lines = labelled_lines()
        known = f", {self._known} of them known before" if self._known else ""
        new = self._total - self._known - len(self._failed)
        lines.add_row("pairs", f"{self._total}{known}")
        lines.add_row("status", ", ".join(f"{count} {name}" for name, count in self._statuses.most_common()) or "none")
        lines.add_row("time", f"{seconds:.1f} s" + (f", {new / seconds:.1f} pairs a second" if new else ""))
        for number, one in enumerate(self._failed[:_MOST_SHOWN]):
            text = f"{one.source} and {one.target}: {one.failure}"
            lines.add_row("failed" if number == 0 else "", literal(text))
        if len(self._failed) > _MOST_SHOWN:
            lines.add_row("", f"... and {len(self._failed) - _MOST_SHOWN} more (the table has all)")
        Console(highlight=False).print(lines)
