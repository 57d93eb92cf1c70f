"""The scans of a map, prepared: what is always kept of each, and what is made again when it is asked for.

Features and the grids in which nearest points are looked up take several times the memory of the points themselves.
Of those no more is kept than a share of that. What is made again is the same to the last bit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from .. import _core
from ..clouds.prepared import Description, PreparedCloud
from ..clouds.recent import Recent
from ..clouds.scan import Scan, prepare_scan
from ..clouds.viewpoints import Viewpoint
from ..pairs.recipes import Recipe
from .outlines import Outline
from .scans import is_empty, prepare_all
from .similarity import Sample, feature_sample, similarities_of
from .workbench import Workbench

__all__ = ["Shelf"]

_Array: TypeAlias = npt.NDArray[np.float64]

_SHARE, _LEAST = 0.5, 32 << 20
"""Of the memory of all points, what may be taken for what is made again, and bytes that may be in any case."""


class _Kept(NamedTuple):
    """What is always kept of a scan: where its surface is, and from where it was seen."""

    points: _Array
    normals: _Array
    bends: _Array
    counts: npt.NDArray[np.int32]
    viewpoint: Viewpoint
    outline: Outline
    sample: Sample

    @classmethod
    def of(cls, cloud: PreparedCloud) -> _Kept:
        surface = cloud.points, cloud.normals, cloud.bends, cloud.counts
        return cls(*surface, cloud.viewpoint, Outline(cloud), feature_sample(cloud))


class Shelf:
    """Scans of one folder."""

    def __init__(self, bench: Workbench, scans: Sequence[Scan], voxel_size: float, memory: int | None = None) -> None:
        """Prepare scans, on the threads of a bench, and keep those that are not empty.

        ``memory``: bytes for what is made again; None: as much as suits the points.
        """
        every = prepare_all(bench, scans, voxel_size, _Kept.of)
        full = [k for k, (kept, _) in enumerate(every) if not is_empty(kept)]
        self.numbers = full
        """Of the scans that were given, those that are on the shelf."""
        self.scans = [scans[k] for k in full]
        self._kept, self._odds = [every[k][0] for k in full], [every[k][1] for k in full]
        self._voxel_size = voxel_size
        usual = max(_LEAST, int(_SHARE * sum(scan.cloud.points.nbytes for scan in scans)))
        self.recent = Recent(usual if memory is None else memory)
        self.seen: Sequence[PreparedCloud] = _Row(len(full), self._seen)
        """The scans without features, to be laid on each other."""
        self.described: Sequence[PreparedCloud] = _Row(len(full), self._described)
        """The scans with all that registration needs."""
        self.outlines = [kept.outline for kept in self._kept]

    def recipe(self, k: int) -> Recipe:
        """Return how a scan with all that registration needs is made on another machine."""
        scan = self.scans[k]
        return Recipe(scan.file or scan, scan.content, self._voxel_size, origin_odds=self._odds[k])

    def similarities(self) -> _Array:
        """Return how alike each two scans look; once, since what that takes is not kept."""
        samples = [kept.sample for kept in self._kept]
        self._kept = [kept._replace(sample=kept.sample[:0]) for kept in self._kept]
        return similarities_of(samples)

    def _described(self, k: int) -> PreparedCloud:
        return self.recent.get(("described", k), lambda: prepare_scan(self.scans[k], self._voxel_size, self._odds[k]))

    def _seen(self, k: int) -> PreparedCloud:
        return self.recent.get(("seen", k), lambda: self._without_features(k))

    def _without_features(self, k: int) -> PreparedCloud:
        kept, cloud, nothing = self._kept[k], self.scans[k].cloud, np.empty((0, 3))
        return PreparedCloud(
            points=kept.points,
            normals=kept.normals,
            bends=kept.bends,
            counts=kept.counts,
            description=Description(nothing, np.empty((0, 33), dtype=np.float32), None),
            voxel_size=self._voxel_size,
            viewpoint=kept.viewpoint,
            sight=_core.RangeImage(cloud.points, kept.viewpoint.place, 1),
            finer_points=nothing,
            num_raw=len(cloud.points) + cloud.dropped,
            num_dropped=cloud.dropped,
            stages=(),
        )


class _Row(Sequence[PreparedCloud]):
    """Clouds that are made when they are asked for."""

    def __init__(self, count: int, get: Callable[[int], PreparedCloud]) -> None:
        self._count, self._get = count, get

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, k: Any) -> Any:
        if not 0 <= k < self._count:
            raise IndexError(f"there are {self._count} scans, not one with number {k}")
        return self._get(int(k))

    def __iter__(self) -> Iterator[PreparedCloud]:
        return (self._get(k) for k in range(self._count))
