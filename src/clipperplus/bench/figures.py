"""The paper's figures for print: colours that colour-blind readers tell apart, lines and marks that survive in grey."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from ..viz.canvas import drawing, new_figure, save_figure
from . import bunny, dimacs, outliers, scans
from .match_problems import BUNNY
from .measuring import LABELS, Row, ratio
from .published import TimesAndRatios
from .rivals import RIVALS

__all__ = ["available", "bunny_figures", "dimacs_figures", "outliers_figures", "scans_figures"]

# The palette of Okabe and Ito without its yellow; every method also has a mark and a dash pattern of its own.
_STYLES: dict[str, dict[str, Any]] = {
    "pelillo": {"color": "#56B4E9", "marker": "v", "linestyle": (0, (1, 1))},
    "ding": {"color": "#CC79A7", "marker": "^", "linestyle": (0, (3, 1, 1, 1))},
    "belachew": {"color": "#009E73", "marker": "s", "linestyle": (0, (5, 2))},
    "clipper": {"color": "#E69F00", "marker": "D", "linestyle": (0, (3, 2))},
    "greedy": {"color": "#7F7F7F", "marker": "x", "linestyle": (0, (4, 1, 1, 1, 1, 1))},
    "relaxation": {"color": "#0072B2", "marker": "P", "linestyle": (0, (6, 1))},
    "clipper+": {"color": "#D55E00", "marker": "o", "linestyle": "-"},
    "auto": {"color": "#000000", "marker": "*", "linestyle": "-"},
    "exact": {"color": "#000000", "marker": "+", "linestyle": ":"},
}

# Methods of one family share a colour.
_RIVAL_STYLES: dict[str, dict[str, Any]] = {
    "ransac": {"color": "#56B4E9", "marker": "v", "linestyle": "-"},
    "open3d": {"color": "#56B4E9", "marker": "^", "linestyle": (0, (1, 1))},
    "gc-ransac": {"color": "#0072B2", "marker": "v", "linestyle": (0, (5, 2))},
    "magsac++": {"color": "#0072B2", "marker": "^", "linestyle": (0, (3, 1, 1, 1))},
    "superansac": {"color": "#0072B2", "marker": "<", "linestyle": "-"},
    "gnc-tls": {"color": "#CC79A7", "marker": "s", "linestyle": "-"},
    "gnc-gm": {"color": "#CC79A7", "marker": "D", "linestyle": (0, (1, 1))},
    "decoupled": {"color": "#7F7F7F", "marker": "s", "linestyle": "-"},
    "kiss-matcher": {"color": "#7F7F7F", "marker": "D", "linestyle": (0, (5, 2))},
    "spectral": {"color": "#009E73", "marker": "x", "linestyle": "-"},
    "mac": {"color": "#009E73", "marker": "P", "linestyle": (0, (5, 2))},
    "clipper": {"color": "#E69F00", "marker": "D", "linestyle": (0, (3, 2))},
    "clipper+": {"color": "#D55E00", "marker": "o", "linestyle": "-"},
    "clique": {"color": "#000000", "marker": "+", "linestyle": ":"},
    outliers.OURS: {"color": "#000000", "marker": "*", "linestyle": "-"},
}


_CLOSEUP = 0.993
"""Where the magnified part of the ratios begins."""
_WIDE = (6.5, 4.0)


def available() -> bool:
    """Whether matplotlib is installed."""
    return importlib.util.find_spec("matplotlib") is not None


def bunny_figures(rows: list[Row], methods: list[str], folder: Path) -> list[Path]:
    """Draw the paper's Figures 4, 5 and 6."""
    levels = bunny.levels(rows, methods)
    outliers = [level.outliers for level in levels]
    written: list[Path] = []
    with _figure(folder, "bunny_ratio_distribution", written) as axes:
        _draw_distributions(axes, rows, methods)
    with _figure(folder, "bunny_ratio", written) as axes:
        curves = {method: [level.ratio[method] for level in levels] for method in methods}
        _draw_lines(axes, outliers, curves)
        axes.set_ylabel("mean accuracy ratio r")
        _draw_closeup(axes, outliers, curves)
    with _figure(folder, "bunny_time", written) as axes:
        _draw_lines(axes, outliers, {method: [level.ms[method] for level in levels] for method in methods})
        axes.set_ylabel("mean time, ms")
        axes.set_yscale("log")
    return written


