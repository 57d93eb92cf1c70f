"""What the benchmark of pose graphs measures on: truths without times, and loop closures that are wrong on purpose."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from clipperplus.geometry.poses import inverse, rotation_angles

pytest.importorskip("gtsam", reason="gtsam is not installed")

from pose_graph_data import along, injected_problem


def test_truths_without_times_are_matched_by_arc_length_and_turns() -> None:
    """The odometry is 3 % too short, stands now and then, drifts, and has other intervals than the truth."""
    random = np.random.default_rng(0)
    heading = np.cumsum(np.repeat(random.normal(0.0, 0.05, 60), 25))  # 1500 steps of 0.1 m
    path = np.tile(np.eye(4), (1500, 1, 1))
    path[:, 0, 0] = path[:, 1, 1] = np.cos(heading)
    path[:, 1, 0], path[:, 0, 1] = np.sin(heading), -np.sin(heading)
    path[1:, 0, 3], path[1:, 1, 3] = (np.cumsum(0.1 * part[:-1]) for part in (np.cos(heading), np.sin(heading)))
    known = path[np.sort(random.permutation(1500)[:1200])]
    known[0] = path[0]
    steps = inverse(path[:-1]) @ path[1:]
    steps[:, :3, 3] /= 1.03
    driven, at = [np.eye(4)], [0]
    for number, step in enumerate(steps, start=1):
        turn = 0.002 * random.normal()
        drift = np.eye(4)
        drift[:2, :2] = [[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]]
        for stands in range(1 + (number % 300 == 0) * 20):
            driven.append(driven[-1] @ (drift @ step if stands == 0 else np.eye(4)))
            at.append(number)
    found = along(np.array(driven), known)
    apart = np.linalg.norm(found[:, :3, 3] - path[at][:, :3, 3], axis=1)
    assert np.median(apart) < 0.3
    assert np.quantile(apart, 0.95) < 1.0


def test_wrong_loop_closures_are_wrong_and_as_many_as_asked_for(data_folder: Path) -> None:
    if not (data_folder / "posegraphs" / "intel.g2o.gz").exists():
        pytest.skip("no pose graph intel")
    problem = injected_problem(data_folder, "intel", 0.3, seed=1)
    assert (~problem.right).sum() == round(0.3 * len(problem.right))
    a, b = problem.loops.T
    error = inverse(problem.measurements) @ inverse(problem.truth[a]) @ problem.truth[b]
    off = np.maximum(np.linalg.norm(error[:, :3, 3], axis=1) / 0.5, rotation_angles(error) / 0.2)
    assert (off[problem.right] < 1.0).all()
    assert (off[~problem.right] > 1.0).mean() > 0.95  # some places are the same by accident
