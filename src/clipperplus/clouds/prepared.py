"""Clouds that are ready to be matched: prepared once, registered with many."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from .. import _core
from .._timing import Stage, Stopwatch
from .._validation import as_integer, as_length, scaled_to_unit
from ..errors import OptionError
from .cloud import RawCloud, as_cloud, as_viewpoint
from .descriptors import DESCRIPTORS
from .neighbourhoods import find_neighbourhoods
from .normals import normals_within
from .voxels import usual_voxel_size, voxel_means

__all__ = ["FINE", "PreparedCloud", "as_refinement", "prepare", "prepare_checked", "viewpoint_of"]

_NORMAL_RADIUS = 2.0
"""Voxels: the neighbours that a normal is fitted to."""
_FEATURE_RADIUS = 5.0
"""Voxels: the neighbours that a feature describes."""
_GRID_REACH = 2
"""Voxels around a surface in which its nearest point can be looked up, and half a voxel more."""
FINE = 0.5
"""Voxels: the width of the finer ones that generalized ICP works on."""
_describe = DESCRIPTORS["fpfh"]


@dataclass(frozen=True, eq=False)
class PreparedCloud:
    """All that registration needs of one cloud; prepare it once to register it with several others."""

    points: npt.NDArray[np.float64]
    """``(n, 3)``: one for each voxel."""
    normals: npt.NDArray[np.float64]
    """``(n, 3)``, unit length, towards the sensor."""
    features: npt.NDArray[np.float32]
    """``(n, 33)``."""
    voxel_size: float
    """Metres."""
    sight: _core.RangeImage
    """How far the sensor saw in every direction from its viewpoint."""
    num_raw: int
    """Points of the cloud before."""
    num_dropped: int
    """Points that were left out because a coordinate was no finite number."""
    stages: tuple[Stage, ...]
    """What was done and how long it took."""
    fine_points: npt.NDArray[np.float64] | None = None
    """``(k, 3)``: one for each voxel of half the width, for ``refine="gicp"``; None where that was not asked for."""

    def __getstate__(self) -> dict[str, Any]:
        """Return what a copy in another process needs; the surface is made again there."""
        return {name: value for name, value in self.__dict__.items() if name != "surface"}

    @functools.cached_property
    def surface(self) -> _core.SurfaceGrid:
        """The nearest points around the surface, to lay another cloud on it."""
        return _core.SurfaceGrid(self.points, self.normals, self.voxel_size, _GRID_REACH)


def prepare(
    cloud: Any,
    *,
    voxel_size: float | None = None,
    viewpoint: npt.ArrayLike | None = None,
    refine: Literal["gicp"] | None = None,
    threads: int = 1,
) -> PreparedCloud:
    """Take voxel means of a cloud, their normals and features.

    Parameters
    ----------
    cloud
        ``(n, 3)`` points, or anything with ``.points``. Points that are not finite are left out.
    voxel_size
        Metres; None: chosen by :func:`clipperplus.choose_voxel_size`.
    viewpoint
        Where the sensor was; None: what the cloud says in ``.viewpoint``, or else the origin.
    refine
        ``"gicp"``: keep the finer points that ``register(…, refine="gicp")`` needs.
    threads
        The result does not depend on it.

    """
    stopwatch = Stopwatch()
    threads = as_integer("threads", threads, 1, 1024)
    refine = as_refinement(refine)
    if voxel_size is not None:
        voxel_size = as_length("voxel_size", voxel_size)
    raw = as_cloud("cloud", cloud, threads=threads)
    sensor = viewpoint_of(cloud, "viewpoint", viewpoint)
    if voxel_size is None:
        voxel_size = usual_voxel_size(raw, threads=threads)
    return prepare_checked(raw, voxel_size, sensor, fine=refine is not None, threads=threads, stopwatch=stopwatch)


def as_refinement(refine: object) -> Literal["gicp"] | None:
    """Return how to finish a registration; None is as it is."""
    if refine is None:
        return None
    if not isinstance(refine, str) or refine != "gicp":
        raise OptionError(f"refine: expected None or 'gicp', got {refine!r}")
    return "gicp"


def viewpoint_of(cloud: Any, name: str, told: npt.ArrayLike | None) -> npt.NDArray[np.float64]:
    """Return where the sensor of a cloud was: what is told, or what the cloud says, or the origin."""
    if told is None and not isinstance(cloud, np.ndarray):
        told = getattr(cloud, "viewpoint", None)
    return as_viewpoint(name, (0.0, 0.0, 0.0) if told is None else told)


def prepare_checked(
    cloud: RawCloud,
    voxel_size: float,
    sensor: npt.NDArray[np.float64],
    *,
    fine: bool,
    threads: int,
    stopwatch: Stopwatch | None = None,
) -> PreparedCloud:
    """Do what :func:`prepare` does for arguments that were checked; the time since the stopwatch began counts, too."""
    stopwatch = stopwatch or Stopwatch()
    means = voxel_means(cloud, voxel_size, threads)
    fine_points = voxel_means(cloud, voxel_size, threads, FINE) if fine else None
    stopwatch.lap("voxels", len(means))
    told = f"voxel_size: {voxel_size:g}"
    neighbours = find_neighbourhoods(means, _FEATURE_RADIUS * voxel_size, threads, told)
    stopwatch.lap("neighbours")
    normals = normals_within(_NORMAL_RADIUS * voxel_size, neighbours, sensor, threads)
    stopwatch.lap("normals")
    features = _describe(neighbours, scaled_to_unit(normals), threads)  # to the bit what compute_fpfh gives for them
    stopwatch.lap("features")
    sight = _core.RangeImage(cloud.points, sensor, threads)
    stopwatch.lap("line of sight")
    return PreparedCloud(
        points=means,
        normals=normals,
        features=features,
        voxel_size=voxel_size,
        sight=sight,
        num_raw=len(cloud.points) + cloud.dropped,
        num_dropped=cloud.dropped,
        stages=stopwatch.stages,
        fine_points=fine_points,
    )
