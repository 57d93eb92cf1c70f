"""``clipperplus view``: a registration in the browser, to try settings on; or a map."""

from __future__ import annotations

import html
import os
import tempfile
import threading
import webbrowser
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Annotated

import typer

from .._paths import check_folder
from ..clouds.cloud import Cloud
from ..clouds.files import read_cloud
from ..errors import OptionError
from ..mapping.map import Map
from ..synthetic import room_scans
from ..viz.viewer import MapViewer, Viewer
from .options import CLOUD_FILES, Epsilon, Method, SizeLimit, Threads, VoxelSize, as_bytes, as_threads
from .outputs import check_outputs
from .streams import check_printed

__all__ = ["command"]

_PATIENCE = 0.5
"""Seconds after which Ctrl-C is seen at the latest."""
_LEADING = """<!DOCTYPE html>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url={url}">
"""
"""Page that leads to another, and does not tell it from where."""


def command(
    source: Annotated[
        Path | None,
        typer.Argument(
            help=f"{CLOUD_FILES} Without files: simulated scans. Or the folder of a map.",
            show_default=False,
        ),
    ] = None,
    target: Annotated[Path | None, typer.Argument(help="Another one, of the same place.", show_default=False)] = None,
    voxel_size: VoxelSize = None,
    epsilon: Epsilon = None,
    method: Method = "auto",
    host: Annotated[str, typer.Option(help="Address to listen on; 0.0.0.0 lets other machines in, too.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Or the next one that is free; 0: any.")] = 8080,
    output: Annotated[Path, typer.Option(help="Text file for the transform, where it is saved.")] = Path(
        "transform.txt"
    ),
    size_limit: SizeLimit = None,
    threads: Threads = None,
    open_page: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
) -> None:
    """Show two scans in the browser, registered anew whenever the settings are changed there; or a map.

    The address that is printed has a secret part: who does not know it is not let in. Ctrl-C ends it.
    """
    most = as_bytes("--size-limit", size_limit)
    if source is not None and source.is_dir():
        if (target, voxel_size, epsilon, method) != (None, None, None, "auto"):
            raise OptionError(f"source: expected a point cloud, or no other scan and no settings for the map {source}")
        _serve(MapViewer(Map.load(source, size_limit=most), host=host, port=port), open_page)
        return
    check_folder(output)
    check_outputs([("output", output)], (source, target))
    names, clouds = _clouds(source, target, most)
    viewer = Viewer(
        names,
        clouds,
        voxel_size=voxel_size,
        epsilon=epsilon,
        method=method,
        host=host,
        port=port,
        output=output,
        threads=as_threads(threads),
    )
    _serve(viewer, open_page)


def _serve(viewer: Viewer | MapViewer, open_page: bool) -> None:
    """Keep a viewer open until Ctrl-C."""
    try:
        with suppress(KeyboardInterrupt), ExitStack() as until_then:
            typer.echo(f"viewer: {viewer.url} (Ctrl-C ends it)")
            check_printed()  # or else nobody would know where it is
            if open_page:
                webbrowser.open(until_then.enter_context(_leading_to(viewer.url)))
            # Not for ever: Ctrl-C may reach another thread, and this one sees it when it wakes.
            while not threading.Event().wait(_PATIENCE):
                pass
    finally:
        viewer.close()


@contextmanager
def _leading_to(url: str) -> Iterator[str]:
    """Give the address of a private file that leads to an address.

    On the command line of a browser, all users of this machine could read the secret in it.
    """
    number, name = tempfile.mkstemp(prefix="clipperplus-", suffix=".html")  # for its owner alone
    try:
        with open(number, "w", encoding="utf-8") as file:
            file.write(_LEADING.format(url=html.escape(url)))
        yield Path(name).as_uri()
    finally:
        with suppress(OSError):  # somebody may have tidied up
            os.unlink(name)


def _clouds(
    source: Path | None, target: Path | None, size_limit: int | None
) -> tuple[tuple[str, str], tuple[Cloud, Cloud]]:
    """Return the names and the points of two files, or of simulated scans."""
    if source is None:
        scans = room_scans()
        return ("simulated room, first scan", "second scan"), (Cloud(scans.source), Cloud(scans.target))
    if target is None:
        raise OptionError(f"target: expected a second point cloud, or no file at all, got only {source}")
    return (source.name, target.name), (
        read_cloud(source, size_limit=size_limit),
        read_cloud(target, size_limit=size_limit),
    )
