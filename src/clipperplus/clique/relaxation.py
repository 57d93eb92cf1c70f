"""Algorithm 2 of CLIPPER+: a maximal clique from a continuous relaxation.

K. Fathian and T. Summers, "CLIPPER+: A Fast Maximal Clique Algorithm for Robust Global Registration", RA-L 2024.

Maximise ``u' M_d u`` over nonnegative unit vectors by projected gradient ascent with Armijo steps, where ``M_d`` has 1
for joined pairs and the diagonal and -d elsewhere; raise d until the support of u is a clique.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

from .. import _core
from .bounds import bound_afterwards
from .options import ContinuousOptions
from .rounding import offer_largest_entries
from .run import Run

__all__ = ["RelaxationOptions", "find_relaxation", "relax"]


@dataclass(frozen=True, eq=False, kw_only=True)
class RelaxationOptions(ContinuousOptions):
    """Settings of Algorithm 2. The defaults are the paper authors'.

    Without ``start``, it begins with all ones, and in ``clipper+`` with ones outside the greedy clique.
    """

    tol_u: float = 1e-8
    """The inner loop ends when the step in u is shorter than this …"""
    tol_f: float = 1e-9
    """… or changes the objective by less than this."""
    max_inner: int = 200
    """Gradient steps for one d."""
    max_outer: int = 1000
    """Values of d."""
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
    epsilon: float = 1e-9
    """What counts as zero in u; the clique is where u is larger."""

    def __post_init__(self) -> None:
        self._check_integers("max_inner", "max_outer", "max_line_search")
        self._check_numbers("tol_u", "tol_f", "epsilon")
        self._check_numbers("sigma", "beta", high=1.0, open_interval=True)
        self._check_numbers("max_alpha", open_interval=True)
        self._check_numbers("min_alpha", high=self.max_alpha)

    def _to_core(self) -> _core.RelaxationOptions:
        native = _core.RelaxationOptions()
        for option in fields(self):
            if option.name != "start":
                setattr(native, option.name, getattr(self, option.name))
        return native


def find_relaxation(run: Run, relaxation: RelaxationOptions) -> None:
    """Run Algorithm 2 alone, on the whole graph, then look for a certificate."""
    n = run.graph.num_vertices
    start = relaxation.start_vector(n)
    if n > 0:
        solution = relax(run.native, np.ones(n) if start is None else start, relaxation, run.watch)
        offer_largest_entries(
            run, "relaxation", solution.u, iterations=solution.inner_steps, count=solution.support.size
        )
    bound_afterwards(run)


def relax(
    graph: _core.Graph, start: npt.NDArray[np.float64], options: RelaxationOptions, watch: _core.Watch
) -> _core.RelaxationResult:
    """Return the relaxed solution, and the vertices where it is positive, largest entries first."""
    return _core.relax(graph, start, options._to_core(), watch)
