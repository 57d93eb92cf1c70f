"""One point a voxel: means, and how large the voxels should be."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from .. import _core
from .._validation import as_integer, as_length
from ..errors import OptionError
from .cloud import RawCloud, as_cloud

__all__ = [
    "choose_voxel_size",
    "downsample",
    "num_voxels",
    "rounded_size",
    "size_for",
    "too_small",
    "usual_voxel_size",
    "voxel_means",
    "voxel_numbers",
]

_Result = TypeVar("_Result")

_MOST_CELLS = 2**21 - 6
"""Cells along an axis that the core can tell apart."""
_SMALLEST_EXTENT = 1e-90
"""Metres: points that are closer than this are at one place."""
_MEANT_POINTS = 5000
"""Voxels that an automatic size aims at: a fragment of a room then has voxels of 5 cm, as the paper's."""
_SAMPLE = 2**18
"""Points that the search for a size begins with: of larger clouds, so many are chosen."""
_TOO_FEW = 0.9
"""Share of the voxels that are meant: if there are fewer, strays may keep the search from smaller voxels."""
_STRAYS = 0.01
"""Share of the points, at either end of an axis, that may be strays, and of a small cloud …"""
_FEW_STRAYS = (5, 0.1)
"""… so many, but not more than this share."""
_FAR = 10.0
"""Times the extent of the other points: so far outside of them lie strays."""


def downsample(points: Any, *, voxel_size: float, threads: int = 1) -> npt.NDArray[np.float64]:
    """Return the mean of the points in every occupied cell of a grid, in the order of the cells.

    ``voxel_size`` is the width of a cell in metres. The order of the points does not matter, but for rounding; the
    number of threads does not matter at all. A stray point has a cell of its own; only where that is too far away for
    the cells between to be numbered, millions of them, it is left out.
    """
    threads = as_integer("threads", threads, 1, 1024)
    return voxel_means(as_cloud("points", points, threads=threads), as_length("voxel_size", voxel_size), threads)[0]


def voxel_means(
    cloud: RawCloud, voxel_size: float, threads: int, share: float = 1.0
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int32]]:
    """Do the same for arguments that were checked, and return how many points each mean is of.

    Cells are a share of the voxels that the caller speaks of.
    """
    size = share * voxel_size

    def work(cloud: RawCloud) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int32]]:
        return _core.voxel_means(cloud.points, cloud.bounds, size, threads)

    return _without_strays_if_need_be(work, cloud, voxel_size, threads, share)


def num_voxels(cloud: RawCloud, voxel_size: float, threads: int) -> int:
    """Return how many means there are."""

    def work(cloud: RawCloud) -> int:
        return _core.count_voxels(cloud.points, cloud.bounds, voxel_size, threads)

    return _without_strays_if_need_be(work, cloud, voxel_size, threads)


def voxel_numbers(cloud: RawCloud, voxel_size: float, threads: int) -> npt.NDArray[np.int32]:
    """Return which of the means each point belongs to; -1 for one that was left out."""

    def work(cloud: RawCloud) -> npt.NDArray[np.int32]:
        return _core.voxel_numbers(cloud.points, cloud.bounds, voxel_size)

    return _without_strays_if_need_be(work, cloud, voxel_size, threads)


def _without_strays_if_need_be(
    work: Callable[[RawCloud], _Result], cloud: RawCloud, voxel_size: float, threads: int, share: float = 1.0
) -> _Result:
    """Do something with the cells of a cloud; strays are left out if there would be too many cells."""
    try:
        return work(cloud)
    except ValueError:
        cloud = _without_strays(cloud, threads)
    try:
        return work(cloud)
    except ValueError:
        raise too_small("voxel_size", voxel_size, cloud.extent, cloud.farthest, share) from None


def choose_voxel_size(*clouds: Any, threads: int = 1) -> float:
    """Return a voxel size, in metres, at which the larger one of some clouds keeps about 5000 points.

    Clouds of fewer than 10 000 points keep about half of them. Rounded to two digits. The number of threads does not
    matter, nor do a few stray points, however far away.
    """
    threads = as_integer("threads", threads, 1, 1024)
    checked = (as_cloud(f"clouds[{number}]", cloud, threads=threads) for number, cloud in enumerate(clouds))
    return usual_voxel_size(*checked, threads=threads)


