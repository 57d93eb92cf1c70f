"""Fewer points, for the eye."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from ..clouds.cloud import as_cloud
from ..registration import Pose

__all__ = ["ShownCloud", "shown_clouds", "thin"]

_Scalar = TypeVar("_Scalar", bound=np.generic)


def thin(rows: npt.NDArray[_Scalar], most: int) -> npt.NDArray[_Scalar]:
    """Return at most so many rows, in their order: always the same ones, chosen at random, for steps would show."""
    if len(rows) <= most:
        return rows
    chosen = np.random.default_rng(0).choice(len(rows), most, replace=False, shuffle=False)
    return rows[np.sort(chosen)]


class ShownCloud(NamedTuple):
    """The part of a cloud that a picture shows."""

    points: npt.NDArray[np.float64]
    total: int
    """How many there are."""
    kind: str
    """What they are: points, or voxels."""

    def __str__(self) -> str:
        part = "all" if len(self.points) == self.total else f"{len(self.points)} of"
        return f"{part} {self.total} {self.kind}"


def shown_clouds(pose: Pose, source: Any, target: Any, most: int) -> tuple[ShownCloud, ShownCloud]:
    """Return what to show of both clouds: of those given, or else of the points that the pose has kept."""
    kept = "points" if pose.voxel_size is None else "voxels"
    clouds = []
    for name, given, points in (("source", source, pose.source_points), ("target", target, pose.target_points)):
        whole = as_cloud(name, points).points  # those kept are refused too if they are out of sight
        if given is not None:
            whole = as_cloud(name, given).points
        shown = thin(whole, most).astype(np.float64)
        clouds.append(ShownCloud(shown, len(whole), kept if given is None else "points"))
    return clouds[0], clouds[1]
