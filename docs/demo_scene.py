"""What the pictures of the pages are of: the two scans of ``clipperplus demo``, registered, and seen from above."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import clipperplus as cp
from clipperplus.synthetic import ScanPair, room_scans

__all__ = ["Scene", "View"]


@dataclass(frozen=True)
class View:
    """A scan from above. The camera is tilted; the floor tells where up is."""

    axes: Any
    """``(3, 3)``: rows to the right, ahead and up."""
    floor: float
    """Height of the floor in the camera's frame."""

    @classmethod
    def of(cls, cloud: cp.PreparedCloud) -> View:
        """Look from above the floor of a scan; a camera has x to the right, y down and z ahead."""
        up = np.array([0.0, -1.0, 0.0])
        for _ in range(3):
            level = cloud.normals @ up > 0.95
            up = cloud.normals[level].mean(axis=0)
            up /= np.linalg.norm(up)
        ahead = np.cross(up, (1.0, 0.0, 0.0))
        ahead /= np.linalg.norm(ahead)
        return cls(np.stack((np.cross(ahead, up), ahead, up)), float(np.quantile(cloud.points[level] @ up, 0.05)))

    def plan(self, points: Any) -> Any:
        """Return ``(n, 2)``: to the right and ahead."""
        return np.asarray(points, dtype=float) @ self.axes[:2].T

    def between(self, points: Any) -> Any:
        """Whether points are between floor and ceiling."""
        height = np.asarray(points) @ self.axes[2] - self.floor
        return (height > 0.25) & (height < 2.1)


@dataclass(frozen=True)
class Scene:
    """What the pictures are of."""

    scans: ScanPair
    pose: cp.Pose
    target: cp.PreparedCloud
    source_view: View
    target_view: View
    fine: tuple[Any, Any]
    """Points of source and target to draw."""

    @classmethod
    def demo(cls) -> Scene:
        """Register the two scans of ``clipperplus demo``."""
        scans = room_scans()
        pose = cp.register(scans.source, scans.target, max_alternatives=40)
        source, target = (cp.prepare(cloud, voxel_size=pose.voxel_size) for cloud in (scans.source, scans.target))
        views = View.of(source), View.of(target)
        clouds = (cp.downsample(cloud, voxel_size=0.06) for cloud in (scans.source, scans.target))
        first, second = (cloud[view.between(cloud)] for cloud, view in zip(clouds, views, strict=True))
        return cls(scans, pose, target, *views, (first, second))

    @property
    def motion(self) -> Any:
        """The answer."""
        assert self.pose.T_target_source is not None
        return self.pose.T_target_source

    @property
    def voxel_size(self) -> float:
        """Of both clouds."""
        assert self.pose.voxel_size is not None
        return self.pose.voxel_size

    @property
    def matched(self) -> tuple[Any, Any]:
        """Source and target point of every match."""
        first, second = self.pose.associations.T
        return self.pose.source_points[first], self.pose.target_points[second]

    def is_right(self) -> Any:
        """Whether the true motion takes the source point of each match to within two voxels of the target point."""
        first, second = self.matched
        moved = cp.apply_transform(self.scans.T_target_source, first)
        return np.linalg.norm(moved - second, axis=1) < 2.0 * self.voxel_size

    def in_free_space(self, motion: Any) -> Any:
        """Whether each source point comes to lie where the target's sensor looked through, under a motion."""
        moves = np.ascontiguousarray(motion[None])
        count = self.target.sight.count_in_front
        return np.array(
            [count(point[None], moves, 3.0 * self.voxel_size, 1)[0] > 0 for point in self.pose.source_points]
        )
