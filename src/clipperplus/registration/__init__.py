"""Registration: matched points or whole clouds in, one transform out, with the reasons to believe it."""

from .confidence import Evidence, Status
from .pose import Hypothesis, Pose
from .registering import register
from .solving import solve

__all__ = ["Evidence", "Hypothesis", "Pose", "Status", "register", "solve"]
