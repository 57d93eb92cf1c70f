"""Rays against a scene of simple shapes: what a sensor at one place sees.

Every shape is a unit shape (the cube with corners ±1, the unit ball, the unit cylinder around z from -1 to 1) that is
stretched, tilted, turned about the vertical and moved. The way back to the unit shape is an affine map, and it keeps
the parameter t of a ray ``origin + t * direction``; so three short functions on unit shapes are all the geometry.

Rays are worked on in bundles of :data:`_BUNDLE` neighbours. There is a cone around every bundle and a cone around every
shape; only where these meet are the rays tested one by one. Nearer shapes go first, so that a bundle whose rays all
end before a shape begins can leave it out.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = ["Hits", "Scene", "Shape", "box", "cylinder", "moved"]

_BUNDLE = 64
"""Rays that are tested together; rays that follow each other should point to nearly the same place."""
_SHAPES, _PAIRS = 64, 512
"""At most so many shapes, and about so many pairs of a shape and a bundle, are worked on at once: numpy then has enough
to do in a call, and what lies behind them can still be left out."""
_TINY = 1e-300
"""Instead of a length that may be 0, to divide by."""


class Shape(NamedTuple):
    """A box, an ellipsoid or a cylinder. Seen from inside, it is a wall all around."""

    kind: Literal["box", "ellipsoid", "cylinder"]
    centre: tuple[float, float, float]
    """In metres; z is up."""
    half: tuple[float, float, float]
    """Half of the extent along each axis of its own, above 0, in metres. The axis of a cylinder is the third one."""
    yaw: float = 0.0
    """By how much it is turned about the vertical, in radians; after the tilt."""
    tilt: float = 0.0
    """By how much it is turned about its own first axis, in radians."""


def box(x: float, y: float, low: float, size: tuple[float, float, float], yaw: float = 0.0, tilt: float = 0.0) -> Shape:
    """Return a box above a point: its lower face is at height ``low``."""
    return Shape("box", (x, y, low + size[2] / 2.0), (size[0] / 2.0, size[1] / 2.0, size[2] / 2.0), yaw, tilt)


def cylinder(x: float, y: float, low: float, radius: float, height: float) -> Shape:
    """Return an upright cylinder above a point."""
    return Shape("cylinder", (x, y, low + height / 2.0), (radius, radius, height / 2.0))


def moved(shapes: Iterable[Shape], x: float, y: float, z: float = 0.0, yaw: float = 0.0) -> list[Shape]:
    """Turn shapes about the vertical through the origin, then move them."""
    c, s = math.cos(yaw), math.sin(yaw)
    return [
        shape._replace(
            centre=(
                x + c * shape.centre[0] - s * shape.centre[1],
                y + s * shape.centre[0] + c * shape.centre[1],
                z + shape.centre[2],
            ),
            yaw=shape.yaw + yaw,
        )
        for shape in shapes
    ]


@dataclass(frozen=True, eq=False)
class Hits:
    """Where rays end."""

    ranges: npt.NDArray[np.float64]
    """``(n,)``: the distance to the nearest surface along each ray, in metres; inf: there is none."""
    cosines: npt.NDArray[np.float64]
    """``(n,)``: of the angle between the ray and the normal of that surface, from 0 (grazing) to 1; 0: no surface."""


class Scene:
    """Shapes as arrays, ready to be looked at."""

    def __init__(self, shapes: Sequence[Shape]) -> None:
        self.kinds = np.array([shape.kind for shape in shapes], dtype=np.str_)
        self.centres = np.array([shape.centre for shape in shapes], dtype=np.float64).reshape(-1, 3)
        self.half = np.array([shape.half for shape in shapes], dtype=np.float64).reshape(-1, 3)
        yaw = np.array([shape.yaw for shape in shapes], dtype=np.float64)
        tilt = np.array([shape.tilt for shape in shapes], dtype=np.float64)
        cy, sy, ct, st, zero = np.cos(yaw), np.sin(yaw), np.cos(tilt), np.sin(tilt), np.zeros(len(shapes))
        self.axes = np.stack((cy, sy, zero, -sy * ct, cy * ct, st, sy * st, -cy * st, ct), axis=1).reshape(-1, 3, 3)
        """``(k, 3, 3)``: the axes of each shape as rows, unit vectors."""
        self.to_unit = self.axes / self.half[:, :, None]
        """From offsets to the centre to coordinates of the unit shape."""

    def cast(
        self, origin: npt.NDArray[np.float64], directions: npt.NDArray[np.float64], max_range: float = np.inf
    ) -> Hits:
        """Follow rays from one point along ``(n, 3)`` unit vectors to the nearest surface up to ``max_range``."""
        count = len(directions)
        if count == 0 or len(self.kinds) == 0:
            return Hits(np.full(count, np.inf), np.zeros(count))
        padded = np.concatenate((directions, np.repeat(directions[-1:], -count % _BUNDLE, axis=0)))
        bundles = np.ascontiguousarray(padded.reshape(-1, _BUNDLE, 3).transpose(0, 2, 1))
        ranges = np.full((len(bundles), _BUNDLE), np.inf)
        nearest = np.zeros(ranges.shape, dtype=np.int64)
        ends = np.full(len(bundles), max_range)  # where the last ray of a bundle ends, so far

        offsets = origin - self.centres
        # How far the boxes around the shapes are: no ray meets a shape before.
        outside = np.maximum(np.abs(np.einsum("kij,kj->ki", self.axes, offsets)) - self.half, 0.0)
        starts = np.linalg.norm(outside, axis=1)
        meets = self._may_meet(-offsets, starts, bundles)
        unit_offsets = (self.to_unit @ offsets[:, :, None])[:, :, 0]
        order = np.argsort(starts, kind="stable")
        while len(order):
            turn = order[:_SHAPES]
            open_ends = meets[turn] & (ends >= starts[turn, None])
            some = max(1, int(np.searchsorted(open_ends.sum(axis=1).cumsum(), _PAIRS, side="right")))
            turn, order = turn[:some], order[some:]
            bundle, place = np.nonzero(open_ends[:some].T)
            if bundle.size:
                found = self._meet(unit_offsets, bundles, turn[place], bundle)
                chosen, after, which = _nearest_of(found, bundle)
                before = ranges[chosen]
                closer = after < before
                ranges[chosen] = after = np.where(closer, after, before)
                nearest[chosen] = np.where(closer, turn[place][which], nearest[chosen])
                ends[chosen] = np.minimum(after.max(axis=1), max_range)
        ranges, nearest = ranges.reshape(-1)[:count], nearest.reshape(-1)[:count]
        ranges[ranges > max_range] = np.inf
        return Hits(ranges, self._cosines(origin, directions, ranges, nearest))

    def _meet(
        self,
        offsets: npt.NDArray[np.float64],
        bundles: npt.NDArray[np.float64],
        shape: npt.NDArray[np.int64],
        bundle: npt.NDArray[np.int64],
    ) -> npt.NDArray[np.float64]:
        """Return where the rays of bundles meet shapes, pair by pair; the offsets of the origin are to unit shapes."""
        found = np.empty((len(shape), _BUNDLE))
        for kind, meet in _UNIT_SHAPES.items():
            pairs = np.flatnonzero(self.kinds[shape] == kind)
            if pairs.size:
                rays = self.to_unit[shape[pairs]] @ bundles[bundle[pairs]]
                found[pairs] = meet(offsets[shape[pairs]].T[:, :, None], rays.transpose(1, 0, 2))
        return found

    def _may_meet(
        self, centres: npt.NDArray[np.float64], starts: npt.NDArray[np.float64], bundles: npt.NDArray[np.float64]
    ) -> npt.NDArray[np.bool_]:
        """Say, for each shape and each bundle, whether the cones around them meet; the origin is the tip of both."""
        bundles = bundles.transpose(1, 0, 2)
        middles = bundles.mean(axis=2)
        middles /= np.maximum(np.linalg.norm(middles, axis=0), _TINY)  # opposite rays have no middle, but a wide cone
        widths = np.arccos(np.clip((middles[:, :, None] * bundles).sum(axis=0).min(axis=1), -1.0, 1.0))

        distances = np.maximum(np.linalg.norm(centres, axis=1), _TINY)
        towards = centres / distances[:, None]
        signs = np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])
        corners = centres[:, None] + np.einsum("cj,kj,kji->kci", signs, self.half, self.axes)
        lengths = np.maximum(np.linalg.norm(corners, axis=2), _TINY)
        sizes = np.arccos(np.clip((np.einsum("kci,ki->kc", corners, towards) / lengths).min(axis=1), -1.0, 1.0))
        balls = self.kinds == "ellipsoid"  # their corners stick out
        radii = self.half.max(axis=1)
        sizes[balls] = np.minimum(sizes, np.arcsin(np.minimum(radii / distances, 1.0)))[balls]

        # The angle between the middles is at most the sum of both sizes; a cone beyond a right angle is no bound.
        margin = 1e-6  # an arc cosine near 1 has lost half of its digits
        sizes, widths = sizes + margin, widths + margin
        limits = np.outer(np.cos(sizes), np.cos(widths)) - np.outer(np.sin(sizes), np.sin(widths))
        anywhere = (sizes > np.pi / 2.0) | (starts == 0.0)
        return np.asarray((towards @ middles >= limits) | anywhere[:, None] | (widths > np.pi / 2.0))

    def _cosines(
        self,
        origin: npt.NDArray[np.float64],
        directions: npt.NDArray[np.float64],
        ranges: npt.NDArray[np.float64],
        nearest: npt.NDArray[np.int64],
    ) -> npt.NDArray[np.float64]:
        """Return the cosines of the angles at which rays meet their nearest shapes."""
        cosines = np.zeros(len(ranges))
        hit = np.isfinite(ranges)
        directions, nearest = directions[hit], nearest[hit]
        points = origin + ranges[hit, None] * directions
        to_unit = self.to_unit[nearest]
        x, y, z = np.einsum("nij,nj->in", to_unit, points - self.centres[nearest])
        kinds = self.kinds[nearest]
        # The surface of a unit shape is where a function is 1; its gradient, up to a factor, is the normal.
        gradient = np.stack((x, y, z), axis=1)  # of the ball
        box, cylinder = kinds == "box", kinds == "cylinder"
        face = np.abs(gradient[box]).argmax(axis=1)
        gradient[box] = np.eye(3)[face]
        cap = np.abs(z) > np.hypot(x, y)
        gradient[cylinder & cap] = (0.0, 0.0, 1.0)
        gradient[cylinder & ~cap, 2] = 0.0
        normals = np.einsum("nij,ni->nj", to_unit, gradient)
        cosines[hit] = np.abs(np.einsum("nj,nj->n", normals, directions)) / np.linalg.norm(normals, axis=1)
        return cosines


def _nearest_of(
    found: npt.NDArray[np.float64], bundle: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64], npt.NDArray[np.int64]]:
    """Reduce where rays of pairs of a shape and a bundle end to the nearest of each bundle.

    The pairs are sorted by bundle. Returns the bundles, where each of their rays ends, and the first pair in which it
    does.
    """
    heads = np.flatnonzero(np.diff(bundle, prepend=-1))
    nearest = np.minimum.reduceat(found, heads, axis=0)
    repeated = np.repeat(nearest, np.diff(heads, append=len(bundle)), axis=0)
    pairs = np.where(found == repeated, np.arange(len(found))[:, None], len(found))
    return bundle[heads], nearest, np.minimum.reduceat(pairs, heads, axis=0)


def _meet_cube(start: npt.NDArray[np.float64], rays: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return where ``(3, m, n)`` rays from ``(3, m, 1)`` starts meet the unit cube.

    That is between the last of the three slabs entered and the first one left. A ray that runs within a face misses:
    0 / 0 is not a number there, and fmin and fmax pass it over.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        low, high = (-1.0 - start) / rays, (1.0 - start) / rays
    enter, leave = np.fmin(low, high).max(axis=0), np.fmax(low, high).min(axis=0)
    return _first_in_front(enter, leave)


def _meet_ball(start: npt.NDArray[np.float64], rays: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return where rays meet the unit ball."""
    return _first_in_front(*_roots(_dot(rays, rays), _dot(start, rays), _dot(start, start) - 1.0))


