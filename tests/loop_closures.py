"""What tests of loop closures share."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

import clipperplus as cp
from clipperplus.synthetic import TwoRobots


def pose(turn: Any, move: Any) -> np.ndarray:
    result = np.eye(4)
    result[:3, :3] = Rotation.from_rotvec(turn).as_matrix()
    result[:3, 3] = move
    return result


def solve(world: TwoRobots, **settings_: Any) -> cp.LoopClosureSet:
    return cp.consistent_loop_closures(
        world.trajectory_a, world.trajectory_b, world.loops, world.measurements, **settings_
    )
