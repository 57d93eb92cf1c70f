"""Draw the pictures of the pages: ``python docs/pictures.py [FOLDER]`` writes them to docs/images, or elsewhere.

The same versions of numpy, matplotlib and Pillow write the same bytes every time.

All of them show what the package finds on the two scans of ``clipperplus demo``; nothing is drawn by hand.
"""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from demo_scene import Scene
from matplotlib.collections import LineCollection
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from PIL import Image

import clipperplus as cp
from clipperplus.viz.palette import EDGE, INLIER, OUTLIER, SOURCE, TARGET

DPI = 125
INK = "#3A3A3A"
"""Of words."""
SAMPLE = 9
"""Of so many matches one is drawn."""


def main() -> None:
    """Draw all pictures."""
    matplotlib.rcParams.update(
        {
            "font.family": "DejaVu Sans",
            "font.size": 9.0,
            "axes.titlesize": 10.0,
            "text.color": INK,
            "axes.labelcolor": INK,
            "axes.edgecolor": EDGE,
            "xtick.color": INK,
            "ytick.color": INK,
        }
    )
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent / "images"
    folder.mkdir(exist_ok=True)
    scene = Scene.demo()
    for draw in (
        draw_scans,
        draw_matches,
        draw_agreement,
        draw_graph,
        draw_proof,
        draw_hypotheses,
        draw_free_space,
        draw_aligned,
    ):
        save(folder / f"{draw.__name__.removeprefix('draw_')}.png", draw(scene))


