"""Pages that are one HTML file: Python gathers what to show as JSON, and scripts of ``page/`` draw it.

plotly.js, which they draw with, is put into the file, so that it opens from disk without a network. Points are rounded
to 1/65535 of the extent of their cloud, which no eye can see, and take 8 characters each.
"""

from __future__ import annotations

import base64
import json
import platform
import re
from importlib import resources
from os import PathLike
from typing import Any

import numpy as np
import numpy.typing as npt

from .._build import core_info
from .._paths import as_path, check_folder, write_bytes
from .._words import shown
from ..errors import OptionError
from . import palette
from .framing import Frame
from .packages import require

__all__ = ["check_report", "encode_frame", "encode_points", "origin_of_page", "write_page"]

_GRID = 2**16 - 1
_COLOURS = ("SOURCE", "TARGET", "INLIER", "OUTLIER", "EDGE")


def check_report(path: str | PathLike[str]) -> None:
    """Refuse to go on where a report could not be written: before the work, not after it."""
    check_folder(path)
    require("plotly", "a report")


def write_page(path: str | PathLike[str], name: str, content: dict[str, Any]) -> None:
    """Write a page: the body is ``name.html``, and ``name.js`` draws it; all else is common to all pages."""
    path = as_path(path)
    plotly = require("plotly.offline", "a report").get_plotlyjs()
    # A tag or the beginning of a comment within a string would change where the script ends.
    data = json.dumps(content, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
    colours = {colour.lower(): getattr(palette, colour) for colour in _COLOURS}
    style, script = _fill("common.css", **colours), _fill("common.js") + _fill(f"{name}.js")
    parts = {"style": style, "body": _fill(f"{name}.html"), "data": data, "plotly": plotly, "script": script}
    write_bytes(path, _fill("common.html", **parts).encode())


def origin_of_page(command: str | None, method: str) -> dict[str, str]:
    """Return what the foot of a page says: the command, or the method that was called, and the versions."""
    if command is not None and not isinstance(command, str):
        raise OptionError(f"command: expected a string or None, got {shown(command)}")
    core = core_info()
    return {
        "command": command or f"{method}, called from Python",
        "versions": f"clipperplus {core.version}, commit {core.commit}, {core.simd}, {core.compiler}; "
        f"Python {platform.python_version()}, numpy {np.__version__}, {platform.system()} {platform.machine()}",
    }


def encode_points(points: npt.NDArray[np.float64]) -> dict[str, Any]:
    """Return points as 16-bit steps of a grid over their box, in base 64."""
    low = points.min(axis=0) if len(points) else np.zeros(3)
    step = (points.max(axis=0) - low) / _GRID if len(points) else np.zeros(3)
    steps = np.round((points - low) / np.where(step > 0.0, step, 1.0)).astype("<u2")
    return {"low": low.tolist(), "step": step.tolist(), "steps": base64.b64encode(steps.tobytes()).decode()}


def encode_frame(frame: Frame) -> dict[str, list[float]]:
    """Return how to hold a cloud, as a page takes it."""
    return {name: axis.tolist() for name, axis in frame._asdict().items()}


def _fill(name: str, **parts: str) -> str:
    """Return a file of a page with each ``{{part}}`` replaced, but not those within what replaces one."""
    text = resources.files(__package__).joinpath("page", name).read_text(encoding="utf-8")
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], text)
