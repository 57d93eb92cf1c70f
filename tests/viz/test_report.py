"""The report as a file: everything is in it, it is right, it is small, and it cannot be broken by a name."""

from __future__ import annotations

import base64
import io
import json
import re
import time
from pathlib import Path

import matplotlib.image
import numpy as np
import pytest
from command_line import run
from motions import planted
from reports import data_of, decode
from simulated import registered_room, room

import clipperplus as cp
from clipperplus.viz import palette


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    registered_room().report(
        path, names=("first.ply", "second.ply"), command="clipperplus register first.ply second.ply"
    )
    return path


def test_the_page_holds_the_clouds_the_matches_and_the_transforms(report: Path) -> None:
    pose, data = registered_room(), data_of(report)
    for name, points in (("source", pose.source_points), ("target", pose.target_points)):
        assert np.abs(decode(data[name]["points"]) - points).max() < 1e-4
    ends = pose.source_points[pose.associations[:, 0]], pose.target_points[pose.associations[:, 1]]
    assert np.abs(decode(data["matches"]["source"]) - ends[0]).max() < 1e-4
    assert np.abs(decode(data["matches"]["target"]) - ends[1]).max() < 1e-4
    answer, *others = data["transforms"]
    assert answer["matrix"] == pose.T_target_source.tolist()
    assert answer["inliers"] == pose.inliers.tolist()
    assert [other["matrix"] for other in others] == [other.T_target_source.tolist() for other in pose.alternatives]
    assert [other["inliers"] for other in others] == [other.inliers.tolist() for other in pose.alternatives]


def test_the_page_tells_the_numbers_that_matter(report: Path) -> None:
    pose, data = registered_room(), data_of(report)
    facts = dict(data["facts"])
    assert facts["confidence"].startswith(f"{pose.confidence:.2f}")
    assert facts["inliers"].startswith(f"{pose.num_inliers} matches")
    assert facts["upper bound"].startswith(f"{pose.clique.upper_bound}:")
    assert "proven" in facts["agreement"]
    assert (data["status"], data["trusted"], data["verdict"]) == ("ok", True, "trust it")
    assert data["doubts"] == []
    assert len(data["alternatives"]["rows"]) == len(pose.alternatives)
    assert np.allclose([float(cell) for cell in data["matrix"].split()], pose.T_target_source.ravel(), atol=1e-6)
    assert sum(stage["ms"] for stage in data["stages"]) == pytest.approx(1e3 * pose.seconds)
    assert data["command"] == "clipperplus register first.ply second.ply"
    assert cp.__version__ in data["versions"]
    assert cp.core_info().commit in data["versions"]


def test_the_graph_is_drawn_with_its_clique_first(report: Path) -> None:
    pose, data = registered_room(), data_of(report)
    picture = matplotlib.image.imread(io.BytesIO(base64.b64decode(data["adjacency"]["png"])), format="png")
    green = (np.abs(picture[..., :3] - np.array(palette.rgb(palette.INLIER)) / 255.0).max(axis=2) < 0.01).sum(axis=1)
    rows = np.flatnonzero(green)
    assert rows.tolist() == list(range(len(rows)))
    assert len(rows) == pytest.approx(len(picture) * pose.clique.size / pose.graph.num_vertices, abs=1.01)
    spring = data["spring"]
    assert sum(spring["clique"]) == min(pose.clique.size, len(spring["x"]))
    numbers = [int(name.removeprefix("match ")) for name in spring["names"]]
    assert all(pose.graph.has_edge(numbers[a], numbers[b]) for a, b in spring["edges"])


def test_nothing_in_the_page_is_loaded_from_elsewhere(report: Path) -> None:
    page = report.read_text(encoding="utf-8")
    own = page[: page.index('<script type="application/json"')] + page[page.rindex("<script>") :]
    assert re.findall(r"""(?:src|href)\s*=\s*["'][^"']*""", own) == ['href="data:,']
    assert "http" not in own