def save(path: Path, figure: Figure) -> None:
    """Write a picture with a palette, which is small, and without the time of day."""
    raw = io.BytesIO()
    figure.savefig(raw, dpi=DPI, facecolor="white", metadata={"Software": None})
    small = (
        Image.open(raw)
        .convert("RGB")
        .quantize(24 if path.stem == "graph" else 256, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    )
    small.save(path, optimize=True)
    print(f"{path.name:<16} {path.stat().st_size / 1000:.0f} kB")


def clear(axes: Any, title: str = "") -> None:
    """Leave only the drawing."""
    axes.set(aspect="equal", xticks=(), yticks=())
    axes.set_title(title, color=INK)
    for spine in axes.spines.values():
        spine.set_visible(False)


def dots(axes: Any, places: Any, colour: str, size: float = 2.0, alpha: float = 0.6) -> None:
    """Draw points that are seen from above."""
    axes.scatter(*places.T, s=size, color=colour, alpha=alpha, linewidths=0)


def sensor(axes: Any, place: Any, colour: str, words: str = "") -> None:
    """Draw where a sensor was."""
    x, y = place
    axes.plot(x, y, marker="^", markersize=9, color=colour, markeredgecolor="white")
    if words:
        axes.text(x, y - 0.2, words, ha="center", va="top", color=colour, fontsize=8)


def scale(axes: Any, place: tuple[float, float]) -> None:
    """Draw a metre."""
    x, y = place
    axes.plot((x, x + 1.0), (y, y), color=INK, linewidth=1.5, solid_capstyle="butt")
    axes.text(x + 0.5, y + 0.08, "1 m", ha="center", va="bottom", fontsize=8)


def draw_scans(scene: Scene) -> Figure:
    """Both scans, each in its own frame."""
    figure = Figure(figsize=(9.0, 3.7), layout="constrained")
    panels = figure.subplots(1, 2, sharex=True, sharey=True)
    for axes, view, points, colour, title in (
        (panels[0], scene.source_view, scene.fine[0], SOURCE, f"source: {len(scene.scans.source)} points, from above"),
        (panels[1], scene.target_view, scene.fine[1], TARGET, f"target: {len(scene.scans.target)} points"),
    ):
        clear(axes, title)
        dots(axes, view.plan(points), colour)
        sensor(axes, (0.0, 0.0), colour, "sensor")
    scale(axes, (1.8, 0.0))
    axes.set_ylim(bottom=-0.6)
    return figure


def draw_matches(scene: Scene) -> Figure:
    """Side by side, with some matches."""
    figure = Figure(figsize=(9.0, 3.4), layout="constrained")
    axes = figure.subplots()
    aside = np.array([7.6, 0.0])
    right = scene.is_right()
    first, second = scene.matched
    dots(axes, scene.source_view.plan(scene.fine[0]), SOURCE, alpha=0.45)
    dots(axes, scene.target_view.plan(scene.fine[1]) + aside, TARGET, alpha=0.45)
    drawn = np.arange(0, len(right), SAMPLE)
    ends = np.stack((scene.source_view.plan(first), scene.target_view.plan(second) + aside), axis=1)
    for chosen, colour, alpha in ((drawn[~right[drawn]], OUTLIER, 0.45), (drawn[right[drawn]], INLIER, 0.95)):
        axes.add_collection(LineCollection(list(ends[chosen]), colors=colour, linewidths=0.9, alpha=alpha))
        x, y = ends[chosen].reshape(-1, 2).T
        axes.scatter(x, y, s=5, color=colour, zorder=3, linewidths=0)
    clear(axes, f"{len(right)} matches, one in {SAMPLE} drawn: {right.sum()} are right (green), the others wrong (red)")
    return figure


def draw_agreement(scene: Scene) -> Figure:
    """Two matches that agree and one that does not, with the distances that say so."""
    first, second = scene.matched
    places = scene.source_view.plan(first), scene.target_view.plan(second)
    one, two, three = _telling_matches(scene, places)
    figure = Figure(figsize=(9.0, 3.9), layout="constrained")
    panels = figure.subplots(1, 2, sharex=True, sharey=True)
    for axes, points, place, cloud, colour, letter in (
        (panels[0], first, places[0], scene.source_view.plan(scene.fine[0]), SOURCE, "a"),
        (panels[1], second, places[1], scene.target_view.plan(scene.fine[1]), TARGET, "b"),
    ):
        clear(axes, "in the source" if letter == "a" else "in the target")
        dots(axes, cloud, colour, alpha=0.3)
        for left, other in ((one, three), (two, three), (one, two)):
            agrees = other == two
            axes.plot(
                *place[[left, other]].T,
                color=INLIER if agrees else OUTLIER,
                linewidth=1.8,
                linestyle="-" if agrees else "--",
            )
            axes.text(
                *place[[left, other]].mean(axis=0),
                f"{np.linalg.norm(points[left] - points[other]):.2f} m",
                color=INLIER if agrees else OUTLIER,
                ha="center",
                va="center",
                fontweight="bold",
                bbox={"boxstyle": "round,pad=0.2", "facecolor": "white", "edgecolor": "none", "alpha": 0.9},
            )
        for number, k in enumerate((one, two, three)):
            axes.plot(*place[k], "o", markersize=16, color=(INLIER, INLIER, OUTLIER)[number], markeredgecolor="white")
            axes.text(*place[k], letter + "₁₂₃"[number], color="white", ha="center", va="center", fontsize=9)
    figure.suptitle(
        "Matches 1 and 2 are as far from each other in both scans: they agree. Match 3 agrees with neither.",
        fontsize=10,
    )
    return figure


def _telling_matches(scene: Scene, places: tuple[Any, Any]) -> tuple[int, int, int]:
    """Return two matches of the clique and a wrong one that makes a wide triangle with them in both scans."""
    first, second = scene.matched
    level = scene.source_view.between(first) & scene.target_view.between(second)
    clique = np.array([k for k in scene.pose.clique.vertices if level[k]])
    apart = np.linalg.norm(places[0][clique][:, None] - places[0][clique][None], axis=2)
    i, j = np.unravel_index(np.argmin(np.abs(apart - 2.4)), apart.shape)
    one, two = int(clique[min(i, j)]), int(clique[max(i, j)])
    wrong = np.flatnonzero(level & ~scene.is_right())

    def area(place: Any) -> Any:
        u, v = place[two] - place[one], place[wrong] - place[one]
        return np.abs(u[0] * v[:, 1] - u[1] * v[:, 0]) / 2.0

    def misfit(other: int) -> Any:
        lengths = (np.linalg.norm(points[wrong] - points[other], axis=1) for points in (first, second))
        return np.abs(np.subtract(*lengths))

    telling = np.minimum(misfit(one), misfit(two)) > 0.5
    return one, two, int(wrong[np.argmax(np.where(telling, np.minimum(area(places[0]), area(places[1])), 0.0))])


def draw_graph(scene: Scene) -> Figure:
    """The adjacency matrix, as it comes and with the clique first."""
    pose = scene.pose
    joined = np.asarray(pose.graph.adjacency(), dtype=np.bool_)
    clique = pose.clique.vertices
    order = np.lexsort((-joined.sum(axis=1), -joined[:, clique].sum(axis=1)))
    inside = np.isin(order, clique)
    order = np.concatenate((order[inside], order[~inside]))
    figure = Figure(figsize=(9.0, 4.7), layout="constrained")
    colours = ListedColormap(("#FFFFFF", "#8A8A8A", INLIER))
    panels = figure.subplots(1, 2)
    for axes, rows, title in (
        (panels[0], np.arange(len(joined)), "in the order of the matches"),
        (panels[1], order, "the largest clique first"),
    ):
        cells = joined[np.ix_(rows, rows)].astype(int)
        if rows is order:
            cells[: len(clique), : len(clique)] = 2
        axes.imshow(cells, cmap=colours, vmin=0, vmax=2, interpolation="antialiased", interpolation_stage="rgba")
        axes.set(title=title, xticks=(), yticks=(), xlabel="matches")
    panels[0].set_ylabel("matches")
    axes.annotate(
        f"{len(clique)} matches that all agree",
        (len(clique), len(clique) / 2.0),
        xytext=(330, 60),
        color=INLIER,
        fontweight="bold",
        arrowprops={"arrowstyle": "-", "color": INLIER},
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 2.0},
    )
    figure.suptitle(
        f"{len(joined)} matches; a dot for every two that agree, {pose.graph.num_edges} pairs of them", fontsize=10
    )
    return figure


