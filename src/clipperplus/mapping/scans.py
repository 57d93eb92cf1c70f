"""Scans as they come in: read, checked, and put in an order of their own, so that theirs does not matter."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from typing import Any, Protocol, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from .._validation import as_length
from ..clouds.cloud import RawCloud, as_cloud, as_viewpoint
from ..clouds.files import read_cloud
from ..clouds.fronts import normals_of
from ..clouds.prepared import PreparedCloud, prepare_checked
from ..clouds.viewpoints import Viewpoint
from ..clouds.voxels import usual_voxel_size
from ..errors import LandmarkError
from .workbench import Workbench

__all__ = [
    "Scan",
    "as_scans",
    "common_voxel_size",
    "in_order_of_content",
    "is_empty",
    "origin_odds",
    "prepare_all",
    "prepare_scan",
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


class _Viewed(Protocol):
    """Points that were seen from a place."""

    @property
    def points(self) -> _Array:
        """``(n, 3)``."""

    @property
    def viewpoint(self) -> Viewpoint:
        """The place."""


_Kept = TypeVar("_Kept", bound=_Viewed)


@dataclass(frozen=True, eq=False)
class Scan:
    """One scan."""

    name: str
    cloud: RawCloud
    given: Any
    """What it came as: it may have normals."""
    viewpoint: _Array | None
    """``(3,)``: where the sensor stood, if it was told."""
    content: str
    """What tells it apart from other scans: equal for equal points seen from the same place."""


def as_scans(scans: Sequence[Any], names: Sequence[str] | None = None) -> list[Scan]:
    """Read and check scans: arrays of points, anything with ``.points``, or names of files."""
    if isinstance(scans, str | bytes) or not hasattr(scans, "__len__"):
        raise LandmarkError(f"scans: expected several scans in a list, got {type(scans).__name__}")
    if names is not None and len(names) != len(scans):
        raise LandmarkError(f"names: expected one for each of {len(scans)} scans, got {len(names)}")
    return [as_scan(scan, f"scans[{k}]", None if names is None else str(names[k])) for k, scan in enumerate(scans)]


def as_scan(scan: Any, argument: str, name: str | None = None) -> Scan:
    """Read and check one scan."""
    if isinstance(scan, str | PathLike):
        name, scan = name or fspath(scan), read_cloud(scan)
    cloud = as_cloud(argument, scan)
    told = getattr(scan, "viewpoint", None)
    if isinstance(scan, PreparedCloud):
        raise LandmarkError(f"{argument}: expected a cloud as it was scanned, got a PreparedCloud")
    place = None if told is None else as_viewpoint(f"{argument}.viewpoint", told)
    digest = hashlib.sha256(np.ascontiguousarray(cloud.points, dtype=np.float64).tobytes())
    digest.update(b"" if place is None else place.tobytes())
    return Scan(name or argument, cloud, scan, place, digest.hexdigest())


def in_order_of_content(scans: Sequence[Scan]) -> npt.NDArray[np.int64]:
    """Return the numbers of the scans in an order that does not depend on the one they came in."""
    return np.array(sorted(range(len(scans)), key=lambda k: (scans[k].content, k)), dtype=np.int64)


def common_voxel_size(scans: Sequence[Scan], voxel_size: float | None) -> float:
    """Return the voxel size of all scans: the one given, or the median of what suits each."""
    if voxel_size is not None:
        return as_length("voxel_size", voxel_size)
    sizes = [usual_voxel_size(scan.cloud, threads=1) for scan in scans if len(scan.cloud.points) >= _LEAST_POINTS]
    return float(f"{np.median(sizes):.2g}") if sizes else 1.0


def prepare_scan(scan: Scan, voxel_size: float, origin_odds: float = 0.0) -> PreparedCloud:
    """Prepare one scan; ``origin_odds`` say how much likelier than usual it is that it was seen from its origin."""
    told = scan.viewpoint if scan.viewpoint is not None and scan.viewpoint.any() else None
    normals = normals_of(scan.name, scan.given, scan.cloud)
    return prepare_checked(scan.cloud, voxel_size, told, normals, fine=False, threads=1, origin_odds=origin_odds)


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
