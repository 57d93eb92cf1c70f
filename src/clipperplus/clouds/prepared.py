"""Clouds that are ready to be matched: prepared once, registered with many."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from .. import _core
from .._timing import Stage, Stopwatch
from .._validation import as_integer, as_length, as_number, attribute_of, scaled_to_unit
from .._words import shown
from ..errors import LandmarkError, OptionError
from .cloud import RawCloud, as_cloud, as_finite_points, as_viewpoint
from .descriptors import DESCRIPTORS
from .fronts import given_fronts, normals_of
from .matching import as_features
from .neighbourhoods import Neighbourhoods, find_neighbourhoods
from .normals import normals_within, turned_inwards
from .surfaces import GRID_REACH
from .viewpoints import Viewpoint, find_viewpoint
from .voxels import usual_voxel_size, voxel_means

__all__ = [
    "FINE",
    "FINER",
    "NORMAL_RADIUS",
    "Description",
    "PreparedCloud",
    "as_refinement",
    "prepare",
    "prepare_checked",
    "viewed_surface",
    "viewpoint_of",
]

_Array: TypeAlias = npt.NDArray[np.float64]

NORMAL_RADIUS = 2.0
"""Voxels: the neighbours that a normal is fitted to."""
_FEATURE_RADIUS = 5.0
"""Voxels: the neighbours that a feature describes."""
_VIEWED_POINTS = 1000
"""Points that stand for the surface where it is judged from where it was seen."""
_VIEW_MARGIN = 3.0
"""Voxels by which a point must be behind others to be hidden by them."""
FINE = 0.5
"""Voxels: the width of the finer ones that generalized ICP works on."""
FINER = 0.7
"""Voxels: the width of those that a closer look describes."""
_LARGEST_LOOK = 100.0
"""Voxels: what another look may be at, at most."""
_SIGHT_BYTES = 6 * 64 * 64 * 4
"""Of a range image."""
_describe = DESCRIPTORS["fpfh"]


class Description(NamedTuple):
    """Points, and what the surface around each looks like."""

    points: _Array
    """``(n, 3)``."""
    features: npt.NDArray[np.float32]
    """``(n, d)``; zeros where a point cannot be described."""
    normals: _Array | None
    """``(n, 3)``, whatever their sign; None if they are not known."""


@dataclass(frozen=True, eq=False)
class PreparedCloud:
    """All that registration needs of one cloud; prepare it once to register it with several others."""

    points: _Array
    """``(n, 3)``: one for each voxel."""
    normals: _Array
    """``(n, 3)``, unit length, towards the viewpoint, or on the side that normals say which came with the cloud."""
    bends: _Array
    """``(n,)``: how much the surface bends there, from 0 to 1/3."""
    counts: npt.NDArray[np.int32]
    """``(n,)``: points of the cloud in each voxel."""
    description: Description
    """What is matched: features of the points, or what :meth:`with_features` was given."""
    voxel_size: float
    """Metres."""
    viewpoint: Viewpoint
    """Where the sensor was, and how that is known."""
    sight: _core.RangeImage
    """How far the sensor saw in every direction from its viewpoint."""
    finer_points: _Array
    """``(k, 3)``: one for each voxel of 0.7 times the width, for a closer look."""
    num_raw: int
    """Points of the cloud before."""
    num_dropped: int
    """Points that were left out because a coordinate was no finite number."""
    stages: tuple[Stage, ...]
    """What was done and how long it took."""
    fine_points: _Array | None = None
    """``(k, 3)``: one for each voxel of half the width, for ``refine="gicp"``; None where that was not asked for."""
    has_own_features: bool = False
    """Whether the features are not ours, so that other looks at the surface would not be like them."""
    has_fronts: bool = False
    """Whether normals that came with the cloud say which side of it was seen: there is a place that they all face."""
    _described: dict[tuple[float, float, bool], Description] = field(default_factory=dict, repr=False)
    _samples: dict[int, tuple[_Array, _Array, _Array]] = field(default_factory=dict, repr=False)
    _coarsened: dict[float, PreparedCloud] = field(default_factory=dict, repr=False)

    @property
    def features(self) -> npt.NDArray[np.float32]:
        """``(n, 33)``: those of the points, or ``(n, d)`` those that :meth:`with_features` was given."""
        return self.description.features

    def with_features(self, points: Any, features: npt.ArrayLike) -> PreparedCloud:
        """Return the cloud with other features to be matched: learned ones, say, of any length.

        Parameters
        ----------
        points
            ``(n, 3)``: where they are, in the frame of the cloud, in any number.
        features
            ``(n, d)``, compared by Euclidean distance; those of all zeros match nothing.

        """
        places, numbers = as_finite_points("points", points), as_features("features", features)
        if len(places) != len(numbers):
            raise LandmarkError(f"features: expected one for each of {len(places)} points, got {len(numbers)}")
        kept = Description(places.copy(), numbers.copy(), None)
        return replace(self, description=kept, has_own_features=True, _described={})

    def described(self, voxels: float, radius: float, threads: int, *, towards_sensor: bool = False) -> Description:
        """Return features of another kind: of the points of voxels of other width, or of other neighbourhoods.

        ``voxels`` is the width in voxels of this cloud, 0.7 or from 1 to 100; ``radius``, from 2 to 100, in these.
        Normals are turned inwards, or else towards the sensor. What was described is kept, but not pickled.
        """
        voxels = FINER if voxels == FINER else as_number("voxels", voxels, 1.0, _LARGEST_LOOK)
        radius = as_number("radius", radius, NORMAL_RADIUS, _LARGEST_LOOK)
        threads = as_integer("threads", threads, 1, 1024)
        if not isinstance(towards_sensor, bool):
            raise OptionError(f"towards_sensor: expected True or False, got {shown(towards_sensor)}")
        key = voxels, radius, towards_sensor
        if key == (1.0, _FEATURE_RADIUS, False) and not self.has_own_features:
            return self.description
        if key not in self._described:
            width = voxels * self.voxel_size
            points, normals = self.points, self.normals
            if voxels != 1.0:
                finer = self.finer_points if voxels < 1.0 else self.points
                points = finer if voxels == FINER else voxel_means(as_cloud("points", finer), width, threads)[0]
            neighbours = find_neighbourhoods(points, radius * width, threads, f"voxel_size: {self.voxel_size:g}")
            if voxels != 1.0:
                normals, _ = normals_within(NORMAL_RADIUS * width, neighbours, self.viewpoint.place, threads)
            self._described[key] = _describe_surface(neighbours, normals, threads, towards_sensor=towards_sensor)
        return self._described[key]

    def _every(self, step: int) -> tuple[_Array, _Array, _Array]:
        """Return points, their normals and bends: the first, and every so many-th after it. Kept, but not pickled."""
        if step not in self._samples:
            points, normals, bends = (
                np.ascontiguousarray(of[::step]) for of in (self.points, self.normals, self.bends)
            )
            self._samples[step] = points, normals, bends
        return self._samples[step]

    def coarsened(self, voxel_size: float, threads: int) -> PreparedCloud:
        """Return the cloud at wider voxels, in metres, seen from the same place. Kept, but not pickled."""
        if voxel_size not in self._coarsened:
            fronts = self.normals if self.has_fronts else None
            place, cloud = self.viewpoint.place, as_cloud("points", self.points)
            coarse = prepare_checked(cloud, voxel_size, place, fronts, fine=False, threads=threads)
            self._coarsened[voxel_size] = replace(coarse, viewpoint=self.viewpoint, sight=self.sight)
        return self._coarsened[voxel_size]

    def by_fronts(self, threads: int) -> PreparedCloud:
        """Return the cloud with features of normals on the side that was seen, to be matched with others of that kind.

        Another look with normals towards the sensor is then one at those that are turned inwards.
        """
        if "_by_fronts" not in self.__dict__:
            usual = 1.0, _FEATURE_RADIUS
            looks = {(*usual, True): self.description}
            seen = self.described(*usual, threads, towards_sensor=True)
            self.__dict__["_by_fronts"] = replace(self, description=seen, _described=looks)
        return cast(PreparedCloud, self.__dict__["_by_fronts"])

    def __getstate__(self) -> dict[str, Any]:
        """Return what a copy in another process needs; the surface and other looks at it are made again there."""
        kept = {name: value for name, value in self.__dict__.items() if name not in ("surface", "_by_fronts")}
        return kept | {"_described": {}, "_samples": {}, "_coarsened": {}}

    def __sizeof__(self) -> int:
        """Return its memory, by which Dask, and others, decide where to keep it."""
        return object.__sizeof__(self) + self.nbytes

    @property
    def nbytes(self) -> int:
        """Memory that it takes by now, with what was kept because it was asked for, in bytes."""
        # Copies, because other threads may be adding to them.
        looks, samples = [self.description, *self._described.values()], tuple(self._samples.values())
        wider = sum(cloud.nbytes for cloud in tuple(self._coarsened.values()))
        if "_by_fronts" in self.__dict__:
            looks += self.by_fronts(1)._described.values()
        parts: list[npt.NDArray[Any] | None] = [self.points, self.normals, self.bends, self.counts]
        parts += [self.finer_points, self.fine_points]
        parts += [part for look in looks for part in look]
        parts += [part for sample in samples for part in sample]
        own = {id(part): part.nbytes for part in parts if part is not None}  # some are in several places
        return sum(own.values()) + wider + (self.surface.nbytes if "surface" in self.__dict__ else 0) + _SIGHT_BYTES

    @functools.cached_property
    def surface(self) -> _core.SurfaceGrid:
        """The nearest points around the surface, to lay another cloud on it."""
        return _core.SurfaceGrid(self.points, self.normals, self.voxel_size, GRID_REACH)


def prepare(
    cloud: Any,
    *,
    voxel_size: float | None = None,
    viewpoint: npt.ArrayLike | None = None,
    refine: Literal["gicp"] | None = None,
    threads: int = 1,
) -> PreparedCloud:
    """Take voxel means of a cloud, their normals and features, and find out where it was seen from.

    Parameters
    ----------
    cloud
        ``(n, 3)`` points, or anything with ``.points``. Points that are not finite are left out. Of ``.normals``, where
        there are any, the signs are used, if a sensor can have seen surfaces from these sides.
    voxel_size
        Metres; None: chosen by :func:`clipperplus.choose_voxel_size`.
    viewpoint
        Where the sensor was; None: what the cloud says in ``.viewpoint``, or else the origin, if the cloud looks as if
        it had been seen from there, or else a place that is looked for.
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
    normals = normals_of("cloud", cloud, raw)
    told = viewpoint_of(cloud, "viewpoint", viewpoint)
    if voxel_size is None:
        voxel_size = usual_voxel_size(raw, threads=threads)
    fine = refine is not None
    return prepare_checked(raw, voxel_size, told, normals, fine=fine, threads=threads, stopwatch=stopwatch)


