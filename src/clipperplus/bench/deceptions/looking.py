"""Sensors that stand somewhere in a scene and look at it: from a scene to two clouds."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ...geometry.poses import inverse
from ...synthetic.ray_casting import Scene, Shape
from ...synthetic.rooms import T_BODY_CAMERA
from ...synthetic.scans import DepthCamera, Sensor, SpinningLidar, look, pose
from .kind import Array, Deception

__all__ = ["Place", "Rig", "camera_in_hand", "car_lidar", "look_twice", "places_in", "room_scanner", "some_rig"]


@dataclass(frozen=True)
class Place:
    """Where a sensor is, and where it looks."""

    position: tuple[float, float, float]
    yaw: float

    def shifted(self, x: float = 0.0, y: float = 0.0, z: float = 0.0) -> Place:
        """Return a place further on, with the same heading."""
        return Place((self.position[0] + x, self.position[1] + y, self.position[2] + z), self.yaw)


@dataclass(frozen=True)
class Rig:
    """A sensor and how it is moved while it measures."""

    sensor: Sensor
    track: Callable[[Place, np.random.Generator], list[Array]]
    """The poses of one scan from a place."""


def room_scanner(random: np.random.Generator, max_range: float = 30.0, steepest: float = 28.0) -> Rig:
    """Return a lidar that sees all around, and up and down by at least so many degrees, as scanners of rooms do."""
    beams, columns = int(random.choice([40, 64, 80])), int(random.integers(330, 560))
    low, high = -random.uniform(steepest, 60.0), random.uniform(steepest, 70.0)
    noise, dropout = random.uniform(0.003, 0.015), random.uniform(0.0, 0.05)
    lidar = SpinningLidar(
        columns, noise=noise, dropout=dropout, beams=beams, elevations=(low, high), max_range=max_range
    )
    return Rig(lidar, lambda place, chance: [_standing(place, chance)])


def car_lidar(random: np.random.Generator, max_range: float = 90.0) -> Rig:
    """Return a lidar on a car."""
    columns, noise = int(random.integers(520, 800)), random.uniform(0.01, 0.03)
    lidar = SpinningLidar(columns, noise=noise, dropout=random.uniform(0.0, 0.05), max_range=max_range)
    return Rig(lidar, lambda place, chance: [_standing(place, chance, sway=0.6)])


def camera_in_hand(random: np.random.Generator, *, turn: float = 110.0, noise: float = 0.0015) -> Rig:
    """Return a depth camera that is turned on the spot by about so many degrees."""
    frames, columns = int(random.integers(4, 7)), int(random.integers(90, 125))
    turn = math.radians(turn) * random.uniform(0.8, 1.2)
    camera = DepthCamera(columns, noise=noise * random.uniform(0.5, 1.5), dropout=random.uniform(0.0, 0.05))

    def track(place: Place, chance: np.random.Generator) -> list[Array]:
        pitch = chance.uniform(0.0, 0.35)
        return [
            _standing(Place(place.position, place.yaw + turn * share), chance, pitch=pitch) @ T_BODY_CAMERA
            for share in np.linspace(-0.5, 0.5, frames)
        ]

    return Rig(camera, track)


def some_rig(random: np.random.Generator, max_range: float = 30.0) -> Rig:
    """Return a scanner, mostly, or a camera that is turned nearly all around."""
    return room_scanner(random, max_range) if random.random() < 0.7 else camera_in_hand(random, turn=290.0)


def _standing(place: Place, random: np.random.Generator, *, pitch: float = 0.0, sway: float = 1.5) -> Array:
    """Return a pose at a place, level but for some degrees."""
    nod, lean = np.radians(random.normal(0.0, sway, 2))
    return pose(place.position, yaw=place.yaw, pitch=pitch + nod, roll=lean)


def places_in(
    random: np.random.Generator, low: tuple[float, float, float], high: tuple[float, float, float]
) -> tuple[Place, Place]:
    """Return two places in a box, with any headings."""
    first, second = (
        Place(tuple(random.uniform(low, high).tolist()), random.uniform(-math.pi, math.pi)) for _ in range(2)
    )
    return first, second


def look_twice(
    random: np.random.Generator,
    rig: Rig,
    places: tuple[Place, Place],
    shapes: Sequence[Shape],
    changed: Sequence[Shape] | None = None,
) -> Deception:
    """Look at shapes from two places; None: what the second look sees has not changed."""
    first, second = (rig.track(place, random) for place in places)
    scene = Scene(shapes)
    source, _ = look(scene, rig.sensor, first, random)
    target, _ = look(scene if changed is None else Scene(changed), rig.sensor, second, random)
    return Deception(source, target, inverse(second[0]) @ first[0])
