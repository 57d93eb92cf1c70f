"""Belachew and Gillis' method: symmetric rank-one nonnegative matrix approximation.

M. T. Belachew and N. Gillis, "Solving the maximum clique problem with symmetric rank-one non-negative matrix
approximation", Journal of Optimization Theory and Applications, 2017.

Minimise ``‖M_d - w w'‖²`` over ``w ≥ 0``, where ``M_d`` has 1 for joined pairs and the diagonal and -d elsewhere, by
exact minimisation over one coordinate after the other; raise d step by step up to n, from where local minima are the
indicators of maximal cliques.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .. import _core
from ._options import ContinuousOptions
from ._rounding import offer_largest_entries
from ._search_state import SearchState

__all__ = ["BelachewOptions", "find_belachew"]


@dataclass(frozen=True, eq=False, kw_only=True)
class BelachewOptions(ContinuousOptions):
    """Settings of Belachew and Gillis' method. Without ``start``, it begins with all ones."""

    first_d: float = 0.01
    """The first d after zero …"""
    growth: float = 1.5
    """… and the factor from one d to the next."""
    max_sweeps: int = 20
    """Passes over all coordinates for one d."""
    tolerance: float = 1e-6
    """A d ends when every coordinate changes by less."""
    epsilon: float = 1e-9
    """What counts as zero."""

    def __post_init__(self) -> None:
        self._check_integers("max_sweeps")
        self._check_numbers("first_d", low=1e-6, high=1e6)
        self._check_numbers("growth", low=1.001, high=1e6)
        self._check_numbers("tolerance", "epsilon")


def find_belachew(state: SearchState, options: BelachewOptions | None = None) -> None:
    """Run Belachew and Gillis' method on the whole graph."""
    options = options or BelachewOptions()
    n = state.native.num_vertices
    start = options.start_vector(n)
    if n > 0:
        settings = options.to_core(_core.BelachewOptions())
        start = np.ones(n) if start is None else start
        w, sweeps, finished = _core.approximate_by_rank_one(state.native, start, settings, state.watch)
        offer_largest_entries(state, "belachew", w, iterations=sweeps, converged=finished)
    state.bound_afterwards()
