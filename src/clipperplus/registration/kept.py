"""What files that keep registrations say, looked at before it is believed: others may have changed them.

What is not as it was written raises a ValueError, or what Python raises where something is missing.
"""

from __future__ import annotations

import math
import sys
from dataclasses import fields
from typing import Any

import numpy as np
import numpy.typing as npt

from ..geometry.poses import FILE_ROUNDING, are_rigid, are_semidefinite
from .confidence import Evidence

__all__ = [
    "NOT_WHOLE",
    "check_covariances",
    "check_evidence",
    "check_motions",
    "check_number",
    "check_texts",
    "numbers",
]

NOT_WHOLE = (ArithmeticError, LookupError, TypeError, ValueError)
"""What reading raises where something is not as it was written."""
_LARGEST = 1e100
"""Of what can be squared and summed, as the coordinates of a cloud."""
_MOST = 2**31 - 1
"""That is counted: points and matches have numbers up to this."""
_PLACES = ("told", "origin", "found")
"""Of a sensor."""


def numbers(value: Any) -> npt.NDArray[np.float64]:
    """Return lists of finite numbers as an array; words and truth values are none, though numpy would take them."""
    array = np.array(value)
    if array.dtype.kind not in "iuf" or not np.isfinite(array).all():
        raise ValueError("expected finite numbers")
    return array.astype(np.float64)


def check_number(value: Any, low: float = 0.0, high: float = sys.float_info.max) -> None:
    """Refuse what is no number within bounds."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= float(value) <= high:
        raise ValueError(f"expected a number from {low:g} to {high:g}, got {value!r:.60}")


def check_texts(value: Any) -> None:
    """Refuse what is no list of texts."""
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise ValueError(f"expected texts, got {value!r:.60}")


def check_motions(motions: npt.NDArray[np.float64]) -> None:
    """Refuse what are no motions, ``(k, 4, 4)``."""
    if motions.shape[1:] != (4, 4) or not are_rigid(motions, FILE_ROUNDING).all():
        raise ValueError("a transform is no rotation and translation")
    if np.abs(motions[:, :3, 3]).max(initial=0.0) > _LARGEST:
        raise ValueError(f"a transform moves farther than {_LARGEST:g}")


def check_covariances(covariances: npt.NDArray[np.float64]) -> None:
    """Refuse what are no covariances of motions, ``(k, 6, 6)``."""
    if covariances.shape[1:] != (6, 6) or not are_semidefinite(covariances).all():
        raise ValueError("a covariance is not symmetric, or has negative eigenvalues")


def check_evidence(about: Any) -> None:
    """Refuse what is no evidence, as a mapping."""
    for field in fields(Evidence):
        value, kind = about[field.name], str(field.type).removesuffix(" | None")
        if value is None and kind != field.type:
            continue
        if kind == "bool":
            if not isinstance(value, bool):
                raise ValueError(f"{field.name}: expected true or false, got {value!r:.60}")
        elif kind == "int":
            if not isinstance(value, int):
                raise ValueError(f"{field.name}: expected an integer, got {value!r:.60}")
            check_number(value, high=_MOST)
        elif kind == "float":
            check_number(value, *_BOUNDS.get(field.name, (0.0, _LARGEST)))
        elif not isinstance(value, list) or len(value) != 2 or not all(place in _PLACES for place in value):
            raise ValueError(f"{field.name}: expected two of {', '.join(_PLACES)}, got {value!r:.60}")


_BOUNDS = {
    "chance": (-_LARGEST, _LARGEST),  # a logarithm
    "scale": (sys.float_info.min, _LARGEST),  # has one
    "scale_deviation": (0.0, math.inf),  # where the surfaces say nothing about the scale
}
"""Of what is not just any number of at least 0."""
