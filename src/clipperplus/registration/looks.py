"""Ways of looking for matches, and how far to go: the right answer is often there, only elsewhere.

A look matches features of one kind, joins what is consistent, and grows motions from the cliques. Where the answer of a
first one is not trusted, others follow: more matches, coarser and finer voxels, other neighbourhoods.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from .._limits import check_fits
from .._timing import Stopwatch
from .._words import shown
from ..clique import CliqueResult, find_clique
from ..clouds.matching import match_features
from ..clouds.prepared import FINER, Description, PreparedCloud
from ..consistency import check_compared, points_problem
from ..errors import OptionError
from ..geometry.motions import RIGID, Motion
from ..graphs import Graph
from ..graphs._memory import graph_bytes
from ..invariants import DistanceAndNormals, Invariant, Under
from ..invariants.points import PointsWithNormals
from .hypotheses import MOST_STEPS, guess_motions
from .rough import RoughTransform
from .steps import Step

__all__ = [
    "EFFORTS",
    "Found",
    "Look",
    "LookOptions",
    "as_effort",
    "look_at_matches",
    "look_for_motions",
    "match_descriptions",
]

_Array: TypeAlias = npt.NDArray[np.float64]

_FIRST_GUESSES = 100
"""Motions that a first look suggests, at most, …"""
_MOST_GUESSES = 400
"""… and those that follow, and the first one if it is asked for more."""
_FEWER_STEPS = 20_000_000
"""Comparisons that a look may take which is not the first."""
_UPRIGHT = np.radians(30.0)
"""By how much the tilt of a normal may change from one cloud to the other, where the motion keeps it."""
_SMALL = 2**15
"""Matches whose graph is small, however many of them agree."""
_GRAPHS = 3
"""Of this size at a time: the graph, in order, and the part that is searched; together they may take …"""
_MOST_BYTES = 6 << 30
"""… so much. That is 130 000 matches, of which most agree with most; more would not tell more."""
_APART = 3.0
"""Voxels: motions that move the matched points to places closer than this are one guess."""


@dataclass(frozen=True)
class Look:
    """What is matched with what."""

    voxels: float = 1.0
    """Width of the voxels whose points are matched, in voxels of the clouds."""
    radius: float = 5.0
    """What a feature describes, in these voxels."""
    matches: int | None = None
    """Features are matched if each is among this many nearest of the other; None: as the caller says."""
    towards_sensor: bool = False
    """Whether normals are turned towards the sensor, or to the side of their neighbours."""


EFFORTS: Mapping[str, tuple[tuple[Look, ...], ...]] = MappingProxyType(
    {
        "low": (),
        "normal": (
            (Look(towards_sensor=True), Look(voxels=1.4, matches=3)),
            (Look(matches=2), Look(voxels=FINER)),
        ),
        "high": (
            (Look(towards_sensor=True), Look(voxels=1.4, matches=3)),
            (Look(matches=3), Look(voxels=FINER)),
            (Look(voxels=FINER, radius=7.0), Look(radius=8.0, matches=3), Look(voxels=1.4, radius=7.0, matches=3)),
            (Look(voxels=FINER, matches=3), Look(voxels=FINER, towards_sensor=True)),
        ),
    }
)
"""Looks that follow the first one while the answer is not trusted, round by round."""


@dataclass(frozen=True, eq=False)
class LookOptions:
    """What all looks have in common."""

    voxel_size: float
    """Metres."""
    epsilon: float
    """Metres by which distances between matched points may differ."""
    matches: int = 1
    """Features are matched if each is among this many nearest of the other."""
    ratio: float | None = None
    """Lowe's test; None: no test."""
    invariant: Invariant | None = None
    """What pairs of matches must agree in; None: distances, and what else the motion keeps."""
    model: Motion = RIGID
    """The motions that there may be."""
    rough: RoughTransform | None = None
    """What is known beforehand; None: nothing. It speaks of the …"""
    middle: tuple[float, ...] = (0.0, 0.0, 0.0)
    """… mean of the source's points."""
    method: str = "auto"
    """Of the clique, …"""
    time_limit: float | Literal["default"] | None = "default"
    """… and its limit."""
    threads: int = 1


@dataclass(frozen=True, eq=False)
class Found:
    """What a look found: matches, which of them agree, and the motions that these suggest."""

    points: tuple[_Array, _Array]
    """Of source and target: what the associations number."""
    associations: npt.NDArray[np.int64]
    epsilon: float
    graph: Graph
    clique: CliqueResult
    motions: _Array
    """``(k, 4, 4)``, those of the largest cliques first."""

    def further_motions(self, options: LookOptions) -> _Array:
        """Return more motions than these, from smaller cliques."""
        guesses = guess_motions(
            self.graph,
            self.clique,
            *self.matched,
            apart=_APART * options.voxel_size,
            most=_MOST_GUESSES,
            model=options.model,
            threads=options.threads,
        )
        return guesses.motions[len(self.motions) :]

    @property
    def matched(self) -> tuple[_Array, _Array]:
        """The source and the target point of every association."""
        return self.points[0][self.associations[:, 0]], self.points[1][self.associations[:, 1]]


