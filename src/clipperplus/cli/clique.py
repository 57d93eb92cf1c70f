"""``clipperplus clique``: the largest clique of a graph file."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from ..clique import METHODS, CliqueResult, find_clique
from ..graphs import Graph, read_graph
from ..synthetic import registration_graph
from ..viz.canvas import check_figure
from .live import live_line
from .options import SizeLimit, Threads, as_bytes, as_threads
from .outputs import check_outputs
from .printing import literal, visible

__all__ = ["command"]


def command(
    graph: Annotated[
        Path | None,
        typer.Argument(
            help="A .clq, .clq.b, .mtx, .txt or .edges file, each also .gz. Without it: a simulated registration "
            "problem of 1000 associations, 95 % of them wrong.",
            show_default=False,
        ),
    ] = None,
    method: Annotated[str, typer.Option(help=f"One of {', '.join(METHODS)}.")] = "auto",
    time_limit: Annotated[
        float | None, typer.Option(help="Seconds; the default is 1 for auto and none for the others.")
    ] = None,
    threads: Threads = None,
    memory_limit: Annotated[
        float | None,
        typer.Option(help="MiB that the search may need besides the graph; on one thread, if none are said."),
    ] = None,
    size_limit: SizeLimit = None,
    plot: Annotated[
        Path | None, typer.Option(help="Figure of the graph with the clique, and of the search: .png, .svg or .pdf.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Find the largest clique of a graph and say whether it is proven to be the largest.

    Where the file has weights of vertices, it is the heaviest.
    Ctrl-C ends the search with the best clique so far.
    """
    if plot is not None:
        check_figure(plot)
        check_outputs([("plot", plot)], [graph])
    if graph is None:
        name, loaded = "simulated registration, 1000 associations, 95 % outliers", registration_graph().graph
    else:
        name, loaded = str(graph), read_graph(graph, size_limit=as_bytes("--size-limit", size_limit))
    with live_line("vertices" if loaded.vertex_weights is None else "weight") as callback:
        result = find_clique(
            loaded,
            method=method,
            time_limit="default" if time_limit is None else time_limit,
            threads=1 if threads is None and memory_limit is not None else as_threads(threads),  # each needs memory
            memory_limit=as_bytes("--memory-limit", memory_limit),
            callback=callback,
            on_interrupt="return",
        )
    if as_json:
        typer.echo(json.dumps({"graph": _describe(name, loaded), **result.to_dict()}))
    else:
        _print_summary(name, loaded, result)
    if plot is not None:  # after the answer: what cannot be written does not lose it
        result.plot(loaded, plot)
        if not as_json:
            typer.echo(visible(f"written: {plot}"))
    if result.interrupted:
        sys.exit(130)  # unlike typer.Exit without another word: the answer says it


def _describe(name: str, graph: Graph) -> dict[str, object]:
    return {
        "name": name,
        "num_vertices": graph.num_vertices,
        "num_edges": graph.num_edges,
        "density": graph.density,
        "representation": graph.representation,
    }


def _print_summary(name: str, graph: Graph, result: CliqueResult) -> None:
    console = Console(highlight=False)
    console.print(f"[bold]{literal(name)}[/bold]: {graph.num_vertices} vertices, {graph.num_edges} edges,", end=" ")
    console.print(f"density {graph.density:.3g}", soft_wrap=True)
    what = f"{result.size} vertices"
    if graph.vertex_weights is not None:
        what += f" that weigh {result.weight:.12g}"
    if result.optimal:
        console.print(f"[bold green]maximum clique: {what}[/bold green], proven by the", end=" ")
        console.print(f"{result.certificate.value}")
    else:
        console.print(f"[bold]clique: {what}[/bold], not proven maximum:", end=" ")
        console.print(f"no clique has more than {result.upper_bound:.12g}")
    if result.interrupted:
        console.print("[yellow]interrupted[/yellow]: this is the best clique so far")
    console.print(_numbers(result), soft_wrap=True)

    table = Table(title=f"{result.method}: {result.seconds * 1e3:.2f} ms", title_justify="left")
    table.add_column("stage")
    for heading in ("clique", "vertices", "iterations", "ms"):
        table.add_column(heading, justify="right")
    for stage in result.stages:
        repair = f" (-{stage.removed} +{stage.added})" if stage.removed or stage.added else ""
        iterations = "" if stage.iterations is None else str(stage.iterations)
        table.add_row(
            stage.name + repair, str(stage.clique_size), str(stage.vertices), iterations, f"{stage.seconds * 1e3:.3f}"
        )
    console.print(table)


def _numbers(result: CliqueResult) -> str:
    shown = 20
    text = " ".join(map(str, result.vertices[:shown]))
    more = result.size - shown
    return f"vertices (from 0): {text}" + (f" ... and {more} more (--json lists all)" if more > 0 else "")