def draw_proof(scene: Scene) -> Figure:
    """Clique and bound, improvement by improvement, for the scans and for a graph without structure."""
    upper = np.triu(np.random.default_rng(0).random((150, 150)) < 0.9, k=1)
    hard = cp.Graph.from_adjacency(upper | upper.T)
    figure = Figure(figsize=(9.0, 3.0), layout="constrained")
    panels = figure.subplots(1, 2, width_ratios=(2, 3))
    for axes, graph, result, title in (
        (panels[0], scene.pose.graph, scene.pose.clique, "the two scans"),
        (panels[1], hard, cp.find_clique(hard, method="exact"), "150 vertices, joined at random"),
    ):
        bounds = [graph.num_vertices, *(step.upper_bound for step in result.history)]
        sizes = [0, *(step.size for step in result.history)]
        steps = np.arange(len(sizes))
        axes.fill_between(steps, sizes, bounds, step="post", color=EDGE, alpha=0.18, linewidth=0)
        axes.step(steps, bounds, where="post", color=OUTLIER, linewidth=1.8, label="upper bound")
        axes.step(steps, sizes, where="post", color=INLIER, linewidth=1.8, label="best clique")
        axes.plot(steps[-1], sizes[-1], "o", color=INLIER, markersize=7)
        axes.annotate(
            f"{sizes[-1]}", (steps[-1], sizes[-1]), (0, 7), textcoords="offset points", color=INLIER, ha="center"
        )
        axes.set_title(f"{title}: proven by {'the ' * (axes is panels[0])}{result.certificate.value}", fontsize=9)
        axes.set(xlabel="improvement", ylabel="vertices", ylim=(0.0, 1.06 * graph.num_vertices))
        axes.set_xticks(steps if len(steps) < 8 else steps[::5])
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
    axes.legend(frameon=False, loc="upper right")
    return figure


