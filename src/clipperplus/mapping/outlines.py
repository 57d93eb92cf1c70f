"""What stands for a scan where many are compared: a few points, by which is told how far it moves and what it shares.

How much two scans share is told for all pairs at once. The points of each are counted by the cells of a grid that they
come to lie in; a product of two matrices then has, for each two scans, how many points of the one lie in cells that the
other has points in. A second grid, half a cell aside, makes up for where the cells of the first happen to end. For n
scans with c cells each this takes O(n c log(n c)) for the cells and 2 n² c operations for the product, where a look at
each pair would take n² searches.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ..clouds.cloud import as_cloud
from ..clouds.prepared import PreparedCloud
from ..clouds.voxels import voxel_means

__all__ = ["CORNERS", "Outline", "Outlines"]

_Array: TypeAlias = npt.NDArray[np.float64]
_Numbers: TypeAlias = npt.NDArray[np.int64]
_Cells: TypeAlias = tuple[_Numbers, npt.NDArray[np.float32]]

CORNERS, _CORNER_REACH = 7, 1.5
"""Points that stand for a scan: its middle, and corners so many deviations from it."""
_COARSE = 2.0
"""Voxels: the width of those whose means tell what scans share."""
_CELL = 5.0
"""Voxels: the width of the cells in which they count as near each other."""
_GRIDS = (0.0, 0.5)
"""Cells by which grids are aside."""
_BLOCK = 64
"""Scans that are compared with all others at a time, so that the matrices stay small."""
_DIGITS = 5
"""Of a share: what is beyond is rounding, and must not decide on an order."""
_LARGEST = float(2**20 - 2)
"""Number of a cell along an axis: farther away, all are one."""


class Outline:
    """What stands for one scan."""

    def __init__(self, cloud: PreparedCloud) -> None:
        """Take it from a prepared scan."""
        points = cloud.points
        self.corners = _corners(points)
        self.viewpoint = cloud.viewpoint
        coarse = voxel_means(as_cloud("points", points), _COARSE * cloud.voxel_size, 1)[0] if len(points) else points
        self._middle = self.corners[0]
        self._arms = (coarse - self._middle).astype(np.float32)

    def cells(self, pose: _Array, width: float) -> list[_Cells]:
        """Return, of each grid, the cells that the scan has points in at a pose, and the share of its points."""
        places = self._arms @ pose[:3, :3].T.astype(np.float32) + (self._middle @ pose[:3, :3].T + pose[:3, 3])
        result = []
        for aside in _GRIDS:
            along = np.clip(np.floor(places / width + aside), -_LARGEST, _LARGEST).astype(np.int64) + 2**20
            numbers, counts = np.unique((along[:, 0] << 42) | (along[:, 1] << 21) | along[:, 2], return_counts=True)
            result.append((numbers, (counts / max(1, len(places))).astype(np.float32)))
        return result


class Outlines:
    """Those of several scans."""

    def __init__(self, outlines: list[Outline], voxel_size: float) -> None:
        """Take them; poses that are asked about again, as most are, need no second look."""
        self._outlines, self._width = outlines, _CELL * voxel_size
        self._known: dict[int, tuple[bytes, list[_Cells]]] = {}

    def shares(self, first: _Numbers, second: _Numbers, poses: _Array) -> _Array:
        """Return of each two scans how much they share at these poses of all scans: the larger share of the two."""
        result = np.zeros((len(first), len(second)))
        for start in range(0, len(first), _BLOCK):
            some = slice(start, start + _BLOCK)
            result[some] = self._shares(first[some], second, poses)
        return result

    def _shares(self, first: _Numbers, second: _Numbers, poses: _Array) -> _Array:
        ones, others = ([self._cells(int(scan), poses) for scan in scans] for scans in (first, second))
        result = np.zeros((len(first), len(second)))
        for grid in range(len(_GRIDS)):
            here, there = ([cells[grid] for cells in some] for some in (ones, others))
            numbers = np.unique(np.concatenate([cells for cells, _ in here]))
            a, b = _matrix(here, numbers), _matrix(there, numbers)
            result += np.maximum(a @ (b > 0.0).astype(np.float32).T, (a > 0.0).astype(np.float32) @ b.T)
        return np.asarray(np.round(result / len(_GRIDS), _DIGITS))

    def _cells(self, scan: int, poses: _Array) -> list[_Cells]:
        pose = poses[scan].tobytes()
        if scan not in self._known or self._known[scan][0] != pose:
            self._known[scan] = pose, self._outlines[scan].cells(poses[scan], self._width)
        return self._known[scan][1]


def _matrix(of_scans: list[_Cells], numbers: _Numbers) -> npt.NDArray[np.float32]:
    """Return the share of each scan's points in each of some cells, which are sorted."""
    result = np.zeros((len(of_scans), len(numbers)), dtype=np.float32)
    rows = np.repeat(np.arange(len(of_scans)), [len(cells) for cells, _ in of_scans])
    cells, shares = (np.concatenate(parts) for parts in zip(*of_scans, strict=True))
    columns = np.minimum(np.searchsorted(numbers, cells), len(numbers) - 1)
    known = numbers[columns] == cells if len(numbers) else np.zeros(len(cells), dtype=np.bool_)
    result[rows[known], columns[known]] = shares[known]
    return result


def _corners(points: _Array) -> _Array:
    """Return the middle of a scan, and places along its main axes: how far these move is how far the scan does."""
    if not len(points):
        return np.zeros((CORNERS, 3))
    middle = points.mean(axis=0)
    values, axes = np.linalg.eigh(np.cov(points.T) if len(points) > 1 else np.zeros((3, 3)))
    arms = (_CORNER_REACH * np.sqrt(np.maximum(values, 0.0)))[:, None] * axes.T
    return np.concatenate((middle[None], middle + arms, middle - arms))
