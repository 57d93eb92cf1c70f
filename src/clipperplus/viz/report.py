"""A registration as one HTML file: clouds in 3-D before and after, matches, graph and clique, times and numbers.

Python gathers what to show as JSON; ``page/`` has the page and the script that draws it with plotly.js, which is put
into the file, so that it opens from disk without a network. Points are rounded to 1/65535 of the extent of their cloud,
which no eye can see, and take 8 characters each.
"""

from __future__ import annotations

import base64
import json
import platform
import re
from importlib import resources
from os import PathLike
from typing import Any

import numpy as np
import numpy.typing as npt

from .._build import core_info
from .._paths import as_path, check_folder
from ..errors import OptionError
from ..graphs import Graph
from ..registration import Pose, Status, description
from . import palette
from .adjacency import adjacency_picture, order_by_clique
from .framing import frame_of, middle_and_size
from .layout import spring_layout
from .packages import require
from .png import encode_png
from .sampling import ShownCloud, shown_clouds, thin

__all__ = ["check_report", "write_report"]

_Array = npt.NDArray[np.float64]

_MOST_POINTS = 40_000
_MOST_MATCHES = 3_000
_PIXELS = 600
_MOST_VERTICES = 150
"""Of a spring layout: with more of them nothing is seen."""
_GRID = 2**16 - 1
_APART = 1.15
"""By how much of the mean extent of both clouds the source is set apart, so that matches can be seen."""
_FAR = 100.0
"""How many times its extent a cloud may be from the origin for it to be drawn in its own coordinates."""
_LONG = 2.0
"""How many times as wide as deep a scene may be for the source to be set apart to its side."""


def check_report(path: str | PathLike[str]) -> None:
    """Refuse to go on where a report could not be written: before the work, not after it."""
    check_folder(path)
    require("plotly", "a report")


def write_report(
    pose: Pose,
    path: str | PathLike[str],
    *,
    source: Any = None,
    target: Any = None,
    names: tuple[str, str] = ("source", "target"),
    command: str | None = None,
) -> None:
    """Write what :meth:`clipperplus.Pose.report` promises."""
    path = as_path(path)
    if not isinstance(names, tuple) or [type(name) for name in names] != [str, str]:
        raise OptionError(f"names: expected two strings, got {names!r}")
    if command is not None and not isinstance(command, str):
        raise OptionError(f"command: expected a string or None, got {command!r}")
    plotly = require("plotly.offline", "a report").get_plotlyjs()
    content = _gather(pose, shown_clouds(pose, source, target, _MOST_POINTS), names, command)
    colours = {name.lower(): getattr(palette, name) for name in ("SOURCE", "TARGET", "INLIER", "OUTLIER", "EDGE")}
    # A tag or the beginning of a comment within a string would change where the script ends.
    data = json.dumps(content, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
    page = _fill("page.html", style=_fill("page.css", **colours), data=data, plotly=plotly, script=_fill("page.js"))
    path.write_text(page, encoding="utf-8")


def _fill(name: str, **parts: str) -> str:
    """Return a file of the page with each ``{{part}}`` replaced, but not those within what replaces one."""
    text = resources.files(__package__).joinpath("page", name).read_text(encoding="utf-8")
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], text)


def _gather(
    pose: Pose, clouds: tuple[ShownCloud, ShownCloud], names: tuple[str, str], command: str | None
) -> dict[str, Any]:
    """Return everything that the page shows."""
    core = core_info()
    motion = pose.T_target_source
    matches = _shown_matches(pose)
    return {
        "source": {"name": names[0], "points": _encode(clouds[0].points)},
        "target": {"name": names[1], "points": _encode(clouds[1].points)},
        "shown": f"Shown of the source: {clouds[0]}; of the target: {clouds[1]}.",
        "matches": {
            "source": _encode(pose.source_points[pose.associations[matches, 0]]),
            "target": _encode(pose.target_points[pose.associations[matches, 1]]),
            "total": len(pose.associations),
            "text": f"Shown: {'all' if len(matches) == len(pose.associations) else f'{len(matches)} of'} "
            f"{len(pose.associations)} matches.",
        },
        "transforms": _transforms(pose, matches),
        **_point_of_view(clouds),
        "status": pose.status.value,
        "trusted": pose.status is Status.OK,
        "verdict": description.verdict(pose),
        "doubts": description.doubts(pose),
        "facts": _facts(pose, clouds),
        "matrix": "there is none" if motion is None else "\n".join(description.matrix_lines(motion)),
        "alternatives": {"heading": description.Difference._fields, "rows": description.alternatives(pose)},
        "graph": f"{pose.graph.num_vertices} matches, of which {pose.graph.num_edges} pairs keep their distance to "
        f"within {pose.epsilon:g} m: a graph of density {pose.graph.density:.3f}. {_proof(pose)}",
        "adjacency": _adjacency(pose.graph, pose.clique.vertices),
        "spring": _spring(pose.graph, pose.clique.vertices),
        "stages": [
            {"name": stage.name, "result": result, "ms": 1e3 * stage.seconds}
            for stage, result in description.steps(pose)
        ],
        "seconds": f"{1e3 * pose.seconds:.1f} ms",
        "command": command or "Pose.report(), called from Python",
        "versions": f"clipperplus {core.version}, commit {core.commit}, {core.simd}, {core.compiler}; "
        f"Python {platform.python_version()}, numpy {np.__version__}, {platform.system()} {platform.machine()}",
    }


