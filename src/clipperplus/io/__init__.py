"""All files in one place, whatever room reads them: ``io.clouds``, ``io.graphs``, ``io.poses``."""

from . import clouds, graphs, poses

__all__ = ["clouds", "graphs", "poses"]
