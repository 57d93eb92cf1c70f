"""Scans as they come in: read, checked, and put in an order of their own, so that theirs does not matter."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from .._validation import as_length
from ..clouds.cloud import RawCloud, as_cloud, as_viewpoint
from ..clouds.files import read_cloud
from ..clouds.prepared import PreparedCloud, prepare
from ..clouds.voxels import usual_voxel_size
from ..errors import LandmarkError

__all__ = ["Scan", "as_scans", "common_voxel_size", "in_order_of_content", "prepare_scan"]

_Array: TypeAlias = npt.NDArray[np.float64]

_LEAST_POINTS = 30
"""Of a scan reduced to voxels: fewer fit anywhere."""


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


def prepare_scan(scan: Scan, voxel_size: float) -> PreparedCloud:
    """Prepare one scan."""
    return prepare(scan.given, voxel_size=voxel_size)


def is_empty(cloud: PreparedCloud) -> bool:
    """Whether a scan has too few points to fit anywhere."""
    return len(cloud.points) < _LEAST_POINTS
