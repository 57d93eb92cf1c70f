"""From matched points to a transform: consistency graph, largest clique, robust fit to what it explains."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from .._timing import Stopwatch
from .._validation import as_integer, as_number
from ..clique import CliqueResult, check_limit, find_clique
from ..consistency import ConsistencyProblem, points_problem
from ..errors import LandmarkError
from ..geometry.motions import Motion, as_motion, scale_of
from ..graphs import Graph
from ..invariants import Distance, DistanceAndNormals, GroupInvariant, Invariant, Under
from .chance import expected_by_chance
from .confidence import CHANCE_ALLOWED, Evidence, as_prior, judge
from .distortion import fit_both_hands, measure_scale
from .hypotheses import guess_motions
from .pose import Hypothesis, Pose, is_rival, without_transform
from .robust_fit import LARGEST, refit
from .scale_votes import at_likely_scale
from .uncertainty import Information, points_information, weak_turns
from .verification import residuals_of

__all__ = ["solve"]

_Array = npt.NDArray[np.float64]

_APART = 3.0
"""Times epsilon: transforms that move the points to places closer than this are the same."""
_SMALL_PATCH = 2.0
"""Times epsilon: turns about an axis from which the inliers are not farther than this are not determined."""

_LARGEST = 1e151
"""Coordinate, of which hundreds of thousands can be squared and summed; nor may epsilon be larger, or 1 over it."""


def solve(
    source: Any,
    target: Any,
    associations: npt.ArrayLike | None = None,
    *,
    epsilon: float | npt.ArrayLike = 0.05,
    motion: str = "rigid",
    up: npt.ArrayLike | None = None,
    invariant: Invariant | GroupInvariant | None = None,
    method: str = "auto",
    time_limit: float | Literal["default"] | None = "default",
    min_confidence: float = 0.5,
    prior: float = 0.5,
    max_alternatives: int = 5,
    threads: int = 1,
) -> Pose:
    """Find the transform that the largest set of mutually consistent associations agrees on.

    Parameters
    ----------
    source, target
        ``(n, 3)`` and ``(m, 3)`` points, or anything with ``.points``; with an invariant, landmarks as it takes them.
        Of ``"planar"`` also ``(n, 2)`` and ``(m, 2)``, which are taken for points at height 0.
    associations
        ``(a, 2)`` numbers of a source and a target point each; None: point k with point k. At most 1 000 000, as in
        :func:`clipperplus.consistency_graph`.
    epsilon
        By how much the distance between two points may differ from the distance between their matches, in metres; or
        one noise bound per association, of which a pair has the sum. With an invariant, what this makes of it, as in
        :func:`clipperplus.consistency_graph`; the fit takes it in any case for how far right matches may be off.
    motion
        Which transforms there may be: ``"rigid"``; ``"similarity"``, with an unknown scale; ``"yaw"``, turns about
        ``up`` and any shift; ``"planar"``, turns about ``up`` and shifts across it, SE(2); ``"translation"``. The
        fewer, the more must pairs of associations agree in, and the fewer right ones it takes.
    up
        Of ``"yaw"`` and ``"planar"``: a direction that is the same in both frames, three numbers; None: z.
    invariant
        Of points, one of :mod:`clipperplus.invariants`, such as
        :class:`~clipperplus.invariants.DistanceAndNormals`, :class:`~clipperplus.invariants.Custom`, or your own: which
        associations agree. None: :class:`~clipperplus.invariants.Distance`, or what else the motion keeps, see
        :class:`~clipperplus.invariants.Under`. The transform is fitted to the points. Of ``"similarity"``, one that
        does not know the scale, either: none is looked for beforehand.
    method, time_limit
        As in :func:`clipperplus.find_clique`. The limit is that of the clique: the graph is made before, in a time that
        grows with the square of the number of associations.
    min_confidence
        Below it the status is ``UNCERTAIN``.
    prior
        How likely it is beforehand that there is a right transform at all, between 0 and 1.
    max_alternatives
        How many other transforms to return.
    threads
        The result does not depend on it.

    Returns
    -------
    Pose
        ``inliers`` are the associations of the clique. The transform is a robust fit, from there, to all associations
        that it moves to within three epsilon of their matches: weight 1 where it leaves nothing, a quarter at epsilon.
        A set that is mirrored, scaled, or no larger than chance would bring is not ``OK``: see ``reasons``. The
        covariance takes neighbours for one measurement, and epsilon for what is known of the noise where the
        residuals say little, or where they are so large that the clique was chosen from them.

    """
    stopwatch = Stopwatch()
    min_confidence = as_number("min_confidence", min_confidence, 0.0, 1.0)
    prior = as_prior(prior)
    max_alternatives = as_integer("max_alternatives", max_alternatives, 0, 1000)
    threads = as_integer("threads", threads, 1, 1024)
    check_limit(method, time_limit)
    model = as_motion(motion, up)
    if invariant is None and model.core is not None:
        invariant = Under(motion, up)
    problem, from_points, to_points = points_problem(source, target, associations, epsilon, invariant, model)
    pairs = problem.associations
    matched = from_points[pairs[:, 0]], to_points[pairs[:, 1]]
    _check_sizes(from_points, to_points, problem.epsilon)
    bound, bounds = _typical(problem.epsilon), _per_association(problem.epsilon, len(pairs))
    choices = 0.0
    if model.has_scale and invariant is None:
        problem, choices = at_likely_scale(problem, matched, bounds, model, threads)[:2]
        stopwatch.lap("scale")
    graph = problem.join(threads)
    stopwatch.lap("consistency graph", graph.num_edges)
    clique = find_clique(graph, method=method, time_limit=time_limit, threads=threads)
    stopwatch.lap("clique", clique.size)

    about: dict[str, Any] = {
        "graph": graph,
        "min_confidence": min_confidence,
        "prior": prior,
        "epsilon": bound,
        "source_points": from_points,
        "target_points": to_points,
        "motion": model.name,
    }
    if clique.size < model.least:
        return without_transform(pairs, clique, stages=stopwatch.stages, seconds=stopwatch.seconds, **about)
    chosen = clique.vertices
    transform, information, weak = _fit(matched, chosen, bounds, bound, model)
    stopwatch.lap("transform", clique.size)
    others = _alternatives(problem, graph, clique, matched, bound, max(1, max_alternatives), model, threads)
    stopwatch.lap("alternatives", len(others))

    evidence = Evidence(
        associations=len(pairs),
        explained=clique.size,
        runner_up=others[0].score if others else 0.0,
        **_doubts(matched, chosen, transform, problem, bounds, model, choices),
    )
    confidence = evidence.confidence(prior)
    return Pose(
        status=judge(confidence, min_confidence, weak, has_rival=any(map(is_rival, others)), evidence=evidence),
        T_target_source=transform,
        associations=pairs,
        inliers=chosen,
        residuals=residuals_of(transform, matched),
        clique=clique,
        confidence=confidence,
        evidence=evidence,
        covariance=information.covariance(),
        scale_deviation=math.sqrt(information.scale_variance),
        degenerate_directions=weak,
        alternatives=others[:max_alternatives],
        stages=stopwatch.stages,
        seconds=stopwatch.seconds,
        **about,
    )


def _check_sizes(source: _Array, target: _Array, epsilon: float | _Array) -> None:
    """Refuse what cannot be squared and divided by; comparing distances alone does not need that."""
    for name, points in (("source", source), ("target", target)):
        farthest = float(np.abs(points).max(initial=0.0))
        if farthest > _LARGEST:
            raise LandmarkError(f"{name}: expected coordinates of at most {_LARGEST:g}, got {farthest:g}")
    if np.size(epsilon):
        for bound in (np.min(epsilon), np.max(epsilon)):
            as_number("epsilon", float(bound), 1.0 / _LARGEST, _LARGEST)


def _typical(epsilon: float | _Array) -> float:
    """Return the bound of a pair: that of all, or twice the median of the bounds of the associations."""
    if isinstance(epsilon, float):
        return epsilon
    return 2.0 * float(np.median(epsilon)) if len(epsilon) else 0.0


def _per_association(epsilon: float | _Array, count: int) -> _Array:
    """Return for every association the bound of a pair of such."""
    return np.full(count, epsilon) if isinstance(epsilon, float) else 2.0 * epsilon


def _fit(
    matched: tuple[_Array, _Array], chosen: npt.NDArray[np.int64], epsilon: _Array, bound: float, model: Motion
) -> tuple[_Array, Information, _Array]:
    """Return the transform that a clique suggests, what is known of it, and the turns that are not determined."""
    clique = matched[0][chosen], matched[1][chosen]
    motion = model.fit(*clique, (bound / epsilon[chosen]) ** 2)
    used, bounds = clique, epsilon[chosen]
    scale = scale_of(motion) if model.has_scale else 1.0
    if not len(weak_turns(scale * clique[0], _SMALL_PATCH * bound, model=model)):
        motion = refit(matched, motion, epsilon, model)  # else others would settle by chance what is open
        used, bounds = matched, epsilon
    moved = used[0] @ motion[:3, :3].T + motion[:3, 3]
    information = points_information(moved, used[1], bounds, model)
    turned = clique[0] @ motion[:3, :3].T
    return motion, information, weak_turns(turned, _SMALL_PATCH * bound, information.covariance(), model)


def _keeps_distances(invariant: Invariant) -> bool:
    """Whether all pairs of a clique keep their distance to within epsilon."""
    return isinstance(invariant, (Distance, DistanceAndNormals, Under))


def _doubts(
    matched: tuple[_Array, _Array],
    chosen: npt.NDArray[np.int64],
    motion: _Array,
    problem: ConsistencyProblem,
    bounds: _Array,
    model: Motion,
    choices: float,
) -> dict[str, Any]:
    """Return what may be wrong with a clique and the motion it suggests, as fields of the evidence.

    ``choices`` is the logarithm of how many scales there were to choose from. What has a scale is not doubted for it.
    """
    # One bound for all: as likely to be met by chance as theirs.
    bound = float(bounds.max() * np.cbrt(np.mean((bounds / bounds.max()) ** 3)))
    hands = fit_both_hands(matched, chosen, (bound / bounds[chosen]) ** 2, bound, model)
    members = chosen[np.linalg.norm(hands.moved[chosen] - matched[1][chosen], axis=1) < LARGEST * bound]
    reach = 1.0 if _keeps_distances(problem.invariant) else LARGEST
    chance = 0.0
    if len(members) >= model.least:
        # Rigid motions were calibrated without regard to points that associations share.
        shared = None if model.name == "rigid" else problem.pairs
        chance = expected_by_chance(hands.moved, matched[1], members, bound, reach, model, shared) + choices
    found = {"chance": chance, "mirrored": hands.mirrored and chance <= CHANCE_ALLOWED}
    if model.has_scale:
        return found
    rigid = hands.moved if hands.mirrored else matched[0] @ motion[:3, :3].T + motion[:3, 3]
    size = measure_scale(hands, rigid, matched[1], chosen, bounds, model)
    return {**found, "scale": size.scale, "scale_deviation": size.deviation, "scale_gain": size.gain}


def _alternatives(
    problem: ConsistencyProblem,
    graph: Graph,
    clique: CliqueResult,
    matched: tuple[_Array, _Array],
    bound: float,
    most: int,
    model: Motion,
    threads: int,
) -> tuple[Hypothesis, ...]:
    """Return what other large cliques suggest."""
    # The source as it was compared: with a scale, that of the graph.
    source = problem.source[problem.associations[:, 0]] if model.has_scale else matched[0]
    guesses = guess_motions(
        graph, clique, source, matched[1], apart=_APART * bound, most=most + 1, model=model, threads=threads
    )
    return tuple(
        Hypothesis(
            T_target_source=model.fit(matched[0][vertices], matched[1][vertices], np.ones(len(vertices)))
            if model.has_scale
            else motion,
            inliers=vertices,
            score=len(vertices) / clique.size,
        )
        for motion, vertices in list(zip(guesses.motions, guesses.cliques, strict=True))[1:]
    )
