"""``clipperplus bench``: the paper's tables and figures, measured here."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, TypeVar

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table as RichTable

from ..bench import bunny as bunny_benchmark
from ..bench import dimacs as dimacs_benchmark
from ..bench import figures
from ..bench.measuring import as_methods
from ..bench.store import Store
from ..bench.tables import Table, describe
from ..clique import METHODS
from ..validation import as_number

__all__ = ["app"]

app = typer.Typer(help="The paper's evaluation: its tables and figures, measured here.", no_args_is_help=True)

_Item = TypeVar("_Item")
_Methods = Annotated[
    str | None,
    typer.Option(help=f"Comma-separated, from {', '.join(METHODS)}. Without it: the paper's methods and auto."),
]
_Output = Annotated[
    Path | None,
    typer.Option(help="Folder for CSV, JSON, Markdown, PNG and SVG. A run that was interrupted goes on from there."),
]
_Quick = Annotated[bool, typer.Option("--quick", help="A small part of it, in less than a minute.")]
_SHOWN_ROWS = 12


@app.command("dimacs")
def dimacs(
    data: Annotated[
        Path | None,
        typer.Option(help="Folder with graph files. Without it: the families that a formula gives exactly."),
    ] = None,
    methods: _Methods = None,
    time_limit: Annotated[
        float | None, typer.Option(help="Seconds for each call; the default is 1 for auto and none for the others.")
    ] = None,
    quick: _Quick = False,
    output: _Output = None,
) -> None:
    """Table I: clique size by clique number, and time, on DIMACS graphs, with the published numbers beside them."""
    chosen = as_methods(methods)
    limit = None if time_limit is None else as_number("--time-limit", time_limit, 0.0, 1e9)
    problems = dimacs_benchmark.problems(data, quick=quick)
    settings = {
        "graphs": [problem.name for problem in problems],
        "methods": chosen,
        "time limit in seconds": "the method's own" if limit is None else limit,
    }
    store = Store(output, "dimacs", settings, dimacs_benchmark.columns(chosen))
    with _tracked(problems, store, "graphs") as tracked:
        dimacs_benchmark.run(tracked, chosen, store, "default" if limit is None else limit)
    _report(
        "The DIMACS graphs of the paper's Table I",
        store,
        dimacs_benchmark.tables(store.rows, chosen),
        dimacs_benchmark.conclusions(store.rows, chosen),
        dimacs_benchmark.summary(store.rows, chosen),
        lambda folder: figures.dimacs_figures(store.rows, chosen, folder),
    )


@app.command("bunny")
def bunny(
    data: Annotated[
        Path | None,
        typer.Option(help="PLY file with the model, at least 1000 points. Without it: a rabbit made of ellipsoids."),
    ] = None,
    methods: _Methods = None,
    seed: Annotated[int, typer.Option(help="Of noise, clutter and associations.", min=0)] = 0,
    quick: _Quick = False,
    output: _Output = None,
) -> None:
    """Section V-B: 200 associations of a model among clutter, 0 to 98 % of them wrong, 50 graphs each."""
    chosen = as_methods(methods)
    model = bunny_benchmark.load_model(data, seed=seed)
    trials = bunny_benchmark.trials(quick=quick)
    settings = {
        "model": "generated rabbit" if data is None else data.name,
        "epsilon in metres": round(model.epsilon, 9),
        "trials": len(trials),
        "seed": seed,
        "methods": chosen,
    }
    store = Store(output, "bunny", settings, bunny_benchmark.columns(chosen))
    with _tracked(trials, store, "graphs") as tracked:
        bunny_benchmark.run(tracked, model, chosen, store, seed=seed)
    _report(
        "The bunny of the paper's Section V-B",
        store,
        bunny_benchmark.tables(store.rows, chosen),
        bunny_benchmark.conclusions(store.rows, chosen),
        [asdict(level) for level in bunny_benchmark.levels(store.rows, chosen)],
        lambda folder: figures.bunny_figures(store.rows, chosen, folder),
    )


@contextmanager
def _tracked(items: Sequence[_Item], store: Store, what: str) -> Iterator[Iterator[_Item]]:
    """Give the items one by one, with a bar on stderr where that is a terminal."""
    console = Console(stderr=True)
    if store.rows and store.folder is not None:
        console.print(
            f"{len(store.rows)} of {len(items)} {what} were measured before: going on from there", style="dim"
        )
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal, transient=True) as progress:
        try:
            yield iter(progress.track(items, description=what))
        except KeyboardInterrupt:
            done = f"{len(store.rows)} of {len(items)} {what} are measured"
            hint = "" if store.folder is None else "; the same command goes on from there"
            console.print(f"interrupted: {done}{hint}")
            raise


def _report(
    title: str,
    store: Store,
    tables: Sequence[Table],
    said: Sequence[str],
    summary: object,
    draw: Callable[[Path], list[Path]],
) -> None:
    """Print what was found; write it where there is a folder."""
    console = Console(highlight=False)
    for table in tables:
        _print_table(console, table)
    for sentence in said:
        console.print(escape(sentence))
    console.print(escape(describe(store.environment)), style="dim")
    if store.folder is None:
        return
    notes = "\n".join(f"- {sentence}" for sentence in said)
    if figures.available():
        pictures = draw(store.folder)
        notes += "".join(f"\n\n![{path.stem}]({path.name})" for path in pictures if path.suffix == ".png")
    else:
        hint = "figures need matplotlib: pip install 'clipperplus[viz]', then the same command again"
        Console(stderr=True).print(hint, markup=False)
    store.finish(title, tables, notes, summary)
    console.print(escape(f"written to {store.folder}"))


def _print_table(console: Console, table: Table) -> None:
    """Print a table; where it is wider than the terminal, without the columns that it can do without."""
    rich_table = _rich(table, leave_out=())
    if Console(width=10_000).measure(rich_table).maximum > console.width:
        rich_table = _rich(table, leave_out=table.dispensable)
    console.print(rich_table)


def _rich(table: Table, leave_out: Sequence[str]) -> RichTable:
    kept = [place for place, column in enumerate(table.columns) if column not in leave_out]
    result = RichTable(title=table.title, title_justify="left", box=SIMPLE_HEAD, padding=0, pad_edge=False)
    for place in kept:
        result.add_column(table.columns[place], justify="right" if place else "left", no_wrap=True)
    step = 1 if table.everything else max(1, (len(table.rows) - 1) // _SHOWN_ROWS)
    pairs = list(table.pairs())
    for row, published in [*pairs[:-1:step], *pairs[-1:]]:
        result.add_row(*(row[place] for place in kept))
        if published is not None:
            result.add_row("  in the paper", *(published[place] for place in kept[1:]), style="dim")
    return result
