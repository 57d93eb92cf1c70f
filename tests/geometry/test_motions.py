"""Models of the motion: each fit is that of an independent solver, and each keeps what it says."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from motions import move
from scipy.optimize import least_squares
from scipy.spatial.transform import Rotation

import clipperplus as cp
from clipperplus.geometry.motions import MOTIONS, as_motion, scale_of
from clipperplus.geometry.motions.base import Motion

Array = npt.NDArray[np.float64]
seeds = st.integers(0, 2**32 - 1)
names = st.sampled_from(sorted(MOTIONS))


def random_model(name: str, random: np.random.Generator) -> Motion:
    return as_motion(name, random.normal(size=3) if name in ("yaw", "planar") else None)


def random_motion(model: Motion, random: np.random.Generator, reach: float = 3.0) -> Array:
    """One of the model, by its definition."""
    T = np.eye(4)
    T[:3, 3] = random.uniform(-reach, reach, 3)
    if model.name in ("rigid", "similarity"):
        T[:3, :3] = Rotation.random(random_state=int(random.integers(2**31))).as_matrix()
    if model.name == "similarity":
        T[:3, :3] *= np.exp(random.uniform(-2.0, 2.0))
    if model.name in ("yaw", "planar"):
        T[:3, :3] = Rotation.from_rotvec(random.uniform(-np.pi, np.pi) * model.up).as_matrix()
    if model.name == "planar":
        T[:3, 3] -= T[:3, 3] @ model.up * model.up
    return T


def of_parameters(model: Motion, start: Array, small: Array) -> Array:
    """A motion of the model beside another: the oracle's parameters."""
    turns, shifts = model.turns.shape[1], model.shifts.shape[1]
    T = np.eye(4)
    T[:3, :3] = Rotation.from_rotvec(model.turns @ small[:turns]).as_matrix() @ start[:3, :3]
    T[:3, 3] = start[:3, 3] + model.shifts @ small[turns : turns + shifts]
    if model.has_scale:
        T[:3, :3] *= np.exp(small[-1])
    return T


@settings(max_examples=40)
@given(names, seeds, st.sampled_from([0.0, 0.01, 0.5]))
def test_the_fit_is_the_minimum_that_scipy_finds(name: str, seed: int, noise: float) -> None:
    """No motion of the model has a smaller sum of squares, and the fit is one."""
    random = np.random.default_rng(seed)
    model = random_model(name, random)
    source = random.normal(size=(12, 3))
    truth = random_motion(model, random)
    target = move(truth, source) + noise * random.normal(size=(12, 3))
    weights = random.uniform(0.1, 2.0, 12)
    T = model.fit(source, target, weights)
    assert np.allclose(model.fit(source, target, 1e-7 * weights), T, atol=1e-9)
    if not noise:
        assert np.allclose(T, truth, atol=1e-9 * np.abs(truth).max())

    def residuals(small: Array, start: Array = T) -> Array:
        gaps = move(of_parameters(model, start, small), source) - target
        return np.asarray((np.sqrt(weights)[:, None] * gaps).ravel())

    count = model.free.shape[1] + int(model.has_scale)
    for start in (T, truth):
        best = least_squares(residuals, np.zeros(count), xtol=1e-14, ftol=1e-14, gtol=1e-14, args=(start,))
        assert (residuals(np.zeros(count)) ** 2).sum() <= 2.0 * best.cost * (1.0 + 1e-9) + 1e-18


@given(names, seeds)
def test_small_motions_of_a_model_are_free_and_no_others_are(name: str, seed: int) -> None:
    """The basis is orthonormal, the same about another centre, and what it spans keeps what pairs agree in."""
    random = np.random.default_rng(seed)
    model = random_model(name, random)
    free = model.free
    assert np.allclose(free.T @ free, np.eye(free.shape[1]))
    carried = free.copy()
    carried[3:] += np.cross(random.normal(size=3), free[:3].T).T  # about another centre
    assert np.allclose(free @ (free.T @ carried), carried)
    source = random.normal(size=(5, 3))
    target = move(random_motion(model, random), source)
    offsets, strays = model.offsets(source, target), model.strays(source, target)
    if offsets is not None:
        assert np.allclose(offsets, offsets[0])
    if strays is not None:
        assert np.abs(strays).max() < 1e-12


