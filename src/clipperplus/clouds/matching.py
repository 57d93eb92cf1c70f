"""From features to associations: which point of one cloud looks like which of the other."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .. import _core
from .._limits import check_fits
from .._validation import as_array, as_integer, as_number
from .._words import shown
from ..errors import LandmarkError, OptionError

__all__ = ["as_features", "as_ratio", "match_features"]

_BYTES = 32
"""Of one of the nearest: its number and distance, and what it takes to find out whether it names the other back."""
_FEW = 16
"""Nearest ones that are looked through one by one; more are sorted."""


def match_features(
    source: npt.ArrayLike,
    target: npt.ArrayLike,
    *,
    k: int = 1,
    mutual: bool = True,
    ratio: float | None = None,
    threads: int = 1,
) -> npt.NDArray[np.int64]:
    """Associate features that are nearest to each other; every pair is compared, nothing is approximated.

    Parameters
    ----------
    source, target
        ``(n, d)`` and ``(m, d)`` features, compared by Euclidean distance in float32.
    k
        How many nearest neighbours count as near.
    mutual
        Whether both have to be among the k nearest of each other (the paper's bilateral association), or only the
        target among those of the source.
    ratio
        Keep an association only if its distance is below this share of the distance from the source feature to its
        next nearest, the (k + 1)-th one (Lowe's test); None: no test.
    threads
        The result does not depend on it.

    Returns
    -------
    associations
        ``(a, 2)``: source and target, sorted. Of features that are equally near, that of the lower number is nearer.

    """
    here, there = as_features("source", source), as_features("target", target)
    k, threads = as_integer("k", k, 1, 1000), as_integer("threads", threads, 1, 1024)
    if here.shape[1] != there.shape[1]:
        raise LandmarkError(f"target: expected features of {here.shape[1]} numbers, got {there.shape[1]}")
    ratio = as_ratio(ratio)
    if not isinstance(mutual, bool):
        raise OptionError(f"mutual: expected True or False, got {shown(mutual)}")
    if not len(here) or not len(there):
        return np.empty((0, 2), dtype=np.int64)
    needed = _BYTES * (k + 1) * (len(here) + len(there))
    check_fits(f"k: {k} nearest of {len(here)} and {len(there)} features take", needed)
    nearest, squares, back, _ = _core.nearest_features(here, there, k if ratio is None else k + 1, threads)
    kept = np.ones(nearest[:, :k].shape, dtype=np.bool_)
    if ratio is not None and nearest.shape[1] > k:
        kept &= squares[:, :k] < ratio**2 * squares[:, k:]
    if mutual:
        kept &= _names_back(nearest[:, :k], back[:, :k])
    rows, places = np.nonzero(kept)
    pairs = np.column_stack((rows, nearest[rows, places])).astype(np.int64)
    return pairs if k == 1 else pairs[np.lexsort(pairs.T[::-1])]


def as_ratio(ratio: object) -> float | None:
    """Return the bound of Lowe's test, between 0 and 1; None is no test."""
    return None if ratio is None else as_number("ratio", ratio, 0.0, 1.0, open_interval=True)


def _names_back(nearest: npt.NDArray[np.int32], back: npt.NDArray[np.int32]) -> npt.NDArray[np.bool_]:
    """Whether each of the nearest has the one that names it among its own."""
    if nearest.shape[1] > _FEW:
        here = np.arange(len(nearest))[:, None] * len(back) + nearest
        there = np.sort(back.astype(np.int64) * len(back) + np.arange(len(back))[:, None], axis=None)
        return np.asarray(there[np.searchsorted(there, here).clip(max=there.size - 1)] == here)
    result = np.zeros(nearest.shape, dtype=np.bool_)
    me = np.arange(len(nearest))
    for place in range(nearest.shape[1]):
        for theirs in back.T:
            result[:, place] |= theirs[nearest[:, place]] == me
    return result


def as_features(name: str, value: npt.ArrayLike) -> npt.NDArray[np.float32]:
    """Return ``(n, d)`` features in single precision, all finite."""
    array = as_array(name, value, LandmarkError)
    if array.ndim != 2 or array.shape[1] == 0:
        raise LandmarkError(f"{name}: expected features of shape (n, d), got {array.shape}")
    if array.dtype.kind not in "iuf":
        raise LandmarkError(f"{name}: expected numbers, got dtype {array.dtype}")
    with np.errstate(over="ignore"):
        features = np.ascontiguousarray(array, dtype=np.float32)
    finite = np.isfinite(features)
    if not finite.all():
        number = int(finite.all(axis=1).argmin())
        raise LandmarkError(f"{name}: feature {number} has a number that is not finite in float32")
    return features
