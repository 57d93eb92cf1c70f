"""What the viewer's panel says about a registration, as Markdown."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable

from ...errors import ClipperPlusError
from ...registration import Pose, Status, description
from ..palette import INLIER, OUTLIER

__all__ = ["describe_error", "describe_evidence", "describe_hypothesis", "describe_status", "describe_steps", "plain"]


def plain(text: str) -> str:
    """Return a text as Markdown that shows it as it is, with no signs that mean something."""
    return re.sub(r"([\\`*_{}\[\]()#+!|~$])", r"\\\1", html.escape(text, quote=False))


def describe_status(pose: Pose) -> str:
    """Return status and verdict, then how sure it is, and the numbers that most depend on the settings."""
    colour = INLIER if pose.status is Status.OK else OUTLIER
    clique = pose.clique
    proof = "proven to be the most" if clique.optimal else f"not proven: at most {clique.upper_bound}"
    return "\n\n".join(
        (
            f'### <span style="color:{colour}">{pose.status.value}</span>',
            f"**{plain(description.verdict(pose))}**",
            *(f"{label}: {plain(text)}" if label else plain(text) for label, text in description.doubts(pose)),
            f"confidence **{pose.confidence:.2f}**, inliers **{pose.num_inliers}** of {len(pose.associations)}",
            f"**{clique.size}** matches agree, {proof}",
        )
    )


def describe_evidence(pose: Pose) -> str:
    """Return all that is known about the transform."""
    rows = [*description.agreement(pose), *description.evidence(pose)]
    if pose.T_target_source is not None:
        rows.append(("motion", description.motion(pose.T_target_source)))
    return _table(
        ("", "the answer"), ("---", "---"), ((f"**{label}**" if label else "", plain(text)) for label, text in rows)
    )


def describe_steps(pose: Pose) -> str:
    """Return what was done and how long it took."""
    rows = [(stage.name, result, f"{stage.seconds * 1e3:.1f}") for stage, result in description.steps(pose)]
    return _table(
        ("step", "result", "ms"), ("---", "---:", "---:"), [*rows, ("**all**", "", f"**{pose.seconds * 1e3:.1f}**")]
    )


def describe_hypothesis(pose: Pose, number: int) -> str:
    """Return what is displayed: the answer for 0, or how an alternative differs from it."""
    if pose.T_target_source is None:
        return "There is no transform: the source is shown as given."
    if number == 0:
        others = len(pose.alternatives)
        return "**The answer**; " + (f"{others} alternatives: move the slider." if others else "no alternatives.")
    other = description.alternatives(pose)[number - 1]
    overlap = f", overlap {other.overlap}" if other.overlap else ""
    return (
        f"**Alternative {other.number}**, turned by {other.turn} and shifted by {other.shift} from the answer: "
        f"score {other.score}, {other.inliers} inliers{overlap}"
    )


def describe_error(error: Exception) -> str:
    """Return what went wrong; whoever calls says with what."""
    if isinstance(error, OSError) and error.strerror:
        return plain(error.strerror)
    if isinstance(error, MemoryError):
        return "not enough memory"
    return plain(str(error) if isinstance(error, ClipperPlusError) else f"{type(error).__name__}: {error}")


def _table(heading: tuple[str, ...], alignment: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    return "\n".join(f"| {' | '.join(line)} |" for line in (heading, alignment, *rows))
