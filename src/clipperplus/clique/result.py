"""What a search for a clique returns."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from os import PathLike
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .._timing import Stage
from ..graphs import Graph

__all__ = ["Certificate", "CliqueResult", "CliqueStage", "Progress"]


class Certificate(enum.Enum):
    """Why no clique can be larger."""

    NONE = "none"
    """It is not known whether a larger clique exists."""
    CORE_BOUND = "core bound"
    """No vertex has a core number that would allow a larger clique."""
    COLOUR_BOUND = "colour bound"
    """The vertices that a larger clique would need can be coloured with too few colours."""
    SEARCH = "search"
    """A complete search found none."""


@dataclass(frozen=True, kw_only=True)
class CliqueStage(Stage):
    """One step of a search; its ``count`` is of steps, starts, colours or nodes, where it has such."""

    clique_size: int
    """Size of the best clique known after it."""
    vertices: int
    """Vertices that the step worked on."""
    removed: int = 0
    """Vertices that the check had to remove because they were not joined to all the others."""
    added: int = 0
    """Vertices by which the check enlarged the clique to a maximal one."""
    converged: bool | None = None
    """Whether a continuous method came to an end of its own, not to a limit on steps or time."""

    @property
    def iterations(self) -> int | None:
        """The same as ``count``."""
        return self.count

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain Python values that JSON can hold."""
        return {
            "name": self.name,
            "clique_size": self.clique_size,
            "vertices": self.vertices,
            "seconds": self.seconds,
            "iterations": self.iterations,
            "removed": self.removed,
            "added": self.added,
            "converged": self.converged,
        }


class Progress(NamedTuple):
    """What was known at a time during a search."""

    seconds: float
    """Since the start of the search."""
    size: float
    """Of the best clique so far; with weights of the vertices, what it weighs."""
    upper_bound: float
    """Proven so far: no clique is larger, or heavier."""


@dataclass(frozen=True, eq=False)
class CliqueResult:
    """A maximal clique of the input graph, and what is known about larger ones."""

    vertices: npt.NDArray[np.int64]
    """The clique, sorted; read-only."""
    weight: float
    """What its vertices weigh together: an integer if all weights are; without any, its size."""
    upper_bound: float
    """Proven: no clique is larger, or with weights heavier. It counts as ``weight`` does."""
    certificate: Certificate
    """What proves that the clique is maximum, or ``Certificate.NONE``."""
    stages: tuple[CliqueStage, ...] = field(repr=False)
    """What happened, in order."""
    seconds: float
    """Time of the whole search."""
    method: str
    """The method as it was asked for."""
    interrupted: bool = False
    """Whether Ctrl-C ended the search before it was done."""
    relaxed: npt.NDArray[np.float64] | None = field(default=None, repr=False)
    """What ``relaxation``, ``clipper``, ``pelillo``, ``ding`` and ``belachew`` end with, before it is rounded to a
    clique: one entry per vertex, read-only. None for the other methods, and for a graph without vertices."""

    value: float | None = None
    """``u' M u`` with ``u = 1 / √size`` on the clique and 0 elsewhere, where M has the weights of the edges and ones on
    the diagonal: one and the mean, over the vertices, of the weight that joins them to the others. None without
    weights, where it would be the size."""

    history: tuple[Progress, ...] = field(default=(), repr=False)
    """Every improvement of the clique or of the bound, in order: what a callback is told."""

    @property
    def size(self) -> int:
        """Number of vertices of the clique."""
        return self.vertices.size

    @property
    def optimal(self) -> bool:
        """Whether the clique is proven to be a maximum clique: the largest, or with weights the heaviest."""
        return self.weight == self.upper_bound

    def plot(self, graph: Graph, path: str | PathLike[str] | None = None) -> Any:
        """Draw the clique in its graph, and how size and bound came together.

        On the left is the adjacency matrix, vertices by decreasing core number: edges grey, those of the clique green,
        its vertices marked beside it. On the right are the best clique and the bound against time.

        Parameters
        ----------
        graph
            The graph that was searched.
        path
            Where to write the figure: ``.png``, ``.svg`` or ``.pdf``; None: nowhere.

        Returns
        -------
        matplotlib.figure.Figure
            Needs the extra ``viz``.

        """
        from ..viz.figures import draw_clique

        return draw_clique(self, graph, path)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain Python values that JSON can hold."""
        return {
            "method": self.method,
            "size": self.size,
            "weight": self.weight,
            "value": self.value,
            "upper_bound": self.upper_bound,
            "optimal": self.optimal,
            "certificate": self.certificate.value,
            "vertices": self.vertices.tolist(),
            "seconds": self.seconds,
            "interrupted": self.interrupted,
            "relaxed": None if self.relaxed is None else self.relaxed.tolist(),
            "stages": [stage.to_dict() for stage in self.stages],
            "history": [progress._asdict() for progress in self.history],
        }
