"""Algorithm 2 of CLIPPER+: a maximal clique from a continuous relaxation.

K. Fathian and T. Summers, "CLIPPER+: A Fast Maximal Clique Algorithm for Robust Global Registration", RA-L 2024.

Maximise ``u' M_d u`` over nonnegative unit vectors by projected gradient ascent with Armijo steps, where ``M_d`` has 1
for joined pairs and the diagonal and -d elsewhere; raise d until the support of u is a clique. Instead of the gradient
the steps may follow quasi-Newton directions, the paper's future work.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from .. import _core
from ..errors import OptionError
from ._options import AscentOptions
from ._rounding import offer_largest_entries
from ._search_state import SearchState

__all__ = ["RelaxationOptions", "find_relaxation"]


@dataclass(frozen=True, eq=False, kw_only=True)
class RelaxationOptions(AscentOptions):
    """Settings of Algorithm 2. The defaults are the paper authors'.

    Without ``start``, it begins with all ones, and in ``clipper+`` with ones outside the greedy clique.
    """

    max_line_search: int = 20
    """Tries for one step."""
    sigma: float = 0.01
    """Armijo condition: share of the predicted gain that a step must reach, in (0, 1)."""
    beta: float = 0.5
    """The step size shrinks by this after a failed try and grows by 1/√beta after a good one, in (0, 1)."""
    min_alpha: float = 1e-9
    """Smallest step size."""
    max_alpha: float = 2.0
    """Largest step size."""
    optimiser: Literal["gradient", "lbfgs"] = "gradient"
    """Which way steps go: along the projected gradient, or along directions that limited-memory BFGS makes of it."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_numbers("sigma", "beta", high=1.0, open_interval=True)
        self._check_numbers("max_alpha", open_interval=True)
        self._check_numbers("min_alpha", high=self.max_alpha)
        if not isinstance(self.optimiser, str) or self.optimiser not in ("gradient", "lbfgs"):
            raise OptionError(f"optimiser: expected 'gradient' or 'lbfgs', got {self.optimiser!r}")

    def for_graph(self, graph: _core.Graph) -> _core.RelaxationOptions:
        """Copy the settings to those of the core; the start vector is checked against the graph."""
        native = self.to_core(_core.RelaxationOptions())
        start = self.start_vector(graph.num_vertices)
        if start is not None:
            native.set_start(start)
        return native


def find_relaxation(state: SearchState, relaxation: RelaxationOptions | None = None) -> None:
    """Run Algorithm 2 alone, on the whole graph, then look for a certificate."""
    options = relaxation or RelaxationOptions()
    n = state.native.num_vertices
    start = options.start_vector(n)
    if n > 0:
        start = np.ones(n) if start is None else start
        solution = _core.relax(state.native, start, options.to_core(_core.RelaxationOptions()), state.watch)
        steps, converged, size = solution.inner_steps, solution.finished, solution.support.size
        offer_largest_entries(state, "relaxation", solution.u, iterations=steps, converged=converged, named=size)
    state.bound_afterwards()
