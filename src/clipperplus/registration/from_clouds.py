"""From two clouds to a transform: what may be asked for, and checks of it; ``line`` has the rest."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy.typing as npt

from .._timing import Stage, Stopwatch
from .._validation import as_integer, as_length, as_number
from .._words import shown
from ..clique import check_limit
from ..clouds.matching import as_ratio
from ..clouds.prepared import as_refinement
from ..consistency import check_of_points
from ..errors import OptionError
from ..geometry.motions import as_motion
from ..invariants import Invariant
from .confidence import as_prior
from .given import Given
from .line import Asked, register_given
from .looks import as_effort
from .own_matches import OwnMatches
from .pose import Pose
from .rough import RoughTransform, as_rough
from .similar_clouds import register_at_scale

__all__ = ["register"]

_MOST_ALTERNATIVES = 100


def register(
    source: Any,
    target: Any,
    *,
    voxel_size: float | None = None,
    epsilon: float | None = None,
    associations: npt.ArrayLike | None = None,
    features: tuple[Any, Any] | None = None,
    matches: int = 1,
    ratio: float | None = None,
    invariant: Invariant | None = None,
    motion: str = "rigid",
    up: npt.ArrayLike | None = None,
    initial: RoughTransform | None = None,
    method: str = "auto",
    time_limit: float | Literal["default"] | None = "default",
    effort: Literal["low", "normal", "high"] = "normal",
    refine: Literal["gicp"] | None = None,
    source_viewpoint: npt.ArrayLike | None = None,
    target_viewpoint: npt.ArrayLike | None = None,
    free_space: bool = True,
    min_confidence: float = 0.5,
    prior: float = 0.5,
    max_alternatives: int = 10,
    threads: int = 1,
    callback: Callable[[Stage], object] | None = None,
) -> Pose:
    """Find the transform between two scans, whatever their frames, and say how sure it is.

    Parameters
    ----------
    source, target
        ``(n, 3)`` points, anything with ``.points``, or a :class:`PreparedCloud`. Points that are not finite are left
        out. Of ``.normals``, where there are any, the signs are used, if a sensor can have seen these sides.
    voxel_size
        Metres; None: chosen from the clouds, so that they keep about 5000 points. Where it leaves more than 10 000,
        wider voxels are matched and judge the answer, its covariance, too, and narrower ones refine it, down to those
        asked for or to where they hold only noise.
    epsilon
        By how much distances between matched points may differ, in metres; None: the voxel size.
    associations
        ``(m, 2)`` matches of your own: numbers of points of the source and of the target as they were given, or of the
        points with features of prepared clouds. At most 1 000 000, as in :func:`clipperplus.consistency_graph`. None:
        features are matched.
    features
        Features of your own, of any length: for source and target each ``(points, features)``, ``(n, 3)`` and
        ``(n, d)``, or ``(n, d)`` for the points of the cloud as it was given. Points that matches or features of your
        own belong to must be finite.
    matches
        Features are matched if each is among this many nearest of the other. More than some 130 000 matches are refused
        with :class:`MemoryLimitError`, which says how much memory they could need.
    ratio
        Lowe's test for matches; see :func:`clipperplus.match_features`.
    invariant
        What pairs of matches must agree in, such as :class:`DistanceAndNormals`; None: distances, and what else the
        motion keeps.
    motion, up
        Which transforms there may be, as in :func:`clipperplus.solve`. Matches, alternatives and refinement keep to it.
        With ``"similarity"``, ``voxel_size`` and ``epsilon`` are in the target's unit, and the source's is found.
    initial
        What is roughly known of the transform: matches that contradict it do not count, nor do transforms.
    method, time_limit
        Of the clique, as in :func:`clipperplus.find_clique`; nothing else is limited.
    effort
        How far to look on where the answer is not trusted: with ``"normal"`` at more matches and at coarser and finer
        voxels, with ``"high"`` at larger neighbourhoods, too. An answer that is trusted at once takes no longer.
        Matches and features of your own are all there is to look at.
    refine
        ``"gicp"``: finish with generalized ICP on the clouds at half the voxel size. A prepared cloud must have been
        prepared for it.
    source_viewpoint, target_viewpoint
        Where the sensors were, in the frames of their clouds; None: what the cloud says in ``.viewpoint``, or else the
        origin. Either is checked: if the cloud does not look as if it had been seen from there, a place from which it
        does is looked for. ``pose.evidence.viewpoints`` says what came of it.
    free_space
        Whether points that come to lie in front of what a sensor saw from its viewpoint speak against a transform. This
        is the strongest evidence there is; say False for maps and models that were not seen from one place.
    min_confidence
        Below it the status is ``UNCERTAIN``.
    prior
        How likely it is beforehand that the scans overlap at all, between 0 and 1: less than the default of 0.5 where
        most candidates are wrong, as among loop closures.
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
        raise OptionError(f"free_space: expected True or False, got {shown(free_space)}")
    min_confidence = as_number("min_confidence", min_confidence, 0.0, 1.0)
    prior = as_prior(prior)
    max_alternatives = as_integer("max_alternatives", max_alternatives, 0, _MOST_ALTERNATIVES)
    refine = as_refinement(refine)
    matches = as_integer("matches", matches, 1, 1000)
    ratio = as_ratio(ratio)
    epsilon = None if epsilon is None else as_length("epsilon", epsilon)
    check_of_points(invariant)
    model = as_motion(motion, up)
    rough = as_rough(initial)
    rounds = as_effort(effort)
    check_limit(method, time_limit)
    threads = as_integer("threads", threads, 1, 1024)
    voxel_size = None if voxel_size is None else as_length("voxel_size", voxel_size)
    own = OwnMatches.check(source, target, associations, features)
    given = (
        Given.check("source", source, source_viewpoint, refine, threads),
        Given.check("target", target, target_viewpoint, refine, threads),
    )
    asked = Asked(
        voxel_size=voxel_size,
        epsilon=epsilon,
        matches=matches,
        ratio=ratio,
        invariant=invariant,
        model=model,
        rough=rough,
        method=method,
        time_limit=time_limit,
        rounds=rounds,
        refine=refine,
        free_space=free_space,
        min_confidence=min_confidence,
        prior=prior,
        max_alternatives=max_alternatives,
        threads=threads,
    )
    return (register_at_scale if model.has_scale else register_given)(own, given, asked, stopwatch)
