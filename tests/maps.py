"""Maps made by hand, of simulated rooms with known poses: two components, scans left out, pairs of every status."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from clipperplus._timing import Stage
from clipperplus.geometry.poses import inverse
from clipperplus.mapping.map import Edge, EdgeStatus, Map, ScanStatus
from clipperplus.synthetic.ray_casting import Scene
from clipperplus.synthetic.rooms import T_BODY_CAMERA, room
from clipperplus.synthetic.scans import DepthCamera, look, pose

Array = npt.NDArray[np.float64]

SIZE = np.array([6.5, 5.2, 2.6])
"""Of both rooms, in metres."""
EVIL = '</script><script>alert("x")</script><!-- <img src=x onerror=alert(1)> &lt;b&gt; \u2028 \udc80 {{data}}'
"""The name of a file that would break a page which takes it as it is."""


@functools.cache
def two_rooms() -> Map:
    """Six scans of one room, three of another, one that fits nowhere and one without points."""
    ring = [(3.2 - 1.2 * np.cos(yaw), 2.6 - 0.9 * np.sin(yaw), yaw) for yaw in np.radians(range(0, 360, 60))]
    first, their_poses = _look_around(1, ring)
    second, other_poses = _look_around(2, [(2.0 + 0.6 * k, 1.0, np.radians(70 + 25 * k)) for k in range(3)])
    alone, _ = _look_around(3, [(3.0, 1.0, np.radians(90))])
    poses = np.concatenate((inverse(their_poses[:1]) @ their_poses, inverse(other_poses[:1]) @ other_poses))
    scans = [*first, *second, *alone, np.empty((0, 3))]
    names = [f"hall/{k}.ply" for k in range(6)] + [f"kitchen/{k}.ply" for k in range(3)] + ["attic.ply", "empty.ply"]
    around = [(k, k + 1) for k in range(5)]
    edges = [_edge(poses, *pair) for pair in [*around, (6, 7), (7, 8)]]
    edges.append(_edge(poses, 0, 5, origin="seen", confidence=0.93, overlap=0.31, shift=0.004))
    edges.append(_edge(poses, 6, 8, origin="alternative", confidence=0.61, overlap=0.44, shift=0.021))
    wrong = pose((1.0, 0.5, 0.0), yaw=2.0)
    refused = "it would move the scan by 1.9 m from where four others have it"
    doubted = "the confidence is 0.08, and no other pair confirms it"
    edges += [
        _edge(poses, 1, 4, wrong, EdgeStatus.REFUSED, reason=refused, confidence=0.71, overlap=0.28, shift=1.9),
        _edge(poses, 2, 7, wrong, EdgeStatus.REFUSED, reason=refused, confidence=0.55, overlap=0.22, shift=None),
        _edge(poses, 0, 9, wrong, EdgeStatus.DOUBTED, reason=doubted, confidence=0.08, overlap=0.12, shift=None),
        Edge(5, 9, EdgeStatus.DOUBTED, "no transform was found", "registered", 0.0),
    ]
    return made(names, scans, poses, [np.arange(6), np.arange(6, 9)], edges)


def made(
    names: Sequence[str], scans: Sequence[Array], poses: Array, components: Sequence[Any], edges: Sequence[Edge]
) -> Map:
    """Return a map in which the first scans are placed and the others left out."""
    count, placed = len(scans), len(poses)
    everywhere = np.full((count, 4, 4), np.nan)
    everywhere[:placed] = poses
    covariances = np.full((count, 6, 6), np.nan)
    for k in range(placed):
        covariances[k] = np.diag([(0.001 * k) ** 2] * 3 + [(0.004 * k) ** 2] * 3)
    confidence = np.where(np.arange(count) < placed, 0.99 - 0.01 * np.arange(count) / count, 0.0)
    status = [ScanStatus.PLACED] * placed
    status += [ScanStatus.ALONE if len(points) else ScanStatus.EMPTY for points in scans[placed:]]
    why = {
        ScanStatus.PLACED: "",
        ScanStatus.ALONE: "none of its 4 pairs is likely: the best has a confidence of 0.08",
        ScanStatus.EMPTY: "it has 0 voxels, and 50 are needed",
    }
    return Map(
        names=tuple(names),
        poses=everywhere,
        components=tuple(np.asarray(component) for component in components),
        status=tuple(status),
        reasons=tuple(why[entry] for entry in status),
        confidence=confidence,
        covariances=covariances,
        edges=tuple(edges),
        voxel_size=0.1,
        prior=0.12,
        proven=True,
        stages=(Stage("prepare", 1.25, count), Stage("register pairs", 4.5, len(edges)), Stage("settle", 0.75)),
        seconds=6.75,
        scans=tuple(scans),
        viewpoints=np.full((count, 3), np.nan),
    )


def nothing_fits() -> Map:
    """Two scans that were both left out, and no component."""
    edges = [Edge(0, 1, EdgeStatus.DOUBTED, "no transform was found", "registered", 0.0)]
    return made(["a.ply", "b.ply"], list(two_rooms().scans[8:10]), np.empty((0, 4, 4)), [], edges)


def many_scans(count: int, pairs: int) -> Map:
    """Return a map of boxes along a line, larger than life: only its size matters."""
    random = np.random.default_rng(0)
    scans = [random.uniform((-3.0, -2.0, 0.0), (3.0, 2.0, 2.5), (5000, 3)) for _ in range(count)]
    poses = np.array([pose((1.5 * k, 0.0, 0.0), yaw=0.1 * k) for k in range(count)])
    edges, ways = [], list(itertools.combinations(range(count), 2))
    for number in random.permutation(len(ways))[:pairs].tolist():
        source, target = ways[number]
        status = list(EdgeStatus)[len(edges) % 3]
        edges.append(_edge(poses, source, target, np.eye(4), status, reason=f"{random.random():.12f} of a reason " * 3))
    return made(
        [f"a/rather/long/name/of/a/file_{k:04d}.ply" for k in range(count)], scans, poses, [range(count)], edges
    )


def _edge(
    poses: Array,
    source: int,
    target: int,
    off: Array | None = None,
    status: EdgeStatus = EdgeStatus.BELIEVED,
    **about: Any,
) -> Edge:
    """Return the true motion between two scans, or one that is off by a motion."""
    usual = {"reason": "two other ways around agree", "origin": "registered", "confidence": 0.97}
    usual |= {"overlap": 0.52, "shift": 0.003}
    motion = np.eye(4) if max(source, target) >= len(poses) else (inverse(poses[[target]]) @ poses[[source]])[0]
    motion = motion if off is None else off @ motion
    return Edge(
        source=source,
        target=target,
        status=status,
        T_target_source=motion,
        covariance=1e-5 * np.eye(6),
        **(usual | about),
    )


def _look_around(seed: int, places: Sequence[tuple[float, float, float]]) -> tuple[list[Array], Array]:
    """Return what a camera sees in a furnished room from some places, and where it was."""
    random = np.random.default_rng(seed)
    scene = Scene(room(random, SIZE, [np.array([x, y, 1.4]) for x, y, _ in places]))
    camera = DepthCamera(48, noise=0.0015, dropout=0.02)
    poses = np.array([pose((x, y, 1.4), yaw=yaw, pitch=0.2) @ T_BODY_CAMERA for x, y, yaw in places])
    return [look(scene, camera, [where], random)[0] for where in poses], poses
