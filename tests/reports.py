"""Reports as files and as open pages: what is in them, and what is seen."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from browser import Page, pixels

Array = npt.NDArray[np.float64]


def data_of(path: Path) -> dict[str, Any]:
    page = path.read_text(encoding="utf-8")
    (text,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, flags=re.DOTALL)
    found: dict[str, Any] = json.loads(text)
    return found


def decode(points: dict[str, Any]) -> Array:
    steps = np.frombuffer(base64.b64decode(points["steps"]), dtype="<u2").reshape(-1, 3)
    return np.array(points["low"]) + steps * np.array(points["step"])


class Report:
    """An open report."""

    def __init__(self, opened: Page) -> None:
        self.opened = opened
        self.page = opened.page
        self.draws = 0
        self.wait()

    def wait(self) -> None:
        """Wait until all is drawn once more."""
        self.draws += 1
        self.page.wait_for_selector(f'body[data-drawn="{self.draws}"]', timeout=120_000)

    def switch(self, name: str) -> None:
        self.page.click(f"#{name}")
        self.wait()

    def picture(self, name: str) -> Any:
        return pixels(self.page.locator(f"#{name}").screenshot(timeout=60_000))

    def text(self, name: str) -> str:
        found: str = self.page.inner_text(f"#{name}")
        return found


def is_blank(picture: Any) -> bool:
    return len(np.unique(picture.reshape(-1, 3), axis=0)) < 50
