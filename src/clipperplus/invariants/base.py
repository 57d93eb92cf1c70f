"""What every invariant offers, and what the landmarks of several have in common."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
import numpy.typing as npt

from .._validation import as_array, as_number
from ..errors import LandmarkError, OptionError

__all__ = ["Indices", "Invariant", "Pairs", "Vector", "angles", "as_residuals", "dot", "set_angle", "two_arrays"]

Indices: TypeAlias = npt.NDArray[np.int64]
Vector: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Pairs:
    """One association of each of many pairs."""

    source: Indices
    """Its landmark in the first set, by number …"""
    target: Indices
    """… and in the second one."""
    association: Indices
    """Its own number."""


@runtime_checkable
class Invariant(Protocol):
    """What :func:`clipperplus.consistency_graph` asks of an invariant. Any class with these two methods is one.

    It compares two associations; a class whose ``arity`` is 3 or 4 is a :class:`GroupInvariant`.
    """

    def landmarks(self, name: str, given: Any) -> Any:
        """Check one set of landmarks, called ``name`` in errors; return it in a form that has a length."""
        ...

    def residuals(self, source: Any, target: Any, first: Pairs, second: Pairs, epsilon: Vector) -> Vector:
        """Return how much pairs of associations disagree; they are consistent where this is below 1.

        ``first`` and ``second`` are the two associations of every pair, as numbers of their source and target
        landmarks; ``epsilon`` is the length by which distances may differ, for every pair. What is no number (NaN) is
        not consistent.
        """
        ...


def as_residuals(values: Any) -> Vector:
    """Return what an invariant of the caller's says as real numbers."""
    array = as_array("invariant", values, OptionError)
    if array.dtype.kind not in "biuf":
        raise OptionError(f"invariant: expected residuals that are real numbers, got dtype {array.dtype}")
    return array.astype(np.float64)


def set_angle(invariant: Any, name: str) -> None:
    """Check a field that is an angle in radians."""
    bound = as_number(name, getattr(invariant, name), 0.0, math.pi, open_interval=True)
    object.__setattr__(invariant, name, bound)  # frozen, but this is construction


def two_arrays(name: str, given: Any, first: str, second: str) -> tuple[Any, Any]:
    """Return the two parts of landmarks that are given as a pair."""
    if not isinstance(given, (tuple, list)) or len(given) != 2:
        raise LandmarkError(f"{name}: expected a pair ({first}, {second}), got {type(given).__name__}")
    return given[0], given[1]


def dot(a: Vector, b: Vector) -> Vector:
    """Return the products of many vectors with as many others."""
    return np.asarray((a * b).sum(axis=1))


def angles(a: Vector, b: Vector, oriented: bool) -> Vector:
    """Return the angles between unit vectors; without orientation the smaller one, at most 90°."""
    sine, cosine = np.linalg.norm(np.cross(a, b), axis=1), dot(a, b)
    return np.asarray(np.arctan2(sine, cosine if oriented else np.abs(cosine)))
