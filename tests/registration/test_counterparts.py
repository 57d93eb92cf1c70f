import numpy as np
import pytest

import clipperplus as cp
from clipperplus import _core
from clipperplus.registration import counterparts
from clipperplus.registration.uncertainty import Information


def room(width: float, depth: float, height: float, step: float = 0.05) -> tuple[np.ndarray, np.ndarray]:
    """Return points and normals of the inside of a box around the origin."""
    points, normals = [], []
    size = np.array([width, depth, height])
    for axis in range(3):
        u, v = (k for k in range(3) if k != axis)
        grid = np.stack(
            np.meshgrid(*(np.arange(-size[k] / 2, size[k] / 2 + 1e-9, step) for k in (u, v)), indexing="ij"), -1
        )
        for side in (-0.5, 0.5):
            face = np.zeros((grid[..., 0].size, 3))
            face[:, [u, v]] = grid.reshape(-1, 2)
            face[:, axis] = side * size[axis]
            points.append(face)
            normals.append(np.tile(-np.sign(side) * np.eye(3)[axis], (len(face), 1)))
    return np.concatenate(points), np.concatenate(normals)


def nearest_gap(points: np.ndarray, others: np.ndarray) -> float:
    from scipy.spatial import cKDTree

    return float(cKDTree(others).query(points)[0].max())


@pytest.mark.parametrize("seed", range(5))
def test_main_axes_are_those_of_a_turned_room_by_area(seed: int) -> None:
    random = np.random.default_rng(seed)
    _, normals = room(4.0, 3.0, 2.0)
    turn = np.linalg.qr(random.normal(size=(3, 3)))[0]
    noisy = normals @ turn.T + random.normal(scale=0.02, size=normals.shape)
    axes = counterparts.main_axes(noisy / np.linalg.norm(noisy, axis=1)[:, None])
    assert axes @ axes.T == pytest.approx(np.eye(3), abs=1e-9)
    # The largest faces are 4 × 3, at right angles to z; then 4 × 2.
    assert abs(axes[0] @ turn[:, 2]) > 0.999
    assert abs(axes[1] @ turn[:, 1]) > 0.99


def test_main_axes_of_one_plane_and_of_nothing_at_right_angles() -> None:
    for normals in (np.tile([0.0, 0.0, 1.0], (50, 1)), np.array([[0.0, 0.0, 1.0], [0.0, 0.6, 0.8]])):
        axes = counterparts.main_axes(normals)
        assert axes @ axes.T == pytest.approx(np.eye(3), abs=1e-9)


def test_turned_counterparts_of_a_room_bring_it_onto_itself() -> None:
    points, normals = room(3.0, 3.0, 2.0)
    axes = counterparts.main_axes(normals)
    turns = counterparts.turned_counterparts(counterparts.middle(points, points, axes), axes)
    assert np.linalg.det(turns[:, :3, :3]) == pytest.approx(np.ones(len(turns)))
    gaps = np.array([nearest_gap(cp.apply_transform(turn, points), points) for turn in turns])
    # Half turns about three axes, quarter turns about the vertical one.
    assert (gaps < 0.02).sum() == 5
    assert (gaps > 0.3).sum() == 4


def test_the_middle_is_that_of_all_that_is_seen() -> None:
    points, normals = room(4.0, 3.0, 2.0)
    points = points + np.array([5.0, -2.0, 1.0])
    axes = counterparts.main_axes(normals)
    left, right = points[points[:, 0] < 5.5], points[points[:, 0] > 4.5]
    assert counterparts.middle(left, right, axes) == pytest.approx([5.0, -2.0, 1.0], abs=0.05)


def test_mirrored_counterparts_are_reflections_about_the_middle() -> None:
    points, normals = room(4.0, 3.0, 2.0)
    shifted = points + np.array([5.0, -2.0, 1.0])
    mirrors = counterparts.mirrored_counterparts(np.array([5.0, -2.0, 1.0]), counterparts.main_axes(normals))
    assert np.linalg.det(mirrors[:, :3, :3]) == pytest.approx(-np.ones(len(mirrors)))
    for mirror in mirrors:
        assert nearest_gap(shifted @ mirror[:3, :3].T + mirror[:3, 3], shifted) < 0.02


def test_offsets_go_both_ways_along_each_axis() -> None:
    offsets = counterparts.offsets(np.eye(3)[::-1], 0.1)
    assert offsets.shape == (3, 15, 3)
    assert np.linalg.norm(offsets, axis=2)[:, 7] == pytest.approx(0.0)
    assert offsets[0, -1] == pytest.approx([0.0, 0.0, 2.8])
    assert offsets[2, 0] == pytest.approx([-2.8, 0.0, 0.0])


