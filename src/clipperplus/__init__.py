"""The largest set of mutually consistent associations, as a maximum clique: fast and with proof."""

import atexit

from . import _core
from .clique import (
    BelachewOptions,
    Certificate,
    ClipperOptions,
    CliqueList,
    CliqueResult,
    DingOptions,
    PelilloOptions,
    RelaxationOptions,
    SearchOptions,
    Stage,
    clique_number,
    find_clique,
    find_cliques_above,
    find_maximum_cliques,
    is_clique,
    is_maximal,
)
from .errors import ClipperPlusError, FileFormatError, GraphError, MemoryLimitError, OptionError
from .graph import Graph
from .info import CoreInfo, core_info, select_simd_from_environment
from .io.graphs import read_graph, write_graph

__version__ = core_info().version

__all__ = [
    "BelachewOptions",
    "Certificate",
    "ClipperOptions",
    "ClipperPlusError",
    "CliqueList",
    "CliqueResult",
    "CoreInfo",
    "DingOptions",
    "FileFormatError",
    "Graph",
    "GraphError",
    "MemoryLimitError",
    "OptionError",
    "PelilloOptions",
    "RelaxationOptions",
    "SearchOptions",
    "Stage",
    "__version__",
    "clique_number",
    "core_info",
    "find_clique",
    "find_cliques_above",
    "find_maximum_cliques",
    "is_clique",
    "is_maximal",
    "read_graph",
    "write_graph",
]

select_simd_from_environment()
atexit.register(_core.shut_down)
