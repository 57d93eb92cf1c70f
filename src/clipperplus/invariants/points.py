"""Points, with and without normals."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._validation import as_points, as_unit_vectors, attribute_of
from ..errors import LandmarkError, OptionError
from .base import Pairs, Vector, angles, set_angle, two_arrays

__all__ = ["Distance", "DistanceAndNormals", "PointsWithNormals"]


@dataclass(frozen=True)
class Distance:
    """Two points keep their distance: ``| ‖a_i - a_j‖ - ‖b_i - b_j‖ | < epsilon``. The paper's invariant.

    Landmarks are ``(n, 3)`` or ``(n, 2)`` coordinates, or anything with such ``.points``.
    """

    def landmarks(self, name: str, given: Any) -> Vector:
        """Check the points."""
        return as_points(name, given)

    def residuals(self, source: Vector, target: Vector, first: Pairs, second: Pairs, epsilon: Vector) -> Vector:
        """Return the difference of the distances, by epsilon."""
        a = np.linalg.norm(source[first.source] - source[second.source], axis=1)
        b = np.linalg.norm(target[first.target] - target[second.target], axis=1)
        return np.asarray(np.abs(a - b) / epsilon)


@dataclass(frozen=True, eq=False)
class PointsWithNormals:
    """Checked landmarks of :class:`DistanceAndNormals`."""

    points: Vector
    normals: Vector
    """Of length 1."""

    def __len__(self) -> int:
        """Return the number of points."""
        return len(self.points)


@dataclass(frozen=True)
class DistanceAndNormals:
    """Two points keep their distance, and their normals the angle between them.

    Landmarks are pairs of ``(n, 3)`` points and ``(n, 3)`` normals of any length but zero, or anything with such
    ``.points`` and ``.normals``.
    """

    angle: float = math.radians(15.0)
    """By how much the angles may differ, in radians."""
    oriented: bool = True
    """Whether the sign of a normal is known; if not, angles are between 0 and 90°."""

    def __post_init__(self) -> None:
        set_angle(self, "angle")
        if not isinstance(self.oriented, bool):
            raise OptionError(f"oriented: expected True or False, got {self.oriented!r}")

    def landmarks(self, name: str, given: Any) -> PointsWithNormals:
        """Check points and normals."""
        points, normals = (attribute_of(name, given, attribute, given) for attribute in ("points", "normals"))
        if points is not given and normals is not given:
            if normals is None:
                raise LandmarkError(f"{name}: expected points with normals, got normals that are None")
        else:
            points, normals = two_arrays(name, given, "points", "normals")
        checked = as_points(name, points, dimensions=(3,))
        return PointsWithNormals(checked, as_unit_vectors(f"{name} normals", normals, len(checked)))

    def residuals(
        self, source: PointsWithNormals, target: PointsWithNormals, first: Pairs, second: Pairs, epsilon: Vector
    ) -> Vector:
        """Return the larger of the differences of distance and angle, each by its bound."""
        distances = Distance().residuals(source.points, target.points, first, second, epsilon)
        return np.maximum(distances, self.angle_residuals(source, target, first, second))

    def angle_residuals(
        self, source: PointsWithNormals, target: PointsWithNormals, first: Pairs, second: Pairs
    ) -> Vector:
        """Return the difference of the angles, by its bound."""
        a = angles(source.normals[first.source], source.normals[second.source], self.oriented)
        b = angles(target.normals[first.target], target.normals[second.target], self.oriented)
        return np.asarray(np.abs(a - b) / self.angle)
