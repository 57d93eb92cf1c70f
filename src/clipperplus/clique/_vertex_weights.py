"""Weights of the vertices as the search counts them: integers, whose sums are exact."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import OptionError
from ..graphs import Graph
from ..graphs._vertex_weights import as_vertex_weights

__all__ = ["VertexWeights"]

_FLOAT_BITS = 60
"""Floats are counted in units of which all together are so many bits: seven more than a float has, so that rounding to
them loses less than adding floats would."""


class VertexWeights:
    """What vertices weigh: as they were given, and in units."""

    def __init__(self, given: npt.NDArray[Any]) -> None:
        """Take weights that were checked."""
        self._given = given
        self._exponent = 0
        if given.dtype.kind == "f":
            self._exponent = _FLOAT_BITS - math.frexp(math.fsum(given))[1] if given.any() else 0
            self.units = np.rint(np.ldexp(given, self._exponent)).astype(np.int64)
        else:
            self.units = np.array(given, dtype=np.int64)
        """``(n,)``: integers, whose sum is less than 2⁶²."""

    @classmethod
    def of_graph(cls, graph: Graph, weights: Any) -> VertexWeights | None:
        """Check weights that are given for a graph; None are those of the graph, if it has some."""
        given = graph.vertex_weights
        if weights is not None:
            given = as_vertex_weights("vertex_weights", weights, graph.num_vertices, OptionError)
        return None if given is None else cls(given)

    def exactly(self, vertices: npt.NDArray[np.int64]) -> float:
        """Return what vertices weigh together, as it was given: an integer, or a float rounded once."""
        weights = self._given[vertices].tolist()
        return math.fsum(weights) if self._given.dtype.kind == "f" else sum(weights)

    def shown(self, units: int) -> float:
        """Return units as it was given: an integer, or a float."""
        return math.ldexp(units, -self._exponent) if self._given.dtype.kind == "f" else units

    def translated(self, callback: Callable[[float, float, float], object] | None) -> Callable[..., object] | None:
        """Return a callback that takes units for one that wants them as they were given."""
        if callback is None or self._given.dtype.kind != "f":
            return callback
        return lambda weight, upper_bound, seconds: callback(self.shown(weight), self.shown(upper_bound), seconds)
