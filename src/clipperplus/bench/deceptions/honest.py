"""Scans as users have them: right answers have to stay trusted, which is the price of not lying."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np

from ...synthetic import ScanPair, room_scans, street_scans
from .kind import LIDAR, ROOM, Deception, Kind
from .real import LIDARS, fragment_pair, sequence_pair

__all__ = ["KINDS", "room", "street"]

_SEEDS = 2**31


def room(random: np.random.Generator, data: Path | None) -> Deception:
    """Return two scans of a furnished room by a depth camera."""
    pair = room_scans(
        seed=int(random.integers(_SEEDS)),
        motion=random.uniform(0.3, 1.3),
        frames=int(random.integers(3, 6)),
        noise=random.uniform(0.0005, 0.0025),
        dropout=random.uniform(0.0, 0.05),
        resolution=int(random.integers(90, 130)),
    )
    return _of(pair)


def street(random: np.random.Generator, data: Path | None) -> Deception:
    """Return two scans of a street by a lidar on a car."""
    pair = street_scans(
        seed=int(random.integers(_SEEDS)),
        distance=random.uniform(2.0, 20.0),
        noise=random.uniform(0.01, 0.03),
        dropout=random.uniform(0.0, 0.05),
        resolution=int(random.integers(520, 800)),
    )
    return _of(pair)


def _of(pair: ScanPair) -> Deception:
    return Deception(pair.source, pair.target, pair.T_target_source)


KINDS = (
    Kind("rooms", "honest", room),
    Kind("streets", "honest", street, LIDAR),
    Kind("fragments", "honest", fragment_pair, needs_data=True),
    Kind("fragments, little overlap", "honest", partial(fragment_pair, benchmark="3DLoMatch"), needs_data=True),
    *(
        Kind(name.replace("_", " "), "honest", sequence_pair(name, *apart), LIDAR, needs_data=True)
        for name, apart in LIDARS.items()
    ),
    Kind("depth camera", "honest", sequence_pair("depth_camera", 0.2, 1.5, 35.0), ROOM, needs_data=True),
)
