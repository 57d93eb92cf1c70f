"""Problems of points, which a transform is fitted to."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .._words import shown
from ..errors import LandmarkError, OptionError
from ..geometry.motions import RIGID, Motion
from ..invariants import (
    CameraReprojection,
    GroupInvariant,
    Invariant,
    Lines,
    LinesAndPlanes,
    Planes,
    RelativePoses,
)
from ..invariants.motions import in_space, points_under
from .problem import ConsistencyProblem

__all__ = ["check_of_points", "points_problem"]


def points_problem(
    source: Any,
    target: Any,
    associations: npt.ArrayLike | None,
    epsilon: float | npt.ArrayLike,
    invariant: Invariant | GroupInvariant | None = None,
    model: Motion = RIGID,
) -> tuple[ConsistencyProblem, npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return the problem of landmarks that a transform is to be fitted to, and the points of both sets.

    Landmarks are as the invariant takes them; None: distances of points. Those of the others must be points, too: an
    array of them, or something with ``.points``, such as :class:`PointsWithNormals`. They are what
    the ``model`` moves; those of the plane are returned at height 0.
    """
    if invariant is None:
        points = points_under(model, "source", source), points_under(model, "target", target)
        return ConsistencyProblem.of_points(*points, associations, epsilon), *points
    check_of_points(invariant)
    problem = ConsistencyProblem.check(source, target, associations, epsilon, invariant, True, 0.0)
    here = _points_of("source", problem.source, source, model)
    return problem, here, _points_of("target", problem.target, target, model)


def check_of_points(invariant: Invariant | GroupInvariant | None) -> None:
    """Refuse what is no invariant, or not one of points, which a transform can be fitted to."""
    if isinstance(invariant, (CameraReprojection, Lines, LinesAndPlanes, Planes, RelativePoses)):
        kind = type(invariant).__name__
        raise OptionError(f"invariant: expected one of points, which a transform is fitted to; {kind} is of others")
    if invariant is not None and not isinstance(invariant, (Invariant, GroupInvariant)):
        raise OptionError(f"invariant: expected one of clipperplus.invariants, got {shown(invariant)}")


def _points_of(name: str, landmarks: Any, given: Any, model: Motion) -> npt.NDArray[np.float64]:
    """Return the points of landmarks, from what an invariant made of them, or else from what was given."""
    known = landmarks if isinstance(landmarks, np.ndarray) or hasattr(landmarks, "points") else given
    points = in_space(points_under(model, name, known))
    if len(points) != len(landmarks):
        raise LandmarkError(f"{name}: expected a point for each of {len(landmarks)} landmarks, got {len(points)}")
    return points
