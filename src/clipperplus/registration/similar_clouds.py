"""Two clouds of unknown sizes: in different units, or one of them a model.

Features are of surfaces in voxels, so they are the same at any scale if the voxels are. Each cloud gets voxels of its
own; matches vote for a scale; then the source is enlarged, and all goes on as if the scale had been known. What the
surfaces say about it then is more precise.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from .._timing import Stopwatch
from ..clouds.cloud import RawCloud
from ..clouds.prepared import PreparedCloud
from ..clouds.voxels import rounded_size, usual_voxel_size
from ..consistency import ConsistencyProblem
from ..errors import OptionError
from ..geometry.motions import RIGID, as_motion
from .confidence import Status
from .given import Given, described_alike, voxel_sizes_of
from .line import Asked, register_given
from .looks import match_descriptions
from .own_matches import OwnMatches
from .pose import Pose
from .scale_votes import at_likely_scale

__all__ = ["register_at_scale"]

_Array: TypeAlias = npt.NDArray[np.float64]

_SIMILARITY = as_motion("similarity")
_SIZES = (1.0, 0.7, 1.4)
"""Times the usual one: voxel sizes of the source. What the two see may not be of the same extent."""
_ENOUGH = 30
"""Associations that agree from which on no other voxels are tried."""
_SETTLED, _MOST_ROUNDS = 0.002, 3
"""Share by which surfaces may disagree with the scale, and how often it is corrected at most."""


def register_at_scale(own: OwnMatches, given: tuple[Given, Given], asked: Asked, stopwatch: Stopwatch) -> Pose:
    """Find a scale, register with the source enlarged by it, and correct it by what the surfaces say."""
    source, target = given
    if not isinstance(source.cloud, RawCloud):
        raise OptionError("source: prepared with voxels of a size that depends on the scale; give its points")
    if asked.rough is not None:
        raise OptionError("initial: expected None where the scale is not known")
    own_only = own.are_all(source.cloud, target.cloud)
    sizes = voxel_sizes_of((target,), asked.voxel_size, asked.threads, match_all=own_only)
    fixed = target.prepare(sizes.matched, asked.threads, stopwatch)
    scale = _likely_scale(own, source, fixed, sizes.epsilon(asked.epsilon), asked)
    stopwatch.lap("scale")
    rigid = replace(asked, voxel_size=sizes.asked, model=RIGID)
    # Where wider voxels are matched, the cloud is asked for narrower ones in the end.
    known = target if sizes.matched > sizes.asked else replace(target, cloud=fixed, told=None, normals=None)
    tried: list[tuple[Pose, float]] = []
    for _ in range(_MOST_ROUNDS):
        pose = register_given(own.scaled(scale), (source.scaled(scale), known), rigid, stopwatch)
        tried.append((pose, scale))
        if _left(pose) < _SETTLED or pose.evidence.scale is None:
            break
        scale *= pose.evidence.scale
    best = min(tried, key=lambda one: (one[0].status is not Status.OK, _left(one[0])))
    return _enlarged(*best)


def _left(pose: Pose) -> float:
    """Return by how much the surfaces disagree with the scale."""
    return math.inf if pose.evidence.scale is None else abs(math.log(pose.evidence.scale))


def _likely_scale(own: OwnMatches, source: Given, target: PreparedCloud, epsilon: float, asked: Asked) -> float:
    """Return the scale at which the most matches agree, with voxels of the source of one size or another."""
    scale, agreeing = 1.0, -1
    for here, there, pairs in _matches(own, source, target, asked):
        matched, bounds = (here[pairs[:, 0]], there[pairs[:, 1]]), np.full(len(pairs), epsilon)
        problem = ConsistencyProblem.of_points(here, there, pairs, epsilon)
        likely = at_likely_scale(problem, matched, bounds, _SIMILARITY, asked.threads)
        if likely.agreeing > agreeing:
            scale, agreeing = likely.scale, likely.agreeing
        if agreeing >= _ENOUGH:
            break
    return scale


def _matches(
    own: OwnMatches, source: Given, target: PreparedCloud, asked: Asked
) -> Iterator[tuple[_Array, _Array, npt.NDArray[np.int64]]]:
    """Return the points of both clouds and their matches: the caller's own, or one set for each voxel size."""
    assert isinstance(source.cloud, RawCloud)
    about: tuple[Any, ...] = asked.matches, asked.ratio, asked.threads
    usual = usual_voxel_size(source.cloud, threads=asked.threads)
    for size in _SIZES:
        moving = source.prepare(rounded_size(size * usual), asked.threads, Stopwatch())
        here, there = own.applied_to(moving, target)
        if own.associations is not None:
            first, second = own.landmarks(here, there)
            yield first.points, second.points, own.associations
            return
        here, there = described_alike(here, there, asked.threads)
        first, second = here.description, there.description
        yield first.points, second.points, match_descriptions(first, second, *about)
        if own.are_all(here, there):
            return


def _enlarged(pose: Pose, scale: float) -> Pose:
    """Return an answer for the source as it was given, from that for an enlarged one."""
    about: dict[str, Any] = {"motion": "similarity", "source_points": pose.source_points / scale}
    if pose.T_target_source is None or pose.covariance is None:
        return replace(pose, **about)
    enlarge = np.diag([scale, scale, scale, 1.0])
    deviation = pose.evidence.scale_deviation or 0.0
    explained = pose.associations[pose.inliers, 1] if pose.num_inliers else slice(None)
    centre = pose.target_points[explained].mean(axis=0)
    covariance = pose.covariance.copy()
    covariance[3:, 3:] += deviation**2 * np.outer(centre, centre)
    return replace(
        pose,
        T_target_source=pose.T_target_source @ enlarge,
        covariance=covariance,
        scale_deviation=deviation,
        alternatives=tuple(
            replace(other, T_target_source=other.T_target_source @ enlarge) for other in pose.alternatives
        ),
        **about,
    )
