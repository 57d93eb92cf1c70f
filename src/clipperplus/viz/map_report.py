"""A map as one HTML file: its components in 3-D, the graph of its pairs, a card for each scan, every pair to look at.

Python gathers what to show; ``page/map.js`` draws it. The points of each scan are in the page once, relative to their
middle: the map and all pictures of pairs are made of them.
"""

from __future__ import annotations

import base64
from collections import Counter
from os import PathLike
from typing import Any

import numpy as np
import numpy.typing as npt

from .._timing import Stage
from ..geometry.transforms import apply_transform
from ..graphs import Graph
from ..mapping.map import Edge, EdgeStatus, Map, ScanStatus
from ..registration.description import percent
from .framing import UP, Frame, facing, likely_up, round_origin
from .html_page import encode_frame, encode_points, origin_of_page, write_page
from .layout import spring_layout
from .map_view import Shown, frame_of_component, headline, scan_colours, show_scans

__all__ = ["write_map_report"]

_Array = npt.NDArray[np.float64]

_MOST_POINTS = 400_000
"""Of all scans together: 8 characters each, …"""
_MOST_OF_A_SCAN = 20_000
_MOST_DRAWN = 80_000
"""… and those of a component that are drawn at once: browsers are slow with more."""
_MOST_EDGES = 20_000
_MOST_VERTICES = 400
"""Of a spring layout, whose time grows with the square of their number."""
_IMPORTANCE = {EdgeStatus.REFUSED: 0, EdgeStatus.BELIEVED: 1, EdgeStatus.DOUBTED: 2}
"""Which pairs are kept if there are too many to be listed."""


