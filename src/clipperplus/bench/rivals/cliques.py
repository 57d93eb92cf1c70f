"""Cliques of the consistency graph, then least squares; and the whole of :func:`clipperplus.solve`.

P. C. Lusk, K. Fathian and J. P. How, "CLIPPER: a graph-theoretic framework for robust data association", ICRA 2021.
K. Fathian and T. Summers, "CLIPPER+: a fast maximal clique algorithm for robust global registration", RA-L 2024.
All on the graph and the core of this package, which are faster than their authors' own.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...clique import find_clique
from ...consistency import consistency_graph
from ...geometry.motions import fit_transform
from ...registration import Status
from ...registration import solve as solve_matches

__all__ = ["solve", "solve_clipper", "solve_clipper_plus", "solve_largest", "trusts"]

_Array = npt.NDArray[np.float64]


def solve_clipper(source: _Array, target: _Array, epsilon: float) -> _Array | None:
    """Return the motion of the clique of CLIPPER."""
    return _fit("clipper", source, target, epsilon)


def solve_clipper_plus(source: _Array, target: _Array, epsilon: float) -> _Array | None:
    """Return the motion of the clique of CLIPPER+."""
    return _fit("clipper+", source, target, epsilon)


def solve_largest(source: _Array, target: _Array, epsilon: float) -> _Array | None:
    """Return the motion of the largest clique."""
    return _fit("auto", source, target, epsilon)


def _fit(method: str, source: _Array, target: _Array, epsilon: float) -> _Array | None:
    chosen = find_clique(consistency_graph(source, target, epsilon=epsilon), method=method).vertices
    return fit_transform(source[chosen], target[chosen]) if len(chosen) >= 3 else None


def solve(source: _Array, target: _Array, epsilon: float) -> _Array | None:
    """Return what this package answers."""
    return solve_matches(source, target, epsilon=epsilon).T_target_source


def trusts(source: _Array, target: _Array, epsilon: float) -> bool:
    """Whether this package says that its answer can be trusted."""
    return solve_matches(source, target, epsilon=epsilon).status is Status.OK
