"""Rigid motions: rotation and translation, fitted by least squares in the core (``cpp/src/geometry/fitting.h``)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..._validation import as_array, as_points
from ...errors import LandmarkError
from .base import Motion

__all__ = ["Rigid", "fit_transform"]


class Rigid(Motion):
    """Turns and shifts: six degrees of freedom."""


def fit_transform(
    source: npt.ArrayLike, target: npt.ArrayLike, *, weights: npt.ArrayLike | None = None
) -> npt.NDArray[np.float64]:
    """Find the rigid transform that moves points onto their matches, in the sense of least squares.

    Parameters
    ----------
    source, target
        ``(n, 3)`` points; row k of one belongs to row k of the other. At least three.
    weights
        ``(n,)``: how much a squared distance counts; 0 is as if the points were not there.

    Returns
    -------
    T_target_source
        ``(4, 4)``, always a proper rotation and a translation. Where the points do not determine the rotation (they are
        coincident or on a line), one of the best is returned, always the same one.

    """
    source, target = as_points("source", source, (3,)), as_points("target", target, (3,))
    if len(source) != len(target):
        raise LandmarkError(f"target: expected as many points as source has, {len(source)}, got {len(target)}")
    shares = np.ones(len(source)) if weights is None else _as_weights(weights, len(source))
    counting = shares > 0.0
    if counting.sum() < 3:
        what = "points" if weights is None else "points of positive weight"
        raise LandmarkError(f"source: expected at least 3 {what}, got {counting.sum()}")
    return Rigid().fit(source[counting], target[counting], shares[counting])


def _as_weights(value: npt.ArrayLike, count: int) -> npt.NDArray[np.float64]:
    array = as_array("weights", value, LandmarkError)
    if array.shape != (count,) or array.dtype.kind not in "biuf":
        raise LandmarkError(f"weights: expected {count} numbers, one per point, got {array.dtype} {array.shape}")
    with np.errstate(over="ignore"):  # a long double may be too large
        weights = array.astype(np.float64)
    sound = np.isfinite(weights) & (weights >= 0.0)
    if not sound.all():
        wrong = int(sound.argmin())
        raise LandmarkError(f"weights: weight {wrong} is {weights[wrong]}; expected finite numbers of at least 0")
    return weights
