"""A browser to look at pages with, and what can be read off its pictures."""

from __future__ import annotations

import io
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import matplotlib.image
import numpy as np
import numpy.typing as npt

from clipperplus.viz.palette import rgb

Pixels = npt.NDArray[np.uint8]

_PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
_OPTIONS = (
    "--headless",
    "--no-sandbox",
    "--use-angle=swiftshader",  # WebGL on the processor, where there is no other
    "--enable-unsafe-swiftshader",
    "--ignore-gpu-blocklist",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


class Page:
    """A page that remembers what went wrong on it and what it asked for."""

    def __init__(self, page: Any) -> None:
        self.page = page
        """That of playwright."""
        self.errors: list[str] = []
        """Errors on the console, and exceptions that nobody caught."""
        self.requests: list[str] = []
        """Addresses of all that was asked for, web sockets among it."""
        page.on("console", lambda message: self.errors.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("websocket", lambda socket: self.requests.append(socket.url))

    def screenshot(self, of: str = "body") -> Pixels:
        """Return what is seen, or the part of it that an element takes up."""
        return pixels(self.page.screenshot(clip=self.page.locator(of).first.bounding_box()))


def find_chromium() -> str:
    """Return the path of a browser."""
    found = next(filter(None, map(shutil.which, _PROGRAMS)), None)
    if found is None:
        raise FileNotFoundError(f"no browser: none of {', '.join(_PROGRAMS)} is installed")
    return found


@contextmanager
def launch(*options: str) -> Iterator[Any]:
    """Start a browser, with more options if need be, and end it."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=find_chromium(), args=[*_OPTIONS, *options])
        yield started
        started.close()


def open_page(browser: Any, url: str, *, width: int = 1200, height: int = 900) -> Page:
    """Open an address in a window of its own."""
    page = Page(browser.new_page(viewport={"width": width, "height": height}))
    page.page.goto(url, timeout=120_000)  # of a report, all of it: it is drawn while it loads
    return page


def pixels(png: bytes) -> Pixels:
    """Return the colours of a picture, ``(height, width, 3)``."""
    picture = matplotlib.image.imread(io.BytesIO(png), format="png")
    return np.asarray((picture[..., :3] * 255.0).round(), dtype=np.uint8)


def count_near(picture: Pixels, colour: str, tolerance: int = 30) -> int:
    """Return how many pixels differ from ``#rrggbb`` by at most the tolerance in red, in green and in blue."""
    return int((np.abs(picture.astype(np.int16) - rgb(colour)) <= tolerance).all(axis=-1).sum())


def drawn(page: Page, *colours: str) -> list[int]:
    """Return how many pixels of the scene have each of some colours."""
    picture = page.screenshot("canvas")
    return [count_near(picture, colour) for colour in colours]


def until(condition: Callable[[], bool], seconds: float = 60.0) -> None:
    """Wait until something is so: what the page draws is not told, it can only be looked at."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen"
