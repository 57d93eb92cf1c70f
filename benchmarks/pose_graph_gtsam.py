"""Pose graphs in GTSAM: least squares, and graduated non-convexity (GNC), which chooses loop closures.

H. Yang, P. Antonante, V. Tzoumas and L. Carlone, "Graduated non-convexity for robust spatial perception: from
non-minimal solvers to global outlier rejection", RA-L 2020.
"""

from __future__ import annotations

from typing import Any

import gtsam
import numpy as np
import numpy.typing as npt

from clipperplus.geometry.poses import Poses

__all__ = ["chosen_by_gnc", "factors_of", "optimised", "poses_of"]

_IN_PLANE = [3, 4, 2]
"""x, y and the angle, as GTSAM orders them in two dimensions; in three it has our order."""
_ITERATIONS = 100


def factors_of(
    dimension: int,
    poses: Poses,
    edges: npt.NDArray[np.int64],
    measurements: Poses,
    covariances: npt.NDArray[np.float64],
) -> tuple[gtsam.NonlinearFactorGraph, gtsam.Values]:
    """Return the factors, the first of which holds pose 0 where it is, and the poses to begin with."""
    factors, values = gtsam.NonlinearFactorGraph(), gtsam.Values()
    for number, pose in enumerate(poses):
        values.insert(number, _pose(dimension, pose))
    held = gtsam.noiseModel.Isotropic.Sigma(6 if dimension == 3 else 3, 1e-4)
    prior, between = (
        (gtsam.PriorFactorPose3, gtsam.BetweenFactorPose3)
        if dimension == 3
        else (gtsam.PriorFactorPose2, gtsam.BetweenFactorPose2)
    )
    factors.add(prior(0, _pose(dimension, poses[0]), held))
    spreads = covariances if dimension == 3 else covariances[:, _IN_PLANE][:, :, _IN_PLANE]
    for (a, b), measurement, spread in zip(edges.tolist(), measurements, spreads, strict=True):
        noise = gtsam.noiseModel.Gaussian.Covariance(spread)
        factors.add(between(a, b, _pose(dimension, measurement), noise))
    return factors, values


def optimised(factors: gtsam.NonlinearFactorGraph, start: gtsam.Values) -> gtsam.Values:
    """Return the poses with the least squares of errors, near those to begin with."""
    settings = gtsam.LevenbergMarquardtParams()
    settings.setMaxIterations(_ITERATIONS)
    return gtsam.LevenbergMarquardtOptimizer(factors, start, settings).optimize()


def chosen_by_gnc(factors: gtsam.NonlinearFactorGraph, start: gtsam.Values, trusted: int) -> npt.NDArray[np.bool_]:
    """Return which factors, after the first ones that are trusted, truncated least squares keep: 99 % of right ones."""
    settings = gtsam.GncLMParams()
    settings.setLossType(gtsam.GncLossType.TLS)
    settings.setKnownInliers(list(range(trusted)))
    optimiser = gtsam.GncLMOptimizer(factors, start, settings)
    optimiser.setInlierCostThresholdsAtProbability(0.99)
    optimiser.optimize()
    return np.asarray(optimiser.getWeights()[trusted:] > 0.5)


def poses_of(values: gtsam.Values, dimension: int) -> Poses:
    """Return the poses as matrices."""
    poses = np.tile(np.eye(4), (values.size(), 1, 1))
    for number, pose in enumerate(poses):
        if dimension == 3:
            pose[:] = values.atPose3(number).matrix()
        else:
            pose[np.ix_([0, 1, 3], [0, 1, 3])] = values.atPose2(number).matrix()
    return poses


def _pose(dimension: int, matrix: npt.NDArray[np.float64]) -> Any:
    if dimension == 3:
        return gtsam.Pose3(matrix)
    return gtsam.Pose2(matrix[0, 3], matrix[1, 3], np.arctan2(matrix[1, 0], matrix[0, 0]))
