"""What stays unchanged under the motion that is looked for: it decides which associations agree.

An invariant compares two landmarks of one set with the two that they are associated with. Each class here says in its
fields how much may differ, and takes its landmarks as its docstring says. :class:`Custom` takes any function; a class
of your own needs the two methods of :class:`Invariant`. Some compare groups of three or four: those have an ``arity``,
and the methods of :class:`GroupInvariant`.
"""

from .base import Invariant, Pairs
from .camera import CameraReprojection
from .custom import Custom
from .flats import Landmarks, Lines, LinesAndPlanes, Planes
from .groups import DistanceRatios, GroupInvariant, GroupSampling
from .motions import Under
from .odometry import Odometry
from .points import Distance, DistanceAndNormals
from .relative_poses import RelativePoses

__all__ = [
    "CameraReprojection",
    "Custom",
    "Distance",
    "DistanceAndNormals",
    "DistanceRatios",
    "GroupInvariant",
    "GroupSampling",
    "Invariant",
    "Landmarks",
    "Lines",
    "LinesAndPlanes",
    "Odometry",
    "Pairs",
    "Planes",
    "RelativePoses",
    "Under",
]
