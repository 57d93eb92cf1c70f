"""The whole line from two clouds that were checked to an answer."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal

from .._timing import Stopwatch
from ..clouds.prepared import FINE
from ..clouds.refinement import align_by_gicp
from ..errors import MemoryLimitError
from ..geometry.motions import Motion
from ..invariants import Invariant
from .candidates import Answer, Candidates, middle_of
from .confidence import judge
from .descent import descend
from .given import Given, VoxelSizes, described_alike, voxel_sizes_of
from .looks import Found, Look, LookOptions, look_at_matches, look_for_motions
from .own_matches import OwnMatches
from .pose import Pose, without_transform
from .rough import RoughTransform
from .steps import Step
from .verification import residuals_of

__all__ = ["Asked", "register_given"]


@dataclass(frozen=True, eq=False)
class Asked:
    """What was asked for, checked; as :func:`clipperplus.register` says."""

    voxel_size: float | None
    epsilon: float | None
    matches: int
    ratio: float | None
    invariant: Invariant | None
    model: Motion
    rough: RoughTransform | None
    method: str
    time_limit: float | Literal["default"] | None
    rounds: tuple[tuple[Look, ...], ...]
    """Looks that follow the first one while the answer is not trusted."""
    refine: Literal["gicp"] | None
    free_space: bool
    min_confidence: float
    prior: float
    max_alternatives: int
    threads: int


def register_given(own: OwnMatches, given: tuple[Given, Given], asked: Asked, stopwatch: Stopwatch) -> Pose:
    """Prepare, match, verify, and look again while the answer is not trusted."""
    threads, model, rounds = asked.threads, asked.model, asked.rounds
    own_only = own.are_all(*(one.cloud for one in given))
    sizes = voxel_sizes_of(given, asked.voxel_size, threads, match_all=own_only)
    stopwatch.lap(Step.VOXEL_SIZE.value)
    moving, fixed = own.applied_to(*(cloud.prepare(sizes.matched, threads, stopwatch) for cloud in given))
    if own.associations is None:
        moving, fixed = described_alike(moving, fixed, threads)
    options = LookOptions(
        voxel_size=sizes.matched,
        epsilon=sizes.epsilon(asked.epsilon),
        matches=asked.matches,
        ratio=asked.ratio,
        invariant=asked.invariant,
        model=model,
        rough=asked.rough,
        middle=middle_of(moving),
        method=asked.method,
        time_limit=asked.time_limit,
        threads=threads,
    )
    if own.associations is None:
        found = look_for_motions(moving, fixed, None, options, stopwatch)
    else:
        stopwatch.lap(Step.MATCHING.value, len(own.associations))
        found = look_at_matches(*own.landmarks(moving, fixed), own.associations, options.epsilon, options, stopwatch)
    if rounds and own_only:
        rounds = ((),)  # the rest of what these suggest

    candidates = Candidates(
        moving,
        fixed,
        free_space=asked.free_space,
        rough=asked.rough,
        prior=asked.prior,
        others=asked.max_alternatives,
        model=model,
        threads=threads,
    )
    candidates.add(found)
    stopwatch.lap(Step.VERIFICATION.value, candidates.verify())
    best = candidates.best()
    stopwatch.lap(Step.REFINEMENT.value)
    answer = None if best is None else candidates.weigh(*best)
    stopwatch.lap(Step.SCRUTINY.value, 0 if answer is None else len(answer.inliers))
    for number, looks in enumerate(rounds):
        if answer is not None and (answer.is_trusted or answer.is_hopeless):
            break
        if number == 0:
            candidates.add_to_first(found.further_motions(options))
        for look in looks:
            with suppress(MemoryLimitError):  # of more matches: there is an answer without them
                candidates.add(look_for_motions(moving, fixed, look, options, Stopwatch()))
        count, best = candidates.verify(thoroughly=True), candidates.best()
        answer = None if best is None else candidates.weigh(*best)
        stopwatch.lap(Step.LOOK_AGAIN.value, count)
    if answer is not None and sizes.matched > sizes.asked:
        answer = candidates.refined(
            answer, descend(given, (moving, fixed), answer.motion[None], sizes, model, threads)[0]
        )
        stopwatch.lap(Step.DESCENT.value)
    if answer is not None and asked.refine == "gicp":
        here, there = (cloud.fine_means(sizes.asked, threads) for cloud in given)
        answer = candidates.refined(answer, align_by_gicp(here, there, answer.motion, FINE * sizes.asked, threads))
        stopwatch.lap(Step.GICP.value)
    return _pose(answer, found, sizes, asked, stopwatch)


def _pose(
    answer: Answer | None,
    first: Found,
    sizes: VoxelSizes,
    asked: Asked,
    stopwatch: Stopwatch,
) -> Pose:
    """Return the answer, with the matches that it comes from; without one, with those of the first look."""
    found = first if answer is None else answer.found
    about: dict[str, Any] = {
        "graph": found.graph,
        "min_confidence": asked.min_confidence,
        "prior": asked.prior,
        "epsilon": found.epsilon,
        "voxel_size": sizes.asked,
        "motion": asked.model.name,
        "source_points": found.points[0],
        "target_points": found.points[1],
        "stages": stopwatch.stages,
        "seconds": stopwatch.seconds,
    }
    if answer is None or not answer.exists:
        return without_transform(found.associations, found.clique, **about)
    return Pose(
        status=judge(
            answer.confidence,
            asked.min_confidence,
            answer.weak,
            has_rival=answer.has_rival,
            evidence=answer.evidence,
        ),
        T_target_source=answer.motion,
        associations=found.associations,
        inliers=answer.inliers,
        residuals=residuals_of(answer.motion, found.matched),
        clique=found.clique,
        confidence=answer.confidence,
        evidence=answer.evidence,
        covariance=answer.information.covariance(),
        degenerate_directions=answer.weak,
        alternatives=answer.others[: asked.max_alternatives],
        overlap=answer.evidence.overlap,
        **about,
    )
