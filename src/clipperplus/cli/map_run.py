"""From scans to a map on the command line: checked before, shown meanwhile, printed and written after."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import typer

from ..mapping import Map, build_map
from ..mapping.map_files import check_map_folder
from ..mapping.pose_graph import load_gtsam
from ..viz.html_page import check_report
from .cluster import Where
from .live import live_bar
from .map_summary import print_map, what_is_missing
from .options import as_threads
from .outputs import check_not_of_map, check_outputs, make_folder, remove_empty
from .printing import command_line, end

__all__ = ["MapRun"]

_RELATIONS = "relations.sqlite"
"""File in the folder of a map from which an interrupted run goes on."""
_INTERRUPTED = 130
"""Exit status after Ctrl-C."""


@dataclass(frozen=True)
class MapRun:
    """What is to be done with a map, whatever it is of."""

    output: Path | None
    """Folder to write it to."""
    report: Path | None
    """HTML file about it."""
    as_json: bool
    threads: int | None = None
    where: Where = Where()  # noqa: RUF009 - it cannot be changed
    """Where pairs are registered."""
    size_limit: int | None = None
    """Bytes that what a file holds may take."""
    _made: list[Path] = field(default_factory=list, init=False)
    """Folders that were not there before."""

    def check(self, scans: Sequence[Path] = (), poses: Path | None = None) -> None:
        """Refuse what could not be done in the end, or would replace a file that is read: before the work."""
        load_gtsam()
        self.where.check()
        if self.report is not None:
            check_report(self.report)
        store = None if self.output is None else self.output / _RELATIONS
        outputs = (("output", self.output), ("what is known so far", store), ("report", self.report))
        check_outputs(outputs, (*scans, poses))
        if self.output is not None:
            check_not_of_map("report", self.report, self.output)
            check_not_of_map("poses", poses, self.output)
            check_map_folder(self.output, self.size_limit)
            self._made.extend(make_folder(self.output))

    def build(self, scans: Sequence[Any], **options: Any) -> Map:
        """Put scans together, with a bar; Ctrl-C says what is kept."""
        registered = 0

        def tell(what: str, done: int, total: int) -> None:
            nonlocal registered
            registered += what == "registering pairs"
            show(what, done, total)

        store = None if self.output is None else self.output / _RELATIONS
        try:
            with self.where.client() as client, live_bar("reading scans") as show:
                return build_map(
                    scans,
                    store=store,
                    client=client,
                    memory=self.where.memory_for_clouds,
                    size_limit=self.size_limit,
                    threads=as_threads(self.threads),
                    progress=tell,
                    **options,
                )
        except KeyboardInterrupt:
            pairs = "1 pair was" if registered == 1 else f"{registered} pairs were"
            kept = "the same command goes on from there" if store is not None else "nothing is kept without --output"
            print(f"clipperplus: interrupted: {pairs} registered; {kept}", file=sys.stderr)
            sys.exit(_INTERRUPTED)  # unlike KeyboardInterrupt without another word
        finally:
            remove_empty(self._made)

    def finish(
        self,
        made: Map,
        *,
        lines: Sequence[tuple[str, str]] = (),
        fields: Mapping[str, object] | None = None,
        notes: Sequence[str] = (),
    ) -> None:
        """Print a map, write it, and end; ``lines`` and ``fields`` are what else there is to tell about it."""
        if self.as_json:
            typer.echo(json.dumps({**made.to_dict(), **(fields or {})}))
        else:
            print_map(made, lines)
        written = [*notes]  # from here on: what cannot be written does not lose the answer
        if self.output is not None:
            made.save(self.output)
            written.append(f"written: {self.output}; now try: clipperplus locate {self.output} SCAN")
        if self.report is not None:
            made.report(self.report, command=command_line())
            written.append(f"written: {self.report}")
        end([] if self.as_json else written, what_is_missing(made))
