"""``clipperplus map``: many scans put together."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..clouds.files import CLOUD_ENDINGS
from ..errors import OptionError
from .building import map_building
from .cluster import ClusterAddress, Memory, Where, Workers
from .map_run import MapRun
from .options import SizeLimit, Threads, VoxelSize, as_bytes
from .scan_files import find_scans, read_poses_of

__all__ = ["command"]


def command(
    scans: Annotated[
        list[Path] | None,
        typer.Argument(
            help=f"A folder of point clouds, or files: {' '.join(CLOUD_ENDINGS)}. Without any: a simulated building.",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(help="Folder for the map, and for what is known so far, from which an interrupted run goes on."),
    ] = None,
    voxel_size: VoxelSize = None,
    poses: Annotated[
        Path | None,
        typer.Option(
            help="Where the scans roughly stand, in the order of the files: a TUM or KITTI trajectory, or 4 x 4 "
            "matrices below each other (nan: not known)."
        ),
    ] = None,
    free_space: Annotated[
        bool,
        typer.Option(help="Whether points where a sensor looked through speak against a pose. Not for merged scans."),
    ] = True,
    workers: Workers = None,
    cluster: ClusterAddress = None,
    memory: Memory = None,
    size_limit: SizeLimit = None,
    threads: Threads = None,
    report: Annotated[Path | None, typer.Option(help="HTML file with pictures and numbers, for a browser.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Put many scans together, whatever their order and their frames, and say how sure that is.

    Files of a folder are taken in natural order, scan2 before scan10. After Ctrl-C, a command with --output goes on.

    Exit status 0: all scans are in one map; 1: some are not, and why is said; 2: wrong input.
    """
    where = Where(workers, cluster, memory)
    most = as_bytes("--size-limit", size_limit)
    run = MapRun(output=output, report=report, where=where, size_limit=most, threads=threads, as_json=as_json)
    if not scans:
        if poses is not None:
            raise OptionError(f"poses: expected files of scans with {poses}, got none")
        map_building(run, voxel_size=voxel_size, free_space=free_space)
        return
    files = find_scans(scans, but=poses, size_limit=most)
    if output is not None and any(path.parent.resolve() == output.resolve() for path in files.paths):
        raise OptionError(f"output: expected another folder than that of the scans, got {output}")
    known = None if poses is None else read_poses_of(poses, len(files.paths), most)
    run.check(files.paths, poses)
    made = run.build(files.paths, names=files.names, poses=known, voxel_size=voxel_size, free_space=free_space)
    run.finish(made)
