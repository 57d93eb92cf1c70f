"""Motions that are not determined, in words: about which axes, along which lines."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["name_motions"]

_Array = npt.NDArray[np.float64]

_MERE_SHIFT = 0.15
"""The share of a motion that may be a turn, if it is to be called a shift."""


def name_motions(directions: _Array, lever: float) -> list[str]:
    """Return which turns and shifts ``(k, 6)`` directions are; a turn by 1 rad moves points by ``lever`` metres.

    They are a basis of what is not determined, and any other one would do: this takes that which tells turns from
    shifts best, turns measured by how far they move points.
    """
    if not len(directions):
        return []
    basis, _ = np.linalg.qr((directions * ([lever] * 3 + [1.0] * 3)).T)
    mixing, shares, _ = np.linalg.svd(basis[:3].T)
    motions = mixing.T @ basis.T
    turning = np.zeros(len(motions), dtype=np.bool_)
    turning[: len(shares)] = shares > _MERE_SHIFT
    return [
        f"{what} {_axes(vectors)}"
        for what, vectors in (("rotation about", motions[turning, :3]), ("shift along", motions[~turning, 3:]))
        if len(vectors)
    ]


def _axes(vectors: _Array) -> str:
    """Return a line, a plane by what is at right angles to it, or all of space."""
    if len(vectors) == 3:
        return "any axis"
    axis = vectors[0] if len(vectors) == 1 else np.cross(*vectors)
    axis = axis / (np.linalg.norm(axis) * np.sign(axis[np.abs(axis).argmax()]))
    text = ", ".join(f"{value:.2f}" for value in axis.round(2) + 0.0)
    return f"({text})" if len(vectors) == 1 else f"all axes at right angles to ({text})"
