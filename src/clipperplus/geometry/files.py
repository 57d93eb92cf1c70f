"""Poses from and to files: logs of pairs of fragments, trajectories, single transforms.

=======================================  ============================================================================
``read_log``, ``write_log``              3DMatch and Redwood ``gt.log``: ``i j fragments``, 4 × 4 that maps j into i
``read_info``                            their ``gt.info``: ``i j fragments``, 6 × 6 information matrix
``read_tum``, ``write_tum``              TUM: ``timestamp tx ty tz qx qy qz qw``
``read_kitti``, ``write_kitti``          KITTI: the upper three rows of a 4 × 4 in one line
``read_transform``, ``write_transform``  one 4 × 4
``read_poses``                           TUM, KITTI, or 4 × 4 below each other: which one follows from the file
=======================================  ============================================================================

Matrices are written so that they come back as they were, bit by bit. Empty lines and lines that begin with ``#`` are
left out; files whose name ends with ``.gz`` are unpacked and packed. Rotations may be off by
:data:`clipperplus.geometry.poses.FILE_ROUNDING`, as published truths are; they are kept as they are, because errors
against them are to compare with published ones. Quaternions, which lose digits in most files, are scaled to length 1.

Every reader takes ``size_limit``: bytes that what is read may take; by default more than 256 MiB and 100 times the size
of the file are refused with :class:`clipperplus.MemoryLimitError`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from .._paths import as_path, read_file, write_bytes
from .._validation import as_array, as_integer
from ..errors import FileFormatError, LandmarkError
from ._headings import check_order_of_quaternions
from ._lines import check, lines_of, read_lines, render, table
from .poses import (
    FILE_ROUNDING,
    Poses,
    are_information,
    are_rigid,
    as_poses,
    as_similarity,
    from_quaternions,
    to_quaternions,
    unscaled,
)

__all__ = [
    "PairInformation",
    "PairPoses",
    "Trajectory",
    "read_info",
    "read_kitti",
    "read_log",
    "read_poses",
    "read_transform",
    "read_tum",
    "write_kitti",
    "write_log",
    "write_transform",
    "write_tum",
]

_Name: TypeAlias = "str | os.PathLike[str]"
_LARGEST = 2**31 - 1


@dataclass(frozen=True, eq=False)
class PairPoses:
    """Poses of pairs of fragments, as in ``gt.log``."""

    pairs: npt.NDArray[np.int64]
    """``(m, 2)``: fragments i and j."""
    poses: Poses
    """``(m, 4, 4)``: they map fragment j into the frame of i."""
    num_fragments: int
    """Of the scene; the largest number where the pairs disagree, 0 without pairs."""


@dataclass(frozen=True, eq=False)
class PairInformation:
    """Information matrices of pairs of fragments, as in ``gt.info``."""

    pairs: npt.NDArray[np.int64]
    """``(m, 2)``: fragments i and j."""
    matrices: npt.NDArray[np.float64]
    """``(m, 6, 6)``: translation first, rotation second. Zero where nothing is known of a pair, as it is of one of
    3DLoMatch."""
    num_fragments: int
    """Of the scene; the largest number where the pairs disagree, 0 without pairs."""


@dataclass(frozen=True, eq=False)
class Trajectory:
    """Poses in the course of time."""

    timestamps: npt.NDArray[np.float64]
    """``(k,)``, seconds."""
    poses: Poses
    """``(k, 4, 4)``."""


def read_log(path: _Name, *, size_limit: int | None = None) -> PairPoses:
    """Read the poses of pairs of fragments."""
    path = as_path(path)
    pairs, poses, starts, fragments = _read_pairs(path, 4, size_limit)
    _check_rigid(path, poses, starts)
    return PairPoses(pairs, poses, fragments)


def read_info(path: _Name, *, size_limit: int | None = None) -> PairInformation:
    """Read the information matrices of pairs of fragments; they may be zero."""
    path = as_path(path)
    pairs, matrices, starts, fragments = _read_pairs(path, 6, size_limit)
    check(path, are_information(matrices), starts, "a symmetric information matrix without negative eigenvalues")
    return PairInformation(pairs, matrices, fragments)


def write_log(path: _Name, log: PairPoses) -> None:
    """Write the poses of pairs of fragments."""
    path = as_path(path)
    if not isinstance(log, PairPoses):
        raise LandmarkError(f"log: expected a clipperplus.io.poses.PairPoses, got {type(log).__name__}")
    poses = as_poses("log.poses", log.poses, FILE_ROUNDING)
    pairs = as_array("log.pairs", log.pairs, LandmarkError)
    if pairs.size == 0:
        pairs = np.empty((0, 2), dtype=np.int64)
    if pairs.shape != (len(poses), 2) or pairs.dtype.kind not in "iu":
        raise LandmarkError(
            f"log.pairs: expected integers of shape {(len(poses), 2)}, got {pairs.dtype} of shape {pairs.shape}"
        )
    if pairs.min(initial=0) < 0:
        raise LandmarkError(f"log.pairs: expected numbers of fragments from 0 on, got {pairs.min()}")
    least = int(pairs.max(initial=-1)) + 1
    fragments = as_integer("log.num_fragments", log.num_fragments, least, _LARGEST, LandmarkError)
    rows: list[Iterable[Any]] = []
    for (i, j), pose in zip(pairs.tolist(), poses.tolist(), strict=True):
        rows += [(i, j, fragments), *pose]
    write_bytes(path, render(rows, "\t"))  # readers of this format split at tabs


def read_tum(path: _Name, *, size_limit: int | None = None) -> Trajectory:
    """Read a trajectory with timestamps and quaternions; a comment that names them in another order is refused."""
    path = as_path(path)
    content = read_file(path, size_limit)
    lines = lines_of(content)
    check_order_of_quaternions(path, content.data)
    rows = table(path, lines, 8)
    numbers = [number for number, _ in lines]
    with np.errstate(all="ignore"):
        squares = (rows[:, 4:] ** 2).sum(axis=1)
        sound = np.isfinite(rows).all(axis=1) & (np.abs(squares - 1.0) < FILE_ROUNDING)
    check(path, sound, numbers, "finite numbers and a quaternion of length 1")
    return Trajectory(rows[:, 0].copy(), from_quaternions(rows[:, 4:], rows[:, 1:4]))


def write_tum(path: _Name, trajectory: Trajectory) -> None:
    """Write a trajectory with timestamps and quaternions, whose rotations are those of the poses but for rounding."""
    path = as_path(path)
    if not isinstance(trajectory, Trajectory):
        raise LandmarkError(f"trajectory: expected a clipperplus.io.poses.Trajectory, got {type(trajectory).__name__}")
    poses = as_poses("trajectory.poses", trajectory.poses, FILE_ROUNDING)
    times = as_array("trajectory.timestamps", trajectory.timestamps, LandmarkError)
    if times.shape != (len(poses),) or times.dtype.kind not in "iuf" or not np.isfinite(times).all():
        raise LandmarkError(
            f"trajectory.timestamps: expected {len(poses)} finite numbers, got {times.dtype} of shape {times.shape}"
        )
    rows = np.column_stack((times.astype(np.float64), poses[:, :3, 3], to_quaternions(poses)))
    write_bytes(path, render(rows.tolist()))


def read_kitti(path: _Name, *, size_limit: int | None = None) -> Poses:
    """Read ``(k, 4, 4)`` poses, one per line."""
    path = as_path(path)
    lines = read_lines(path, size_limit)
    poses = np.zeros((len(lines), 4, 4))
    poses[:, :3] = table(path, lines, 12).reshape(-1, 3, 4)
    poses[:, 3, 3] = 1.0
    _check_rigid(path, poses, [number for number, _ in lines])
    return poses


def write_kitti(path: _Name, poses: npt.ArrayLike) -> None:
    """Write ``(k, 4, 4)`` poses, one per line."""
    path = as_path(path)
    write_bytes(path, render(as_poses("poses", poses, FILE_ROUNDING)[:, :3].reshape(-1, 12).tolist()))


def read_transform(path: _Name, *, size_limit: int | None = None) -> npt.NDArray[np.float64]:
    """Read one ``(4, 4)`` transform: rigid, or with a scale."""
    path = as_path(path)
    lines = read_lines(path, size_limit)
    if len(lines) != 4:
        raise FileFormatError(f"{path}: expected 4 lines of 4 numbers, got {len(lines)} lines")
    matrix = table(path, lines, 4)
    _check_rigid(path, unscaled(matrix[None]), [lines[0][0]])
    return matrix


def write_transform(path: _Name, T: npt.ArrayLike) -> None:
    """Write one ``(4, 4)`` transform: rigid, or with a scale."""
    path = as_path(path)
    write_bytes(path, render(as_similarity("T", T).tolist()))


def read_poses(path: _Name, *, size_limit: int | None = None) -> Poses:
    """Read ``(k, 4, 4)`` poses of TUM, of KITTI, or 4 × 4 below each other; of these, one of ``nan`` is not known."""
    path = as_path(path)
    lines = read_lines(path, size_limit)
    if not lines:
        raise FileFormatError(f"{path}: expected poses, there are none")
    number, first = lines[0]
    columns = len(first.split())
    if columns == 8:
        return read_tum(path, size_limit=size_limit).poses
    if columns == 12:
        return read_kitti(path, size_limit=size_limit)
    if columns != 4 or len(lines) % 4:
        expected = "lines of 8 numbers (TUM), of 12 (KITTI), or 4 lines of 4 for each pose"
        raise FileFormatError(f"{path}: line {number}: expected {expected}, got {len(lines)} lines of {columns}")
    poses = table(path, lines, 4).reshape(-1, 4, 4)
    known = np.flatnonzero(~np.isnan(poses).all(axis=(1, 2)))
    _check_rigid(path, poses[known], [lines[4 * pose][0] for pose in known])
    return poses


def _read_pairs(
    path: Path, size: int, size_limit: int | None
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64], list[int], int]:
    """Return pairs, matrices, the line that each begins with, and the number of fragments."""
    lines = read_lines(path, size_limit)
    heads = lines[:: size + 1]
    if len(lines) % (size + 1):
        number = heads[-1][0]
        raise FileFormatError(
            f"{path}: line {number}: expected {size} lines after it, got {len(lines) % (size + 1) - 1}"
        )
    headers = np.array([_integers(path, *head) for head in heads], dtype=np.int64).reshape(-1, 3)
    rows = [line for place, line in enumerate(lines) if place % (size + 1)]
    matrices = table(path, rows, size).reshape(-1, size, size)
    return headers[:, :2].copy(), matrices, [number for number, _ in heads], int(headers[:, 2].max(initial=0))


def _integers(path: Path, number: int, line: str) -> list[int]:
    words = line.split()
    if len(words) != 3 or not all(word.isdigit() and len(word) < 11 and int(word) <= _LARGEST for word in words):
        raise FileFormatError(f"{path}: line {number}: expected two fragments and their number, got {line[:60]!r}")
    return [int(word) for word in words]


def _check_rigid(path: Path, poses: Poses, numbers: Sequence[int]) -> None:
    check(path, are_rigid(poses, FILE_ROUNDING), numbers, "a rotation and a translation")
