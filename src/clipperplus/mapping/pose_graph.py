"""Where scans stand, given how pairs of them lie to each other: a pose graph, solved robustly with gtsam."""

from __future__ import annotations

import functools
import importlib
import importlib.metadata
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ..errors import MissingPackageError
from ..geometry.poses import adjoint, inverse

__all__ = ["Measurements", "Optimised", "load_gtsam", "optimise_poses"]

_Array: TypeAlias = npt.NDArray[np.float64]
_Numbers: TypeAlias = npt.NDArray[np.int64]

_CRASHES_WITH_NUMPY_2 = ("4.2",)
"""Versions of gtsam."""
_ROBUST = 2.0
"""Deviations from which on a measurement counts less: the scale of a Cauchy kernel."""
_STEPS = 50
"""Of the optimisation, at most."""
_ANCHOR = 1e-6
"""Deviation of the scan that the frame is that of, in rad and m."""


@dataclass(frozen=True, eq=False)
class Measurements:
    """How pairs of scans lie to each other."""

    source: _Numbers
    target: _Numbers
    motions: _Array
    """``(m, 4, 4)`` from source to target."""
    covariances: _Array
    """``(m, 6, 6)``, as in :class:`clipperplus.Pose`: rotation vector first, in the frame of the target."""


@dataclass(frozen=True, eq=False)
class Optimised:
    """Where the scans stand."""

    poses: _Array
    """``(n, 4, 4)`` from each scan to the frame."""
    residuals: _Array
    """``(m,)``: how many deviations each measurement is off."""
    _marginals: Callable[[], Any] = field(repr=False)

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what makes it again: with the covariances, because what they are found by cannot be pickled."""
        return _optimised_before, (self.poses, self.residuals, self.covariances)

    @functools.cached_property
    def covariances(self) -> _Array:
        """``(n, 6, 6)`` of small motions (rotation vector, translation) in that frame, relative to the scan it is of.

        They take longer than the poses, and are found when they are asked for.
        """
        marginals = self._marginals()
        own = np.array([marginals.marginalCovariance(number) for number in range(len(self.poses))])
        turned = adjoint(self.poses)  # from the frame of each scan to that of the map
        return np.asarray(turned @ own @ turned.transpose(0, 2, 1))


def _optimised_before(poses: _Array, residuals: _Array, covariances: _Array) -> Optimised:
    """Make what was optimised in another process."""
    made = Optimised(poses, residuals, _nothing_left)
    made.__dict__["covariances"] = covariances
    return made


def _nothing_left() -> Any:
    raise AssertionError("the covariances are known")


def load_gtsam() -> Any:
    """Return gtsam, or say how to get it; what is known to crash is not loaded."""
    if _version_of_gtsam() in _CRASHES_WITH_NUMPY_2 and int(np.__version__.split(".")[0]) >= 2:
        raise MissingPackageError(f"this gtsam crashes with numpy {np.__version__}: pip install 'numpy<2'")
    try:
        return importlib.import_module("gtsam")
    except ImportError:
        raise MissingPackageError("maps of several scans need gtsam: pip install clipperplus[map]") from None


def _version_of_gtsam() -> str | None:
    """Return which gtsam was installed by pip, if any was."""
    try:
        return importlib.metadata.version("gtsam")
    except importlib.metadata.PackageNotFoundError:
        return None


def optimise_poses(start: _Array, measured: Measurements, anchor: int = 0) -> Optimised:
    """Return the poses that explain measurements best, of scans that these connect, begun at a rough solution.

    Measurements that are off by many deviations count little (a Cauchy kernel). The frame is that of the scan
    ``anchor``, whose pose stays as it is.
    """
    gtsam = load_gtsam()
    plain, robust = gtsam.NonlinearFactorGraph(), gtsam.NonlinearFactorGraph()
    values = gtsam.Values()
    for number, pose in enumerate(start):
        values.insert(number, gtsam.Pose3(pose))
    fixed = gtsam.noiseModel.Isotropic.Sigma(6, _ANCHOR)
    for graph in (plain, robust):
        graph.add(gtsam.PriorFactorPose3(anchor, gtsam.Pose3(start[anchor]), fixed))
    kernel = gtsam.noiseModel.mEstimator.Cauchy.Create(_ROBUST)
    # Ours: true motion = exp(ξ) · motion, in the target's frame; gtsam's: motion · exp(ξ), in that of the source.
    across = adjoint(inverse(measured.motions))
    covariances = across @ measured.covariances @ across.transpose(0, 2, 1)
    for source, target, motion, covariance in zip(
        measured.source.tolist(), measured.target.tolist(), measured.motions, covariances, strict=True
    ):
        noise = gtsam.noiseModel.Gaussian.Covariance(0.5 * (covariance + covariance.T))
        between = gtsam.BetweenFactorPose3(target, source, gtsam.Pose3(motion), noise)
        plain.add(between)
        hardened = gtsam.noiseModel.Robust.Create(kernel, noise)
        robust.add(gtsam.BetweenFactorPose3(target, source, gtsam.Pose3(motion), hardened))
    parameters = gtsam.LevenbergMarquardtParams()
    parameters.setMaxIterations(_STEPS)
    solved = gtsam.LevenbergMarquardtOptimizer(robust, values, parameters).optimize()
    poses = np.array([solved.atPose3(number).matrix() for number in range(len(start))])
    residuals = np.array([np.sqrt(2.0 * plain.at(1 + k).error(solved)) for k in range(len(measured.source))])
    return Optimised(poses, residuals, lambda: gtsam.Marginals(_reweighted(gtsam, plain, residuals), solved))


def _reweighted(gtsam: Any, plain: Any, residuals: _Array) -> Any:
    """Return the graph in which measurements count as much as they did in the end."""
    graph = gtsam.NonlinearFactorGraph()
    graph.add(plain.at(0))
    for number, residual in enumerate(residuals.tolist()):
        factor = plain.at(1 + number)
        weight = 1.0 / (1.0 + (residual / _ROBUST) ** 2)
        covariance = factor.noiseModel().covariance() / weight
        target, source = factor.keys()
        noise = gtsam.noiseModel.Gaussian.Covariance(covariance)
        graph.add(gtsam.BetweenFactorPose3(target, source, factor.measured(), noise))
    return graph
