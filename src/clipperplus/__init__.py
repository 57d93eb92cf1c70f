"""The largest set of mutually consistent associations, as a maximum clique: fast and with proof."""

import atexit
import logging

from . import _core, evaluate, invariants, synthetic
from . import io as io
from ._build import CoreInfo, core_info, select_simd_from_environment
from ._timing import Stage
from .clique import (
    BelachewOptions,
    Certificate,
    ClipperOptions,
    CliqueList,
    CliqueResult,
    CliqueStage,
    DingOptions,
    PelilloOptions,
    Progress,
    RelaxationOptions,
    SearchOptions,
    clique_number,
    find_clique,
    find_cliques_above,
    find_maximum_cliques,
    is_clique,
    is_maximal,
)
from .clouds import (
    Cloud,
    Neighbourhoods,
    PreparedCloud,
    Viewpoint,
    choose_voxel_size,
    compute_fpfh,
    downsample,
    estimate_normals,
    match_features,
    prepare,
    read_cloud,
    refine_transform,
    write_cloud,
)
from .consistency import consistency_graph, consistency_weights
from .errors import (
    ClipperPlusError,
    ClusterError,
    FileFormatError,
    GraphError,
    LandmarkError,
    MemoryLimitError,
    MissingPackageError,
    OptionError,
)
from .geometry import apply_transform, fit_transform, rotation_error, translation_error
from .graphs import Graph, read_graph, write_graph
from .mapping import (
    Edge,
    EdgeStatus,
    Location,
    LoopClosures,
    LoopClosureSet,
    Map,
    Mapper,
    RoughPoses,
    ScanStatus,
    build_map,
    consistent_loop_closures,
)
from .pairs import PairResult, register_pairs
from .registration import (
    CameraHypothesis,
    CameraPose,
    Evidence,
    Hypothesis,
    Pose,
    Reason,
    RoughTransform,
    Status,
    Verification,
    register,
    solve,
    solve_camera,
    verify,
)

logging.getLogger("clipperplus").addHandler(logging.NullHandler())  # nothing is printed unless it is asked for

Lap = Stage
"""The name that the stages of a registration had before."""

__version__ = core_info().version

__all__ = [
    "BelachewOptions",
    "CameraHypothesis",
    "CameraPose",
    "Certificate",
    "ClipperOptions",
    "ClipperPlusError",
    "CliqueList",
    "CliqueResult",
    "CliqueStage",
    "Cloud",
    "ClusterError",
    "CoreInfo",
    "DingOptions",
    "Edge",
    "EdgeStatus",
    "Evidence",
    "FileFormatError",
    "Graph",
    "GraphError",
    "Hypothesis",
    "LandmarkError",
    "Location",
    "LoopClosureSet",
    "LoopClosures",
    "Map",
    "Mapper",
    "MemoryLimitError",
    "MissingPackageError",
    "Neighbourhoods",
    "OptionError",
    "PairResult",
    "PelilloOptions",
    "Pose",
    "PreparedCloud",
    "Progress",
    "Reason",
    "RelaxationOptions",
    "RoughPoses",
    "RoughTransform",
    "ScanStatus",
    "SearchOptions",
    "Stage",
    "Status",
    "Verification",
    "Viewpoint",
    "__version__",
    "apply_transform",
    "build_map",
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
    "register_pairs",
    "rotation_error",
    "solve",
    "solve_camera",
    "synthetic",
    "translation_error",
    "verify",
    "write_cloud",
    "write_graph",
]

select_simd_from_environment()
atexit.register(_core.shut_down)
