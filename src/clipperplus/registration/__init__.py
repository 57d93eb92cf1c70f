"""Registration: matched points or whole clouds in, one transform out, with the reasons to believe it."""

from .camera_pose import CameraHypothesis, CameraPose
from .confidence import Evidence, Status
from .from_clouds import register
from .from_matches import solve
from .from_pixels import solve_camera
from .from_transforms import Verification, verify
from .pose import Hypothesis, Pose
from .reasons import Reason
from .rough import RoughTransform

__all__ = [
    "CameraHypothesis",
    "CameraPose",
    "Evidence",
    "Hypothesis",
    "Pose",
    "Reason",
    "RoughTransform",
    "Status",
    "Verification",
    "register",
    "solve",
    "solve_camera",
    "verify",
]
