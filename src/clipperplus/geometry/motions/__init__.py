"""Models of the motion between two clouds: one file each, and the table of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from .rigid import fit_rigid, fit_transform

__all__ = ["MOTIONS", "fit_transform"]

_Array: TypeAlias = npt.NDArray[np.float64]

MOTIONS: Mapping[str, Callable[[_Array, _Array, _Array], _Array]] = MappingProxyType({"rigid": fit_rigid})
"""By name, what fits a motion: checked ``(n, 3)`` source and target points and ``(n,)`` weights in, ``(4, 4)`` out."""