def _meet_cylinder(start: npt.NDArray[np.float64], rays: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return where rays meet the unit cylinder: inside the endless one and between the planes of its caps."""
    flat, across, z = rays[:2], start[:2], rays[2]
    enter, leave = _roots(_dot(flat, flat), _dot(across, flat), _dot(across, across) - 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        low, high = (-1.0 - start[2]) / z, (1.0 - start[2]) / z
    return _first_in_front(np.fmax(enter, np.fmin(low, high)), np.fmin(leave, np.fmax(low, high)))


def _dot(a: npt.NDArray[np.float64], b: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the sums of products over the first axis."""
    return np.asarray((a * b).sum(axis=0))


def _roots(
    a: npt.NDArray[np.float64], b: npt.NDArray[np.float64], c: npt.NDArray[np.float64]
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return both solutions t of ``a t² + 2 b t + c = 0``; where there is none, nothing lies between them.

    With a = 0 (a ray along the axis of a cylinder) it is all of the ray or nothing.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        root = np.sqrt(b * b - a * c)
        enter, leave = (-b - root) / a, (-b + root) / a
    missed = np.isnan(root)
    along = a == 0.0
    if along.any():
        leave[along] = np.where(np.broadcast_to(c, a.shape)[along] <= 0.0, np.inf, -np.inf)
        enter[along] = -leave[along]
    enter[missed], leave[missed] = np.inf, -np.inf
    return enter, leave


def _first_in_front(enter: npt.NDArray[np.float64], leave: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the first of two crossings that lies in front of the origin; inf: none, or nothing between them."""
    first = np.where(enter > 0.0, enter, leave)
    return np.where((enter <= leave) & (first > 0.0), first, np.inf)


_UNIT_SHAPES = {"box": _meet_cube, "ellipsoid": _meet_ball, "cylinder": _meet_cylinder}
