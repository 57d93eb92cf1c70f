"""The pose of a camera that fits its matches best, how precise it is, and how easily chance would bring it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .. import _core
from ..geometry.cameras import Intrinsics, LocalFrame

__all__ = ["SeenPoints"]

_Array = npt.NDArray[np.float64]

_STEPS = 20
"""Of Gauss–Newton, at most."""
_PRIOR_NOISE = 0.25
"""Times epsilon: the standard deviation, along an axis, of an error that epsilon nearly always bounds, …"""
_PRIOR_COUNT = 4.0
"""… and how many measurements this is worth: what few matches say about their noise is less."""
_USELESS_TURN = 0.25
"""Radians: a turn whose standard deviation is larger is not determined, …"""
_USELESS_SHIFT = 0.5
"""… nor a shift, of which this is in parts of the distance to the points."""
_POSES_OF_THREE = 4.0
_COPY = 0.5
"""Times epsilon: the width of cells in which pixels, and points as they are seen, are the same."""


@dataclass(frozen=True, eq=False)
class SeenPoints:
    """Points in a frame of their own, and their pixels, row by row. Poses are for that frame, covariances are not."""

    points: _Array
    pixels: _Array
    intrinsics: Intrinsics
    epsilon: float
    frame: LocalFrame

    @classmethod
    def of(cls, points: _Array, pixels: _Array, intrinsics: Intrinsics, epsilon: float) -> SeenPoints:
        """Take what was checked."""
        frame = LocalFrame.of(points)
        return cls(frame.points(points), pixels, intrinsics, epsilon, frame)

    def residuals(self, pose: _Array) -> _Array:
        """Return how far from its pixel each point is seen; NaN behind the camera."""
        return np.asarray(np.linalg.norm(self.intrinsics.project(pose, self.points) - self.pixels, axis=1))

    def explained(self, pose: _Array, chosen: npt.NDArray[np.int64] | None = None) -> float:
        """Return how many matches a pose explains, of some or all, each by how little it misses: 0 from epsilon on."""
        relative = self.residuals(pose)[slice(None) if chosen is None else chosen] / self.epsilon
        return float((1.0 - relative[relative < 1.0] ** 2).sum())

    def fit(
        self, start: _Array, chosen: npt.NDArray[np.int64] | None = None, *, robust: bool, steps: int = _STEPS
    ) -> tuple[_Array, _Array]:
        """Return the pose near a given one that fits best, and the information about it, from some matches or all.

        Robustly to all around, or equally to all that miss by less than epsilon.
        """
        points, pixels = (self.points, self.pixels) if chosen is None else (self.points[chosen], self.pixels[chosen])
        places, scale = self.intrinsics.places(pixels), self.intrinsics.scale
        poses, information = _core.fit_camera(points, places, scale, start[None], self.epsilon, robust, steps)
        return poses[0], information

    def improved(self, start: _Array, chosen: npt.NDArray[np.int64] | None = None, *, robust: bool) -> _Array:
        """Return the fitted pose, or the given one if that explains more."""
        pose, _ = self.fit(start, chosen, robust=robust)
        return pose if self.explained(pose) >= self.explained(start) else start

    def refine(self, start: _Array, clique: npt.NDArray[np.int64]) -> _Array:
        """Return the pose of a clique, then of all around it, robustly, then of all that it explains."""
        around = self.improved(self.improved(start, clique, robust=True), robust=True)
        return self.improved(around, robust=False)

    def flipped(self, pose: _Array) -> _Array:
        """Return a pose from which a plane that is far away looks about the same: tilted the other way.

        What is seen from afar does not change if depths are reversed; a plane that is turned does that. (D. Oberkampf,
        D. F. DeMenthon and L. S. Davis, "Iterative pose estimation using coplanar feature points", CVIU 1996.)
        """
        inliers = self.residuals(pose) < self.epsilon
        if not inliers.any():
            return pose
        places = self.points[inliers] @ pose[:3, :3].T + pose[:3, 3]
        centre = places.mean(axis=0)
        normal, view = np.linalg.eigh((places - centre).T @ (places - centre))[1][:, 0], centre / np.linalg.norm(centre)
        turn = (np.eye(3) - 2.0 * np.outer(view, view)) @ (np.eye(3) - 2.0 * np.outer(normal, normal))
        result = pose.copy()
        result[:3, :3] = turn @ pose[:3, :3]
        result[:3, 3] = turn @ (pose[:3, 3] - centre) + centre
        return result

    def covariance(self, pose: _Array) -> tuple[_Array, _Array]:
        """Return the covariance of a small motion after the pose, and the motions that are not determined.

        In the caller's unit of length. What is not determined gets the variance of what nothing is known about.
        """
        _, information = self.fit(pose, robust=False, steps=0)
        misses = self.residuals(pose)
        inliers = misses < self.epsilon
        degrees = max(0.0, 2.0 * float(inliers.sum()) - 6.0)
        squares = float((misses[inliers] ** 2).sum())
        prior = (_PRIOR_NOISE * self.epsilon) ** 2
        variance = (squares + _PRIOR_COUNT * prior) / (degrees + _PRIOR_COUNT)
        seen = self.points @ pose[:3, :3].T + pose[:3, 3]
        distance = float(np.median(seen[inliers, 2])) if inliers.any() else 1.0
        useless = np.array([_USELESS_TURN] * 3 + [_USELESS_SHIFT * distance] * 3)
        values, vectors = np.linalg.eigh(information * np.outer(useless, useless) / variance)
        weak = values < 1.0
        # By far the largest that can be meant: half a turn, and about six times the distance.
        spread = (vectors / np.maximum(values, 1.0 / (4.0 * math.pi) ** 2)) @ vectors.T
        scale = useless * ([1.0] * 3 + [self.frame.unit] * 3)
        directions = vectors[:, weak].T * scale
        return spread * np.outer(scale, scale), directions / np.linalg.norm(directions, axis=1, keepdims=True)

    def expected_by_chance(self, pose: _Array) -> float:
        """Return the logarithm of how many sets as large as the one that a pose explains are to be expected by chance.

        As Moisan and Stival, "A probabilistic criterion to detect rigid point matches", IJCV 2004: the choices of such
        a set, of three of them and of their poses, times the probability that all others agree, which is measured on
        pairs of a point and the pixel of another match. Copies of a match count once.
        """
        seen = self.intrinsics.project(pose, self.points)
        inliers = self.residuals(pose) < self.epsilon
        copies = (_cells(places[inliers] / (_COPY * self.epsilon)) for places in (seen, self.pixels))
        count, size = len(self.points), len(np.unique(np.column_stack(tuple(copies)), axis=0))
        width = math.sqrt(math.pi) * self.epsilon  # of a cell as large as what is within epsilon
        here, there = (_cells(places / width) for places in (seen, self.pixels))
        order = np.sort(there)
        together = int((np.searchsorted(order, here, "right") - np.searchsorted(order, here, "left")).sum())
        alike = (together - int((here == there).sum()) + 1.0) / (count * (count - 1.0) + 1.0)
        others = max(size - 3, 0)  # than those that a pose always explains
        choices = _log_choices(count, size) + _log_choices(others + 3, 3) + math.log(_POSES_OF_THREE * count)
        return choices + others * math.log(min(alike, 1.0))


def _cells(places: _Array) -> npt.NDArray[np.int64]:
    """Return a number for the cell of a grid that each place is in; one of its own for those that are nowhere."""
    cells = np.rint(np.clip(np.nan_to_num(places, nan=2.0**30), -(2.0**30), 2.0**30)).astype(np.int64)
    return np.asarray((cells[:, 0] << 32) + cells[:, 1])


def _log_choices(count: int, chosen: int) -> float:
    return math.lgamma(count + 1.0) - math.lgamma(chosen + 1.0) - math.lgamma(count - chosen + 1.0)
