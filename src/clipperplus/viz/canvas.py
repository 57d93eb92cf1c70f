"""Figures of matplotlib: one style for all, the same bytes for the same numbers, no window, no global state."""

from __future__ import annotations

import io
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any

from .._paths import as_path, check_folder, write_bytes
from ..errors import FileFormatError
from .packages import require

__all__ = ["as_figure_path", "check_figure", "drawing", "new_figure", "save_figure"]

_STYLE = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 9,
    "grid.alpha": 0.3,
    "legend.fontsize": 7.5,
    "svg.hashsalt": "clipperplus",
    "svg.fonttype": "path",
}
_WITHOUT_DATE: dict[str, dict[str, None]] = {
    ".png": {"Software": None},
    ".svg": {"Date": None},
    ".pdf": {"CreationDate": None},
}
"""Endings of figures, and what to leave out of such files so that they do not change with the day."""

_TURNS = threading.RLock()
"""Settings and filters are those of the whole process: two threads that put them back in turn would mix them up."""


def as_figure_path(path: str | PathLike[str]) -> Path:
    """Return the name of a file that a figure can be written to; others are refused."""
    path = as_path(path)
    if path.suffix.lower() not in _WITHOUT_DATE:
        raise FileFormatError(f"{path}: cannot write this kind of figure; known endings are {' '.join(_WITHOUT_DATE)}")
    return path


def check_figure(path: str | PathLike[str]) -> None:
    """Refuse to go on where a figure could not be written: before the work, not after it."""
    check_folder(as_figure_path(path))
    require("matplotlib", "a figure")


@contextmanager
def drawing() -> Iterator[None]:
    """Draw in the style of the package until the end of the block; settings of the user are as before then."""
    matplotlib = require("matplotlib", "a figure")
    with _TURNS, matplotlib.rc_context(), warnings.catch_warnings():
        matplotlib.rcdefaults()  # a style of the user's would change what is drawn, and the bytes
        matplotlib.rcParams.update(_STYLE)
        warnings.filterwarnings("ignore", "Glyph")  # names in scripts that the font does not have
        yield


def new_figure(size: tuple[float, float]) -> Any:
    """Return an empty figure of so many inches that belongs to no window."""
    figure = require("matplotlib.figure", "a figure").Figure(figsize=size, layout="constrained")
    require("matplotlib.backends.backend_agg", "a figure").FigureCanvasAgg(figure)
    return figure


def save_figure(figure: Any, path: str | PathLike[str]) -> None:
    """Write a figure as PNG, SVG or PDF."""
    path = as_figure_path(path)
    kind, drawn = path.suffix.lower(), io.BytesIO()
    with drawing():
        figure.savefig(drawn, format=kind[1:], dpi=200, metadata=_WITHOUT_DATE[kind])
    write_bytes(path, drawn.getvalue())
