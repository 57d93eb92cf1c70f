"""The two clouds of a registration as they came in: looked at once, brought to one voxel size, prepared."""

from __future__ import annotations

import logging
import math
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from .. import _core
from .._timing import Stopwatch
from .._validation import in_order
from ..clouds.cloud import RawCloud, as_cloud
from ..clouds.fronts import normals_of
from ..clouds.prepared import FINE, PreparedCloud, prepare_checked, viewpoint_of
from ..clouds.voxels import num_voxels, size_for, usual_voxel_size, voxel_means
from ..errors import OptionError

__all__ = ["Given", "VoxelSizes", "described_alike", "voxel_sizes_of"]

_LOGGER = logging.getLogger("clipperplus.registration")
_Array: TypeAlias = npt.NDArray[np.float64]

_MOST_MATCHED = 10_000
"""Voxels of a cloud that are matched, at most, since each is compared with each of the other cloud, and that judge the
answer: confidence is calibrated with some thousands, and narrow ones see noise where wide ones see shapes."""


class VoxelSizes(NamedTuple):
    """Widths of the voxels of both clouds, in metres."""

    asked: float
    """Those that an answer is refined with in the end."""
    matched: float
    """Those that are matched, and by which answers are judged: wider, where the others would be very many."""

    def epsilon(self, asked: float | None) -> float:
        """Return by how much distances between matched points may differ, from what was asked for narrower voxels."""
        return self.matched if asked is None else self.matched / self.asked * asked


@dataclass(frozen=True, eq=False)
class Given:
    """One of the two clouds, checked: prepared already, or raw with the place of its sensor."""

    name: str
    cloud: PreparedCloud | RawCloud
    told: _Array | None
    """Where its sensor was, if that was told."""
    normals: npt.NDArray[Any] | None
    """Those that came with it, if any did."""

    @classmethod
    def check(cls, name: str, cloud: Any, viewpoint: npt.ArrayLike | None, refine: str | None, threads: int) -> Given:
        """Look at what the caller gave, for the only time."""
        if not isinstance(cloud, PreparedCloud):
            told = viewpoint_of(cloud, f"{name}_viewpoint", viewpoint)
            raw = as_cloud(name, cloud, threads=threads)
            return cls(name, raw, told, normals_of(name, cloud, raw))
        if viewpoint is not None:
            raise OptionError(f"{name}_viewpoint: the cloud is prepared; give its viewpoint to prepare()")
        if refine is not None and cloud.fine_points is None:
            raise OptionError(
                f"{name}: prepared without the finer points that it takes; prepare(…, refine={refine!r}) keeps them"
            )
        return cls(name, cloud, None, None)

    def scaled(self, scale: float) -> Given:
        """Return a raw cloud enlarged about its origin."""
        assert isinstance(self.cloud, RawCloud)
        points: Any = in_order(self.cloud.points * self.cloud.points.dtype.type(scale), self.cloud.points.dtype.type)
        enlarged = replace(self.cloud, points=points, bounds=_core.bounds_of(points, 1))
        return replace(self, cloud=enlarged, told=None if self.told is None else scale * self.told)

    def prepare(self, voxel_size: float, threads: int, stopwatch: Stopwatch) -> PreparedCloud:
        """Return the cloud with voxel means, normals and features; one that was prepared can be had at wider voxels."""
        if isinstance(self.cloud, PreparedCloud):
            return self.cloud if voxel_size == self.cloud.voxel_size else self.cloud.coarsened(voxel_size, threads)
        prepared = prepare_checked(self.cloud, voxel_size, self.told, self.normals, fine=False, threads=threads)
        stopwatch.add(prepared.stages, f"{self.name} ")
        return prepared

    def means(self, voxel_size: float, threads: int) -> _Array:
        """Return the means of voxels; a cloud that was prepared has none of narrower ones than its own."""
        if isinstance(self.cloud, PreparedCloud) and voxel_size == self.cloud.voxel_size:
            return self.cloud.points
        return voxel_means(self._raw, voxel_size, threads)[0]

    def fine_means(self, voxel_size: float, threads: int) -> _Array:
        """Return the means of voxels of half the width, for generalized ICP."""
        if isinstance(self.cloud, PreparedCloud):
            assert self.cloud.fine_points is not None
            return self.cloud.fine_points
        return voxel_means(self.cloud, voxel_size, threads, FINE)[0]

    def matched_size(self, voxel_size: float, threads: int) -> float:
        """Return the width of voxels that are few enough to be matched: the given one, or a larger one."""
        raw = self._raw
        if len(raw.points) <= _MOST_MATCHED:
            return voxel_size
        count = num_voxels(raw, voxel_size, threads)
        if count <= _MOST_MATCHED:
            return voxel_size
        times = max(1.0, size_for(raw, threads, _MOST_MATCHED) / voxel_size)
        wider = voxel_size * math.sqrt(2.0) ** math.ceil(math.log2(times) * 2.0)  # few, so that one serves many pairs
        _LOGGER.info(f"{self.name}: voxels of {voxel_size:g} leave {count} points; of {wider:.2g}, few enough to match")
        return wider

    @property
    def _raw(self) -> RawCloud:
        """The points: those of voxels, if the cloud was prepared."""
        return as_cloud("points", self.cloud.points) if isinstance(self.cloud, PreparedCloud) else self.cloud


def voxel_sizes_of(
    given: tuple[Given, ...], voxel_size: float | None, threads: int, *, match_all: bool = False
) -> VoxelSizes:
    """Return the voxel sizes of some clouds; ``match_all``: there is nothing that wider voxels could be matched by."""
    asked = _common_voxel_size(given, voxel_size, threads)
    known = voxel_size is not None or any(isinstance(one.cloud, PreparedCloud) for one in given)
    if match_all or not known:  # chosen, so that they are few
        return VoxelSizes(asked, asked)
    return VoxelSizes(asked, max(one.matched_size(asked, threads) for one in given))


def _common_voxel_size(given: tuple[Given, ...], voxel_size: float | None, threads: int) -> float:
    """Return the voxel size of both clouds: the one given, that of a prepared cloud, or one chosen for both."""
    sizes = {} if voxel_size is None else {"voxel_size": voxel_size}
    sizes |= {known.name: known.cloud.voxel_size for known in given if isinstance(known.cloud, PreparedCloud)}
    if not sizes:
        raw = (known.cloud for known in given if isinstance(known.cloud, RawCloud))
        return usual_voxel_size(*raw, threads=threads)
    (first, size), *others = sizes.items()
    for name, other in others:
        if other != size:
            raise OptionError(f"{name}: prepared with voxels of {other:g}; expected {size:g}, as {first} has")
    return size


def described_alike(source: PreparedCloud, target: PreparedCloud, threads: int) -> tuple[PreparedCloud, PreparedCloud]:
    """Return the clouds with features of normals on the sides that were seen, where these are known of both.

    Such features tell more; but those of one cloud mean nothing to a cloud that does not have them.
    """
    clouds = source, target
    if any(cloud.has_own_features or not cloud.has_fronts for cloud in clouds):
        return clouds
    return source.by_fronts(threads), target.by_fronts(threads)
