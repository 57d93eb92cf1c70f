"""Motions that looks suggest: all verified together, and the best of them with the reasons to believe it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ..clouds.prepared import PreparedCloud
from ..geometry.motions import RIGID, Motion
from .confidence import Evidence
from .distortion import fit_both_hands
from .looks import Found
from .pose import Hypothesis, is_rival
from .rivals import FAR, Rivals, places_of, spread_points
from .rough import RoughTransform
from .scrutiny import Suggested, scrutinise
from .uncertainty import Information, surface_information
from .verification import Verified, compare, explained_by, polish, verify_motions

__all__ = ["Answer", "Candidates", "middle_of"]

_Array: TypeAlias = npt.NDArray[np.float64]

_LEAST_OTHERS = 5
"""Verified motions that an answer is compared with, at least, however many are wanted."""
_LEAST_RIVALRY = 0.3
"""Of a motion that no matches suggest: below it, it is not worth mentioning."""
_BOUNDED_RIVALRY = 0.35
"""Of an answer within what is roughly known: what is beyond was not looked at, so that to have no rival says less."""
_MIRRORED = 2.0
"""Times better than the answer that its mirror image must fit, to be sure that one is mirrored."""
_NOISE = 0.15
"""Mean bend of a surface from which on its normals are no better than random; of noise it is 0.23."""
_BETTER = 1.1
"""Times the score of a motion from which on one beside it is another."""
_TRUSTED = 0.8
"""Confidence from which on nothing else is looked for."""
_FREE_STEPS, _CLEARLY = 10, 1.5
"""Steps of ICP that need not keep to the model, and times better that what comes of them must fit, a voxel away or
more, for the model to be wrong: of scans that are tilted by 3° or more, though gravity was said to be known, it is 1.7
to 35 times."""
_STILL_GOOD = 0.9
"""Share of its score that an answer must keep when it is refined; else it stays as it was."""


@dataclass(frozen=True, eq=False)
class Answer:
    """A motion, what speaks for it, and what else it could be."""

    found: Found
    """The look whose matches it explains."""
    motion: _Array
    inliers: npt.NDArray[np.int64]
    """Numbers of the associations, of those found there, that it explains."""
    evidence: Evidence
    information: Information
    weak: _Array
    """Directions that are not determined."""
    others: tuple[Hypothesis, ...]
    """Other motions, the best first."""
    prior: float = 0.5
    """How likely it is beforehand that the clouds overlap."""

    @property
    def confidence(self) -> float:
        """Probability that it is right."""
        return self.evidence.confidence(self.prior)

    @property
    def is_trusted(self) -> bool:
        """Whether there is no need to look on."""
        return self.exists and self.confidence >= _TRUSTED and not self.has_rival and not len(self.weak)

    @property
    def is_hopeless(self) -> bool:
        """Whether looking on cannot help."""
        return self.evidence.noise is True

    @property
    def has_rival(self) -> bool:
        """Whether another motion explains the data about as well."""
        return any(map(is_rival, self.others))

    @property
    def exists(self) -> bool:
        """Whether it is an answer at all: three matches agree, and more of the surfaces than does not."""
        # Two planes match well, but their associations do not: that the motion is not determined says more.
        agree = len(self.inliers) >= 3 or len(self.weak) > 0
        return agree and (self.evidence.overlap or 0.0) > (self.evidence.against or 0.0)


class Candidates:
    """The motions that were suggested for two clouds."""

    def __init__(
        self,
        source: PreparedCloud,
        target: PreparedCloud,
        *,
        free_space: bool,
        rough: RoughTransform | None = None,
        prior: float = 0.5,
        others: int = 1,
        model: Motion = RIGID,
        threads: int,
    ) -> None:
        """Begin without any; what is roughly known bounds them all. ``others``: how many alternatives are wanted.

        All of them are of the ``model``.
        """
        self._most_others, self._prior = max(1, others), prior
        self._source, self._target, self._rough = source, target, rough
        self._free_space, self._threads, self._model = free_space, threads, model
        self._least_rivalry = 0.0 if rough is None else _BOUNDED_RIVALRY
        self._about: dict[str, Any] = {"free_space": free_space, "threads": threads}
        self._found: list[Found] = []
        self._waiting: list[tuple[int, _Array]] = []
        self._verified: Verified | None = None
        self._looks = np.empty(0, dtype=np.int64)  # which look each verified motion comes from

    def add(self, found: Found) -> None:
        """Take in what a look found; with the first one, what is roughly known is a suggestion, too."""
        motions = found.motions
        if self._rough is not None and not self._found:
            motions = np.concatenate((self._known(), motions))
        self._waiting.append((len(self._found), motions))
        self._found.append(found)

    def add_to_first(self, motions: _Array) -> None:
        """Take in further motions of the first look, whose matches are known."""
        self._waiting.append((0, motions))

    def verify(self, *, thoroughly: bool = False) -> int:
        """Verify what came in with the best of what was there before; return how many motions there are then."""
        motions = [suggested for _, suggested in self._waiting]
        looks = [np.full(len(suggested), number) for number, suggested in self._waiting]
        if self._verified is not None:
            motions, looks = [self._verified.motions, *motions], [self._looks, *looks]
        self._waiting = []
        if any(map(len, motions)):
            source, target, about = self._source, self._target, self._about
            verified = verify_motions(
                source,
                target,
                self._matched(),
                np.concatenate(motions),
                thoroughly=thoroughly,
                model=self._model,
                **about,
            )
            if self._rough is not None:
                verified = verified.only(self._allows(verified.motions))
                if not len(verified.motions):  # all were refined beyond the bounds
                    verified = self._compare(self._known())
            self._verified, self._looks = verified, np.concatenate(looks)[verified.numbers]
        return len(self._looks)

    def _known(self) -> _Array:
        """Return what is roughly known, as a motion of the model."""
        assert self._rough is not None
        return self._model.project(self._rough.T_target_source[None])

    def _allows(self, motions: _Array) -> npt.NDArray[np.bool_]:
        """Whether motions agree with what is roughly known."""
        if self._rough is None:
            return np.ones(len(motions), dtype=np.bool_)
        return self._rough.allows(motions, np.array(middle_of(self._source)))

    def best(self) -> tuple[_Array, Found] | None:
        """Return the motion with the highest score, polished, and the look whose matches it explains, or None."""
        if self._verified is None or not len(self._looks):
            return None
        first = self._verified.motions[0]
        motion = polish(self._source, self._target, first, threads=self._threads, model=self._model)
        motion = motion if self._allows(motion[None])[0] else first
        return motion, self._explained_most(motion, self._found[self._looks[0]])

    def _explained_most(self, motion: _Array, origin: Found) -> Found:
        """Return the look of whose matches a motion explains the most; of equal ones, the one that it comes from."""
        return max(
            self._found,
            key=lambda found: (
                np.count_nonzero(explained_by(motion, found.matched, self._source.voxel_size)),
                found is origin,
            ),
        )

    def refined(self, answer: Answer, motion: _Array) -> Answer:
        """Return an answer that was refined elsewhere, if it keeps its score."""
        (motion,) = self._model.project(motion[None])
        before, after = self._compare(np.array([answer.motion, motion])).score
        better = after >= _STILL_GOOD * before and self._allows(motion[None])[0]
        return self.weigh(motion, answer.found) if better else answer

    def weigh(self, motion: _Array, found: Found, *, is_best: bool = True) -> Answer:
        """Say what speaks for a motion and against it, and what else there is.

        If it was not chosen as the best, what is better counts as something else even if it is near.
        """
        source, target, final = self._source, self._target, self._compare(motion[None])
        information = surface_information(source, target, motion, model=self._model)
        others = self._others(final, np.inf if is_best else _BETTER * float(final.score[0]))
        suggested = Suggested(others, self._reflections())
        scrutiny = scrutinise(source, target, motion, information, suggested, model=self._model, **self._about)
        information = information.with_open(scrutiny.open)
        weak = information.weak_directions()
        inliers = np.flatnonzero(explained_by(motion, found.matched, source.voxel_size))
        alternatives = self._alternatives(final, found, scrutiny.rivals)
        evidence = Evidence(
            associations=len(found.associations),
            explained=len(inliers),
            runner_up=max((other.score for other in alternatives), default=0.0),
            overlap=float(final.overlap[0]),
            against=float(final.against[0]),
            detail=float(final.detail[0]),
            residual=float(final.residual[0]),
            conflict=None if final.conflict is None else float(final.conflict[0]),
            undetermined=len(weak),
            points=min(len(source.points), len(target.points)),
            rivalry=max(self._least_rivalry, *(other.rivalry or 0.0 for other in alternatives), 0.0),
            viewpoints=(source.viewpoint.source, target.viewpoint.source) if self._free_space else None,
            mirrored=scrutiny.mirror > _MIRRORED,
            scale=scrutiny.scale,
            scale_deviation=scrutiny.scale_deviation,
            beyond_motion=self._is_beyond(motion),
            noise=min(float(cloud.bends.mean()) if len(cloud.bends) else 0.0 for cloud in (source, target)) > _NOISE,
            sensor_pattern=scrutiny.sensor_pattern,
            nearby_overlap=scrutiny.nearby_overlap,
        )
        return Answer(found, motion, inliers, evidence, information, weak, alternatives, self._prior)

    def _is_beyond(self, motion: _Array) -> bool | None:
        """Whether a rigid motion that a motion of the model leads to is another, and fits clearly better."""
        if self._model.core is None or not len(self._source.points):
            return None
        both = np.array([motion, polish(self._source, self._target, motion, steps=_FREE_STEPS, threads=self._threads)])
        before, after = places_of(both, spread_points(self._source.points))
        fits = self._compare(both).fit
        return bool(np.linalg.norm(after - before) > self._source.voxel_size and fits[1] > _CLEARLY * fits[0])

    def _reflections(self) -> _Array:
        """Return what explains the largest clique of each look if this is mirrored, ``(k, 4, 4)``.

        Features hardly know left from right: of mirrored clouds, the right matches are found, and they are consistent.
        """
        hands = [
            fit_both_hands(found.matched, chosen, np.ones(len(chosen)), found.epsilon, self._model)
            for found in self._found
            for chosen in [np.asarray(found.clique.vertices, dtype=np.int64)]
            if len(chosen) > 3
        ]
        return np.array([one.transform for one in hands if one.mirrored]).reshape(-1, 4, 4)

    def _compare(self, motions: _Array) -> Verified:
        return compare(self._source, self._target, self._matched(), np.ascontiguousarray(motions), **self._about)

    def _matched(self) -> tuple[_Array, _Array]:
        """Return the points of all associations of all looks."""
        source, target = zip(*(found.matched for found in self._found), strict=True)
        return np.concatenate(source), np.concatenate(target)

    def _others(self, final: Verified, better: float) -> _Array:
        """Return verified motions that are far from the final one, or have a better score, and from each other."""
        verified, kept = self._verified, [0]
        if verified is None or not len(self._source.points):
            return np.empty((0, 4, 4))
        places = places_of(np.concatenate((final.motions, verified.motions)), spread_points(self._source.points))
        far = FAR * self._source.voxel_size
        for k, score in enumerate(verified.score, start=1):
            if len(kept) > max(self._most_others, _LEAST_OTHERS) or score <= 0.0:
                break
            gaps = np.linalg.norm(places[kept] - places[k], axis=1)
            if gaps[1:].min(initial=np.inf) > far and (gaps[0] > far or score > better):
                kept.append(k)
        return verified.motions[np.array(kept[1:], dtype=np.int64) - 1]

    def _alternatives(self, final: Verified, found: Found, rivals: Rivals) -> tuple[Hypothesis, ...]:
        """Return other motions with how well they explain the data, the strongest rival first."""
        suggested = np.array([origin == "match" for origin in rivals.origins], dtype=np.bool_)
        possible = np.flatnonzero((suggested | (rivals.rivalry >= _LEAST_RIVALRY)) & self._allows(rivals.motions))
        order = possible[np.argsort(-rivals.rivalry[possible], kind="stable")]
        if not len(order):
            return ()
        places, far = places_of(rivals.motions, spread_points(self._source.points)), FAR * self._source.voxel_size
        kept: list[int] = []
        for k in order.tolist():
            if len(kept) < self._most_others and all(np.linalg.norm(places[k] - places[other]) > far for other in kept):
                kept.append(k)
        others = self._compare(rivals.motions[kept])
        return tuple(
            Hypothesis(
                T_target_source=others.motions[n],
                inliers=np.flatnonzero(explained_by(others.motions[n], found.matched, self._source.voxel_size)),
                score=float(others.score[n] / max(final.score[0], 1e-300)),
                overlap=float(others.overlap[n]),
                rivalry=float(rivals.rivalry[k]),
            )
            for n, k in enumerate(kept)
        )


def middle_of(cloud: PreparedCloud) -> tuple[float, ...]:
    """Return the mean of a cloud's points, which what is roughly known of its motion speaks of."""
    return tuple(cloud.points.mean(axis=0).tolist()) if len(cloud.points) else (0.0, 0.0, 0.0)
