"""What the viewer draws: two clouds, the associations between them, and from where they are looked at.

Browsers compute in single precision, so everything is drawn relative to the centre of the target: clouds in the
coordinates of a country would tremble otherwise.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ...clouds.cloud import Cloud
from ...geometry.poses import to_quaternions
from ...geometry.transforms import apply_transform
from ...registration import Pose
from ..framing import UP, likely_up, middle_and_size
from ..palette import INLIER, OUTLIER, SOURCE, TARGET, rgb
from ..sampling import thin

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
_FIELD_OF_VIEW = np.radians(50.0)
_ELEVATION = np.radians(35.0)


class Scene:
    """Two clouds in a viser server."""

    def __init__(self, server: Any, source: Cloud, target: Cloud) -> None:
        self._server = server
        self._viewpoint = np.zeros(3) if target.viewpoint is None else target.viewpoint
        self._source_points = thin(source.points, MOST_POINTS)
        self._target_points = thin(target.points, MOST_POINTS)
        self._source_centre = middle_and_size(self._source_points)[0]
        self._origin = middle_and_size(self._target_points)[0]
        self._motion = np.eye(4)
        self.up = likely_up(target.points)
        """One of ``UP``: for where to look from, and which way is beside."""
        self.source = self._add_points("/source", self._source_points - self._source_centre, SOURCE)
        self.target = self._add_points("/target", self._target_points - self._origin, TARGET)
        self.inliers = server.scene.add_frame("/inliers", show_axes=False)
        self.outliers = server.scene.add_frame("/outliers", show_axes=False)

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
        self._add_lines("/outliers/lines", lines[~explained], OUTLIER, 0.5)  # pixels: the clouds show through them
        self._add_lines("/inliers/lines", lines[explained], INLIER, 1.0)
        self._add_points("/inliers/points", lines[explained].reshape(-1, 3), INLIER, size)

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
            _, radius = _middle_and_radius(self._target_points)
            shift[:3, 3] = left * (there - here + 0.2 * radius)
        return np.asarray(shift @ motion)

    def look(self) -> None:
        """Look at all that is shown from above, from where the target was seen."""
        up = np.array(UP[self.up])
        moved = apply_transform(self._motion, self._source_points)
        centre, radius = _middle_and_radius(np.concatenate((moved, self._target_points)) - self._origin)
        distance = 0.95 * radius / np.sin(_FIELD_OF_VIEW / 2.0)  # clouds seldom fill the corners of their boxes
        away = np.sin(_ELEVATION) * up - np.cos(_ELEVATION) * self._forward()
        self._server.scene.set_up_direction(UP[self.up])
        for camera in (self._server.initial_camera, *(c.camera for c in self._server.get_clients().values())):
            camera.near, camera.far, camera.fov = distance / 1e3, distance * 1e3, _FIELD_OF_VIEW
            camera.position = centre + distance * away
            camera.look_at = centre

    def _forward(self) -> _Array:
        """Return the horizontal direction from where the sensor was to the target, any if it was in the midst."""
        up = np.array(UP[self.up])
        way = self._origin - self._viewpoint
        way = way - (way @ up) * up
        _, radius = _middle_and_radius(self._target_points)
        if np.linalg.norm(way) < 0.2 * radius:
            way = np.roll(up, 1)
        return np.asarray(way / np.linalg.norm(way))

    def _add_points(self, name: str, points: _Array, colour: str, size: float = 0.01) -> Any:
        return self._server.scene.add_point_cloud(
            name, points, rgb(colour), point_size=size, point_shape="circle", point_shading="flat", precision="float32"
        )

    def _add_lines(self, name: str, lines: _Array, colour: str, thickness: float) -> None:
        self._server.scene.add_line_segments(
            name, thin(lines, MOST_LINES), rgb(colour), thickness=thickness, thickness_units="screen"
        )


def _middle_and_radius(points: _Array) -> tuple[_Array, float]:
    """Return the middle of a cloud and how far it reaches."""
    middle, size = middle_and_size(points)
    return middle, float(np.linalg.norm(size)) / 2.0 or 1.0
