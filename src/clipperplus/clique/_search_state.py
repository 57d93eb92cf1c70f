"""What is known during a search: the core's state, and what Python adds to it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from .. import _core
from ..graphs import Graph
from ._vertex_weights import VertexWeights
from .result import Certificate, CliqueResult, CliqueStage, Progress

__all__ = ["Callback", "SearchState"]

Callback: TypeAlias = Callable[[float, float, float], object]
"""``callback(size, upper_bound, seconds)``; with weights of the vertices, both are weights."""

_CERTIFICATES = tuple(Certificate)
"""In the order in which the core numbers them."""


class SearchState(_core.SearchState):
    """Collects what the steps of a method find. Every clique offered is checked against the input graph."""

    def __init__(
        self,
        graph: Graph,
        *,
        time_limit: float | None = None,
        threads: int = 1,
        node_limit: int | None = None,
        return_on_interrupt: bool = False,
        callback: Callback | None = None,
        vertex_weights: VertexWeights | None = None,
    ) -> None:
        native = graph._native
        units = None
        if vertex_weights is not None:
            units = vertex_weights.units
            callback = vertex_weights.translated(callback)
        super().__init__(native, time_limit, threads, node_limit, callback, return_on_interrupt, units)
        self.native = native
        """The graph that the steps work on: the input, perhaps stored in another way."""
        self.edge_weights: _core.EdgeWeights | None = None
        """Weights of the edges. With them cliques are compared by value, not by size."""
        self.relaxed: npt.NDArray[np.float64] | None = None
        """The vector that a continuous method ended with."""
        self._vertex_weights = vertex_weights

    def search_instead(self, same: _core.Graph) -> None:
        """Work on the same graph, stored in another way."""
        super().search_instead(same)
        self.native = same

    def weigh_edges(self, weights: _core.EdgeWeights) -> None:
        """Compare cliques by their value from now on."""
        super().weigh_edges(weights)
        self.edge_weights = weights

    def close(self, method: str, *, interrupted: bool = False) -> CliqueResult:
        """Return what was found."""
        found = self.result()
        vertices, weights = found.vertices(), self._vertex_weights
        vertices.flags.writeable = False
        weight: float = vertices.size
        upper_bound: float = found.upper_bound
        if weights is None:
            history = tuple(map(Progress._make, found.history()))
        else:
            weight = weights.exactly(vertices)
            upper_bound = weight if self.proven else max(weight, weights.shown(found.upper_bound))
            history = tuple(
                Progress(seconds, weights.shown(units), weights.shown(most)) for seconds, units, most in found.history()
            )
        return CliqueResult(
            vertices=vertices,
            weight=weight,
            upper_bound=upper_bound,
            certificate=_CERTIFICATES[found.certificate],
            stages=tuple(map(_stage, found.stages())),
            seconds=found.seconds,
            method=method,
            interrupted=interrupted or found.interrupted,
            relaxed=self.relaxed,
            value=None if self.edge_weights is None else self.value,
            history=history,
        )


def _stage(row: tuple[object, ...]) -> CliqueStage:
    """Make a stage of its fields, in their order: what its constructor does takes four times as long."""
    stage = object.__new__(CliqueStage)
    known = stage.__dict__
    (
        known["name"],
        known["seconds"],
        known["count"],
        known["clique_size"],
        known["vertices"],
        known["removed"],
        known["added"],
        known["converged"],
    ) = row
    return stage
