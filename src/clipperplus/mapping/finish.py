"""The last step of a map: dense refinement over all pairs at once, on finer points, so that walls are one wall.

Each pair is aligned by point-to-plane ICP from where the map has it. What its points say about a motion near the
minimum is a quadratic form; the sum of all of them over the poses is a pose graph, and its minimum is that of the
points of all pairs together, up to terms of third order. Points are then matched anew, and so on.
"""

from __future__ import annotations

import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import replace
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ..clouds.cloud import RawCloud
from ..geometry.poses import inverse
from ..registration.uncertainty import surface_information
from .settle import Link, Settled, bent_covariance, settle
from .surfaces import Surface, aligned_by_icp
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
_KEPT = 24
"""Scans whose finer points are kept at a time."""
_LEAST_PAIRS = 100
"""Points that must come to lie on each other for a pair to be refined."""
_WARP, _MOST_WARPED = 0.5, 3.0
"""Finer voxels by which scans are bent at their corners, at least and at most: what no pair can know better. …"""
_USUAL_SHARE, _USUAL_RESIDUAL = 0.75, 1.3
"""… It is as much as pairs disagree: this share of them is off by no more than so many deviations."""


def finish_place(bench: Workbench, place: Settled, clouds: Sequence[RawCloud]) -> Settled:
    """Refine the poses of a place; ``clouds`` are the scans of the bench as they came.

    The frame is that of the scan with the most links.
    """
    width = _FINER * bench.voxel_size
    scans = place.scans.tolist()
    fine = _Recent(lambda scan: Surface.of_cloud(clouds[scan], width, _NORMAL_RADIUS), _KEPT)
    chosen = _one_after_the_other(_overlapping_most(place))
    warp = _WARP
    for _ in range(_ROUNDS):
        poses = dict(zip(scans, place.poses, strict=True))

        def refine(link: Link, poses: dict[int, _Array] = poses, warp: float = warp) -> Link:
            motion = (inverse(poses[link.target][None]) @ poses[link.source][None])[0]
            return _refined(link, fine.of(link.source), fine.of(link.target), motion, warp)

        refined = {(link.source, link.target): link for link in bench.each(refine, chosen, "refining pairs")}
        links = tuple(refined.get((link.source, link.target), link) for link in place.links)
        place = settle(place.scans, place.poses, links, place.sightings, _most_linked(place))
        if len(place.residuals):
            off = float(np.quantile(place.residuals, _USUAL_SHARE)) / _USUAL_RESIDUAL
            warp = min(max(_WARP, warp * off), _MOST_WARPED)
    return place


class _Recent:
    """What was made of scans, made again if it is asked for after so many others; several threads may ask."""

    def __init__(self, make: Callable[[int], Surface], most: int) -> None:
        self._make, self._most, self._made = make, most, OrderedDict[int, Future[Surface]]()
        self._changing = threading.Lock()

    def of(self, scan: int) -> Surface:
        with self._changing:
            known = self._made.pop(scan, None)
            made = known or Future[Surface]()
            self._made[scan] = made  # as the most recent one
            if len(self._made) > self._most:
                self._made.popitem(last=False)
        if known is None:
            try:
                made.set_result(self._make(scan))
            except BaseException as error:
                made.set_exception(error)
                raise
        return made.result()


def _one_after_the_other(links: list[Link]) -> list[Link]:
    """Return links in an order in which those of one scan come soon after each other: from neighbour to neighbour."""
    around: dict[int, list[int]] = {}
    for link in links:
        around.setdefault(link.source, []).append(link.target)
        around.setdefault(link.target, []).append(link.source)
    rank: dict[int, int] = {}
    for start in sorted(around):
        waiting = deque([start] if start not in rank else [])
        while waiting:
            scan = waiting.popleft()
            if scan not in rank:
                rank[scan] = len(rank)
                waiting.extend(sorted(around[scan], key=lambda other: (len(around[other]), other)))
    return sorted(links, key=lambda link: sorted((rank[link.source], rank[link.target]), reverse=True))


def _most_linked(place: Settled) -> int:
    """Return which scan, of those of a place, has the most links: the map's frame is its own."""
    ends = np.array([(link.source, link.target) for link in place.links]).ravel()
    return int(np.bincount(ends, minlength=1 + int(place.scans.max()))[place.scans].argmax())


def _overlapping_most(place: Settled) -> list[Link]:
    """Return, for each scan, the links that overlap the most."""
    chosen: dict[Pair, Link] = {}
    for scan in place.scans.tolist():
        own = [link for link in place.links if scan in (link.source, link.target)]
        enough = [link for link in own if (link.overlap or 0.0) >= _LEAST_OVERLAP]
        best = sorted(enough, key=lambda link: (-(link.overlap or 0.0), link.source, link.target))[:_NEIGHBOURS]
        chosen |= {(link.source, link.target): link for link in best}
    return [chosen[pair] for pair in sorted(chosen)]


def _refined(link: Link, source: Surface, target: Surface, motion: _Array, warp: float) -> Link:
    """Align two scans, bent by some voxels, by ICP from a motion; a link that few points support stays as it was."""
    aligned = aligned_by_icp(source, target, motion, reach=_REACH, cosine=_COSINE, steps=_STEPS, most=_POINTS)
    information = surface_information(source, target, aligned)
    if information.count < _LEAST_PAIRS:
        return link
    covariance = bent_covariance(information.covariance(), source.points, aligned, warp * target.voxel_size)
    return replace(link, motion=aligned, covariance=covariance)
