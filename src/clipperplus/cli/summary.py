"""What a registration found, for a person to read."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ..io.clouds import Cloud
from ..registration import Hypothesis, Pose, Status
from ..transform import rotation_error, translation_error

__all__ = ["Scan", "report"]

_Array = npt.NDArray[np.float64]

_CONFIDENCE = (
    (0.95, "almost certainly right"),
    (0.8, "probably right"),
    (0.5, "more likely right than wrong"),
    (0.0, "more likely wrong than right"),
)
_MERE_SHIFT = 0.15
"""The share of a motion that may be a turn, if it is to be called a shift."""


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


def report(
    scans: tuple[Scan, Scan],
    pose: Pose,
    *,
    min_confidence: float,
    as_json: bool,
    lines: Sequence[tuple[str, str]] = (),
    fields: Mapping[str, object] | None = None,
    notes: Sequence[str] = (),
) -> None:
    """Print a pose, and end with status 1 and the reason if it is not to be trusted.

    ``lines`` and ``fields`` are what else there is to tell, to a person and in JSON; ``notes`` come last.
    """
    doubt = _reason_for_doubt(pose, min_confidence)
    if as_json:
        about = {"source": scans[0].to_dict(), "target": scans[1].to_dict()}
        typer.echo(json.dumps({**about, **pose.to_dict(), **(fields or {})}))
    else:
        console = Console(highlight=False)
        _print_pose(console, scans, pose, doubt, lines)
        console.print(*notes, sep="\n", end="\n" if notes else "", markup=False, soft_wrap=True)
    if doubt is not None:
        print(f"clipperplus: no trustworthy answer: {doubt}", file=sys.stderr)
        raise typer.Exit(1)


def _reason_for_doubt(pose: Pose, min_confidence: float) -> str | None:
    """Return in one line why a pose is not to be trusted; None if it is."""
    if pose.status is Status.OK:
        return None
    if pose.status is Status.UNCERTAIN:
        return f"the confidence, {pose.confidence:.2f}, is below {min_confidence:g}"
    if pose.status is Status.AMBIGUOUS:
        return "another transform explains the scans about as well: see the alternatives"
    if pose.status is Status.DEGENERATE:
        return f"the scans do not determine {' and '.join(_in_words(pose))}"
    for name, points in (("source", pose.source_points), ("target", pose.target_points)):
        if not len(points):
            return f"the {name} has no points"
    return "fewer than three matches agree, or the surfaces do not"


def _print_pose(
    console: Console,
    scans: tuple[Scan, Scan],
    pose: Pose,
    doubt: str | None,
    more: Sequence[tuple[str, str]],
) -> None:
    """Print the clouds, what was found and how far to trust it, some more lines, and what took how long."""
    lines = Table.grid(padding=(0, 2), pad_edge=False)
    lines.add_column(style="dim", no_wrap=True)
    lines.add_column(overflow="fold")
    for label, scan, points in zip(("source", "target"), scans, (pose.source_points, pose.target_points), strict=True):
        dropped = f" ({scan.cloud.dropped} not finite, dropped)" if scan.cloud.dropped else ""
        text = f"{scan.num_read} points{dropped}, {len(points)} voxels"
        lines.add_row(label, f"[bold]{escape(scan.name)}[/bold]: {text}")
    lines.add_row("matches", f"{len(pose.associations)} pairs of voxels look alike (voxels of {pose.voxel_size:g} m)")
    lines.add_row("agreement", _agreement(pose))
    if doubt is None:
        lines.add_row("status", "[bold green]ok[/bold green]: trust it")
    else:
        verdict = "there is no transform" if pose.T_target_source is None else "do not trust it"
        lines.add_row("status", f"[bold red]{pose.status.value}[/bold red]: {verdict}; {doubt}")
    if pose.T_target_source is not None and pose.covariance is not None:
        for row in _evidence(pose, pose.covariance) + _motion(pose.T_target_source):
            lines.add_row(*row)
    for label, text in more:
        lines.add_row(label, escape(text))
    console.print(lines)
    if pose.T_target_source is not None and pose.alternatives:
        console.print("\nalternatives, and how far they are from this transform")
        console.print(_alternatives(pose.T_target_source, pose.alternatives))
    console.print()
    console.print(_stages(pose))


def _agreement(pose: Pose) -> str:
    clique = pose.clique
    if clique.optimal:
        return f"{clique.size} of them agree, the largest such set: proven by the {clique.certificate.value}"
    return f"{clique.size} of them agree, not proven to be the most: at most {clique.upper_bound} do"


def _evidence(pose: Pose, covariance: _Array) -> list[tuple[str, str]]:
    known = next(words for least, words in _CONFIDENCE if pose.confidence >= least)
    evidence = pose.evidence
    rows = [
        ("confidence", f"{pose.confidence:.2f}: {known}"),
        ("inliers", f"{pose.num_inliers} matches fit the transform, to {pose.inlier_rmse or 0.0:.3g} m (rms)"),
    ]
    for name, share, what in (
        ("overlap", evidence.overlap, "of the source lies on the target's surface"),
        ("against", evidence.against, "of it does but faces another way"),
        ("conflict", evidence.conflict, "of the points lie where the other sensor looked through"),
    ):
        if share is not None:
            rows.append((name, f"{_percent(share)} {what}"))
    if not len(pose.degenerate_directions):
        deviations = np.sqrt(np.diag(covariance))
        rows += [
            ("std. dev.", f"{_numbers(np.degrees(deviations[:3]))} degrees about x, y, z of the target"),
            ("", f"{_numbers(deviations[3:])} m along x, y, z"),
        ]
    return rows


def _motion(motion: _Array) -> list[tuple[str, str]]:
    turn, shift = rotation_error(motion, np.eye(4)), translation_error(motion, np.eye(4))
    cells = [[f"{value:.6f}" for value in row] for row in (motion + 0.0).tolist()]
    width = max(len(cell) for row in cells for cell in row)
    matrix = ["  ".join(cell.rjust(width) for cell in row) for row in cells]
    return [
        ("motion", f"turn by {turn:.2f} degrees, shift by {shift:.3f} m"),
        *zip(("transform", "", "", ""), matrix, strict=True),
    ]


def _alternatives(motion: _Array, others: Sequence[Hypothesis]) -> Table:
    table = _table("", "turn", "shift", "score", "inliers", "overlap")
    for number, other in enumerate(others, start=1):
        turn, shift = rotation_error(other.T_target_source, motion), translation_error(other.T_target_source, motion)
        overlap = "" if other.overlap is None else _percent(other.overlap)
        table.add_row(str(number), f"{turn:.1f}°", f"{shift:.2f} m", f"{other.score:.2f}", str(other.support), overlap)
    return table


def _stages(pose: Pose) -> Table:
    """Return the steps; those that both clouds have are added up."""
    seconds: dict[str, float] = {}
    counts: dict[str, list[str]] = {}
    for stage in pose.stages:
        name = stage.name.removeprefix("source ").removeprefix("target ")
        seconds[name] = seconds.get(name, 0.0) + stage.seconds
        counts.setdefault(name, []).extend([] if stage.count is None else [str(stage.count)])
    table = _table("stage", "result", "ms")
    for name, taken in seconds.items():
        table.add_row(name, " + ".join(counts[name]), f"{taken * 1e3:.1f}")
    table.add_row("other", "", f"{(pose.seconds - sum(seconds.values())) * 1e3:.1f}")
    table.add_row("all", "", f"{pose.seconds * 1e3:.1f}", style="bold")
    return table


def _table(first: str, *others: str) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column(first)
    for heading in others:
        table.add_column(heading, justify="right")
    return table


def _in_words(pose: Pose) -> list[str]:
    """Return which turns and shifts the degenerate directions are.

    They are a basis of what is not determined, and any other one would do: this takes that which tells turns from
    shifts best, turns measured by how far they move points.
    """
    lever = float(np.sqrt(np.var(pose.target_points, axis=0).sum()))
    basis, _ = np.linalg.qr((pose.degenerate_directions * ([lever] * 3 + [1.0] * 3)).T)
    mixing, shares, _ = np.linalg.svd(basis[:3].T)
    motions = mixing.T @ basis.T
    turning = np.zeros(len(motions), dtype=np.bool_)
    turning[: len(shares)] = shares > _MERE_SHIFT
    return [
        f"{what} {_axes(vectors)}"
        for what, vectors in (("rotation about", motions[turning, :3]), ("shift along", motions[~turning, 3:]))
        if len(vectors)
    ]


def _axes(vectors: _Array) -> str:
    """Return a line, a plane by what is at right angles to it, or all of space."""
    if len(vectors) == 3:
        return "any axis"
    axis = vectors[0] if len(vectors) == 1 else np.cross(*vectors)
    axis = axis / (np.linalg.norm(axis) * np.sign(axis[np.abs(axis).argmax()]))
    text = ", ".join(f"{value:.2f}" for value in axis.round(2) + 0.0)
    return f"({text})" if len(vectors) == 1 else f"all axes at right angles to ({text})"


def _percent(share: float) -> str:
    return f"{100.0 * share:.1f} %"


def _numbers(values: _Array) -> str:
    return ", ".join(f"{value:.3f}" for value in values)
