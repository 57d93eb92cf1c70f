"""``clipperplus locate``: where in a map a scan was taken."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from .._paths import check_folder
from ..clouds.files import read_cloud
from ..geometry.files import write_transform
from ..geometry.transforms import rotation_error, translation_error
from ..mapping import Location, Map
from ..registration import Status, description
from .options import CLOUD_FILES, SizeLimit, Threads, as_bytes, as_threads
from .outputs import check_not_of_map, check_outputs
from .printing import end, labelled_lines, literal, number_table, stage_table
from .summary import Scan

__all__ = ["command"]

_MOST_SHOWN = 4
"""Scans of the map beside the place, at most; the one that shares the most comes first."""


def command(
    folder: Annotated[
        Path, typer.Argument(metavar="MAP", help="The folder of a map, as clipperplus map --output writes it.")
    ],
    scan: Annotated[Path, typer.Argument(help=CLOUD_FILES)],
    output: Annotated[Path | None, typer.Option(help="Text file for the 4 x 4 transform, scan to map.")] = None,
    threads: Threads = None,
    size_limit: SizeLimit = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Find where in a map a scan was taken. The map is not changed.

    Exit status 0: trust it; 1: do not, the reason is given, the file is still written; 2: wrong input.
    """
    if output is not None:
        check_folder(output)
        check_outputs([("output", output)], [scan])
        check_not_of_map("output", output, folder)
    most = as_bytes("--size-limit", size_limit)
    given = Scan(str(scan), read_cloud(scan, size_limit=most))
    with Console(stderr=True).status("loading the map, and looking …"):
        map = Map.load(folder, size_limit=most)
        found = map.locate(given.cloud, threads=as_threads(threads))
    if as_json:
        typer.echo(json.dumps({"map": str(folder), "scan": given.to_dict(), **found.to_dict()}))
    else:
        _print(folder, map, given, found)
    written = []
    if output is not None and found.T_map_scan is not None:
        write_transform(output, found.T_map_scan)
        written.append(f"written: {output}{'' if found.status is Status.OK else ' (not to be trusted)'}")
    doubt = _doubt(found)
    end([] if as_json else written, None if doubt is None else f"no trustworthy answer: {doubt}")


def _doubt(found: Location) -> str | None:
    """Return in one line why a place is not to be trusted; None if it is."""
    if found.status is Status.OK:
        return None
    return found.reasons[0] if found.reasons else f"the status is {found.status.value}"


def _print(folder: Path, map: Map, scan: Scan, found: Location) -> None:
    """Print what was found and how far to trust it."""
    console = Console(highlight=False)
    lines = labelled_lines()
    dropped = f" ({scan.cloud.dropped} not finite, dropped)" if scan.cloud.dropped else ""
    lines.add_row("scan", f"[bold]{literal(scan.name)}[/bold]: {scan.num_read} points{dropped}")
    lines.add_row("map", f"[bold]{literal(str(folder))}[/bold]: {len(map.names)} scans, voxels of {map.voxel_size:g} m")
    doubt = _doubt(found)
    colour = "green" if doubt is None else "red"
    nowhere = "there is no place for it" if found.T_map_scan is None else "do not trust it"
    verdict = "trust it" if doubt is None else f"{nowhere}; {doubt}"
    lines.add_row("status", f"[bold {colour}]{found.status.value}[/bold {colour}]: {literal(verdict)}")
    for label, text in _about(map, found):
        lines.add_row(label, literal(text))
    console.print(lines)
    if found.alternatives and found.T_map_scan is not None:
        console.print("\nother places, and how far they are from this one")
        console.print(_alternatives(map, found))
    stages = [(stage.name, "" if stage.count is None else str(stage.count), stage.seconds) for stage in found.stages]
    console.print()
    console.print(stage_table(stages, found.seconds))


def _alternatives(map: Map, found: Location) -> Table:
    """Return a table of other places; those of other parts of the map are at no distance that is known."""
    several = len(map.components) > 1
    table = number_table("", *(("part",) if several else ()), "turn", "shift", "confidence")
    for number, other in enumerate(found.alternatives, start=1):
        turn = shift = ""
        if found.T_map_scan is not None and other.component == found.component:
            turn = f"{rotation_error(other.T_map_scan, found.T_map_scan):.1f}°"
            shift = f"{translation_error(other.T_map_scan, found.T_map_scan):.2f} m"
        part = (str(other.component),) if several else ()
        table.add_row(str(number), *part, turn, shift, f"{other.confidence:.2f}")
    return table


def _about(map: Map, found: Location) -> Iterator[tuple[str, str]]:
    """Yield what there is to say about a place, each line with its label."""
    yield from (("and" if number == 0 else "", reason) for number, reason in enumerate(found.reasons[1:]))
    if found.T_map_scan is None:
        return
    yield "confidence", description.confidence(found.confidence)
    if len(map.components) > 1:
        yield "part", f"{found.component} of the {len(map.components)} that the map has"
    nearest = ", ".join(f"{scan} ({map.names[scan]})" for scan in found.neighbours[:_MOST_SHOWN])
    more = ", ..." if len(found.neighbours) > _MOST_SHOWN else ""
    yield "verified", f"against {len(found.neighbours)} scans of the map: {nearest}{more}"
    x, y, z = found.T_map_scan[:3, 3].tolist()
    yield "place", f"({x:.3f}, {y:.3f}, {z:.3f}) m, in the frame of the map"
    yield from zip(("transform", "", "", ""), description.matrix_lines(found.T_map_scan), strict=True)
