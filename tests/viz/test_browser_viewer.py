"""The viewer in a browser: what is drawn, what is said, and what becomes of it when controls are used."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browser import Page, drawn, open_page, until
from viewing import Viewing, viewing

from clipperplus.geometry.files import read_transform
from clipperplus.viz.palette import INLIER, OUTLIER, SOURCE, TARGET

"""Seconds after which something that should be seen is not; a processor that also draws may need some of them."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("viewer")


@pytest.fixture(scope="module")
def view(folder: Path) -> Iterator[Viewing]:
    with viewing(folder) as running:
        yield running


@pytest.fixture(scope="module")
def page(browser: Any, view: Viewing) -> Page:
    """Return the page once the first result is drawn."""
    # Without a fixed resolution the page takes a coarser one where it is slow, and other colours with it.
    opened = open_page(browser, f"{view.url}/?fixedDpr=1", width=900, height=600)
    opened.page.get_by_text("registered in").wait_for()
    until(lambda: min(drawn(opened, SOURCE, TARGET, INLIER)) > 200)
    return opened


def type_into(page: Page, label: str, text: str) -> None:
    """Type a number into the field beside a slider."""
    row = page.page.locator("div:has(> div > p > label)", has=page.page.get_by_text(label, exact=True)).last
    row.locator("input[type=text]").fill(text)


def choose(page: Page, label: str, option: str) -> None:
    page.page.get_by_label(label, exact=True).first.click()
    page.page.get_by_role("option", name=option, exact=True).click()


def agreement(page: Page) -> str:
    """Return what is said of the clique."""
    return str(page.page.get_by_text("matches agree").first.inner_text())


def test_both_clouds_and_the_inliers_are_drawn_and_no_outliers(page: Page) -> None:
    source, target, inliers, outliers = drawn(page, SOURCE, TARGET, INLIER, OUTLIER)
    assert min(source, target) > 3000
    assert 200 < inliers < min(source, target)
    assert outliers < 50
    assert "trust it" in page.page.inner_text("body")


def test_outliers_come_and_go_with_their_checkbox(page: Page) -> None:
    box = page.page.get_by_label("outliers", exact=True)
    box.check()
    until(lambda: drawn(page, OUTLIER)[0] > 500)
    box.uncheck()
    until(lambda: drawn(page, OUTLIER)[0] < 50)


def test_clouds_come_and_go_with_their_checkboxes(page: Page) -> None:
    boxes = [page.page.get_by_label(label, exact=True) for label in ("source", "target")]
    for box in boxes:
        box.uncheck()
    until(lambda: max(drawn(page, SOURCE, TARGET)) < 50)
    for box in boxes:
        box.check()
    until(lambda: min(drawn(page, SOURCE, TARGET)) > 3000)


def test_associations_are_lines_where_the_source_is_beside_the_target(page: Page) -> None:
    (aligned,) = drawn(page, INLIER)
    choose(page, "source is", "beside the target")
    until(lambda: drawn(page, INLIER)[0] > 2 * aligned)
    choose(page, "source is", "aligned")
    until(lambda: drawn(page, INLIER)[0] < 1.5 * aligned)


def test_another_epsilon_gives_another_result(page: Page) -> None:
    before = agreement(page)
    page.page.get_by_label("ε = voxel size").uncheck()
    type_into(page, "epsilon", "0.05")
    until(lambda: agreement(page) != before)


def test_what_went_wrong_is_said_and_the_last_result_stays(page: Page) -> None:
    before = agreement(page)
    type_into(page, "epsilon", "0")
    page.page.get_by_text("epsilon: expected a finite number above 0, got 0.0").wait_for()
    assert agreement(page) == before
    type_into(page, "epsilon", "0.11")
    page.page.get_by_text("registered in").wait_for()


def test_an_alternative_is_displayed_described_and_saved(page: Page, folder: Path) -> None:
    saved = folder / "transform.txt"
    page.page.get_by_role("button", name="Save transform").click()
    page.page.get_by_text("saved the answer: transform.txt").wait_for()
    answer = read_transform(saved)
    type_into(page, "hypothesis", "1")
    page.page.get_by_text("Alternative 1").wait_for()
    page.page.get_by_role("button", name="Save transform").click()
    page.page.get_by_text("saved alternative 1: transform.txt").wait_for()
    assert not np.allclose(read_transform(saved), answer, atol=0.01)


def test_a_transform_that_cannot_be_saved_is_said(page: Page, folder: Path) -> None:
    saved = folder / "transform.txt"
    saved.unlink(missing_ok=True)
    saved.mkdir()
    page.page.get_by_role("button", name="Save transform").click()
    page.page.get_by_text("not saved: transform.txt: Is a directory").wait_for()
    saved.rmdir()


def test_the_page_has_no_errors_and_asks_only_its_own_server(page: Page, view: Viewing) -> None:
    assert page.errors == []
    own = view.url.removeprefix("http://")
    blobs = f"blob:http://127.0.0.1:{view.port}/"
    assert page.requests
    assert all(request.startswith((f"http://{own}", f"ws://{own}", blobs)) for request in page.requests)


def test_the_page_can_be_loaded_again(page: Page) -> None:
    page.page.reload()
    page.page.get_by_text("registered in").wait_for()
    until(lambda: min(drawn(page, SOURCE, TARGET)) > 200)


def test_ctrl_c_ends_it_with_a_page_open(page: Page, view: Viewing) -> None:
    assert view.interrupt() == (0, "", "")
