"""Many scans: which belong together, where each stands, and how sure that is; and which loop closures to believe."""

from .build import Mapper, build_map
from .g2o import PoseGraph, read_g2o, write_g2o
from .locate import Location, locate
from .loop_closures import LoopClosures, LoopClosureSet, consistent_loop_closures
from .map import Edge, EdgeStatus, Map, ScanStatus
from .rough_poses import RoughPoses

__all__ = [
    "Edge",
    "EdgeStatus",
    "Location",
    "LoopClosureSet",
    "LoopClosures",
    "Map",
    "Mapper",
    "PoseGraph",
    "RoughPoses",
    "ScanStatus",
    "build_map",
    "consistent_loop_closures",
    "locate",
    "read_g2o",
    "write_g2o",
]
