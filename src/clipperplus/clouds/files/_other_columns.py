"""Names of columns that are no coordinates, by which a comment that names columns is told from a sentence."""

from __future__ import annotations

import re
from collections.abc import Sequence

__all__ = ["names_no_z", "only_names_columns"]

_WORDS = """
intensity intensities int i reflectance reflectivity reflect refl remission amplitude ambient albedo rgb rgba r g b
red green blue alpha gray grey colour color nx ny nz normal normals vx vy vz velocity t time timestamp timestamps
stamp gpstime sec secs seconds nsec nsecs ns us ms ring label labels class classification category instance id ids
idx index nr number num name note scalar field return returns curvature confidence conf range distance dist depth
quality weight sigma height elevation elev altitude alt row col echo channel laser lon lat longitude latitude azimuth
w width s sat saturation v value
"""
_MORE = "of gps point source user data scan angle x y z deg rad m s"
_NAMES = frozenset(_WORDS.split())
_PARTS = _NAMES.union(_MORE.split(), [""])
"""Of names such as ``gps_time``, ``number_of_returns`` and ``normal_x``; alone, some of them are words of sentences."""
_BETWEEN = re.compile(r"[\W_\d]+")
_LETTERS = frozenset("enh")
"""Of easting, northing and height, or of anything."""
_LONGEST = 40


def only_names_columns(names: Sequence[str], coordinates: Sequence[int]) -> bool:
    """Whether a comment says nothing but names, those of x, y and z at three places: it is no sentence that has them.

    If they come first, in this order, it does not matter.
    """
    if list(coordinates) == [0, 1, 2]:
        return True
    if any(names[place] in _LETTERS for place in coordinates):
        return False
    return all(place in coordinates or _is_a_name(name) for place, name in enumerate(names))


def names_no_z(names: Sequence[str]) -> bool:
    """Whether a comment says nothing but names, x and y and others, where no height has been found."""
    return {"x", "y"} <= set(names) and all(name in ("x", "y", "h") or _is_a_name(name) for name in names)


def _is_a_name(name: str) -> bool:
    if name in _NAMES:
        return True
    parts = _BETWEEN.split(name[:_LONGEST])
    return len(parts) > 1 and len(name) <= _LONGEST and all(part in _PARTS for part in parts)