def write_map_report(map: Map, path: str | PathLike[str], *, command: str | None = None) -> None:
    """Write what :meth:`clipperplus.Map.report` promises."""
    made_by = origin_of_page(command, "Map.report()")
    most = min(_MOST_OF_A_SCAN, max(1, _MOST_POINTS // max(1, len(map.scans))))
    write_page(path, "map", _gather(map, show_scans(map, most)) | made_by)


def _gather(map: Map, shown: list[Shown]) -> dict[str, Any]:
    """Return everything that the page shows."""
    edges = _listed_edges(map)
    frames = [frame_of_component(map, scans, shown) for scans in map.components]
    origins = [_origin(map, scans, shown) for scans in map.components]
    return {
        "headline": headline(map),
        "complete": map.is_complete,
        "doubts": [(map.names[scan], f"{map.status[scan].value}: {map.reasons[scan]}") for scan in map.left_out],
        "facts": _facts(map),
        "most": _MOST_DRAWN,
        "scans": _scans(map, shown, frames),
        "poses": _encode_motions(_relative_poses(map, shown, origins)),
        "components": [
            {"scans": scans.tolist(), "origin": origin.tolist(), "frame": encode_frame(frame)}
            for scans, origin, frame in zip(map.components, origins, frames, strict=True)
        ],
        "edges": _edges(edges, shown),
        "listed": f"Listed: {'all' if len(edges) == len(map.edges) else f'{len(edges)} of'} {len(map.edges)} pairs.",
        "graph": _graph(map),
        "stages": [
            {"name": stage.name, "result": "" if stage.count is None else str(stage.count), "ms": 1e3 * stage.seconds}
            for stage in (*map.stages, Stage("other", map.seconds - sum(stage.seconds for stage in map.stages)))
        ],
        "seconds": f"{map.seconds:.1f} s",
    }


def _facts(map: Map) -> list[tuple[str, str]]:
    counts = Counter(edge.status for edge in map.edges)
    sizes = ", ".join(str(len(scans)) for scans in map.components)
    left_out = Counter(map.status[scan].value for scan in map.left_out)
    return [
        ("scans", f"{len(map.names)}: {len(map.names) - len(map.left_out)} placed, {len(map.left_out)} left out"),
        ("left out", ", ".join(f"{count} {what}" for what, count in left_out.items()) or "none"),
        ("components", f"{len(map.components)}, of {sizes} scans" if sizes else "none: no two scans belong together"),
        ("pairs", f"{len(map.edges)}: " + ", ".join(f"{counts[status]} {status.value}" for status in EdgeStatus)),
        ("prior", f"{percent(map.prior)} of the pairs that were registered belong together"),
        ("agreement", "every largest set of pairs that agree is proven" if map.proven else "not proven to be the most"),
        ("voxel size", f"{map.voxel_size:g} m"),
        ("time", f"{map.seconds:.1f} s"),
    ]


def _scans(map: Map, shown: list[Shown], frames: list[Frame]) -> list[dict[str, Any]]:
    """Return a card for each scan, its points, and how to hold it."""
    counts = Counter((scan, edge.status) for edge in map.edges for scan in (edge.source, edge.target))
    component = {scan: number for number, scans in enumerate(map.components) for scan in scans.tolist()}
    cards = []
    for scan, (own, colour) in enumerate(zip(shown, scan_colours(len(shown)), strict=True)):
        up = np.array(UP[likely_up(own.points)])
        if scan in component:
            up = map.poses[scan, :3, :3].T @ frames[component[scan]].up
        cards.append(
            {
                "name": map.names[scan],
                "colour": colour,
                "status": map.status[scan].value,
                "component": component.get(scan),
                "confidence": _rounded(float(map.confidence[scan]), 3),
                "deviation": _deviation(map, scan, own),
                "pairs": [counts[scan, status] for status in EdgeStatus],
                "reason": map.reasons[scan],
                "points": encode_points(own.points - own.middle),
                "place": (own.place - own.middle).tolist(),
                "frame": encode_frame(facing(up, own.middle - own.place)),
            }
        )
    return cards


def _deviation(map: Map, scan: int, own: Shown) -> str:
    """Return how precisely it is known where a scan stands and how it is turned; nothing where that is not known."""
    covariance = map.covariances[scan]
    if map.status[scan] is not ScanStatus.PLACED or not np.isfinite(covariance).all():
        return ""
    x, y, z = apply_transform(map.poses[scan], own.place[None])[0]
    turning = np.array([[0.0, z, -y], [-z, 0.0, x], [y, -x, 0.0]])  # how a small turn about the origin moves the place
    moving = np.hstack((turning, np.eye(3)))
    away = np.sqrt(max(0.0, np.trace(moving @ covariance @ moving.T)))
    turned = np.sqrt(max(0.0, np.trace(covariance[:3, :3])))
    return f"± {100.0 * away:.1f} cm, ± {np.degrees(turned):.2f}°"


def _listed_edges(map: Map) -> list[Edge]:
    """Return the pairs to list, in their order: if there are too many, those that were doubted most are left out."""
    if len(map.edges) <= _MOST_EDGES:
        return list(map.edges)
    edges = enumerate(map.edges)
    ranked = sorted(edges, key=lambda item: (_IMPORTANCE[item[1].status], -item[1].confidence, item[0]))
    return [edge for _, edge in sorted(ranked[:_MOST_EDGES], key=lambda item: item[0])]


def _edges(edges: list[Edge], shown: list[Shown]) -> dict[str, Any]:
    """Return the columns of a table; texts that occur often are stored once."""
    reasons = list(dict.fromkeys(edge.reason for edge in edges))
    number = {reason: k for k, reason in enumerate(reasons)}
    motions = [_relative(edge.T_target_source, shown[edge.source], shown[edge.target].middle) for edge in edges]
    return {
        "source": [edge.source for edge in edges],
        "target": [edge.target for edge in edges],
        "status": [edge.status.value for edge in edges],
        "origin": [edge.origin for edge in edges],
        "confidence": [_rounded(edge.confidence, 3) for edge in edges],
        "overlap": [_rounded(edge.overlap, 3) for edge in edges],
        "shift": [_rounded(edge.shift, 4) for edge in edges],
        "reason": [number[edge.reason] for edge in edges],
        "reasons": reasons,
        "motions": _encode_motions(motions),
    }


def _rounded(value: float | None, digits: int) -> float | None:
    return None if value is None or not np.isfinite(value) else round(float(value), digits)


def _origin(map: Map, scans: npt.NDArray[np.int64], shown: list[Shown]) -> _Array:
    """Return the place that is drawn as zero."""
    return round_origin(np.concatenate([apply_transform(map.poses[scan], shown[scan].points) for scan in scans]))


def _relative_poses(map: Map, shown: list[Shown], origins: list[_Array]) -> list[_Array | None]:
    poses: list[_Array | None] = [None] * len(shown)
    for scans, origin in zip(map.components, origins, strict=True):
        for scan in scans.tolist():
            poses[scan] = _relative(map.poses[scan], shown[scan], origin)
    return poses


def _relative(motion: _Array | None, own: Shown, origin: _Array) -> _Array | None:
    """Return a motion of a scan as one of its points relative to their middle, to a place relative to an origin."""
    if motion is None:
        return None
    moved = motion.copy()
    moved[:3, 3] += motion[:3, :3] @ own.middle - origin
    return moved


def _encode_motions(motions: list[_Array | None]) -> str:
    """Return the upper three rows of each in single precision, in base 64; NaN where there is none."""
    rows = np.full((len(motions), 12), np.nan, dtype="<f4")
    for row, motion in zip(rows, motions, strict=True):
        if motion is not None:
            row[:] = motion[:3].ravel()
    return base64.b64encode(rows.tobytes()).decode()


def _graph(map: Map) -> dict[str, Any]:
    """Return places for the scans, as if those whose pairs are believed were joined by springs."""
    counts = Counter(scan for edge in map.edges for scan in (edge.source, edge.target))
    scans = sorted(sorted(range(len(map.names)), key=lambda scan: (-counts[scan], scan))[:_MOST_VERTICES])
    number = {scan: k for k, scan in enumerate(scans)}
    believed = [(number.get(e.source), number.get(e.target)) for e in map.edges if e.status is EdgeStatus.BELIEVED]
    pairs = sorted({(min(a, b), max(a, b)) for a, b in believed if a is not None and b is not None and a != b})
    graph = Graph.from_edges(len(scans), np.array(pairs, dtype=np.int64).reshape(-1, 2))
    places = spring_layout(graph, np.empty(0, dtype=np.int64)).round(4)
    which = "All scans" if len(scans) == len(map.names) else f"The {len(scans)} scans with the most pairs"
    return {
        "scans": scans,
        "x": places[:, 0].tolist(),
        "y": places[:, 1].tolist(),
        "caption": f"{which}, drawn as if believed pairs were joined by springs. Rings are scans that were left out.",
    }
