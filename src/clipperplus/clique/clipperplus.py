"""Algorithm 3: CLIPPER+.

K. Fathian and T. Summers, "CLIPPER+: A Fast Maximal Clique Algorithm for Robust Global Registration", RA-L 2024.

The listing is in ``cpp/src/clique/clipperplus.cpp``; in ``weighted_clipperplus.cpp`` and ``edge_weighted.cpp`` where
vertices or edges have weights, what the paper names as future work.
"""

from __future__ import annotations

from ._search_state import SearchState
from .relaxation import RelaxationOptions

__all__ = ["find_clipperplus"]


def find_clipperplus(state: SearchState, relaxation: RelaxationOptions | None = None) -> None:
    """Greedy clique, core pruning, early end with a certificate, relaxation from the greedy clique's complement."""
    state.find_clipperplus(None if relaxation is None else relaxation.for_graph(state.native))
