"""Algorithm 2 of CLIPPER+: a maximal clique from a continuous relaxation.

K. Fathian and T. Summers, "CLIPPER+: A Fast Maximal Clique Algorithm for Robust Global Registration", RA-L 2024.

Maximise ``u' M_d u`` over nonnegative unit vectors by projected gradient ascent with Armijo steps, where ``M_d`` has 1
for joined pairs and the diagonal and -d elsewhere; raise d until the support of u is a clique.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

from .. import _core
from ..errors import OptionError
from ..validation import as_array, as_integer, as_number
from .bounds import bound_by_colours, bound_by_cores
from .ordering import order_by_core
from .run import Run

__all__ = ["RelaxationOptions", "find_relaxation", "relax"]


@dataclass(frozen=True, eq=False)
class RelaxationOptions:
    """Settings of Algorithm 2. The defaults are the paper authors'."""

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
    start: npt.ArrayLike | None = None
    """Start vector, one nonnegative entry per vertex of the graph. None: all ones, or in ``clipper+`` ones outside the
    greedy clique."""

    def __post_init__(self) -> None:
        for name in ("max_inner", "max_outer", "max_line_search"):
            self._set(name, as_integer(name, getattr(self, name), 1, 10**9))
        for name in ("tol_u", "tol_f", "epsilon"):
            self._set(name, as_number(name, getattr(self, name), 0.0, math.inf))
        for name in ("sigma", "beta"):
            self._set(name, as_number(name, getattr(self, name), 0.0, 1.0, open_interval=True))
        self._set("max_alpha", as_number("max_alpha", self.max_alpha, 0.0, math.inf, open_interval=True))
        self._set("min_alpha", as_number("min_alpha", self.min_alpha, 0.0, self.max_alpha))

    def _set(self, name: str, value: float) -> None:
        object.__setattr__(self, name, value)  # frozen, but this is construction

    def start_vector(self, n: int) -> npt.NDArray[np.float64] | None:
        """Return the start vector, checked against a graph of n vertices."""
        if self.start is None:
            return None
        start = as_array("start", self.start, OptionError)
        if start.dtype.kind not in "biuf":
            raise OptionError(f"start: expected numbers, got dtype {start.dtype}")
        start = np.ascontiguousarray(start, dtype=np.float64)
        if start.shape != (n,):
            raise OptionError(f"start: expected one entry per vertex, shape ({n},), got {start.shape}")
        wrong = np.flatnonzero(~(np.isfinite(start) & (start >= 0)))
        if wrong.size:
            raise OptionError(f"start: entry {wrong[0]} is {start[wrong[0]]}; expected finite, nonnegative numbers")
        if not start.any() and n > 0:
            raise OptionError("start: expected at least one positive entry")
        return start

    def _to_core(self) -> _core.RelaxationOptions:
        native = _core.RelaxationOptions()
        for option in fields(self):
            if option.name != "start":
                setattr(native, option.name, getattr(self, option.name))
        return native


def find_relaxation(run: Run, options: RelaxationOptions) -> None:
    """Run Algorithm 2 alone, on the whole graph, then look for a certificate."""
    n = run.graph.num_vertices
    start = options.start_vector(n)
    if n > 0:
        support, steps = relax(run.native, np.ones(n) if start is None else start, options, run.watch)
        run.offer("relaxation", support, vertices=n, iterations=steps)
    ordered = order_by_core(run)
    bound_by_cores(run, ordered)
    bound_by_colours(run, ordered)


def relax(
    graph: _core.Graph, start: npt.NDArray[np.float64], options: RelaxationOptions, watch: _core.Watch
) -> tuple[npt.NDArray[np.int64], int]:
    """Return the vertices where the relaxed solution is positive, largest entries first, and the gradient steps."""
    solution = _core.relax(graph, start, options._to_core(), watch)
    return solution.support, solution.inner_steps
