"""All files in one place, whatever room reads them: ``io.clouds``, ``io.graphs``, ``io.pose_graphs``, ``io.poses``."""

from . import clouds, graphs, pose_graphs, poses

__all__ = ["clouds", "graphs", "pose_graphs", "poses"]
