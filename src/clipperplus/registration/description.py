"""What a registration found, in words: for the command line, the report and the viewer."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .._timing import Stage
from ..geometry.transforms import rotation_error, translation_error
from .confidence import Status
from .pose import Pose

__all__ = [
    "Difference",
    "agreement",
    "alternatives",
    "evidence",
    "matrix_lines",
    "motion",
    "percent",
    "reason_for_doubt",
    "steps",
    "verdict",
]

_Array = npt.NDArray[np.float64]

_CONFIDENCE = (
    (0.95, "almost certainly right"),
    (0.8, "probably right"),
    (0.5, "more likely right than wrong"),
    (0.0, "more likely wrong than right"),
)
_SENSORS = {
    "told": "where it was told",
    "origin": "at the origin",
    "found": "at a place that was found",
}
_MERE_SHIFT = 0.15
"""The share of a motion that may be a turn, if it is to be called a shift."""


def verdict(pose: Pose) -> str:
    """Return what to do with the pose, and why if it is not to be trusted."""
    doubt = reason_for_doubt(pose)
    if doubt is None:
        return "trust it"
    return f"{'there is no transform' if pose.T_target_source is None else 'do not trust it'}; {doubt}"


def reason_for_doubt(pose: Pose) -> str | None:
    """Return in one line why a pose is not to be trusted; None if it is."""
    if pose.status is Status.OK:
        return None
    if pose.status is Status.UNCERTAIN:
        return f"the confidence, {pose.confidence:.2f}, is below {pose.min_confidence:g}"
    if pose.status is Status.AMBIGUOUS:
        return "another transform explains the scans about as well: see the alternatives"
    if pose.status is Status.DEGENERATE:
        return f"the scans do not determine {' and '.join(_degenerate_motions(pose))}"
    for name, points in (("source", pose.source_points), ("target", pose.target_points)):
        if not len(points):
            return f"the {name} has no points"
    return "fewer than three matches agree, or the surfaces do not"


def agreement(pose: Pose) -> list[tuple[str, str]]:
    """Return how many matches there are and how many agree, each line with its label."""
    clique = pose.clique
    if pose.voxel_size is None:
        matches = f"{len(pose.associations)} pairs of points"
    else:
        matches = f"{len(pose.associations)} pairs of voxels look alike (voxels of {pose.voxel_size:g} m)"
    if clique.optimal:
        agreeing = f"{clique.size} of them agree, the largest such set: proven by the {clique.certificate.value}"
    else:
        agreeing = f"{clique.size} of them agree, not proven to be the most: at most {clique.upper_bound} do"
    return [("matches", matches), ("agreement", agreeing)]


def evidence(pose: Pose) -> list[tuple[str, str]]:
    """Return what speaks for and against the transform, each line with its label; nothing without a transform."""
    if pose.T_target_source is None or pose.covariance is None:
        return []
    known = next(words for least, words in _CONFIDENCE if pose.confidence >= least)
    found = pose.evidence
    rows = [
        ("confidence", f"{pose.confidence:.2f}: {known}"),
        ("inliers", f"{pose.num_inliers} matches fit the transform, to {pose.inlier_rmse or 0.0:.3g} m (rms)"),
    ]
    for name, share, what in (
        ("overlap", found.overlap, "of the source lies on the target's surface"),
        ("detail", found.detail, "of what is bent does"),
        ("against", found.against, "of it does but at an angle"),
        ("conflict", found.conflict, "of the points lie where the other sensor looked through"),
    ):
        if share is not None:
            rows.append((name, f"{percent(share)} {what}"))
    if found.viewpoints is not None:
        source, target = (_SENSORS[viewpoint] for viewpoint in found.viewpoints)
        rows.append(("sensors", f"source {source}, target {target}"))
    if not len(pose.degenerate_directions):
        deviations = np.sqrt(np.diag(pose.covariance))
        rows += [
            ("std. dev.", f"{_numbers(np.degrees(deviations[:3]))} degrees about x, y, z of the target"),
            ("", f"{_numbers(deviations[3:])} m along x, y, z"),
        ]
    return rows


def motion(transform: _Array) -> str:
    """Return how far a transform turns and shifts."""
    turn, shift = rotation_error(transform, np.eye(4)), translation_error(transform, np.eye(4))
    return f"turn by {turn:.2f} degrees, shift by {shift:.3f} m"


def matrix_lines(transform: _Array) -> list[str]:
    """Return the rows of a matrix, columns under each other."""
    cells = [[f"{value:.6f}" for value in row] for row in (transform + 0.0).tolist()]
    width = max(len(cell) for row in cells for cell in row)
    return ["  ".join(cell.rjust(width) for cell in row) for row in cells]


class Difference(NamedTuple):
    """An alternative, and how far it is from the transform that was returned."""

    number: str
    turn: str
    shift: str
    score: str
    inliers: str
    overlap: str


def alternatives(pose: Pose) -> list[Difference]:
    """Return the alternatives as rows of a table; none without a transform."""
    best = pose.T_target_source
    if best is None:
        return []
    return [
        Difference(
            number=str(number),
            turn=f"{rotation_error(other.T_target_source, best):.1f}°",
            shift=f"{translation_error(other.T_target_source, best):.2f} m",
            score=f"{other.score:.2f}",
            inliers=str(other.support),
            overlap="" if other.overlap is None else percent(other.overlap),
        )
        for number, other in enumerate(pose.alternatives, start=1)
    ]


def steps(pose: Pose) -> list[tuple[Stage, str]]:
    """Return the steps, each with what came out of it; those that both clouds have are added up."""
    seconds: dict[str, float] = {}
    counts: dict[str, list[str]] = {}
    for stage in pose.stages:
        name = stage.name.removeprefix("source ").removeprefix("target ")
        seconds[name] = seconds.get(name, 0.0) + stage.seconds
        counts.setdefault(name, []).extend([] if stage.count is None else [str(stage.count)])
    stages = [(Stage(name, taken), " + ".join(counts[name])) for name, taken in seconds.items()]
    return [*stages, (Stage("other", pose.seconds - sum(seconds.values())), "")]


def percent(share: float) -> str:
    """Return a share as a percentage."""
    return f"{100.0 * share:.1f} %"


def _degenerate_motions(pose: Pose) -> list[str]:
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


def _numbers(values: _Array) -> str:
    return ", ".join(f"{value:.3f}" for value in values)
