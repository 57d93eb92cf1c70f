"""From two clouds to a transform: the whole line, and the choice between what it could be."""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from .._timing import Stage, Stopwatch
from .._validation import as_integer, as_length, as_number
from ..clique import check_limit, find_clique
from ..clouds.cloud import RawCloud, as_cloud
from ..clouds.matching import as_ratio, match_features
from ..clouds.prepared import FINE, PreparedCloud, as_refinement, prepare_checked, viewpoint_of
from ..clouds.refinement import align_by_gicp
from ..clouds.voxels import usual_voxel_size
from ..consistency import ConsistencyProblem
from ..errors import OptionError
from .confidence import Evidence, judge
from .hypotheses import guess_motions
from .pose import Hypothesis, Pose, is_rival, without_transform
from .uncertainty import surface_information
from .verification import Verified, compare, explained_by, polish, residuals_of, verify

__all__ = ["Step", "register"]

_Array = npt.NDArray[np.float64]

_MOST_GUESSES = 100
_APART = 3.0
"""Voxels: motions that move the matched points to places closer than this are one guess, and …"""
_ALTERNATIVE = 4.0
"""… voxels that an alternative must be away from the answer and from the others."""
_STILL_GOOD = 0.9
"""Share of its score that an answer must keep when it is refined; else it stays as it was."""


class Step(enum.Enum):
    """What is done, in this order, with two clouds that are prepared; the values are the names in ``pose.stages``.

    Raw clouds are prepared after the first, whose size they need, with steps of their own.
    """

    VOXEL_SIZE = "voxel size"
    MATCHING = "matching"
    CONSISTENCY_GRAPH = "consistency graph"
    CLIQUE = "clique"
    HYPOTHESES = "hypotheses"
    VERIFICATION = "verification"
    GICP = "gicp"
    """Only where it was asked for."""
    REFINEMENT = "refinement"


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
    callback: Callable[[Stage], object] | None = None,
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
        ``"gicp"``: finish with generalized ICP on the clouds at half the voxel size. A prepared cloud must have been
        prepared for it.
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
    stopwatch = Stopwatch(callback)
    if not isinstance(free_space, bool):
        raise OptionError(f"free_space: expected True or False, got {free_space!r}")
    min_confidence = as_number("min_confidence", min_confidence, 0.0, 1.0)
    max_alternatives = as_integer("max_alternatives", max_alternatives, 0, _MOST_GUESSES)
    refine = as_refinement(refine)
    matches = as_integer("matches", matches, 1, 1000)
    ratio = as_ratio(ratio)
    epsilon = None if epsilon is None else as_length("epsilon", epsilon)
    check_limit(method, time_limit)
    threads = as_integer("threads", threads, 1, 1024)
    voxel_size = None if voxel_size is None else as_length("voxel_size", voxel_size)
    given = (
        _Given.check("source", source, source_viewpoint, refine, threads),
        _Given.check("target", target, target_viewpoint, refine, threads),
    )
    voxel_size = _common_voxel_size(given, voxel_size, threads)
    epsilon = voxel_size if epsilon is None else epsilon
    stopwatch.lap(Step.VOXEL_SIZE.value)
    moving, fixed = (cloud.prepare(voxel_size, threads, stopwatch) for cloud in given)

    associations = _match(moving, fixed, matches, ratio, threads)
    stopwatch.lap(Step.MATCHING.value, len(associations))
    graph = ConsistencyProblem.of_points(moving.points, fixed.points, associations, epsilon).join(threads)
    stopwatch.lap(Step.CONSISTENCY_GRAPH.value, graph.num_edges)
    clique = find_clique(graph, method=method, time_limit=time_limit, threads=threads)
    stopwatch.lap(Step.CLIQUE.value, clique.size)

    matched = moving.points[associations[:, 0]], fixed.points[associations[:, 1]]
    guesses = guess_motions(graph, clique, *matched, apart=_APART * voxel_size, most=_MOST_GUESSES, threads=threads)
    stopwatch.lap(Step.HYPOTHESES.value, len(guesses.motions))
    about: dict[str, Any] = {
        "graph": graph,
        "min_confidence": min_confidence,
        "epsilon": epsilon,
        "voxel_size": voxel_size,
        "source_points": moving.points,
        "target_points": fixed.points,
    }
    if not len(guesses.motions):
        return without_transform(associations, clique, stages=stopwatch.stages, seconds=stopwatch.seconds, **about)
    verified = verify(moving, fixed, matched, guesses.motions, free_space=free_space, threads=threads)
    stopwatch.lap(Step.VERIFICATION.value, len(verified.motions))

    motion = polish(moving, fixed, verified.motions[0], threads=threads)
    final = compare(moving, fixed, matched, motion[None], free_space=free_space, threads=threads)
    if moving.fine_points is not None and fixed.fine_points is not None and refine == "gicp":
        precise = align_by_gicp(moving.fine_points, fixed.fine_points, motion, FINE * voxel_size, threads)
        after = compare(moving, fixed, matched, precise[None], free_space=free_space, threads=threads)
        if after.score[0] >= _STILL_GOOD * final.score[0]:
            motion, final = precise, after
        stopwatch.lap(Step.GICP.value)
    inliers = np.flatnonzero(explained_by(motion, matched, voxel_size))
    information = surface_information(moving, fixed, motion)
    weak = information.weak_directions()
    # Two planes match well, but their associations do not: that the motion is not determined says more.
    if final.overlap[0] <= final.against[0] or (len(inliers) < 3 and not len(weak)):
        return without_transform(associations, clique, stages=stopwatch.stages, seconds=stopwatch.seconds, **about)
    others = _alternatives(verified, final, matched, moving.points, voxel_size, max(1, max_alternatives))
    stopwatch.lap(Step.REFINEMENT.value, len(inliers))

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
        stages=stopwatch.stages,
        seconds=stopwatch.seconds,
        **about,
    )


