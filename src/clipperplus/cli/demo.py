"""``clipperplus demo``: simulated scans, registered, with the error against the truth."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from ..clouds.cloud import Cloud
from ..clouds.files import write_cloud
from ..errors import OptionError
from ..geometry.files import write_transform
from ..geometry.transforms import rotation_error, translation_error
from ..registration import register
from ..synthetic import ScanPair, room_scans, street_scans
from ..viz.report import check_report
from .building import map_building
from .map_run import MapRun
from .options import as_threads
from .outputs import check_outputs
from .summary import Scan, end_with_status, print_pose, write_report

__all__ = ["command"]

_PAIRS: dict[str, Callable[..., ScanPair]] = {"room": room_scans, "street": street_scans}
_BUILDING = "building"
_SAVED = ("source.ply", "target.ply", "truth.txt")
_SCENES = (*_PAIRS, _BUILDING)


def command(
    scene: Annotated[str, typer.Option(help=f"One of {', '.join(_SCENES)}.")] = "room",
    seed: Annotated[int, typer.Option(help="Decides on the scene, the motion and the noise.", min=0)] = 0,
    save: Annotated[
        Path | None, typer.Option(help="Folder for the scans and the truth, to try register or map on.")
    ] = None,
    report: Annotated[Path | None, typer.Option(help="HTML file with pictures and numbers, for a browser.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Simulate scans of one scene, register them, and compare with the truth.

    A room is seen twice by a depth camera, a street twice by a lidar, a building thirty times by a scanner: a map.

    No files are needed.
    """
    if scene not in _SCENES:
        raise OptionError(f"scene: expected one of {', '.join(_SCENES)}, got {scene!r}")
    if scene == _BUILDING:
        map_building(MapRun(output=None, report=report, as_json=as_json), seed=seed, save=save)
        return
    if report is not None:
        check_report(report)
    if save is not None:
        check_outputs([("report", report), *(("save", save / name) for name in _SAVED)])
    with Console(stderr=True).status("simulating and registering …"):
        pair = _PAIRS[scene](seed=seed)
        pose = register(pair.source, pair.target, threads=as_threads(None))
    truth: dict[str, object] = {"T_target_source": pair.T_target_source.tolist(), "overlap": pair.overlap}
    lines = [("truth", f"{100.0 * pair.overlap:.1f} % of the source is seen by both")]
    if pose.T_target_source is not None:
        turn = float(rotation_error(pose.T_target_source, pair.T_target_source))
        shift = float(translation_error(pose.T_target_source, pair.T_target_source))
        truth |= {"rotation_error": turn, "translation_error": shift}
        lines.append(("error", f"{turn:.3f} degrees, {shift:.4f} m from the truth"))
    name = f"simulated {scene}, seed {seed}"
    scans = Scan(f"{name}, first scan", Cloud(pair.source)), Scan(f"{name}, second scan", Cloud(pair.target))
    print_pose(scans, pose, as_json=as_json, lines=lines, fields={"truth": truth})
    written = []
    if save is not None:
        save.mkdir(parents=True, exist_ok=True)
        source, target, true = (save / name for name in _SAVED)
        write_cloud(source, pair.source)
        write_cloud(target, pair.target)
        write_transform(true, pair.T_target_source)
        written.append(f"saved; now try: clipperplus register {source} {target}")
    if report is not None:
        written.append(write_report(report, scans, pose))
    end_with_status(pose, [] if as_json else written)
