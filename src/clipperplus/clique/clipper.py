"""CLIPPER, the predecessor of CLIPPER+, for graphs with and without weights.

P. C. Lusk, K. Fathian and J. P. How, "CLIPPER: A graph-theoretic framework for robust data association", ICRA 2021.

Maximise ``u' M_d u`` over nonnegative unit vectors by gradient ascent, where ``M_d`` has the weights of the edges (1
without weights), ones on the diagonal and -d elsewhere; raise d by the mean of ``(M u)_i / (M̄ u)_i`` until no entry
violates the constraint. The ``round(u' M_d u)`` largest entries are the answer.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from .. import _core
from ._options import AscentOptions
from ._rounding import offer_largest_entries
from ._search_state import SearchState

__all__ = ["ClipperOptions", "find_clipper"]


@dataclass(frozen=True, eq=False, kw_only=True)
class ClipperOptions(AscentOptions):
    """Settings of CLIPPER. The defaults are its authors'. Without ``start``, it begins at random."""

    max_line_search: int = 99
    """Tries for one step, in which the objective may fall by no more than epsilon."""
    beta: float = 0.25
    """The step size is 1 at first and shrinks by this after a failed try, in (0, 1)."""
    seed: int = 0
    """Of the start vector."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_integers("seed", low=0, high=2**63)
        self._check_numbers("beta", high=1.0, open_interval=True)


def find_clipper(state: SearchState, options: ClipperOptions | None = None) -> None:
    """Run CLIPPER on the whole graph."""
    options = options or ClipperOptions()
    n = state.native.num_vertices
    start = options.start_vector(n)
    if n > 0:
        if start is None:
            start = np.random.default_rng(options.seed).random(n)
        settings = options.to_core(_core.ClipperOptions())
        u, value, steps, finished = _core.ascend_clipper(state.native, state.edge_weights, start, settings, state.watch)
        size = min(n, max(1, math.floor(value + 0.5)))
        offer_largest_entries(state, "clipper", u, iterations=steps, converged=finished, named=size)
    state.bound_afterwards()
