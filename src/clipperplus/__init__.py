"""The largest set of mutually consistent associations, as a maximum clique: fast and with proof."""

import atexit

from . import _core
from .clique import Certificate, CliqueResult, RelaxationOptions, Stage, find_clique
from .errors import ClipperPlusError, FileFormatError, GraphError, OptionError
from .graph import Graph
from .info import CoreInfo, core_info, select_simd_from_environment
from .io.graphs import read_graph, write_graph

__version__ = core_info().version

__all__ = [
    "Certificate",
    "ClipperPlusError",
    "CliqueResult",
    "CoreInfo",
    "FileFormatError",
    "Graph",
    "GraphError",
    "OptionError",
    "RelaxationOptions",
    "Stage",
    "__version__",
    "core_info",
    "find_clique",
    "read_graph",
    "write_graph",
]

select_simd_from_environment()
atexit.register(_core.shut_down)
