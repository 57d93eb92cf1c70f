"""Scans that were tampered with: noise, another scale, a mirror, another place. No wrong answer may be trusted."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from .honest import room, street
from .kind import LIDAR, ROOM, Array, Deception, Kind, Recipe
from .real import LIDARS, fragment_pair, other_fragments, other_sequences, sequence_pair

__all__ = ["KINDS", "mirrored"]

_SCALES = (1.05, 1.1, 1.2, 0.9)


def _noise(random: np.random.Generator, data: Path | None) -> Deception:
    size = random.uniform(0.3, 1.0, 3) * random.choice([1.0, 5.0, 20.0])
    count = int(random.choice([20_000, 20_000, 5_000, 10_000, 40_000]))
    source, target = random.uniform(-0.5, 0.5, (2, count, 3)) * size
    return Deception(source, target, None)


def _in_noise(scan: Recipe) -> Recipe:
    """Return what hides scans among random points in the box around them, up to 60 % of all."""

    def make(random: np.random.Generator, data: Path | None) -> Deception:
        made, ratio = scan(random, data), float(random.choice([0.6, 1.0, 1.5]))
        return replace(made, source=_crowded(random, made.source, ratio), target=_crowded(random, made.target, ratio))

    return make


def _crowded(random: np.random.Generator, points: Array, ratio: float) -> Array:
    """Return points with so many times as many random ones in the box around most of them."""
    low, high = np.percentile(points, (1.0, 99.0), axis=0)
    return np.concatenate((points, random.uniform(low, high, (round(ratio * len(points)), 3))))


def _scaled(scan: Recipe) -> Recipe:
    """Return what makes the source larger or smaller."""

    def make(random: np.random.Generator, data: Path | None) -> Deception:
        made = scan(random, data)
        return replace(made, source=made.source * float(random.choice(_SCALES)), truth=None)

    return make


def mirrored(points: Array) -> Array:
    """Return points as a mirror shows them, left and right exchanged: in scans, x or y is not up."""
    return points * (-1.0, 1.0, 1.0)


def _mirrored(scan: Recipe) -> Recipe:
    """Return what mirrors the source, or takes the mirrored target for it: the sensor has not moved then."""

    def make(random: np.random.Generator, data: Path | None) -> Deception:
        made = scan(random, data)
        still = random.random() < 0.5
        return replace(made, source=mirrored(made.target if still else made.source), truth=None)

    return make


def _elsewhere(scan: Recipe) -> Recipe:
    """Return what takes source and target from two places."""

    def make(random: np.random.Generator, data: Path | None) -> Deception:
        return replace(scan(random, data), target=scan(random, data).target, truth=None)

    return make


def _blind(scan: Recipe) -> Recipe:
    """Return what leaves out free space."""

    def make(random: np.random.Generator, data: Path | None) -> Deception:
        made = scan(random, data)
        return replace(made, options={**made.options, "free_space": False})

    return make


def _kind(name: str, recipe: Recipe, tolerance: tuple[float, float] = ROOM, *, needs_data: bool = False) -> Kind:
    return Kind(name, "decidable", recipe, tolerance, needs_data)


_CAR = sequence_pair("car_lidar", *LIDARS["car_lidar"])

KINDS = (
    _kind("noise", _noise),
    _kind("room in noise", _in_noise(room)),
    _kind("street in noise", _in_noise(street), LIDAR),
    _kind("fragment in noise", _in_noise(fragment_pair), needs_data=True),
    _kind("scaled room", _scaled(room)),
    _kind("scaled street", _scaled(street), LIDAR),
    _kind("scaled fragment", _scaled(fragment_pair), needs_data=True),
    _kind("scaled car lidar", _scaled(_CAR), LIDAR, needs_data=True),
    _kind("mirrored room", _mirrored(room)),
    _kind("mirrored street", _mirrored(street), LIDAR),
    _kind("mirrored fragment", _mirrored(fragment_pair), needs_data=True),
    _kind("mirrored car lidar", _mirrored(_CAR), LIDAR, needs_data=True),
    _kind("other room", _elsewhere(room)),
    _kind("other room, no free space", _blind(_elsewhere(room))),
    _kind("other street", _elsewhere(street), LIDAR),
    _kind("other street, no free space", _blind(_elsewhere(street)), LIDAR),
    _kind("other fragment", other_fragments, needs_data=True),
    _kind("other fragment, no free space", _blind(other_fragments), needs_data=True),
    _kind("other lidar", other_sequences, LIDAR, needs_data=True),
)
