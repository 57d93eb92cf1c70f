"""What a person sees: the report and the viewer in a browser, and the figures. ``python docs/screenshots.py [FOLDER]``.

Needs Chromium, and the packages of the extra ``test``. The times in the pictures are those of the machine, so the files
change with every run: draw them again when something looks different, not otherwise.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PIL import Image

import clipperplus as cp
from clipperplus.mapping.map import Map
from clipperplus.synthetic import ScanPair, room_scans

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests"))
from browser import launch, open_page  # noqa: E402
from viewing import viewing  # noqa: E402

PATIENCE = 180_000
"""Milliseconds for a page to be drawn by a processor without a graphics card."""
SETTLED = 4_000
"""Milliseconds after which nothing moves any more."""


def shoot_report(scans: ScanPair, path: Path) -> None:
    """Draw the upper part of a report."""
    with launch() as browser, tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        pose = cp.register(scans.source, scans.target)
        names = "first scan", "second scan"
        pose.report(page, source=scans.source, target=scans.target, names=names, command="clipperplus demo --report …")
        opened = open_page(browser, page.as_uri(), width=1200, height=1180).page
        opened.wait_for_selector("body[data-drawn]", timeout=PATIENCE)
        _shoot(opened, path)


def shoot_map(map: Map, path: Path) -> None:
    """Draw the upper part of the report of a map, with the ceiling cut off; for PICTURES, once maps can be made."""
    with launch() as browser, tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "map.html"
        map.report(page, command="clipperplus map …")
        opened = open_page(browser, page.as_uri(), width=1200, height=1180).page
        opened.wait_for_selector('body[data-drawn="1"]', timeout=PATIENCE)
        opened.locator("#cut").fill("85")
        opened.wait_for_selector('body[data-drawn="2"]', timeout=PATIENCE)
        _shoot(opened, path)


def shoot_viewer(scans: ScanPair, path: Path) -> None:
    """Draw the viewer with the source beside the target, so that the matches are seen."""
    with launch() as browser, tempfile.TemporaryDirectory() as folder, viewing(Path(folder)) as view:
        opened = open_page(browser, f"{view.url}/?fixedDpr=1", width=1200, height=760).page
        opened.get_by_text("registered in").wait_for(timeout=PATIENCE)
        opened.get_by_label("source is", exact=True).first.click()
        opened.get_by_role("option", name="beside the target", exact=True).click()
        opened.get_by_label("outliers", exact=True).check()
        opened.get_by_role("alert").get_by_role("button").click()  # a word about drawing without a graphics card
        opened.mouse.move(10, 700)
        _shoot(opened, path)


def draw_pose(scans: ScanPair, path: Path) -> None:
    """Draw both scans from three sides."""
    cp.register(scans.source, scans.target).plot(path, source=scans.source, target=scans.target)


def draw_clique(scans: ScanPair, path: Path) -> None:
    """Draw a clique that takes a search, and how its bound falls."""
    source, target = (cp.prepare(cloud, voxel_size=0.11) for cloud in (scans.source, scans.target))
    matches = cp.match_features(source.features, target.features)
    graph = cp.consistency_graph(source.points, target.points, matches, epsilon=0.2)
    cp.find_clique(graph, method="exact").plot(graph, path)


def _shoot(page: Any, path: Path) -> None:
    page.wait_for_timeout(SETTLED)
    page.screenshot(path=path, timeout=PATIENCE)


PICTURES: dict[str, Callable[[ScanPair, Path], None]] = {
    "report": shoot_report,
    "viewer": shoot_viewer,
    "pose": draw_pose,
    "clique": draw_clique,
}


def main() -> None:
    """Draw all pictures, with few colours so that the files stay small; rare ones, as in a legend, are kept."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "images"
    scans = room_scans()
    for name, draw in PICTURES.items():
        path = folder / f"{name}.png"
        draw(scans, path)
        with Image.open(path) as picture:
            few = picture.convert("RGB").quantize(256, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
        few.save(path, optimize=True)
        print(f"{path.name}: {path.stat().st_size // 1000} kB")


if __name__ == "__main__":
    main()
