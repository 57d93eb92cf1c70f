"""The largest set of mutually consistent associations, as a maximum clique: fast and with proof."""

import atexit

from . import _core, invariants
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
from .consistency import consistency_graph, consistency_weights
from .errors import (
    ClipperPlusError,
    FileFormatError,
    GraphError,
    LandmarkError,
    MemoryLimitError,
    MissingPackageError,
    OptionError,
)
from .graph import Graph
from .info import CoreInfo, core_info, select_simd_from_environment
from .io.clouds import Cloud, read_cloud, write_cloud
from .io.graphs import read_graph, write_graph
from .loop_closures import LoopClosures, LoopClosureSet, consistent_loop_closures

__version__ = core_info().version

__all__ = [
    "BelachewOptions",
    "Certificate",
    "ClipperOptions",
    "ClipperPlusError",
    "CliqueList",
    "CliqueResult",
    "Cloud",
    "CoreInfo",
    "DingOptions",
    "FileFormatError",
    "Graph",
    "GraphError",
    "LandmarkError",
    "LoopClosureSet",
    "LoopClosures",
    "MemoryLimitError",
    "MissingPackageError",
    "OptionError",
    "PelilloOptions",
    "RelaxationOptions",
    "SearchOptions",
    "Stage",
    "__version__",
    "clique_number",
    "consistency_graph",
    "consistency_weights",
    "consistent_loop_closures",
    "core_info",
    "find_clique",
    "find_cliques_above",
    "find_maximum_cliques",
    "invariants",
    "is_clique",
    "is_maximal",
    "read_cloud",
    "read_graph",
    "write_cloud",
    "write_graph",
]

select_simd_from_environment()
atexit.register(_core.shut_down)