def as_effort(effort: object) -> tuple[tuple[Look, ...], ...]:
    """Return the looks that an effort stands for."""
    if not isinstance(effort, str) or effort not in EFFORTS:
        raise OptionError(f"effort: expected one of {', '.join(map(repr, EFFORTS))}, got {shown(effort)}")
    return EFFORTS[effort]


def look_for_motions(
    source: PreparedCloud, target: PreparedCloud, look: Look | None, options: LookOptions, stopwatch: Stopwatch
) -> Found:
    """Match features, and grow motions from what is consistent; without a look, those that the clouds come with."""
    chosen = look or Look()
    matches = chosen.matches or options.matches
    if look is None:
        here, there = source.description, target.description
    else:
        here, there = (
            cloud.described(chosen.voxels, chosen.radius, options.threads, towards_sensor=chosen.towards_sensor)
            for cloud in (source, target)
        )
    associations = match_descriptions(here, there, matches, options.ratio, options.threads)
    stopwatch.lap(Step.MATCHING.value, len(associations))
    epsilon = chosen.voxels * options.epsilon
    return look_at_matches(here, there, associations, epsilon, options, stopwatch, first=look is None)


def look_at_matches(
    source: Description,
    target: Description,
    associations: npt.NDArray[np.int64],
    epsilon: float,
    options: LookOptions,
    stopwatch: Stopwatch,
    *,
    first: bool = True,
) -> Found:
    """Grow motions from what is consistent of given matches, and does not contradict what is roughly known."""
    threads, model, invariant = options.threads, options.model, options.invariant
    if invariant is None and model.core is not None:
        invariant = Under(model.name, model.up if model.has_axis else None)
    associations = associations[_upright(source, target, associations, model)]
    if options.rough is not None and len(associations):
        matched = source.points[associations[:, 0]], target.points[associations[:, 1]]
        associations = associations[options.rough.explains(*matched, np.array(options.middle), epsilon)]
    check_compared("matches", len(associations))
    here, there = (_landmarks(of, invariant) for of in (source, target))
    problem, *_ = points_problem(here, there, associations, epsilon, invariant)
    if len(associations) > _SMALL:
        needed = _GRAPHS * graph_bytes(len(associations), problem.sampled_density())
        check_fits(f"matches: to search the graph of {len(associations)} associations takes", needed, _MOST_BYTES)
    graph = problem.join(threads)
    stopwatch.lap(Step.CONSISTENCY_GRAPH.value, graph.num_edges)
    clique = find_clique(graph, method=options.method, time_limit=options.time_limit, threads=threads)
    stopwatch.lap(Step.CLIQUE.value, clique.size)
    matched = source.points[associations[:, 0]], target.points[associations[:, 1]]
    guesses = guess_motions(
        graph,
        clique,
        *matched,
        apart=_APART * options.voxel_size,
        most=_FIRST_GUESSES if first else _MOST_GUESSES,
        most_steps=MOST_STEPS if first else _FEWER_STEPS,
        model=model,
        threads=threads,
    )
    stopwatch.lap(Step.HYPOTHESES.value, len(guesses.motions))
    return Found((source.points, target.points), associations, epsilon, graph, clique, guesses.motions)


def _upright(
    source: Description, target: Description, associations: npt.NDArray[np.int64], model: Motion
) -> npt.NDArray[np.bool_] | slice:
    """Return which matches keep what the motion keeps of a normal, whatever its sign; all where this is nothing."""
    if source.normals is None or target.normals is None or model.turns.shape[1] == 3:
        return slice(None)
    here, there = source.normals[associations[:, 0]], target.normals[associations[:, 1]]
    if model.has_axis:
        tilts = (np.arcsin(np.minimum(np.abs(normals @ model.up), 1.0)) for normals in (here, there))
        return np.asarray(np.abs(np.subtract(*tilts)) < _UPRIGHT)
    return np.asarray(np.abs(np.einsum("ij,ij->i", here, there)) > np.cos(_UPRIGHT))


def _landmarks(of: Description, invariant: Invariant | None) -> Any:
    """Return what an invariant takes: points, with their normals for the one that is about these."""
    if not isinstance(invariant, DistanceAndNormals):
        return of.points
    if of.normals is None:
        raise OptionError(
            "invariant: DistanceAndNormals takes points whose normals are known: those of prepared clouds"
        )
    return PointsWithNormals(of.points, of.normals)


def match_descriptions(
    source: Description, target: Description, matches: int, ratio: float | None, threads: int
) -> npt.NDArray[np.int64]:
    """Match the points that can be described; the features of others are zero, and all alike."""
    first, second = (np.flatnonzero(of.features.any(axis=1)) for of in (source, target))
    here, there = (
        of.features if len(numbers) == len(of.features) else of.features[numbers]
        for of, numbers in ((source, first), (target, second))
    )
    pairs = match_features(here, there, k=matches, ratio=ratio, threads=threads)
    return np.column_stack((first[pairs[:, 0]], second[pairs[:, 1]]))
