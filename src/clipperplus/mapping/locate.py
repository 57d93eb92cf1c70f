"""Where in a map a scan was taken: candidates among its scans, registered, and verified against all that lies there."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from .._timing import Stage, Stopwatch
from .._validation import as_integer, as_number
from ..clouds.prepared import PreparedCloud
from ..clouds.scan import as_scan, prepare_scan
from ..clouds.surfaces import Surface
from ..registration.confidence import Status
from .grow import grow_places, seen_together, suggestions_of
from .links import link_covariance
from .places import Places, Suggestions
from .relations import Relation
from .scans import as_scan_of_map, is_empty, origin_odds, prepare_scans
from .similarity import ScanVocabulary, feature_sample
from .surfaces import aligned_by_icp
from .workbench import Workbench

if TYPE_CHECKING:
    from .map import Map

__all__ = ["Location", "Place", "locate"]

_Array: TypeAlias = npt.NDArray[np.float64]
_Numbers: TypeAlias = npt.NDArray[np.int64]

_ROUNDS = ((8, "low", 0.3), (16, "low", 0.1), (6, "normal", 0.1))
"""Scans of the map that are tried, those that look most alike first; how far to look; and how likely it is beforehand
that such a scan overlaps. The last ones are the likeliest of those before, once more."""
_LIKELY = 1.4
"""Logarithm of the odds from which on a place is looked at, and no more are tried."""
_SEEN_MOST = 3.0
"""What all of that says in favour, at most: a single scan of walls lies on walls in many places."""
_CHANCES = 3.0
"""Logarithm of how many chances a scan of another place has, about: it is registered with that many of the map."""
_VERIFIED = 0.1
"""Share of the scan that must come near one of the map to be compared with it, …"""
_MOST_VERIFIED = 16
"""… and with how many it is."""
_REACH, _COSINE, _STEPS = 2.5, 0.5, 15
"""Of ICP on what lies there: voxels within which points are matched, cosine between their normals, and steps."""
_OTHERS, _APART = 5, 6.0
"""Alternatives, and voxels by which they are apart."""


@dataclass(frozen=True, eq=False)
class Place:
    """A pose in a map that a scan may have."""

    T_map_scan: npt.NDArray[np.float64]
    """``(4, 4)``."""
    component: int
    """Number of the map's component in whose frame it is."""
    confidence: float
    """Probability, from 0 to 1, that it is right."""


@dataclass(frozen=True, eq=False)
class Location:
    """Where in a map a scan was taken, and why to believe it."""

    status: Status
    """What to make of it."""
    T_map_scan: npt.NDArray[np.float64] | None
    """``(4, 4)``: moves points of the scan into the frame of its component; None if it fits nowhere."""
    component: int | None
    """Number of the map's component; None if it fits nowhere."""
    confidence: float
    """Probability, from 0 to 1, that it is right."""
    covariance: npt.NDArray[np.float64] | None = field(repr=False)
    """``(6, 6)`` of a small motion (rotation vector, translation) in the frame of the component; that of the map itself
    is not in it. None without a pose."""
    neighbours: tuple[int, ...] = field(repr=False)
    """Scans of the map that it was verified against."""
    alternatives: tuple[Place, ...] = field(repr=False)
    """Other poses, the likeliest first."""
    reasons: tuple[str, ...]
    """Why it is not to be trusted; nothing if it is."""
    stages: tuple[Stage, ...] = field(repr=False)
    """What was done and how long it took."""
    seconds: float
    """Time of all of it."""

    def to_dict(self) -> dict[str, Any]:
        """Return it in plain Python types, as ``clipperplus locate --json`` prints it."""
        return {
            "status": self.status.value,
            "T_map_scan": None if self.T_map_scan is None else self.T_map_scan.tolist(),
            "component": self.component,
            "confidence": self.confidence,
            "covariance": None if self.covariance is None else self.covariance.tolist(),
            "neighbours": list(self.neighbours),
            "alternatives": [
                {"T_map_scan": other.T_map_scan.tolist(), "component": other.component, "confidence": other.confidence}
                for other in self.alternatives
            ],
            "reasons": list(self.reasons),
            "stages": [{"name": s.name, "seconds": s.seconds, "count": s.count} for s in self.stages],
            "seconds": self.seconds,
        }


@dataclass(frozen=True, eq=False)
class _Prepared:
    """A map that scans can be looked for in."""

    numbers: _Numbers
    """Its scans that were placed."""
    clouds: tuple[PreparedCloud, ...]
    vocabulary: ScanVocabulary


_PREPARED: WeakKeyDictionary[Map, _Prepared] = WeakKeyDictionary()
"""Of the maps that are in use: preparing one takes longer than looking for a scan in it."""


