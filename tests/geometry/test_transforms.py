"""Transforms of matched points: as scipy finds them, equivariant, and proper however few directions there are."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import clipperplus as cp
from clipperplus.geometry.poses import from_quaternions, inverse, to_quaternions

Array = npt.NDArray[np.float64]


def motion(random: np.random.Generator, reach: float = 3.0) -> Array:
    T = np.eye(4)
    T[:3, :3] = Rotation.from_quat(random.normal(size=4)).as_matrix()
    T[:3, 3] = random.uniform(-reach, reach, 3)
    return T


def is_proper(T: Array) -> bool:
    R = T[:3, :3]
    orthogonal = np.abs(R @ R.T - np.eye(3)).max() < 1e-12 and abs(np.linalg.det(R) - 1.0) < 1e-12
    return bool(orthogonal and (T[3] == (0.0, 0.0, 0.0, 1.0)).all() and np.isfinite(T).all())


def residual(T: Array, source: Array, target: Array) -> float:
    return float(((cp.apply_transform(T, source) - target) ** 2).sum())


seeds = st.integers(0, 2**32 - 1)


@given(seeds, st.integers(3, 40), st.sampled_from([0.0, 1e-6, 0.1, 10.0]), st.booleans())
def test_scipy_finds_the_same(seed: int, count: int, noise: float, weighted: bool) -> None:
    random = np.random.default_rng(seed)
    source = random.normal(size=(count, 3))
    target = cp.apply_transform(motion(random), source) + noise * random.normal(size=(count, 3))
    weights = random.uniform(0.1, 2.0, count) if weighted else np.ones(count)
    T = cp.fit_transform(source, target, weights=weights if weighted else None)
    centres = [np.average(points, axis=0, weights=weights) for points in (source, target)]
    # scipy turns its second argument into its first, and minimises weighted squares
    R, _ = Rotation.align_vectors(target - centres[1], source - centres[0], weights=weights)
    moments = (source - centres[0]).T @ (weights[:, None] * (target - centres[1]))
    u, singular, vt = np.linalg.svd(moments)
    clearance = singular[1] + np.sign(np.linalg.det(u @ vt)) * singular[2]  # how well the rotation is determined
    assert is_proper(T)
    if clearance > 1e-6 * singular[0]:
        assert np.allclose(T[:3, :3], R.as_matrix(), atol=1e-13 * singular[0] / clearance + 1e-12)
        assert np.allclose(T[:3, 3], centres[1] - T[:3, :3] @ centres[0], atol=1e-12)


@given(seeds, st.integers(3, 20), st.sampled_from([1, 2, 3]))
def test_moving_both_sets_moves_the_transform(seed: int, count: int, dimension: int) -> None:
    random = np.random.default_rng(seed)
    source = random.normal(size=(count, dimension)) @ random.normal(size=(dimension, 3))
    target = cp.apply_transform(motion(random), source) + 0.01 * random.normal(size=(count, 3))
    before, after = motion(random), motion(random)
    T = cp.fit_transform(source, target)
    moved_source, moved_target = cp.apply_transform(before, source), cp.apply_transform(after, target)
    moved = cp.fit_transform(moved_source, moved_target)
    best = residual(T, source, target)
    # on a line the rotation may be another one, but none is better
    assert residual(moved, moved_source, moved_target) == pytest.approx(best, rel=1e-9, abs=1e-12)
    assert residual(after @ T @ inverse(before), moved_source, moved_target) == pytest.approx(best, rel=1e-9, abs=1e-12)


@given(seeds, st.integers(3, 20), st.sampled_from([0, 1, 2, 3]), st.sampled_from([1e-300, 1e-9, 1.0, 1e7, 1e150]))
def test_rotations_are_proper_whatever_the_points(seed: int, count: int, dimension: int, scale: float) -> None:
    random = np.random.default_rng(seed)
    source = random.normal(size=(count, dimension)) @ random.normal(size=(dimension, 3)) + random.normal(size=3)
    target = random.permutation(source) * random.choice([-1.0, 1.0], 3)  # with reflections
    T = cp.fit_transform(scale * source, scale * target)
    assert is_proper(T)
    assert np.array_equal(T, cp.fit_transform(scale * source, scale * target))
    assert is_proper(cp.fit_transform(scale * source, random.normal(size=(count, 3))))


def test_coincident_points_give_a_translation() -> None:
    T = cp.fit_transform(np.full((7, 3), 0.1), np.full((7, 3), 0.7))
    assert np.array_equal(T[:3, :3], np.eye(3))
    assert np.allclose(T[:3, 3], 0.6, atol=1e-15)


def test_points_on_a_line_are_moved_onto_each_other() -> None:
    steps = np.linspace(-1.0, 2.0, 9)[:, None]
    source, target = steps * (1.0, 2.0, 3.0) + 5.0, steps * (-3.0, 1.0, 2.0) - 1.0
    T = cp.fit_transform(source, target)
    assert is_proper(T)
    assert np.allclose(cp.apply_transform(T, source), target, atol=1e-13)


def test_a_mirrored_plane_is_turned_over() -> None:
    source = np.array([[0.0, 0, 0], [1, 0, 0], [0, 2, 0], [3, 1, 0]])
    T = cp.fit_transform(source, source * (1, -1, 1))
    assert is_proper(T)
    assert np.allclose(T[:3, :3], np.diag([1.0, -1.0, -1.0]), atol=1e-14)


@given(seeds)
def test_no_small_motion_does_better(seed: int) -> None:
    random = np.random.default_rng(seed)
    source, target = random.normal(size=(2, 6, 3))
    T = cp.fit_transform(source, target)
    for size in (1e-3, 0.1, 2.0):
        nudge = np.eye(4)
        nudge[:3, :3] = Rotation.from_rotvec(size * random.normal(size=3)).as_matrix()
        nudge[:3, 3] = size * random.normal(size=3)
        assert residual(T, source, target) <= residual(nudge @ T, source, target) + 1e-12


@given(seeds)
def test_weights_repeat_points_and_zero_drops_them(seed: int) -> None:
    random = np.random.default_rng(seed)
    source, target = random.normal(size=(2, 8, 3))
    weights = random.integers(0, 4, 8)
    if (weights > 0).sum() < 3:
        return
    T = cp.fit_transform(source, target, weights=weights)
    repeated = cp.fit_transform(np.repeat(source, weights, axis=0), np.repeat(target, weights, axis=0))
    kept = weights > 0
    assert np.array_equal(T, cp.fit_transform(source[kept], target[kept], weights=weights[kept]))
    assert np.array_equal(T, cp.fit_transform(source, target, weights=weights * 2.0**900))
    assert residual(T, np.repeat(source, weights, axis=0), np.repeat(target, weights, axis=0)) == pytest.approx(
        residual(repeated, np.repeat(source, weights, axis=0), np.repeat(target, weights, axis=0)), rel=1e-9
    )
    assert np.array_equal(
        cp.fit_transform(source, target, weights=kept), cp.fit_transform(source[kept], target[kept])
    )  # a mask of inliers


def test_far_from_the_origin_precision_is_kept() -> None:
    random = np.random.default_rng(1)
    near = random.normal(size=(50, 3))
    R = Rotation.from_quat(random.normal(size=4)).as_matrix()
    T = cp.fit_transform(near + 2.0**22, near @ R.T - 2.0**22)  # rounded to 2**-30 when moved
    assert np.abs(T[:3, :3] - R).max() < 1e-9


@pytest.mark.parametrize(
    ("source", "target", "weights", "message"),
    [
        (np.ones((2, 3)), np.ones((2, 3)), None, "source: expected at least 3 points, got 2"),
        ((), (), None, "source: expected at least 3 points, got 0"),
        (np.ones((4, 3)), np.ones((3, 3)), None, "target: expected as many points as source has, 4, got 3"),
        (np.ones((3, 2)), np.ones((3, 3)), None, r"source: expected points of shape \(n, 3\)"),
        (np.full((3, 3), np.nan), np.ones((3, 3)), None, "source: point 0 is .* expected finite"),
        (np.ones((3, 3)), np.full((3, 3), np.inf), None, "target: point 0 is .* expected finite"),
        (np.full((3, 3), 1.7e308), np.full((3, 3), -1.7e308), None, "too far from the origin"),
        (np.eye(3), np.eye(3), [1.0, 1.0], "weights: expected 3 numbers"),
        (np.eye(3), np.eye(3), ["a", "b", "c"], "weights: expected 3 numbers"),
        (np.eye(3), np.eye(3), [1.0, -1.0, 1.0], "weights: weight 1 is -1.0"),
        (np.eye(3), np.eye(3), [1.0, 1.0, np.nan], "weights: weight 2 is nan"),
        (np.eye(3), np.eye(3), [1.0, 0.0, 1.0], "at least 3 points of positive weight, got 2"),
    ],
)
def test_what_cannot_be_fitted_is_refused(source: Array, target: Array, weights: Array | None, message: str) -> None:
    with pytest.raises(cp.LandmarkError, match=message):
        cp.fit_transform(source, target, weights=weights)


def test_clouds_of_other_libraries_and_single_precision_are_moved() -> None:
    class Cloud:
        points = np.float32([[1, 2, 3], [4, 5, 6]])

    T = np.eye(4)
    T[:3, 3] = 1.0, 0.0, -1.0
    assert np.array_equal(cp.apply_transform(T, Cloud()), [[2.0, 2.0, 2.0], [5.0, 5.0, 5.0]])
    assert cp.apply_transform(T, ()).shape == (0, 3)


@pytest.mark.parametrize("T", [np.zeros((4, 4)), np.eye(3), np.eye(4)[None], np.diag([1.0, 1, -1, 1]), "T", None])
def test_what_is_no_transform_is_refused(T: object) -> None:
    with pytest.raises(cp.LandmarkError, match="T: "):
        cp.apply_transform(T, np.ones((3, 3)))  # type: ignore[arg-type]


@given(seeds, st.sampled_from([0.0, 1e-12, 1e-7, 1e-3, 1.0, 2.0, 3.1, np.pi - 1e-9, np.pi]))
def test_errors_are_those_that_were_put_in(seed: int, angle: float) -> None:
    random = np.random.default_rng(seed)
    axis = random.normal(size=3)
    truth, error = motion(random), np.eye(4)
    error[:3, :3] = Rotation.from_rotvec(angle * axis / np.linalg.norm(axis)).as_matrix()
    error[:3, 3] = random.normal(size=3)
    estimate = truth @ error
    assert cp.rotation_error(estimate, truth) == pytest.approx(np.degrees(angle), rel=1e-9, abs=1e-13)
    assert cp.rotation_error(truth, estimate) == pytest.approx(np.degrees(angle), rel=1e-9, abs=1e-13)
    assert cp.translation_error(estimate, truth) == pytest.approx(np.linalg.norm(error[:3, 3]), rel=1e-12)


def test_stacks_are_compared_one_by_one_or_with_one() -> None:
    random = np.random.default_rng(3)
    stack, other = (np.array([motion(random) for _ in range(5)]) for _ in range(2))
    for error in (cp.rotation_error, cp.translation_error):
        assert np.array_equal(error(stack, other), [error(a, b) for a, b in zip(stack, other, strict=True)])
        assert np.array_equal(error(stack, other[0]), [error(a, other[0]) for a in stack])
        assert np.array_equal(error(stack[:1], other), [error(stack[0], b) for b in other])
        assert f"{error(stack[0], other[0]):.3f}"
        assert error((), ()).shape == (0,)
        with pytest.raises(cp.LandmarkError, match="T_true: expected one transform, or 5, got 3"):
            error(stack, other[:3])


@given(seeds, st.sampled_from([0.0, 1e-9, 0.5, np.pi - 1e-9, np.pi]))
def test_quaternions_are_those_of_scipy(seed: int, angle: float) -> None:
    random = np.random.default_rng(seed)
    axes = random.normal(size=(4, 3))
    rotations = Rotation.from_rotvec(angle * axes / np.linalg.norm(axes, axis=1)[:, None])
    poses = from_quaternions(3.0 * rotations.as_quat(), axes)
    assert np.allclose(poses[:, :3, :3], rotations.as_matrix(), atol=1e-15)
    assert np.array_equal(poses[:, :3, 3], axes)
    quaternions = to_quaternions(poses)
    assert (quaternions[:, 3] >= 0.0).all()
    wanted = rotations.as_quat()
    wanted *= np.sign((wanted * quaternions).sum(axis=1))[:, None]
    assert np.allclose(quaternions, wanted, atol=2e-15)