def _draw_lines(axes: Any, outliers: list[int], curves: dict[str, list[float]]) -> None:
    """Draw a curve for each method, its marks where the others have none."""
    every = max(1, len(outliers) // 8)
    for k, (method, curve) in enumerate(curves.items()):
        axes.plot(outliers, curve, label=LABELS[method], markevery=(k % every, every), **_style(method))
    axes.set_xlabel("outliers, %")
    axes.set_xlim(0, 100)
    _legend_above(axes)


def _draw_closeup(axes: Any, outliers: list[int], curves: dict[str, list[float]]) -> None:
    """Show the highest part again, magnified: most curves lie there."""
    low = axes.get_ylim()[0]
    if low > _CLOSEUP:
        return
    axes.set_ylim(low - 1.2 * (1.0 - low), None)  # room below the curves
    inset = axes.inset_axes((0.1, 0.08, 0.72, 0.42))
    for method, curve in curves.items():
        style = {**_style(method), "marker": "none", "linewidth": 1.0}
        inset.plot(outliers, curve, **style)
    inset.grid(axis="y")
    inset.set_xlim(0, 100)
    inset.set_ylim(_CLOSEUP, 1.0 + 0.05 * (1.0 - _CLOSEUP))
    inset.tick_params(labelsize=7)


def _draw_distributions(axes: Any, rows: list[Row], methods: list[str]) -> None:
    """One point for each trial, and how many of them are at 1."""
    random = np.random.default_rng(0)
    ratios = {method: np.array([ratio(row, method) for row in rows]) for method in methods}
    for place, (method, values) in enumerate(ratios.items()):
        across = place + random.uniform(-0.36, 0.36, size=values.size)
        axes.plot(across, values, ".", markersize=2, alpha=0.5, color=_STYLES[method]["color"], rasterized=True)
        axes.text(place, 1.02, f"{np.mean(values == 1.0):.1%}", ha="center", va="bottom", fontsize=7.5)
    axes.text(-0.6, 1.065, "maximum found in", fontsize=7.5, va="bottom")
    axes.set_ylim(None, 1.1)
    lowest = axes.get_ylim()[0]
    axes.set_yticks([tick for tick in np.arange(0.0, 1.05, 0.1) if tick >= lowest])
    axes.set_xticks(range(len(methods)), [LABELS[method] for method in methods], rotation=30, ha="right")
    axes.set_ylabel("accuracy ratio r")


def dimacs_figures(rows: list[Row], methods: list[str], folder: Path) -> list[Path]:
    """Draw the ratios of Table I."""
    written: list[Path] = []
    names = [row["graph"] for row in rows]
    with _figure(folder, "dimacs_ratio", written, size=(max(5.0, 0.42 * len(rows)), 3.4)) as axes:
        measured = {method: [ratio(row, method) for row in rows] for method in methods}
        _draw_beside_papers(axes, names, measured, [dimacs.PAPER.get(name, {}) for name in names], "ratio")
        axes.set_ylabel("accuracy ratio r")
    return written


def scans_figures(
    rows: list[Row], methods: list[str], folder: Path, of_scene: Mapping[str, scans.Published] = scans.PAPER
) -> list[Path]:
    """Draw the ratios and the times of Table II."""
    written: list[Path] = []
    results = [result for result in scans.results(rows, methods) if result.counted]
    if not results:
        return written
    names = [result.name for result in results]
    papers = [of_scene[result.scene].methods if result.scene in of_scene else {} for result in results]
    for what, label in (("ratio", "mean accuracy ratio r"), ("ms", "mean time, ms")):
        name = "scans_time" if what == "ms" else "scans_ratio"
        with _figure(folder, name, written, size=(max(5.0, 1.2 * len(results)), 4.0)) as axes:
            measured = {method: [result.methods[method][what] for result in results] for method in methods}
            _draw_beside_papers(axes, names, measured, papers, what)
            axes.set_ylabel(label)
            if what == "ms":
                axes.set_yscale("log")
    return written


def outliers_figures(rows: list[Row], methods: list[str], folder: Path) -> list[Path]:
    """Draw success and time over outliers, of the bunny and of real matches."""
    written: list[Path] = []
    found = outliers.levels(rows, methods)
    for name, real in (("outliers", False), ("outliers_real", True)):
        shown = [level for level in found if (level.kind != BUNNY) is real]
        if not shown:
            continue
        with _figure(folder, f"{name}_success", written, size=_WIDE) as axes:
            _draw_levels(axes, shown, {m: [level.right[m] / level.problems for level in shown] for m in methods})
            axes.set_ylabel("share that is right")
        with _figure(folder, f"{name}_time", written, size=_WIDE) as axes:
            _draw_levels(axes, shown, {m: [level.ms[m] for level in shown] for m in methods})
            axes.set_ylabel("median time of one core, ms")
            axes.set_yscale("log")
    return written


def _draw_levels(axes: Any, shown: list[outliers.Level], curves: dict[str, list[float]]) -> None:
    """Draw a curve for each method over levels that are as far apart as each other."""
    for method, curve in curves.items():
        style = {**_RIVAL_STYLES[method], "markersize": 5, "linewidth": 1.2}
        axes.plot(range(len(shown)), curve, label=RIVALS[method].label, **style)
    names = [level.label if level.kind == BUNNY else level.name for level in shown]
    axes.set_xticks(range(len(shown)), names, rotation=30, ha="right", parse_math=False)
    _legend_above(axes)


def _draw_beside_papers(
    axes: Any, names: list[str], measured: dict[str, list[float]], papers: list[TimesAndRatios], what: str
) -> None:
    """Draw what was measured as marks, what the paper has as rings of the same colour."""
    spread = np.linspace(-0.33, 0.33, len(measured))
    for shift, (method, values) in zip(spread, measured.items(), strict=True):
        style = {**_style(method), "linestyle": "none"}
        places = np.arange(len(names)) + shift
        axes.plot(places, values, label=LABELS[method], **style)
        rings = [(place, paper[method][what]) for place, paper in zip(places, papers, strict=True) if method in paper]
        if rings:
            axes.plot(*zip(*rings, strict=True), "o", ms=8, mfc="none", mec=style["color"], mew=0.8)
    if any(papers):
        axes.plot([], [], "o", ms=8, mfc="none", mec="0.3", mew=0.8, label="ring: the paper's")
    axes.set_xticks(range(len(names)), names, rotation=40, ha="right", parse_math=False)
    _legend_above(axes)


def _legend_above(axes: Any) -> None:
    axes.legend(ncols=4, loc="lower center", bbox_to_anchor=(0.5, 1.0), frameon=False)


def _style(method: str) -> dict[str, Any]:
    return {**_STYLES[method], "markersize": 5, "linewidth": 1.3}


@contextmanager
def _figure(folder: Path, name: str, written: list[Path], size: tuple[float, float] = (5.0, 3.2)) -> Iterator[Any]:
    """Give axes to draw on; write them as PNG and SVG, the same bytes for the same numbers."""
    with drawing():
        figure = new_figure(size)
        axes = figure.subplots()
        axes.grid(axis="y")
        yield axes
    for ending in ("png", "svg"):
        path = folder / f"{name}.{ending}"
        save_figure(figure, path)
        written.append(path)