def test_slides_move_along_what_is_open_by_voxels() -> None:
    # Residuals along y and z alone: a shift along x is open, and so is a turn about it.
    random = np.random.default_rng(0)
    arms = random.normal(size=(200, 3))
    matrix = np.zeros((6, 6))
    for arm in arms:
        for normal in ([0.0, 1.0, 0.0], [0.0, 0.0, 1.0]):
            row = np.concatenate((np.cross(arm, normal), normal))
            matrix += np.outer(row, row)
    information = Information(matrix, np.array([1.0, 2.0, 3.0]), 400.0, 1.4, 1e-4, 0.003)
    motions, ranks = counterparts.slides(information, 0.05)
    assert ranks.tolist() == [0, 0, 0, 0]
    for motion in motions:
        assert motion[1:3, 3] == pytest.approx([0.0, 0.0], abs=1e-6)
        shift = np.linalg.norm(motion[:3, 3])
        assert min(abs(shift - 0.25), abs(shift - 0.6)) < 1e-6
        assert motion[:3, :3] == pytest.approx(np.eye(3), abs=1e-6)
    assert len(counterparts.slides(Information(np.eye(6), np.zeros(3), 1.0, 1.0, 1e-4, 0.003), 0.05)[0]) == 0


def test_shifts_go_both_ways_along_the_axes_by_steps_up_to_most_of_the_scene() -> None:
    points, normals = room(4.0, 3.0, 2.0)
    axes = counterparts.main_axes(normals)
    motions, ways = counterparts.shifts(points, points, axes, 0.05)
    steps = motions[:, :3, 3] @ axes.T
    assert set(ways.tolist()) == set(range(6))
    for way in range(6):
        along = steps[ways == way]
        assert np.delete(along, way // 2, axis=1) == pytest.approx(0.0, abs=1e-9)
        lengths = along[:, way // 2] * (1 if way % 2 == 0 else -1)
        assert lengths[0] == pytest.approx(0.25)
        assert np.diff(lengths) == pytest.approx(0.2)
    assert np.linalg.norm(steps, axis=1).max() == pytest.approx(0.6 * 4.0, abs=0.4)


def test_points_are_checked_as_defined() -> None:
    """Brute force: the nearest point of the target within a voxel, and the least range around a direction."""
    random = np.random.default_rng(3)
    target, normals = room(4.0, 3.0, 2.0, 0.1)
    surface = _core.SurfaceGrid(target, normals, 0.1, 2)
    sight = _core.RangeImage(room(4.0, 3.0, 2.0, 0.02)[0], np.zeros(3), 1)
    points = random.uniform(-2.2, 2.2, (800, 3))
    directions = random.normal(size=(800, 3))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    motion = np.eye(4)
    motion[:3, 3] = [0.3, -0.2, 0.1]
    args = surface, sight, points, directions, motion[None], 0.1, 0.8, 0.3, 1
    checks = _core.check_points(*args)[0]
    assert (checks == _core.check_points(*args[:-1], 4)[0]).all()
    blind = _core.check_points(surface, None, *args[2:])[0]
    moved = points + motion[:3, 3]
    gaps = np.linalg.norm(moved[:, None] - target[None], axis=2)
    clear = np.abs(gaps.min(axis=1) - 0.1) > 0.1  # the grid may know a point that is a little farther
    near = gaps.min(axis=1) < 0.1
    assert (blind[clear & ~near] == 0).all()
    inside = (np.abs(moved) < np.array([2.0, 1.5, 1.0]) - 0.6).all(axis=1)
    outside = (np.abs(moved) > np.array([2.0, 1.5, 1.0]) + 0.2).any(axis=1)
    assert inside.sum() > 20
    assert (checks[inside] == 3).all()
    assert set(checks[outside]) <= {0, 4}
    beyond = (np.abs(moved) > np.array([2.0, 1.5, 1.0]) + 0.5).any(axis=1)
    assert (checks[beyond] == 4).all()
    assert (blind[inside] == 0).all()
    itself = _core.check_points(surface, sight, target, normals, np.eye(4)[None], 0.1, 0.8, 0.3, 1)[0]
    assert (itself == 1).mean() > 0.9
    across = _core.check_points(surface, sight, target, np.roll(normals, 1, axis=1), np.eye(4)[None], 0.1, 0.8, 0.3, 1)
    assert (across == 2).mean() > 0.9


@pytest.mark.parametrize("scale", [0.95, 1.0, 1.04])
def test_similarity_finds_the_scale_of_a_room(scale: float) -> None:
    points, normals = room(4.0, 3.0, 2.0, 0.1)
    surface = _core.SurfaceGrid(points, normals, 0.1, 2)
    motion = np.eye(4)
    motion[:3, 3] = [0.03, -0.02, 0.01]
    found, information, variance, weights = _core.fit_similarity(
        surface, points / scale, normals, motion[None], 0.25, 0.5, 20
    )
    assert found == pytest.approx(scale, abs=2e-3)
    assert information > 0.0
    assert variance < 1e-4
    assert weights > 100.0


def test_similarity_of_too_few_points_is_one() -> None:
    points, normals = room(4.0, 3.0, 2.0, 0.1)
    surface = _core.SurfaceGrid(points, normals, 0.1, 2)
    scale, information, _, _ = _core.fit_similarity(surface, points[:5], normals[:5], np.eye(4)[None], 0.25, 0.5, 20)
    assert (scale, information) == (1.0, 0.0)
