"""Replicator dynamics on the Motzkin–Straus programme: what the methods of Pelillo and of Ding share."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .. import _core
from ._options import ContinuousOptions
from ._rounding import offer_largest_entries
from ._search_state import SearchState

__all__ = ["ReplicatorOptions", "replicate"]


@dataclass(frozen=True, eq=False, kw_only=True)
class ReplicatorOptions(ContinuousOptions):
    """Settings of replicator dynamics. Without ``start``, it begins at the barycentre, slightly perturbed."""

    tolerance: float = 1e-7
    """It ends when every entry changes by less than this share of the largest one …"""
    max_steps: int = 3000
    """… or after so many steps."""
    epsilon: float = 1e-20
    """Entries below this share of the largest one become zero."""
    perturbation: float = 1e-3
    """The start is 1 plus up to this in every entry: where all vertices are alike, the barycentre is never left."""
    seed: int = 0
    """Of the perturbation."""

    def __post_init__(self) -> None:
        self._check_integers("max_steps")
        self._check_integers("seed", low=0, high=2**63)
        self._check_numbers("tolerance", "perturbation")
        self._check_numbers("epsilon", high=1.0)


def replicate(state: SearchState, stage: str, options: ReplicatorOptions) -> None:
    """Follow the dynamics to its end, round, and look for a certificate."""
    n = state.native.num_vertices
    start = options.start_vector(n)
    if n > 0:
        if start is None:
            start = 1.0 + options.perturbation * np.random.default_rng(options.seed).random(n)
        settings = options.to_core(_core.ReplicatorOptions())
        x, steps, settled = _core.replicate(state.native, start, settings, state.watch)
        offer_largest_entries(state, stage, x, iterations=steps, converged=settled)
    state.bound_afterwards()
