"""Maps in folders: what is needed to load one again, and what other programs read.

================================  ==================================================================================
``map.json``                      poses, components, pairs, status, reasons; written last, so that no half map loads
``scans.npz``                     points of every scan: float32, relative to an offset in float64
``poses.tum``, ``poses_1.tum`` …  poses of the largest component and of each other one, by number of the scan
``map.g2o``                       the pose graph of all components: poses, and the pairs that are believed
``map.ply``, ``map_1.ply`` …      points of the largest component and of each other one, in its frame
================================  ==================================================================================

Only the first two are read again. All numbers come back as they were, bit by bit, but for points that float32 cannot
hold: these are off by less than a ten-millionth of the extent of their scan. Nothing is unpickled.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from .._build import core_info
from .._limits import SizeLimit
from .._paths import as_path, naming, open_file, read_file
from .._words import shown
from ..clouds.files import write_cloud
from ..clouds.files._npz import Archive
from ..errors import ClipperPlusError, FileFormatError
from ..geometry.files import Trajectory, write_tum
from ..geometry.poses import adjoint, inverse
from ..registration.kept import NOT_WHOLE
from .g2o import PoseGraph, write_g2o
from .map import Edge, EdgeStatus, Map
from .map_index import as_map

__all__ = ["check_map_folder", "is_map_folder", "is_of_map", "load_map", "save_map"]

_Name: TypeAlias = "str | os.PathLike[str]"
_Array: TypeAlias = npt.NDArray[np.float64]

_KIND = "clipperplus map"
_FORMAT = 1
"""Of what is written; folders of another one are refused."""
_INDEX, _POINTS, _GRAPH = "map.json", "scans.npz", "map.g2o"
_NAMES = re.compile(r"map\.json|scans\.npz|map\.g2o|poses(_\d+)?\.tum|map(_\d+)?\.ply")
_UNFINISHED = ".saving"
"""Folder in which files are written, before they are all moved to where they belong."""
_LEAST_DEVIATION = 1e-6
"""Of a measurement in a pose graph, in rad and m: those of equal scans have none, which no information can say."""
_CHUNK = 2**20


def save_map(map: Map, folder: _Name) -> None:
    """Write a map to a folder, which is made if need be; one that is there is replaced when all is written."""
    folder = as_path(folder)
    check_map_folder(folder)
    with naming(folder):
        _save(map, folder)


def load_map(folder: _Name, *, size_limit: int | None = None) -> Map:
    """Read what :func:`save_map` wrote; what is not whole, or of another version, is refused.

    So is a map whose points would take more than ``size_limit`` bytes, with :class:`clipperplus.MemoryLimitError`;
    without it, more than 256 MiB and 100 times the size of their file.
    """
    folder = as_path(folder)
    index = _read_index(folder / _INDEX, size_limit)
    path = folder / _POINTS
    if not path.is_file():
        raise FileFormatError(f"{path}: missing; {folder / _INDEX} needs it")
    if _digest(path) != index.get("points_sha256"):
        raise FileFormatError(f"{path}: damaged, or of another map than {_INDEX}")
    try:
        made = as_map(index, lambda count: _read_points(path, count, size_limit))
        with np.errstate(over="raise", invalid="raise"):  # numbers that are too large to be saved again
            _information(*_measured(made))
    except ClipperPlusError:
        raise
    except NOT_WHOLE as error:
        raise FileFormatError(f"{folder / _INDEX}: not a map as it is written here ({error})") from None
    return made


def is_map_folder(folder: _Name, size_limit: int | None = None) -> bool:
    """Whether a folder holds a map."""
    try:
        _read_index(as_path(folder) / _INDEX, size_limit)
    except FileFormatError:
        return False
    return True


def is_of_map(path: _Name, folder: _Name) -> bool:
    """Whether a name is that of a file of the map that a folder holds, or will hold."""
    place, name = os.path.split(os.path.realpath(path))
    return place == os.path.realpath(folder) and _NAMES.fullmatch(name) is not None


def check_map_folder(folder: _Name, size_limit: int | None = None) -> None:
    """Refuse a folder with a ``map.json`` of something else: before the work, not after it."""
    path = as_path(folder) / _INDEX
    if path.exists() and _kind_of(path, size_limit) != _KIND:
        raise FileFormatError(f"{path}: this is no map, and is not replaced; choose another folder")


def _save(map: Map, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    before = _files_of(folder)
    unfinished = folder / _UNFINISHED
    shutil.rmtree(unfinished, ignore_errors=True)  # of a run that was killed
    unfinished.mkdir()
    try:
        files = [*_write_points(map, unfinished), *_write_exports(map, unfinished)]
        (unfinished / _INDEX).write_text(json.dumps(_index(map, unfinished, files)), encoding="ascii")
        for name in (*files, _INDEX):  # from here on the map that was there is no longer whole, and says so
            os.replace(unfinished / name, folder / name)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    for name in set(before) - set(files):
        (folder / name).unlink(missing_ok=True)


def _write_points(map: Map, folder: Path) -> Iterator[str]:
    """Write the points of all scans."""
    packed = [_packed(points) for points in map.scans]
    arrays: dict[str, Any] = {_member(k): points for k, (points, _) in enumerate(packed)}
    with (folder / _POINTS).open("wb") as file:
        np.savez(file, offsets=np.array([offset for _, offset in packed]).reshape(-1, 3), **arrays)
    yield _POINTS


def _packed(points: npt.NDArray[Any]) -> tuple[npt.NDArray[np.float32], _Array]:
    """Return points in single precision, and relative to what; points of single precision stay as they are."""
    single = np.asarray(points, dtype=np.float32)
    if np.array_equal(single, points):
        return single, np.zeros(3)
    offset = 0.5 * (np.asarray(points.min(axis=0), dtype=np.float64) + points.max(axis=0))
    return (points - offset).astype(np.float32), offset


def _member(scan: int) -> str:
    return f"points_{scan}"


def _write_exports(map: Map, folder: Path) -> Iterator[str]:
    """Write what other programs read."""
    write_g2o(folder / _GRAPH, _pose_graph(map))
    yield _GRAPH
    for number, scans in enumerate(map.components):
        suffix = f"_{number}" if number else ""
        write_tum(folder / f"poses{suffix}.tum", Trajectory(scans.astype(np.float64), map.poses[scans]))
        yield f"poses{suffix}.tum"
        points = map.points(component=number)
        step = np.abs(points).max(initial=0.0) * np.finfo(np.float32).eps
        # Single precision where it is fine enough, as it is but far from the origin: more programs read it.
        write_cloud(folder / f"map{suffix}.ply", points.astype(np.float32) if step < 0.01 * map.voxel_size else points)
        yield f"map{suffix}.ply"


def _pose_graph(map: Map) -> PoseGraph:
    """Return the poses of all components and the pairs that are believed; of each component, the frame is fixed."""
    ids = np.sort(np.concatenate([np.empty(0, dtype=np.int64), *map.components]))
    # A pose graph has the later pose as seen from the earlier one: what takes a source to its target is the source as
    # seen from the target.
    ends = np.array([(edge.target, edge.source) for edge in _believed(map)], dtype=np.int64).reshape(-1, 2)
    motions, covariances = _measured(map)
    anchors = [scans[np.trace(map.covariances[scans], axis1=1, axis2=2).argmin()] for scans in map.components]
    fixed = np.searchsorted(ids, np.array(anchors, dtype=np.int64))
    information = _information(motions, covariances)
    return PoseGraph(map.poses[ids], np.searchsorted(ids, ends), motions, information, ids, fixed)


def _believed(map: Map) -> list[Edge]:
    """Return the pairs that a pose graph is made of."""
    return [edge for edge in map.edges if edge.status is EdgeStatus.BELIEVED and edge.covariance is not None]


def _measured(map: Map) -> tuple[_Array, _Array]:
    """Return their motions and covariances."""
    motions = np.array([edge.T_target_source for edge in _believed(map)], dtype=np.float64).reshape(-1, 4, 4)
    covariances = np.array([edge.covariance for edge in _believed(map)], dtype=np.float64).reshape(-1, 6, 6)
    return motions, covariances


def _information(motions: _Array, covariances: _Array) -> _Array:
    """Return how much small motions after these weigh: a pose graph has them in the frame of the source."""
    across = adjoint(inverse(motions))
    values, axes = np.linalg.eigh(across @ covariances @ across.swapaxes(1, 2))
    information = (axes / np.maximum(values, _LEAST_DEVIATION**2)[:, None]) @ axes.swapaxes(1, 2)
    return np.asarray(0.5 * (information + information.swapaxes(1, 2)))


def _index(map: Map, folder: Path, files: list[str]) -> dict[str, Any]:
    """Return what ``map.json`` holds."""
    return {
        "kind": _KIND,
        "format": _FORMAT,
        "clipperplus": core_info().version,
        "files": files,
        "points_sha256": _digest(folder / _POINTS),
        **map.to_dict(),
        "viewpoints": [place.tolist() if np.isfinite(place).all() else None for place in map.viewpoints],
        "free_space": map.free_space,
    }


def _digest(path: Path) -> str:
    """Return what tells the content of a file from any other."""
    digest = hashlib.sha256()
    with open_file(path) as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def _kind_of(path: Path, size_limit: int | None = None) -> object:
    """Return what a file says that it is."""
    data, limit = read_file(path, size_limit)
    try:
        with limit.enforced():
            content = json.loads(data)
    except ClipperPlusError:
        raise
    except (ValueError, RecursionError):
        return None
    return content.get("kind") if isinstance(content, dict) else None


def _read_index(path: Path, size_limit: int | None = None) -> dict[str, Any]:
    """Return what ``map.json`` holds, if it is of this version."""
    if not path.is_file():
        raise FileFormatError(f"{path}: missing; expected the folder of a map, written to its end")
    data, limit = read_file(path, size_limit)
    try:
        with limit.enforced():
            index = json.loads(data)
    except ClipperPlusError:
        raise
    except (ValueError, RecursionError) as error:
        raise FileFormatError(f"{path}: damaged ({error})") from None
    if not isinstance(index, dict) or index.get("kind") != _KIND:
        raise FileFormatError(f"{path}: expected a {_KIND}, this is something else")
    if index.get("format") != _FORMAT:
        version = f"clipperplus {shown(index.get('clipperplus'))} wrote format {shown(index.get('format'))}"
        raise FileFormatError(f"{path}: expected format {_FORMAT}; {version}")
    return index


def _files_of(folder: Path) -> list[str]:
    """Return the files of the map that is in a folder, if there is one; only names of such, whatever it says."""
    try:
        files = _read_index(folder / _INDEX).get("files")
    except FileFormatError:
        return []
    known = files if isinstance(files, list) else []
    return [name for name in known if isinstance(name, str) and _NAMES.fullmatch(name)]


def _read_points(path: Path, count: int, size_limit: int | None) -> list[npt.NDArray[Any]]:
    """Return the points of all scans."""
    scans: list[npt.NDArray[Any]] = []
    limit = SizeLimit.of(path, path.stat().st_size, size_limit)
    with limit.enforced(), open_file(path) as file:
        archive = Archive(file, limit)
        names = [_member(scan) for scan in range(count)]
        layout = archive.layouts["offsets"]
        if layout.shape != (count, 3) or layout.kind != "<f8":
            raise ValueError(f"{path.name} has no offset for each of {count} scans")
        for scan, name in enumerate(names):
            layout = archive.layouts[name]
            if len(layout.shape) != 2 or layout.shape[1] != 3 or layout.kind != "<f4":
                raise ValueError(f"{path.name} has no points of scan {scan}")
        limit.check(3 * sum(map(archive.size_of, names)))  # unpacked, and with their offset in double precision
        for name, offset in zip(names, archive.array("offsets"), strict=True):
            points = archive.array(name)
            with np.errstate(all="ignore"):
                scans.append(points + offset if offset.any() else points)
            if not np.isfinite(scans[-1]).all():
                raise ValueError(f"{path.name} has {name} that are not finite")
    return scans
