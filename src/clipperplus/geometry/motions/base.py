"""What every model of a motion offers.

A motion is a ``(4, 4)`` matrix, x ↦ s R x + t. A model says which of them there are: how many matches determine one,
how one is fitted, which small ones are free, and what two matches agree in beside their distance. Consistency,
covariance, degenerate directions and the doubts about an answer follow from it.
"""

from __future__ import annotations

from typing import ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt

from ... import _core
from ...errors import LandmarkError

__all__ = ["Array", "CoreModel", "Motion", "heights"]

Array: TypeAlias = npt.NDArray[np.float64]
CoreModel: TypeAlias = tuple[int, tuple[float, float, float], bool]
"""For the core: 3 for all turns, 1 for those about an axis, 0 for none; the axis; whether shifts are across it only."""

UP = (0.0, 0.0, 1.0)


class Motion:
    """A model of the motion; one file each, with a class that fills in what differs from rigid."""

    name: ClassVar[str] = "rigid"
    """As in ``motion=…``."""
    least: ClassVar[int] = 3
    """Matches that determine it."""
    can_mirror: ClassVar[bool] = True
    """Whether a mirrored copy keeps all that is compared of pairs of matches."""
    has_scale: ClassVar[bool] = False
    """Whether the target may be larger or smaller than the source."""
    has_axis: ClassVar[bool] = False
    """Whether it keeps ``up``."""
    dimensions: ClassVar[tuple[int, ...]] = (3,)
    """Of the points that it moves."""

    def __init__(self, up: tuple[float, float, float] = UP) -> None:
        """Take the direction that the motion keeps, of length 1; not all models have one."""
        self.up = np.array(up)

    @property
    def core(self) -> CoreModel | None:
        """What the core is told of it; None: all rigid motions."""
        return None

    def fit(self, source: Array, target: Array, weights: Array) -> Array:
        """Return the motion of least squares between checked ``(n, 3)`` points: ``(4, 4)``.

        Where the points do not determine it, one of the best, always the same one.
        """
        motion: Array = _core.fit_motion(source, target, weights, self.core)[0]
        if not np.isfinite(motion).all():
            raise LandmarkError("source, target: the points are too far from the origin for a translation between them")
        return motion

    @property
    def turns(self) -> Array:
        """``(3, r)``: the axes that it turns about."""
        return np.eye(3)

    @property
    def shifts(self) -> Array:
        """``(3, s)``: the directions that it shifts along."""
        return np.eye(3)

    @property
    def free(self) -> Array:
        """``(6, r + s)``: an orthonormal basis of its small motions, turns first; the same about any centre."""
        turns, shifts = self.turns, self.shifts
        basis = np.zeros((6, turns.shape[1] + shifts.shape[1]))
        basis[:3, : turns.shape[1]], basis[3:, turns.shape[1] :] = turns, shifts
        return basis

    def offsets(self, source: Array, target: Array) -> Array | None:
        """Return ``(n, 3)`` vectors in which pairs of matches agree, beside their distances; None: in no more."""
        return None

    def strays(self, source: Array, target: Array) -> Array | None:
        """Return ``(n,)`` lengths by which matched points are off, whatever the motion; None: they may be anywhere."""
        return None

    def mirrored(self, vectors: Array) -> Array:
        """Return ``(n, 3)`` vectors reflected in a way that keeps what is compared of pairs, a turn aside."""
        return np.asarray(-1.0 * vectors)

    def signature(self, corners: Array) -> Array:
        """Return what the motion does not change of ``(k, least, 3)`` points: ``(k, d)`` lengths, d at most 3."""
        lines = corners - corners[:, [1, 2, 0]]
        return np.asarray(np.sqrt(np.einsum("ijk,ijk->ij", lines, lines)))

    def project(self, motions: Array) -> Array:
        """Return the nearest motions of the model to ``(k, 4, 4)`` rigid ones; turns count first, then shifts."""
        return motions


def heights(vectors: Array, up: Array) -> Array:
    """Return ``(…,)`` coordinates along a direction."""
    return np.asarray(vectors @ up)
