"""Two scans of one scene by a simulated sensor, and how much of it both see."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..geometry.poses import inverse
from .ray_casting import Hits, Scene

__all__ = ["DepthCamera", "ScanPair", "Sensor", "SpinningLidar", "look", "pose", "scan_pair", "shares_seen"]

_POINTS_FOR_OVERLAP = 4000
"""Of so many source points, at least, the share that the target sees is counted; it is then within 0.02."""

_POINTS_FOR_OVERLAPS = 500
"""The same where there are many scans; it is then within 0.05."""
_TILE = 0.15
"""Of the view, in radians: the rays to points within one are cast together."""


@dataclass(frozen=True, eq=False)
class ScanPair:
    """Two scans of one scene, with the motion between them."""

    source: npt.NDArray[np.float64]
    """``(n, 3)`` points in metres, in the frame of the source sensor: it is at the origin."""
    target: npt.NDArray[np.float64]
    """``(m, 3)`` points in the frame of the target sensor."""
    T_target_source: npt.NDArray[np.float64]
    """``(4, 4)``, the truth: it takes source points to where the target sensor has them."""
    overlap: float
    """The share of the source points that the target sensor sees too: in its field of view and range, not at a grazing
    angle, and with nothing in between. From the geometry, without noise; from 0 to 1."""


@dataclass(frozen=True, eq=False)
class Sensor(ABC):
    """Rays, and which of them return."""

    directions: npt.NDArray[np.float64]
    """``(n, 3)`` unit vectors in the frame of the sensor; those of neighbours follow each other."""
    max_range: float
    """In metres."""
    min_cosine: float
    """Of the angle between a ray and the normal of a surface: what is seen at a more grazing angle does not return."""
    noise: float
    """Standard deviation along the ray, in metres; what scales it is the sensor's affair."""
    dropout: float
    """The share of rays that are lost for no reason."""

    @abstractmethod
    def contains(self, points: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
        """Say which points, in the frame of the sensor, are in the field of view."""

    @abstractmethod
    def deviations(self, points: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return the standard deviations of the ranges of points in the frame of the sensor."""

    def returns(self, hits: Hits) -> npt.NDArray[np.bool_]:
        """Say which rays come back, but for chance."""
        return np.isfinite(hits.ranges) & (hits.cosines >= self.min_cosine)


class DepthCamera(Sensor):
    """A pinhole camera: x to the right, y down, z ahead.

    The noise is that at 1 m and grows with the square of the depth.
    """

    _WIDTH = np.tan(np.radians(33.0))
    """Half of the image at depth 1; the height is three quarters of it."""

    def __init__(self, columns: int, *, noise: float, dropout: float) -> None:
        rows = max(1, round(columns * 0.75))
        v, u = _tiled(rows, columns)
        x, y = (2.0 * u + 1.0 - columns) / columns, (2.0 * v + 1.0 - rows) / rows
        rays = np.stack((x * self._WIDTH, y * self._WIDTH * 0.75, np.ones(x.size)), axis=1)
        rays /= np.linalg.norm(rays, axis=1)[:, None]
        super().__init__(rays, max_range=6.0, min_cosine=0.15, noise=noise, dropout=dropout)

    def contains(self, points: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
        """Say which points are within the borders of the image."""
        x, y, z = points.T
        return np.asarray((np.abs(x) <= self._WIDTH * z) & (np.abs(y) <= 0.75 * self._WIDTH * z))

    def deviations(self, points: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return the noise times the depth squared."""
        return np.asarray(self.noise * points[:, 2] ** 2)


class SpinningLidar(Sensor):
    """Beams that turn about the vertical: x ahead, y to the left, z up. Noise is the same at every range."""

    def __init__(
        self,
        columns: int,
        *,
        noise: float,
        dropout: float,
        beams: int = 64,
        elevations: tuple[float, float] = (-23.0, 11.0),
        max_range: float = 90.0,
    ) -> None:
        """Turn in so many steps; the elevations of the lowest and the highest beam are in degrees."""
        beam, column = _tiled(beams, columns)
        lowest, highest = np.radians(elevations)
        elevation = lowest + (highest - lowest) * beam / (beams - 1)
        azimuth = 2.0 * np.pi * column / columns
        flat = np.cos(elevation)
        rays = np.stack((flat * np.cos(azimuth), flat * np.sin(azimuth), np.sin(elevation)), axis=1)
        super().__init__(rays, max_range=max_range, min_cosine=0.03, noise=noise, dropout=dropout)

    def contains(self, points: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
        """Say which points are between the lowest and the highest beam."""
        heights = points[:, 2] / np.linalg.norm(points, axis=1)
        beams = self.directions[:, 2]
        return np.asarray((heights >= beams.min()) & (heights <= beams.max()))

    def deviations(self, points: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return the noise."""
        return np.full(len(points), self.noise)


def _tiled(rows: int, columns: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return row and column of all cells of a grid, in tiles of 8 × 8: rays that follow each other are neighbours."""
    row, column = (grid.ravel() for grid in np.indices((rows, columns)))
    order = np.lexsort((column, row, column // 8, row // 8))
    return row[order], column[order]


def pose(position: npt.ArrayLike, *, yaw: float, pitch: float = 0.0, roll: float = 0.0) -> npt.NDArray[np.float64]:
    """Return the pose of a body (x ahead, y to the left, z up): turned by roll, pitch (down) and yaw, in that order."""
    (cy, cp, cr), (sy, sp, sr) = np.cos((yaw, pitch, roll)), np.sin((yaw, pitch, roll))
    result = np.eye(4)
    result[:3, :3] = (
        np.array([[cy, -sy, 0.0], [sy, cy, 0.0], [0.0, 0.0, 1.0]])
        @ np.array([[cp, 0.0, sp], [0.0, 1.0, 0.0], [-sp, 0.0, cp]])
        @ np.array([[1.0, 0.0, 0.0], [0.0, cr, -sr], [0.0, sr, cr]])
    )
    result[:3, 3] = position
    return result


def scan_pair(
    scene: Scene,
    sensor: Sensor,
    source: Sequence[npt.NDArray[np.float64]],
    target: Sequence[npt.NDArray[np.float64]],
    random: np.random.Generator,
) -> ScanPair:
    """Look at a scene twice; what is seen from several poses is put into the frame of the first one."""
    source_points, surface = look(scene, sensor, source, random)
    target_points, _ = look(scene, sensor, target, random)
    sample = surface[:: max(1, len(surface) // _POINTS_FOR_OVERLAP)]
    seen = np.zeros(len(sample), dtype=np.bool_)
    for where in target:
        seen[~seen] = _visible(scene, sensor, where, sample[~seen])
    overlap = float(seen.mean()) if len(seen) else 0.0
    return ScanPair(source_points, target_points, inverse(target[0]) @ source[0], overlap)


def shares_seen(
    scene: Scene,
    sensor: Sensor,
    poses: Sequence[npt.NDArray[np.float64]],
    surfaces: Sequence[npt.NDArray[np.float64]],
) -> npt.NDArray[np.float64]:
    """Return, for every two of many scans, the share of the true points of the first that the second sees too."""
    samples = [surface[:: max(1, len(surface) // _POINTS_FOR_OVERLAPS)] for surface in surfaces]
    points = np.concatenate(samples)
    owners = np.repeat(np.arange(len(samples)), [len(sample) for sample in samples])
    shares = np.eye(len(samples))
    counts = np.maximum(np.bincount(owners, minlength=len(samples)), 1)
    for j, where in enumerate(poses):
        offsets = points - where[:3, 3]
        distances = np.linalg.norm(offsets, axis=1)
        near = np.flatnonzero((owners != j) & (distances < sensor.max_range))
        # Rays that follow each other should be neighbours.
        azimuths = np.arctan2(offsets[near, 1], offsets[near, 0]) // _TILE
        heights = np.arcsin(offsets[near, 2] / distances[near]) // _TILE
        near = near[np.lexsort((azimuths, heights))]
        seen = near[_visible(scene, sensor, where, points[near])]
        shares[:, j] += np.bincount(owners[seen], minlength=len(samples)) / counts
    return shares


def look(
    scene: Scene, sensor: Sensor, poses: Sequence[npt.NDArray[np.float64]], random: np.random.Generator
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return what the sensor measures, in the frame of the first pose, and the true points, in that of the scene."""
    measured, true = [], []
    for where in poses:
        hits = scene.cast(where[:3, 3], sensor.directions @ where[:3, :3].T, sensor.max_range)
        returns = sensor.returns(hits) & (random.random(len(hits.ranges)) >= sensor.dropout)
        rays, points = sensor.directions[returns], sensor.directions[returns] * hits.ranges[returns, None]
        errors = random.normal(size=len(points)) * sensor.deviations(points)
        to_first = inverse(poses[0]) @ where
        measured.append((points + rays * errors[:, None]) @ to_first[:3, :3].T + to_first[:3, 3])
        true.append(points @ where[:3, :3].T + where[:3, 3])
    return np.concatenate(measured), np.concatenate(true)


def _visible(
    scene: Scene, sensor: Sensor, where: npt.NDArray[np.float64], points: npt.NDArray[np.float64]
) -> npt.NDArray[np.bool_]:
    """Say which points on surfaces of the scene the sensor sees."""
    offsets = points - where[:3, 3]
    distances = np.linalg.norm(offsets, axis=1)
    hits = scene.cast(where[:3, 3], offsets / distances[:, None], sensor.max_range)
    free = hits.ranges > distances - 1e-3  # a millimetre of rounding: the ray ends on the point's own surface
    return np.asarray(free & sensor.returns(hits) & sensor.contains(offsets @ where[:3, :3]))
