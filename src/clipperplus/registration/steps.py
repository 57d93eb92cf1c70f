"""The steps of a registration of clouds, by name."""

from __future__ import annotations

import enum

__all__ = ["Step"]


class Step(enum.Enum):
    """What is done, in this order, with two clouds that are prepared; the values are the names in ``pose.stages``.

    Raw clouds are prepared after the first, whose size they need, with steps of their own.
    """

    VOXEL_SIZE = "voxel size"
    MATCHING = "matching"
    CONSISTENCY_GRAPH = "consistency graph"
    CLIQUE = "clique"
    HYPOTHESES = "hypotheses"
    VERIFICATION = "verification"
    REFINEMENT = "refinement"
    SCRUTINY = "scrutiny"
    """What speaks for the answer, and the attempt to prove it wrong."""
    LOOK_AGAIN = "look again"
    """Only where the answer was not trusted, once or more."""
    DESCENT = "descent"
    """Only where so many voxels were asked for that wider ones were matched."""
    GICP = "gicp"
    """Only where it was asked for."""
