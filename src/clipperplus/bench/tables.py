"""Tables as plain text, for Markdown and for the terminal."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

__all__ = ["Table", "describe", "markdown_table", "three_digits"]


@dataclass(frozen=True)
class Table:
    """A table of strings."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    published: Sequence[Sequence[str] | None] = ()
    """For every row what the paper has, if it has it; empty cells where it has nothing."""
    dispensable: Sequence[str] = ()
    """Columns that a narrow terminal may go without."""
    everything: bool = True
    """Whether all rows matter at a glance; otherwise the terminal shows some of them."""

    def to_markdown(self) -> str:
        """Return title and table, what the paper has in brackets."""
        rows = [
            [f"{cell} ({theirs})" if theirs else cell for cell, theirs in zip(row, published, strict=True)]
            for row, published in ((row, published or [""] * len(row)) for row, published in self.pairs())
        ]
        title = self.title + (", the paper's in brackets" if any(self.published) else "")
        return f"## {title}\n\n{markdown_table(self.columns, rows)}"

    def pairs(self) -> Iterator[tuple[Sequence[str], Sequence[str] | None]]:
        """Give every row with what the paper has."""
        return zip(self.rows, self.published or [None] * len(self.rows), strict=True)


def three_digits(value: float) -> str:
    """Return a number with three significant digits, or all of those before the point."""
    before = math.floor(math.log10(value)) if value > 0.0 else 0
    return f"{value:.{max(0, 2 - before)}f}"


def markdown_table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table with the first column left and the others right aligned."""
    lines = ["| " + " | ".join(columns) + " |", "| --- |" + " ---: |" * (len(columns) - 1)]
    lines += ["| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def describe(environment: dict[str, str]) -> str:
    """Return machine and versions in a line."""
    return "; ".join(f"{value}" if key == "processor" else f"{key} {value}" for key, value in environment.items())
