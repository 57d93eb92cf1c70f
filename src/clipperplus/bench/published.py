"""Numbers of the paper's tables, to be shown beside those measured here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from .measuring import COMPARED

__all__ = ["TimesAndRatios", "published_cells", "times_and_ratios"]

TimesAndRatios: TypeAlias = dict[str, dict[str, float]]
"""Method → ``"ms"``, a time in milliseconds, and ``"ratio"``."""


def times_and_ratios(values: Sequence[float]) -> TimesAndRatios:
    """Return a line of the paper by method; it has a time and a ratio of each in turn."""
    return {method: {"ms": values[2 * k], "ratio": values[2 * k + 1]} for k, method in enumerate(COMPARED)}


def published_cells(of_method: TimesAndRatios, methods: Iterable[str], what: str) -> list[str]:
    """Return a cell for every method, empty for those that the paper does not have."""
    return [f"{of_method[method][what]:.3g}" if method in of_method else "" for method in methods]
