"""Graph → clique: ``find_clique`` and the table of its methods."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from ..errors import GraphError, OptionError
from ..graph import Graph
from ..validation import as_integer, as_number
from .clipperplus import find_clipperplus
from .exact import find_exact
from .greedy import find_greedy
from .relaxation import RelaxationOptions, find_relaxation
from .result import Certificate, CliqueResult, Stage
from .run import Run

__all__ = ["METHODS", "Certificate", "CliqueResult", "RelaxationOptions", "Stage", "find_clique"]


@dataclass(frozen=True)
class Method:
    """A row of the table of methods."""

    find: Callable[[Run, RelaxationOptions], None]
    """Runs it."""
    relaxes: bool
    """Whether it takes ``relaxation`` options."""
    searches: bool = False
    """Whether it ends with a branch and bound, and so takes ``node_limit``."""
    time_limit: float | None = None
    """Default time limit in seconds."""


METHODS = {
    "auto": Method(
        find_exact,
        relaxes=True,
        searches=True,
        time_limit=1.0,
    ),
    "exact": Method(find_exact, relaxes=True, searches=True),
    "clipper+": Method(find_clipperplus, relaxes=True),
    "greedy": Method(lambda run, _: find_greedy(run), relaxes=False),
    "relaxation": Method(find_relaxation, relaxes=True),
}
"""The methods of :func:`find_clique` by name."""

_Default: TypeAlias = Literal["default"]
_DEFAULT_RELAXATION = RelaxationOptions()


def find_clique(
    graph: Graph,
    *,
    method: str = "auto",
    time_limit: float | _Default | None = "default",
    threads: int = 1,
    relaxation: RelaxationOptions | None = None,
    node_limit: int | None = None,
) -> CliqueResult:
    """Find a large clique, and prove that it is the largest where that is possible.

    Parameters
    ----------
    graph
        The graph to search.
    method
        ``"auto"``: reductions, bounds, relaxation and a complete search, under a time limit; ``"exact"``: the same
        without a default limit; ``"clipper+"``, ``"greedy"``, ``"relaxation"``: the paper's algorithms.
    time_limit
        Seconds after which the best clique so far is returned; None or infinity for no limit. The default is 1 s for
        ``"auto"`` and None for the others. Ordering the graph and checking the answer are always completed.
    threads
        Threads to use. The result does not depend on it.
    relaxation
        Settings of the relaxation, for the methods that use it.
    node_limit
        Nodes of the branch and bound after which ``"auto"`` and ``"exact"`` stop: a cut-off that, unlike time, gives
        the same answer on every machine. None for no limit.

    Returns
    -------
    CliqueResult
        The clique is always maximal, ``upper_bound`` is always proven.

    """
    if not isinstance(graph, Graph):
        raise GraphError(
            f"graph: expected a clipperplus.Graph, got {type(graph).__name__}; "
            "Graph.from_adjacency and Graph.from_networkx make one"
        )
    chosen = METHODS.get(method) if isinstance(method, str) else None
    if chosen is None:
        raise OptionError(f"method: expected one of {', '.join(METHODS)}, got {method!r}")
    if relaxation is not None and not chosen.relaxes:
        raise OptionError(f"relaxation: method {method!r} has no relaxation")
    if relaxation is not None and not isinstance(relaxation, RelaxationOptions):
        raise OptionError(f"relaxation: expected RelaxationOptions, got {type(relaxation).__name__}")
    if node_limit is not None and not chosen.searches:
        raise OptionError(f"node_limit: method {method!r} has no search")
    nodes = 2**63 if node_limit is None else as_integer("node_limit", node_limit, 0, 2**63)
    threads = as_integer("threads", threads, 1, 1024)
    seconds = chosen.time_limit if isinstance(time_limit, str) and time_limit == "default" else time_limit
    if isinstance(seconds, float) and seconds == math.inf:
        seconds = None
    if seconds is not None:
        seconds = as_number("time_limit", seconds, 0.0, math.inf)

    run = Run(graph, time_limit=seconds, threads=threads, node_limit=nodes)
    chosen.find(run, relaxation or _DEFAULT_RELAXATION)
    return run.result(method)
