"""Reads the generated tables in results/, and rounds their numbers so that no text says more than its table."""

from __future__ import annotations

import re
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from pathlib import Path

RESULTS = Path(__file__).resolve().parent / "results"

Row = dict[str, str]


def report(name: str) -> str:
    """Return a generated report."""
    return (RESULTS / f"{name}.md").read_text(encoding="utf-8")


def table(name: str, *titles: str) -> list[Row]:
    """Return the rows of all tables of a report that have columns with these titles."""
    selected: list[Row] = []
    for found in re.findall(r"(?:^\|.*\n)+", report(name), re.MULTILINE):
        head, _, *rows = [[cell.strip() for cell in line[1:-1].split("|")] for line in found.splitlines()]
        if set(titles) <= set(head):
            selected += [dict(zip(head, cells, strict=True)) for cells in rows]
    if not selected:
        raise LookupError(f"results/{name}.md has no table with the columns {', '.join(titles)}")
    return selected


def row(rows: list[Row], *cells: str) -> Row:
    """Return the row that begins with these cells."""
    for found in rows:
        if tuple(found.values())[: len(cells)] == cells:
            return found
    raise LookupError(f"no row {', '.join(cells)} in the table with the columns {', '.join(rows[0])}")


def said(name: str, pattern: str) -> str:
    """Return what a report says outside of its tables: the group of a regular expression."""
    found = re.search(pattern, report(name))
    if found is None:
        raise LookupError(f"results/{name}.md does not say {pattern}")
    return found[1]


def number(cell: str) -> float:
    """Return the number in a cell, bold or not."""
    return float(cell.strip("*×% "))


def up(value: float, step: str = "1") -> str:
    """Round up to a multiple of a power of ten."""
    return f"{Decimal(f'{value:.6f}').quantize(Decimal(step), ROUND_CEILING):f}"


def down(value: float, step: str = "1") -> str:
    """Round down to a multiple of a power of ten."""
    return f"{Decimal(f'{value:.6f}').quantize(Decimal(step), ROUND_FLOOR):f}"
