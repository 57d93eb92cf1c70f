"""A registration as one HTML file: clouds in 3-D before and after, matches, graph and clique, times and numbers.

Python gathers what to show; ``page/pose.js`` draws it.
"""

from __future__ import annotations

import base64
from os import PathLike
from typing import Any

import numpy as np
import numpy.typing as npt

from .._words import shown
from ..errors import OptionError
from ..graphs import Graph
from ..registration import Pose, Status, description
from .adjacency import adjacency_picture, order_by_clique
from .framing import frame_of, middle_and_size, round_origin
from .html_page import check_report, encode_frame, encode_points, origin_of_page, write_page
from .layout import spring_layout
from .png import encode_png
from .sampling import ShownCloud, shown_clouds, thin

__all__ = ["check_report", "write_report"]

_Array = npt.NDArray[np.float64]

_MOST_POINTS = 40_000
_MOST_MATCHES = 3_000
_PIXELS = 600
_MOST_VERTICES = 150
"""Of a spring layout: with more of them nothing is seen."""
_APART = 1.15
"""By how much of the mean extent of both clouds the source is set apart, so that matches can be seen."""
_LONG = 2.0
"""How many times as wide as deep a scene may be for the source to be set apart to its side."""


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
    if not isinstance(names, tuple) or [type(name) for name in names] != [str, str]:
        raise OptionError(f"names: expected two strings, got {shown(names)}")
    made_by = origin_of_page(command, "Pose.report()")
    clouds = shown_clouds(pose, source, target, _MOST_POINTS)
    write_page(path, "pose", _gather(pose, clouds, names) | made_by)


def _gather(pose: Pose, clouds: tuple[ShownCloud, ShownCloud], names: tuple[str, str]) -> dict[str, Any]:
    """Return everything that the page shows."""
    motion = pose.T_target_source
    matches = _shown_matches(pose)
    return {
        "source": {"name": names[0], "points": encode_points(clouds[0].points)},
        "target": {"name": names[1], "points": encode_points(clouds[1].points)},
        "shown": f"Shown of the source: {clouds[0]}; of the target: {clouds[1]}.",
        "matches": {
            "source": encode_points(pose.source_points[pose.associations[matches, 0]]),
            "target": encode_points(pose.target_points[pose.associations[matches, 1]]),
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
    }


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
        "origin": round_origin(target.points if len(target.points) else source.points).tolist(),
        "apart": (other_middle - middle - 0.5 * _APART * step).tolist(),
        "frame": encode_frame(frame),
    }


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
