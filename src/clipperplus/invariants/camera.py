"""What a camera that sees four points says about them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .. import _core
from .._validation import as_points, in_order
from ..errors import OptionError
from ..geometry.cameras import Intrinsics, LocalFrame
from ..graphs import Graph
from .base import Pairs, Vector
from .groups import GroupSampling

__all__ = ["CameraGroups", "CameraReprojection", "find_camera_groups"]

_TRIPLES = 100_000
"""Groups of three that are drawn, unless it is said how many: one of 25 right ones in 500 is missed in 1 of 1000."""


@dataclass(frozen=True)
class CameraReprojection:
    """Four points are seen at their pixels by one camera: a pose of three of them brings the fourth to its own.

    Three points and their pixels have up to four poses (P3P). A group is consistent where one of those of its first
    three brings the fourth to within epsilon pixels. Source landmarks are ``(n, 3)`` points, target landmarks are
    ``(n, 2)`` pixels; epsilon is one number of pixels. The graph joins matches that a pose of three brings to within
    epsilon together, for at least ``min_groups`` such poses.
    """

    intrinsics: Any
    """A ``(3, 3)`` matrix, or fx, fy, cx, cy, in pixels."""
    arity: int = 4

    def __post_init__(self) -> None:
        object.__setattr__(self, "intrinsics", Intrinsics.check(self.intrinsics))
        if self.arity != 4:
            raise OptionError(f"arity: it takes four points, got {self.arity!r}")

    def landmarks(self, name: str, given: Any) -> Vector:
        """Check points or pixels."""
        return as_points(name, given, dimensions=(3,) if name == "source" else (2,))

    def group_residuals(self, source: Vector, target: Vector, members: tuple[Pairs, ...], epsilon: Vector) -> Vector:
        """Return how far from its pixel the best pose of the others brings the last one, by epsilon."""
        *three, last = members
        points = np.stack([source[member.source] for member in three], axis=1)
        places = [self.intrinsics.places(target[member.target]) for member in three]
        directions = np.stack([np.column_stack((place, np.ones(len(place)))) for place in places], axis=1)
        directions /= np.linalg.norm(directions, axis=2, keepdims=True)
        poses, counts = _core.solve_p3p(in_order(points, np.float64), in_order(directions, np.float64))
        groups = np.repeat(np.arange(len(counts)), counts)
        seen = self.intrinsics.project(poses, source[last.source[groups]])
        misses = np.linalg.norm(seen - target[last.target[groups]], axis=1)
        best = np.full(len(counts), np.inf)
        np.fmin.at(best, groups, misses)
        return np.asarray(best / epsilon)


class CameraGroups(NamedTuple):
    """What groups of matches of points and pixels say about a camera."""

    graph: Graph
    """Joins matches that are found together in enough groups."""
    poses: npt.NDArray[np.float64]
    """``(k, 4, 4)``: distinct poses, fitted, those that explain most first."""
    groups: int
    """How many the graph is made of."""
    triples: int
    """How many were looked at."""


def find_camera_groups(
    points: Vector, pixels: Vector, intrinsics: Intrinsics, epsilon: float, how: GroupSampling, threads: int
) -> CameraGroups:
    """Draw triples of matches, and group each with what its poses bring to within epsilon pixels, in the core.

    Row k of the points belongs to row k of the pixels.
    """
    triples = _TRIPLES if how.budget is None else how.budget
    frame, places = LocalFrame.of(points), intrinsics.places(pixels)
    native, poses, groups, drawn = _core.find_camera_groups(
        frame.points(points), places, intrinsics.scale, epsilon, triples, how.min_groups, how.seed, threads
    )
    return CameraGroups(Graph._wrap(native), frame.world_poses(poses), groups, drawn)
