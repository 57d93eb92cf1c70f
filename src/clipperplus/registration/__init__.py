"""Registration: matched points or whole clouds in, one transform out, with the reasons to believe it."""

from .confidence import Evidence, Status
from .from_clouds import register
from .from_matches import solve
from .pose import Hypothesis, Pose

__all__ = ["Evidence", "Hypothesis", "Pose", "Status", "register", "solve"]
