"""The course of one search: its clock, its stages, and the best clique and bound so far."""

from __future__ import annotations

import time

import numpy as np
import numpy.typing as npt

from .. import _core
from ..graph import Graph
from .result import Certificate, CliqueResult, Stage

__all__ = ["Run"]


class Run:
    """Collects what the steps of a method find. Every clique offered is checked against the input graph."""

    def __init__(self, graph: Graph, *, time_limit: float | None, threads: int = 1, node_limit: int = 2**63) -> None:
        self.graph = graph
        self.threads = threads
        self.nodes = 0
        self._node_limit = node_limit
        self.clique: npt.NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self.upper_bound = graph.num_vertices
        self._certificate = Certificate.NONE
        self._stages: list[Stage] = []
        self._start = self._last = time.perf_counter()
        self._deadline = None if time_limit is None else self._start + time_limit

    @property
    def size(self) -> int:
        """Size of the best clique so far."""
        return self.clique.size

    @property
    def proven(self) -> bool:
        """Whether the best clique so far is known to be a maximum one."""
        return self.size == self.upper_bound

    def seconds_left(self) -> float | None:
        """Time until the limit; None without one."""
        return None if self._deadline is None else max(0.0, self._deadline - time.perf_counter())

    def nodes_left(self) -> int:
        """Nodes that a branch and bound may still look at."""
        return max(0, self._node_limit - self.nodes)

    @property
    def out_of_time(self) -> bool:
        """Whether the time limit has passed."""
        return self.seconds_left() == 0.0

    def offer(self, stage: str, claim: npt.NDArray[np.int64], *, vertices: int, iterations: int) -> None:
        """End a stage with the clique that it claims, best vertices first.

        The claim is repaired, grown to a maximal clique, and kept if it is larger than the best so far.
        """
        clique, removed, added = _core.make_maximal(self.graph._native, claim)
        if clique.size > self.size:
            self.clique = clique
        self.record(stage, vertices=vertices, iterations=iterations, removed=removed, added=added)

    def bound(self, upper_bound: int, certificate: Certificate) -> None:
        """Take a proven upper bound on the clique number."""
        if upper_bound < self.upper_bound or self._certificate is Certificate.NONE:
            self.upper_bound = min(upper_bound, self.upper_bound)
            self._certificate = certificate

    def record(
        self, stage: str, *, vertices: int, iterations: int | None = None, removed: int = 0, added: int = 0
    ) -> None:
        """End a stage: it lasted from the end of the previous one until now."""
        now = time.perf_counter()
        self._stages.append(Stage(stage, self.size, vertices, now - self._last, iterations, removed, added))
        self._last = now

    def result(self, method: str) -> CliqueResult:
        """Close the books."""
        self.clique.flags.writeable = False
        return CliqueResult(
            vertices=self.clique,
            upper_bound=self.upper_bound,
            certificate=self._certificate if self.proven else Certificate.NONE,
            stages=tuple(self._stages),
            seconds=time.perf_counter() - self._start,
            method=method,
        )