def draw_hypotheses(scene: Scene) -> Figure:
    """The answer and three other motions, from above and from the side, with what was found about each."""
    pose, view = scene.pose, scene.target_view
    figure = Figure(figsize=(9.0, 3.9))
    shown = [(scene.motion, 1.0, pose.overlap, pose.num_inliers)]
    shown += [(other.T_target_source, other.score, other.overlap, other.support) for other in pose.alternatives[:3]]
    panels = figure.subplots(2, 4, sharex=True, height_ratios=(3, 2))
    figure.subplots_adjust(left=0.04, right=0.99, bottom=0.2, top=0.94, wspace=0.03, hspace=0.0)
    for k, (column, (motion, score, overlap, support)) in enumerate(zip(panels.T, shown, strict=True)):
        clouds = (pose.target_points, TARGET), (cp.apply_transform(motion, pose.source_points), SOURCE)
        for axes, side in zip(column, ("from above", "from the side"), strict=True):
            clear(axes)
            if side == "from above":
                dots(axes, view.plan(scene.fine[1]), TARGET, size=1.3)
                dots(axes, view.plan(cp.apply_transform(motion, scene.fine[0])), SOURCE, size=1.3)
            else:
                for points, colour in clouds:
                    dots(axes, points @ view.axes[[0, 2]].T, colour, size=1.3, alpha=0.4)
            if k == 0:
                axes.set_ylabel(side, fontsize=8)
        title = "the answer" if k == 0 else f"alternative {k}"
        column[0].set_title(title, color=INLIER if k == 0 else OUTLIER, fontsize=9)
        through = scene.in_free_space(motion).mean()
        words = f"score {score:.2f}\nexplains {support} matches\noverlap {overlap:.0%}\nin free space {through:.1%}"
        axes.text(0.5, -0.06, words, transform=axes.transAxes, ha="center", va="top", fontsize=8, linespacing=1.35)
    for row in panels:
        limits = np.array([axes.get_ylim() for axes in row])
        for axes in row:
            axes.set_ylim(limits[:, 0].min(), limits[:, 1].max())
    return figure


def draw_free_space(scene: Scene) -> Figure:
    """What the target's sensor looked through, and source points in it, under the right motion and a wrong one."""
    view, points = scene.target_view, scene.pose.source_points
    up = scene.source_view.axes[2]
    level = [  # seen from above, a tilt would explain nothing
        other.T_target_source
        for other in scene.pose.alternatives
        if (other.T_target_source[:3, :3] @ up) @ view.axes[2] > np.cos(np.radians(4.0))
    ]
    wrong = max(level, key=lambda motion: scene.in_free_space(motion).sum())
    seen = view.plan(scene.fine[1])
    bearing, reach = np.arctan2(*seen.T), np.linalg.norm(seen, axis=1)
    sectors = np.digitize(bearing, np.linspace(bearing.min(), bearing.max(), 90))
    ends = [seen[sectors == k][np.argmax(reach[sectors == k])] for k in np.unique(sectors)]
    figure = Figure(figsize=(9.0, 4.0), layout="constrained")
    panels = figure.subplots(1, 2, sharex=True, sharey=True)
    for axes, motion, title in ((panels[0], scene.motion, "the right motion"), (panels[1], wrong, "a wrong motion")):
        axes.fill(*np.array([(0.0, 0.0), *ends]).T, color=TARGET, alpha=0.06, linewidth=0)
        axes.add_collection(
            LineCollection([[(0.0, 0.0), end] for end in ends], colors=TARGET, linewidths=0.4, alpha=0.3)
        )
        dots(axes, seen, TARGET, size=3.0, alpha=0.8)
        moved, through = cp.apply_transform(motion, points), scene.in_free_space(motion)
        shown = scene.source_view.between(points)
        dots(axes, view.plan(moved[shown & ~through]), SOURCE, size=5.0, alpha=0.7)
        axes.scatter(*view.plan(moved[shown & through]).T, s=13, color=OUTLIER, linewidths=0, zorder=3)
        sensor(axes, (0.0, 0.0), TARGET, "the target's sensor")
        clear(axes, f"{title}: {through.mean():.1%} of the source in free space")
    axes.set_ylim(bottom=-0.6)
    return figure


def draw_aligned(scene: Scene) -> Figure:
    """Before and after."""
    figure = Figure(figsize=(9.0, 3.9), layout="constrained")
    view, pose = scene.target_view, scene.pose
    panels = figure.subplots(1, 2, sharex=True, sharey=True)
    for axes, motion, title in (
        (panels[0], np.eye(4), "before"),
        (panels[1], scene.motion, f"after: overlap {pose.overlap:.0%}, confidence {pose.confidence:.2f}"),
    ):
        clear(axes, title)
        dots(axes, view.plan(scene.fine[1]), TARGET, size=2.4)
        dots(axes, view.plan(cp.apply_transform(motion, scene.fine[0])), SOURCE, size=2.4)
        sensor(axes, (0.0, 0.0), TARGET)
        sensor(axes, view.plan(motion[:3, 3]), SOURCE)
    scale(axes, (1.9, -0.1))
    return figure


if __name__ == "__main__":
    main()
