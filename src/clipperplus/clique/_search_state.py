"""What is known during a search: its limits, its clock and stages, the best clique and bound so far."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from .. import _core
from .._timing import Stopwatch
from ..graphs import Graph
from ._vertex_weights import VertexWeights
from .result import Certificate, CliqueResult, CliqueStage, Progress

__all__ = ["Callback", "SearchState"]

Callback: TypeAlias = Callable[[float, float, float], object]
"""``callback(size, upper_bound, seconds)``; with weights of the vertices, both are weights."""
_NO_NODE_LIMIT = 2**64 - 1


class SearchState:
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
        self.graph = graph
        self.vertex_weights = vertex_weights
        """What the vertices weigh; None: 1 each."""
        self.native = graph._native
        """The graph that the steps work on: the input, perhaps stored in another way."""
        self.threads = threads
        self.time_limit = time_limit
        self.nodes = 0
        self._node_limit = _NO_NODE_LIMIT if node_limit is None else node_limit
        self.clique: npt.NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self.edge_weights: _core.EdgeWeights | None = None
        """Weights of the edges. With them cliques are compared by value, not by size."""
        self.value = 0.0
        """Of the best clique so far, where edges have weights."""
        self.relaxed: npt.NDArray[np.float64] | None = None
        """The vector that a continuous method ended with."""
        self.upper_bound = graph.num_vertices if vertex_weights is None else int(vertex_weights.units.sum())
        """Proven so far, in the units of the weights: no clique has more vertices, or is heavier."""
        self._certificate = Certificate.NONE
        self._callback = callback
        self._history: list[Progress] = []
        self._told: tuple[int, int] | None = None
        self._stages: list[CliqueStage] = []
        self._stopwatch = Stopwatch()
        self.watch = _core.Watch(time_limit, return_on_interrupt)
        """What ends the kernels of this search."""

    @property
    def size(self) -> int:
        """Size of the best clique so far."""
        return self.clique.size

    @property
    def weight(self) -> int:
        """What the best clique so far weighs, in the units of the weights of the vertices; its size without any."""
        return self._weight_of(self.clique)

    def _weight_of(self, clique: npt.NDArray[np.int64]) -> int:
        return clique.size if self.vertex_weights is None else self.vertex_weights.of(clique)

    @property
    def proven(self) -> bool:
        """Whether the best clique so far is known to be a maximum one."""
        return self.weight == self.upper_bound

    def nodes_left(self) -> int:
        """Nodes that a branch and bound may still look at."""
        return _NO_NODE_LIMIT if self._node_limit == _NO_NODE_LIMIT else max(0, self._node_limit - self.nodes)

    @property
    def out_of_time(self) -> bool:
        """Whether the time limit has passed, or Ctrl-C has come and the best so far is wanted."""
        return self.watch.expired

    def offer(
        self,
        stage: str,
        claim: npt.NDArray[np.int64],
        *,
        vertices: int,
        iterations: int | None = None,
        named: int | None = None,
        converged: bool | None = None,
    ) -> None:
        """End a stage with the clique that it claims, best vertices first.

        The claim is repaired, grown to a maximal clique, by the heaviest vertices where they have weights, and kept if
        it is better than the best so far. With ``named``
        only so many vertices are claimed, and the others say in which order to grow them; with 0 that is how the method
        makes its clique, and nothing counts as repaired.
        """
        if self.vertex_weights is not None:
            named = claim.size if named is None else named
            claim = np.concatenate((claim, self.vertex_weights.heaviest_first))
        clique, removed, added = _core.make_maximal(self.graph._native, claim, named)
        if named == 0:
            added = 0
        if self.edge_weights is not None:
            value = self.edge_weights.value_of(clique)
            if value > self.value:
                self.clique, self.value = clique, value
        elif self._weight_of(clique) > self.weight or not self.size:
            self.clique = clique
        self.record(stage, vertices=vertices, iterations=iterations, removed=removed, added=added, converged=converged)
        self.progress(self.weight, self.upper_bound)

    def bound(self, upper_bound: int, certificate: Certificate) -> None:
        """Take a proven upper bound on the clique number."""
        if upper_bound < self.upper_bound or self._certificate is Certificate.NONE:
            self.upper_bound = min(upper_bound, self.upper_bound)
            self._certificate = certificate
            self.progress(self.weight, self.upper_bound)

    def progress(self, weight: int, upper_bound: int, seconds: float | None = None) -> None:
        """Note an improvement and tell the caller; what is no improvement is not passed on."""
        if self.size == 0 and weight == 0:
            return
        known_weight, known_bound = self._told or (weight, upper_bound)
        if self.edge_weights is None:  # a clique of better value may have fewer vertices
            weight = max(weight, known_weight)
        upper_bound = max(weight, min(upper_bound, known_bound))
        if (weight, upper_bound) == self._told:
            return
        self._told = weight, upper_bound
        when = self.seconds if seconds is None else seconds
        news = Progress(when, self._shown(weight), self._shown(upper_bound))
        self._history.append(news)
        if self._callback is not None:
            self._callback(news.size, news.upper_bound, news.seconds)

    @property
    def seconds(self) -> float:
        """Time since the start."""
        return self._stopwatch.seconds

    @property
    def on_progress(self) -> Callable[[int, int], None] | None:
        """Whom a kernel tells of size and upper bound; None if nobody listens, and it keeps the course for later."""
        return None if self._callback is None else self.progress

    def record(
        self,
        stage: str,
        *,
        vertices: int,
        iterations: int | None = None,
        removed: int = 0,
        added: int = 0,
        converged: bool | None = None,
    ) -> None:
        """End a stage: it lasted from the end of the previous one until now."""
        ended = CliqueStage(
            name=stage,
            seconds=self._stopwatch.split(),
            count=iterations,
            clique_size=self.size,
            vertices=vertices,
            removed=removed,
            added=added,
            converged=converged,
        )
        self._stages.append(ended)

    def _shown(self, value: int) -> float:
        """Return a number of vertices, or of units, as the caller counts."""
        return value if self.vertex_weights is None else self.vertex_weights.shown(value)

    def result(self, method: str, *, interrupted: bool = False) -> CliqueResult:
        """Close the books."""
        if self.size == 0 and self.graph.num_vertices > 0:  # interrupted before there was any clique
            self.offer("start", self.clique, vertices=self.graph.num_vertices)
        self.clique.flags.writeable = False
        if self.proven and self._certificate is Certificate.NONE:  # the clique is the whole graph
            self._certificate = Certificate.CORE_BOUND
        weight = self.size if self.vertex_weights is None else self.vertex_weights.exactly(self.clique)
        return CliqueResult(
            vertices=self.clique,
            weight=weight,
            upper_bound=weight if self.proven else max(weight, self._shown(self.upper_bound)),
            certificate=self._certificate if self.proven else Certificate.NONE,
            stages=tuple(self._stages),
            seconds=self.seconds,
            method=method,
            interrupted=interrupted or self.watch.interrupted,
            relaxed=self.relaxed,
            value=None if self.edge_weights is None else self.value,
            history=tuple(self._history),
        )
