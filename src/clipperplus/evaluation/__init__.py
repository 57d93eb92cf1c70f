"""How well pairs of scans were registered, or many put together: errors against the truth, recall by named protocols.

================  =====================================  =====================================================
``3DMatch``       rotation < 15°, translation < 0.30 m   C. Choy et al., DGR, CVPR 2020, and those after
``3DMatch-RMSE``  RMSE of overlapping points <= 0.20 m   S. Choi et al., CVPR 2015; A. Zeng et al., CVPR 2017
``KITTI``         rotation < 5°, translation < 0.60 m    C. Choy et al., DGR, CVPR 2020, and those after
``KITTI-2m``      rotation < 5°, translation < 2 m       C. Choy et al., FCGF, ICCV 2019, and those after
================  =====================================  =====================================================
"""

from .metrics import information_rmse
from .multiview import evaluate_poses, relative_poses
from .pairs import Evaluation, SceneRecall, evaluate_pairs
from .protocols import PROTOCOLS, Protocol, as_protocol

__all__ = [
    "PROTOCOLS",
    "Evaluation",
    "Protocol",
    "SceneRecall",
    "as_protocol",
    "evaluate_pairs",
    "evaluate_poses",
    "information_rmse",
    "relative_poses",
]
