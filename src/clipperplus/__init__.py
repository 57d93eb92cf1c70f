"""The largest set of mutually consistent associations, as a maximum clique: fast and with proof."""

import atexit

from . import _core, evaluate, invariants, synthetic
from .clique import (
    BelachewOptions,
    Certificate,
    ClipperOptions,
    CliqueList,
    CliqueResult,
    DingOptions,
    PelilloOptions,
    Progress,
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
from .features import PreparedCloud, compute_fpfh, prepare
from .graph import Graph
from .info import CoreInfo, core_info, select_simd_from_environment
from .io.clouds import Cloud, read_cloud, write_cloud
from .io.graphs import read_graph, write_graph
from .loop_closures import LoopClosures, LoopClosureSet, consistent_loop_closures
from .matching import match_features
from .preprocess import choose_voxel_size, downsample, estimate_normals
from .refine import refine_transform
from .registration import Evidence, Hypothesis, Pose, Status, register, solve
from .timing import Lap
from .transform import apply_transform, fit_transform, rotation_error, translation_error

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
    "Evidence",
    "FileFormatError",
    "Graph",
    "GraphError",
    "Hypothesis",
    "LandmarkError",
    "Lap",
    "LoopClosureSet",
    "LoopClosures",
    "MemoryLimitError",
    "MissingPackageError",
    "OptionError",
    "PelilloOptions",
    "Pose",
    "PreparedCloud",
    "Progress",
    "RelaxationOptions",
    "SearchOptions",
    "Stage",
    "Status",
    "__version__",
    "apply_transform",
    "choose_voxel_size",
    "clique_number",
    "compute_fpfh",
    "consistency_graph",
    "consistency_weights",
    "consistent_loop_closures",
    "core_info",
    "downsample",
    "estimate_normals",
    "evaluate",
    "find_clique",
    "find_cliques_above",
    "find_maximum_cliques",
    "fit_transform",
    "invariants",
    "is_clique",
    "is_maximal",
    "match_features",
    "prepare",
    "read_cloud",
    "read_graph",
    "refine_transform",
    "register",
    "rotation_error",
    "solve",
    "synthetic",
    "translation_error",
    "write_cloud",
    "write_graph",
]

select_simd_from_environment()
atexit.register(_core.shut_down)
