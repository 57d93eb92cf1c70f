"""How all commands print: lines with labels, tables of numbers, and the end with its exit status."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterable, Sequence

import typer
from rich.box import SIMPLE_HEAD
from rich.markup import escape
from rich.table import Table

from .._words import visible

__all__ = ["command_line", "end", "labelled_lines", "literal", "number_table", "stage_table", "visible"]


def literal(text: str) -> str:
    """Return a line for rich, to be shown without obeying anything in it."""
    return escape(visible(text))


def command_line() -> str:
    """Return the command as it was given."""
    return shlex.join(["clipperplus", *sys.argv[1:]])


def labelled_lines() -> Table:
    """Return a table for lines of a label and a text."""
    lines = Table.grid(padding=(0, 2), pad_edge=False)
    lines.add_column(style="dim", no_wrap=True)
    lines.add_column(overflow="fold")
    return lines


def number_table(first: str, *others: str) -> Table:
    """Return a table with these headings; all columns but the first hold numbers."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column(first)
    for heading in others:
        table.add_column(heading, justify="right")
    return table


def stage_table(stages: Iterable[tuple[str, str, float]], seconds: float, *, unit: str = "ms") -> Table:
    """Return a table of steps: the name of each, what came out of it, and its seconds; and those of all."""
    scale, digits = {"ms": (1e3, 1), "s": (1.0, 2)}[unit]
    table = number_table("stage", "result", unit)
    for name, result, taken in stages:
        table.add_row(name, result, f"{taken * scale:.{digits}f}")
    table.add_row("all", "", f"{seconds * scale:.{digits}f}", style="bold")
    return table


def end(notes: Sequence[str], doubt: str | None) -> None:
    """Print what is left to say; end with status 1 and the reason if the answer is not to be trusted."""
    for note in notes:
        typer.echo(visible(note))
    if doubt is not None:
        print(f"clipperplus: {visible(doubt)}", file=sys.stderr)
        raise typer.Exit(1)
