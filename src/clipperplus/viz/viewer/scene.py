"""What the viewer draws: two clouds, the associations between them, and from where they are looked at.

Browsers compute in single precision, so everything is drawn relative to the centre of the target: clouds in the
coordinates of a country would tremble otherwise.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...clouds.cloud import Cloud
from ...geometry.poses import to_quaternions
from ...geometry.transforms import apply_transform
from ...registration import Pose
from ..framing import UP, likely_up, middle_and_radius, middle_and_size
from ..palette import INLIER, OUTLIER, SOURCE, TARGET
from ..sampling import thin
from .serving import Serving

__all__ = ["MOST_LINES", "MOST_POINTS", "Scene"]

_Array = npt.NDArray[np.float64]

MOST_POINTS = 100_000
"""Of each cloud; more make a browser slow without showing more."""
MOST_LINES = 3000
"""Of inliers, and of outliers."""
_POINT_SIZE = 0.1
"""Voxels."""
_MARK_SIZE = 0.25
"""Voxels: the points of inliers, which are seen where their lines are too short."""


class Scene:
    """Two clouds in a viser server."""

    def __init__(self, serving: Serving, source: Cloud, target: Cloud) -> None:
        self._serving = serving
        self._viewpoint = np.zeros(3) if target.viewpoint is None else target.viewpoint
        self._source_points = thin(source.points, MOST_POINTS)
        self._target_points = thin(target.points, MOST_POINTS)
        self._source_centre = middle_and_size(self._source_points)[0]
        self._origin = middle_and_size(self._target_points)[0]
        self._motion = np.eye(4)
        self.up = likely_up(target.points)
        """One of ``UP``: for where to look from, and which way is beside."""
        self.source = serving.add_points("/source", self._source_points - self._source_centre, SOURCE)
        self.target = serving.add_points("/target", self._target_points - self._origin, TARGET)
        self.inliers = serving.server.scene.add_frame("/inliers", show_axes=False)
        self.outliers = serving.server.scene.add_frame("/outliers", show_axes=False)

    def move_source(self, motion: _Array) -> None:
        """Show the source moved by a transform."""
        self._motion = motion
        x, y, z, w = to_quaternions(motion[None])[0]
        self.source.wxyz = (w, x, y, z)
        self.source.position = apply_transform(motion, self._source_centre[None])[0] - self._origin

    def draw_associations(self, pose: Pose, inliers: npt.NDArray[np.int64]) -> None:
        """Draw lines from the source, where it was moved to, to the target, and the points of inliers."""
        starts = apply_transform(self._motion, pose.source_points[pose.associations[:, 0]])
        lines = np.stack((starts, pose.target_points[pose.associations[:, 1]]), axis=1) - self._origin
        explained = np.zeros(len(lines), dtype=np.bool_)
        explained[inliers] = True
        size = _MARK_SIZE * (pose.voxel_size or 0.0)
        # So thin that the clouds show through them.
        self._serving.add_lines("/outliers/lines", thin(lines[~explained], MOST_LINES), OUTLIER, 0.5)
        self._serving.add_lines("/inliers/lines", thin(lines[explained], MOST_LINES), INLIER, 1.0)
        self._serving.add_points("/inliers/points", lines[explained].reshape(-1, 3), INLIER, size)

    def scale_points(self, voxel_size: float) -> None:
        """Draw points so large that surfaces show, and the clouds through each other."""
        self.source.point_size = self.target.point_size = _POINT_SIZE * voxel_size

    def beside(self, motion: _Array) -> _Array:
        """Return a transform of the source followed by a shift to the left of the target."""
        left = np.cross(UP[self.up], self._forward())
        shift = np.eye(4)
        if len(self._source_points) and len(self._target_points):
            here = np.quantile(apply_transform(motion, self._source_points) @ left, 0.01)
            there = np.quantile(self._target_points @ left, 0.99)
            _, radius = middle_and_radius(self._target_points)
            shift[:3, 3] = left * (there - here + 0.2 * radius)
        return np.asarray(shift @ motion)

    def look(self) -> None:
        """Look at all that is shown from above, from where the target was seen."""
        moved = apply_transform(self._motion, self._source_points)
        centre, radius = middle_and_radius(np.concatenate((moved, self._target_points)) - self._origin)
        self._serving.look(centre, radius, np.array(UP[self.up]), self._forward())

    def _forward(self) -> _Array:
        """Return the horizontal direction from where the sensor was to the target, any if it was in the midst."""
        up = np.array(UP[self.up])
        way = self._origin - self._viewpoint
        way = way - (way @ up) * up
        _, radius = middle_and_radius(self._target_points)
        if np.linalg.norm(way) < 0.2 * radius:
            way = np.roll(up, 1)
        return np.asarray(way / np.linalg.norm(way))
