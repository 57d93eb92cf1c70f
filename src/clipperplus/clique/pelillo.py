"""Pelillo's method: replicator dynamics on the Motzkin–Straus programme.

M. Pelillo, "Relaxation labeling networks for the maximum clique problem", Journal of Artificial Neural Networks, 1995.

Maximise ``x' A x`` over the simplex by ``x_i ← x_i (A x)_i / x' A x``; the maximum is 1 - 1/ω, and the indicator of a
maximum clique, divided by its size, reaches it.
"""

from __future__ import annotations

from dataclasses import dataclass

from ._replicator import ReplicatorOptions, replicate
from ._search_state import SearchState

__all__ = ["PelilloOptions", "find_pelillo"]


@dataclass(frozen=True, eq=False, kw_only=True)
class PelilloOptions(ReplicatorOptions):
    """Settings of Pelillo's method."""

    regularisation: float = 0.0
    """ρ: maximise ``x' (A + ρ I) x``. Some maximisers for plain A are no cliques; with ½ (Bomze, 1997) all are."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_numbers("regularisation", high=1.0)


def find_pelillo(state: SearchState, options: PelilloOptions | None = None) -> None:
    """Run Pelillo's method on the whole graph."""
    replicate(state, "pelillo", options or PelilloOptions())
