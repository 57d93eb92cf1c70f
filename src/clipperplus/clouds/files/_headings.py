"""Which columns of a table are x, y and z, by the names that programs give them.

====================================================  ==================================================
``x y z``, in any case, quoted or not                 most programs
``x_m``, ``x [m]``, ``X(m)``, ``x_ft``                with a unit, the same for all three
``Points:0``, ``Points_0``, ``points.x``, ``pos_x``   ParaView, ROS and others: with a name before the axis
``x_coord``, ``X Coordinate``, ``XCoord``             or after it
``easting northing height``, ``E N H``, ``x y elev``  surveyors: heights have many names
====================================================  ==================================================

Numbers are taken as they are, whatever the unit. Longitude and latitude are no lengths, and are refused, as are
azimuth, elevation and range, or r, theta and phi.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

from ...errors import FileFormatError

__all__ = ["find_named_columns"]

_UNIT = r"m|mm|cm|km|ft|in|usft|met(?:er|re)s?|millimet(?:er|re)s?|centimet(?:er|re)s?|feet|foot|inch(?:es)?"
_WITH_UNIT = re.compile(rf"(?P<name>.+?)(?:[\s_]*[\[({{]\s*(?P<inside>{_UNIT})\s*[\])}}]|[\s_.-](?P<after>{_UNIT}))")
_BEFORE = (
    r"points?_m_xyz|points?|pt|pos|positions?|coords?|coordinates?|loc|locations?|vertex|vertices|cartesian|cart|xyz|p"
)
_AFTER = r"coords?|coordinates?|pos|position|axis|utm|local|global|world|map|ecef|enu"
_AXIS = re.compile(rf"(?:(?P<before>{_BEFORE})[\s_.:-]*)?(?P<axis>[xyz])(?:[\s_.:-]*(?P<after>{_AFTER}))?")
_NUMBERED = re.compile(rf"(?P<before>{_BEFORE})[\s_.:-]*(?P<axis>[012])")
_NORMAL = re.compile(r"(?:normals?[\s_.:-]*|n[\s_.-]?)(?P<axis>[xyz]|(?<=[:_])[012])")
_PLANE = (("x", "y"), ("easting", "northing"), ("east", "north"), ("e", "n"), ("rechtswert", "hochwert"))
_HEIGHTS = ("z", "height", "elevation", "altitude", "elev", "alt", "up", "h", "hoehe")
_OF_PICTURES = {"w", "width", "s", "sat", "saturation"}
"""Beside these, ``h`` and ``height`` are those of a box or a colour."""
_ANGLES = re.compile(
    r"(?:gps|wgs ?84)?[\s_.-]*(?:lon|long|lng|longitude|lat|latitude)(?:[\s_.-]*(?:deg|degrees|rad|wgs ?84))?"
)
_OF_ANGLES = r"[\s_.-]*[\[({]?(?:deg|degrees?|rad|radians?)[\])}]?"
_DIRECTION = re.compile(rf"(?:azimuth|azim|az|inclination|zenith|bearing|theta|phi)(?:{_OF_ANGLES})?")
_BESIDE_DIRECTIONS = re.compile(
    rf"(?:elevation|elev|el)(?:{_OF_ANGLES})?|(?:range|r|rho|radius|distance|dist)(?:[\s_.-]*[\[({{]?(?:{_UNIT})[\])}}]?)?"
)
"""What makes a direction a point, and may be something else alone."""
_DIGITS = {"0": "x", "1": "y", "2": "z"}
_LONGEST = 40
"""Letters; a longer name is none of these."""


class _Name(NamedTuple):
    """A name of a column, taken apart."""

    kind: str
    """Columns of one kind belong together: what comes before and after the axis."""
    axis: str
    """x, y or z, or the whole name where there is no such letter."""
    unit: str


def find_named_columns(where: str, names: Sequence[str]) -> list[int] | None:
    """Return the places of x, y and z among names in small letters, and those of the normals where all three are there.

    None: these are not the names of coordinates. Half of them, two of one kind, or angles are refused.
    """
    parts = [_taken_apart(name) for name in names]
    found = _coordinates(where, parts)
    if found is None:
        if _are_angles(names):
            raise FileFormatError(
                f"{where}: longitude and latitude are angles, expected x, y and z in one unit of length: project them, "
                f"for instance to UTM; got {_shown(names)}"
            )
        if _are_polar(names):
            raise FileFormatError(
                f"{where}: directions and distances are no coordinates, expected x, y and z; got {_shown(names)}"
            )
        return None
    units = {parts[place].unit for place in found}
    if len(units) > 1:
        raise FileFormatError(f"{where}: expected x, y and z in one unit, got {_shown(names)}")
    return found + _normals(names)


def _taken_apart(name: str) -> _Name:
    if len(name) > _LONGEST:
        return _Name("", name, "")
    with_unit = _WITH_UNIT.fullmatch(name)
    unit = "" if with_unit is None else with_unit["inside"] or with_unit["after"]
    name = name if with_unit is None else with_unit["name"].strip()
    match = _AXIS.fullmatch(name)
    if match is not None:
        return _Name(f"{match['before'] or ''} {match['after'] or ''}".strip(), match["axis"], unit)
    match = _NUMBERED.fullmatch(name)
    return _Name("", name, unit) if match is None else _Name(match["before"], _DIGITS[match["axis"]], unit)


def _coordinates(where: str, parts: list[_Name]) -> list[int] | None:
    """Return the places of three columns that belong together: plain names first."""
    known: dict[tuple[str, str], list[int]] = {}
    for place, part in enumerate(parts):
        known.setdefault((part.kind, part.axis), []).append(place)
    found: dict[str, list[int]] = {}
    flat = any(part.axis in _OF_PICTURES for part in parts)
    for kind in dict.fromkeys(["", *(part.kind for part in parts)]):
        for plane, height in product(_PLANE, _HEIGHTS) if kind == "" else [(_PLANE[0], _HEIGHTS[0])]:
            if flat and plane == _PLANE[0] and height in ("h", "height"):
                continue
            places = [known.get((kind, axis), []) for axis in (*plane, height)]
            twice = next((parts[some[0]].axis for some in places if len(some) > 1), None)
            if all(places) and twice is not None:
                raise FileFormatError(f"{where}: the header names {twice} twice")
            if all(places):
                found[kind] = [place for (place,) in places]
                break
        if "" in found:
            return found[""]
    if len(found) > 1:
        kinds = " and ".join(repr(kind) for kind in list(found)[:2])
        raise FileFormatError(
            f"{where}: expected x, y and z once, got those of {kinds}: call the right ones x, y and z"
        )
    return next(iter(found.values()), None)


def _are_angles(names: Sequence[str]) -> bool:
    """Return whether longitude or latitude is among these: ``long`` alone may be a word of a sentence."""
    short = [re.sub(r"\s*[\[(].*", "", name) for name in names if len(name) <= _LONGEST]
    angles = [name for name in short if _ANGLES.fullmatch(name) is not None]
    return len(angles) > 1 or (len(angles) == 1 and angles != ["long"])


def _are_polar(names: Sequence[str]) -> bool:
    """Return whether these are, say, azimuth, elevation and range: two such names, as any sentence may have one."""
    short = [name for name in names if len(name) <= _LONGEST]
    directions = sum(_DIRECTION.fullmatch(name) is not None for name in short)
    return directions > 0 and directions + sum(_BESIDE_DIRECTIONS.fullmatch(name) is not None for name in short) > 1


def _normals(names: Sequence[str]) -> list[int]:
    """Return the places of the three components of normals, if all are there."""
    axes: dict[str, int] = {}
    for place, name in enumerate(names):
        match = _NORMAL.fullmatch(name[:_LONGEST])
        if match is not None:
            axes.setdefault(_DIGITS.get(match["axis"], match["axis"]), place)
    return [axes[axis] for axis in "xyz"] if len(axes) == 3 else []


def _shown(names: Sequence[str]) -> str:
    return repr(", ".join(names)[:60])
