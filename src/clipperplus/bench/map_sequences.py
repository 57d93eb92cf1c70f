"""Maps of sequences, compared with the poses that came with them."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ..clouds.cloud import as_cloud
from ..clouds.surfaces import Surface
from ..geometry import fit_transform
from ..geometry.poses import inverse, rotation_angles
from ..mapping import EdgeStatus, Map
from ..mapping.surfaces import FinePoints, aligned_by_icp
from .map_runs import Problem, built, checksum, shuffled_order, summary_of

__all__ = ["LIMITS", "of_sequence", "sequence"]

_Array: TypeAlias = npt.NDArray[np.float64]

LIMITS = {
    "handheld_lidar": (0.1, 1.0),
    "car_lidar": (0.1, 0.5),
    "depth_camera": (0.06, 3.0),
    "object_turntable": (0.001, 1.0),
    "courtyard_lidar": (0.4, 5.0),
}
"""Metres and degrees from the given poses within which a scan of a sequence is right."""
_LOOP_SCANS, _LOOP_METRES, _LOOPS = 0.25, 5.0, 40
"""Where a loop closes: scans with this share of a sequence, or more, between them, so near to each other; at most so
many pairs."""
_LOOP_VOXEL = 0.1
_FIT_VOXELS, _FIT_OVERLAP, _FITS = 0.5, 0.3, 300
"""Pairs by which the map and the given poses are compared: voxels of the map that their points have, the share that
they have in common at least, and how many there are at most."""


def sequence(path: Path) -> tuple[list[_Array], _Array]:
    """Return clouds of a sequence, in metres, and their poses."""
    with np.load(path, allow_pickle=False) as stored:
        unit = float(stored["unit"]) if "unit" in stored.files else 1e-3
        ends, points = stored["off"], stored["xyz_mm"]
        return [points[a:b] * unit for a, b in itertools.pairwise(ends)], np.asarray(stored["T"])


def _off(poses: _Array, truth: _Array, seen: _Array) -> tuple[_Array, _Array]:
    """Return by how many metres and degrees poses are off, laid on the truth as a whole, by what the scans see."""
    corners = np.concatenate((np.zeros((1, 3)), seen * np.concatenate((np.eye(3), -np.eye(3)))))
    here, there = (
        (np.einsum("nij,cj->nci", some[:, :3, :3], corners) + some[:, None, :3, 3]).reshape(-1, 3)
        for some in (poses, truth)
    )
    laid = np.asarray(fit_transform(here, there)) @ poses
    turns = np.degrees(rotation_angles(inverse(laid) @ truth))
    return np.linalg.norm(laid[:, :3, 3] - truth[:, :3, 3], axis=1), turns


def _moved(poses: _Array, truth: _Array, clouds: Sequence[_Array]) -> float:
    """Return by how many metres the points of a scan are off, root mean square, that of the worst scan."""
    some = [cloud[:: max(1, len(cloud) // 1000)] for cloud in clouds]
    here, there = (
        [points @ pose[:3, :3].T + pose[:3, 3] for points, pose in zip(some, which, strict=True)]
        for which in (poses, truth)
    )
    laid = np.asarray(fit_transform(np.concatenate(here), np.concatenate(there)))
    gaps = [a @ laid[:3, :3].T + laid[:3, 3] - b for a, b in zip(here, there, strict=True)]
    return max(float(np.sqrt((gap**2).sum(axis=1).mean())) for gap in gaps)


def of_sequence(path: Path) -> Problem:
    """Return the map of a sequence, compared with its poses."""

    def measure(threads: int) -> dict[str, object]:
        clouds, truth = sequence(path)
        found, poses, components, seconds = built(clouds, threads)
        order = shuffled_order(len(clouds))
        sure = np.zeros(len(clouds))
        sure[order] = found.confidence
        size = float(np.median([np.linalg.norm(cloud - cloud.mean(axis=0), axis=1).mean() for cloud in clouds]))
        within, shifts, turns, wrong, moved = 0, [0.0], [0.0], 0, 0.0
        limit = LIMITS.get(path.stem, (0.1, 1.0))
        for number, scans in enumerate(components):
            shift, turn = _off(poses[scans], truth[scans], np.array(size))
            moved = max(moved, _moved(poses[scans], truth[scans], [clouds[scan] for scan in scans]))
            good = (shift <= limit[0]) & (turn <= limit[1])
            within += int(good.sum()) if number == 0 else 0
            wrong += int((~good & (sure[scans] > 0.9)).sum())
            shifts, turns = [*shifts, float(shift.max())], [*turns, float(turn.max())]
        return {
            **summary_of(found, seconds),
            "located": f"{within / len(clouds):.3f}",
            "wrong": str(wrong),
            "worst_shift": f"{max(shifts):.4f}",
            "worst_turn": f"{max(turns):.2f}",
            "worst_points": f"{moved:.4f}",
            **_loops(path, clouds, poses, truth),
            **_fits(clouds, poses, truth, _pairs_of(found, order), found.voxel_size),
        }

    return Problem(path.stem, checksum(path.name, path.stat().st_size), measure)


def _pairs_of(found: Map, order: npt.NDArray[np.int64]) -> list[tuple[int, int]]:
    """Return pairs of scans that have much in common, evenly chosen."""
    believed = [edge for edge in found.edges if edge.status is EdgeStatus.BELIEVED]
    much = [edge for edge in believed if (edge.overlap or 0.0) >= _FIT_OVERLAP]
    pairs = sorted((int(order[edge.source]), int(order[edge.target])) for edge in much)
    return pairs[:: -(-len(pairs) // _FITS) or 1]


def _fits(
    clouds: Sequence[_Array], poses: _Array, truth: _Array, pairs: Sequence[tuple[int, int]], voxel_size: float
) -> dict[str, str]:
    """Return how far surfaces of two scans are apart, in the map and by the given poses, the median of pairs.

    The same points are compared: those that lie near the other scan either way.
    """
    width = _FIT_VOXELS * voxel_size
    surfaces = {
        k: FinePoints.of_cloud(as_cloud("cloud", clouds[k]), width, 4.5).surface()
        for k in {k for p in pairs for k in p}
    }
    gaps = []
    for a, b in pairs:
        motions = [(inverse(some[[b]]) @ some[[a]])[0] for some in (poses, truth)]
        both = [_gaps(surfaces[a], surfaces[b], motion) for motion in motions]
        near = np.isfinite(both).all(axis=0)
        if near.any():
            gaps.append([float(np.median(some[near])) for some in both])
    if not gaps:
        return {}
    found, given = np.array(gaps).T
    apart = {"gap": f"{1e3 * np.median(found):.3g}", "given_gap": f"{1e3 * np.median(given):.3g}"}
    return {**apart, "better": f"{(found < given).mean():.2f}"}


def _gaps(source: Surface, target: Surface, motion: _Array) -> _Array:
    """Return how far points of a scan are from the surface of another, along its normals; NaN where it is not near."""
    places = source.points @ motion[:3, :3].T + motion[:3, 3]
    found = target.surface.near(places)
    arms = places - target.points[found]
    near = (found >= 0) & (np.einsum("ij,ij->i", arms, arms) <= (3.0 * target.voxel_size) ** 2)
    return np.asarray(np.where(near, np.abs(np.einsum("ij,ij->i", arms, target.normals[found])), np.nan))


def _loops(path: Path, clouds: Sequence[_Array], poses: _Array, truth: _Array) -> dict[str, str]:
    """Return by how much scans are off where a loop closes, the median: by how much ICP moves them."""
    places, count = truth[:, :3, 3], len(clouds)
    near = np.linalg.norm(places[:, None] - places, axis=2) < _LOOP_METRES
    pairs = [(a, b) for a, b in np.argwhere(np.triu(near, int(_LOOP_SCANS * count))).tolist()]
    pairs = pairs[:: max(1, len(pairs) // _LOOPS)]
    if not path.stem.endswith("lidar") or not pairs:
        return {}
    surfaces = {
        k: FinePoints.of_cloud(as_cloud("cloud", clouds[k]), _LOOP_VOXEL, 3.0).surface() for pair in pairs for k in pair
    }
    result = {}
    for column, some in (("loop_shift", poses), ("given_loop_shift", truth)):
        shifts = []
        for a, b in pairs:
            if not np.isfinite(some[[a, b]]).all():
                continue
            motion = (inverse(some[[b]]) @ some[[a]])[0]
            aligned = aligned_by_icp(surfaces[a], surfaces[b], motion, reach=3.0, cosine=0.7, steps=20)
            shifts.append(float(np.linalg.norm(aligned[:3, 3] - motion[:3, 3])))
        result[column] = f"{np.median(shifts):.3f}" if shifts else ""
    return result
