"""Pose graphs from and to ``.g2o`` files, also gzipped (``.g2o.gz``).

===================  =======================================================================
``VERTEX_SE2``       ``id x y θ``
``EDGE_SE2``         ``from to x y θ``, the upper triangle of a 3 × 3 information matrix
``VERTEX_SE3:QUAT``  ``id x y z qx qy qz qw``
``EDGE_SE3:QUAT``    ``from to x y z qx qy qz qw``, the upper triangle of a 6 × 6 one
``FIX``              ``id …``: poses that an optimiser is to leave where they are
===================  =======================================================================

Other kinds of vertices and edges are refused, and so are files with poses of both dimensions. Empty lines and lines
that begin with ``#`` are left out. Numbers are written in full; rotations come back but for rounding.

Information matrices are those of :class:`PoseGraph`, not those of the file: the error of an ``EDGE_SE3:QUAT`` is a
translation and then the vector part of a quaternion, which is half a rotation vector. Here rotations come first, and
are whole. (GTSAM's ``readG2o`` only changes the order, so that its rotations weigh four times as much.)
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from .._paths import as_path, read_file, write_bytes
from .._validation import as_array
from ..consistency import as_associations
from ..errors import FileFormatError, LandmarkError, OptionError
from ..geometry._lines import Lines, check, lines_of, render, table
from ..geometry.poses import FILE_ROUNDING, Poses, are_semidefinite, as_poses, from_quaternions, to_quaternions

__all__ = ["PoseGraph", "read_g2o", "write_g2o"]

_Name: TypeAlias = "str | os.PathLike[str]"
_Integers: TypeAlias = npt.NDArray[np.int64]


class _Kind(NamedTuple):
    """How poses of a dimension are written."""

    vertex: str
    edge: str
    numbers: int
    """Of a pose."""
    places: tuple[int, ...]
    """Where the rows of an information matrix of the file are in one of ours …"""
    units: tuple[float, ...]
    """… and how much a unit of ours is in the file."""


_KINDS = {
    2: _Kind("VERTEX_SE2", "EDGE_SE2", 3, (3, 4, 2), (1.0, 1.0, 1.0)),
    3: _Kind("VERTEX_SE3:QUAT", "EDGE_SE3:QUAT", 7, (3, 4, 5, 0, 1, 2), (1.0, 1.0, 1.0, 0.5, 0.5, 0.5)),
}
_FIX = "FIX"
_TAGS = (*(tag for kind in _KINDS.values() for tag in (kind.vertex, kind.edge)), _FIX)
_OUT_OF_PLANE = (0, 1, 5)
"""Turning about x and y, and moving along z."""
_LARGEST_ID = 2**63 - 1
_BYTES_A_WORD, _BYTES_A_LINE = 200, 2048
"""That an id takes, and a pose or an edge with its matrices."""
_PLANE_ROUNDING = 1e-6
"""By how much a motion in the plane may leave it."""


def _no_integers() -> _Integers:
    return np.empty(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class PoseGraph:
    """Poses and measured motions between them; checked when it is made."""

    poses: Poses
    """``(k, 4, 4)``: pose → world, as estimated so far."""
    edges: _Integers
    """``(m, 2)``: the poses that a measurement is from and to, as numbers of ``poses``."""
    measurements: Poses
    """``(m, 4, 4)``: the pose that an edge goes to, as seen from the one that it comes from."""
    information: npt.NDArray[np.float64] | None = None
    """``(m, 6, 6)``: of a small motion ξ = (rotation vector in rad, translation in m) after the measurement: the true
    motion is measurement · exp(ξ), as in :class:`clipperplus.invariants.RelativePoses`. Directions of which nothing is
    known are zero, as those out of the plane are in two dimensions. None: not known at all; written as identity."""
    ids: _Integers = field(default_factory=_no_integers)
    """``(k,)``: names of the poses in files, different integers from 0 on. Empty: the numbers of the poses."""
    fixed: _Integers = field(default_factory=_no_integers)
    """Numbers of the poses that are to stay where they are, ``FIX`` in a file."""
    dimension: int = 3
    """2: all motions are in the plane of x and y, and files say so."""

    def __post_init__(self) -> None:
        if self.dimension not in _KINDS:
            raise OptionError(f"dimension: expected 2 or 3, got {self.dimension!r}")
        poses = as_poses("poses", self.poses, FILE_ROUNDING)
        edges = as_associations("edges", self.edges, (poses, poses))
        measurements = as_poses("measurements", self.measurements, FILE_ROUNDING)
        if len(measurements) != len(edges):
            raise LandmarkError(f"measurements: expected one per edge, {len(edges)}, got {len(measurements)}")
        ids = _as_ids("ids", self.ids, _LARGEST_ID)
        if len(ids) not in (0, len(poses)):
            raise LandmarkError(f"ids: expected one per pose, {len(poses)}, got {len(ids)}")
        if self.dimension == 2:
            _check_planar("poses", poses)
            _check_planar("measurements", measurements)
        checked = {
            "poses": poses,
            "edges": edges,
            "measurements": measurements,
            "information": None if self.information is None else _as_information(self.information, len(edges)),
            "ids": ids if len(ids) else np.arange(len(poses)),
            "fixed": _as_ids("fixed", self.fixed, len(poses) - 1),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)  # frozen, but this is construction

    @property
    def covariances(self) -> npt.NDArray[np.float64] | None:
        """``(m, 6, 6)``: the inverses of ``information``, as :func:`clipperplus.consistent_loop_closures` takes them.

        In two dimensions, variances out of the plane are 1: nothing happens there. None without information.
        """
        if self.information is None:
            return None
        matrices = self.information.copy()
        if self.dimension == 2:
            matrices[:, _OUT_OF_PLANE], matrices[:, :, _OUT_OF_PLANE] = 0.0, 0.0
            matrices[:, _OUT_OF_PLANE, _OUT_OF_PLANE] = 1.0
        try:
            inverses = np.linalg.inv(matrices)
        except np.linalg.LinAlgError:
            raise LandmarkError("information: expected matrices with an inverse, got a singular one") from None
        return np.asarray(0.5 * (inverses + inverses.swapaxes(1, 2)))


def read_g2o(path: _Name, *, size_limit: int | None = None) -> PoseGraph:
    """Read a pose graph. Poses and edges have the order of the file.

    One that would take more than ``size_limit`` bytes is refused with :class:`clipperplus.MemoryLimitError`; without
    it, more than 256 MiB and 100 times the size of the file.
    """
    path = as_path(path)
    content = read_file(path, size_limit)
    lines: dict[str, Lines] = {tag: [] for tag in _TAGS}
    for number, line in lines_of(content):
        tag, _, rest = line.replace("\t", " ").partition(" ")
        if tag not in lines:
            raise FileFormatError(f"{path}: line {number}: expected one of {', '.join(_TAGS)}, got {tag[:60]!r}")
        lines[tag].append((number, rest))
    words = sum(len(rest) // 2 + 1 for _, rest in lines[_FIX])
    content.limit.check(len(content.data) + _BYTES_A_WORD * words + _BYTES_A_LINE * sum(map(len, lines.values())))
    with content.limit.enforced():
        return _pose_graph(path, lines)


def _pose_graph(path: Path, lines: dict[str, Lines]) -> PoseGraph:
    """Return the pose graph of lines, by their tags."""
    dimension = _dimension(path, lines)
    kind = _KINDS[dimension]
    vertices = _Rows.of(path, lines[kind.vertex], 1, kind.numbers)
    ids = vertices.names[:, 0]
    new = np.isin(np.arange(len(ids)), np.unique(ids, return_index=True)[1])
    check(path, new, vertices.lines, "a vertex with an id of its own")
    words = [(number, word) for number, rest in lines[_FIX] for word in rest.split()]
    fixed = _Rows.of(path, words, 1, 0).numbers_of(ids)[:, 0]

    places, units = np.array(kind.places), np.array(kind.units)
    rows, columns = np.triu_indices(len(places))
    edges = _Rows.of(path, lines[kind.edge], 2, kind.numbers + len(rows))
    ends = edges.numbers_of(ids)
    check(path, ends[:, 0] != ends[:, 1], edges.lines, "an edge between two different vertices")
    own = np.empty((len(ends), len(places), len(places)))
    own[:, rows, columns] = own[:, columns, rows] = edges.table[:, kind.numbers :]
    check(path, are_semidefinite(own), edges.lines, "an information matrix without negative eigenvalues")
    information = np.zeros((len(ends), 6, 6))
    information[:, places[:, None], places] = own * np.outer(units, units)
    return PoseGraph(vertices.poses(), ends, edges.poses(kind.numbers), information, ids, np.unique(fixed), dimension)


def write_g2o(path: _Name, graph: PoseGraph) -> None:
    """Write a pose graph; of one in two dimensions, what its information says of the plane."""
    path = as_path(path)
    if not isinstance(graph, PoseGraph):
        raise LandmarkError(f"graph: expected a clipperplus.io.pose_graphs.PoseGraph, got {type(graph).__name__}")
    kind, ids = _KINDS[graph.dimension], graph.ids.tolist()
    places, units = np.array(kind.places), np.array(kind.units)
    information = np.tile(np.eye(6), (len(graph.edges), 1, 1)) if graph.information is None else graph.information
    upper = information[:, places[:, None], places] / np.outer(units, units)
    entries = upper[(slice(None), *np.triu_indices(len(places)))]
    poses = _to_rows(graph.poses, graph.dimension).tolist()
    motions = np.column_stack((_to_rows(graph.measurements, graph.dimension), entries)).tolist()
    ends = [(ids[a], ids[b]) for a, b in graph.edges.tolist()]
    rows: list[Iterable[Any]] = [(kind.vertex, name, *pose) for name, pose in zip(ids, poses, strict=True)]
    rows += [(_FIX, ids[number]) for number in graph.fixed.tolist()]
    rows += [(kind.edge, *names, *motion) for names, motion in zip(ends, motions, strict=True)]
    write_bytes(path, render(rows))


@dataclass(frozen=True, eq=False)
class _Rows:
    """Lines of one kind: ids, then numbers."""

    path: Path
    lines: list[int]
    """Their numbers in the file."""
    names: _Integers
    """``(n, ids)``."""
    table: npt.NDArray[np.float64]
    """``(n, columns)``."""

    @classmethod
    def of(cls, path: Path, lines: Lines, ids: int, columns: int) -> _Rows:
        """Read lines, whose tags are left out, each with so many ids and so many numbers after them."""
        names, rest = np.empty((len(lines), ids), dtype=np.int64), []
        for row, (number, line) in enumerate(lines):
            words = line.split(None, ids)
            sound = all(word.isdigit() and len(word) < 20 and int(word) <= _LARGEST_ID for word in words[:ids])
            if len(words) < ids or not sound:
                raise FileFormatError(f"{path}: line {number}: expected ids, integers from 0 on, got {line[:60]!r}")
            names[row] = [int(word) for word in words[:ids]]
            rest.append((number, "".join(words[ids:])))
        read = cls(path, [number for number, _ in lines], names, table(path, rest, columns))
        check(path, np.asarray(np.isfinite(read.table).all(axis=1)), read.lines, "finite numbers")
        return read

    def numbers_of(self, ids: _Integers) -> _Integers:
        """Return which of some ids the names are; all of them must be among those."""
        order = np.argsort(ids, kind="stable")
        found = np.searchsorted(ids, self.names, sorter=order)
        numbers = np.append(order, -1)[found]  # -1: beyond the largest
        known = (np.append(ids, -1)[numbers] == self.names).all(axis=1)
        check(self.path, np.asarray(known), self.lines, "ids of vertices that are in the file")
        return np.asarray(numbers)

    def poses(self, columns: int | None = None) -> Poses:
        """Return the poses that the first columns hold: three or seven numbers."""
        rows = self.table[:, :columns]
        if rows.shape[1] == 3:
            half = 0.5 * rows[:, 2]
            quaternions = np.column_stack((np.zeros((len(rows), 2)), np.sin(half), np.cos(half)))
            return from_quaternions(quaternions, np.column_stack((rows[:, :2], np.zeros(len(rows)))))
        with np.errstate(over="ignore"):
            lengths = np.abs((rows[:, 3:] ** 2).sum(axis=1) - 1.0)
        check(self.path, lengths < FILE_ROUNDING, self.lines, "a quaternion of length 1")
        return from_quaternions(rows[:, 3:], rows[:, :3])


def _dimension(path: Path, lines: dict[str, Lines]) -> int:
    """Return the dimension that all poses of a file have; 3 without any."""
    first = {}
    for dimension, kind in _KINDS.items():
        numbers = [number for tag in (kind.vertex, kind.edge) for number, _ in lines[tag][:1]]
        if numbers:
            first[dimension] = min(numbers)
    earlier, *later = sorted(first, key=lambda dimension: first[dimension]) or [3]
    if later:
        raise FileFormatError(
            f"{path}: line {first[later[0]]}: expected poses in {earlier} dimensions, as in line {first[earlier]}"
        )
    return earlier


def _to_rows(poses: Poses, dimension: int) -> npt.NDArray[np.float64]:
    """Return what stands for poses in a file."""
    if dimension == 2:
        return np.column_stack((poses[:, :2, 3], np.arctan2(poses[:, 1, 0], poses[:, 0, 0])))
    return np.column_stack((poses[:, :3, 3], to_quaternions(poses)))


def _check_planar(name: str, poses: Poses) -> None:
    """Refuse motions that leave the plane of x and y."""
    leaving = np.abs(poses[:, 2] - (0.0, 0.0, 1.0, 0.0)).max(axis=1, initial=0.0)
    if (leaving > _PLANE_ROUNDING).any():
        raise LandmarkError(f"{name}: pose {int(leaving.argmax())} leaves the plane; expected motions in x and y")


def _as_information(given: Any, count: int) -> npt.NDArray[np.float64]:
    matrices = as_array("information", given, LandmarkError)
    if matrices.dtype.kind not in "iuf" or matrices.shape != (count, 6, 6):
        raise LandmarkError(
            f"information: expected numbers of shape {(count, 6, 6)}, got {matrices.dtype} of shape {matrices.shape}"
        )
    matrices = np.array(matrices, dtype=np.float64)
    sound = are_semidefinite(matrices)
    if not sound.all():
        raise LandmarkError(f"information: matrix {int(sound.argmin())} is not symmetric, or has negative eigenvalues")
    return matrices


def _as_ids(name: str, given: Any, largest: int) -> _Integers:
    ids = as_array(name, given, LandmarkError)
    if ids.shape == (0,):
        return _no_integers()
    if ids.ndim != 1 or ids.dtype.kind not in "iu":
        raise LandmarkError(f"{name}: expected a row of integers, got {ids.dtype} of shape {ids.shape}")
    if ids.min() < 0 or ids.max() > largest or len(np.unique(ids)) < len(ids):
        raise LandmarkError(f"{name}: expected different integers from 0 to {largest}")
    return np.array(ids, dtype=np.int64)