def as_refinement(refine: object) -> Literal["gicp"] | None:
    """Return how to finish a registration; None is as it is."""
    if refine is None:
        return None
    if not isinstance(refine, str) or refine != "gicp":
        raise OptionError(f"refine: expected None or 'gicp', got {shown(refine)}")
    return "gicp"


def viewpoint_of(cloud: Any, name: str, told: npt.ArrayLike | None) -> _Array | None:
    """Return where the sensor of a cloud was, as far as that is told, or the cloud says so.

    A cloud that says the origin is one whose program did not know: many write it.
    """
    if told is not None:
        return as_viewpoint(name, told)
    said = attribute_of(name, cloud, "viewpoint")
    place = None if said is None else as_viewpoint(name, said)
    return place if place is not None and place.any() else None


def prepare_checked(
    cloud: RawCloud,
    voxel_size: float,
    told: _Array | None,
    cloud_normals: npt.NDArray[Any] | None,
    *,
    fine: bool,
    threads: int,
    stopwatch: Stopwatch | None = None,
    origin_odds: float = 0.0,
) -> PreparedCloud:
    """Do what :func:`prepare` does for arguments that were checked; the time since the stopwatch began counts, too.

    ``origin_odds`` are those of :func:`~clipperplus.clouds.viewpoints.find_viewpoint`.
    """
    stopwatch = stopwatch or Stopwatch()
    means, counts = voxel_means(cloud, voxel_size, threads)
    finer_points, _ = voxel_means(cloud, voxel_size, threads, FINER)
    fine_points = voxel_means(cloud, voxel_size, threads, FINE)[0] if fine else None
    stopwatch.lap("voxels", len(means))
    told_size = f"voxel_size: {voxel_size:g}"
    neighbours = find_neighbourhoods(means, _FEATURE_RADIUS * voxel_size, threads, told_size)
    reach = NORMAL_RADIUS * voxel_size
    stopwatch.lap("neighbours")
    middle = means.mean(axis=0) if len(means) else np.zeros(3)
    normals, bends = normals_within(reach, neighbours, middle, threads)
    stopwatch.lap("normals")
    surface = viewed_surface(neighbours, normals, counts, voxel_size)
    given = None if cloud_normals is None else given_fronts(cloud, cloud_normals, surface, normals, voxel_size, threads)
    viewpoint, fronts = find_viewpoint(surface, means, told, threads, given, origin_odds)
    sight = _core.RangeImage(cloud.points, viewpoint.place, threads)
    stopwatch.lap("viewpoint")
    description = _describe_surface(neighbours, normals, threads)
    stopwatch.lap("features")
    return PreparedCloud(
        points=means,
        normals=_turned_towards(viewpoint.place, means, normals, fronts),
        bends=bends,
        counts=counts,
        description=description,
        voxel_size=voxel_size,
        viewpoint=viewpoint,
        sight=sight,
        finer_points=finer_points,
        num_raw=len(cloud.points) + cloud.dropped,
        num_dropped=cloud.dropped,
        stages=stopwatch.stages,
        fine_points=fine_points,
        has_fronts=fronts is not None,
    )


