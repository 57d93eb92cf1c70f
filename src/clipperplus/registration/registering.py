"""From two clouds to a transform: the whole line, and the choice between what it could be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ..clique import find_clique, method_of
from ..consistency import consistency_graph
from ..errors import OptionError
from ..features import PreparedCloud, prepare_as
from ..matching import as_ratio, match_features
from ..preprocess import as_cloud, choose_voxel_size
from ..refine import refine_transform
from ..timing import Lap, Laps
from ..validation import as_integer, as_length, as_number
from .confidence import Evidence, judge
from .hypotheses import guess_motions
from .pose import Hypothesis, Pose, is_rival, without_transform
from .uncertainty import surface_information
from .verification import Verified, compare, explained_by, polish, residuals_of, verify

__all__ = ["register"]

_Array = npt.NDArray[np.float64]

_MOST_GUESSES = 100
_APART = 3.0
"""Voxels: motions that move the matched points to places closer than this are one guess, and …"""
_ALTERNATIVE = 4.0
"""… voxels that an alternative must be away from the answer and from the others."""
_STILL_GOOD = 0.9
"""Share of its score that an answer must keep when it is refined; else it stays as it was."""


def register(
    source: Any,
    target: Any,
    *,
    voxel_size: float | None = None,
    epsilon: float | None = None,
    matches: int = 1,
    ratio: float | None = None,
    method: str = "auto",
    time_limit: float | Literal["default"] | None = "default",
    refine: Literal["gicp"] | None = None,
    source_viewpoint: npt.ArrayLike | None = None,
    target_viewpoint: npt.ArrayLike | None = None,
    free_space: bool = True,
    min_confidence: float = 0.5,
    max_alternatives: int = 5,
    threads: int = 1,
    callback: Callable[[Lap], object] | None = None,
) -> Pose:
    """Find the rigid transform between two scans, whatever their first poses, and say how sure it is.

    Parameters
    ----------
    source, target
        ``(n, 3)`` points, anything with ``.points``, or a :class:`PreparedCloud`. Points that are not finite are left
        out.
    voxel_size
        Metres; None: chosen from the clouds, so that they keep about 5000 points.
    epsilon
        By how much distances between matched points may differ, in metres; None: the voxel size.
    matches
        Features are matched if each is among this many nearest of the other.
    ratio
        Lowe's test for matches; see :func:`clipperplus.match_features`.
    method, time_limit
        Of the clique, as in :func:`clipperplus.find_clique`.
    refine
        ``"gicp"``: finish with generalized ICP on the clouds at half the voxel size.
    source_viewpoint, target_viewpoint
        Where the sensors were, in the frames of their clouds; None: what the cloud says in ``.viewpoint``, or else the
        origin. Normals are turned towards it.
    free_space
        Whether points that come to lie in front of what a sensor saw from its viewpoint speak against a transform. This
        is the strongest evidence there is; say False for maps and models that were not seen from one place.
    min_confidence
        Below it the status is ``UNCERTAIN``.
    max_alternatives
        How many other transforms to return.
    threads
        The result does not depend on it.
    callback
        Called with every step of ``pose.stages`` as it ends. What it raises ends the registration and is passed on.

    """
    if callback is not None and not callable(callback):
        raise OptionError(f"callback: expected a function, got {type(callback).__name__}")
    laps = Laps(callback)
    if not isinstance(free_space, bool):
        raise OptionError(f"free_space: expected True or False, got {free_space!r}")
    min_confidence = as_number("min_confidence", min_confidence, 0.0, 1.0)
    max_alternatives = as_integer("max_alternatives", max_alternatives, 0, _MOST_GUESSES)
    if refine not in (None, "gicp"):
        raise OptionError(f"refine: expected None or 'gicp', got {refine!r}")
    matches = as_integer("matches", matches, 1, 1000)
    ratio = as_ratio(ratio)
    epsilon = None if epsilon is None else as_length("epsilon", epsilon)
    method_of(method)
    threads = as_integer("threads", threads, 1, 1024)
    voxel_size = _common_voxel_size(source, target, voxel_size)
    epsilon = voxel_size if epsilon is None else epsilon
    laps.lap("voxel size")
    moving = _prepared("source", source, voxel_size, source_viewpoint, threads, laps)
    fixed = _prepared("target", target, voxel_size, target_viewpoint, threads, laps)

    associations = _match(moving, fixed, matches, ratio, threads)
    laps.lap("matching", len(associations))
    graph = consistency_graph(moving.points, fixed.points, associations, epsilon=epsilon, threads=threads)
    laps.lap("consistency graph", graph.num_edges)
    clique = find_clique(graph, method=method, time_limit=time_limit, threads=threads)
    laps.lap("clique", clique.size)

    matched = moving.points[associations[:, 0]], fixed.points[associations[:, 1]]
    guesses = guess_motions(graph, clique, *matched, apart=_APART * voxel_size, most=_MOST_GUESSES, threads=threads)
    laps.lap("hypotheses", len(guesses.motions))
    about: dict[str, Any] = {
        "graph": graph,
        "min_confidence": min_confidence,
        "epsilon": epsilon,
        "voxel_size": voxel_size,
        "source_points": moving.points,
        "target_points": fixed.points,
    }
    if not len(guesses.motions):
        return without_transform(associations, clique, stages=laps.steps, seconds=laps.seconds, **about)
    verified = verify(moving, fixed, matched, guesses.motions, free_space=free_space, threads=threads)
    laps.lap("verification", len(verified.motions))

    motion = polish(moving, fixed, verified.motions[0], threads=threads)
    final = compare(moving, fixed, matched, motion[None], free_space=free_space, threads=threads)
    if refine == "gicp":
        raw = _raw(source, moving), _raw(target, fixed)
        precise = refine_transform(*raw, motion, voxel_size=0.5 * voxel_size, threads=threads)
        after = compare(moving, fixed, matched, precise[None], free_space=free_space, threads=threads)
        if after.score[0] >= _STILL_GOOD * final.score[0]:
            motion, final = precise, after
        laps.lap("gicp")
    inliers = np.flatnonzero(explained_by(motion, matched, voxel_size))
    information = surface_information(moving, fixed, motion)
    weak = information.weak_directions()
    # Two planes match well, but their associations do not: that the motion is not determined says more.
    if final.overlap[0] <= final.against[0] or (len(inliers) < 3 and not len(weak)):
        return without_transform(associations, clique, stages=laps.steps, seconds=laps.seconds, **about)
    others = _alternatives(verified, final, matched, moving.points, voxel_size, max(1, max_alternatives))
    laps.lap("refinement", len(inliers))

    evidence = Evidence(
        associations=len(associations),
        explained=int(final.explained[0]),
        runner_up=others[0].score if others else 0.0,
        overlap=float(final.overlap[0]),
        against=float(final.against[0]),
        conflict=None if final.conflict is None else float(final.conflict[0]),
        undetermined=len(weak),
        points=min(len(moving.points), len(fixed.points)),
    )
    confidence = evidence.confidence()
    rival = any(is_rival(evidence.overlap, other) for other in others)
    return Pose(
        status=judge(confidence, min_confidence, weak, has_rival=rival),
        T_target_source=motion,
        associations=associations,
        inliers=inliers,
        residuals=residuals_of(motion, matched),
        clique=clique,
        confidence=confidence,
        evidence=evidence,
        covariance=information.covariance(),
        degenerate_directions=weak,
        alternatives=others[:max_alternatives],
        overlap=evidence.overlap,
        stages=laps.steps,
        seconds=laps.seconds,
        **about,
    )


def _common_voxel_size(source: Any, target: Any, voxel_size: float | None) -> float:
    """Return the voxel size of both clouds: the one given, that of a prepared cloud, or one chosen for both."""
    sizes = {} if voxel_size is None else {"voxel_size": as_length("voxel_size", voxel_size)}
    for name, cloud in (("source", source), ("target", target)):
        if isinstance(cloud, PreparedCloud):
            sizes[name] = cloud.voxel_size
    if not sizes:
        return choose_voxel_size(as_cloud("source", source)[0], as_cloud("target", target)[0])
    (first, size), *others = sizes.items()
    for name, other in others:
        if other != size:
            raise OptionError(f"{name}: prepared with voxels of {other:g}; expected {size:g}, as {first} has")
    return size


def _prepared(
    name: str, cloud: Any, voxel_size: float, viewpoint: npt.ArrayLike | None, threads: int, laps: Laps
) -> PreparedCloud:
    if isinstance(cloud, PreparedCloud):
        if viewpoint is not None:
            raise OptionError(f"{name}_viewpoint: the cloud is prepared; give its viewpoint to prepare()")
        return cloud
    prepared = prepare_as((name, f"{name}_viewpoint"), cloud, voxel_size, viewpoint, threads)
    laps.add(prepared.stages, f"{name} ")
    return prepared


def _match(
    source: PreparedCloud, target: PreparedCloud, matches: int, ratio: float | None, threads: int
) -> npt.NDArray[np.int64]:
    """Match the points that have neighbours; the features of others are zero, and all alike."""
    first, second = (np.flatnonzero(cloud.features.sum(axis=1)) for cloud in (source, target))
    pairs = match_features(source.features[first], target.features[second], k=matches, ratio=ratio, threads=threads)
    return np.column_stack((first[pairs[:, 0]], second[pairs[:, 1]]))


def _raw(cloud: Any, prepared: PreparedCloud) -> _Array:
    return prepared.points if isinstance(cloud, PreparedCloud) else as_cloud("cloud", cloud)[0]


def _alternatives(
    verified: Verified,
    final: Verified,
    matched: tuple[_Array, _Array],
    points: _Array,
    voxel_size: float,
    most: int,
) -> tuple[Hypothesis, ...]:
    """Return motions that are far from the final one and from each other, the best first."""
    sample = points[:: max(1, len(points) // 50)]
    far = np.linalg.norm(sample - np.median(sample, axis=0), axis=1)
    sample = sample[far <= np.quantile(far, 0.9)]  # without strays
    motions = np.concatenate((final.motions, verified.motions))
    places = np.einsum("kij,nj->kni", motions[:, :3, :3], sample) + motions[:, None, :3, 3]
    places = places.reshape(len(motions), -1) / np.sqrt(len(sample))  # distances are then root mean squares
    kept: list[Hypothesis] = []
    apart = [0]
    for k, motion in enumerate(verified.motions):
        if len(kept) == most or verified.score[k] <= 0.0:
            break
        if np.linalg.norm(places[apart] - places[k + 1], axis=1).min() > _ALTERNATIVE * voxel_size:
            apart.append(k + 1)
            kept.append(
                Hypothesis(
                    T_target_source=motion,
                    inliers=np.flatnonzero(explained_by(motion, matched, voxel_size)),
                    score=float(verified.score[k] / max(final.score[0], 1e-300)),
                    overlap=float(verified.overlap[k]),
                )
            )
    return tuple(kept)
