"""``clipperplus bench``: the paper's tables and figures, measured here."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Literal, TypeVar

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table as RichTable

from .._validation import as_number
from ..bench import bunny as bunny_benchmark
from ..bench import dimacs as dimacs_benchmark
from ..bench import figures, match_problems
from ..bench import maps as maps_benchmark
from ..bench import outliers as outliers_benchmark
from ..bench import scans as scans_benchmark
from ..bench.fragments import find_scenes
from ..bench.measuring import as_methods
from ..bench.rivals import RIVALS, as_rivals, why_missing
from ..bench.store import Store
from ..bench.tables import Table, describe
from ..clique import METHODS
from ..evaluation import PROTOCOLS, as_protocol
from .printing import literal

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
_Only = Annotated[str | None, typer.Option(help="Comma-separated parts of the names of rows. Without it: all of them.")]
_Quick = Annotated[bool, typer.Option("--quick", help="A small part of it, in less than a minute.")]
_SHOWN_ROWS = 12
_QUICK_SECONDS = 1.0


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
    limit: float | Literal["default"] = _QUICK_SECONDS if quick else "default"
    if time_limit is not None:
        limit = as_number("time_limit", time_limit, 0.0, 1e9)
    problems = dimacs_benchmark.problems(data, quick=quick)
    settings = {"methods": chosen, "time limit": "the method's own" if limit == "default" else f"{limit} s"}
    store = Store(output, "dimacs", settings, dimacs_benchmark.columns(chosen))
    proof = dimacs_benchmark.QUICK_SECONDS_FOR_PROOF if quick else dimacs_benchmark.SECONDS_FOR_PROOF
    with _tracked(problems, store) as tracked:
        rows = dimacs_benchmark.run(tracked, chosen, store, time_limit=limit, seconds_for_proof=proof)
    _report(
        "The DIMACS graphs of the paper's Table I",
        store,
        dimacs_benchmark.tables(rows, chosen),
        dimacs_benchmark.conclusions(rows, chosen),
        dimacs_benchmark.summary(rows, chosen),
        lambda folder: figures.dimacs_figures(rows, chosen, folder),
    )


@app.command("bunny")
def bunny(
    data: Annotated[
        Path | None,
        typer.Option(help="Point cloud with the model, at least 1000 points. Without it: a rabbit made of ellipsoids."),
    ] = None,
    methods: _Methods = None,
    seed: Annotated[int, typer.Option(help="Of the points taken, noise, clutter and associations.", min=0)] = 0,
    quick: _Quick = False,
    output: _Output = None,
) -> None:
    """Section V-B: 200 associations of a model among clutter, 0 to 98 % of them wrong, 50 graphs each."""
    chosen = as_methods(methods)
    model = bunny_benchmark.load_model(data, seed=seed)
    trials = bunny_benchmark.trials(quick=quick)
    settings = {
        "model": "generated rabbit" if data is None else data.name,
        "epsilon": f"{model.epsilon:.6g} m",
        "seed": seed,
        "methods": chosen,
    }
    store = Store(output, "bunny", settings, bunny_benchmark.columns(chosen))
    with _tracked(trials, store) as tracked:
        rows = bunny_benchmark.run(tracked, model, chosen, store, seed=seed)
    _report(
        "The bunny of the paper's Section V-B",
        store,
        bunny_benchmark.tables(rows, chosen),
        bunny_benchmark.conclusions(rows, chosen),
        [asdict(level) for level in bunny_benchmark.levels(rows, chosen)],
        lambda folder: figures.bunny_figures(rows, chosen, folder),
    )


@app.command("scans")
def scans(
    data: Annotated[
        Path,
        typer.Option(help="Folder with scenes of 3DMatch: SCENE/cloud_bin_*.ply and SCENE-evaluation/gt.log."),
    ],
    benchmark: Annotated[str, typer.Option(help="Whose pairs: 3DMatch or 3DLoMatch.")] = "3DMatch",
    scenes: Annotated[
        str | None, typer.Option(help="Comma-separated parts of the names of scenes. Without it: all of them.")
    ] = None,
    protocol: Annotated[str, typer.Option(help=f"For the recall: {', '.join(PROTOCOLS)}.")] = "3DMatch",
    voxel_size: Annotated[
        float, typer.Option(help="Metres, also epsilon. The paper has 0.05 indoors and 0.1 outdoors.")
    ] = scans_benchmark.VOXEL_SIZE,
    methods: _Methods = None,
    quick: _Quick = False,
    output: _Output = None,
) -> None:
    """Table II: clique size by clique number, and time, on pairs of real scans, and how many are registered."""
    chosen, rule = as_methods(methods), as_protocol(protocol)
    size = as_number("voxel_size", voxel_size, 0.0, 1e3, open_interval=True)
    chosen_scenes = find_scenes(data, benchmark=benchmark, wanted=_parts(scenes))
    pairs = scans_benchmark.pairs(chosen_scenes, protocol=rule, quick=quick)
    settings = {"benchmark": benchmark, "protocol": rule.name, "voxel size": f"{size:g} m", "methods": chosen}
    store = Store(output, "scans", settings, scans_benchmark.columns(chosen))
    with _tracked(pairs, store) as tracked:
        rows = scans_benchmark.run(tracked, chosen, store, protocol=rule, voxel_size=size)
    papers = scans_benchmark.papers_of(benchmark)
    _report(
        "The real scans of the paper's Table II",
        store,
        scans_benchmark.tables(rows, chosen, rule, papers),
        scans_benchmark.conclusions(rows, chosen, scans_benchmark.without_rmse(pairs, rule)),
        [asdict(result) for result in scans_benchmark.results(rows, chosen)],
        lambda folder: figures.scans_figures(rows, chosen, folder, papers),
    )


@app.command("maps")
def maps(
    data: Annotated[Path, typer.Option(help="Folder with scenes of 3DMatch, scans/3dmatch* or sequences/*.npz.")],
    only: _Only = None,
    open3d: Annotated[bool, typer.Option(help="Whether to measure Open3D's multiway registration, too.")] = True,
    threads: Annotated[int, typer.Option(help="For everything.", min=1)] = 2,
    output: _Output = None,
) -> None:
    """Maps of many scans: multiview recall, poses of sequences, and where in a map a scan is."""
    wanted = _parts(only)
    found = maps_benchmark.problems(data, wanted=wanted, open3d=open3d)
    store = Store(output, "maps", {"threads": threads}, maps_benchmark.COLUMNS)
    with _tracked(found, store) as tracked:
        rows = maps_benchmark.run(tracked, store, threads=threads)
    _report("Maps of many scans", store, maps_benchmark.tables(rows), [], rows, lambda folder: [])


@app.command("outliers")
def outliers(
    data: Annotated[
        Path | None,
        typer.Option(
            help="Folder with scans/stanford_bunny/bun10k.ply, scans/kitti, scans/correspondences or graphs/*.npz. "
            "Without it: a rabbit made of ellipsoids."
        ),
    ] = None,
    methods: Annotated[
        str | None, typer.Option(help=f"Comma-separated, from {', '.join(RIVALS)}. Without it: all that are installed.")
    ] = None,
    only: _Only = None,
    seed: Annotated[int, typer.Option(help="Of the points taken, noise, clutter and associations.", min=0)] = 0,
    quick: _Quick = False,
    output: _Output = None,
) -> None:
    """Matched points, 0 to 99.5 % of them wrong, and matches of real scans: rivals side by side, one thread."""
    wanted = as_rivals(methods)
    missing = {name: why for name in wanted if (why := why_missing(name)) is not None}
    chosen = [name for name in wanted if name not in missing]
    found = match_problems.problems(data, wanted=_parts(only), quick=quick, seed=seed)
    settings = {"seed": seed, "methods": chosen}
    store = Store(output, "outliers", settings, outliers_benchmark.columns(chosen))
    with _tracked(found, store) as tracked:
        rows = outliers_benchmark.run(tracked, chosen, store)
    _report(
        "Matched points with outliers: the rivals side by side",
        store,
        outliers_benchmark.tables(rows, chosen, missing),
        outliers_benchmark.conclusions(rows, chosen),
        outliers_benchmark.summary(rows, chosen),
        lambda folder: figures.outliers_figures(rows, chosen, folder),
    )


def _parts(text: str | None) -> list[str] | None:
    """Return what a comma-separated list names; None without one."""
    return None if text is None else [part.strip() for part in text.split(",") if part.strip()]


@contextmanager
def _tracked(items: Sequence[_Item], store: Store) -> Iterator[Iterator[_Item]]:
    """Give the items one by one, with a bar on stderr where that is a terminal."""
    console = Console(stderr=True)
    if store.rows:
        console.print(f"{len(store.rows)} graphs were measured before; going on", style="dim")
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal, transient=True) as progress:
        try:
            yield iter(progress.track(items, description="graphs"))
        except KeyboardInterrupt:
            hint = "" if store.folder is None else "; the same command goes on from there"
            console.print(f"{len(store.rows)} of {len(items)} graphs are measured{hint}", soft_wrap=True)
            raise


def _report(
    title: str,
    store: Store,
    tables: Sequence[Table],
    said: Sequence[str],
    summary: object,
    draw: Callable[[Path], list[Path]],
) -> None:
    """Write what was found where there is a folder, then print it: nobody may be listening."""
    if store.folder is not None:
        notes = "\n".join(f"- {sentence}" for sentence in said)
        if figures.available():
            pictures = draw(store.folder)
            notes += "".join(f"\n\n![{path.stem}]({path.name})" for path in pictures if path.suffix == ".png")
        else:
            hint = "figures need matplotlib: pip install 'clipperplus[viz]', then the same command again"
            Console(stderr=True).print(hint, markup=False)
        store.finish(title, tables, notes, summary)
    store.close()
    console = Console(highlight=False)
    for table in tables:
        _print_table(console, table)
    for sentence in said:
        console.print(literal(sentence))
    console.print(literal(describe(store.environment)), style="dim")
    if store.folder is not None:
        console.print(literal(f"written to {store.folder}"), soft_wrap=True)


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
        width = max(len(row[place]) for row in [table.columns, *table.rows]) if place else None
        result.add_column(table.columns[place], justify="right" if place else "left", no_wrap=True, min_width=width)
    step = 1 if table.everything else max(1, (len(table.rows) - 1) // _SHOWN_ROWS)
    pairs = list(table.pairs())
    for row, published in [*pairs[:-1:step], *pairs[-1:]]:
        result.add_row(*(literal(row[place]) for place in kept))
        if published is not None:
            result.add_row("  in the paper", *(published[place] for place in kept[1:]), style="dim")
    return result
