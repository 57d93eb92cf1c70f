"""Two scans of a hall by a laser that turns in a plane, and what stands out in one: posts, and corners of walls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from .._validation import as_integer, as_number, as_points

__all__ = ["LaserPair", "laser_scans", "scan_features"]

_Array: TypeAlias = npt.NDArray[np.float64]

_LEAST_DISTANCE = 1.2
"""Metres between the middles of posts, and from a scanner."""
_JUMP = 0.3
"""Metres in range between neighbouring beams that end a surface."""
_WIDEST, _FEWEST = 0.7, 4
"""Metres that a post may be wide, and beams that must meet it."""
_ARM = 8
"""Points on either side of one that tell whether it is a corner, …"""
_OFF_LINE, _SHARP = 0.03, 0.5
"""… metres by which they may be off a line, and the cosine between the lines up to which it is one."""


@dataclass(frozen=True, eq=False)
class LaserPair:
    """Two scans of one place in a plane, with the motion between them."""

    source: npt.NDArray[np.float64]
    """``(n, 2)`` points in metres, beam by beam, in the frame of the source's scanner: it is at the origin."""
    target: npt.NDArray[np.float64]
    """``(m, 2)`` points in the frame of the target's."""
    T_target_source: npt.NDArray[np.float64]
    """``(3, 3)``, the truth: it takes source points to where the target's scanner has them."""


def laser_scans(*, seed: int = 0, posts: int = 40, beams: int = 2880, noise: float = 0.005) -> LaserPair:
    """Simulate two scans of a hall with posts, some metres apart, by a laser that looks all around.

    Parameters
    ----------
    seed
        Of the hall, the places of the scanner and the noise.
    posts
        How many stand in the hall, if there is room.
    beams
        To a turn.
    noise
        Standard deviation of a range, in metres.

    """
    random = np.random.default_rng(as_integer("seed", seed, 0, 2**63 - 1))
    posts = as_integer("posts", posts, 0, 1000)
    beams = as_integer("beams", beams, 16, 1_000_000)
    noise = as_number("noise", noise, 0.0, 10.0)
    size = random.uniform((18.0, 12.0), (24.0, 16.0))
    places = (0.5 + random.uniform(-0.2, 0.2, (2, 2))) * size
    walls, middles = _walls(random, size), _posts(random, size, places, posts)
    radii = random.uniform(0.08, 0.25, len(middles))
    poses = np.array([_pose(place, turn) for place, turn in zip(places, random.uniform(-np.pi, np.pi, 2), strict=True)])
    source, target = (_scan(random, pose, walls, middles, radii, beams, noise) for pose in poses)
    return LaserPair(source, target, np.linalg.inv(poses[1]) @ poses[0])


