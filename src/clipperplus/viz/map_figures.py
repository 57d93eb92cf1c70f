"""Figures of maps: a component from above and from the side."""

from __future__ import annotations

from os import PathLike
from typing import Any

import numpy as np
import numpy.typing as npt

from .._validation import as_integer
from ..geometry.transforms import apply_transform
from ..mapping.map import EdgeStatus, Map
from .canvas import as_figure_path, drawing, new_figure, save_figure
from .framing import middle_and_size
from .map_view import EDGE_COLOURS, edges_within, frame_of_component, headline, scan_colours, show_scans
from .packages import require

__all__ = ["draw_map"]

_Array = npt.NDArray[np.float64]

_MOST_POINTS = 100_000
_MOST_NAMES = 12
"""Scans of a legend that can be read."""
_LONGEST = 30
"""Letters of a name there."""
_WIDTH, _HIGHEST = 6.5, 6.0
"""Inches of a view, at most, …"""
_NARROWEST = 4.0
"""… and at least, for the text around it."""
_DOT = 24.0
_VIEWS = (("from above", 0, 1), ("from the side", 0, 2))
"""Which axes of a Frame go to the right and upwards."""
_INK = "#1c2430"
_LINES: dict[EdgeStatus, dict[str, Any]] = {
    EdgeStatus.BELIEVED: {"linewidth": 0.7, "color": _INK},
    EdgeStatus.REFUSED: {"linewidth": 0.9, "color": EDGE_COLOURS[EdgeStatus.REFUSED], "linestyle": (0, (4, 3))},
}


def draw_map(map: Map, path: str | PathLike[str] | None = None, *, component: int = 0) -> Any:
    """Draw what :meth:`clipperplus.Map.plot` returns."""
    if path is not None:
        path = as_figure_path(path)
    number = as_integer("component", component, 0, max(0, len(map.components) - 1))
    with drawing():
        figure = _draw_component(map, number) if map.components else _draw_nothing(map)
    if path is not None:
        save_figure(figure, path)
    return figure


def _draw_nothing(map: Map) -> Any:
    figure = new_figure((_WIDTH, 1.5))
    figure.text(0.5, 0.5, f"{headline(map)}:\nno two of them belong together", ha="center", va="center")
    return figure


def _draw_component(map: Map, number: int) -> Any:
    """Draw both views below each other, to the same scale."""
    scans = map.components[number]
    shown = show_scans(map, max(1, _MOST_POINTS // len(scans)))
    onto = np.column_stack(frame_of_component(map, scans, shown))
    clouds = [apply_transform(map.poses[scan], shown[scan].points) @ onto for scan in scans]
    places = np.array([apply_transform(map.poses[scan], shown[scan].place[None])[0] @ onto for scan in scans])
    colours = [scan_colours(len(map.names))[scan] for scan in scans]
    middle, size = middle_and_size(np.concatenate(clouds))
    ends = np.array([middle - 0.5 * size, middle + 0.5 * size, *places])
    low, high = ends.min(axis=0), ends.max(axis=0)
    margin = np.maximum(0.06 * (high - low), 0.04 * max(size.max(), map.voxel_size))
    corner, size = low - margin, high - low + 2.0 * margin  # the frame of a map is any; what counts is how large it is
    scale = min(_WIDTH / size[0], _HIGHEST / size[1])
    figure = new_figure((max(scale * size[0], _NARROWEST) + 0.8, scale * (size[1] + size[2]) + 1.8))
    views = figure.subplots(2, 1, height_ratios=size[1:])
    for axes, (name, *view) in zip(views, _VIEWS, strict=True):
        _draw_points(axes, [(cloud - corner)[:, view] for cloud in clouds], colours)
        _draw_edges(axes, map, scans, (places - corner)[:, view], colours)
        axes.yaxis.get_major_locator().set_params(nbins=max(1, round(3.0 * scale * size[view[1]])))
        axes.set(xlim=(0.0, size[view[0]]), ylim=(0.0, size[view[1]]), aspect="equal", ylabel="m", title=name)
    views[-1].set_xlabel("m")
    part = "" if len(map.components) == 1 else f"; shown: component {number}, {len(scans)} scans"
    figure.suptitle(headline(map) + part, fontsize=10)
    _draw_legend(figure, map, scans, colours)
    return figure


def _draw_points(axes: Any, clouds: list[_Array], colours: list[str]) -> None:
    """Draw the points of all scans, which take turns to be in front."""
    points = np.concatenate(clouds)
    paint = np.repeat(colours, [len(cloud) for cloud in clouds])
    turns = np.random.default_rng(0).permutation(len(points))
    size = float(np.clip(60_000.0 / (len(points) + 1.0), 0.15, 6.0))
    axes.scatter(*points[turns].T, c=paint[turns], s=size, linewidths=0.0, alpha=0.6, rasterized=True)


def _draw_edges(axes: Any, map: Map, scans: npt.NDArray[np.int64], places: _Array, colours: list[str]) -> None:
    """Draw a line for each pair, and a dot where each scan stands."""
    ends = dict(zip(scans.tolist(), places, strict=True))
    for status, style in _LINES.items():
        gap = np.full(2, np.nan)
        pairs = [(ends[edge.source], ends[edge.target], gap) for edge in edges_within(map, scans, status)]
        axes.plot(*np.array(pairs).reshape(-1, 2).T, **style)
    axes.scatter(*places.T, c=colours, s=_DOT, edgecolors=_INK, linewidths=0.8, zorder=3)


def _draw_legend(figure: Any, map: Map, scans: npt.NDArray[np.int64], colours: list[str]) -> None:
    """Say what lines mean, and which scan has which colour if there are few."""
    line = require("matplotlib.lines", "a figure").Line2D
    handles = []
    if len(scans) <= _MOST_NAMES:
        dot = {"marker": "o", "ls": "", "ms": 5, "mec": _INK, "mew": 0.8}
        names = [_name(map.names[scan]) for scan in scans]
        handles = [line([], [], color=colour, label=name, **dot) for name, colour in zip(names, colours, strict=True)]
    for status, style in _LINES.items():
        count = len(edges_within(map, scans, status))
        if count:
            handles.append(line([], [], label=f"{status.value} pairs ({count})", **style))
    figure.legend(handles=handles, loc="outside lower center", ncols=4, frameon=False)


def _name(text: str) -> str:
    """Return the name of a scan as it can be drawn: no formula, not left out for how it begins, not too long."""
    text = text.encode("utf-8", "replace").decode().replace("$", r"\$")
    return " " + (text if len(text) <= _LONGEST else "…" + text[-_LONGEST:])
