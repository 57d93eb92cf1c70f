"""Motions that would be as good as an answer if the scene were symmetric, mirrored, or open in a direction.

A room looks alike after half a turn about its middle, a square one after a quarter; a mirrored copy of it fits its
walls; shelves, pillars and houses repeat themselves; along a corridor every shift is as good. Each is laid on the scans
and compared with the answer (``scrutiny``).
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ..geometry.motions import Motion
from ..geometry.poses import inverse, rotation_angles
from .uncertainty import Information

__all__ = [
    "Weighted",
    "main_axes",
    "middle",
    "mirrored_counterparts",
    "of_model",
    "offsets",
    "plane_shifts",
    "reflections_of_model",
    "shifts",
    "slides",
    "turned_counterparts",
]

_Array: TypeAlias = npt.NDArray[np.float64]
Weighted: TypeAlias = tuple[_Array, _Array]
"""Points, and a weight of each."""

_NEARLY = np.radians(10.0)
"""By how much what would be a symmetry of the scene may fail to be a motion of the model."""
_MODES = 60
"""Normals that are tried as the direction of most."""
_SAME_DIRECTION = 0.98
"""Cosine from which on normals have the same direction, …"""
_AT_RIGHT_ANGLES = 0.2
"""… and up to which they are at right angles."""
_EXTENT = (0.02, 0.98)
"""Quantiles between which a scene is; what is beyond are strays."""
_SHIFT_STEP, _LEAST_SHIFT, _MOST_SHIFTS = 4.0, 5.0, 24
"""Voxels between shifts along an axis, and of the least; how many there are each way at most, …"""
_MOST_OFFSETS = 7
"""Such shifts each way by which the middle of a scene may be off."""
_FARTHEST_SHIFT = 0.6
"""… and the share of the scene's extent that they go."""
_MAP_CELL, _MAP_CELLS = 3.0, 32
"""Voxels to a cell of a map in which shifts are looked for, at least, and its cells to a side; …"""
_MAP_MOST = 0.9
"""… quantile of what is in them, which no cell exceeds; …"""
_MAP_PEAKS = 12
"""… and how many shifts are taken from it."""
_SLIDES = (5.0, 12.0)
"""Voxels by which an answer is moved along what may be open."""
_HARDLY_SEEN = 0.05
"""Share of a motion, squared, that must be seen if it is not to be tried."""


def main_axes(normals: _Array) -> _Array:
    """Return three directions at right angles, as rows: most of the surface faces the first, then the second."""
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


def middle(moved: _Array, target: _Array, axes: _Array) -> _Array:
    """Return the middle of all that is seen, by what it extends along the axes."""
    low, high = _extent(np.concatenate((moved, target)) @ axes.T)
    return np.asarray(0.5 * (low + high) @ axes)


def _extent(places: _Array) -> tuple[_Array, _Array]:
    """Return the lowest and highest coordinates, without strays."""
    ordered = np.sort(places, axis=0)
    low, high = (ordered[round(share * (len(places) - 1))] for share in _EXTENT)
    return low, high


def turned_counterparts(centre: _Array, axes: _Array) -> _Array:
    """Return half and quarter turns about the axes through a place, ``(k, 4, 4)``."""
    angles = np.array([np.pi, 0.5 * np.pi, -0.5 * np.pi])
    return _about(centre, _turns((angles[:, None] * axes[:, None]).reshape(-1, 3)))


def mirrored_counterparts(centre: _Array, axes: _Array) -> _Array:
    """Return the reflections along the axes about a place, ``(k, 4, 4)``; they are no motions."""
    return _about(centre, np.eye(3) - 2.0 * axes[:, :, None] * axes[:, None, :])


def of_model(motions: _Array, centre: _Array, model: Motion) -> _Array:
    """Return those motions about a place that are nearly of a model, as motions of it about that place."""
    if model.core is None:
        return motions
    projected = model.project(motions)
    near = rotation_angles(inverse(motions) @ projected) < _NEARLY
    return model.project(_about(centre, projected[near, :3, :3]))


def reflections_of_model(reflections: _Array, centre: _Array, model: Motion) -> _Array:
    """Return those reflections that are nearly a motion of a model after the one that it does not notice."""
    if model.core is None:
        return reflections
    if not model.can_mirror:
        return reflections[:0]
    mirror = np.eye(4)
    mirror[:3, :3] = model.mirrored(np.eye(3))
    turned = of_model(_about(centre, reflections[:, :3, :3] @ mirror[:3, :3]), centre, model)
    return _about(centre, turned[:, :3, :3] @ mirror[:3, :3])


def _about(centre: _Array, linear: _Array) -> _Array:
    result = np.tile(np.eye(4), (len(linear), 1, 1))
    result[:, :3, :3] = linear
    result[:, :3, 3] = centre - linear @ centre
    return result


def offsets(axes: _Array, voxel_size: float) -> _Array:
    """Return small shifts both ways along each axis, ``(3, k, 3)``: what is seen is not all of a scene."""
    lengths = np.arange(-_MOST_OFFSETS, _MOST_OFFSETS + 1) * _SHIFT_STEP * voxel_size
    return np.asarray(lengths[None, :, None] * axes[:, None, :])


