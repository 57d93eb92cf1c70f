"""Many scans: which of their loop closures to believe."""

from .loop_closures import LoopClosures, LoopClosureSet, consistent_loop_closures

__all__ = ["LoopClosureSet", "LoopClosures", "consistent_loop_closures"]
