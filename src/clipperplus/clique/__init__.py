"""Graph → clique: ``find_clique`` and the table of its methods."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy.typing as npt

from .._limits import check_fits
from .._validation import as_integer
from .._words import shown
from ..errors import OptionError
from ..graphs import Graph
from ._arguments import as_clique, as_time_limit, check_graph
from ._memory import fit_into_memory
from ._search_state import Callback, SearchState
from ._vertex_weights import VertexWeights
from ._weights import as_weights
from .belachew import BelachewOptions, find_belachew
from .clipper import ClipperOptions, find_clipper
from .clipperplus import find_clipperplus
from .ding import DingOptions, find_ding
from .exact import SearchOptions, find_exact
from .greedy import find_greedy
from .listing import CliqueList, find_cliques_above, find_maximum_cliques
from .pelillo import PelilloOptions, find_pelillo
from .queries import is_clique, is_maximal
from .relaxation import RelaxationOptions, find_relaxation
from .result import Certificate, CliqueResult, CliqueStage, Progress

__all__ = [
    "METHODS",
    "BelachewOptions",
    "Certificate",
    "ClipperOptions",
    "CliqueList",
    "CliqueResult",
    "CliqueStage",
    "DingOptions",
    "PelilloOptions",
    "Progress",
    "RelaxationOptions",
    "SearchOptions",
    "check_limit",
    "clique_number",
    "find_clique",
    "find_cliques_above",
    "find_maximum_cliques",
    "is_clique",
    "is_maximal",
    "method_of",
]


@dataclass(frozen=True)
class Method:
    """A row of the table of methods."""

    find: Callable[..., None]
    """Runs it: ``find(state, **settings)``."""
    settings: Mapping[str, type] = field(default_factory=dict)
    """Which settings of :func:`find_clique` it takes, and the class of each; it has defaults for them."""
    weighs_vertices: bool = False
    """Whether it takes ``vertex_weights``."""
    searches: bool = False
    """Whether it ends with a branch and bound, and so takes ``node_limit``."""
    weighs: bool = False
    """Whether it takes ``weights``."""
    time_limit: float | None = None
    """Default time limit in seconds."""


_RELAXATION = {"relaxation": RelaxationOptions}
_SEARCH = {**_RELAXATION, "search": SearchOptions}
METHODS = {
    "auto": Method(find_exact, _SEARCH, weighs_vertices=True, searches=True, time_limit=1.0),
    "exact": Method(find_exact, _SEARCH, weighs_vertices=True, searches=True),
    "clipper+": Method(find_clipperplus, _RELAXATION, weighs_vertices=True, weighs=True),
    "greedy": Method(find_greedy, weighs_vertices=True),
    "relaxation": Method(find_relaxation, _RELAXATION),
    "clipper": Method(find_clipper, {"options": ClipperOptions}, weighs=True),
    "pelillo": Method(find_pelillo, {"options": PelilloOptions}),
    "ding": Method(find_ding, {"options": DingOptions}),
    "belachew": Method(find_belachew, {"options": BelachewOptions}),
}
"""The methods of :func:`find_clique` by name."""

_Default: TypeAlias = Literal["default"]


def method_of(name: object) -> Method:
    """Return the row of a method; names that are not in the table are refused."""
    method = METHODS.get(name) if isinstance(name, str) else None
    if method is None:
        raise OptionError(f"method: expected one of {', '.join(METHODS)}, got {shown(name)}")
    return method


def check_limit(method: object, time_limit: object) -> float | None:
    """Return the seconds that a method has, None for no limit; what is neither a method nor a limit is refused."""
    chosen = method_of(method)
    if isinstance(time_limit, str) and time_limit == "default":
        return chosen.time_limit
    return as_time_limit(time_limit)


def find_clique(
    graph: Graph,
    *,
    method: str = "auto",
    time_limit: float | _Default | None = "default",
    threads: int = 1,
    start: npt.ArrayLike | None = None,
    callback: Callback | None = None,
    on_interrupt: Literal["raise", "return"] = "raise",
    memory_limit: int | None = None,
    node_limit: int | None = None,
    relaxation: RelaxationOptions | None = None,
    search: SearchOptions | None = None,
    options: ClipperOptions | PelilloOptions | DingOptions | BelachewOptions | None = None,
    vertex_weights: npt.ArrayLike | None = None,
    weights: Any = None,
) -> CliqueResult:
    """Find a large clique, and prove that it is the largest, or the heaviest, where that is possible.

    Parameters
    ----------
    graph
        The graph to search.
    method
        ``"auto"``: reductions, bounds, relaxation and a complete search, under a time limit; ``"exact"``: the same
        without a default limit; ``"clipper+"``, ``"greedy"``, ``"relaxation"``: the paper's algorithms; ``"clipper"``,
        ``"pelillo"``, ``"ding"``, ``"belachew"``: what it compares them with.
    time_limit
        Seconds after which the best clique so far is returned; None or infinity for no limit. The default is 1 s for
        ``"auto"`` and None for the others. Ordering the graph and checking the answer are always completed.
    threads
        Threads to use. The result does not depend on it.
    start
        A clique that is known already, as vertices. The answer is at least as large, or of no lower value.
    callback
        Called as ``callback(size, upper_bound, seconds)`` whenever the best clique gets larger or the bound lower; with
        weights of the vertices, as ``callback(weight, upper_bound, seconds)``.
        What it raises ends the search and is passed on; a KeyboardInterrupt counts as Ctrl-C.
    on_interrupt
        What Ctrl-C does: ``"raise"`` KeyboardInterrupt, or ``"return"`` the best clique so far with its bound.
    memory_limit
        Bytes that the search may need besides the graph and the weights. If it could need more, it works on compressed
        rows where they are smaller, or is refused with :class:`MemoryLimitError`, which says how much it could need.
    node_limit
        Nodes of the branch and bound after which ``"auto"`` and ``"exact"`` stop: a cut-off that, unlike time, gives
        the same answer on every machine. None for no limit.
    relaxation
        Settings of the relaxation, for the methods that use it.
    search
        What ``"auto"`` and ``"exact"`` may use; for experiments.
    options
        Settings of ``"clipper"``, ``"pelillo"``, ``"ding"`` or ``"belachew"``, each of its own class.
    vertex_weights
        ``(n,)``: how much every vertex counts, at least 0, for ``"auto"``, ``"exact"``, ``"clipper+"`` and
        ``"greedy"``: the clique of the largest total weight is wanted. None: the weights of the graph, if it has some.
        Integers are exact; so are sums of floats, up to 2⁻⁶⁰ of all weights together.
    weights
        How much every edge counts, for ``"clipper+"`` and ``"clipper"``: a symmetric matrix, dense or
        ``scipy.sparse``, with entries from 0 to 1 and zeros where the graph has no edge; the diagonal is not used.
        Cliques are then compared by ``result.value`` instead of by size. The answer is a maximal clique of the graph
        all the same; its size and bound count vertices, and the bound is one on size.

    Returns
    -------
    CliqueResult
        The clique is always maximal, ``upper_bound`` is always proven.

    """
    check_graph(graph)
    chosen = method_of(method)
    settings = _settings(method, chosen, relaxation=relaxation, search=search, options=options)
    if weights is not None and not chosen.weighs:
        weighing = " and ".join(repr(name) for name, row in METHODS.items() if row.weighs)
        raise OptionError(f"weights: method {method!r} takes no weights; {weighing} do")
    if node_limit is not None and not chosen.searches:
        raise OptionError(f"node_limit: method {method!r} has no search")
    if callback is not None and not callable(callback):
        raise OptionError(f"callback: expected a function, got {type(callback).__name__}")
    if not isinstance(on_interrupt, str) or on_interrupt not in ("raise", "return"):
        raise OptionError(f"on_interrupt: expected 'raise' or 'return', got {shown(on_interrupt)}")
    limit = check_limit(method, time_limit)
    weighing_vertices = VertexWeights.of_graph(graph, vertex_weights)
    if weighing_vertices is not None and not chosen.weighs_vertices:
        takes = ", ".join(repr(name) for name, row in METHODS.items() if row.weighs_vertices)
        raise OptionError(f"vertex_weights: method {method!r} takes none, {takes} do; graph.unweighted() has none")
    if weighing_vertices is not None and weights is not None:
        raise OptionError("weights: expected weights of vertices or of edges, got both; graph.unweighted() has none")

    threads = as_integer("threads", threads, 1, 1024)
    state = SearchState(
        graph,
        vertex_weights=weighing_vertices,
        time_limit=limit,
        threads=threads,
        node_limit=None if node_limit is None else as_integer("node_limit", node_limit, 0, 2**63),
        return_on_interrupt=on_interrupt == "return",
        callback=callback,
    )
    interrupted = False
    try:
        if memory_limit is None:
            check_fits("graph: with a copy in order it takes", 2 * graph.nbytes)
        else:
            limit_in_bytes = as_integer("memory_limit", memory_limit, 0, 2**63)
            state.search_instead(fit_into_memory(graph, limit_in_bytes, threads, weighted=weights is not None))
        if weights is not None:
            state.weigh_edges(as_weights(graph, weights))
            state.record("weights")
        if start is not None:
            state.offer("start", as_clique(graph, "start", start))
        chosen.find(state, **settings)
    except KeyboardInterrupt:
        if on_interrupt == "raise":
            raise
        interrupted = True
    try:
        return state.close(method, interrupted=interrupted)
    except KeyboardInterrupt:  # an answer is there by now: it is not lost to a late, or second, Ctrl-C
        if on_interrupt == "raise":
            raise
        return state.close(method, interrupted=True)


def _settings(method: str, chosen: Method, **given: object) -> dict[str, object]:
    """Return the settings that are given, if the method takes them."""
    settings = {name: setting for name, setting in given.items() if setting is not None}
    for name, setting in settings.items():
        expected = chosen.settings.get(name)
        if expected is None:
            others = f"; it takes {' and '.join(chosen.settings)}" if chosen.settings else ""
            raise OptionError(f"{name}: method {method!r} has no {name}{others}")
        if type(setting) is not expected:  # a field that a subclass adds would mean nothing
            raise OptionError(f"{name}: expected {expected.__name__}, got {type(setting).__name__}")
    return settings


def clique_number(graph: Graph, *, threads: int = 1) -> int:
    """Return the size of the largest clique, proven; this can take long. Weights do not count."""
    check_graph(graph)
    return find_clique(graph.unweighted(), method="exact", threads=threads).size
