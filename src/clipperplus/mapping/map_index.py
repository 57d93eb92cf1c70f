"""What ``map.json`` says: a table of its fields with a check of each, and the map that is made of them.

Others may have changed the file. What is not as it was written raises a ValueError that names the field, so that no map
is loaded that fails later on.
"""

from __future__ import annotations

import enum
import reprlib
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias, get_args, get_type_hints

import numpy as np
import numpy.typing as npt

from .._timing import Stage
from ..geometry.poses import FILE_ROUNDING, are_rigid, are_semidefinite
from ..registration.kept import NOT_WHOLE, check_number
from .map import Edge, EdgeStatus, Map, ScanStatus

__all__ = ["as_map"]

_Array: TypeAlias = npt.NDArray[np.float64]
_Check: TypeAlias = Callable[[str, Any], None]
"""Refuses a value, by the name of its field."""

_LARGEST = 1e100
"""Of what can be squared and summed, as the coordinates of a cloud; covariances are squares of those in a map."""
_FARTHEST = 1e38
"""By which scans of a map are moved: pages have that in single precision."""
_SMALLEST_CONFLICT = 1e-9
"""Of a share that others are divided by."""
_ORIGINS = get_args(get_type_hints(Edge)["origin"])


def as_map(index: Mapping[str, Any], points_of: Callable[[int], list[npt.NDArray[Any]]]) -> Map:
    """Return the map of an index; the points of so many scans are asked for when all else is as it should be."""
    _MAP("", index)
    _check_matrices(index)
    _check_scans(index)
    _check_edges(index)
    scans, count = index["scans"], len(index["scans"])
    if len(index["viewpoints"]) != count:
        raise ValueError(f"viewpoints: expected one of each of {count} scans, got {len(index['viewpoints'])}")
    return Map(
        names=tuple(scan["name"] for scan in scans),
        poses=_arrays([scan["T_map_scan"] for scan in scans], 4, 4),
        components=tuple(np.array(members, dtype=np.int64) for members in index["components"]),
        status=tuple(ScanStatus(scan["status"]) for scan in scans),
        reasons=tuple(scan["reason"] for scan in scans),
        confidence=np.array([scan["confidence"] for scan in scans], dtype=np.float64),
        covariances=_arrays([scan["covariance"] for scan in scans], 6, 6),
        edges=tuple(map(_edge, index["edges"])),
        voxel_size=float(index["voxel_size"]),
        prior=float(index["prior"]),
        proven=index["proven"],
        stages=tuple(Stage(stage["name"], float(stage["seconds"]), stage["count"]) for stage in index["stages"]),
        seconds=float(index["seconds"]),
        scans=tuple(points_of(count)),
        viewpoints=_arrays(index["viewpoints"], 3),
        free_space=index["free_space"],
        usual_conflict=float(index["usual_conflict"]),
    )


def _edge(about: Mapping[str, Any]) -> Edge:
    motion, covariance = about["T_target_source"], about["covariance"]
    return Edge(
        source=about["source"],
        target=about["target"],
        status=EdgeStatus(about["status"]),
        reason=about["reason"],
        origin=about["origin"],
        confidence=float(about["confidence"]),
        T_target_source=None if motion is None else np.array(motion, dtype=np.float64),
        covariance=None if covariance is None else np.array(covariance, dtype=np.float64),
        overlap=None if about["overlap"] is None else float(about["overlap"]),
        shift=None if about["shift"] is None else float(about["shift"]),
    )


def _arrays(values: list[Any], *shape: int) -> _Array:
    """Return an array of each; NaN where there is none."""
    known = [np.full(shape, np.nan) if value is None else np.array(value, dtype=np.float64) for value in values]
    return np.array(known).reshape(-1, *shape)


def _check_matrices(index: Mapping[str, Any]) -> None:
    """Refuse transforms and covariances that are none: a field of all at once, since there may be very many."""
    for part, field, shape, are_sound, wrong in _MATRICES:
        known = [number for number, entry in enumerate(index[part]) if entry[field] is not None]
        matrices = np.array([index[part][number][field] for number in known], dtype=np.float64)
        sound = are_sound(matrices.reshape(-1, *shape))
        if not sound.all():
            raise ValueError(f"{part}[{known[int(sound.argmin())]}].{field}: {wrong}")


def _check_scans(index: Mapping[str, Any]) -> None:
    """Refuse scans and components that contradict each other."""
    home = _home(index)
    for number, scan in enumerate(index["scans"]):
        where = f"scans[{number}]"
        placed = ScanStatus(scan["status"]) is ScanStatus.PLACED
        if scan["component"] != home.pop(number, None) or placed != (scan["component"] is not None):
            raise ValueError(f"{where}: its components are not the scans that were placed")
        for name in ("T_map_scan", "covariance"):
            if placed != (scan[name] is not None):
                raise ValueError(f"{where}.{name}: expected one of each scan that was placed, and of no other")
    if home:
        raise ValueError(f"components: they name scan {min(home)}, of {len(index['scans'])}")


def _home(index: Mapping[str, Any]) -> dict[int, int]:
    """Return the component of each scan that is in one."""
    home: dict[int, int] = {}
    for number, members in enumerate(index["components"]):
        if not members:
            raise ValueError(f"components[{number}]: expected scans, got none")
        for scan in members:
            if scan in home:
                raise ValueError(f"components[{number}]: scan {scan} is named twice")
            home[scan] = number
    return home


