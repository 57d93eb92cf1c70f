"""Algorithm 1 of CLIPPER+: the degeneracy-ordered greedy maximal clique.

K. Fathian and T. Summers, "CLIPPER+: A Fast Maximal Clique Algorithm for Robust Global Registration", RA-L 2024,
after R. Rossi et al., "Parallel Maximum Clique Algorithms", 2015.
"""

from __future__ import annotations

from ._search_state import SearchState

__all__ = ["find_greedy"]


def find_greedy(state: SearchState) -> None:
    """Run Algorithm 1 alone, with the bounds that come cheap."""
    state.find_greedy()
