"""Motions that a symmetric scene, or an open direction, would make as good as an answer, whether matches suggest them or
not.

A room looks alike after half a turn about its middle, a square one after a quarter; a mirrored copy of it fits its
walls; along a corridor every shift is as good. Each is laid on the scans and compared with the answer (``rivals``).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .uncertainty import Information

__all__ = ["main_axes", "mirrored_counterparts", "slides", "turned_counterparts"]

_Array = npt.NDArray[np.float64]

_MODES = 200
"""Normals that are tried as the direction of most."""
_SAME_DIRECTION = 0.98
"""Cosine from which on normals have the same direction, …"""
_AT_RIGHT_ANGLES = 0.2
"""… and up to which they are at right angles."""
_EXTENT = (0.02, 0.98)
"""Quantiles between which a scene is; what is beyond are strays."""
_SLIDES = (5.0, 12.0)
"""Voxels by which an answer is moved along what may be open."""
_OPEN = 0.05
"""Share of a motion, squared, that must be seen if it is not to be tried."""


def main_axes(normals: _Array) -> _Array:
    """Return three directions at right angles, as rows: most of the surface faces the first, most of the rest that is
    at right angles to it the second."""
    tried = normals[:: max(1, len(normals) // _MODES)]
    first = _mode(tried, normals)
    across = np.abs(normals @ first) < _AT_RIGHT_ANGLES
    others = normals[across] if across.sum() >= 3 else normals
    second = _mode(tried[np.abs(tried @ first) < _AT_RIGHT_ANGLES], others)
    second = second - (second @ first) * first
    if np.linalg.norm(second) < 0.1:
        second = np.cross(first, np.eye(3)[np.abs(first).argmin()])
    second = second / np.linalg.norm(second)
    return np.array([first, second, np.cross(first, second)])


def _mode(tried: _Array, normals: _Array) -> _Array:
    """Return the mean direction of the normals around that which most of them have."""
    if not len(tried):
        return np.zeros(3)
    cosines = tried @ normals.T
    alike = np.abs(cosines) > _SAME_DIRECTION
    best = int(alike.sum(axis=1).argmax())
    chosen = normals[alike[best]] * np.sign(cosines[best, alike[best]])[:, None]
    mean = chosen.sum(axis=0) if len(chosen) else tried[best]
    return np.asarray(mean / max(float(np.linalg.norm(mean)), 1e-300))


def _middles(moved: _Array, target: _Array, axes: _Array) -> _Array:
    """Return the middles of all that is seen, of the target and of the source, by what they extend along the axes."""
    places = []
    for points in (np.concatenate((moved, target)), target, moved):
        low, high = np.quantile(points @ axes.T, _EXTENT, axis=0)
        places.append(0.5 * (low + high) @ axes)
    return np.array(places)


def turned_counterparts(moved: _Array, target: _Array, axes: _Array) -> _Array:
    """Return half and quarter turns about the axes through the middles of the scene, ``(k, 4, 4)``."""
    turns = []
    for axis in axes:
        x, y, z = axis
        cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
        along = np.outer(axis, axis)
        turns += [2.0 * along - np.eye(3), along + cross, along - cross]
    return _about(_middles(moved, target, axes), np.array(turns))


def mirrored_counterparts(moved: _Array, target: _Array, axes: _Array) -> _Array:
    """Return the reflections along the axes about the middles of the scene, ``(k, 4, 4)``; they are no motions."""
    mirrors = np.eye(3) - 2.0 * axes[:, :, None] * axes[:, None, :]
    return _about(_middles(moved, target, axes), mirrors)


def _about(middles: _Array, linear: _Array) -> _Array:
    result = np.tile(np.eye(4), (len(middles) * len(linear), 1, 1))
    result[:, :3, :3] = np.tile(linear, (len(middles), 1, 1))
    centres = np.repeat(middles, len(linear), axis=0)
    result[:, :3, 3] = centres - np.einsum("kij,kj->ki", result[:, :3, :3], centres)
    return result


def slides(information: Information, voxel_size: float) -> tuple[_Array, _Array]:
    """Return motions along directions that may be open, ``(k, 4, 4)``, and the direction of each, ``(k, 6)``."""
    directions = information.weak_directions(_OPEN)
    lever = max(information.lever, 1e-300)
    steps = []
    for direction in directions:
        reach = np.hypot(lever * np.linalg.norm(direction[:3]), np.linalg.norm(direction[3:]))
        steps += [direction * (sign * voxels * voxel_size / reach) for voxels in _SLIDES for sign in (1.0, -1.0)]
    if not steps:
        return np.empty((0, 4, 4)), np.empty((0, 6))
    motions = _about(information.centre[None], np.array([_turn(step[:3]) for step in steps]))
    motions[:, :3, 3] += np.array(steps)[:, 3:]
    return motions, np.repeat(directions, 2 * len(_SLIDES), axis=0)


def _turn(vector: _Array) -> _Array:
    angle = float(np.linalg.norm(vector))
    if angle < 1e-12:
        return np.eye(3)
    x, y, z = vector / angle
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.asarray(np.eye(3) + np.sin(angle) * cross + (1.0 - np.cos(angle)) * cross @ cross)
