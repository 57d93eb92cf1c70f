"""Many scans: which belong together, where each stands, and how sure that is; and which loop closures to believe.

:func:`build_map` is the whole line. Its steps can be taken alone: :func:`pair_similarities` and :func:`suggest_pairs`
say which pairs are worth registering, :func:`relate` registers one, :func:`believe` finds those that agree,
:func:`optimise_poses` solves the pose graph, :func:`look_around` looks again where it puts them, and
:func:`finish_place` refines all pairs at once.
"""

from .beliefs import Beliefs, believe
from .build import Mapper, build_map
from .finish import finish_place
from .g2o import PoseGraph, read_g2o, write_g2o
from .locate import Location, Place, locate
from .loop_closures import LoopClosures, LoopClosureSet, consistent_loop_closures
from .map import Edge, EdgeStatus, Map, ScanStatus
from .map_files import load_map, save_map
from .places import Places, Suggestions
from .pose_graph import Measurements, Optimised, optimise_poses
from .relations import Relation, relate
from .rough_poses import RoughPoses
from .settle import look_around
from .similarity import pair_similarities, suggest_pairs
from .workbench import Workbench

__all__ = [
    "Beliefs",
    "Edge",
    "EdgeStatus",
    "Location",
    "LoopClosureSet",
    "LoopClosures",
    "Map",
    "Mapper",
    "Measurements",
    "Optimised",
    "Place",
    "Places",
    "PoseGraph",
    "Relation",
    "RoughPoses",
    "ScanStatus",
    "Suggestions",
    "Workbench",
    "believe",
    "build_map",
    "consistent_loop_closures",
    "finish_place",
    "load_map",
    "locate",
    "look_around",
    "optimise_poses",
    "pair_similarities",
    "read_g2o",
    "relate",
    "save_map",
    "suggest_pairs",
    "write_g2o",
]
