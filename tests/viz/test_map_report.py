"""The report of a map as a file: everything is in it, it is right, it stays small, and no name can break it."""

from __future__ import annotations

import base64
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from maps import EVIL, many_scans, nothing_fits, two_rooms
from reports import Array, data_of, decode

import clipperplus as cp
from clipperplus.geometry.transforms import apply_transform
from clipperplus.mapping.map import EdgeStatus, Map
from clipperplus.viz.map_view import scan_colours


def motions(text: str) -> Array:
    """Return the motions that a page holds, ``(n, 4, 4)``; NaN where there is none."""
    rows = np.frombuffer(base64.b64decode(text), dtype="<f4").reshape(-1, 3, 4)
    last = np.tile([[[0.0, 0.0, 0.0, 1.0]]], (len(rows), 1, 1))
    return np.concatenate((rows, last), axis=1)


def moved(motion: Array, points: Array) -> Array:
    """Move points as a page does: single precision is no rigid motion to the last digit."""
    return points @ motion[:3, :3].T + motion[:3, 3]


def written(map: Map, folder: Path, **options: Any) -> dict[str, Any]:
    map.report(folder / "map.html", **options)
    return data_of(folder / "map.html")


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "map.html"
    two_rooms().report(path, command="clipperplus map rooms/*.ply")
    return path


def test_the_page_has_every_scan_where_the_map_has_it(report: Path) -> None:
    rooms, data = two_rooms(), data_of(report)
    poses = motions(data["poses"])
    for component in data["components"]:
        for scan in component["scans"]:
            shown = moved(poses[scan], decode(data["scans"][scan]["points"])) + component["origin"]
            true = apply_transform(rooms.poses[scan], rooms.scans[scan])
            away = np.linalg.norm(shown[:300, None] - true[None], axis=2).min(axis=1)
            assert len(shown) > 1000
            assert away.max() < 0.5 * rooms.voxel_size  # a voxel of the page has half that size
    assert [component["scans"] for component in data["components"]] == [list(range(6)), list(range(6, 9))]
    assert np.isnan(poses[9:, :3]).all()


def test_the_page_has_every_pair_with_its_motion(report: Path) -> None:
    rooms, data = two_rooms(), data_of(report)
    edges, poses, across = data["edges"], motions(data["poses"]), motions(data["edges"]["motions"])
    for number, edge in enumerate(rooms.edges):
        assert (edges["source"][number], edges["target"][number]) == (edge.source, edge.target)
        assert (edges["status"][number], edges["origin"][number]) == (edge.status.value, edge.origin)
        assert edges["reasons"][edges["reason"][number]] == edge.reason
        numbers = [edges[name][number] for name in ("confidence", "overlap", "shift")]
        assert numbers == [edge.confidence, edge.overlap, edge.shift]
        assert np.isnan(across[number, :3]).all() == (edge.T_target_source is None)
        if edge.status is EdgeStatus.BELIEVED:  # both ways into the map lead to the same place
            points = decode(data["scans"][edge.source]["points"])
            there = moved(poses[edge.target], moved(across[number], points))
            assert np.abs(there - moved(poses[edge.source], points)).max() < 1e-4
    assert data["listed"] == "Listed: all 13 pairs."


def test_every_scan_has_a_card(report: Path) -> None:
    rooms, data = two_rooms(), data_of(report)
    cards = data["scans"]
    assert [card["name"] for card in cards] == list(rooms.names)
    assert [card["status"] for card in cards] == [status.value for status in rooms.status]
    assert [card["component"] for card in cards] == [0] * 6 + [1] * 3 + [None] * 2
    assert [card["reason"] for card in cards] == list(rooms.reasons)
    assert [card["colour"] for card in cards] == scan_colours(11)
    assert [card["confidence"] for card in cards] == pytest.approx(rooms.confidence, abs=6e-4)
    assert cards[1]["pairs"] == [2, 1, 0]
    assert cards[9]["pairs"] == [0, 0, 2]
    assert cards[9]["deviation"] == cards[10]["deviation"] == ""


def test_the_deviation_of_a_scan_is_that_of_its_place_under_small_motions(report: Path) -> None:
    rooms, data = two_rooms(), data_of(report)
    random = np.random.default_rng(0)
    for scan in (1, 3, 8):
        small = random.multivariate_normal(np.zeros(6), rooms.covariances[scan], 40_000)
        place = rooms.poses[scan, :3, 3]  # the camera is at the origin of its scan
        away = np.cross(small[:, :3], place) + small[:, 3:]
        expected = np.sqrt((away**2).sum(axis=1).mean()), np.sqrt((small[:, :3] ** 2).sum(axis=1).mean())
        found = re.fullmatch(r"± ([\d.]+) cm, ± ([\d.]+)°", data["scans"][scan]["deviation"])
        assert found is not None
        assert float(found[1]) / 100.0 == pytest.approx(expected[0], abs=0.001)
        assert np.radians(float(found[2])) == pytest.approx(expected[1], rel=0.05)


