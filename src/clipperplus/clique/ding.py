"""Ding's method: replicator dynamics on a generalised Motzkin–Straus programme.

C. Ding, T. Li and M. Jordan, "Nonnegative matrix factorization for combinatorial optimization: spectral clustering,
graph matching, and clique finding", ICDM 2008.

Maximise ``x' A x`` where the β-th powers of the nonnegative entries sum to one, by
``x_i ← (x_i (A x)_i / x' A x)^{1/β}``. With β slightly above 1 the objective is smoother than Motzkin–Straus; in return
entries of vertices with neighbours become small but not zero, so that rounding is part of the method.
"""

from __future__ import annotations

from dataclasses import dataclass

from ._replicator import ReplicatorOptions, replicate
from ._search_state import SearchState

__all__ = ["DingOptions", "find_ding"]


@dataclass(frozen=True, eq=False, kw_only=True)
class DingOptions(ReplicatorOptions):
    """Settings of Ding's method."""

    beta: float = 1.05
    """Power under which the entries sum to one, from 1 to 2."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_numbers("beta", low=1.0, high=2.0)


def find_ding(state: SearchState, options: DingOptions | None = None) -> None:
    """Run Ding's method on the whole graph."""
    replicate(state, "ding", options or DingOptions())