def shifts(moved: _Array, target: _Array, axes: _Array, voxel_size: float) -> tuple[_Array, npt.NDArray[np.int64]]:
    """Return shifts along the axes by up to most of the extent of the scene, ``(k, 4, 4)``, and which way each goes.

    Those that go one way follow each other, the shortest first.
    """
    low, high = _extent(np.concatenate((moved, target)) @ axes.T)
    steps: list[_Array] = []
    ways: list[int] = []
    for axis, extent in zip(axes, high - low, strict=True):
        count = np.clip((_FARTHEST_SHIFT * extent / voxel_size - _LEAST_SHIFT) / _SHIFT_STEP, 1, _MOST_SHIFTS)
        lengths = (_LEAST_SHIFT + _SHIFT_STEP * np.arange(int(count))) * voxel_size
        for way in (axis, -axis):
            ways += [ways[-1] + 1 if ways else 0] * len(lengths)
            steps += [length * way for length in lengths]
    result = np.tile(np.eye(4), (len(steps), 1, 1))
    result[:, :3, 3] = steps
    return result, np.array(ways)


def plane_shifts(moved: Weighted, target: Weighted, axes: _Array, voxel_size: float) -> _Array:
    """Return shifts across the first axis by which what is bent comes to lie on what is bent, ``(k, 4, 4)``.

    They are peaks of the correlation between two maps, seen along that axis: of posts and trees in rows, the rows may
    run any way. Even surfaces leave hardly a trace on them.
    """
    flat = [(points @ axes[1:].T, weights) for points, weights in (moved, target)]
    low, high = _extent(np.concatenate([places for places, _ in flat]))
    width = max(_MAP_CELL * voxel_size, float((high - low).max()) / _MAP_CELLS)
    first, second = (_map_of(places - low, weights, width) for places, weights in flat)
    size = 2 * _MAP_CELLS
    spectrum = np.conj(np.fft.rfft2(first, (size, size))) * np.fft.rfft2(second, (size, size))
    found = np.fft.fftshift(np.fft.irfft2(spectrum, (size, size)))
    around = np.pad(found, 1, mode="wrap")
    beside = np.maximum(around[:-2], around[2:])
    higher = np.maximum(np.maximum(beside[:, :-2], beside[:, 2:]), beside[:, 1:-1])
    higher = np.maximum(higher, np.maximum(around[1:-1, :-2], around[1:-1, 2:]))
    cells = np.argwhere((found >= higher) & (found > 0.0))
    steps = (cells - _MAP_CELLS) * width
    cells, steps = (of[np.linalg.norm(steps, axis=1) >= _LEAST_SHIFT * voxel_size] for of in (cells, steps))
    best = np.argsort(-found[tuple(cells.T)], kind="stable")[:_MAP_PEAKS]
    result = np.tile(np.eye(4), (len(best), 1, 1))
    result[:, :3, 3] = steps[best] @ axes[1:]
    return result


def _map_of(places: _Array, weights: _Array, width: float) -> _Array:
    """Return the sums of weights in the cells of a square map, none of which stands out."""
    cells = np.floor(np.clip(places / width, -1.0, _MAP_CELLS)).astype(np.int64)  # strays may be anywhere
    inside = ((cells >= 0) & (cells < _MAP_CELLS)).all(axis=1)
    numbers = cells[inside] @ np.array([_MAP_CELLS, 1])
    sums = np.bincount(numbers, weights[inside], minlength=_MAP_CELLS**2)
    most = float(np.quantile(sums[sums > 0.0], _MAP_MOST)) if sums.any() else 0.0
    return np.minimum(sums, most).reshape(_MAP_CELLS, _MAP_CELLS)


def slides(information: Information, voxel_size: float) -> tuple[_Array, npt.NDArray[np.int64]]:
    """Return motions along directions that may be open, ``(k, 4, 4)``, and their ranks, the least seen first."""
    nothing = np.empty((0, 4, 4)), np.empty(0, dtype=np.int64)
    if information.count < 6.0 or not information.lever:  # nothing is seen at all
        return nothing
    directions, lever = information.weak_directions(_HARDLY_SEEN), information.lever
    steps, ranks = [], []
    for rank, direction in enumerate(directions):
        reach = np.hypot(lever * np.linalg.norm(direction[:3]), np.linalg.norm(direction[3:]))
        steps += [direction * (sign * voxels * voxel_size / reach) for voxels in _SLIDES for sign in (1.0, -1.0)]
        ranks += [rank] * (2 * len(_SLIDES))
    if not steps:
        return nothing
    moves = np.array(steps)
    motions = _about(information.centre, _turns(moves[:, :3]))
    motions[:, :3, 3] += moves[:, 3:]
    return motions, np.array(ranks)


def _turns(vectors: _Array) -> _Array:
    """Return rotations about vectors by their lengths, ``(k, 3, 3)``."""
    angles = np.linalg.norm(vectors, axis=1)[:, None, None]
    axes = vectors / np.maximum(angles[:, 0], 1e-300)
    cross = np.cross(axes[:, None], np.eye(3)).transpose(0, 2, 1)
    return np.asarray(np.eye(3) + np.sin(angles) * cross + (1.0 - np.cos(angles)) * cross @ cross)
