"""The report in a real browser: it draws, its switches work, it complains of nothing and asks for nothing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browser import count_near, open_page
from reports import Report, is_blank
from simulated import registered_room, room

import clipperplus as cp
from clipperplus.viz import palette


@pytest.fixture(scope="module")
def report(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Report:
    path = tmp_path_factory.mktemp("browser") / "report.html"
    registered_room().report(path, names=("<b>first</b>.ply", "second.ply"), command="clipperplus register a b")
    return Report(open_page(browser, path.as_uri()))


def test_everything_is_drawn(report: Report) -> None:
    for name in ("before", "after", "adjacency", "spring"):
        assert not is_blank(report.picture(name))
    before = report.picture("before")
    assert count_near(before, palette.INLIER) > 300
    assert count_near(before, palette.OUTLIER, 60) > 300
    assert count_near(report.picture("adjacency"), palette.INLIER, 5) > 500
    assert count_near(report.picture("spring"), palette.INLIER, 40) > 500
    bar = report.picture("stages-bar")
    assert len(np.unique(bar[len(bar) // 4], axis=0)) > 5  # a colour for each stage


def test_the_numbers_are_there_as_text(report: Report) -> None:
    pose = registered_room()
    assert report.text("source-name") == "<b>first</b>.ply"
    assert (report.text("status"), report.text("verdict")) == ("ok", "trust it")
    assert f"{pose.confidence:.2f}" in report.text("facts")
    assert f"{pose.T_target_source[0, 3]:.6f}" in report.text("matrix")
    assert report.text("command") == "clipperplus register a b"
    assert cp.__version__ in report.text("versions")
    assert "consistency graph" in report.text("stages")


def test_associations_can_be_switched_off_and_on(report: Report) -> None:
    both = report.picture("before")
    report.switch("show-outliers")
    inliers = report.picture("before")
    assert count_near(inliers, palette.OUTLIER, 60) < 0.02 * count_near(both, palette.OUTLIER, 60)
    assert count_near(inliers, palette.INLIER) > 300
    report.switch("show-inliers")
    neither = report.picture("before")
    assert count_near(neither, palette.INLIER) < 0.1 * count_near(inliers, palette.INLIER)
    report.switch("show-outliers")
    report.switch("show-inliers")
    again = report.picture("before")
    assert count_near(again, palette.INLIER) == pytest.approx(count_near(both, palette.INLIER), rel=0.05)


def test_clouds_can_be_switched_off_and_alternatives_looked_at(report: Report) -> None:
    answer = report.picture("after")
    report.switch("show-source")
    target = report.picture("after")
    assert not np.array_equal(answer, target)
    report.switch("show-source")
    report.page.select_option("#transform", "1")
    report.wait()
    other = report.picture("after")
    assert "alternative 1" in report.text("after-caption")
    assert report.text("num-inliers") == str(registered_room().alternatives[0].support)
    assert (np.abs(other.astype(int) - answer).max(axis=2) > 30).mean() > 0.01
    report.page.select_option("#transform", "0")
    report.wait()
    assert report.text("num-inliers") == str(registered_room().num_inliers)


def test_a_registration_that_failed_is_shown_too(browser: Any, tmp_path: Path) -> None:
    path = tmp_path / "failed.html"
    cp.register(np.empty((0, 3)), room().target).report(path)
    failed = Report(open_page(browser, path.as_uri()))
    assert failed.text("status") == "too few inliers"
    assert "there is no transform" in failed.text("verdict")
    assert "what helps" in failed.text("doubts")
    assert not is_blank(failed.picture("after"))
    assert failed.opened.errors == []


def test_clouds_in_the_coordinates_of_a_country_fill_the_picture(browser: Any, report: Report, tmp_path: Path) -> None:
    path, pose = tmp_path / "far.html", registered_room()
    shift = np.array([5e5, 5e6, 300.0])
    motion = pose.T_target_source.copy()
    motion[:3, 3] += shift
    replace(pose, T_target_source=motion, target_points=pose.target_points + shift, alternatives=()).report(path)
    far = Report(open_page(browser, path.as_uri()))
    drawn = [(picture.min(axis=2) < 200).mean() for picture in (far.picture("after"), report.picture("after"))]
    assert drawn[0] > 0.5 * drawn[1]
    assert "Axes count from (500000, 5000000, 0)." in far.text("after-caption")


def test_a_narrow_screen_needs_no_scrolling_to_the_side(report: Report) -> None:
    before = report.page.viewport_size
    report.page.set_viewport_size({"width": 420, "height": 900})
    report.page.wait_for_function("document.querySelector('#after .main-svg').clientWidth <= 420")
    assert report.page.evaluate("document.documentElement.scrollWidth") <= 420
    cell = report.page.locator("#alternatives td").nth(1)
    assert cell.bounding_box()["height"] < 30.0  # one line
    assert not is_blank(report.picture("after"))
    report.page.set_viewport_size(before)


def test_the_page_complains_of_nothing_and_asks_for_nothing(report: Report) -> None:
    assert report.opened.errors == []
    outside = [url for url in report.opened.requests if not url.startswith(("file:", "data:", "blob:"))]
    assert outside == []
    assert sum(url.startswith("file:") for url in report.opened.requests) == 1