def usual_voxel_size(*clouds: RawCloud, threads: int) -> float:
    """Do the same for arguments that were checked."""
    return rounded_size(max((size_for(cloud, threads) for cloud in clouds), default=0.0))


def rounded_size(size: float) -> float:
    """Return a voxel size as it is used; of 0, which says that all points are at one place, any that will do."""
    return float(f"{size or 1.0:.2g}")


def size_for(cloud: RawCloud, threads: int, most: int = _MEANT_POINTS) -> float:
    """Return a voxel size with about as many occupied voxels as are meant; 0 where all points are at one place."""
    count = len(cloud.points)
    meant = min(most, count / 2)
    if cloud.extent < _SMALLEST_EXTENT:
        return 0.0
    sample = _sample(cloud)
    size, ratio = _size_from(cloud.extent / math.sqrt(meant), sample, cloud, meant, threads)
    if ratio < _TOO_FEW:
        core = _without_strays(cloud, threads)
        if core is not cloud:
            cloud = core
            size, _ = _size_from(cloud.extent / math.sqrt(meant), sample, cloud, meant, threads)
    if len(sample) < count:  # the size is a little too small: voxels are missed
        size, _ = _size_from(size, cloud.points, cloud, meant, threads)
    return size


def _sample(cloud: RawCloud) -> npt.NDArray[Any]:
    """Return the points, or of very many one of every stretch, at a place that no pattern of the sensor follows."""
    if (count := len(cloud.points)) <= _SAMPLE:
        return cloud.points
    step = count // _SAMPLE
    chosen = np.arange(_SAMPLE) * step + np.random.default_rng(0).integers(0, step, _SAMPLE)
    return np.asarray(cloud.points[chosen])


def _without_strays(cloud: RawCloud, threads: int) -> RawCloud:
    """Return the cloud with bounds that leave out a few points far from all others; the same cloud where none is."""
    points = _sample(cloud)
    few, share = _FEW_STRAYS
    strays = max(int(_STRAYS * len(points)), min(few, int(share * len(points))))
    if not strays:
        return cloud
    ordered = np.partition(points, (strays, len(points) - 1 - strays), axis=0).astype(np.float64)
    low, high = ordered[strays], ordered[-1 - strays]
    with np.errstate(all="ignore"):  # the points are the caller's, and may have changed
        reach = _FAR * float((high - low).max())
    if not _SMALLEST_EXTENT <= reach < math.inf:  # nearly all are at one place
        return cloud
    bounds = _core.bounds_within(cloud.points, tuple(low - reach), tuple(high + reach), threads)
    return cloud if bounds.finite == len(cloud.points) else dataclasses.replace(cloud, bounds=bounds)


def _size_from(
    size: float, points: npt.NDArray[Any], cloud: RawCloud, meant: float, threads: int
) -> tuple[float, float]:
    """Return a voxel size at which these points of a cloud occupy about ``meant`` voxels, and the share of these.

    The given size is tried first.
    """
    least = max(1e-5 * cloud.extent, 2.0**-40 * cloud.farthest)  # the core can tell such cells apart
    low, high = least, max(least, cloud.extent)
    for _ in range(20):
        if not low < size < high:
            size = math.sqrt(low * high)
        ratio = _core.count_voxels(points, cloud.bounds, size, threads) / meant
        if abs(ratio - 1.0) < 0.03 or high < 1.02 * low:
            break
        low, high = (size, high) if ratio > 1.0 else (low, size)
        size *= math.sqrt(ratio)  # as on a surface, where the number falls with the square of the size
    return size, ratio


def too_small(name: str, size: float, extent: float, farthest: float, share: float = 1.0) -> OptionError:
    """Return the error where cells, a share of the size, are too many or too far out for their numbers to be exact."""
    least = max(extent / _MOST_CELLS, farthest * 1e-15) / share
    return OptionError(f"{name}: expected at least {least:.3g} for points that spread {extent:.3g}, got {size:g}")
