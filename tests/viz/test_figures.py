"""Pictures of graphs and poses: what they show is there, and nothing else is touched."""

from __future__ import annotations

import io
import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import matplotlib.image
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from motions import planted
from simulated import registered_room, room
from strategies import graphs, random_graph

import clipperplus as cp
from clipperplus.viz import palette
from clipperplus.viz.adjacency import adjacency_picture, order_by_clique, order_by_core
from clipperplus.viz.framing import axis_name, frame_of, middle_and_size
from clipperplus.viz.layout import spring_layout
from clipperplus.viz.png import encode_png
from clipperplus.viz.sampling import thin

GREEN, WHITE = palette.rgb(palette.INLIER), (255, 255, 255)


@settings(max_examples=60)
@given(graph=graphs())
def test_a_small_graph_is_drawn_pair_by_pair(graph: cp.Graph) -> None:
    clique = cp.find_clique(graph).vertices
    order = order_by_core(graph)
    picture = adjacency_picture(graph, order, clique, most=1000)
    if graph.num_vertices == 0:
        assert picture.shape == (1, 1, 3)
        return
    joined = graph.adjacency()[np.ix_(order, order)]
    inside = np.isin(order, clique)
    green = np.outer(inside, inside)
    assert ((picture == GREEN).all(axis=2) == green).all()
    assert ((picture == WHITE).all(axis=2) == (~joined & ~green)).all()
    assert (picture[joined & ~green] == palette.rgb(palette.EDGE)).all()


def test_a_pixel_of_a_large_graph_is_as_dark_as_its_share_of_edges() -> None:
    graph = random_graph(301, 0.4, 3)
    order = np.random.default_rng(0).permutation(301)
    picture = adjacency_picture(graph, order, np.empty(0, dtype=np.int64), most=10)
    joined = graph.adjacency()[np.ix_(order, order)]
    cell = np.arange(301) * 10 // 301
    for i, j in ((0, 0), (2, 7), (9, 9)):
        share = joined[np.ix_(cell == i, cell == j)].mean()
        darkness = (255.0 - picture[i, j]) / (255.0 - np.array(palette.rgb(palette.EDGE)))
        assert np.abs((darkness - 0.3) / 0.7 - share).max() < 0.01
    assert picture.shape == (10, 10, 3)


@settings(max_examples=60)
@given(graph=graphs())
def test_orders_are_permutations_by_what_they_say(graph: cp.Graph) -> None:
    n = graph.num_vertices
    clique = cp.find_clique(graph).vertices
    by_core, by_clique = order_by_core(graph), order_by_clique(graph, clique)
    assert sorted(by_core) == sorted(by_clique) == list(range(n))
    assert (np.diff(graph.core_numbers()[by_core]) <= 0).all()
    assert sorted(by_clique[: len(clique)]) == clique.tolist()
    joined = graph.adjacency()[:, clique].sum(axis=1)[by_clique[len(clique) :]] if n else np.empty(0)
    assert (np.diff(joined) <= 0).all()


@settings(max_examples=40, deadline=None)
@given(graph=graphs())
def test_a_spring_layout_lies_in_the_unit_disc_and_is_always_the_same(graph: cp.Graph) -> None:
    clique = cp.find_clique(graph).vertices
    places = spring_layout(graph, clique)
    assert places.shape == (graph.num_vertices, 2)
    assert (np.hypot(*places.T) < 1.0 + 1e-9).all()
    assert np.array_equal(places, spring_layout(graph, clique))


def test_springs_pull_two_groups_apart() -> None:
    group = np.arange(30) // 15
    graph = cp.Graph.from_edges(30, [(i, j) for i in range(30) for j in range(i) if group[i] == group[j]])
    places = spring_layout(graph, np.arange(15))
    middles = np.array([places[group == k].mean(axis=0) for k in (0, 1)])
    nearest = np.linalg.norm(places[:, None] - middles[None], axis=2).argmin(axis=1)
    assert (nearest == group).all()


@given(height=st.integers(1, 40), width=st.integers(1, 40), seed=st.integers(0, 99))
def test_png_files_hold_the_picture(height: int, width: int, seed: int) -> None:
    picture = np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8)
    read = matplotlib.image.imread(io.BytesIO(encode_png(picture)), format="png")
    assert np.array_equal(np.round(255.0 * read[..., :3]).astype(np.uint8), picture)


def test_thinning_keeps_order_and_takes_from_everywhere() -> None:
    rows = np.arange(100_000)
    kept = thin(rows, 1000)
    assert len(kept) == 1000
    assert (np.diff(kept) > 0).all()
    assert np.histogram(kept, bins=10, range=(0, 100_000))[0].min() > 60
    assert len(np.unique(np.diff(kept))) > 1, "equal steps would show stripes"
    assert np.array_equal(kept, thin(rows, 1000))
    assert thin(rows, 100_000) is rows


@pytest.mark.parametrize("camera", [False, True])
@pytest.mark.parametrize(("extents", "right"), [((5, 3, 2), "x"), ((3, 5, 2), "y"), ((1, 5, 9), "y")])
def test_a_cloud_is_held_upright(extents: tuple[float, float, float], right: str, camera: bool) -> None:
    points = np.random.default_rng(0).uniform(-0.5, 0.5, (5000, 3)) * extents
    frame = frame_of(points + np.array([0.0, 0.0, 12.0]) if camera else points)
    assert (axis_name(frame.right), axis_name(frame.up)) == (("x", "−y") if camera else (right, "z"))
    assert np.allclose(np.cross(frame.right, frame.depth), frame.up)


