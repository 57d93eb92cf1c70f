"""What a surface looks like around a point: one file a descriptor, and the table of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ..neighbourhoods import Neighbourhoods
from .fpfh import compute_fpfh, describe_by_fpfh

__all__ = ["DESCRIPTORS", "Descriptor", "compute_fpfh"]

Descriptor: TypeAlias = Callable[[Neighbourhoods, npt.NDArray[np.float64], int], npt.NDArray[np.float32]]
"""``describe(neighbours, normals, threads)``: ``(n, d)`` features, zeros for a point that cannot be described."""

DESCRIPTORS: Mapping[str, Descriptor] = MappingProxyType({"fpfh": describe_by_fpfh})
"""By name."""