def test_a_large_pair_stays_small_and_says_what_is_shown(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    clouds = [random.uniform(0.0, 10.0, (300_000, 3)) for _ in range(2)]
    path = tmp_path / "large.html"
    registered_room().report(path, source=clouds[0], target=clouds[1])
    assert path.stat().st_size < 8e6
    data = data_of(path)
    assert data["shown"] == "Shown of the source: 40000 of 300000 points; of the target: 40000 of 300000 points."
    assert len(decode(data["source"]["points"])) == 40_000


def test_many_matches_are_thinned_and_it_says_so(tmp_path: Path) -> None:
    source, target, _ = planted(3000, 3000)
    path = tmp_path / "matches.html"
    pose = cp.solve(source, target, epsilon=0.02)
    pose.report(path)
    data = data_of(path)
    assert data["matches"]["text"] == "Shown: 3000 of 6000 matches."
    shown = decode(data["matches"]["source"])
    inliers = shown[data["transforms"][0]["inliers"]]
    distance = np.linalg.norm(inliers[:, None] - source[pose.inliers][None], axis=2).min(axis=1)
    assert distance.max() < 1e-4
    assert data["transforms"][0]["support"] == pose.num_inliers == 3000
    assert path.stat().st_size < 8e6


def test_few_inliers_are_not_lost_among_many_outliers(tmp_path: Path) -> None:
    source, target, _ = planted(50, 8000)
    pose = cp.solve(source, target, epsilon=0.02)
    pose.report(tmp_path / "few.html")
    data = data_of(tmp_path / "few.html")
    assert len(data["transforms"][0]["inliers"]) == pose.num_inliers
    assert (data["matches"]["total"], data["matches"]["text"]) == (8050, "Shown: 3000 of 8050 matches.")


def test_a_report_of_a_5000_point_pair_takes_less_than_two_seconds(tmp_path: Path) -> None:
    pose, pair = registered_room(), room()
    assert min(len(pair.source), len(pair.target)) > 5000
    times = []
    for _ in range(3):
        start = time.perf_counter()
        pose.report(tmp_path / "timed.html", source=pair.source, target=pair.target)
        times.append(time.perf_counter() - start)
    assert min(times) < 2.0


def test_poses_without_transform_have_a_report(tmp_path: Path) -> None:
    path = tmp_path / "nothing.html"
    for clouds in ((np.empty((0, 3)), room().target), (np.empty((0, 3)), np.empty((0, 3)))):
        pose = cp.register(*clouds, voxel_size=0.1)
        pose.report(path)
        data = data_of(path)
        assert data["transforms"] == []
        assert data["matrix"] == "there is none"
        assert not data["trusted"]
        assert data["doubts"] == [["what helps", pose.reasons[0].help]]


def test_clouds_far_from_the_origin_are_drawn_around_a_round_place_close_by(tmp_path: Path) -> None:
    path = tmp_path / "far.html"
    source, target, _ = planted(100, 0)
    for shift, origin in ((np.zeros(3), [0, 0, 0]), (np.array([5e5, -5e6, 0.0]), [5e5, -5e6, 0])):
        cp.solve(source, target + shift, epsilon=0.02).report(path)
        assert np.abs(np.subtract(data_of(path)["origin"], origin)).max() <= np.ptp(target, axis=0).max()
        assert all(part % 10 == 0 for part in data_of(path)["origin"])
    cp.solve(np.full((3, 3), 1e8), np.full((3, 3), 1e8)).report(path)
    assert data_of(path)["origin"] == [1e8] * 3


def test_names_cannot_break_the_page(tmp_path: Path) -> None:
    path = tmp_path / "names.html"
    evil = '</script><script>alert("x")</script><!-- <script> \u2028 \udc80 {{data}} {{plotly}} {{script}}'
    registered_room().report(path, names=(evil, "b"), command=evil)
    data = data_of(path)
    assert data["source"]["name"] == data["command"] == evil
    page = path.read_text(encoding="utf-8")
    start = page.index('id="data">') + len('id="data">')
    assert "<" not in page[start : page.index("</script>", start)]


def test_wrong_arguments_are_refused_and_nothing_is_written(tmp_path: Path) -> None:
    pose, path = registered_room(), tmp_path / "it.html"
    for names in (("a",), "ab", ("a", 3), None):
        with pytest.raises(cp.OptionError, match="names: expected two strings"):
            pose.report(path, names=names)
    with pytest.raises(cp.OptionError, match="command: expected a string or None"):
        pose.report(path, command=b"register")
    with pytest.raises(cp.LandmarkError, match="source: expected"):
        pose.report(path, source=np.zeros((3, 2)))
    with pytest.raises(cp.FileFormatError, match="path: expected the name of a file"):
        pose.report(None)
    with pytest.raises(FileNotFoundError):
        pose.report(tmp_path / "nowhere" / "it.html")
    far = cp.solve(np.eye(3) * 1e150, np.eye(3) * 1e150, epsilon=0.1)
    with pytest.raises(cp.LandmarkError, match="source: expected coordinates of at most"):
        far.report(path)
    with pytest.raises(cp.LandmarkError, match="source: expected coordinates of at most"):
        far.plot()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("command", ["register", "demo"])
def test_the_command_line_writes_a_report(tmp_path: Path, command: str) -> None:
    arguments: list[str | Path] = [command, "--report", tmp_path / "it.html"]
    if command == "register":
        for name, points in (("a.ply", room().source), ("b b.ply", room().target)):
            cp.write_cloud(tmp_path / name, points)
        arguments[1:1] = [tmp_path / "a.ply", tmp_path / "b b.ply"]
    done = run(*arguments)
    assert done.returncode == 0
    assert f"written: {tmp_path / 'it.html'}" in done.stdout
    data = data_of(tmp_path / "it.html")
    if command == "register":
        assert (
            data["command"] == f"clipperplus register {tmp_path}/a.ply '{tmp_path}/b b.ply' --report {tmp_path}/it.html"
        )
        assert data["target"]["name"] == str(tmp_path / "b b.ply")
        assert data["shown"].startswith(f"Shown of the source: all {len(room().source)} points;")
    else:
        assert data["shown"].count("40000 of ") == 2


@pytest.mark.parametrize(
    "arguments",
    [
        ["demo", "--report", "nowhere/it.html"],
        ["register", "a.ply", "b.ply", "--report", "nowhere/it.html"],
        ["register", "a.ply", "b.ply", "--output", "nowhere/T.txt"],
        ["clique", "--plot", "nowhere/it.png"],
    ],
)
def test_a_folder_that_is_not_there_is_refused_before_the_work(arguments: list[str]) -> None:
    done = run(*arguments)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", "clipperplus: no such folder: nowhere\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no disk that is always full")
def test_what_cannot_be_written_does_not_lose_the_answer() -> None:
    done = run("demo", "--report", "/dev/full", "--json")
    assert json.loads(done.stdout)["status"] == "ok"
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)


def test_clique_writes_a_figure(tmp_path: Path) -> None:
    done = run("clique", "--plot", tmp_path / "it.png", "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["size"] == 50
    assert matplotlib.image.imread(tmp_path / "it.png").shape[2] == 4
    done = run("clique", "--plot", tmp_path / "it.jpeg")
    assert done.returncode == 2
    assert "cannot write this kind of figure; known endings are .png .svg .pdf" in done.stderr
