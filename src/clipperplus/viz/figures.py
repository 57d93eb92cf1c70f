"""Figures for papers: a clique in its graph, and two scans before and after."""

from __future__ import annotations

from os import PathLike
from typing import Any

import numpy as np
import numpy.typing as npt

from ..clique import CliqueResult
from ..clique._arguments import as_clique, check_graph
from ..errors import GraphError, OptionError
from ..geometry.transforms import apply_transform
from ..graphs import Graph
from ..registration import Pose
from . import palette
from .adjacency import adjacency_picture, order_by_core
from .canvas import as_figure_path, drawing, new_figure, save_figure
from .framing import Frame, axis_name, frame_of, middle_and_size
from .packages import require
from .sampling import shown_clouds, thin

__all__ = ["draw_clique", "draw_pose"]

_Array = npt.NDArray[np.float64]

_PIXELS = 600
_MOST_POINTS = 20_000
_MOST_LINES = 300
_WIDTH = 6.0
"""Inches that the three views of a pose share."""
_VIEWS = (("from above", 0, 1), ("from the front", 0, 2), ("from the side", 1, 2))
"""Which axes of a Frame go to the right and upwards."""
_LONG_TIMES = 20.0
"""Quotient of the last time and the first one from which on the axis of time is logarithmic."""


def draw_clique(result: CliqueResult, graph: Graph, path: str | PathLike[str] | None = None) -> Any:
    """Draw what :meth:`clipperplus.CliqueResult.plot` returns."""
    if path is not None:
        path = as_figure_path(path)
    check_graph(graph)
    try:
        as_clique(graph, "graph", result.vertices)
    except OptionError as error:
        raise GraphError(f"{error}; expected the graph that the result is of") from None
    with drawing():
        figure = new_figure((7.2, 3.4))
        matrix, course = figure.subplots(1, 2, width_ratios=(1.0, 1.15))
        _draw_adjacency(matrix, graph, result.vertices)
        _draw_course(course, result)
    if path is not None:
        save_figure(figure, path)
    return figure


def _draw_adjacency(axes: Any, graph: Graph, clique: npt.NDArray[np.int64]) -> None:
    """Draw the matrix by decreasing core number, and beside it where the vertices of the clique are."""
    order = order_by_core(graph)
    rank = np.empty(graph.num_vertices, dtype=np.int64)
    rank[order] = np.arange(graph.num_vertices)
    n = max(1, graph.num_vertices)
    axes.imshow(adjacency_picture(graph, order, clique, _PIXELS), extent=(0, n, n, 0), interpolation="nearest")
    beside = {"color": palette.INLIER, "clip_on": False, "linewidth": 0.6}
    middle = rank[clique] + 0.5
    axes.vlines(middle, -0.035 * n, -0.01 * n, **beside)
    axes.hlines(middle, 1.01 * n, 1.035 * n, **beside)
    axes.set(xlim=(0, n), ylim=(n, 0), xlabel="vertices by decreasing core number")
    axes.xaxis.get_major_locator().set_params(nbins=5)  # numbers of large graphs are long
    axes.set_title(f"{graph.num_vertices} vertices, {graph.num_edges} edges; clique of {len(clique)}", pad=10)
    for side in ("top", "right"):
        axes.spines[side].set_visible(True)


def _draw_course(axes: Any, result: CliqueResult) -> None:
    """Draw size and bound against time."""
    if not result.history:
        axes.set_axis_off()
        return
    seconds, sizes, bounds = (list(column) for column in zip(*result.history, strict=True))
    ends = 1e3 * np.array([*seconds, max(result.seconds, seconds[-1])])
    sizes, bounds = [*sizes, result.weight], [*bounds, result.upper_bound]
    steps: dict[str, Any] = {"drawstyle": "steps-post", "linewidth": 1.5}
    axes.fill_between(ends, sizes, bounds, step="post", color=palette.EDGE, alpha=0.2, linewidth=0)
    axes.plot(ends, bounds, color=palette.OUTLIER, label="upper bound: no clique is larger", **steps)
    axes.plot(ends, sizes, color=palette.INLIER, label="lower bound: the best clique so far", **steps)
    if ends[-1] > _LONG_TIMES * ends[0]:
        axes.set_xscale("log")
    else:
        axes.set_xlim(0.0, 1.05 * ends[-1])
    axes.set(xlabel="milliseconds", ylabel="vertices" if result.weight == result.size else "weight")
    axes.yaxis.get_major_locator().set_params(integer=True)
    axes.grid(axis="y")
    axes.legend(frameon=False, loc="upper right")
    gap = bounds[0] - sizes[0]
    low = sizes[0] - 0.25 * gap if gap else 0.0
    axes.set_ylim(low, bounds[0] + 0.3 * (bounds[0] - low))  # with room for the legend
    proof = f"proven by the {result.certificate.value}" if result.optimal else f"not proven: at most {bounds[-1]:.6g}"
    axes.set_title(f"{result.method}: {result.size} vertices, {proof}", pad=10)


