"""What pictures of a map have in common: which points stand for a scan, its colour, and from where to look."""

from __future__ import annotations

import colorsys
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..clouds.cloud import as_cloud
from ..clouds.normals import estimate_normals
from ..clouds.voxels import voxel_means
from ..geometry.transforms import apply_transform
from ..mapping.map import Edge, EdgeStatus, Map
from . import palette
from .framing import UP, Frame, frame_of, level_frame, likely_up, middle_and_size

__all__ = ["EDGE_COLOURS", "Shown", "edges_within", "frame_of_component", "headline", "scan_colours", "show_scans"]

_Array = npt.NDArray[np.float64]

EDGE_COLOURS = {
    EdgeStatus.BELIEVED: palette.INLIER,
    EdgeStatus.REFUSED: palette.OUTLIER,
    EdgeStatus.DOUBTED: palette.EDGE,
}
_COLOURS = 21
"""More than that cannot be told apart."""
_GOLDEN = (np.sqrt(5.0) - 1.0) / 2.0
"""Of a turn: hues that are so far apart differ, however many there are."""
_LIGHTNESS = (0.45, 0.6, 0.52)
_MOST_LOOKED_AT = 12
"""Scans by which it is judged what is up."""
_AGREE = 0.5
"""Length that the mean of the scans' own directions up has at least, if they say anything."""


class Shown(NamedTuple):
    """The part of a scan that a picture shows, in the frame of the scan."""

    points: _Array
    middle: _Array
    place: _Array
    """Where the scan is marked: the sensor, as far as that is known."""


def scan_colours(count: int) -> list[str]:
    """Return a colour for each scan, those of neighbours far apart, which are used again where there are many scans."""
    colours = []
    for number in range(min(count, _COLOURS)):
        hue, light = (0.58 + number * _GOLDEN) % 1.0, _LIGHTNESS[number % len(_LIGHTNESS)]
        parts = colorsys.hls_to_rgb(hue, light, 0.6)
        colours.append("#" + "".join(f"{round(255 * part):02x}" for part in parts))
    return [colours[number % _COLOURS] for number in range(count)]


def show_scans(map: Map, most: int) -> list[Shown]:
    """Return what to show of all scans, so many points of each at most, spread evenly over its surfaces.

    They are shuffled: the first of them are fewer points of the same.
    """
    shown = []
    for scan, viewpoint in zip(map.scans, map.viewpoints, strict=True):
        cloud = as_cloud("scan", scan)
        points = voxel_means(cloud, 0.5 * map.voxel_size, 1)[0] if len(cloud.points) else np.empty((0, 3))
        points = np.random.default_rng(0).permutation(points)[:most]
        middle, size = middle_and_size(points)
        place = viewpoint if np.isfinite(viewpoint).all() else np.zeros(3)
        if np.linalg.norm(place - middle) > 2.0 * np.linalg.norm(size):
            place = middle  # the origin of these coordinates is no place of the scene
        shown.append(Shown(points, middle, place))
    return shown


def frame_of_component(map: Map, scans: npt.NDArray[np.int64], shown: list[Shown]) -> Frame:
    """Return how to hold a component: most of its scans know what is up, floors are level and walls straight."""
    ups, points, normals = [], [], []
    for scan in scans[:: max(1, len(scans) // _MOST_LOOKED_AT)].tolist():
        some, pose = shown[scan].points, map.poses[scan]
        ups.append(pose[:3, :3] @ UP[likely_up(some)])
        points.append(apply_transform(pose, some))
        normals.append(estimate_normals(some, radius=2.0 * map.voxel_size) @ pose[:3, :3].T)
    up = np.mean(ups, axis=0)
    everything = np.concatenate(points)
    if np.linalg.norm(up) < _AGREE:
        return frame_of(everything)
    return level_frame(everything, np.concatenate(normals), up / np.linalg.norm(up))


def edges_within(map: Map, scans: npt.NDArray[np.int64], status: EdgeStatus) -> list[Edge]:
    """Return the pairs of one status of which both scans belong to a component."""
    inside = set(scans.tolist())
    return [edge for edge in map.edges if edge.status is status and {edge.source, edge.target} <= inside]


def headline(map: Map) -> str:
    """Return in one line what became of the scans."""
    total, left_out = len(map.names), len(map.left_out)
    parts = len(map.components)
    placed = f"{total - left_out} of {total} scans placed" if left_out else f"all {total} scans placed"
    if not parts:
        return f"none of {total} scans placed"
    together = "" if parts == 1 else f", in {parts} components"
    return f"{placed}{together}" + (f", {left_out} left out" if left_out else "")
