"""Simulated scans that several tests register, made once."""

from __future__ import annotations

import functools

import numpy as np
import numpy.typing as npt

import clipperplus as cp
from clipperplus.synthetic.scans import ScanPair

Array = npt.NDArray[np.float64]


@functools.cache
def room(seed: int = 0) -> ScanPair:
    return cp.synthetic.room_scans(seed=seed, resolution=64, frames=2)


@functools.cache
def street() -> ScanPair:
    return cp.synthetic.street_scans(resolution=300)


@functools.cache
def registered_room() -> cp.Pose:
    return cp.register(room().source, room().target)
