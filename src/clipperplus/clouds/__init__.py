"""Clouds: their files, voxels, normals and features; matches between two of them, and refinement."""

from .cloud import Cloud
from .descriptors import compute_fpfh
from .files import read_cloud, write_cloud
from .matching import match_features
from .neighbourhoods import Neighbourhoods
from .normals import estimate_normals
from .prepared import PreparedCloud, prepare
from .refinement import refine_transform
from .viewpoints import Viewpoint
from .voxels import choose_voxel_size, downsample

__all__ = [
    "Cloud",
    "Neighbourhoods",
    "PreparedCloud",
    "Viewpoint",
    "choose_voxel_size",
    "compute_fpfh",
    "downsample",
    "estimate_normals",
    "match_features",
    "prepare",
    "read_cloud",
    "refine_transform",
    "write_cloud",
]
