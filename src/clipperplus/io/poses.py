"""Poses from and to files: the room ``geometry`` reads and writes them."""

from ..geometry.files import (
    PairInformation,
    PairPoses,
    Trajectory,
    read_info,
    read_kitti,
    read_log,
    read_poses,
    read_transform,
    read_tum,
    write_kitti,
    write_log,
    write_transform,
    write_tum,
)

__all__ = [
    "PairInformation",
    "PairPoses",
    "Trajectory",
    "read_info",
    "read_kitti",
    "read_log",
    "read_poses",
    "read_transform",
    "read_tum",
    "write_kitti",
    "write_log",
    "write_transform",
    "write_tum",
]
