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
import numpy.typing as npt

from .. import _core
from ..errors import OptionError
from ._bounds import bound_afterwards
from ._options import AscentOptions
from ._rounding import offer_largest_entries
from ._search_state import SearchState

__all__ = ["RelaxationOptions", "find_relaxation", "relax"]


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


def find_relaxation(state: SearchState, relaxation: RelaxationOptions) -> None:
    """Run Algorithm 2 alone, on the whole graph, then look for a certificate."""
    n = state.graph.num_vertices
    start = relaxation.start_vector(n)
    if n > 0:
        solution = relax(state.native, np.ones(n) if start is None else start, relaxation, state.watch)
        steps, converged, size = solution.inner_steps, solution.finished, solution.support.size
        offer_largest_entries(state, "relaxation", solution.u, iterations=steps, converged=converged, named=size)
    bound_afterwards(state)


def relax(
    graph: _core.Graph,
    start: npt.NDArray[np.float64],
    options: RelaxationOptions,
    watch: _core.Watch,
    weights: _core.EdgeWeights | None = None,
) -> _core.RelaxationResult:
    """Return the relaxed solution, and the vertices where it is positive, largest entries first."""
    return _core.relax(graph, start, options.to_core(_core.RelaxationOptions()), watch, weights)
