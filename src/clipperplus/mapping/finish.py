"""The last step of a map: dense refinement over all pairs at once, on finer points, so that walls are one wall.

Each pair is aligned by point-to-plane ICP from where the map has it. What its points say about a motion near the
minimum is a quadratic form; the sum of all of them over the poses is a pose graph, and its minimum is that of the
points of all pairs together, up to terms of third order. Points are then matched anew, and so on.
"""

from __future__ import annotations

from collections.abc import Sequence
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
_LEAST_PAIRS = 100
"""Points that must come to lie on each other for a pair to be refined."""
_WARP = 0.5
"""Finer voxels by which scans are bent at their corners: what no pair can know better."""


def finish_place(bench: Workbench, place: Settled, clouds: Sequence[RawCloud]) -> Settled:
    """Refine the poses of a place; ``clouds`` are the scans of the bench as they came.

    The frame is that of the scan with the most links.
    """
    width = _FINER * bench.voxel_size
    scans = place.scans.tolist()
    fine = dict(
        zip(
            scans,
            bench.each(lambda k: Surface.of_cloud(clouds[k], width, _NORMAL_RADIUS), scans, "refining scans"),
            strict=True,
        )
    )
    chosen = _overlapping_most(place)
    for _ in range(_ROUNDS):
        poses = dict(zip(scans, place.poses, strict=True))

        def refine(link: Link, poses: dict[int, _Array] = poses) -> Link:
            motion = (inverse(poses[link.target][None]) @ poses[link.source][None])[0]
            return _refined(link, fine[link.source], fine[link.target], motion)

        refined = {(link.source, link.target): link for link in bench.each(refine, chosen, "refining pairs")}
        links = tuple(refined.get((link.source, link.target), link) for link in place.links)
        place = settle(place.scans, place.poses, links, place.sightings, _most_linked(place))
    return place


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


def _refined(link: Link, source: Surface, target: Surface, motion: _Array) -> Link:
    """Align two scans by ICP, from a motion; a link that few points support stays as it was."""
    aligned = aligned_by_icp(source, target, motion, reach=_REACH, cosine=_COSINE, steps=_STEPS, most=_POINTS)
    information = surface_information(source, target, aligned)
    if information.count < _LEAST_PAIRS:
        return link
    covariance = bent_covariance(information.covariance(), source.points, aligned, _WARP * target.voxel_size)
    return replace(link, motion=aligned, covariance=covariance)
