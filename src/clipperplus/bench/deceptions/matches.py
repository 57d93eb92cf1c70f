"""Matched points that no motion explains, for ``solve``."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

from .kind import Deception, Kind, random_motion

__all__ = ["KINDS"]


def _in_order(count: int) -> npt.NDArray[np.int64]:
    return np.repeat(np.arange(count)[:, None], 2, axis=1)


def _chance(random: np.random.Generator, data: Path | None) -> Deception:
    """Return random matches: 20 in a cube of 10 m with an epsilon of 0.3 m, or other numbers."""
    count, epsilon = (
        (20, 0.3) if random.random() < 0.4 else (int(random.choice([10, 50, 200, 1000])), random.uniform(0.05, 0.6))
    )
    source, target = random.uniform(0.0, 10.0, (2, count, 3))
    return Deception(source, target, None, _in_order(count), {"epsilon": epsilon})


def _reflected(random: np.random.Generator, data: Path | None) -> Deception:
    """Return points matched to their mirror images, some of them wrongly: all distances agree."""
    count, epsilon = int(random.choice([10, 30, 100, 400])), random.uniform(0.05, 0.3)
    source = random.uniform(0.0, 10.0, (count, 3))
    target = source * (-1.0, 1.0, 1.0) + random.normal(0.0, epsilon / 6.0, source.shape)
    wrong = random.random(count) < random.choice([0.0, 0.5])
    target[wrong] = random.uniform(0.0, 10.0, (int(wrong.sum()), 3))
    return Deception(source, target, None, _in_order(count), {"epsilon": epsilon})


def _scaled(random: np.random.Generator, data: Path | None) -> Deception:
    """Return points matched to enlarged ones; epsilon is so small that the enlargement shows within 2 m."""
    count, scale = int(random.choice([20, 100, 400])), float(random.choice([1.05, 1.1, 1.2, 0.9]))
    epsilon = abs(scale - 1.0) * random.uniform(0.5, 2.0)
    source = random.uniform(0.0, 10.0, (count, 3))
    target = scale * source + random.normal(0.0, epsilon / 6.0, source.shape)
    return Deception(source, target, None, _in_order(count), {"epsilon": epsilon})


def _mostly_wrong(random: np.random.Generator, data: Path | None) -> Deception:
    """Return points of which a fifth follow a motion, as features give them."""
    count, epsilon = int(random.choice([60, 200, 600])), 0.1
    source, motion = random.uniform(0.0, 10.0, (count, 3)), random_motion(random)
    target = source @ motion[:3, :3].T + motion[:3, 3] + random.normal(0.0, epsilon / 5.0, source.shape)
    wrong = random.random(count) < 0.8
    target[wrong] = random.uniform(target.min(axis=0), target.max(axis=0), (int(wrong.sum()), 3))
    return Deception(source, target, motion, _in_order(count), {"epsilon": epsilon})


KINDS = (
    Kind("chance matches", "decidable", _chance),
    Kind("reflected matches", "decidable", _reflected),
    Kind("scaled matches", "decidable", _scaled),
    Kind("matches", "honest", _mostly_wrong),
)
