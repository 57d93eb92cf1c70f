"""Many scans: which of their loop closures to believe, and files of pose graphs."""

from .g2o import PoseGraph, read_g2o, write_g2o
from .loop_closures import LoopClosures, LoopClosureSet, consistent_loop_closures

__all__ = ["LoopClosureSet", "LoopClosures", "PoseGraph", "consistent_loop_closures", "read_g2o", "write_g2o"]