def locate(map: Map, scan: Any, *, min_confidence: float = 0.5, threads: int = 1) -> Location:
    """Find where in a map a scan was taken, and say how sure that is. The map is not changed.

    Parameters
    ----------
    map
        The map. The first scan takes longer, because those of the map are prepared.
    scan
        ``(n, 3)`` points, anything with ``.points``, or the name of a file.
    min_confidence
        Below it the status is ``UNCERTAIN``.
    threads
        The result does not depend on it.

    """
    stopwatch = Stopwatch()
    min_confidence = as_number("min_confidence", min_confidence, 0.0, 1.0)
    threads = as_integer("threads", threads, 1, 1024)
    known = _prepared(map, threads)
    cloud = prepare_scan(as_scan_of_map(scan, "scan"), map.voxel_size, origin_odds(known.clouds))
    stopwatch.lap("preparing", len(known.clouds))
    search = _Search(map, known, cloud, threads)
    if is_empty(cloud) or not len(known.clouds):
        why = "it has too few points" if len(known.clouds) else "the map has no scans"
        return _nowhere(search, why, stopwatch)
    found = None
    for count, effort, prior in _ROUNDS:
        search.register(count, effort, prior)
        found = search.best()
        stopwatch.lap("registering", len(search.relations))
        if found is not None:
            break
    if found is None:
        return _nowhere(search, search.why_nowhere(), stopwatch)
    return search.verified(found, min_confidence, stopwatch)


def _prepared(map: Map, threads: int) -> _Prepared:
    """Return a map whose scans are prepared; once for all scans that are looked for."""
    if map not in _PREPARED:
        numbers = np.array(sorted(int(scan) for scans in map.components for scan in scans), dtype=np.int64)
        bench = Workbench((), free_space=map.free_space, threads=threads)
        scans = [
            replace(as_scan(map.scans[number], "scan"), viewpoint=None if np.isnan(place).any() else place)
            for number, place in zip(numbers, map.viewpoints[numbers], strict=True)
        ]
        clouds = tuple(prepare_scans(bench, scans, map.voxel_size))
        _PREPARED[map] = _Prepared(numbers, clouds, ScanVocabulary([feature_sample(cloud) for cloud in clouds]))
    return _PREPARED[map]


class _Found(NamedTuple):
    """Where a scan may be."""

    pose: _Array
    """In the frame of a component."""
    component: int
    weight: float
    """Logarithm of the odds, as registrations have it that agree about it."""


