"""CLIPPER, the predecessor of CLIPPER+, for graphs with and without weights.

P. C. Lusk, K. Fathian and J. P. How, "CLIPPER: A graph-theoretic framework for robust data association", ICRA 2021.

Maximise ``u' M_d u`` over nonnegative unit vectors by gradient ascent, where ``M_d`` has the weights of the edges (1
without weights), ones on the diagonal and -d elsewhere; raise d by the mean of ``(M u)_i / (M̄ u)_i`` until no entry
violates the constraint. The ``round(u' M_d u)`` largest entries are the answer.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from .. import _core
from .bounds import bound_afterwards
from .options import ContinuousOptions
from .rounding import offer_largest_entries
from .run import Run

__all__ = ["ClipperOptions", "WeightRows", "find_clipper"]

WeightRows: TypeAlias = tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], npt.NDArray[np.float64]]
"""Offsets, columns and values of the rows of a symmetric matrix."""


@dataclass(frozen=True, eq=False, kw_only=True)
class ClipperOptions(ContinuousOptions):
    """Settings of CLIPPER. The defaults are its authors'. Without ``start``, it begins at random."""

    tol_u: float = 1e-8
    """The inner loop ends when the step in u is shorter than this …"""
    tol_f: float = 1e-9
    """… or changes the objective by less than this."""
    max_inner: int = 200
    """Gradient steps for one d."""
    max_outer: int = 1000
    """Values of d."""
    max_line_search: int = 99
    """Tries for one step."""
    beta: float = 0.25
    """The step size is 1 at first and shrinks by this after a failed try, in (0, 1)."""
    epsilon: float = 1e-9
    """What counts as zero in u, and how far the objective may fall in a step."""
    seed: int = 0
    """Of the start vector."""

    def __post_init__(self) -> None:
        self._check_integers("max_inner", "max_outer", "max_line_search")
        self._check_integers("seed", low=0, high=2**63)
        self._check_numbers("tol_u", "tol_f", "epsilon")
        self._check_numbers("beta", high=1.0, open_interval=True)

    def _to_core(self) -> _core.ClipperOptions:
        native = _core.ClipperOptions()
        for option in fields(self):
            if option.name not in ("start", "seed"):
                setattr(native, option.name, getattr(self, option.name))
        return native


def find_clipper(run: Run, options: ClipperOptions, weights: WeightRows | None) -> None:
    """Run CLIPPER on the whole graph."""
    n = run.graph.num_vertices
    start = options.start_vector(n)
    if n > 0:
        if start is None:
            start = np.random.default_rng(options.seed).random(n)
        u, value, steps = _core.ascend_clipper(run.native, weights, start, options._to_core(), run.watch)
        size = min(n, max(1, math.floor(value + 0.5)))
        offer_largest_entries(run, "clipper", u, iterations=steps, count=size)
    bound_afterwards(run)
