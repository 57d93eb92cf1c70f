"""A scan as it came in: read, checked, and known by its content, so that it can be told from others anywhere."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from .._timing import Stopwatch
from .._validation import attribute_of
from ..errors import LandmarkError
from .cloud import RawCloud, as_cloud, as_viewpoint
from .files import read_cloud
from .fronts import normals_of
from .prepared import PreparedCloud, prepare_checked

__all__ = ["Scan", "Unread", "as_scan", "prepare_scan"]

_Array: TypeAlias = npt.NDArray[np.float64]


class Unread(NamedTuple):
    """A file that holds a cloud."""

    path: str
    """The same from everywhere on this machine."""
    name: str
    size_limit: int | None = None
    """That of :func:`clipperplus.read_cloud`."""

    def read(self) -> Scan:
        """Read and check it."""
        return as_scan(self.path, self.name, self.name, size_limit=self.size_limit)


@dataclass(frozen=True, eq=False)
class Scan:
    """One scan."""

    name: str
    cloud: RawCloud
    normals: npt.NDArray[Any] | None
    """Those that came with it, if any did."""
    viewpoint: _Array | None
    """``(3,)``: where the sensor stood, if it was told."""
    content: str
    """What tells it apart from other scans: equal for equal points, and normals, seen from the same place."""
    file: Unread | None = None
    """That it was read from, if it was."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what makes it again in another process."""
        points, dropped = self.cloud.points, self.cloud.dropped
        return _again, (points, dropped, self.normals, self.viewpoint, self.name, self.file, self.content)


def _again(
    points: npt.NDArray[Any],
    dropped: int,
    normals: npt.NDArray[Any] | None,
    viewpoint: _Array | None,
    name: str,
    file: Unread | None,
    content: str,
) -> Scan:
    """Make a scan that was checked in another process."""
    return Scan(name, replace(as_cloud(name, points), dropped=dropped), normals, viewpoint, content, file)


def as_scan(scan: Any, argument: str, name: str | None = None, *, size_limit: int | None = None) -> Scan:
    """Read and check one scan: points, anything with ``.points``, or the name of a file."""
    file = None
    if isinstance(scan, str | os.PathLike):
        path = os.fspath(scan)
        file = Unread(os.path.abspath(path), name or path, size_limit)
        name, scan = file.name, read_cloud(path, size_limit=size_limit)
    if isinstance(scan, PreparedCloud):
        raise LandmarkError(f"{argument}: expected a cloud as it was scanned, got a PreparedCloud")
    cloud = as_cloud(argument, scan)
    normals = normals_of(argument, scan, cloud)
    told = attribute_of(argument, scan, "viewpoint")
    place = None if told is None else as_viewpoint(f"{argument}.viewpoint", told)
    digest = hashlib.sha256(np.ascontiguousarray(cloud.points, dtype=np.float64).tobytes())
    if place is not None:
        digest.update(b"viewpoint" + place.tobytes())
    if normals is not None:
        digest.update(b"normals" + np.ascontiguousarray(normals, dtype=np.float64).tobytes())
    return Scan(name or argument, cloud, normals, place, digest.hexdigest(), file)


def prepare_scan(
    scan: Scan,
    voxel_size: float,
    origin_odds: float = 0.0,
    *,
    fine: bool = False,
    stopwatch: Stopwatch | None = None,
) -> PreparedCloud:
    """Prepare one scan; ``origin_odds`` say how much likelier than usual it is that it was seen from its origin."""
    told = scan.viewpoint if scan.viewpoint is not None and scan.viewpoint.any() else None
    return prepare_checked(
        scan.cloud,
        voxel_size,
        told,
        scan.normals,
        fine=fine,
        threads=1,
        origin_odds=origin_odds,
        stopwatch=stopwatch,
    )
