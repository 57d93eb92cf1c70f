"""The last step of a map: dense refinement over all pairs at once, on finer points, so that walls are one wall.

Each pair is aligned by point-to-plane ICP from where the map has it. What its points say about a motion near the
minimum is a quadratic form; the sum of all of them over the poses is a pose graph, and its minimum is that of the
points of all pairs together, up to terms of third order. Points are then matched anew, and so on. They count by how
precise they are, which falls with the range as the pairs themselves show it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from ..clouds.cloud import RawCloud
from ..clouds.recent import Recent
from ..clouds.surfaces import Surface
from ..geometry.poses import inverse
from ..pairs.order import one_after_the_other
from ..registration.uncertainty import surface_information
from .links import Link, bent_covariance
from .range_noise import masses_by_range, range_exponent, residuals_by_range
from .settle import Settled, settle
from .surfaces import FinePoints, aligned_by_icp
from .workbench import Pair, Workbench

__all__ = ["finish_place"]

_Array: TypeAlias = npt.NDArray[np.float64]

_FINER = 1.0 / 3.0
"""Voxels of the map: the width of the finer ones."""
_NORMAL_RADIUS = 4.5
"""Finer voxels: the neighbours that a normal is fitted to. Thin sets of points are noisy."""
_REACH, _ROUNDS = 3.0, 2
"""Finer voxels within which points are matched, and how often they are matched anew."""
_COSINE = 0.7
"""Between the normals of points that are matched."""
_POINTS, _STEPS = 4000, 10
"""Of ICP: points of the source, and steps."""
_NEIGHBOURS = 12
"""Pairs of each scan that are refined: those that overlap the most."""
_LEAST_OVERLAP = 0.15
"""Of these."""
_ASKED = 60
"""Pairs by which is told how precise points are."""
_MOST_KEPT = 64 << 20
"""Bytes of finer points that are kept at a time, if nothing is said."""
_LEAST_PAIRS = 100
"""Points that must come to lie on each other for a pair to be refined."""
_WARP, _MOST_WARPED = 0.5, 3.0
"""Finer voxels by which scans are bent at their corners, at least and at most: what no pair can know better. …"""
_USUAL_SHARE, _USUAL_RESIDUAL = 0.75, 1.3
"""… It is as much as pairs disagree: this share of them is off by no more than so many deviations."""


def finish_place(bench: Workbench, place: Settled, clouds: Sequence[RawCloud], recent: Recent | None = None) -> Settled:
    """Refine the poses of a place; ``clouds`` are the scans of the bench as they came.

    The frame is that of the scan with the most links. ``recent`` is where finer points are kept as long as they fit.
    """
    width = _FINER * bench.voxel_size
    scans = place.scans.tolist()
    kept = Recent(_MOST_KEPT) if recent is None else recent
    overlapping = _overlapping_most(place)
    chosen = [overlapping[pair] for pair in one_after_the_other(list(overlapping))]

    kept.clear()
    points = bench.each(lambda scan: FinePoints.of_cloud(clouds[scan], width, _NORMAL_RADIUS), scans, "")
    finer = dict(zip(scans, points, strict=True))

    def fine(scan: int) -> Surface:
        made: Surface = kept.get(("fine", scan), finer[scan].surface)
        return made

    def pair_of(link: Link, poses: dict[int, _Array]) -> _Pair:
        motion = (inverse(poses[link.target][None]) @ poses[link.source][None])[0]
        places = bench.outlines[link.source].viewpoint.place, bench.outlines[link.target].viewpoint.place
        return _Pair(fine(link.source), fine(link.target), motion, places)

    poses = dict(zip(scans, place.poses, strict=True))
    some = chosen[:: -(-len(chosen) // _ASKED) or 1]
    asked = bench.each(lambda link: _residuals(pair_of(link, poses)), some, "")
    exponent = range_exponent(asked)
    warp = _WARP
    for _ in range(_ROUNDS):
        poses = dict(zip(scans, place.poses, strict=True))

        def refine(link: Link, poses: dict[int, _Array] = poses, warp: float = warp) -> Link:
            return _refined(link, pair_of(link, poses), exponent, warp)

        refined = {(link.source, link.target): link for link in bench.each(refine, chosen, "refining pairs")}
        links = tuple(refined.get((link.source, link.target), link) for link in place.links)
        place = settle(place.scans, place.poses, links, place.sightings, _most_linked(place))
        if len(place.links):
            off = float(np.quantile(place.solved.residuals, _USUAL_SHARE)) / _USUAL_RESIDUAL
            warp = min(max(_WARP, warp * off), _MOST_WARPED)
    return place


def _most_linked(place: Settled) -> int:
    """Return which scan, of those of a place, has the most links: the map's frame is its own."""
    ends = np.array([(link.source, link.target) for link in place.links]).ravel()
    return int(np.bincount(ends, minlength=1 + int(place.scans.max()))[place.scans].argmax())


def _overlapping_most(place: Settled) -> dict[Pair, Link]:
    """Return, for each scan, the links that overlap the most."""
    chosen: dict[Pair, Link] = {}
    for scan in place.scans.tolist():
        own = [link for link in place.links if scan in (link.source, link.target)]
        enough = [link for link in own if (link.overlap or 0.0) >= _LEAST_OVERLAP]
        best = sorted(enough, key=lambda link: (-(link.overlap or 0.0), link.source, link.target))[:_NEIGHBOURS]
        chosen |= {(link.source, link.target): link for link in best}
    return {pair: chosen[pair] for pair in sorted(chosen)}


class _Pair(NamedTuple):
    """Two scans as finer points, and how a map has them lie to each other."""

    source: Surface
    target: Surface
    motion: _Array
    viewpoints: tuple[_Array, _Array]
    """Where the sensor of each stood, in its own frame."""

    def aligned(self, masses: _Array | None = None) -> _Array:
        """Return the motion improved by ICP."""
        about = {"reach": _REACH, "cosine": _COSINE}
        return aligned_by_icp(self.source, self.target, self.motion, **about, steps=_STEPS, most=_POINTS, masses=masses)


def _residuals(pair: _Pair) -> _Array:
    """Return how far surfaces are apart, by range, once two scans are aligned."""
    return residuals_by_range(pair.source, pair.target, pair.aligned(), pair.viewpoints, _REACH, _COSINE)


def _refined(link: Link, pair: _Pair, exponent: float, warp: float) -> Link:
    """Align two scans, bent by some voxels, by ICP from a motion; a link that few points support stays as it was."""
    source, target = pair.source, pair.target
    masses = masses_by_range(source.points, pair.motion, pair.viewpoints, exponent) if exponent else None
    aligned = pair.aligned(masses)
    information = surface_information(source, target, aligned, masses)
    if information.count < _LEAST_PAIRS:
        return link
    covariance = bent_covariance(information.covariance(), source.points, aligned, warp * target.voxel_size)
    return replace(link, motion=aligned, covariance=covariance)
