"""Odometry whose errors grow along the way: distances of cycles are those of their definition."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import expm
from scipy.spatial.transform import Rotation

import clipperplus as cp
from clipperplus.geometry.poses import adjoint, inverse, twists
from clipperplus.invariants import Odometry, Pairs, RelativePoses

Array = npt.NDArray[np.float64]


def motion(twist: Array) -> Array:
    """The motion that a twist leads to, by its definition."""
    x, y, z, *move = twist
    matrix = np.zeros((4, 4))
    matrix[:3] = [[0.0, -z, y, move[0]], [z, 0.0, -x, move[1]], [-y, x, 0.0, move[2]]]
    return np.asarray(expm(matrix))


def step(turn_and_move: Array) -> Array:
    """A motion that is that of a twist to first order, and quicker."""
    result = np.eye(4)
    result[:3, :3] = Rotation.from_rotvec(turn_and_move[:3]).as_matrix()
    result[:3, 3] = turn_and_move[3:]
    return result


def random_covariance(random: np.random.Generator) -> Array:
    root = random.normal(size=(6, 6))
    return np.asarray(root @ root.T + 0.1 * np.eye(6))


# Twists ---------------------------------------------------------------------------------------------------------------


@settings(max_examples=60)
@given(st.integers(0, 2**32 - 1), st.sampled_from([1e-9, 1e-4, 1e-3, 0.1, 1.0]))
def test_twists_lead_to_the_motions_they_are_of(seed: int, size: float) -> None:
    given_ = np.random.default_rng(seed).normal(size=(4, 6)) * ([size] * 3 + [10.0] * 3)
    given_ = given_[np.linalg.norm(given_[:, :3], axis=1) < 3.1]
    found = twists(np.array([motion(twist) for twist in given_]).reshape(-1, 4, 4))
    assert np.allclose(found, given_, rtol=1e-9, atol=1e-9)


@settings(max_examples=60)
@given(st.integers(0, 2**32 - 1))
def test_twists_are_the_same_motions_in_every_frame(seed: int) -> None:
    random = np.random.default_rng(seed)
    large, frame = (np.array([motion(random.normal(size=6) * ([0.5] * 3 + [20.0] * 3))]) for _ in range(2))
    elsewhere = frame @ large @ inverse(frame)
    assert np.allclose(twists(elsewhere)[0], adjoint(frame)[0] @ twists(large)[0], atol=1e-8)


# Cycles ---------------------------------------------------------------------------------------------------------------


class World:
    """Trajectories and loop closures whose errors are tiny, so that first order is all there is."""

    def __init__(self, seed: int, one_robot: bool, poses: int = 12, loops: int = 8) -> None:
        random = np.random.default_rng(seed)
        self.one_robot = one_robot
        self.steps = [
            np.array([step(random.normal(size=6)) for _ in range(poses - 1)]) for _ in range(1 if one_robot else 2)
        ]
        self.loops = np.array([random.choice(poses, 2, replace=False) for _ in range(loops)])
        a, b = self.trajectories(self.steps)
        exact = inverse(a[self.loops[:, 0]]) @ b[self.loops[:, 1]]
        self.measured = exact @ np.array([step(1e-5 * random.normal(size=6)) for _ in range(loops)])
        self.covariances = np.array([random_covariance(random) for _ in range(loops)])
        self.of_steps = [np.array([random_covariance(random) for _ in range(poses)]) for _ in self.steps]

    def trajectories(self, steps: list[Array]) -> tuple[Array, Array]:
        driven = []
        for of_one in steps:
            poses = [np.eye(4)]
            for moved in of_one:
                poses.append(poses[-1] @ moved)
            driven.append(np.array(poses))
        return driven[0], driven[-1]

    def odometry(self) -> tuple[Odometry, Odometry]:
        a, b = self.trajectories(self.steps)
        first = Odometry(a, self.of_steps[0])
        return first, first if self.one_robot else Odometry(b, self.of_steps[1])

    def distance(self, k: int, m: int | None) -> float:
        """The Mahalanobis distance of a cycle, by differences: what each error does to it."""

        def cycle(steps: list[Array], measured: Array) -> Array:
            a, b = self.trajectories(steps)
            (i, j), z = self.loops[k], measured[k]
            if m is None:
                return np.asarray(np.linalg.inv(z) @ np.linalg.inv(a[i]) @ b[j])
            (i2, j2), z2 = self.loops[m], measured[m]
            return np.asarray(np.linalg.inv(z) @ np.linalg.inv(a[i]) @ a[i2] @ z2 @ np.linalg.inv(b[j2]) @ b[j])

        def change(part: Array, place: int, covariance: Array) -> Array:
            """Spread of the cycle that the spread of one motion makes."""
            columns, kept = [], part[place].copy()
            for axis in np.eye(6):
                ends = []
                for sign in (1.0, -1.0):
                    part[place] = kept @ step(sign * 1e-4 * axis)
                    ends.append(twists(cycle(steps, measured)[None])[0])
                part[place] = kept
                columns.append((ends[0] - ends[1]) / 2e-4)
            jacobian = np.array(columns).T
            return np.asarray(jacobian @ covariance @ jacobian.T)

        steps, measured = [part.copy() for part in self.steps], self.measured.copy()
        spread = change(measured, k, self.covariances[k])
        if m is not None:
            spread = spread + change(measured, m, self.covariances[m])
        for part, covariances in zip(steps, self.of_steps, strict=True):
            for place in range(len(part)):
                spread = spread + change(part, place, covariances[place + 1])
        error = twists(cycle(steps, measured)[None])[0]
        return float(np.sqrt(error @ np.linalg.solve(spread, error)))


@settings(max_examples=6)
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_distances_of_cycles_are_those_of_the_definition(seed: int, one_robot: bool) -> None:
    """Also where ways overlap, in the same direction or in opposite ones, and share their errors."""
    world = World(seed, one_robot)
    invariant = RelativePoses(world.measured, covariances=world.covariances, deviations=1.0)
    k, m = np.triu_indices(len(world.loops), 1)
    first, second = (Pairs(world.loops[i, 0], world.loops[i, 1], i) for i in (k, m))
    found = invariant.residuals(*world.odometry(), first, second, np.ones(len(k)))
    chosen = np.random.default_rng(seed).permutation(len(k))[:4]
    for row in chosen:
        expected = world.distance(k[row], m[row])
        if one_robot:
            expected = max(expected, world.distance(k[row], None), world.distance(m[row], None))
        assert found[row] == pytest.approx(expected, rel=2e-3)
    swapped = invariant.residuals(*world.odometry(), second, first, np.ones(len(k)))
    assert np.allclose(swapped, found, rtol=2e-3)


def test_errors_of_right_loop_closures_have_the_distances_that_chance_gives_them() -> None:
    """The mean square of a Mahalanobis distance is the number of its degrees of freedom."""
    random = np.random.default_rng(0)
    steps = np.array([step(np.array([0.0, 0.0, 0.1, 0.5, 0.0, 0.0])) for _ in range(200)])
    deviation = np.array([0.002] * 3 + [0.01] * 3)
    step_spread, spread = np.diag(deviation**2), np.diag((5.0 * deviation) ** 2)
    loops = np.array([[10, 150], [40, 190]])
    squares = []
    for _ in range(200):
        truth, driven = [np.eye(4)], [np.eye(4)]
        for known in steps:
            truth.append(truth[-1] @ known)
            driven.append(driven[-1] @ known @ step(deviation * random.normal(size=6)))
        exact = [np.linalg.inv(truth[i]) @ truth[j] for i, j in loops]
        measured = np.array([z @ step(5.0 * deviation * random.normal(size=6)) for z in exact])
        a, b = Odometry(driven, step_spread), Odometry(driven, step_spread)  # two: the ways have no step in common
        invariant = RelativePoses(measured, covariances=spread, deviations=1.0)
        pair = [Pairs(loops[i : i + 1, 0], loops[i : i + 1, 1], np.array([i])) for i in range(2)]
        squares.append(float(invariant.residuals(a, b, *pair, np.ones(1))[0]) ** 2)
    assert 5.0 < np.mean(squares) < 7.0  # four deviations of the mean


def test_poses_without_errors_are_as_exact_as_before() -> None:
    world = World(3, False)
    a, b = world.trajectories(world.steps)
    invariant = RelativePoses(world.measured, covariances=world.covariances, deviations=1.0)
    k, m = np.triu_indices(len(world.loops), 1)
    first, second = (Pairs(world.loops[i, 0], world.loops[i, 1], i) for i in (k, m))
    plain = invariant.residuals(a, b, first, second, np.ones(len(k)))
    mixed = invariant.residuals(Odometry(a, np.zeros((6, 6))), b, first, second, np.ones(len(k)))
    assert np.allclose(plain, mixed, rtol=1e-3)


@settings(max_examples=20)
@given(st.integers(0, 2**32 - 1))
def test_a_trajectory_in_parts_is_the_whole_one(seed: int) -> None:
    random = np.random.default_rng(seed)
    poses = np.array([step(random.normal(size=6)) for _ in range(9)])
    covariances = np.array([random_covariance(random) for _ in range(9)])
    cut = int(random.integers(1, 9))
    parts = Odometry(poses[:cut], covariances[:cut]).followed_by(Odometry(poses[cut:], covariances[cut:]))
    whole = Odometry(poses, covariances)
    assert np.array_equal(parts.sums, whole.sums)
    assert np.array_equal(parts.around, whole.around)
    assert len(parts) == 9


def test_the_place_of_the_origin_does_not_matter() -> None:
    world = World(5, True)
    (a, _), far = world.odometry(), np.eye(4)
    far[:3, 3] = [4e5, 5e6, 100.0]
    moved = Odometry(far @ np.asarray(a.poses), a.covariances)
    loops, settings_ = world.loops, {"covariances": world.covariances, "deviations": 1e-5}
    here = cp.consistent_loop_closures(a, a, loops, world.measured, **settings_)
    there = cp.consistent_loop_closures(moved, moved, loops, world.measured, **settings_)
    assert here.graph == there.graph


@pytest.mark.parametrize(
    ("poses", "covariances", "message"),
    [
        (np.eye(4), np.eye(6), r"poses: expected poses of shape \(k, 4, 4\)"),
        ([np.eye(4)] * 2, np.eye(3), r"covariances: expected numbers of shape \(6, 6\) or \(2, 6, 6\), got \(3, 3\)"),
        ([np.eye(4)] * 2, [np.eye(6)], r"covariances: expected numbers of shape \(6, 6\) or \(2, 6, 6\)"),
        ([np.eye(4)] * 2, [np.eye(6), -np.eye(6)], "covariances: matrix 1 is not symmetric, or has negative"),
        ([np.eye(4)] * 2, np.full((6, 6), np.nan), "covariances: matrix 0 is not symmetric, or has negative"),
        ([np.eye(4)] * 2, np.triu(np.ones((6, 6))), "covariances: matrix 0 is not symmetric, or has negative"),
        ([np.eye(4)] * 2, "x", "covariances: expected numbers"),
    ],
)
def test_wrong_odometry_is_refused(poses: Any, covariances: Any, message: str) -> None:
    with pytest.raises(cp.LandmarkError, match=message):
        Odometry(poses, covariances)


def test_odometry_with_errors_needs_covariances_of_the_measurements() -> None:
    world = World(0, True)
    a, _ = world.odometry()
    with pytest.raises(cp.OptionError, match="covariances: expected those of the measurements"):
        cp.consistent_loop_closures(a, a, world.loops, world.measured)
    assert len(Odometry([], np.eye(6))) == 0