def viewed_surface(
    neighbours: Neighbourhoods, normals: _Array, counts: npt.NDArray[np.int32], voxel_size: float
) -> _core.ViewedSurface:
    """Return what voxel means, each of some points, look like from places."""
    reach, margin = NORMAL_RADIUS * voxel_size, _VIEW_MARGIN * voxel_size
    return _core.ViewedSurface(neighbours.points, normals, counts, neighbours._native, reach, margin, _VIEWED_POINTS)


def _describe_surface(
    neighbours: Neighbourhoods, normals: _Array, threads: int, *, towards_sensor: bool = False
) -> Description:
    """Return features that depend on no viewpoint: normals are turned to the side of their neighbours, unless told."""
    points = neighbours.points
    if not towards_sensor:
        normals = turned_inwards(normals, neighbours, threads)
    return Description(points, _describe(neighbours, scaled_to_unit(normals), threads), normals)


def _turned_towards(place: _Array, points: _Array, normals: _Array, fronts: _Array | None) -> _Array:
    """Return normals on the side that was seen, or else on the one that is seen from a place."""
    away = np.einsum("ij,ij->i", place - points, normals) < 0.0
    turned = np.where(away[:, None], -normals, normals)
    return turned if fronts is None else np.where(fronts.any(axis=1, keepdims=True), fronts, turned)
