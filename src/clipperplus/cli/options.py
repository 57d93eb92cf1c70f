"""Options that several commands have."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import typer

from ..clique import METHODS

__all__ = ["CLOUD_FILES", "Epsilon", "Method", "Threads", "VoxelSize"]

CLOUD_FILES = "A point cloud: .ply .pcd .xyz .txt .csv .npy .npz .bin .las .laz."

VoxelSize: TypeAlias = Annotated[float | None, typer.Option(help="Metres; without it: chosen from the clouds.")]
Epsilon: TypeAlias = Annotated[
    float | None,
    typer.Option(help="Metres by which distances between matched points may differ; without it: the voxel size."),
]
Method: TypeAlias = Annotated[str, typer.Option(help=f"Of the clique: one of {', '.join(METHODS)}.")]
Threads: TypeAlias = Annotated[int, typer.Option(help="Threads to use. The result does not depend on it.")]
