"""``clipperplus register``: the transform between two scans."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, TypeAlias, cast

import numpy as np
import numpy.typing as npt
import typer
from rich.console import Console

from .._paths import check_folder
from ..clouds.cloud import Cloud
from ..clouds.files import as_written_path, read_cloud, write_cloud
from ..geometry.files import write_transform
from ..geometry.motions import MOTIONS
from ..geometry.transforms import apply_transform
from ..registration import Status, register
from ..viz.report import check_report
from .options import CLOUD_FILES, Epsilon, Method, SizeLimit, Threads, VoxelSize, as_bytes, as_threads
from .outputs import check_outputs
from .summary import Scan, end_with_status, print_pose, write_report

__all__ = ["command"]

_Viewpoint: TypeAlias = tuple[float, float, float]


def command(
    source: Annotated[Path, typer.Argument(help=CLOUD_FILES)],
    target: Annotated[Path, typer.Argument(help="Another one, of the same place.")],
    voxel_size: VoxelSize = None,
    epsilon: Epsilon = None,
    method: Method = "auto",
    matches: Annotated[int, typer.Option(help="Match features that are among so many nearest of each other.")] = 1,
    motion: Annotated[
        str,
        typer.Option(
            help="Which transforms there may be: any; with a scale; turns about --up, also in a plane; no turns.",
            metavar="|".join(MOTIONS),
        ),
    ] = "rigid",
    up: Annotated[
        _Viewpoint | None, typer.Option(help="What is up in both frames, for yaw and planar; without it: 0 0 1.")
    ] = None,
    effort: Annotated[
        str, typer.Option(help="How far to look on where the answer is not trusted.", metavar="low|normal|high")
    ] = "normal",
    refine: Annotated[str | None, typer.Option(help="gicp: finish with generalized ICP.", metavar="gicp")] = None,
    source_viewpoint: Annotated[
        _Viewpoint | None,
        typer.Option(help="Where the source's sensor was; without it: what the file says, or judged from the cloud."),
    ] = None,
    target_viewpoint: Annotated[_Viewpoint | None, typer.Option(help="The same for the target.")] = None,
    free_space: Annotated[
        bool,
        typer.Option(help="Whether points where a sensor looked through speak against a transform. Not for maps."),
    ] = True,
    min_confidence: Annotated[float, typer.Option(help="Less than this, from 0 to 1, is not to be trusted.")] = 0.5,
    prior: Annotated[
        float, typer.Option(help="How likely it is beforehand that the scans overlap, between 0 and 1.")
    ] = 0.5,
    threads: Threads = None,
    size_limit: SizeLimit = None,
    output: Annotated[Path | None, typer.Option(help="Text file for the 4 x 4 transform, source to target.")] = None,
    aligned: Annotated[
        Path | None, typer.Option(help="File for the source in the frame of the target: .ply or .pcd.")
    ] = None,
    report: Annotated[Path | None, typer.Option(help="HTML file with pictures and numbers, for a browser.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Find the transform that moves one scan onto another, whatever their first poses.

    Exit status 0: trust it; 1: do not, the reason is given, files are still written; 2: wrong input.
    """
    for path in (output, aligned):
        if path is not None:
            check_folder(path)
    if aligned is not None:
        as_written_path(aligned)
    if report is not None:
        check_report(report)
    check_outputs((("output", output), ("aligned", aligned), ("report", report)), (source, target))
    most = as_bytes("--size-limit", size_limit)
    scans = (
        Scan(str(source), read_cloud(source, size_limit=most)),
        Scan(str(target), read_cloud(target, size_limit=most)),
    )
    with Console(stderr=True).status("registering …"):
        pose = register(
            scans[0].cloud,
            scans[1].cloud,
            voxel_size=voxel_size,
            epsilon=epsilon,
            method=method,
            matches=matches,
            motion=motion,
            up=up,
            effort=cast("Literal['low', 'normal', 'high']", effort),
            refine=cast("Literal['gicp'] | None", refine),
            source_viewpoint=source_viewpoint,
            target_viewpoint=target_viewpoint,
            free_space=free_space,
            min_confidence=min_confidence,
            prior=prior,
            threads=as_threads(threads),
        )
    print_pose(scans, pose, as_json=as_json)  # first of all: what cannot be written does not lose it
    written = []
    if pose.T_target_source is not None:
        doubt = "" if pose.status is Status.OK else " (not to be trusted)"
        _write(pose.T_target_source, scans[0].cloud, output, aligned)
        written += [f"written: {path}{doubt}" for path in (output, aligned) if path is not None]
    if report is not None:
        written.append(write_report(report, scans, pose))
    end_with_status(pose, [] if as_json else written)


def _write(motion: npt.NDArray[np.float64], source: Cloud, output: Path | None, aligned: Path | None) -> None:
    """Write the transform and the aligned cloud where they are asked for."""
    if output is not None:
        write_transform(output, motion)
    if aligned is not None:
        moved = Cloud(
            points=apply_transform(motion, source.points),
            normals=None if source.normals is None else source.normals @ motion[:3, :3].T,
            viewpoint=None if source.viewpoint is None else apply_transform(motion, source.viewpoint[None])[0],
        )
        write_cloud(aligned, moved)