def draw_pose(pose: Pose, path: str | PathLike[str] | None = None, *, source: Any = None, target: Any = None) -> Any:
    """Draw what :meth:`clipperplus.Pose.plot` returns."""
    if path is not None:
        path = as_figure_path(path)
    moving, fixed = shown_clouds(pose, source, target, _MOST_POINTS)
    frame = frame_of(fixed.points if len(fixed.points) else moving.points)
    rows = [("as given", moving.points)]
    if pose.T_target_source is not None:
        rows.append(("aligned", apply_transform(pose.T_target_source, moving.points)))
    boxes = [_box(np.concatenate((fixed.points, points)), frame) for _, points in rows]
    heights = [0.65 + _WIDTH * max(*size[1:]) / (2.0 * size[0] + size[1]) for _, size in boxes]
    with drawing():
        figure = new_figure((_WIDTH + 1.2, sum(heights) + 0.3))
        for part, (name, points), box in zip(
            figure.subfigures(len(rows), 1, height_ratios=heights, squeeze=False)[:, 0], rows, boxes, strict=True
        ):
            panels = part.subplots(1, 3, width_ratios=[box[1][axis] for axis in (0, 0, 1)])
            for axes, view in zip(panels, _VIEWS, strict=True):
                _draw_view(axes, fixed.points, points, frame, box, view)
                if name == "as given":
                    _draw_associations(axes, pose, np.column_stack([frame[axis] for axis in view[1:]]))
            panels[0].set_title(f"{name}, {_VIEWS[0][0]}")
        _draw_legend(figure)
    if path is not None:
        save_figure(figure, path)
    return figure


def _box(points: _Array, frame: Frame) -> tuple[_Array, _Array]:
    """Return middle and size of what to show, along the axes of the frame."""
    middle, size = middle_and_size(points @ np.column_stack(frame))
    size = np.maximum(1.1 * size, 0.15 * size.max())
    return middle, np.where(size > 0.0, size, 1.0)


def _draw_view(
    axes: Any, target: _Array, source: _Array, frame: Frame, box: tuple[_Array, _Array], view: tuple[str, int, int]
) -> None:
    """Draw both clouds from one side; their points take turns to be in front."""
    name, across, upright = view
    points = np.concatenate((target, source)) @ np.column_stack((frame[across], frame[upright]))
    colours = np.array([palette.TARGET, palette.SOURCE])[np.repeat((0, 1), (len(target), len(source)))]
    turns = np.random.default_rng(0).permutation(len(points))
    size = float(np.clip(4000.0 / (len(points) + 1.0), 0.15, 8.0))
    axes.scatter(*points[turns].T, c=colours[turns], s=size, linewidths=0.0, alpha=0.8, rasterized=True)
    middle, extent = box
    for limit, axis in ((axes.set_xlim, across), (axes.set_ylim, upright)):
        limit(middle[axis] - 0.5 * extent[axis], middle[axis] + 0.5 * extent[axis])
    inches = _WIDTH * extent[upright] / (2.0 * extent[0] + extent[1])
    axes.yaxis.get_major_locator().set_params(nbins=max(1, round(3.0 * inches)))
    axes.set(xlabel=f"{axis_name(frame[across])} (m)", ylabel=f"{axis_name(frame[upright])} (m)", aspect="equal")
    axes.set_title(name)


def _draw_associations(axes: Any, pose: Pose, onto: _Array) -> None:
    """Draw lines between matched points, those that the transform explains over the others."""
    inlier = np.zeros(len(pose.associations), dtype=np.bool_)
    inlier[pose.inliers] = True
    for chosen, colour, opacity in ((~inlier, palette.OUTLIER, 0.15), (inlier, palette.INLIER, 0.5)):
        pairs = thin(pose.associations[chosen], _MOST_LINES)
        ends = np.stack((pose.source_points[pairs[:, 0]] @ onto, pose.target_points[pairs[:, 1]] @ onto), axis=1)
        broken = np.concatenate((ends, np.full((len(ends), 1, 2), np.nan)), axis=1).reshape(-1, 2)
        axes.plot(*broken.T, color=colour, alpha=opacity, linewidth=0.5, rasterized=True)


def _draw_legend(figure: Any) -> None:
    lines = require("matplotlib.lines", "a figure")
    marks = {"source": palette.SOURCE, "target": palette.TARGET}
    strokes = {"matches that fit": palette.INLIER, "that do not": palette.OUTLIER}
    handles = [
        lines.Line2D([], [], color=colour, marker="o", ls="", ms=4, label=name) for name, colour in marks.items()
    ]
    handles += [lines.Line2D([], [], color=colour, label=name) for name, colour in strokes.items()]
    figure.legend(handles=handles, loc="outside lower center", ncols=4, frameon=False)
