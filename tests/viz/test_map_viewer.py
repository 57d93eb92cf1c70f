"""A map in the viewer: what the command line takes, what is said, what is drawn in a browser and switched off again."""

from __future__ import annotations

import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from browser import Page, drawn, open_page, until
from maps import EVIL, nothing_fits, two_rooms

from clipperplus.cli import main, view
from clipperplus.mapping.map import Map
from clipperplus.viz.map_view import scan_colours
from clipperplus.viz.palette import OUTLIER
from clipperplus.viz.viewer import MapViewer, map_viewer


def call(monkeypatch: pytest.MonkeyPatch, *arguments: str | Path) -> object:
    """Return the exit status of ``clipperplus view``."""
    monkeypatch.setattr("sys.argv", ["clipperplus", "view", *map(str, arguments)])
    with pytest.raises(SystemExit) as end:
        main()
    return end.value.code


def test_a_folder_is_read_as_a_map_and_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []

    class Shown:
        """Stands in for the viewer, and ends as by Ctrl-C."""

        def __init__(self, map: Map, *, host: str, port: int) -> None:
            seen.append((map, host, port))

        @property
        def url(self) -> str:
            raise KeyboardInterrupt

        def close(self) -> None:
            seen.append("closed")

    def load(folder: Path, *, size_limit: int | None) -> Map:
        assert (folder, size_limit) == (tmp_path, None)
        return two_rooms()

    monkeypatch.setattr(Map, "load", load)
    monkeypatch.setattr(view, "MapViewer", Shown)
    assert call(monkeypatch, tmp_path, "--port", "0") in (0, None)
    assert seen == [(two_rooms(), "127.0.0.1", 0), "closed"]


@pytest.mark.parametrize("more", [["target.ply"], ["--voxel-size", "0.1"], ["--epsilon", "0.1"], ["--method", "exact"]])
def test_what_a_map_has_no_use_for_is_refused(
    more: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(monkeypatch, tmp_path, *more) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("clipperplus: source: expected a point cloud, or no other scan and no settings")


def test_scans_are_listed_with_why_they_were_left_out_and_names_as_they_are() -> None:
    text = map_viewer._describe_scans(replace(two_rooms(), names=("<b>a_*.ply", *two_rooms().names[1:])))
    lines = text.split("\n\n")
    assert len(lines) == 11
    assert r"&lt;b&gt;a\_\*.ply, placed" in lines[0]
    assert "empty.ply, empty: it has 0 voxels, and 50 are needed" in lines[10]


@pytest.mark.parametrize("made", [nothing_fits, lambda: replace(two_rooms(), names=(EVIL,) * 11)])
def test_any_map_is_served_and_ends(made: Callable[[], Map]) -> None:
    viewer = MapViewer(made(), port=0)
    try:
        with urllib.request.urlopen(viewer.url, timeout=30) as answer:
            assert b"<html" in answer.read().lower()
    finally:
        viewer.close()


@pytest.fixture(scope="module")
def page(browser: Any) -> Iterator[Page]:
    viewer = MapViewer(two_rooms(), port=0)
    try:
        yield open_page(browser, f"{viewer.url}/?fixedDpr=1", width=900, height=600)
    finally:
        viewer.close()


def test_a_component_is_drawn_and_another_one_where_it_is_chosen(page: Page) -> None:
    hall, kitchen = scan_colours(11)[:6], scan_colours(11)[6:9]
    until(lambda: min(drawn(page, *hall)) > 200)
    assert "9 of 11 scans placed" in page.page.inner_text("body")
    page.page.get_by_label("component", exact=True).first.click()
    page.page.get_by_role("option", name="1: 3 scans", exact=True).click()
    until(lambda: min(drawn(page, *kitchen)) > 200)
    page.page.get_by_label("component", exact=True).first.click()
    page.page.get_by_role("option", name="0: 6 scans", exact=True).click()
    until(lambda: min(drawn(page, *hall)) > 200)


def test_points_and_pairs_come_and_go_with_their_checkboxes(page: Page) -> None:
    page.page.get_by_label("points", exact=True).uncheck()
    until(lambda: drawn(page, OUTLIER)[0] > 20)
    page.page.get_by_label("refused pairs", exact=True).uncheck()
    until(lambda: drawn(page, OUTLIER)[0] == 0)
    page.page.get_by_label("points", exact=True).check()
    until(lambda: min(drawn(page, *scan_colours(11)[:6])) > 200)


def test_the_page_has_no_errors(page: Page) -> None:
    assert page.errors == []
