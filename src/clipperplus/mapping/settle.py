"""Where the scans of a place stand: the pose graph, and what is seen where it puts them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ..geometry.poses import inverse
from .links import Link
from .pose_graph import Measurements, Optimised, optimise_poses
from .relations import Sighting
from .workbench import Pair, Workbench

__all__ = ["Settled", "is_confirmed", "look_around", "settle"]

_Array: TypeAlias = npt.NDArray[np.float64]
_Numbers: TypeAlias = npt.NDArray[np.int64]

_LOOKED_AT = 0.1
"""Share of a scan that must come near another for the two to be looked at."""
_LOOKED_AT_MOST = 16
"""Pairs of each scan that are looked at: those that share the most."""
_NEAR = 6.0
"""Voxels by which ICP may move a scan from where the map has it, and still speak for the map."""
_AGREES = 0.5
"""What is seen of a pair that speaks for the map."""
_LEAST_OVERLAP = 0.15
"""Of a pair that becomes a measurement by being looked at."""


@dataclass(frozen=True, eq=False)
class Settled:
    """Scans of one place, where they stand, and by what."""

    scans: _Numbers
    solved: Optimised
    """Where each of these scans stands, in the frame of one of them, and by how much each link is off."""
    links: tuple[Link, ...]
    sightings: dict[Pair, Sighting]
    """What was seen of pairs."""

    @property
    def poses(self) -> _Array:
        """``(k, 4, 4)`` from each of the scans to the frame."""
        return self.solved.poses


def settle(
    scans: _Numbers, start: _Array, links: tuple[Link, ...], sightings: dict[Pair, Sighting], anchor: int = 0
) -> Settled:
    """Solve the pose graph of one place, in the frame of one of its scans; ``start`` are rough poses of these."""
    local = {int(scan): number for number, scan in enumerate(scans)}
    measured = Measurements(
        source=np.array([local[link.source] for link in links], dtype=np.int64),
        target=np.array([local[link.target] for link in links], dtype=np.int64),
        motions=np.array([link.motion for link in links]).reshape(-1, 4, 4),
        covariances=np.array([link.covariance for link in links]).reshape(-1, 6, 6),
    )
    solved = optimise_poses(inverse(start[[anchor]]) @ start, measured, anchor)
    return Settled(scans, solved, links, sightings)


def look_around(bench: Workbench, place: Settled, what: str) -> Settled:
    """Look at every pair of a place that overlaps; those that agree become links, all are made as precise as can be."""
    poses = np.tile(np.eye(4), (len(bench.clouds), 1, 1))
    poses[place.scans] = place.poses
    pairs = _nearest(bench.near(place.scans, place.scans, poses, _LOOKED_AT))
    sightings = dict(zip(pairs, bench.look(pairs, poses, what), strict=True))
    known = {(link.source, link.target): link for link in place.links}
    confirmed = [pair for pair in pairs if is_confirmed(sightings[pair])]

    def link(pair: Pair) -> Link:
        seen = sightings[pair]
        covariance = bench.covariance(pair, seen.motion)
        origin = known[pair].origin if pair in known else "seen"
        return Link(pair[0], pair[1], seen.motion, covariance, origin, seen.overlap)

    links = known | dict(zip(confirmed, bench.each(link, confirmed, ""), strict=True))
    return settle(place.scans, place.poses, tuple(links[pair] for pair in sorted(links)), sightings)


def _nearest(shares: list[tuple[float, Pair]]) -> list[Pair]:
    """Return the pairs in which one scan is among those that share the most with the other: some for each scan."""
    counts: dict[int, int] = {}
    chosen = []
    for _, pair in shares:  # those that share the most come first
        if min(counts.get(scan, 0) for scan in pair) < _LOOKED_AT_MOST:
            chosen.append(pair)
            for scan in pair:
                counts[scan] = counts.get(scan, 0) + 1
    return chosen


def is_confirmed(seen: Sighting) -> bool:
    """Whether what is seen of a pair is what the map says."""
    moved = seen.is_improved and seen.shift <= _NEAR
    return moved and seen.support >= _AGREES and seen.overlap >= _LEAST_OVERLAP