def scan_features(scan: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Return where posts stand and walls meet in a scan, ``(k, 2)``; its points come in the order of the beams."""
    points = as_points("scan", scan, (2,))
    return np.concatenate((_seen_posts(points), _seen_corners(points)))


def _seen_posts(points: _Array) -> _Array:
    """Return the middles of narrow surfaces in front of what is beside them, if they are round."""
    ranges = np.linalg.norm(points, axis=1)
    ends = np.flatnonzero(np.abs(np.diff(ranges, append=ranges[:1])) > _JUMP)
    found = []
    for first, last in zip(ends, np.roll(ends, -1), strict=True):
        numbers = np.arange(first + 1, last + 1 if last > first else last + 1 + len(points)) % len(points)
        if len(numbers) < _FEWEST:
            continue
        surface, third = points[numbers], len(numbers) // 3
        nearest = float(ranges[numbers[third : len(numbers) - third]].mean())  # where it is hardly bent
        before, behind = ranges[first], ranges[(numbers[-1] + 1) % len(points)]
        if np.linalg.norm(surface[-1] - surface[0]) > _WIDEST or min(before, behind) < ranges[numbers].max() + _JUMP:
            continue
        bearing = surface.mean(axis=0) / np.linalg.norm(surface.mean(axis=0))
        cosines = np.clip(surface[[0, -1]] @ bearing / ranges[numbers[[0, -1]]], -1.0, 1.0)
        seen = float(np.arccos(cosines).mean())  # half the angle, but for half a beam on either side
        sine = np.sin(seen * len(numbers) / (len(numbers) - 1.0))
        found.append(bearing * nearest / (1.0 - sine))
    return np.array(found).reshape(-1, 2)


def _seen_corners(points: _Array) -> _Array:
    """Return where two straight stretches, fitted to a few points each, meet at an angle."""
    count = len(points)
    if count <= 2 * _ARM:
        return np.empty((0, 2))
    numbers = np.arange(count)[:, None] + np.arange(-_ARM, _ARM + 1)
    around = points[numbers % count]
    sides = around[:, :_ARM], around[:, _ARM + 1 :]
    middles = [side.mean(axis=1) for side in sides]
    (first, off), (second, other) = (
        _fit_lines(side - middle[:, None]) for side, middle in zip(sides, middles, strict=True)
    )
    ranges = np.linalg.norm(around, axis=2)
    whole = np.abs(np.diff(ranges, axis=1)).max(axis=1) < _JUMP
    across = first[:, 0] * second[:, 1] - first[:, 1] * second[:, 0]
    sharp = whole & (np.maximum(off, other) < _OFF_LINE) & (np.abs((first * second).sum(axis=1)) < _SHARP)
    gaps = middles[1] - middles[0]
    along = (gaps[:, 0] * second[:, 1] - gaps[:, 1] * second[:, 0]) / np.where(sharp, across, 1.0)
    met = middles[0] + along[:, None] * first
    distances = np.where(sharp, np.linalg.norm(met - points, axis=1), np.inf)
    nearest = distances[numbers % count].min(axis=1)
    return np.asarray(met[sharp & (distances <= nearest) & (distances < _JUMP)])


def _fit_lines(arms: _Array) -> tuple[_Array, _Array]:
    """Return the directions of lines through ``(k, n, 2)`` centred points, and how far these are off at most."""
    _, vectors = np.linalg.eigh(np.einsum("kij,kil->kjl", arms, arms))
    return vectors[:, :, 1], np.abs(np.einsum("kij,kj->ki", arms, vectors[:, :, 0])).max(axis=1)


def _walls(random: np.random.Generator, size: _Array) -> _Array:
    """Return the corners of a hall with an alcove and a corner that protrudes."""
    (x, y), (deep, wide, high) = size, random.uniform((0.5, 1.0, 1.0), (1.5, 3.0, 3.0))
    a, b = (random.uniform(0.1, 0.35) * x, random.uniform(0.45, 0.65) * x)
    right = [(x, 0.0), (x, y - high), (x - wide, y - high), (x - wide, y)]
    return np.array([(0.0, 0.0), *right, (b, y), (b, y + deep), (a, y + deep), (a, y), (0.0, y)])


def _posts(random: np.random.Generator, size: _Array, places: _Array, count: int) -> _Array:
    """Return the middles of posts, none of them too close to another or to a scanner."""
    kept = list(places)
    for place in random.uniform(0.06, 0.94, (20 * count, 2)) * size:
        if len(kept) < count + len(places) and np.linalg.norm(place - kept, axis=1).min() > _LEAST_DISTANCE:
            kept.append(place)
    return np.array(kept[len(places) :]).reshape(-1, 2)


def _pose(place: _Array, turn: float) -> _Array:
    return np.array([[np.cos(turn), -np.sin(turn), place[0]], [np.sin(turn), np.cos(turn), place[1]], [0.0, 0.0, 1.0]])


def _scan(
    random: np.random.Generator, pose: _Array, walls: _Array, middles: _Array, radii: _Array, beams: int, noise: float
) -> _Array:
    """Return what a laser sees: where its beams first meet a wall or a post."""
    angles = 2.0 * np.pi * np.arange(beams) / beams
    rays = np.column_stack((np.cos(angles), np.sin(angles)))
    x, y = (rays @ pose[:2, :2].T).T[:, :, None]
    edges, gaps = np.roll(walls, -1, axis=0) - walls, walls - pose[:2, 2]
    across = x * edges[:, 1] - y * edges[:, 0]
    across = np.where(np.abs(across) < 1e-12, np.nan, across)
    to_wall = (gaps[:, 0] * edges[:, 1] - gaps[:, 1] * edges[:, 0]) / across
    share = (gaps[:, 0] * y - gaps[:, 1] * x) / across
    to_wall = np.where((share >= 0.0) & (share <= 1.0) & (to_wall > 0.0), to_wall, np.inf)
    arms = middles - pose[:2, 2]
    along = x * arms[:, 0] + y * arms[:, 1]
    inside = radii**2 - ((arms**2).sum(axis=1) - along**2)
    to_post = np.where((inside > 0.0) & (along > 0.0), along - np.sqrt(np.maximum(inside, 0.0)), np.inf)
    nearest = np.minimum(to_wall.min(axis=1), to_post.min(axis=1, initial=np.inf))
    return np.asarray(rays * (nearest + random.normal(0.0, noise, beams))[:, None])