class _Search:
    """What is known of where a scan may be; it has the number after those of the map."""

    def __init__(self, map: Map, known: _Prepared, cloud: PreparedCloud, threads: int) -> None:
        self._map, self._known, self._scan = map, known, len(known.clouds)
        self._bench = Workbench(
            (*known.clouds, cloud), free_space=map.free_space, threads=threads, usual=map.usual_conflict
        )
        self._alike = np.argsort(-(known.vocabulary.descriptors @ known.vocabulary.describe(cloud)), kind="stable")
        self._priors: dict[int, float] = {}

    @property
    def relations(self) -> list[Relation]:
        """Registrations with scans of the map."""
        return [self._bench.relations[pair] for pair in sorted(self._bench.relations)]

    def register(self, count: int, effort: str, prior: float) -> None:
        """Register with more scans of the map, or again, looking closer, with the likeliest."""
        if effort == "low":
            chosen = [int(k) for k in self._alike if int(k) not in self._priors][:count]
        else:
            likely = sorted(self.relations, key=lambda relation: (-relation.confidence(0.5), relation.source))
            chosen = [relation.source for relation in likely[:count]]
        self._priors |= {k: max(prior, self._priors.get(k, 0.0)) for k in chosen}
        self._bench.relate([(k, self._scan) for k in chosen], "low" if effort == "low" else "normal", "")

    def _places(self) -> Places:
        """Return the components of the map, and the scan by itself."""
        places = Places(self._bench.corners, self._map.voxel_size)
        numbers = self._known.numbers
        for scans in self._map.components:
            own = np.flatnonzero(np.isin(numbers, scans))
            places.labels[own] = own[0]
            pairs = np.array([(own[0], other) for other in own[1:]], dtype=np.int64).reshape(-1, 2)
            places.settle(own, self._map.poses[numbers[own]], pairs)
        return places

    def suggestions(self) -> Suggestions:
        """Return what the registrations suggest."""
        priors = [self._priors[relation.source] for relation in self.relations]
        return suggestions_of(self.relations, priors, self._map.usual_conflict)

    def best(self) -> _Found | None:
        """Return the pose that the most speaks for."""
        places = self._places()
        beliefs = grow_places(self._bench, places, self.suggestions(), likely=_LIKELY, only=self._scan)
        for union in beliefs.unions:
            if self._scan in (*union.first, *union.second):
                others = union.first if self._scan in union.second else union.second
                return _Found(beliefs.poses[self._scan], self._component(int(others[0])), union.weight)
        return None

    def _component(self, scan: int) -> int:
        number = self._known.numbers[scan]
        return next(k for k, scans in enumerate(self._map.components) if number in scans)

    def _map_poses(self, pose: _Array) -> _Array:
        return np.concatenate((self._map.poses[self._known.numbers], pose[None]))

    def verified(self, found: _Found, min_confidence: float, stopwatch: Stopwatch) -> Location:
        """Lay the scan on all of the map that lies there, and say how sure it is."""
        component = found.component
        around = self._around(found.pose, component)
        aligned, covariance = self._aligned(found.pose, around)
        seen = self._bench.look([(k, self._scan) for k in around], self._map_poses(aligned), "")
        odds = found.weight + min(_SEEN_MOST, seen_together(sighting.support for sighting in seen)) - _CHANCES
        confidence = 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, odds))))
        others = self.places_but(aligned, component)
        reasons = (
            () if confidence >= min_confidence else (f"a confidence of {confidence:.2f} is less than was asked for",)
        )
        stopwatch.lap("verifying", len(around))
        return Location(
            status=Status.OK if confidence >= min_confidence else Status.UNCERTAIN,
            T_map_scan=aligned,
            component=component,
            confidence=confidence,
            covariance=covariance,
            neighbours=tuple(int(self._known.numbers[k]) for k in around),
            alternatives=tuple(others),
            reasons=reasons,
            stages=stopwatch.stages,
            seconds=stopwatch.seconds,
        )

    def _around(self, pose: _Array, component: int) -> list[int]:
        """Return the scans of the map that share the most with the scan at a pose."""
        own = np.flatnonzero(np.isin(self._known.numbers, self._map.components[component]))
        near = self._bench.near(own, np.array([self._scan]), self._map_poses(pose), _VERIFIED)
        return [pair[0] for _, pair in near[:_MOST_VERIFIED]]

    def _aligned(self, pose: _Array, around: list[int]) -> tuple[_Array, _Array]:
        """Return a pose improved by ICP on all of the map that lies there, and its covariance."""
        cloud = self._bench.clouds[self._scan]
        parts = [self._moved(k) for k in around] or [(np.empty((0, 3)), np.empty((0, 3)))]
        points, normals = (np.concatenate(part) for part in zip(*parts, strict=True))
        merged = Surface.of(points, normals, cloud.voxel_size)
        aligned = aligned_by_icp(cloud, merged, pose, reach=_REACH, cosine=_COSINE, steps=_STEPS)
        return aligned, link_covariance(cloud, merged, aligned)

    def _moved(self, scan: int) -> tuple[_Array, _Array]:
        pose, cloud = self._map.poses[self._known.numbers[scan]], self._bench.clouds[scan]
        return cloud.points @ pose[:3, :3].T + pose[:3, 3], cloud.normals @ pose[:3, :3].T

    def places_but(self, pose: _Array | None = None, component: int = 0) -> list[Place]:
        """Return where registrations put the scan, the likeliest first; but for a pose in a component."""
        some, corners = self.suggestions(), self._bench.corners[self._scan]
        bound = _APART * self._map.voxel_size
        kept = [] if pose is None else [(component, corners @ pose[:3, :3].T + pose[:3, 3])]
        found = []
        for number in np.argsort(-some.weights, kind="stable").tolist():
            scan = int(some.source[number])
            backwards = np.linalg.inv(some.motions[number])  # from the scan to one of the map
            there = self._map.poses[self._known.numbers[scan]] @ backwards
            which, moved = self._component(scan), corners @ there[:3, :3].T + there[:3, 3]
            gaps = [np.sqrt(((moved - other) ** 2).sum(axis=1).mean()) for part, other in kept if part == which]
            if min(gaps, default=np.inf) > bound:
                kept.append((which, moved))
                found.append(Place(there, which, float(1.0 / (1.0 + math.exp(-some.weights[number])))))
            if len(found) == _OTHERS:
                break
        return found

    def why_nowhere(self) -> str:
        """Return why the scan fits nowhere."""
        best = max(self.relations, key=lambda relation: relation.confidence(self._priors[relation.source]))
        number = int(self._known.numbers[best.source])
        because = best.reasons[0] if best.reasons else "what is seen there contradicts it"
        return f"it fits none of {len(self.relations)} scans of the map; nearest came scan {number}: {because}"


def _nowhere(search: _Search, why: str, stopwatch: Stopwatch) -> Location:
    """Return that a scan fits nowhere."""
    others = tuple(search.places_but()) if search.relations else ()
    return Location(
        status=Status.TOO_FEW_INLIERS,
        T_map_scan=None,
        component=None,
        confidence=0.0,
        covariance=None,
        neighbours=(),
        alternatives=others,
        reasons=(why,),
        stages=stopwatch.stages,
        seconds=stopwatch.seconds,
    )
