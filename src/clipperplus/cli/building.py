"""The simulated building that ``clipperplus map`` and ``clipperplus demo --scene building`` make a map of."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..clouds.files import write_cloud
from ..geometry.files import Trajectory, write_tum
from ..geometry.poses import inverse
from ..geometry.transforms import rotation_error, translation_error
from ..mapping import Map
from ..synthetic import BuildingScans, building_scans
from .map_run import MapRun
from .outputs import check_outputs

__all__ = ["map_building"]

_TRUTH = "truth.tum"
"""File of the poses, beside the scans."""


def map_building(run: MapRun, *, seed: int = 0, save: Path | None = None, **options: Any) -> None:
    """Simulate scans of a building, put them together, and compare with the truth; ``save`` is a folder for them."""
    run.check()
    building = building_scans(seed=seed)
    names = [f"scan{number}.ply" for number in range(len(building.clouds))]
    if save is not None:
        check_outputs([("report", run.report), *(("save", save / name) for name in (*names, _TRUTH))])
    notes = [] if save is None else [_save(building, names, save)]
    made = run.build(building.clouds, names=names, **options)
    turn, shift = _worst_errors(made, building.poses)
    error = f"{turn:.3f} degrees and {shift:.4f} m from the truth, at most, between two scans"
    truth = {"rotation_error": turn, "translation_error": shift}
    run.finish(made, lines=[("error", error)], fields={"truth": truth}, notes=notes)


def _worst_errors(made: Map, truth: npt.NDArray[np.float64]) -> tuple[float, float]:
    """Return by how many degrees and metres two scans of a component are off as seen from each other, at most."""
    turn = shift = 0.0
    for scans in made.components:
        first, second = (scans[numbers] for numbers in np.nonzero(~np.eye(len(scans), dtype=np.bool_)))
        found, true = (inverse(poses[second]) @ poses[first] for poses in (made.poses, truth))
        turn = max(turn, float(np.max(rotation_error(found, true))))
        shift = max(shift, float(np.max(translation_error(found, true))))
    return turn, shift


def _save(building: BuildingScans, names: Sequence[str], folder: Path) -> str:
    """Write the scans of a building and the truth; return what to say about it."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, points in zip(names, building.clouds, strict=True):
        write_cloud(folder / name, points)
    write_tum(folder / _TRUTH, Trajectory(np.arange(len(names), dtype=np.float64), building.poses))
    return f"saved; now try: clipperplus map {folder} --output {folder / 'map'}"
