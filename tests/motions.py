"""Random motions, matched points that follow one, and whether two poses are the same."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

import clipperplus as cp

Array = npt.NDArray[np.float64]


def random_motion(seed: int, shift: float = 2.0) -> Array:
    random = np.random.default_rng(seed)
    matrix = np.linalg.qr(random.normal(size=(3, 3)))[0]
    motion = np.eye(4)
    motion[:3, :3] = matrix * np.linalg.det(matrix)
    motion[:3, 3] = random.uniform(-shift, shift, 3)
    return motion


def move(motion: Array, points: Array) -> Array:
    return np.asarray(points @ motion[:3, :3].T + motion[:3, 3])


def planted(n: int, outliers: int, *, noise: float = 0.003, seed: int = 0) -> tuple[Array, Array, Array]:
    """Matched points of which the first n follow a motion."""
    random = np.random.default_rng(seed)
    motion = random_motion(seed)
    source = random.uniform(-1.0, 1.0, (n + outliers, 3))
    target = move(motion, source) + random.uniform(-noise, noise, source.shape)
    target[n:] = random.uniform(-3.0, 3.0, (outliers, 3))
    return source, target, motion


def same_pose(a: cp.Pose, b: cp.Pose) -> bool:
    """Everything but the times, bit for bit."""
    left, right = a.to_dict(), b.to_dict()
    for pose in (left, right):
        pose.pop("seconds")
        pose["stages"] = [
            (s["name"], s["count"]) for s in pose["stages"] if not s["name"].startswith(("source ", "target "))
        ]
    return left == right and np.array_equal(a.residuals, b.residuals, equal_nan=True)
