"""Pose graphs from and to files: the room ``mapping`` reads and writes them."""

from ..mapping import PoseGraph, read_g2o, write_g2o

__all__ = ["PoseGraph", "read_g2o", "write_g2o"]
