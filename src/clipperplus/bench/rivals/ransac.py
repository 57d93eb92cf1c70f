"""M. A. Fischler and R. C. Bolles, "Random sample consensus", CACM 1981, with samples of three matches.

A sample whose triangles have different sides is not looked at further, as in all registration libraries: S. Choi,
Q.-Y. Zhou and V. Koltun, "Robust reconstruction of indoor scenes", CVPR 2015.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from ...geometry.motions import fit_transform

__all__ = ["CONFIDENCE", "MOST_SAMPLES", "solve"]

_Array = npt.NDArray[np.float64]

MOST_SAMPLES = 50_000
"""What every method that samples may draw, and …"""
CONFIDENCE = 0.999
"""… how sure it has to be that one of them was right before it may stop earlier."""
_FIRST_BATCH, _LARGEST_BATCH = 32, 4096
_MOTIONS_AT_ONCE = 64
_REFITS = 3


def solve(source: _Array, target: _Array, epsilon: float) -> _Array | None:
    """Return the motion of the sample that most matches agree with, fitted to them."""
    if len(source) < 3:
        return None
    random = np.random.default_rng(0)
    best, most = None, 2
    drawn, needed, batch = 0, float(MOST_SAMPLES), _FIRST_BATCH
    while drawn < needed:
        samples = random.integers(len(source), size=(min(batch, MOST_SAMPLES - drawn), 3))
        drawn, batch = drawn + len(samples), min(2 * batch, _LARGEST_BATCH)
        for motions in _in_parts(_motions(source[samples], target[samples], epsilon)):
            counts = (_squares(motions, source, target) < epsilon**2).sum(axis=1)
            if counts.max() > most:
                best, most = motions[counts.argmax()], int(counts.max())
        needed = min(needed, _needed(most / len(source)) if best is not None else math.inf)
    return None if best is None else _refit(best, source, target, epsilon)


def _needed(inliers: float) -> float:
    """Return how many samples have, with confidence, a right one among them."""
    chance = inliers**3
    return math.log(1.0 - CONFIDENCE) / math.log1p(-chance) if chance < 1.0 else 0.0


def _motions(source: _Array, target: _Array, epsilon: float) -> _Array:
    """Return the motions of ``(k, 3, 3)`` triangles that have the same sides to within epsilon."""
    sides = [np.linalg.norm(points - np.roll(points, 1, axis=1), axis=2) for points in (source, target)]
    kept = (np.abs(sides[0] - sides[1]) < epsilon).all(axis=1) & (np.minimum(*sides) > 0.0).all(axis=1)
    source, target = source[kept], target[kept]
    rotations = _frames(target) @ np.swapaxes(_frames(source), 1, 2)
    motions = np.tile(np.eye(4), (len(source), 1, 1))
    motions[:, :3, :3] = rotations
    motions[:, :3, 3] = target.mean(axis=1) - (rotations @ source.mean(axis=1)[:, :, None])[:, :, 0]
    return motions[np.isfinite(motions).all(axis=(1, 2))]  # points on a line have no frame


def _frames(triangles: _Array) -> _Array:
    """Return right-handed frames, as columns: along a side, at right angles in the plane, and out of it."""
    first, second = triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0]
    normal = np.cross(first, second)
    with np.errstate(invalid="ignore", divide="ignore"):
        x, z = (axes / np.linalg.norm(axes, axis=1)[:, None] for axes in (first, normal))
    return np.stack((x, np.cross(z, x), z), axis=2)


def _in_parts(motions: _Array) -> list[_Array]:
    return [motions[k : k + _MOTIONS_AT_ONCE] for k in range(0, len(motions), _MOTIONS_AT_ONCE)]


def _squares(motions: _Array, source: _Array, target: _Array) -> _Array:
    """Return the ``(k, n)`` squared residuals."""
    moved = source @ np.swapaxes(motions[:, :3, :3], 1, 2) + motions[:, None, :3, 3]
    return np.asarray(((moved - target) ** 2).sum(axis=2))


def _refit(motion: _Array, source: _Array, target: _Array, epsilon: float) -> _Array:
    for _ in range(_REFITS):
        near = _squares(motion[None], source, target)[0] < epsilon**2
        if near.sum() < 3:
            break
        motion = fit_transform(source[near], target[near])
    return motion
