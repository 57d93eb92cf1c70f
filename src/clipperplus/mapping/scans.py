"""Scans of one folder: put in an order of their own, so that theirs does not matter, and prepared alike."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from .._validation import as_length
from ..clouds.prepared import PreparedCloud
from ..clouds.scan import Scan, as_scan, prepare_scan
from ..clouds.viewpoints import Viewpoint
from ..clouds.voxels import usual_voxel_size
from ..errors import LandmarkError
from ..pairs.arguments import length_of
from .workbench import Workbench

__all__ = [
    "as_scan_of_map",
    "as_scans",
    "common_voxel_size",
    "in_order_of_content",
    "is_empty",
    "origin_odds",
    "prepare_all",
    "prepare_scans",
]

_Array: TypeAlias = npt.NDArray[np.float64]

_ORIGINS = 0.3
"""Share of scans that look as if seen from their origin which tells a folder where they are, from one where it seems so
by chance: of scans of rooms one in ten in frames of any kind, half or more in those of their sensors."""
_COMMON = 2.0
"""By how much a folder has one custom, rather than each scan its own: a factor of the logarithm of the odds."""
_LEAST_POINTS = 30
"""Of a scan reduced to voxels: fewer fit anywhere."""
_LARGEST = 1e37
"""Coordinate: what maps keep of scans, also in files, is in single precision."""


class _Viewed(Protocol):
    """Points that were seen from a place."""

    @property
    def points(self) -> _Array:
        """``(n, 3)``."""

    @property
    def viewpoint(self) -> Viewpoint:
        """The place."""


_Kept = TypeVar("_Kept", bound=_Viewed)


def as_scans(scans: Sequence[Any], names: Sequence[str] | None = None, size_limit: int | None = None) -> list[Scan]:
    """Read and check scans: arrays of points, anything with ``.points``, or names of files."""
    count = length_of("scans", scans, "several scans")
    if names is not None and length_of("names", names, "one for each scan") != count:
        raise LandmarkError(f"names: expected one for each of {count} scans, got {len(names)}")
    called = itertools.repeat(None) if names is None else [str(name) for name in names]
    return [
        as_scan_of_map(scan, f"scans[{k}]", name, size_limit=size_limit)
        for k, (scan, name) in enumerate(zip(scans, called, strict=False))
    ]


def as_scan_of_map(scan: Any, argument: str, name: str | None = None, *, size_limit: int | None = None) -> Scan:
    """Read and check one scan, as :func:`as_scan` does; one that single precision cannot hold is refused."""
    result = as_scan(scan, argument, name, size_limit=size_limit)
    if result.cloud.farthest > _LARGEST:
        farthest = result.cloud.farthest
        raise LandmarkError(f"{argument}: expected coordinates of at most {_LARGEST:g} in a map, got {farthest:g}")
    return result


def in_order_of_content(scans: Sequence[Scan]) -> npt.NDArray[np.int64]:
    """Return the numbers of the scans in an order that does not depend on the one they came in."""
    return np.array(sorted(range(len(scans)), key=lambda k: (scans[k].content, k)), dtype=np.int64)


def common_voxel_size(scans: Sequence[Scan], voxel_size: float | None) -> float:
    """Return the voxel size of all scans: the one given, or the median of what suits each."""
    if voxel_size is not None:
        return as_length("voxel_size", voxel_size)
    sizes = [usual_voxel_size(scan.cloud, threads=1) for scan in scans if len(scan.cloud.points) >= _LEAST_POINTS]
    return float(f"{np.median(sizes):.2g}") if sizes else 1.0


def prepare_scans(bench: Workbench, scans: Sequence[Scan], voxel_size: float) -> list[PreparedCloud]:
    """Prepare scans of one folder, which share a custom: whether the origin of each frame is where the sensor stood."""
    return [cloud for cloud, _ in prepare_all(bench, scans, voxel_size, lambda cloud: cloud)]


def prepare_all(
    bench: Workbench, scans: Sequence[Scan], voxel_size: float, keep: Callable[[PreparedCloud], _Kept]
) -> list[tuple[_Kept, float]]:
    """Prepare scans of one folder; return what is kept of each, and the ``origin_odds`` by which it was prepared.

    Each is judged by itself at first. Those that differ from most are judged again, knowing that.
    """

    def prepare(scan: Scan, odds: float = 0.0) -> tuple[_Kept, float]:
        return keep(prepare_scan(scan, voxel_size, odds)), odds

    kept = list(bench.each(prepare, list(scans), "preparing scans"))
    odds = origin_odds(one for one, _ in kept)
    rare = "found" if odds > 0.0 else "origin"
    again = [k for k, (one, _) in enumerate(kept) if one.viewpoint.source == rare and not is_empty(one)]
    others = bench.each(lambda k: prepare(scans[k], odds), again, "")
    for k, other in zip(again, others, strict=True):
        kept[k] = other
    return kept


def origin_odds(clouds: Iterable[_Viewed]) -> float:
    """Return how much likelier than usual it is that scans like these were seen from their origins, as a logarithm."""
    sources = [cloud.viewpoint.source for cloud in clouds if not is_empty(cloud)]
    origins, found = sources.count("origin"), sources.count("found")
    return _COMMON * (math.log((origins + 1.0) / (found + 1.0)) - math.log(_ORIGINS / (1.0 - _ORIGINS)))


def is_empty(cloud: _Viewed) -> bool:
    """Whether a scan has too few points to fit anywhere."""
    return len(cloud.points) < _LEAST_POINTS
