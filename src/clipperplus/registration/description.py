"""What a registration found, in words: for the command line, the report and the viewer."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .._timing import Stage
from ..geometry.motions import scale_of
from ..geometry.transforms import rotation_error, translation_error
from .pose import Pose

__all__ = [
    "Difference",
    "agreement",
    "alternatives",
    "confidence",
    "doubts",
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


def verdict(pose: Pose) -> str:
    """Return what to do with the pose, and why if it is not to be trusted."""
    doubt = reason_for_doubt(pose)
    if doubt is None:
        return "trust it"
    return f"{'there is no transform' if pose.T_target_source is None else 'do not trust it'}; {doubt}"


def reason_for_doubt(pose: Pose) -> str | None:
    """Return in one line why a pose is not to be trusted, the first of its reasons; None if it is."""
    return pose.reasons[0].text if pose.reasons else None


def doubts(pose: Pose) -> list[tuple[str, str]]:
    """Return what else speaks against a pose, and what may help, each line with its label."""
    others = [("and" if number == 0 else "", reason.text) for number, reason in enumerate(pose.reasons[1:])]
    helps = dict.fromkeys(reason.help for reason in pose.reasons)
    return others + [("what helps" if number == 0 else "", text) for number, text in enumerate(helps)]


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
    found = pose.evidence
    rows = [
        ("confidence", confidence(pose.confidence)),
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
    if found.chance is not None:
        rows.append(("chance", f"{_expected(found.chance)} such sets are expected among random matches"))
    if found.scale is not None:
        rows.append(("scale", f"{found.scale:.4f} ± {found.scale_deviation:.2g}"))
    if found.rivalry is not None:
        rows.append(("rivalry", f"the best other transform explains the scans {percent(found.rivalry)} as well"))
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


def confidence(probability: float) -> str:
    """Return a confidence, and what it means."""
    known = next(words for least, words in _CONFIDENCE if probability >= least)
    return f"{probability:.2f}: {known}"


def motion(transform: _Array) -> str:
    """Return how far a transform turns and shifts, and by how much it enlarges, if it does."""
    turn, shift = rotation_error(transform, np.eye(4)), translation_error(transform, np.eye(4))
    scale = scale_of(transform)
    enlarged = f", enlarge {scale:.6g} times" if abs(scale - 1.0) > 1e-6 else ""
    return f"turn by {turn:.2f} degrees, shift by {shift:.3f} m{enlarged}"


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
    rivalry: str


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
            rivalry="" if other.rivalry is None else f"{other.rivalry:.2f}",
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


def _expected(logarithm: float) -> str:
    """Return a number as a power of ten, which may be too small for a float."""
    return f"{math.exp(logarithm):.1g}" if -7.0 < logarithm < 7.0 else f"10^{logarithm / math.log(10.0):.0f}"


def _numbers(values: _Array) -> str:
    return ", ".join(f"{value:.3f}" for value in values)