def test_the_page_tells_the_numbers_that_matter(report: Path) -> None:
    data = data_of(report)
    facts = dict(data["facts"])
    assert facts["scans"] == "11: 9 placed, 2 left out"
    assert facts["left out"] == "1 alone, 1 empty"
    assert facts["components"] == "2, of 6, 3 scans"
    assert facts["pairs"] == "13: 9 believed, 2 refused, 2 doubted"
    assert facts["prior"].startswith("12.0 %")
    assert (facts["voxel size"], facts["time"]) == ("0.1 m", "6.8 s")
    assert (data["headline"], data["complete"]) == ("9 of 11 scans placed, in 2 components, 2 left out", False)
    assert [name for name, _ in data["doubts"]] == ["attic.ply", "empty.ply"]
    assert data["doubts"][1][1] == "empty: it has 0 voxels, and 50 are needed"
    assert [stage["name"] for stage in data["stages"]] == ["prepare", "register pairs", "settle", "other"]
    assert sum(stage["ms"] for stage in data["stages"]) == pytest.approx(6750.0)
    assert data["command"] == "clipperplus map rooms/*.ply"
    assert cp.core_info().commit in data["versions"]


def test_scans_that_belong_together_are_close_in_the_graph(report: Path) -> None:
    graph = data_of(report)["graph"]
    assert graph["scans"] == list(range(11))
    places = np.column_stack((graph["x"], graph["y"]))
    middles = np.array([places[:6].mean(axis=0), places[6:9].mean(axis=0)])
    nearest = np.linalg.norm(places[:9, None] - middles, axis=2).argmin(axis=1)
    assert nearest.tolist() == [0] * 6 + [1] * 3


def test_nothing_in_the_page_is_loaded_from_elsewhere(report: Path) -> None:
    page = report.read_text(encoding="utf-8")
    own = page[: page.index('<script type="application/json"')] + page[page.rindex("<script>") :]
    assert re.findall(r"""(?:src|href)\s*=\s*["'][^"']*""", own) == ['href="data:,']
    assert "http" not in own


def test_a_large_map_stays_small_and_keeps_the_pairs_that_matter(tmp_path: Path) -> None:
    large = many_scans(269, 36_046)
    data = written(large, tmp_path)
    assert (tmp_path / "map.html").stat().st_size < 15e6
    assert len(data["scans"]) == 269
    assert max(len(decode(scan["points"])) for scan in data["scans"]) * 269 <= 400_000
    assert data["listed"] == "Listed: 20000 of 36046 pairs."
    statuses = data["edges"]["status"]
    assert statuses.count("refused") == sum(edge.status is EdgeStatus.REFUSED for edge in large.edges)
    assert statuses.count("doubted") == 0
    listed = {(edge.source, edge.target, edge.reason) for edge in large.edges}
    rows = zip(data["edges"]["source"], data["edges"]["target"], data["edges"]["reason"], strict=True)
    assert all((source, target, data["edges"]["reasons"][reason]) in listed for source, target, reason in rows)


def test_more_scans_than_a_graph_can_show_are_drawn_in_part(tmp_path: Path) -> None:
    data = written(many_scans(450, 900), tmp_path)
    assert len(data["graph"]["scans"]) == 400
    assert data["graph"]["caption"].startswith("The 400 scans with the most pairs")


def test_a_map_without_components_has_a_report(tmp_path: Path) -> None:
    data = written(nothing_fits(), tmp_path)
    assert data["components"] == []
    assert data["headline"] == "none of 2 scans placed"
    assert dict(data["facts"])["components"] == "none: no two scans belong together"
    assert data["command"] == "Map.report(), called from Python"


def test_a_map_of_no_scans_has_a_report(tmp_path: Path) -> None:
    rooms = two_rooms()
    nothing = replace(
        rooms,
        **dict.fromkeys(("names", "components", "status", "reasons", "edges", "scans", "stages"), ()),
        **{name: getattr(rooms, name)[:0] for name in ("poses", "confidence", "covariances", "viewpoints")},
    )
    assert written(nothing, tmp_path)["scans"] == []


def test_a_map_in_the_coordinates_of_a_country_is_as_precise(tmp_path: Path) -> None:
    rooms, shift = two_rooms(), np.array([5e5, 5e6, 0.0])
    poses = rooms.poses.copy()
    poses[:, :3, 3] += shift
    data = written(replace(rooms, poses=poses), tmp_path)
    assert data["components"][0]["origin"] == shift.tolist()
    near = motions(written(rooms, tmp_path)["poses"])[:9]
    assert np.abs(motions(data["poses"])[:9] - near).max() < 1e-3


def test_names_cannot_break_the_page(tmp_path: Path) -> None:
    rooms = two_rooms()
    evil = replace(
        rooms,
        names=(EVIL,) * len(rooms.names),
        reasons=(EVIL,) * len(rooms.names),
        edges=tuple(replace(edge, reason=EVIL) for edge in rooms.edges),
    )
    data = written(evil, tmp_path, command=EVIL)
    assert data["scans"][0]["name"] == data["edges"]["reasons"][0] == data["command"] == EVIL
    page = (tmp_path / "map.html").read_text(encoding="utf-8")
    start = page.index('id="data">') + len('id="data">')
    assert "<" not in page[start : page.index("</script>", start)]


def test_wrong_arguments_are_refused_and_nothing_is_written(tmp_path: Path) -> None:
    with pytest.raises(cp.OptionError, match="command: expected a string or None"):
        two_rooms().report(tmp_path / "it.html", command=b"map")
    with pytest.raises(cp.FileFormatError, match="path: expected the name of a file"):
        two_rooms().report(None)
    with pytest.raises(FileNotFoundError):
        two_rooms().report(tmp_path / "nowhere" / "it.html")
    assert not list(tmp_path.iterdir())