def _check_edges(index: Mapping[str, Any]) -> None:
    """Refuse pairs of scans that are none, or known twice, or are believed and not part of the map."""
    count, home = len(index["scans"]), _home(index)
    seen = set()
    for number, edge in enumerate(index["edges"]):
        where, source, target = f"edges[{number}]", edge["source"], edge["target"]
        if source == target or max(source, target) >= count:
            raise ValueError(f"{where}: a pair of scans {source} and {target}, of {count}")
        pair = min(source, target), max(source, target)
        if pair in seen:
            raise ValueError(f"{where}: scans {source} and {target} are a pair already")
        seen.add(pair)
        believed = EdgeStatus(edge["status"]) is EdgeStatus.BELIEVED
        if edge["T_target_source"] is None and (edge["covariance"] is not None or believed):
            raise ValueError(f"{where}: it has no transform, and is believed or has a covariance")
        if believed and (source not in home or home[source] != home.get(target)):
            raise ValueError(f"{where}: it is believed, and scans {source} and {target} are of no common component")


def _refuse(where: str, expected: str, value: Any) -> None:
    raise ValueError(f"{where}: expected {expected}, got {reprlib.repr(value):.60}")


def _number(low: float, high: float) -> _Check:
    """Return a check of numbers within bounds."""

    def check(where: str, value: Any) -> None:
        try:
            check_number(value, low, high)
        except NOT_WHOLE:
            _refuse(where, f"a number from {low:g} to {high:g}", value)

    return check


def _integer(where: str, value: Any) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**63:
        _refuse(where, "an integer of at least 0", value)


def _text(where: str, value: Any) -> None:
    if not isinstance(value, str):
        _refuse(where, "a text", value)


def _truth(where: str, value: Any) -> None:
    if not isinstance(value, bool):
        _refuse(where, "true or false", value)


def _one_of(texts: tuple[str, ...]) -> _Check:
    def check(where: str, value: Any) -> None:
        if not isinstance(value, str) or value not in texts:
            _refuse(where, f"one of {', '.join(texts)}", value)

    return check


def _values(kind: type[enum.Enum]) -> tuple[str, ...]:
    return tuple(member.value for member in kind)


def _array(most: float, *shape: int) -> _Check:
    """Return a check of lists of numbers of a shape."""
    expected = f"finite numbers of at most {most:g}, of shape {shape}"

    def check(where: str, value: Any) -> None:
        if not _has_shape(value, shape, most):
            _refuse(where, expected, value)

    return check


def _has_shape(value: Any, shape: tuple[int, ...], most: float) -> bool:
    """Whether something is a number, or lists of numbers: truth values are none, though numpy would take them."""
    if not shape:
        return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= most
    return (
        isinstance(value, list) and len(value) == shape[0] and all(_has_shape(part, shape[1:], most) for part in value)
    )


def _or_null(check: _Check) -> _Check:
    def check_unless_null(where: str, value: Any) -> None:
        if value is not None:
            check(where, value)

    return check_unless_null


def _each(check: _Check) -> _Check:
    def check_list(where: str, value: Any) -> None:
        if not isinstance(value, list):
            _refuse(where, "a list", value)
        for number, entry in enumerate(value):
            check(f"{where}[{number}]", entry)

    return check_list


def _fields(**checks: _Check) -> _Check:
    def check_fields(where: str, value: Any) -> None:
        if not isinstance(value, Mapping):
            _refuse(where, "an object", value)
        for name, check in checks.items():
            field = f"{where}.{name}" if where else name
            if name not in value:
                raise ValueError(f"{field}: missing")
            check(field, value[name])

    return check_fields


def _are_motions(matrices: _Array) -> npt.NDArray[np.bool_]:
    return are_rigid(matrices, FILE_ROUNDING)


_MOTION, _COVARIANCE = (4, 4), (6, 6)
_NO_MOTION = "a transform is no rotation and translation"
_NO_COVARIANCE = "a covariance is not symmetric, or has negative eigenvalues"
_MATRICES = (
    ("scans", "T_map_scan", _MOTION, _are_motions, _NO_MOTION),
    ("scans", "covariance", _COVARIANCE, are_semidefinite, _NO_COVARIANCE),
    ("edges", "T_target_source", _MOTION, _are_motions, _NO_MOTION),
    ("edges", "covariance", _COVARIANCE, are_semidefinite, _NO_COVARIANCE),
)
_share = _number(0.0, 1.0)
_seconds = _number(0.0, _LARGEST)
_motion = _or_null(_array(_FARTHEST, *_MOTION))
_covariance = _or_null(_array(_LARGEST, *_COVARIANCE))
_MAP = _fields(
    scans=_each(
        _fields(
            name=_text,
            status=_one_of(_values(ScanStatus)),
            reason=_text,
            component=_or_null(_integer),
            confidence=_share,
            T_map_scan=_motion,
            covariance=_covariance,
        )
    ),
    components=_each(_each(_integer)),
    edges=_each(
        _fields(
            source=_integer,
            target=_integer,
            status=_one_of(_values(EdgeStatus)),
            reason=_text,
            origin=_one_of(_ORIGINS),
            confidence=_share,
            T_target_source=_motion,
            covariance=_covariance,
            overlap=_or_null(_share),
            shift=_or_null(_number(0.0, _LARGEST)),
        )
    ),
    voxel_size=_number(1.0 / _LARGEST, _LARGEST),
    prior=_share,
    proven=_truth,
    usual_conflict=_number(_SMALLEST_CONFLICT, 1.0),
    stages=_each(_fields(name=_text, seconds=_seconds, count=_or_null(_integer))),
    seconds=_seconds,
    viewpoints=_each(_or_null(_array(_LARGEST, 3))),
    free_space=_truth,
)
