"""Guesses at the motion: one for each large clique of the consistency graph, those that say the same merged."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .. import _core
from ..clique import CliqueResult
from ..geometry.motions import RIGID, Motion
from ..graphs import Graph

__all__ = ["MOST_STEPS", "Guesses", "guess_motions"]

_MOST_STARTS = 3000
"""Associations from which a clique is grown, and …"""
MOST_STEPS = 100_000_000
"""… comparisons of candidates that this may take, about a nanosecond each; if it would be more, every second, third, …
association is a start."""


@dataclass(frozen=True, eq=False)
class Guesses:
    """Distinct motions, those of the largest cliques first."""

    motions: npt.NDArray[np.float64]
    """``(k, 4, 4)``."""
    members: npt.NDArray[np.int32]
    """The associations that they come from, sorted, those of one motion after those of another, which …"""
    offsets: npt.NDArray[np.int64]
    """``(k + 1,)``: … begin and end here."""

    @property
    def cliques(self) -> list[npt.NDArray[np.int64]]:
        """The associations that each comes from, sorted."""
        return np.split(self.members.astype(np.int64), self.offsets[1:-1]) if len(self.motions) else []


def guess_motions(
    graph: Graph,
    clique: CliqueResult,
    source: npt.NDArray[np.float64],
    target: npt.NDArray[np.float64],
    *,
    apart: float,
    most: int,
    most_steps: int = MOST_STEPS,
    model: Motion = RIGID,
    threads: int,
) -> Guesses:
    """Grow cliques from every association and fit a motion to each, to the given clique first.

    ``source`` and ``target`` are the points of every association. Motions that move the source points to places that
    are closer together than ``apart`` (root mean square, metres) are the same.
    """
    # Whatever grows from a member of the given clique would most likely say the same.
    outside = np.ones(graph.num_vertices, dtype=np.bool_)
    outside[clique.vertices] = False
    starts = np.flatnonzero(outside).astype(np.int32)
    steps = int((graph.degrees()[starts].astype(np.int64) ** 2).sum())
    starts = starts[:: max(-(-len(starts) // _MOST_STARTS), -(-steps // most_steps), 1)]
    known = clique.vertices.astype(np.int32)
    motions, offsets, members = _core.find_hypotheses(
        graph._native, source, target, known, starts, most, model.least, apart, threads, model.core
    )
    return Guesses(motions, members, offsets)
