"""One set of colours for all pictures, so that a colour means the same in each.

Associations are green and red as in the paper's Figure 1: a bluish green and a vermilion (Okabe and Ito), which
colour-blind readers tell apart.
"""

from __future__ import annotations

__all__ = ["EDGE", "INLIER", "OUTLIER", "SOURCE", "TARGET", "rgb"]

SOURCE = "#E69F00"
TARGET = "#0072B2"
INLIER = "#009E73"
"""Associations that the transform explains, and vertices of the clique."""
OUTLIER = "#D7301F"
EDGE = "#9A9A9A"
"""Edges of the consistency graph that are not the clique's."""


def rgb(colour: str) -> tuple[int, int, int]:
    """Return red, green and blue, 0 to 255, of ``#rrggbb``."""
    red, green, blue = bytes.fromhex(colour.removeprefix("#"))
    return red, green, blue
