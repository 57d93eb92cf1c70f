"""The pose graph, checked against poses that are known and against least squares by finite differences."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from motions import random_motion

from clipperplus import MissingPackageError
from clipperplus.geometry.poses import adjoint, inverse, logarithm
from clipperplus.mapping.pose_graph import Measurements, load_gtsam, optimise_poses

pytest.importorskip("gtsam", reason="maps need gtsam")


def measured(poses: np.ndarray, pairs: list[tuple[int, int]], sigma: float = 0.0, seed: int = 0) -> Measurements:
    random = np.random.default_rng(seed)
    sources, targets = np.array(pairs).T
    motions = inverse(poses[targets]) @ poses[sources]
    for motion in motions:
        motion[:3, 3] += sigma * random.normal(size=3)
    return Measurements(sources, targets, motions, np.tile(np.diag([1e-4] * 3 + [1e-2] * 3), (len(pairs), 1, 1)))


def cycle(count: int) -> list[tuple[int, int]]:
    return [(k, (k + 1) % count) for k in range(count)] + [(k, (k + 2) % count) for k in range(count)]


def some_poses(count: int) -> np.ndarray:
    random = np.random.default_rng(2)
    poses = np.array([random_motion(random) for _ in range(count)])
    return inverse(poses[:1]) @ poses


def test_exact_measurements_give_the_poses_back() -> None:
    poses = some_poses(6)
    start = poses.copy()
    start[1:, :3, 3] += 0.1
    solved = optimise_poses(start, measured(poses, cycle(6)))
    assert np.abs(solved.poses - poses).max() < 1e-6
    assert solved.residuals.max() < 1e-5


def test_one_wrong_measurement_counts_little() -> None:
    poses = some_poses(8)
    wrong = measured(poses, cycle(8))
    wrong.motions[3, :3, 3] += 5.0
    solved = optimise_poses(poses, wrong)
    assert np.abs(solved.poses - poses).max() < 0.02
    assert solved.residuals.argmax() == 3


def test_covariances_are_those_of_linear_least_squares() -> None:
    """Brute force: residuals differentiated by every pose, in the frame of the map."""
    poses = some_poses(5)
    given = measured(poses, cycle(5))
    solved = optimise_poses(poses, given)

    def residuals(small: np.ndarray) -> np.ndarray:
        moved = poses.copy()
        for k in range(1, 5):
            turn = small[6 * (k - 1) : 6 * k]
            step = np.eye(4)
            x, y, z = turn[:3]
            step[:3, :3] += np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
            step[:3, 3] = turn[3:]
            moved[k] = step @ poses[k]
        found = inverse(moved[given.target]) @ moved[given.source]
        return (logarithm(found @ inverse(given.motions)) / np.sqrt(np.diag(given.covariances[0]))).ravel()

    steps = 1e-6 * np.eye(24)
    jacobian = np.column_stack([(residuals(step) - residuals(-step)) / 2e-6 for step in steps])
    expected = np.linalg.inv(jacobian.T @ jacobian)
    for k in range(1, 5):
        block = slice(6 * (k - 1), 6 * k)
        assert solved.covariances[k] == pytest.approx(expected[block, block], rel=2e-2, abs=1e-8)
    assert np.abs(solved.covariances[0]).max() < 1e-9


def test_moving_all_by_one_motion_moves_the_solution() -> None:
    poses = some_poses(6)
    given = measured(poses, cycle(6), sigma=0.05)
    plain = optimise_poses(poses, given)
    motion = random_motion(np.random.default_rng(9))
    moved = optimise_poses(motion @ poses, given)
    assert np.abs(inverse(motion[None]) @ moved.poses - plain.poses).max() < 1e-5
    carried = adjoint(motion[None]) @ plain.covariances @ adjoint(motion[None]).transpose(0, 2, 1)
    assert np.abs(carried - moved.covariances).max() < 1e-3 * np.abs(carried).max()


def test_without_gtsam_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gtsam", None)
    poses = some_poses(3)
    with pytest.raises(MissingPackageError, match=r"clipperplus\[map\]"):
        optimise_poses(poses, measured(poses, cycle(3)))


def test_a_gtsam_that_crashes_is_not_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.metadata.version", lambda name: "4.2")
    monkeypatch.setattr(np, "__version__", "1.26.4")
    assert load_gtsam() is not None
    monkeypatch.setattr(np, "__version__", "2.1.0")
    with pytest.raises(MissingPackageError, match="numpy<2"):
        load_gtsam()
