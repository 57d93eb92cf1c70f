"""The two clouds of a registration as they came in: looked at once, brought to one voxel size, prepared."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from .. import _core
from .._timing import Stopwatch
from .._validation import in_order
from ..clouds.cloud import RawCloud, as_cloud
from ..clouds.fronts import normals_of
from ..clouds.prepared import PreparedCloud, prepare_checked, viewpoint_of
from ..clouds.voxels import usual_voxel_size
from ..errors import OptionError

__all__ = ["Given", "common_voxel_size", "described_alike"]

_Array: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Given:
    """One of the two clouds, checked: prepared already, or raw with the place of its sensor."""

    name: str
    cloud: PreparedCloud | RawCloud
    told: _Array | None
    """Where its sensor was, if that was told."""
    normals: npt.NDArray[Any] | None
    """Those that came with it, if any did."""
    fine: bool
    """Whether finer points are needed, too."""

    @classmethod
    def check(cls, name: str, cloud: Any, viewpoint: npt.ArrayLike | None, refine: str | None, threads: int) -> Given:
        """Look at what the caller gave, for the only time."""
        if not isinstance(cloud, PreparedCloud):
            told = viewpoint_of(cloud, f"{name}_viewpoint", viewpoint)
            raw = as_cloud(name, cloud, threads=threads)
            return cls(name, raw, told, normals_of(name, cloud, raw), refine is not None)
        if viewpoint is not None:
            raise OptionError(f"{name}_viewpoint: the cloud is prepared; give its viewpoint to prepare()")
        if refine is not None and cloud.fine_points is None:
            raise OptionError(
                f"{name}: prepared without the finer points that it takes; prepare(…, refine={refine!r}) keeps them"
            )
        return cls(name, cloud, None, None, refine is not None)

    def scaled(self, scale: float) -> Given:
        """Return a raw cloud enlarged about its origin."""
        assert isinstance(self.cloud, RawCloud)
        points: Any = in_order(self.cloud.points * self.cloud.points.dtype.type(scale), self.cloud.points.dtype.type)
        enlarged = replace(self.cloud, points=points, bounds=_core.bounds_of(points, 1))
        return replace(self, cloud=enlarged, told=None if self.told is None else scale * self.told)

    def prepare(self, voxel_size: float, threads: int, stopwatch: Stopwatch) -> PreparedCloud:
        """Return the cloud with voxel means, normals and features."""
        if isinstance(self.cloud, PreparedCloud):
            return self.cloud
        prepared = prepare_checked(self.cloud, voxel_size, self.told, self.normals, fine=self.fine, threads=threads)
        stopwatch.add(prepared.stages, f"{self.name} ")
        return prepared


def common_voxel_size(given: tuple[Given, Given], voxel_size: float | None, threads: int) -> float:
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