@given(names, seeds)
def test_the_projection_of_a_motion_is_in_the_model_and_the_nearest(name: str, seed: int) -> None:
    random = np.random.default_rng(seed)
    model = random_model(name, random)
    rigid = random_motion(as_motion("rigid"), random)
    (projected,) = model.project(rigid[None])
    assert np.allclose(model.project(projected[None])[0], projected, atol=1e-12)
    points = random.normal(size=(6, 3))
    assert np.allclose(model.fit(points, move(projected, points), np.ones(6)), projected, atol=1e-9)
    for _ in range(20):
        other = random_motion(model, random)
        if not model.has_scale:
            gaps = [np.linalg.norm(one[:3, :3] - rigid[:3, :3]) for one in (projected, other)]
            assert gaps[0] <= gaps[1] + 1e-12


@given(seeds, st.floats(0.01, 100.0))
def test_the_scale_of_a_similarity_is_umeyamas(seed: int, scale: float) -> None:
    random = np.random.default_rng(seed)
    source = random.normal(size=(10, 3))
    T = np.eye(4)
    T[:3, :3] = scale * Rotation.random(random_state=seed).as_matrix()
    target = move(T, source) + 0.01 * scale * random.normal(size=(10, 3))
    found = as_motion("similarity").fit(source, target, np.ones(10))
    arms, others = source - source.mean(axis=0), target - target.mean(axis=0)
    u, values, vt = np.linalg.svd(others.T @ arms)
    sign = np.array([1.0, 1.0, np.linalg.det(u @ vt)])
    assert scale_of(found) == pytest.approx((values * sign).sum() / (arms**2).sum())
    assert np.allclose(found[:3, :3] / scale_of(found), u @ (sign[:, None] * vt))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", sorted(MOTIONS))
def test_points_that_determine_nothing_give_a_motion_of_the_model(name: str) -> None:
    model = as_motion(name)
    for source in (np.zeros((4, 3)), np.outer(np.arange(4.0), model.up), np.zeros((1, 3)), np.full((4, 3), 1e80)):
        target = source + ([1.0, 2.0, 0.0] if name == "planar" else [1.0, 2.0, 3.0])
        T = model.fit(source, target, np.ones(len(source)))
        assert np.isfinite(T).all()
        assert np.allclose(move(T, source), target)
        assert np.allclose(model.project(T[None])[0], T)


def test_there_is_a_row_for_each_model() -> None:
    assert list(MOTIONS) == ["rigid", "similarity", "yaw", "planar", "translation"]
    for name, model in MOTIONS.items():
        assert as_motion(name).name == model.name == name


@pytest.mark.parametrize(
    ("motion", "up", "said"),
    [
        ("affine", None, "motion: expected one of 'rigid', .*got 'affine'"),
        (3, None, "motion: expected one of .*got 3"),
        ("yaw", (0.0, 0.0, 0.0), "up: expected a direction, finite and not zero"),
        ("yaw", (0.0, np.nan, 1.0), "up: expected a direction, finite"),
        ("yaw", (0.0, 1.0), "up: expected a direction of 3 numbers"),
        ("yaw", "z", "up: expected a direction of 3 numbers"),
        ("rigid", (0.0, 0.0, 1.0), "up: expected None, as 'rigid' has no axis"),
        ("translation", (0.0, 0.0, 1.0), "up: expected None"),
    ],
)
def test_what_is_no_model_is_refused(motion: object, up: object, said: str) -> None:
    with pytest.raises(cp.OptionError, match=said):
        as_motion(motion, up)


def test_transforms_with_a_scale_move_points_and_their_rotations_are_compared() -> None:
    random = np.random.default_rng(0)
    points = random.normal(size=(5, 3))
    T = random_motion(as_motion("similarity"), random)
    rigid = T.copy()
    rigid[:3, :3] /= scale_of(T)
    assert np.allclose(cp.apply_transform(T, points), move(T, points))
    assert cp.rotation_error(T, rigid) == pytest.approx(0.0, abs=1e-5)
    sheared = T.copy()
    sheared[0, 1] += 1.0
    with pytest.raises(cp.LandmarkError, match="no rotation and translation"):
        cp.apply_transform(sheared, points)
    mirrored = T.copy()
    mirrored[:3, :3] *= -1.0
    with pytest.raises(cp.LandmarkError, match="no rotation and translation"):
        cp.apply_transform(mirrored, points)


def test_points_of_the_plane_are_moved_by_what_keeps_it() -> None:
    random = np.random.default_rng(1)
    points = random.normal(size=(5, 2))
    T = random_motion(as_motion("planar"), random)
    moved = cp.apply_transform(T, points)
    assert moved.shape == (5, 2)
    assert np.allclose(moved, points @ T[:2, :2].T + T[:2, 3])
    with pytest.raises(cp.LandmarkError, match="keeps the plane"):
        cp.apply_transform(random_motion(as_motion("rigid"), random), points)
