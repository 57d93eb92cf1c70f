"""From matches of points and pixels to the pose of a camera: groups, graph, largest clique, robust fit."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from .._timing import Stopwatch
from .._validation import as_integer, as_length, as_number, as_points
from ..clique import CliqueResult, check_limit, find_clique
from ..consistency import ConsistencyProblem
from ..errors import LandmarkError
from ..invariants import CameraReprojection, GroupSampling
from .camera_fit import SeenPoints
from .camera_pose import CameraHypothesis, CameraPose
from .confidence import CHANCE_ALLOWED, Evidence, Status, as_prior, judge

__all__ = ["solve_camera"]

_Array = npt.NDArray[np.float64]

_RIVAL = 0.9
"""Score from which on another pose makes an answer ambiguous."""
_SAME_TURN = 0.05
"""Entries of rotations that differ by less are the same, …"""
_SAME_SHIFT = 0.05
"""… if they are not farther apart than this share of the distance."""
_ON_LINE = 1e-9
"""Of the longest extent of points: across it, they are on a line."""


def solve_camera(
    points: Any,
    pixels: Any,
    intrinsics: npt.ArrayLike,
    associations: npt.ArrayLike | None = None,
    *,
    epsilon: float = 4.0,
    groups: GroupSampling | None = None,
    method: str = "auto",
    time_limit: float | Literal["default"] | None = "default",
    min_confidence: float = 0.5,
    prior: float = 0.5,
    max_alternatives: int = 5,
    threads: int = 1,
) -> CameraPose:
    """Find the pose of a camera from points and the pixels at which it may have seen them.

    Parameters
    ----------
    points
        ``(n, 3)`` points, in any frame and unit, or anything with ``.points``.
    pixels
        ``(m, 2)`` pixels, column first, without distortion.
    intrinsics
        ``(3, 3)`` matrix of the camera, or fx, fy, cx, cy in pixels.
    associations
        ``(a, 2)`` numbers of a point and a pixel each; None: point k with pixel k.
    epsilon
        How far from its pixel, in pixels, a right match may be seen: about four standard deviations of the noise.
    groups
        How many triples of matches are drawn at most, and how many groups make an edge; None: as
        :class:`clipperplus.invariants.GroupSampling` is.
    method, time_limit
        As in :func:`clipperplus.find_clique`.
    min_confidence
        Below it the status is ``UNCERTAIN``.
    prior
        How likely it is beforehand that there is a right pose at all, between 0 and 1.
    max_alternatives
        How many other poses to return.
    threads
        The result does not depend on it.

    Returns
    -------
    CameraPose
        Three matches have up to four poses, and are a group with all that such a pose brings to within epsilon. Matches
        that are found together in enough groups are joined; the pose is a robust fit, from the largest clique of that
        graph, to all matches around it. A set that is no larger than chance would bring is not ``OK``: see
        ``reasons``.

    """
    stopwatch = Stopwatch()
    min_confidence = as_number("min_confidence", min_confidence, 0.0, 1.0)
    prior = as_prior(prior)
    epsilon = as_length("epsilon", epsilon)
    max_alternatives = as_integer("max_alternatives", max_alternatives, 0, 1000)
    threads = as_integer("threads", threads, 1, 1024)
    check_limit(method, time_limit)
    camera = CameraReprojection(intrinsics)
    world, image = as_points("points", points, (3,)), as_points("pixels", pixels, (2,))
    if associations is None and len(world) != len(image):
        raise LandmarkError(f"pixels: {len(image)} for {len(world)} points; pass associations, or as many of both")
    problem = ConsistencyProblem.check(world, image, associations, epsilon, camera, True, 0.0, groups)
    found = problem.find_cameras(threads)
    stopwatch.lap("groups", found.groups)
    clique = find_clique(found.graph, method=method, time_limit=time_limit, threads=threads)
    stopwatch.lap("clique", clique.size)

    pairs = problem.associations
    seen = SeenPoints.of(problem.source[pairs[:, 0]], problem.target[pairs[:, 1]], camera.intrinsics, epsilon)
    about: dict[str, Any] = {
        "associations": pairs,
        "clique": clique,
        "graph": found.graph,
        "min_confidence": min_confidence,
        "prior": prior,
        "epsilon": epsilon,
        "intrinsics": camera.intrinsics.matrix,
        "points": problem.source,
        "pixels": problem.target,
    }
    poses = seen.frame.poses(found.poses)
    if clique.size < 4 or not len(poses):
        return _without_pose(seen, stages=stopwatch.stages, seconds=stopwatch.seconds, **about)
    ranked = _rank(seen, poses, clique)
    pose, others = ranked[0], ranked[1:]
    covariance, weak = seen.covariance(pose)
    stopwatch.lap("pose", clique.size)

    residuals = seen.residuals(pose)
    score = max(seen.explained(pose), 1e-300)
    rivals = tuple(
        CameraHypothesis(
            T_camera_world=seen.frame.world_poses(other),
            inliers=_one_to_one(seen.residuals(other), pairs, epsilon),
            score=seen.explained(other) / score,
        )
        for other in others
    )
    inliers = _one_to_one(residuals, pairs, epsilon)
    chance = seen.expected_by_chance(pose)
    evidence = Evidence(
        associations=len(pairs),
        explained=len(inliers),
        runner_up=rivals[0].score if rivals else 0.0,
        undetermined=len(weak),
        chance=chance,
    )
    rival_chance = seen.expected_by_chance(others[0]) if len(others) else math.inf
    confidence = _confidence(chance, rival_chance, prior)
    has_rival = evidence.runner_up >= _RIVAL and chance <= CHANCE_ALLOWED  # else it is one of many chances
    stopwatch.lap("confidence", len(rivals))
    return CameraPose(
        status=judge(confidence, min_confidence, weak, has_rival=has_rival),
        T_camera_world=seen.frame.world_poses(pose),
        inliers=inliers,
        residuals=residuals,
        confidence=confidence,
        evidence=evidence,
        covariance=covariance,
        degenerate_directions=weak,
        alternatives=rivals[:max_alternatives],
        stages=stopwatch.stages,
        seconds=stopwatch.seconds,
        **about,
    )


def _rank(seen: SeenPoints, poses: _Array, clique: CliqueResult) -> _Array:
    """Return the pose of the clique, then the others, those that explain most first; all fitted, and distinct."""
    fitted = [seen.improved(pose, robust=True) for pose in poses]
    best = int(np.argmax([seen.explained(pose, clique.vertices) for pose in fitted]))
    ranked = [seen.refine(fitted[best], clique.vertices)]
    others = [*fitted[:best], *fitted[best + 1 :], seen.improved(seen.flipped(ranked[0]), robust=True)]
    for pose in sorted(others, key=seen.explained, reverse=True):
        apart = [np.abs(pose[:3, :3] - known[:3, :3]).max() > _SAME_TURN for known in ranked]
        moved = [np.linalg.norm(pose[:3, 3] - known[:3, 3]) > _SAME_SHIFT * np.abs(known[2, 3]) for known in ranked]
        if all(a or b for a, b in zip(apart, moved, strict=True)):
            ranked.append(pose)
    return np.array(ranked)


def _one_to_one(residuals: _Array, pairs: npt.NDArray[np.int64], epsilon: float) -> npt.NDArray[np.int64]:
    """Return the matches that miss by less than epsilon, sorted; of those that share a landmark, the best."""
    near = np.flatnonzero(residuals < epsilon)
    near = near[np.argsort(residuals[near], kind="stable")]
    for column in (0, 1):
        _, first = np.unique(pairs[near, column], return_index=True)
        near = near[np.sort(first)]
    return np.sort(near)


def _confidence(chance: float, rival_chance: float, prior: float) -> float:
    """Return how likely a pose is neither chance nor a rival of the right one.

    Chance brings such a set as often as expected; the odds of a rival are those of its set being chance instead.
    """
    against = chance - CHANCE_ALLOWED + math.log((1.0 - prior) / prior)
    other = chance - rival_chance
    return 1.0 / (1.0 + math.exp(min(700.0, against)) + math.exp(min(700.0, other)))


def _without_pose(seen: SeenPoints, **about: Any) -> CameraPose:
    """Return the answer where there is no pose: too few agree, or the points are on a line."""
    extents = np.linalg.svd(seen.points - seen.points.mean(axis=0), compute_uv=False) if len(seen.points) else [0.0]
    on_line = len(seen.points) >= 4 and extents[1] <= _ON_LINE * max(extents[0], 1e-300)
    return CameraPose(
        status=Status.DEGENERATE if on_line else Status.TOO_FEW_INLIERS,
        T_camera_world=None,
        inliers=np.empty(0, dtype=np.int64),
        residuals=np.full(len(seen.points), np.nan),
        confidence=0.0,
        evidence=Evidence(associations=len(seen.points), explained=0, runner_up=0.0),
        covariance=None,
        degenerate_directions=np.empty((0, 6)),
        alternatives=(),
        **about,
    )
