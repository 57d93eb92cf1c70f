"""Options that several commands have."""

from __future__ import annotations

import os
from typing import Annotated, TypeAlias

import typer

from .._validation import as_number
from ..clique import METHODS
from ..clouds.files import CLOUD_ENDINGS

__all__ = ["CLOUD_FILES", "Epsilon", "Method", "SizeLimit", "Threads", "VoxelSize", "as_bytes", "as_threads"]

CLOUD_FILES = f"A point cloud: {' '.join(CLOUD_ENDINGS)}."

VoxelSize: TypeAlias = Annotated[float | None, typer.Option(help="Metres; without it: chosen from the clouds.")]
Epsilon: TypeAlias = Annotated[
    float | None,
    typer.Option(help="Metres by which distances between matched points may differ; without it: the voxel size."),
]
Method: TypeAlias = Annotated[str, typer.Option(help=f"Of the clique: one of {', '.join(METHODS)}.")]
SizeLimit: TypeAlias = Annotated[
    float | None,
    typer.Option(help="MiB that what a file holds may take; without it: 256, or 100 times the size of the file."),
]
Threads: TypeAlias = Annotated[
    int | None, typer.Option(help="Threads to use; without it: all cores. The result does not depend on it.")
]


def as_bytes(name: str, mebibytes: float | None) -> int | None:
    """Return bytes; None where nothing was said."""
    return None if mebibytes is None else round(as_number(name, mebibytes, 0.0, 2.0**40) * 2**20)


def as_threads(threads: int | None) -> int:
    """Return the number of threads that was asked for, or that of the cores that this process may use."""
    if threads is not None:
        return threads
    return min(1024, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)
