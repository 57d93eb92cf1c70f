"""How wide a bound may be before loop closures agree by chance.

Covariances are often far too large, and long odometry is vague: then anything agrees with anything. Loop closures that
are surely wrong tell. They are made of given ones, as places that look alike make them: another place is taken for the
one that was seen. Where many of them would be welcome, the bound says nothing. (Search engines for spectra judge their
matches by such decoys: J. E. Elias and S. P. Gygi, "Target-decoy search strategy for increased confidence in
large-scale protein identifications by mass spectrometry", Nature Methods 2007.)
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from ..geometry.poses import Poses, inverse
from ..graphs import Graph
from ..invariants import Odometry, Pairs, RelativePoses

__all__ = ["WIDEST", "narrowed"]

WIDEST = 5.0
"""Bound on a Mahalanobis distance to begin with: about one of 3000 pairs that are right is farther off."""
_MADE_UP = 400
_WELCOME = 4
"""How many of those that are made up may agree: made of wrong ones, some are right by accident."""
_OPPOSED = 0.05
"""Part of those believed that one which agrees may contradict: so few are easily given up for as many wrong ones."""
_STEP = 0.8
"""By which the bound is made narrower, from one try to the next …"""
_TRIES = 50
"""… down to 1e-5 of what it was."""
_PAIRS_AT_ONCE = 1 << 16


def narrowed(
    invariant: RelativePoses,
    trajectories: tuple[npt.NDArray[np.float64] | Odometry, npt.NDArray[np.float64] | Odometry],
    loops: npt.NDArray[np.int64],
    random: np.random.Generator,
    largest: Callable[[Graph], npt.NDArray[np.int64]],
) -> RelativePoses:
    """Return the invariant with a bound at which hardly any loop closure that is made up agrees with the largest set.

    The bound is the given one or smaller, the first that does it of a row; the smallest of all where none does.
    """
    count = len(loops)
    if count == 0:
        return invariant
    origin = np.append(np.arange(count), random.integers(count, size=_MADE_UP))
    measured, covariances = np.asarray(invariant.measurements)[origin], np.asarray(invariant.covariances)[origin]
    measured[count:] = measured[count:] @ _elsewhere(trajectories[1], random)
    with_made_up = dataclasses.replace(invariant, measurements=measured, covariances=covariances)
    residuals = _residuals(with_made_up, trajectories, loops[origin], count)
    for factor in _STEP ** np.arange(_TRIES):
        agree = residuals < factor
        given = agree[:count] | agree[:count].T
        believed = largest(Graph.from_adjacency(given))
        opposed = 1.0 - agree[count:, believed].mean(axis=1)
        if np.count_nonzero(opposed <= _OPPOSED) <= _WELCOME:
            break
    return dataclasses.replace(invariant, deviations=invariant.deviations * float(factor))


def _elsewhere(trajectory: npt.NDArray[np.float64] | Odometry, random: np.random.Generator) -> Poses:
    """Return motions between poses of a trajectory, farther apart than most are."""
    poses = np.asarray(trajectory.poses if isinstance(trajectory, Odometry) else trajectory)
    a, b = random.integers(len(poses), size=(2, 2 * _MADE_UP))
    motions = inverse(poses[a]) @ poses[b]
    far = np.argsort(np.linalg.norm(motions[:, :3, 3], axis=1), kind="stable")[_MADE_UP:]
    return np.asarray(motions[random.permutation(far)])


def _residuals(
    invariant: RelativePoses,
    trajectories: tuple[npt.NDArray[np.float64] | Odometry, npt.NDArray[np.float64] | Odometry],
    loops: npt.NDArray[np.int64],
    count: int,
) -> npt.NDArray[np.float32]:
    """Return how much loop closures disagree with the first ones before them; infinite, where they come after them."""
    result = np.full((len(loops), count), np.inf, dtype=np.float32)
    rows = max(1, _PAIRS_AT_ONCE // count)
    for start in range(0, len(loops), rows):
        j, i = (grid.ravel() for grid in np.mgrid[start : min(start + rows, len(loops)), 0:count])
        before = i < j
        i, j = i[before], j[before]
        first, second = (Pairs(loops[k, 0], loops[k, 1], k) for k in (i, j))
        with np.errstate(all="ignore"):
            result[j, i] = invariant.residuals(*trajectories, first, second, np.ones(len(i)))
    return result
