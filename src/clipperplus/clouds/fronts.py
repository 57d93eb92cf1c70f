"""Normals that come with a cloud: which side of a surface was seen.

Our own normals are fitted anew to the voxels, since those of a file may be fitted to other neighbourhoods, or not be
unit vectors; what they add is the sign. They count where they are signs that a sensor can have seen: neighbouring
normals are not turned apart, and there is a place near the cloud that nearly all of them face
(:func:`clipperplus.clouds.viewpoints.find_viewpoint` looks for it). Those that random signs, a model that was seen from
all sides or a program that knew another viewpoint left behind do not.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from .. import _core
from .._validation import as_array, attribute_of
from ..errors import LandmarkError
from .cloud import RawCloud
from .voxels import voxel_numbers

__all__ = ["given_fronts", "normals_of"]

_Array: TypeAlias = npt.NDArray[np.float64]

_ALONG = 0.9
"""Cosine of the angle between our normal of a voxel and the mean of those given, from which on they are the same."""
_MOST_TORN = 0.1
"""Share of neighbours whose normals may be turned apart; of random signs it is a half."""


def normals_of(name: str, cloud: Any, points: RawCloud) -> npt.NDArray[Any] | None:
    """Return the normals that a cloud comes with, of the points that were kept; None if it has none.

    They may be of any length, and some may be no numbers.
    """
    normals = attribute_of(name, cloud, "normals")
    if normals is None:
        return None
    given = as_array(f"{name}.normals", normals, LandmarkError)
    if given.size == 0:  # as other libraries say that there are none
        return None
    expected = (len(points.points) + points.dropped, 3)
    if given.shape != expected or given.dtype.kind not in "iuf":
        got = f"{given.dtype} of shape {given.shape}"
        raise LandmarkError(f"{name}.normals: expected a normal for each point, numbers of shape {expected}, got {got}")
    if points.dropped:
        given = given[np.isfinite(np.asarray(cloud.points)).all(axis=1)]
    return given


def given_fronts(
    cloud: RawCloud,
    given: npt.NDArray[Any],
    surface: _core.ViewedSurface,
    normals: _Array,
    voxel_size: float,
    threads: int,
) -> _Array | None:
    """Return our normals of the voxels with the signs of those given, zeros where these have none to say.

    None where the signs tear the surface.
    """
    numbers = voxel_numbers(cloud, voxel_size, threads)
    chosen = np.flatnonzero((numbers >= 0) & (numbers < len(normals)))
    directions = _unit_or_zero(given[chosen])
    numbers = numbers[chosen]
    means = np.column_stack([np.bincount(numbers, axis, len(normals)) for axis in directions.T])
    along = np.einsum("ij,ij->i", _unit_or_zero(means), normals)
    sides = np.where(np.abs(along) >= _ALONG, np.sign(along), 0.0)
    if surface.torn_by(sides.astype(np.int8)) > _MOST_TORN:
        return None
    return np.asarray(sides[:, None] * normals)


def _unit_or_zero(vectors: npt.NDArray[Any]) -> _Array:
    """Return vectors of length 1, but zeros for what has no direction."""
    with np.errstate(all="ignore"):
        vectors = vectors.astype(np.float64)
        scaled = vectors / np.abs(vectors).max(axis=1, initial=0.0)[:, None]  # so that no square overflows or vanishes
        unit = scaled / np.linalg.norm(scaled, axis=1)[:, None]
    return np.where(np.isfinite(unit).all(axis=1)[:, None], unit, 0.0)