def _encode(points: _Array) -> dict[str, Any]:
    """Return points as 16-bit steps of a grid over their box, in base 64."""
    low = points.min(axis=0) if len(points) else np.zeros(3)
    step = (points.max(axis=0) - low) / _GRID if len(points) else np.zeros(3)
    steps = np.round((points - low) / np.where(step > 0.0, step, 1.0)).astype("<u2")
    return {"low": low.tolist(), "step": step.tolist(), "steps": base64.b64encode(steps.tobytes()).decode()}


def _shown_matches(pose: Pose) -> npt.NDArray[np.int64]:
    """Return which matches to show: those that a transform explains are not lost among the others."""
    explained = np.unique(np.concatenate([pose.inliers, *(other.inliers for other in pose.alternatives)]))
    others = np.setdiff1d(np.arange(len(pose.associations)), explained)
    kept = thin(explained, max(_MOST_MATCHES // 2, _MOST_MATCHES - len(others)))
    return np.sort(np.concatenate((kept, thin(others, _MOST_MATCHES - len(kept)))))


def _transforms(pose: Pose, matches: npt.NDArray[np.int64]) -> list[dict[str, Any]]:
    """Return the transform and its alternatives, how many matches each explains, and which of those that are shown."""
    if pose.T_target_source is None:
        return []
    motions = [("the answer", pose.T_target_source, pose.inliers)]
    for number, other in enumerate(pose.alternatives, start=1):
        motions.append((f"alternative {number}, score {other.score:.2f}", other.T_target_source, other.inliers))
    return [
        {
            "name": name,
            "matrix": motion.tolist(),
            "support": len(inliers),
            "inliers": np.flatnonzero(np.isin(matches, inliers)).tolist(),
        }
        for name, motion, inliers in motions
    ]


def _point_of_view(clouds: tuple[ShownCloud, ShownCloud]) -> dict[str, Any]:
    """Return how to hold the clouds, and how far to set the source apart: to the left of the target, or before it."""
    source, target = clouds
    frame = frame_of(target.points if len(target.points) else source.points)
    (middle, size), (other_middle, other_size) = middle_and_size(source.points), middle_and_size(target.points)
    width, depth = (float((size + other_size) @ np.abs(axis)) for axis in (frame.right, frame.depth))
    step = width * frame.right if width < _LONG * depth else depth * frame.depth
    return {
        "origin": _origin(target.points if len(target.points) else source.points).tolist(),
        "apart": (other_middle - middle - 0.5 * _APART * step).tolist(),
        "frame": {name: axis.tolist() for name, axis in frame._asdict().items()},
    }


def _origin(points: _Array) -> _Array:
    """Return the place that is drawn as zero: the origin, or a round one close by where that is far away.

    Browsers draw in single precision, which cannot tell the points of a room in the coordinates of a country apart.
    """
    middle, size = middle_and_size(points)
    extent = float(size.max())
    unit = 10.0 ** np.ceil(np.log10(extent)) if extent > 0.0 else 1.0
    return np.where(np.abs(middle) > _FAR * extent, np.round(middle / unit) * unit, 0.0)


def _facts(pose: Pose, clouds: tuple[ShownCloud, ShownCloud]) -> list[tuple[str, str]]:
    sizes = [] if pose.voxel_size is None else [("voxel size", f"{pose.voxel_size:g} m")]
    motion = [] if pose.T_target_source is None else [("motion", description.motion(pose.T_target_source))]
    return [
        ("source", f"{clouds[0].total} {clouds[0].kind}"),
        ("target", f"{clouds[1].total} {clouds[1].kind}"),
        *sizes,
        ("epsilon", f"{pose.epsilon:g} m"),
        *description.agreement(pose),
        ("upper bound", f"{pose.clique.upper_bound}: no larger set agrees"),
        *description.evidence(pose),
        *motion,
    ]


def _proof(pose: Pose) -> str:
    proof = "proven" if pose.clique.optimal else "not proven"
    return f"Its largest clique found has {pose.clique.size} vertices, {proof} to be the largest."


def _adjacency(graph: Graph, clique: npt.NDArray[np.int64]) -> dict[str, Any]:
    picture = adjacency_picture(graph, order_by_clique(graph, clique), clique, _PIXELS)
    return {
        "png": base64.b64encode(encode_png(picture)).decode(),
        "vertices": graph.num_vertices,
        "pixels": len(picture),
        "caption": "Grey: two matches agree. Green: the clique, which comes first; then the matches that agree with "
        "most of it.",
    }


def _spring(graph: Graph, clique: npt.NDArray[np.int64]) -> dict[str, Any]:
    """Return places for the vertices of a small graph; of a large one, for the clique and what is close to it."""
    kept = order_by_clique(graph, clique)[:_MOST_VERTICES]
    part = graph.subgraph(kept)
    inside = np.isin(kept, clique)
    places = spring_layout(part, np.flatnonzero(inside)).round(4)
    which = (
        "All matches"
        if len(kept) == graph.num_vertices
        else f"The clique and what agrees with it most, {len(kept)} matches"
    )
    return {
        "x": places[:, 0].tolist(),
        "y": places[:, 1].tolist(),
        "names": [f"match {vertex}" for vertex in kept],
        "clique": inside.astype(int).tolist(),
        "edges": part.edges().tolist(),
        "caption": f"{which}, drawn as if those that agree were joined by springs.",
    }
