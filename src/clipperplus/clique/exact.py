"""The maximum clique, with proof: reductions, a good clique from local search, branch and bound on what is left.

P. San Segundo, A. Nikolaev and M. Batsyn, "Infra-chromatic bound for exact maximum clique search", 2015;
E. Tomita et al., "A simple and faster branch-and-bound algorithm for finding a maximum clique", 2010;
Q. Wu, J.-K. Hao and F. Glover, "Multi-neighborhood tabu search for the maximum weight clique problem", 2012.

The rounds are in ``cpp/src/clique/exact.cpp``, and in ``weighted_exact.cpp`` for vertices with weights.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

from .. import _core
from .._words import shown
from ..errors import OptionError
from ._search_state import SearchState
from .relaxation import RelaxationOptions

__all__ = ["SearchOptions", "find_exact"]


@dataclass(frozen=True)
class SearchOptions:
    """What ``auto`` and ``exact`` may use. Every part only saves time: without it the answer has the same size."""

    core_bound: bool = True
    """Stop where core numbers prove the clique to be maximum."""
    colour_bound: bool = True
    """Stop where a greedy colouring proves the clique to be maximum."""
    reduction: bool = True
    """Drop vertices and edges that no larger clique can have."""
    local_search: bool = True
    """Look for larger cliques by tabu search."""
    relaxation: bool = True
    """Look for a larger clique with the paper's relaxation, once the cheap steps have not closed the gap."""
    recolouring: bool = True
    """Bound nodes of the search better by moving vertices between colour classes."""
    propagation: bool = True
    """Bound nodes of the search better by unit propagation over colour classes."""

    def __post_init__(self) -> None:
        for option in fields(self):
            value = getattr(self, option.name)
            if not isinstance(value, bool):
                raise OptionError(f"{option.name}: expected True or False, got {shown(value)}")

    def to_core(self) -> _core.SearchOptions:
        """Copy the settings to those of the core."""
        native = _core.SearchOptions()
        for option in fields(self):
            setattr(native, option.name, getattr(self, option.name))
        return native


def find_exact(
    state: SearchState, relaxation: RelaxationOptions | None = None, search: SearchOptions | None = None
) -> None:
    """Search for the maximum clique: cheap bounds first, then rounds of more and more effort until it is proven."""
    state.find_exact(
        None if relaxation is None else relaxation.for_graph(state.native),
        None if search is None else search.to_core(),
    )
