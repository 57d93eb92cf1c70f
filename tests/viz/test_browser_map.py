"""The report of a map in a browser: it draws, its table sorts, pairs and scans can be seen, it asks for nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browser import count_near, open_page
from maps import EVIL, nothing_fits, two_rooms
from reports import Report, is_blank

from clipperplus.viz import palette
from clipperplus.viz.map_view import scan_colours


class MapReport(Report):
    """An open report of a map."""

    def cells(self, heading: str) -> list[str]:
        """Return the texts of a column of the table of pairs."""
        headings = self.page.locator("#edges th").all_inner_texts()
        number = headings.index(heading) + 1
        texts: list[str] = self.page.locator(f"#edges tbody td:nth-child({number})").all_inner_texts()
        return texts

    def sort_by(self, heading: str) -> list[str]:
        """Click on the head of a column, and return its texts."""
        self.page.locator("#edges th", has_text=heading).click()
        return self.cells(heading)

    def choose_pair(self, row: int) -> None:
        self.page.locator("#edges tbody tr").nth(row).click()
        self.wait()

    def choose_scan(self, number: int) -> None:
        self.page.locator(".card").nth(number).click()
        self.wait()

    def select(self, name: str, value: str) -> None:
        self.page.select_option(f"#{name}", value)
        self.wait()

    def cut(self, percent: int) -> None:
        """Move the slider that cuts off what is high."""
        self.page.locator("#cut").fill(str(percent))
        self.wait()


@pytest.fixture(scope="module")
def opened(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> MapReport:
    path = tmp_path_factory.mktemp("browser") / "map.html"
    two_rooms().report(path, command="clipperplus map rooms/*.ply")
    return MapReport(open_page(browser, path.as_uri(), width=1000, height=800))


@pytest.fixture
def report(opened: MapReport) -> Iterator[MapReport]:
    """A report in which nothing is chosen, nothing sorted and all is shown; afterwards it is so again."""
    yield opened
    if opened.page.locator("#all-scans").is_visible():
        opened.switch("all-scans")
    opened.page.select_option("#only", "")


def changed(before: Any, after: Any) -> float:
    """Return the share of the pixels that are not as before."""
    return float((np.abs(before.astype(int) - after).max(axis=2) > 30).mean())


def source_and_target(picture: Any) -> tuple[Any, Any]:
    """Return which pixels are of the source and which of the target: orange and blue, of any shade."""
    red, _, blue = np.moveaxis(picture.astype(int), 2, 0)
    return red - blue > 70, blue - red > 50


def test_everything_is_drawn(report: MapReport) -> None:
    for name in ("map", "graph", "beside", "together"):
        assert not is_blank(report.picture(name)), name
    graph = report.picture("graph")
    assert count_near(graph, palette.INLIER) > 150
    assert count_near(graph, palette.OUTLIER) > 40
    for colour in scan_colours(11):
        assert count_near(graph, colour) > 20, colour
    for name in ("beside", "together"):
        assert min(pixels.sum() for pixels in source_and_target(report.picture(name))) > 1000, name
    bar = report.picture("stages-bar")
    assert len(np.unique(bar[len(bar) // 4], axis=0)) >= 4


def test_the_numbers_are_there_as_text(report: MapReport) -> None:
    assert report.page.title().startswith("Map of 11 scans: 9 of 11 scans placed")
    assert (report.text("status"), report.text("num-scans")) == ("incomplete", "11")
    assert "none of its 4 pairs is likely" in report.text("doubts")
    assert "13: 9 believed, 2 refused, 2 doubted" in report.text("facts")
    cards = report.page.locator(".card").all_inner_texts()
    assert len(cards) == 11
    assert cards[1].split("\n")[:3] == ["hall/1.ply", "placed, component 0", "confidence 0.99"]
    assert "cm" in cards[1]
    assert "pairs: 2 believed, 1 refused" in cards[1]
    assert cards[10].endswith("it has 0 voxels, and 50 are needed")
    assert "register pairs" in report.text("stages")
    assert "4.50" in report.text("stages")
    assert report.text("command") == "clipperplus map rooms/*.ply"


def test_a_click_on_a_head_sorts_and_another_one_turns_it_around(report: MapReport) -> None:
    up = report.sort_by("confidence")
    assert len(up) == 13
    assert [float(text) for text in up] == sorted(float(text) for text in up)
    down = report.sort_by("confidence")
    assert [float(text) for text in down] == sorted((float(text) for text in up), reverse=True)
    assert report.page.locator("#edges th[aria-sort]").all_inner_texts() == ["confidence"]
    for heading in ("shift (m)", "overlap"):
        for _ in range(2):  # what is not known comes last, whichever way
            texts = report.sort_by(heading)
            known = [text for text in texts if text]
            assert texts == known + [""] * (len(texts) - len(known))
    assert report.sort_by("source") == sorted(report.cells("source"))
    assert report.sort_by("status") == ["believed"] * 9 + ["doubted"] * 2 + ["refused"] * 2


def test_only_pairs_of_one_status_are_listed_if_one_likes(report: MapReport) -> None:
    report.page.select_option("#only", "refused")
    assert report.cells("status") == ["refused"] * 2
    assert report.text("count").startswith("2 pairs.")


def test_a_click_on_a_row_shows_that_pair(report: MapReport) -> None:
    report.sort_by("source")
    pictures, rows = [], list(zip(report.cells("source"), report.cells("target"), strict=True))
    for row in (0, 4):
        report.choose_pair(row)
        source, target = rows[row]
        assert report.text("pair-title").startswith(f"{source} onto {target}: ")
        assert report.page.locator("#edges tr.chosen").count() == 1
        pictures.append([report.picture(name) for name in ("beside", "together")])
    for before, after in zip(*pictures, strict=True):
        assert changed(before, after) > 0.02


def test_scans_stand_beside_each_other_and_are_laid_on_each_other(report: MapReport) -> None:
    report.sort_by("source")
    report.choose_pair(0)

    source, target = (np.flatnonzero(pixels.any(axis=0)) for pixels in source_and_target(report.picture("beside")))
    assert np.quantile(source, 0.95) < np.quantile(target, 0.05)  # columns of the picture
    source, target = (np.flatnonzero(pixels.any(axis=0)) for pixels in source_and_target(report.picture("together")))
    assert len(np.intersect1d(source, target)) > 50


def test_a_pair_without_transform_is_shown_too(report: MapReport) -> None:
    report.sort_by("confidence")
    if report.cells("confidence")[0] != "0.00":
        report.sort_by("confidence")
    report.choose_pair(0)
    assert "no transform was found" in report.text("beside-caption")
    assert report.text("together-caption") == "The target alone."
    source, target = source_and_target(report.picture("together"))
    assert source.sum() < 10 < 1000 < target.sum()


def test_a_click_on_a_card_shows_that_scan_and_its_pairs(report: MapReport) -> None:
    before = report.picture("map")
    report.choose_scan(7)  # of the other component, which is shown then
    assert report.page.locator("#component").input_value() == "1"
    assert report.text("chosen-name") == "kitchen/1.ply"
    ends = zip(report.cells("source"), report.cells("target"), strict=True)
    assert all("kitchen/1.ply" in pair for pair in ends)
    alone = report.picture("map")
    assert changed(before, alone) > 0.05
    report.choose_scan(7)
    assert len(report.cells("source")) == 13
    assert not report.page.locator("#chosen-scan").is_visible()
    assert changed(alone, report.picture("map")) > 0.02
    report.select("component", "0")
    assert changed(before, report.picture("map")) < 0.01


def test_lines_points_and_sensors_can_be_switched_off(report: MapReport) -> None:
    report.switch("show-points")
    lines = report.picture("map")
    assert count_near(lines, palette.INLIER) > 100
    assert count_near(lines, palette.OUTLIER) > 20
    report.switch("show-refused")
    assert count_near(report.picture("map"), palette.OUTLIER) == 0
    assert count_near(report.picture("graph"), palette.OUTLIER) == 0
    for name in ("show-believed", "show-places"):
        report.switch(name)
    assert count_near(report.picture("map"), palette.INLIER) == 0
    for name in ("show-points", "show-refused", "show-believed", "show-places"):
        report.switch(name)


def test_what_is_high_can_be_cut_off(report: MapReport) -> None:
    def inked() -> float:
        return float((report.picture("map").min(axis=2) < 200).mean())

    whole = inked()
    report.cut(30)
    assert inked() < 0.85 * whole
    report.cut(100)
    assert inked() == pytest.approx(whole, rel=0.05)


def test_a_map_without_components_is_shown(browser: Any, tmp_path: Path) -> None:
    nothing_fits().report(tmp_path / "nothing.html")
    nothing = MapReport(open_page(browser, (tmp_path / "nothing.html").as_uri()))
    assert nothing.text("headline") == "none of 2 scans placed"
    assert "no two scans belong together" in nothing.text("map-caption")
    assert nothing.page.locator(".card").count() == 2
    assert nothing.opened.errors == []


def test_names_are_text_and_nothing_else(browser: Any, tmp_path: Path) -> None:
    names = (EVIL, '<a href="https://example.org">here</a>', *two_rooms().names[2:])
    replace(two_rooms(), names=names, reasons=(EVIL,) * len(names)).report(tmp_path / "evil.html")
    opened = open_page(browser, "about:blank")
    dialogs: list[str] = []
    opened.page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    opened.page.goto((tmp_path / "evil.html").as_uri(), timeout=120_000)
    evil = MapReport(opened)
    evil.choose_scan(0)
    evil.choose_pair(0)
    shown = EVIL.replace("\udc80", "\ufffd")
    assert evil.page.evaluate("document.querySelector('.card b').textContent").replace("\udc80", "\ufffd") == shown
    x, y = evil.page.evaluate("(() => { const { x, y } = data.graph; return [x[1], y[1]]; })()")
    evil.page.evaluate(
        "Plotly.Fx.hover('graph', [{ curveNumber: document.getElementById('graph').data.length - 1, pointNumber: 1 }])"
    )
    assert np.isfinite([x, y]).all()
    hover = evil.page.locator("#graph .hovertext")
    hover.wait_for(state="attached")
    assert '<a href="https://example.org">here</a>: placed' in hover.text_content()
    assert evil.page.locator("#graph a").count() == 0
    assert (dialogs, opened.errors) == ([], [])
    assert evil.page.locator("img").count() == 0


def test_a_narrow_screen_needs_no_scrolling_to_the_side(report: MapReport) -> None:
    before = report.page.viewport_size
    report.page.set_viewport_size({"width": 420, "height": 900})
    report.page.wait_for_function("document.querySelector('#map .main-svg').clientWidth <= 420")
    assert report.page.evaluate("document.documentElement.scrollWidth") <= 420
    assert not is_blank(report.picture("map"))
    report.page.set_viewport_size(before)


def test_the_page_complains_of_nothing_and_asks_for_nothing(report: MapReport) -> None:
    assert report.opened.errors == []
    outside = [url for url in report.opened.requests if not url.startswith(("file:", "data:", "blob:"))]
    assert outside == []
    assert sum(url.startswith("file:") for url in report.opened.requests) == 1
