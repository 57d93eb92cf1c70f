"""Cameras that see simulated points, some of their matches wrong, and P3P in plain numpy."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

INTRINSICS = np.array([[600.0, 0.0, 320.0], [0.0, 600.0, 240.0], [0.0, 0.0, 1.0]])


@dataclass(frozen=True)
class Seen:
    """Matches of points and pixels."""

    points: Array
    pixels: Array
    truth: Array
    """From the world to the camera."""
    right: npt.NDArray[np.int64]
    """Matches that are not random."""


def random_pose(random: np.random.Generator) -> Array:
    turn, _ = np.linalg.qr(random.normal(size=(3, 3)))
    pose = np.eye(4)
    pose[:3, :3] = turn * np.sign(np.linalg.det(turn))
    pose[:3, 3] = random.uniform(-5.0, 5.0, 3)
    return pose


def project(pose: Array, points: Array, intrinsics: Array = INTRINSICS) -> Array:
    """Pixels of points, by the definition."""
    seen = (points @ pose[:3, :3].T + pose[:3, 3]) @ intrinsics.T
    return np.asarray(seen[:, :2] / seen[:, 2:])


def simulate(seed: int, count: int, outliers: float, noise: float = 1.0) -> Seen:
    """A camera of 640 × 480 pixels that sees points 2 to 10 m away; some pixels are anywhere."""
    random = np.random.default_rng(seed)
    pixels, depths = random.uniform((0.0, 0.0), (640.0, 480.0), (count, 2)), random.uniform(2.0, 10.0, count)
    rays = np.column_stack((pixels, np.ones(count))) @ np.linalg.inv(INTRINSICS).T
    pose = random_pose(random)
    points = (rays * depths[:, None] - pose[:3, 3]) @ pose[:3, :3]
    pixels += random.normal(0.0, noise, (count, 2))
    wrong = random.permutation(count)[: round(outliers * count)]
    pixels[wrong] = random.uniform((0.0, 0.0), (640.0, 480.0), (len(wrong), 2))
    return Seen(points, pixels, pose, np.setdiff1d(np.arange(count), wrong))


def poses_of_three(points: Array, directions: Array) -> list[Array]:
    """Grunert's solution: a quartic in the ratio of two depths, its roots by numpy, the motion by Kabsch."""
    a, b, c = (np.linalg.norm(points[i] - points[j]) for i, j in ((1, 2), (0, 2), (0, 1)))
    cos_a, cos_b, cos_c = (directions[i] @ directions[j] for i, j in ((1, 2), (0, 2), (0, 1)))
    # From s2 = u s1, s3 = v s1 with the law of cosines: u is rational in v, which leaves a quartic.
    k = (a**2 - c**2) / b**2
    q = np.polynomial.Polynomial
    numerator, denominator = q([1.0 + k, -2.0 * k * cos_b, k - 1.0]), q([2.0 * cos_c, -2.0 * cos_a])
    # c² (1 + v² - 2 v cos b) = b² (1 + u² - 2 u cos c), times the denominator twice.
    left = (c**2 / b**2) * q([1.0, -2.0 * cos_b, 1.0]) * denominator**2
    quartic = denominator**2 + numerator**2 - 2.0 * cos_c * numerator * denominator - left
    found = []
    for root in quartic.roots():
        if abs(root.imag) > 1e-6 * max(1.0, abs(root)) or root.real <= 0.0:
            continue
        v = root.real
        u = numerator(v) / denominator(v)
        if not u > 0.0:
            continue
        first = np.sqrt(b**2 / (1.0 + v**2 - 2.0 * v * cos_b))
        places = first * np.array([1.0, u, v])[:, None] * directions
        found.append(_kabsch(points, places))
    return found


def _kabsch(points: Array, places: Array) -> Array:
    middle, there = points.mean(axis=0), places.mean(axis=0)
    left, _, right = np.linalg.svd((places - there).T @ (points - middle))
    pose = np.eye(4)
    pose[:3, :3] = left @ np.diag([1.0, 1.0, np.linalg.det(left @ right)]) @ right
    pose[:3, 3] = there - pose[:3, :3] @ middle
    return pose


def joined_by_all_triples(seen: Seen, epsilon: float, least: int) -> set[tuple[int, int]]:
    """Pairs that at least so many poses of three matches bring to within epsilon together, with a fourth."""
    rays = np.column_stack((seen.pixels, np.ones(len(seen.pixels)))) @ np.linalg.inv(INTRINSICS).T
    rays /= np.linalg.norm(rays, axis=1, keepdims=True)
    times: dict[tuple[int, int], int] = {}
    for three in itertools.combinations(range(len(rays)), 3):
        for pose in poses_of_three(seen.points[list(three)], rays[list(three)]):
            ahead = (seen.points @ pose[:3, :3].T + pose[:3, 3])[:, 2] > 0.0
            near = np.linalg.norm(project(pose, seen.points) - seen.pixels, axis=1) < epsilon
            group = np.flatnonzero(ahead & near)
            if len(group) >= 4:
                for pair in itertools.combinations(group.tolist(), 2):
                    times[pair] = times.get(pair, 0) + 1
    return {pair for pair, count in times.items() if count >= least}