@dataclass(frozen=True, eq=False)
class _Given:
    """One of the two clouds as it came in, checked: prepared already, or raw with the place of its sensor."""

    name: str
    cloud: PreparedCloud | RawCloud
    sensor: _Array | None
    """Of a raw cloud."""
    fine: bool
    """Whether finer points are needed, too."""

    @classmethod
    def check(cls, name: str, cloud: Any, viewpoint: npt.ArrayLike | None, refine: str | None, threads: int) -> _Given:
        """Look at what the caller gave, for the only time."""
        if not isinstance(cloud, PreparedCloud):
            sensor = viewpoint_of(cloud, f"{name}_viewpoint", viewpoint)
            return cls(name, as_cloud(name, cloud, threads=threads), sensor, refine is not None)
        if viewpoint is not None:
            raise OptionError(f"{name}_viewpoint: the cloud is prepared; give its viewpoint to prepare()")
        if refine is not None and cloud.fine_points is None:
            raise OptionError(
                f"{name}: prepared without the finer points that it takes; prepare(…, refine={refine!r}) keeps them"
            )
        return cls(name, cloud, None, refine is not None)

    def prepare(self, voxel_size: float, threads: int, stopwatch: Stopwatch) -> PreparedCloud:
        """Return the cloud with voxel means, normals and features."""
        if isinstance(self.cloud, PreparedCloud):
            return self.cloud
        assert self.sensor is not None
        prepared = prepare_checked(self.cloud, voxel_size, self.sensor, fine=self.fine, threads=threads)
        stopwatch.add(prepared.stages, f"{self.name} ")
        return prepared


def _common_voxel_size(given: tuple[_Given, _Given], voxel_size: float | None, threads: int) -> float:
    """Return the voxel size of both clouds: the one given, that of a prepared cloud, or one chosen for both."""
    sizes = {} if voxel_size is None else {"voxel_size": voxel_size}
    sizes |= {known.name: known.cloud.voxel_size for known in given if isinstance(known.cloud, PreparedCloud)}
    if not sizes:
        raw = (known.cloud for known in given if isinstance(known.cloud, RawCloud))
        return usual_voxel_size(*raw, threads=threads)
    (first, size), *others = sizes.items()
    for name, other in others:
        if other != size:
            raise OptionError(f"{name}: prepared with voxels of {other:g}; expected {size:g}, as {first} has")
    return size


def _match(
    source: PreparedCloud, target: PreparedCloud, matches: int, ratio: float | None, threads: int
) -> npt.NDArray[np.int64]:
    """Match the points that have neighbours; the features of others are zero, and all alike."""
    first, second = (np.flatnonzero(cloud.features.sum(axis=1)) for cloud in (source, target))
    pairs = match_features(source.features[first], target.features[second], k=matches, ratio=ratio, threads=threads)
    return np.column_stack((first[pairs[:, 0]], second[pairs[:, 1]]))


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
