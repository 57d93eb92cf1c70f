"""What became of many scans, printed for a person to read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rich.console import Console

from ..mapping import EdgeStatus, Map
from .printing import labelled_lines, literal, stage_table

__all__ = ["print_map", "what_is_missing"]

_MOST_SHOWN = 20
"""Scans of a list, at most: the terminal is not for all of a thousand."""


def print_map(map: Map, more: Sequence[tuple[str, str]] = ()) -> None:
    """Print a map: what was placed, what was left out and why, how sure it is; and some more lines."""
    console = Console(highlight=False)
    lines = labelled_lines()
    placed = len(map.names) - len(map.left_out)
    lines.add_row("scans", f"{placed} of {len(map.names)} placed, with voxels of {map.voxel_size:g} m")
    missing = what_is_missing(map)
    verdict = "[bold green]one map[/bold green] of all scans" if missing is None else f"[bold red]{missing}[/bold red]"
    lines.add_row("status", verdict)
    for label, text in (*_parts(map), *_trust(map), *_left_out(map), *more):
        lines.add_row(label, literal(text))
    console.print(lines)
    stages = [(stage.name, "" if stage.count is None else str(stage.count), stage.seconds) for stage in map.stages]
    console.print()
    console.print(stage_table(stages, map.seconds, unit="s"))


def what_is_missing(map: Map) -> str | None:
    """Return in one line why a map is not one of all scans; None if it is."""
    if map.is_complete:
        return None
    if not map.components:
        return "no map: no two scans are known to belong together"
    left = len(map.left_out)
    parts = len(map.components)
    reasons = []
    if left:
        reasons.append(f"{left} of {len(map.names)} scans {'was' if left == 1 else 'were'} left out")
    if parts > 1:
        reasons.append(f"there are {parts} parts, and how they lie to each other is not known")
    return f"not one map of all scans: {'; '.join(reasons)}"


def _parts(map: Map) -> list[tuple[str, str]]:
    """Return which scans belong together, if there are several such sets."""
    if len(map.components) < 2:
        return []
    return [
        (f"part {number}", f"{len(scans)} scans: {_listed([_called(map, k) for k in scans.tolist()])}")
        for number, scans in enumerate(map.components)
    ]


def _trust(map: Map) -> list[tuple[str, str]]:
    """Return how sure the map is."""
    count = Counter(edge.status for edge in map.edges)
    became = ", ".join(f"{count[status]} {status.value}" for status in EdgeStatus)
    lines = [("pairs", f"{len(map.edges)} looked at: {became}")]
    placed = [k for k in range(len(map.names)) if k not in map.left_out]
    if placed:
        least = min(placed, key=lambda k: map.confidence[k])
        lines.append(("confidence", f"{map.confidence[least]:.2f} or more; least of scan {_called(map, least)}"))
        proof = "proven: no larger sets of pairs agree" if map.proven else "none: larger sets of pairs may agree"
        lines.append(("proof", proof))
    return lines


def _left_out(map: Map) -> list[tuple[str, str]]:
    """Return the scans that were not placed, and why."""
    lines = [
        ("left out" if number == 0 else "", f"{_called(map, k)}: {map.reasons[k]}")
        for number, k in enumerate(map.left_out[:_MOST_SHOWN])
    ]
    more = len(map.left_out) - _MOST_SHOWN
    return [*lines, ("", f"... and {more} more (--json lists all)")] if more > 0 else lines


def _called(map: Map, scan: int) -> str:
    return f"{scan} ({map.names[scan]})"


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _MOST_SHOWN
    return ", ".join(names[:_MOST_SHOWN]) + (f" ... and {more} more" if more > 0 else "")