def test_a_stray_point_does_not_count() -> None:
    points = np.random.default_rng(0).uniform(0.0, 1.0, (5000, 3))
    points[7] = 1e6
    middle, size = middle_and_size(points)
    assert np.allclose(middle, 0.5, atol=0.02)
    assert (size < 1.0).all()


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_a_clique_is_drawn_and_written(tmp_path: Path, ending: str) -> None:
    graph = random_graph(120, 0.7, 2)
    result = cp.find_clique(graph)
    path = tmp_path / f"clique.{ending}"
    figure = result.plot(graph, path)
    written = path.read_bytes()
    assert len(written) > 5000
    result.plot(graph, path)
    assert path.read_bytes() == written
    matrix, course = figure.axes
    assert f"clique of {result.size}" in matrix.get_title()
    assert "proven by" in course.get_title()
    bounds, sizes = course.get_lines()
    assert bounds.get_ydata()[-1] == sizes.get_ydata()[-1] == result.size
    assert list(sizes.get_ydata()[:-1]) == [step.size for step in result.history]
    assert np.allclose(sizes.get_xdata()[:-1], [1e3 * step.seconds for step in result.history])


def test_an_unproven_clique_says_so() -> None:
    graph = random_graph(200, 0.9, 1)
    result = cp.find_clique(graph, method="greedy")
    assert not result.optimal
    course = result.plot(graph).axes[1]
    assert f"not proven: at most {result.upper_bound}" in course.get_title()


@pytest.mark.parametrize("n", [0, 1, 2])
def test_the_smallest_graphs_are_drawn(n: int) -> None:
    graph = cp.Graph.from_edges(n, np.empty((0, 2), dtype=np.int64))
    assert len(cp.find_clique(graph).plot(graph).axes) == 2


def test_a_graph_that_is_not_the_results_is_refused(tmp_path: Path) -> None:
    graph = random_graph(50, 0.8, 1)
    result = cp.find_clique(graph)
    with pytest.raises(
        cp.GraphError, match=r"graph: the .* vertices are no clique.*expected the graph that the result"
    ):
        result.plot(graph.complement())
    with pytest.raises(cp.GraphError, match=r"graph: vertex .* is out of range"):
        result.plot(cp.Graph.from_edges(2, [(0, 1)]))
    with pytest.raises(cp.GraphError, match=r"graph: expected a clipperplus\.Graph, got list"):
        result.plot([])
    with pytest.raises(cp.FileFormatError, match=r"cannot write this kind of figure; known endings are .png .svg .pdf"):
        result.plot(graph, tmp_path / "figure.bmp")
    assert not list(tmp_path.iterdir())


def colours_drawn(figure: Any) -> set[str]:
    return {line.get_color() for axes in figure.axes for line in axes.get_lines() if len(line.get_xdata())}


def test_a_pose_is_drawn_from_three_sides_before_and_after(tmp_path: Path) -> None:
    figure = registered_room().plot(tmp_path / "pose.png")
    assert len(figure.axes) == 6
    assert colours_drawn(figure) == {palette.INLIER, palette.OUTLIER}
    picture = matplotlib.image.imread(tmp_path / "pose.png")[..., :3]
    for colour in (palette.SOURCE, palette.TARGET, palette.INLIER):
        near = np.abs(picture - np.array(palette.rgb(colour)) / 255.0).max(axis=2) < 0.2
        assert near.sum() > 500, colour
    assert len(registered_room().plot(source=room().source, target=room().target).axes) == 6


def test_poses_without_transform_and_of_matched_points_are_drawn(tmp_path: Path) -> None:
    source, target, _ = planted(20, 30)
    assert len(cp.solve(source, target, epsilon=0.02).plot().axes) == 6
    nothing = cp.register(np.empty((0, 3)), room().target)
    assert nothing.T_target_source is None
    assert len(nothing.plot(tmp_path / "nothing.svg").axes) == 3
    assert len(cp.register(np.empty((0, 3)), np.empty((0, 3)), voxel_size=0.1).plot().axes) == 3


def test_a_style_of_the_user_changes_nothing(tmp_path: Path) -> None:
    with matplotlib.rc_context({"axes.facecolor": "black", "lines.linewidth": 9.0}):
        registered_room().plot(tmp_path / "styled.svg")
    registered_room().plot(tmp_path / "plain.svg")
    assert (tmp_path / "styled.svg").read_bytes() == (tmp_path / "plain.svg").read_bytes()


def test_drawing_leaves_the_settings_of_the_user_alone() -> None:
    matplotlib.rcParams["font.size"] = 13.0
    before = dict(matplotlib.rcParams)
    registered_room().plot()
    assert dict(matplotlib.rcParams) == before
    matplotlib.rcdefaults()


def test_no_picture_package_is_imported_before_a_picture_is_asked_for() -> None:
    program = (
        "import sys, clipperplus, clipperplus.cli; "
        "print([name for name in ('matplotlib', 'plotly', 'viser', 'playwright') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_threads_that_draw_at_once_leave_settings_and_filters_as_they_were() -> None:
    graph = random_graph(30, 0.5, 0)
    result = cp.find_clique(graph)
    before = dict(matplotlib.rcParams), list(warnings.filters)
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda _: result.plot(graph), range(8)))
    assert (dict(matplotlib.rcParams), list(warnings.filters)) == before


@pytest.mark.parametrize(("package", "what"), [("matplotlib", "a figure"), ("plotly", "a report")])
def test_a_missing_package_is_named_with_how_to_install_it(
    package: str, what: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == package]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    pose = registered_room()
    with pytest.raises(cp.MissingPackageError, match=rf"{what} needs the package {package}: pip install 'clipperplus"):
        pose.plot() if package == "matplotlib" else pose.report(tmp_path / "report.html")
