"""Matches or features that the caller brings along, instead of those that are found."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from .._validation import as_points
from ..clouds.cloud import RawCloud, as_finite_points
from ..clouds.matching import as_features
from ..clouds.prepared import Description, PreparedCloud
from ..consistency import as_associations
from ..errors import LandmarkError, OptionError

__all__ = ["OwnMatches"]

_Array: TypeAlias = npt.NDArray[np.float64]
_Features: TypeAlias = npt.NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class OwnMatches:
    """What the caller has to say about which points look alike."""

    associations: npt.NDArray[np.int64] | None
    """Matches; None: features are matched."""
    points: tuple[_Array, _Array] | None
    """What the matches, or the features, belong to; None: what prepared clouds come with."""
    features: tuple[_Features, _Features] | None
    """Features of these points; None: those that the clouds come with."""

    @classmethod
    def check(cls, source: Any, target: Any, associations: npt.ArrayLike | None, features: Any) -> OwnMatches:
        """Look at what the caller gave."""
        if features is not None:
            if associations is not None:
                raise OptionError("features: expected None where associations are given, which need none")
            if not isinstance(features, (tuple, list)) or len(features) != 2:
                raise OptionError("features: expected those of the source and those of the target, two of them")
            (a, first), (b, second) = (
                _described(name, cloud, f"features[{number}]", features[number])
                for number, (name, cloud) in enumerate((("source", source), ("target", target)))
            )
            if first.shape[1] != second.shape[1]:
                wrong = f"{first.shape[1]} numbers of the source and {second.shape[1]} of the target"
                raise LandmarkError(f"features: expected the same length, got {wrong}")
            return cls(None, (a, b), (first, second))
        if associations is None:
            of = [isinstance(cloud, PreparedCloud) and cloud.has_own_features for cloud in (source, target)]
            if of[0] != of[1]:
                having, lacking = ("source", "target") if of[0] else ("target", "source")
                raise LandmarkError(f"{lacking}: expected features of its own, as the {having} has")
            return cls(None, None, None)
        points = _points_of("source", source), _points_of("target", target)
        return cls(as_associations("associations", associations, points, compared=True), points, None)

    def scaled(self, scale: float) -> OwnMatches:
        """Return the same for a source that is enlarged about its origin."""
        return self if self.points is None else replace(self, points=(scale * self.points[0], self.points[1]))

    def applied_to(self, source: PreparedCloud, target: PreparedCloud) -> tuple[PreparedCloud, PreparedCloud]:
        """Return the clouds with the features that were given, if there are any."""
        if self.points is None or self.features is None:
            return source, target
        return (
            source.with_features(self.points[0], self.features[0]),
            target.with_features(self.points[1], self.features[1]),
        )

    def landmarks(self, source: PreparedCloud, target: PreparedCloud) -> tuple[Description, Description]:
        """Return the points that the associations number; of prepared clouds, they come with their normals."""
        given = (None, None) if self.points is None else self.points
        here, there = (
            cloud.description
            if points is None or points is cloud.description.points
            else Description(points, np.empty((0, 0), dtype=np.float32), None)
            for cloud, points in zip((source, target), given, strict=True)
        )
        return here, there

    def are_all(self, source: PreparedCloud | RawCloud, target: PreparedCloud | RawCloud) -> bool:
        """Whether there is nothing else to look at: other looks would be at features of another kind."""
        if self.associations is not None or self.features is not None:
            return True
        return any(isinstance(cloud, PreparedCloud) and cloud.has_own_features for cloud in (source, target))


def _points_of(name: str, cloud: Any) -> _Array:
    return cloud.description.points if isinstance(cloud, PreparedCloud) else as_points(name, cloud, (3,))


def _described(name: str, cloud: Any, which: str, given: Any) -> tuple[_Array, _Features]:
    """Return points and their features: given together, or features of all points of the cloud."""
    if isinstance(given, tuple) and len(given) == 2:
        points, which = as_finite_points(f"{which}[0]", given[0]), f"{which}[1]"
        features = as_features(which, given[1])
    else:
        points, features = _points_of(name, cloud), as_features(which, given)
    if len(points) != len(features):
        raise LandmarkError(f"{which}: expected one for each of {len(points)} points, got {len(features)}")
    return points, features
