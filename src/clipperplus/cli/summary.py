"""What a registration found, printed for a person to read."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import typer
from rich.console import Console

from ..clouds.cloud import Cloud
from ..registration import Pose, description
from .printing import command_line, end, labelled_lines, literal, number_table, stage_table

__all__ = ["Scan", "end_with_status", "print_pose", "write_report"]


@dataclass(frozen=True)
class Scan:
    """A cloud and what to call it."""

    name: str
    cloud: Cloud

    @property
    def num_read(self) -> int:
        """Points of the file, those that were left out among them."""
        return len(self.cloud.points) + self.cloud.dropped

    def to_dict(self) -> dict[str, object]:
        """Return what ``--json`` prints about it."""
        return {"name": self.name, "num_points": self.num_read, "num_dropped": self.cloud.dropped}


def write_report(path: Path, scans: tuple[Scan, Scan], pose: Pose) -> str:
    """Write the HTML file about a pose, with the command as it was given; return what to say about it."""
    source, target = scans
    names = source.name, target.name
    pose.report(path, source=source.cloud, target=target.cloud, names=names, command=command_line())
    return f"written: {path}"


def print_pose(
    scans: tuple[Scan, Scan],
    pose: Pose,
    *,
    as_json: bool,
    lines: Sequence[tuple[str, str]] = (),
    fields: Mapping[str, object] | None = None,
) -> None:
    """Print a pose; ``lines`` and ``fields`` are what else there is to tell, to a person and in JSON."""
    if as_json:
        about = {"source": scans[0].to_dict(), "target": scans[1].to_dict()}
        typer.echo(json.dumps({**about, **pose.to_dict(), **(fields or {})}))
    else:
        console = Console(highlight=False)
        _print_lines(console, scans, pose, lines)
        _print_tables(console, pose)


def end_with_status(pose: Pose, notes: Sequence[str]) -> None:
    """Print what is left to say, and end with status 1 and the reason if the pose is not to be trusted."""
    doubt = description.reason_for_doubt(pose)
    end(notes, None if doubt is None else f"no trustworthy answer: {doubt}")


def _print_lines(console: Console, scans: tuple[Scan, Scan], pose: Pose, more: Sequence[tuple[str, str]]) -> None:
    """Print the clouds, what was found and how far to trust it, and some more lines."""
    lines = labelled_lines()
    for label, scan, points in zip(("source", "target"), scans, (pose.source_points, pose.target_points), strict=True):
        dropped = f" ({scan.cloud.dropped} not finite, dropped)" if scan.cloud.dropped else ""
        text = f"{scan.num_read} points{dropped}, {len(points)} voxels"
        lines.add_row(label, f"[bold]{literal(scan.name)}[/bold]: {text}")
    for label, text in description.agreement(pose):
        lines.add_row(label, literal(text))
    colour = "green" if description.reason_for_doubt(pose) is None else "red"
    lines.add_row("status", f"[bold {colour}]{pose.status.value}[/bold {colour}]: {literal(description.verdict(pose))}")
    for label, text in description.doubts(pose):
        lines.add_row(label, literal(text))
    transform = pose.T_target_source
    if transform is not None:
        matrix = zip(("transform", "", "", ""), description.matrix_lines(transform), strict=True)
        more = [*description.evidence(pose), ("motion", description.motion(transform)), *matrix, *more]
    for label, text in more:
        lines.add_row(label, literal(text))
    console.print(lines)


def _print_tables(console: Console, pose: Pose) -> None:
    """Print the alternatives, and what took how long."""
    others = description.alternatives(pose)
    if others:
        console.print("\nalternatives, and how far they are from this transform")
        table = number_table("", *description.Difference._fields[1:])
        for other in others:
            table.add_row(*other)
        console.print(table)
    console.print()
    stages = [(stage.name, result, stage.seconds) for stage, result in description.steps(pose)]
    console.print(stage_table(stages, pose.seconds))
