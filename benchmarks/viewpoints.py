"""Where sensors stood, as judged from their clouds: how the weights in ``clouds/viewpoints.py`` were found.

Scans of real and simulated sensors, whose places are known, are looked at from there and from other places. A logistic
model tells them apart; how well is measured on the sensor that it has not seen. Then clouds are moved, and it is
measured how far what is found is from the true place.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
import numpy.typing as npt
from common import argument_parser, scans_of, write_report
from logistic import fit, probability
from registration import random_motion, scenes_of

import clipperplus as cp
from clipperplus.bench.tables import markdown_table
from clipperplus.clouds.cloud import as_cloud
from clipperplus.clouds.neighbourhoods import find_neighbourhoods
from clipperplus.clouds.normals import normals_within
from clipperplus.clouds.prepared import viewed_surface
from clipperplus.clouds.viewpoints import TOLD, WEIGHTS, box_of, references_of, view_terms
from clipperplus.clouds.voxels import voxel_means
from clipperplus.synthetic import room_scans, street_scans

Array = npt.NDArray[np.float64]
Thing = TypeVar("Thing")

SEQUENCES = ("car_lidar", "courtyard_lidar", "depth_camera", "handheld_lidar")
CLOUDS = 12
"""Of each sensor, and of each scene of fragments."""
PLACES = 20
"""Other places that each is looked at from."""
NEIGHBOURS, NORMALS = 5.0, 2.0
"""Voxels: the neighbourhoods of ``prepare``."""
NAMES = ("constant", "torn", "thins", "thinning")


@dataclass(frozen=True, eq=False)
class Judged:
    """A cloud, its sensor at the origin."""

    sensor: str
    terms: Array
    """``(k, 4)``: a one, and the terms of each place; the first is the true one."""
    source: str
    """What is taken for its place where it was moved: "found", or wrongly the "origin"."""
    offset: float
    """Distance of that place from the true one, as a share of the size of the cloud."""


def clouds(data: Path) -> Iterator[tuple[str, Array]]:
    """Yield clouds in the frames of their sensors, each with the name of its sensor."""
    for _, scene in scenes_of(data, "3DMatch").values():
        for number in some(sorted(scene.numbers())):
            yield "3DMatch fragments", scene.points(number)
    for name in SEQUENCES:
        for cloud in some(scans_of(data, name).clouds):
            yield name, cloud
    for seed in range(CLOUDS):
        yield "simulated rooms", room_scans(seed=seed).source
        yield "simulated streets", street_scans(seed=seed).source


def some(things: list[Thing]) -> list[Thing]:
    """Return a few, evenly chosen."""
    return things[:: max(1, len(things) // CLOUDS)]


def judge(sensor: str, points: Array, random: np.random.Generator) -> Judged:
    """Look at a cloud from its sensor and from elsewhere, and for its sensor where it was moved."""
    voxel_size = cp.choose_voxel_size(points)
    means, counts = voxel_means(as_cloud("points", points), voxel_size, 1)
    neighbours = find_neighbourhoods(means, NEIGHBOURS * voxel_size, 1, "")
    normals, _ = normals_within(NORMALS * voxel_size, neighbours, means.mean(axis=0), 1)
    surface = viewed_surface(neighbours, normals, counts, voxel_size)
    views = surface.look_from(np.concatenate((np.zeros((1, 3)), elsewhere(means, random))), False, 1)
    low, high = box_of(means)
    terms = np.insert(view_terms(views, references_of(surface, low, high, 1)), 0, 1.0, axis=1)
    size = np.linalg.norm(high - low)
    motion = random_motion(random)
    motion[:3, 3] *= 0.2 * size  # by up to its size
    found = cp.prepare(cp.apply_transform(motion, points), voxel_size=voxel_size).viewpoint
    return Judged(sensor, terms, found.source, float(np.linalg.norm(found.place - motion[:3, 3]) / size))


def elsewhere(points: Array, random: np.random.Generator) -> Array:
    """Return places where the sensor was not: where the origin of another frame may be, near the cloud and far."""
    low, high = np.quantile(points, (0.05, 0.95), axis=0)
    middle, size = 0.5 * (low + high), float(np.linalg.norm(high - low))
    reaches = np.repeat((0.3, 0.7, 1.5, 1e4), PLACES // 4)
    return np.asarray(middle + size * reaches[:, None] * random.uniform(-1.0, 1.0, (len(reaches), 3)))


def area(chances: Array, right: Array) -> float:
    """Return the chance that a true place is judged better than another one: the area under the curve."""
    ranks = np.argsort(np.argsort(chances))
    true = int(right.sum())
    return float((ranks[right == 1.0].sum() - true * (true - 1) / 2) / (true * (len(right) - true)))


def together(judged: list[Judged]) -> tuple[Array, Array]:
    """Return the terms of all places, and which of them are true."""
    right = np.concatenate([np.arange(len(one.terms)) == 0 for one in judged]).astype(np.float64)
    return np.concatenate([one.terms for one in judged]), right


def fit_evenly(terms: Array, right: Array) -> Array:
    """Return the weights that fit best if there were as many true places as others."""
    weights = fit(terms, right)
    weights[0] += np.log(PLACES)
    return weights


def shares(terms: Array, right: Array, weights: Array) -> tuple[str, str, str]:
    """Return the area, and how many of the true and of the other places are believed."""
    chances = probability(terms, weights)
    believed = (float((chances[right == kind] >= 0.5).mean()) for kind in (1.0, 0.0))
    true, other = believed
    return f"{area(chances, right):.3f}", f"{true:.2f}", f"{other:.3f}"


def by_sensor(judged: list[Judged]) -> str:
    """Return how well places are told apart for each sensor, with the weights as shipped and fitted to the others."""
    rows = []
    for sensor in dict.fromkeys(one.sensor for one in judged):
        mine = together([one for one in judged if one.sensor == sensor])
        others = together([one for one in judged if one.sensor != sensor])
        count = sum(one.sensor == sensor for one in judged)
        rows.append((sensor, count, *shares(*mine, fit_evenly(*others)), *shares(*mine, np.array(WEIGHTS))))
    kinds = ("area", "true believed", "others believed")
    titles = ("sensor", "clouds", *(f"{kind}, unseen" for kind in kinds), *(f"{kind}, shipped" for kind in kinds))
    return markdown_table(titles, rows)


def flatness(judged: list[Judged]) -> str:
    """Return what becomes of it with other weights."""
    terms, right = together(judged)
    shipped = np.array(WEIGHTS)
    rows = [
        ("as fitted to all", *shares(terms, right, fit_evenly(terms, right))),
        ("shipped", *shares(terms, right, shipped)),
    ]
    for number, name in enumerate(NAMES):
        for factor in (0.5, 0.75, 1.5, 2.0):
            weights = np.where(np.arange(len(NAMES)) == number, factor * shipped, shipped)
            rows.append((f"{name} × {factor:g}", *shares(terms, right, weights)))
    for bonus in (0.0, 0.75, TOLD, 2.0, 3.0):
        weights = shipped + np.array([bonus, 0.0, 0.0, 0.0])
        rows.append((f"told, + {bonus:g}", *shares(terms, right, weights)))
    return markdown_table(("weights", "area", "true believed", "others believed"), rows)


def distances(judged: list[Judged]) -> str:
    """Return how far what is found is from the true place."""
    rows = []
    for sensor in dict.fromkeys(one.sensor for one in judged):
        mine = [one for one in judged if one.sensor == sensor]
        quartiles = np.quantile([one.offset for one in mine], (0.25, 0.5, 0.75, 0.9))
        searched = sum(one.source == "found" for one in mine)
        rows.append((sensor, len(mine), searched, *(f"{offset:.2f}" for offset in quartiles)))
    return markdown_table(
        ("sensor", "clouds", "looked for", "a quarter within", "half", "three quarters", "90 %"), rows
    )


def main() -> None:
    """Look, fit, tell."""
    options, _ = argument_parser(__doc__ or "").parse_known_args()
    random = np.random.default_rng(0)
    judged = [judge(sensor, points, random) for sensor, points in clouds(options.data)]
    fitted, shipped = (", ".join(f"{weight:.1f}" for weight in of) for of in (fit_evenly(*together(judged)), WEIGHTS))
    body = f"""The logit of a place is linear in a constant, in how much less is torn, in whether the cloud thins out,
and in how much more it does from there. Fitted to all: {fitted}. Shipped: {shipped}.

## True places among others, by sensor

Each cloud is looked at from its sensor and from {PLACES} other places. Area: the chance that the true one is judged
better. Believed: judged to be at least as likely as not. Unseen: with weights that were fitted without this sensor, as
if there were as many true places as others.

{by_sensor(judged)}
## How flat it is

All places, with each weight changed alone; and with a bonus, as a place has that is told.

{flatness(judged)}
## Clouds in other frames

Each cloud is moved at random and nothing is told. Distances of the place that is taken from the true one, as shares of
the diagonal of the cloud.

{distances(judged)}"""
    write_report("viewpoints", "Viewpoints", "python benchmarks/viewpoints.py --data DIR", body)


if __name__ == "__main__":
    main()
