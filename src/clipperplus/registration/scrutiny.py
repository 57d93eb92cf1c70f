"""The attempt to prove an answer wrong.

Rivals are not only what matches suggest. Turns by which a symmetric scene looks alike, shifts by which a regular one
does, and motions along directions that may be open are made from the answer and tried (``counterparts``), and so are
its mirror images and its size. And sensors that would have stood at one place must have seen the same.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from .. import _core
from ..clouds.prepared import PreparedCloud
from ..geometry.motions import RIGID, Motion
from ..geometry.poses import inverse
from . import counterparts
from .counterparts import Weighted
from .nearby import Nearby, look_nearby
from .rivals import AGREES, FAR, UNSEEN, Origin, Rivals, check_both_ways, places_of, rivalry_of, spread_points
from .uncertainty import Information
from .verification import AGREEING_COSINE, compare, refine, sample

__all__ = ["Scrutiny", "Suggested", "scrutinise"]

_Array: TypeAlias = npt.NDArray[np.float64]

_COARSE_POINTS, _COARSE_REACH = 100, 2.5
"""Points of the source, and voxels within which they must come near the target, by which counterparts are chosen: …"""
_MAPPED_POINTS = 1500
"""Of each cloud, for the map in which shifts are looked for."""
_TRIED = {"turn": 5, "shift": 8, "mirror": 2}
"""… so many of each sort …"""
_FIRST_POINTS, _FIRST_STEPS = 300, 3
"""… take some steps of ICP and are compared again, …"""
_WORTHY = 0.2
"""… those that fit so well, relative to the answer, …"""
_STEPS, _POINTS = 7, 500
"""… take more steps, and are compared with it point by point."""
_MIRRORED_POINTS = 800
"""Of each cloud, by which mirror images are compared with the answer."""
_REPEATED = 0.6
"""How nearly as good a rival must be for what is beyond it to be looked at, and …"""
_MOST_REPEATED = 4
"""… of how many rivals that is done."""
OPEN = 0.7
"""How nearly as good an answer must be that was moved along a direction if this is not determined."""
_SCALE_STEPS, _SCALE_POINTS, _SCALE_REACH, _SCALE_COSINE = 8, 600, 2.5, 0.5
"""Of ICP with an unknown scale: steps, points, voxels within which they are matched, cosine between their normals."""
_SAME_PLACE = 2.0
"""Voxels by which sensors may be apart that stood at one place, …"""
_SEEN_AGAIN = 0.6
"""… and the share of what is in view of both that both must have seen; less is what moves with them, or their own
pattern."""
_SAME_DENSITIES = 0.93
"""Correlation of the densities from which on sensors stood at one place, wherever that was, …"""
_SEEN_NEARBY = 0.68
"""… and the share of what comes near the other surface that must then lie on it."""
_SCALE_FLOOR = 0.0075
"""Deviation of the scale of scans that are fused from many views: they are warped."""
_ALIKE_RESIDUALS = 10.0
"""Neighbouring residuals are alike: one in so many counts as a measurement."""


@dataclass(frozen=True, eq=False)
class Scrutiny:
    """What came of the attempt to prove an answer wrong."""

    rivals: Rivals
    open: int
    """How many of the motions that are seen least are not determined, because an answer moved along is as good."""
    mirror: float
    """How much better its best mirror image fits; below 1, worse."""
    scale: float
    """By how much the target is larger than the source, and …"""
    scale_deviation: float
    """… the standard deviation of this."""
    nearby_overlap: float
    """Share of what comes near the other surface that lies on it."""
    sensor_pattern: bool | None
    """Whether the sensors would have stood at one place and not have seen the same; None if they did not, or if it is
    not known."""


class Suggested(NamedTuple):
    """What matches suggest beside an answer."""

    motions: _Array
    """``(k, 4, 4)``."""
    reflections: _Array
    """``(j, 4, 4)``: what they agree with if one of the clouds is mirrored; no motions."""


def scrutinise(
    source: PreparedCloud,
    target: PreparedCloud,
    motion: _Array,
    information: Information,
    suggested: Suggested,
    *,
    free_space: bool,
    threads: int,
    model: Motion = RIGID,
) -> Scrutiny:
    """Try to prove an answer wrong: by what is of the model, too, if it is a motion."""
    if not len(source.points) or not len(target.points):
        return Scrutiny(Rivals(suggested.motions[:0], (), np.empty(0)), 0, 0.0, 1.0, 1.0, 0.0, None)
    pair = _Pair(source, target, motion, free_space, threads, model)
    reflections = _Others.of("mirror", suggested.reflections)
    slides = _Others.of("slide", *counterparts.slides(information, target.voxel_size))
    tried = pair.tried(pair.counterparts().beside(reflections).beside(slides.after(motion)))
    mirrored = tried.origins == "mirror"
    others = _Others.of("match", suggested.motions).beside(tried.only(~mirrored))
    rivalry = pair.rivalry(others)
    repeated = pair.repeated(others.only((rivalry >= _REPEATED) & (others.origins != "slide")).motions)
    others, rivalry = others.beside(repeated), np.concatenate((rivalry, pair.rivalry(repeated)))
    slid = others.origins == "slide"
    scale, deviation = pair.scale()
    nearby = look_nearby(source, target, motion)
    return Scrutiny(
        rivals=Rivals(others.motions[~slid], tuple(others.origins[~slid]), rivalry[~slid]),
        open=int(others.ranks[slid & (rivalry >= OPEN)].max(initial=-1)) + 1,
        mirror=pair.mirror(tried.motions[mirrored]),
        scale=scale,
        scale_deviation=deviation,
        nearby_overlap=nearby.overlap,
        sensor_pattern=pair.is_sensor_pattern(nearby),
    )


@dataclass(frozen=True, eq=False)
class _Others:
    """Motions, or reflections, beside an answer."""

    motions: _Array
    origins: npt.NDArray[np.object_]
    ranks: npt.NDArray[np.int64]
    """Of those along open directions: of which one, the least seen first; of others, -1."""

    @classmethod
    def of(cls, origin: Origin, motions: _Array, ranks: npt.NDArray[np.int64] | None = None) -> _Others:
        """Return some of one origin."""
        unranked = np.full(len(motions), -1) if ranks is None else ranks
        return cls(motions, np.full(len(motions), origin, dtype=object), unranked)

    def beside(self, others: _Others) -> _Others:
        """Return these and others."""
        return _Others(
            np.concatenate((self.motions, others.motions)),
            np.concatenate((self.origins, others.origins)),
            np.concatenate((self.ranks, others.ranks)),
        )

    def only(self, chosen: npt.NDArray[Any]) -> _Others:
        """Return some, by their numbers or a mask."""
        return _Others(self.motions[chosen], self.origins[chosen], self.ranks[chosen])

    def after(self, motion: _Array) -> _Others:
        """Return what comes of them if another motion is made first."""
        return _Others(self.motions @ motion, self.origins, self.ranks)


class _Pair:
    """Two clouds, one laid on the other by an answer."""

    def __init__(
        self,
        source: PreparedCloud,
        target: PreparedCloud,
        answer: _Array,
        free_space: bool,
        threads: int,
        model: Motion,
    ) -> None:
        self._source, self._target, self._answer = source, target, answer
        self._free_space, self._threads, self._voxel = free_space, threads, target.voxel_size
        self._model = model
        self._spread = spread_points(source.points)

    def counterparts(self) -> _Others:
        """Return what may be as good if the scene is symmetric, regular, or mirrored: the best of each, coarsely."""
        (points, *_), (target, normals, _) = sample(self._source, _POINTS), sample(self._target, _POINTS)
        moved, axes = points @ self._answer[:3, :3].T + self._answer[:3, 3], counterparts.main_axes(normals)
        centre = counterparts.middle(moved, target, axes)
        shifts, ways = counterparts.shifts(moved, target, axes, self._voxel)
        peaks = counterparts.plane_shifts(*self._laid(_MAPPED_POINTS), axes, self._voxel)
        shifts, ways = np.concatenate((shifts, peaks)), np.concatenate((ways, -1 - np.arange(len(peaks))))
        model, turned = self._model, counterparts.turned_counterparts(centre, axes)
        mirrored = counterparts.mirrored_counterparts(centre, axes)
        parts: dict[Origin, _Array] = {
            "turn": self._settled(counterparts.of_model(turned, centre, model), axes),
            "shift": model.project(shifts),
            "mirror": self._settled(counterparts.reflections_of_model(mirrored, centre, model), axes),
        }
        result = _Others.of("turn", np.empty((0, 4, 4)))
        for origin, some in parts.items():
            coarse = self._coarsely(some @ self._answer)
            if origin == "shift":  # beside the answer all is good that is even; what repeats itself is a peak
                coarse *= _peaks(coarse, ways)
            best = np.argsort(-coarse, kind="stable")[: _TRIED[origin]]
            result = result.beside(_Others.of(origin, some[best] @ self._answer))
        return result

    def _laid(self, count: int) -> tuple[Weighted, Weighted]:
        """Return points of the source, laid on the target, and of that, with their bends."""
        (points, _, bends), (target, _, others) = sample(self._source, count), sample(self._target, count)
        return (points @ self._answer[:3, :3].T + self._answer[:3, 3], bends), (target, others)

    def _settled(self, motions: _Array, axes: _Array) -> _Array:
        """Return motions shifted along each axis by what is best: faces across it settle that alone."""
        offsets = counterparts.offsets(axes, self._voxel)
        tried = np.tile(motions[:, None, None], (1, *offsets.shape[:2], 1, 1))
        tried[..., :3, 3] += offsets
        found = self._coarsely((tried @ self._answer).reshape(-1, 4, 4)).reshape(tried.shape[:3])
        best = found.argmax(axis=2)
        settled = motions.copy()
        for axis in range(3):
            settled[:, :3, 3] += (self._model.shifts @ (self._model.shifts.T @ offsets[axis, best[:, axis]].T)).T
        return settled

    def _coarsely(self, motions: _Array) -> _Array:
        """Return how much comes near the other surface, by few points and generously."""
        points, normals, bends = sample(self._source, _COARSE_POINTS)
        reach = _COARSE_REACH * self._voxel
        found = _core.measure_overlaps(
            self._target.surface, points, normals, bends, motions, reach, AGREEING_COSINE, self._threads
        )
        return np.asarray(found[:, 1] * found[:, 2])

    def tried(self, others: _Others) -> _Others:
        """Return those that are worth a closer look and far from the answer, improved, the best first."""
        motions = self._refined(others.motions, _FIRST_STEPS, _FIRST_POINTS)
        fits = self._fits(motions, _FIRST_POINTS)
        numbers = np.argsort(-fits[1:], kind="stable")
        numbers = numbers[fits[1:][numbers] >= _WORTHY * fits[0]]
        motions = self._refined(motions[numbers], _STEPS, _POINTS)
        places = places_of(np.concatenate((self._answer[None], motions)), self._spread)
        far = np.linalg.norm(places[1:] - places[0], axis=1) > FAR * self._voxel
        return replace(others.only(numbers), motions=motions).only(far)

    def _refined(self, motions: _Array, steps: int, count: int) -> _Array:
        return refine(self._source, self._target, motions, steps, count, self._threads, model=self._model)

    def rivalry(self, others: _Others) -> _Array:
        """Return how nearly each is as good as the answer."""
        if not len(others.motions):
            return np.empty(0)
        about: dict[str, Any] = {"free_space": self._free_space, "threads": self._threads}
        return rivalry_of(self._source, self._target, self._answer, others.motions, **about)

    def repeated(self, motions: _Array) -> _Others:
        """Return where rivals lead that are taken twice, back, or one after the other, and that is worth a look.

        What a scene looks alike after, it looks alike after doing so again; rows go on and on.
        """
        if not len(motions):
            return _Others.of("repeat", motions)
        first = motions[:_MOST_REPEATED]
        steps = first @ inverse(self._answer)
        steps = np.concatenate((steps, inverse(steps)))
        found = np.concatenate((steps @ self._answer, (steps[:, None] @ first).reshape(-1, 4, 4)))
        tried = self.tried(_Others.of("repeat", found))
        places = places_of(np.concatenate((motions, tried.motions)), self._spread)
        kept = list(range(len(motions)))
        for k in range(len(motions), len(places)):
            if np.linalg.norm(places[kept] - places[k], axis=1).min() > FAR * self._voxel:
                kept.append(k)
        return tried.only(np.array(kept[len(motions) :], dtype=np.int64) - len(motions))

    def is_sensor_pattern(self, nearby: Nearby) -> bool | None:
        """Return whether the sensors would have stood at one place, and what they saw differs; None if they did not.

        From one place, the same must be seen, and nothing is hidden: what moved with the sensor cannot hide the rest.
        """
        same_densities = nearby.densities is not None and nearby.densities > _SAME_DENSITIES
        if same_densities and nearby.overlap < _SEEN_NEARBY:
            return True
        here, there = self._source.viewpoint, self._target.viewpoint
        gap = self._answer[:3, :3] @ here.place + self._answer[:3, 3] - there.place
        if not self._free_space or "found" in (here.source, there.source):
            return None
        if np.linalg.norm(gap) > _SAME_PLACE * self._voxel:
            return None
        shares = [
            (checks == AGREES).sum() / max(1, (checks != UNSEEN).sum())
            for checks, _ in check_both_ways(
                self._source, self._target, self._answer[None], free_space=True, threads=self._threads
            )
        ]
        return bool(np.mean(shares) < _SEEN_AGAIN)

    def mirror(self, mirrored: _Array) -> float:
        """Return how much better than the answer its best mirror image fits; 0 without one that is worth a look."""
        if not len(mirrored):
            return 0.0
        fits = self._fits(mirrored, _MIRRORED_POINTS)
        return float(fits[1:].max() / max(fits[0], 1e-300))

    def scale(self) -> tuple[float, float]:
        """Return by how much the target is larger, and the standard deviation.

        The mean of both ways, each of which finds the moved cloud too large where the surfaces overlap in part.
        """
        logs, variances = [], []
        for cloud, other, motion in (
            (self._source, self._target, self._answer),
            (self._target, self._source, inverse(self._answer)),
        ):
            points, normals, _ = sample(cloud, _SCALE_POINTS)
            scale, information, variance, _ = _core.fit_similarity(
                other.surface,
                points,
                normals,
                np.ascontiguousarray(motion[None]),
                _SCALE_REACH * self._voxel,
                _SCALE_COSINE,
                _SCALE_STEPS,
            )
            logs.append(np.log(scale))
            variances.append(_ALIKE_RESIDUALS * variance / max(information, 1e-300))
        deviation = np.sqrt(0.5 * sum(variances) + _SCALE_FLOOR**2)
        return float(np.exp(0.5 * (logs[0] - logs[1]))), float(min(deviation, 1e6))

    def _fits(self, motions: _Array, count: int) -> _Array:
        """Return how well the answer and other motions lay the surfaces on each other."""
        motions = np.concatenate((self._answer[None], motions))
        nothing = np.empty((0, 3)), np.empty((0, 3))
        return compare(
            self._source,
            self._target,
            nothing,
            np.ascontiguousarray(motions),
            count=count,
            free_space=self._free_space,
            threads=self._threads,
        ).fit


def _peaks(values: _Array, ways: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    """Whether values are at least those before and behind them on the same way."""
    same = ways[1:] == ways[:-1]
    peaks = np.ones(len(values), dtype=np.bool_)
    peaks[1:] &= ~same | (values[1:] >= values[:-1])
    peaks[:-1] &= ~same | (values[:-1] >= values[1:])
    return peaks
