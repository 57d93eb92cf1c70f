"""Where a sensor stood: what a surface looks like from a place, against plain numpy, and which place is taken."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from motions import move, random_motion
from simulated import room, street
from strategies import clouds, shell

import clipperplus as cp
from clipperplus import _core
from clipperplus.geometry.poses import inverse

Array = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int32]

ALL = 2**31
TORN, HIDDEN, GRAZING, THINNING = range(4)
TINY = {0: np.empty((0, 3)), 1: np.zeros((1, 3)), 2: np.array([[0.0, 0.0, 0.0], [0.1, 0.0, 0.0]])}


def native(points: Array, radius: float) -> Any:
    return cp.Neighbourhoods(points, radius=radius)._native


def directions(count: int, seed: int) -> Array:
    vectors = np.random.default_rng(seed).normal(size=(count, 3))
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1)[:, None])


def numbers(count: int, seed: int) -> Counts:
    return np.random.default_rng(seed).integers(1, 40, count).astype(np.int32)


def pixels(d: Array) -> npt.NDArray[np.int64]:
    """The cell of each direction: six faces of a cube, 32 × 32 on each."""
    rows, axis = np.arange(len(d)), np.abs(d).argmax(axis=1)
    largest = d[rows, axis]
    u, v = (np.clip(d[rows, (axis + k) % 3] * (16.0 / np.abs(largest)) + 16.0, 0.0, 31.0).astype(int) for k in (1, 2))
    return np.asarray(((2 * axis + (largest < 0.0)) * 32 + v) * 32 + u)


def seen_from(
    place: Array, points: Array, normals: Array, counts: Counts, near: Any, radius: float, margin: float
) -> list[float]:
    """What the header says, a loop at a time."""
    pairs, densities = [], []
    for i in range(len(points)):
        around = [j for j in near.of(i) if ((points[j] - points[i]) ** 2).sum() <= radius**2]
        densities.append(np.log(np.mean([counts[i], *(counts[j] for j in around)])))
        parallel = [j for j in around if abs(normals[i] @ normals[j]) >= 0.9]
        chosen = min(3, len(parallel))  # the first, the last, one between
        pairs += [(i, parallel[k * (len(parallel) - 1) // max(1, chosen - 1)]) for k in range(chosen)]
    turned = [
        ((place - points[i]) @ normals[i]) * ((place - points[j]) @ normals[j]) * np.sign(normals[i] @ normals[j])
        for i, j in pairs
    ]
    d = points - place
    ranges = np.linalg.norm(d, axis=1)
    with np.errstate(all="ignore"):
        cosines = np.minimum(1.0, np.abs((d * normals).sum(axis=1)) / ranges)
        spread = np.log(ranges) - 0.5 * np.log(cosines + 0.05)
        nearest = (ranges * (1.0 + np.sqrt(1.0 - cosines**2) / np.maximum(cosines, 1e-3) / 16.0)).astype(np.float32)
    cells = pixels(np.where(ranges[:, None] > 0.0, d, 1.0))
    hidden = [
        r > np.float64(min(nearest[(cells == cell) & (ranges > 0.0)])) + margin if r > 0.0 else False
        for r, cell in zip(ranges, cells, strict=True)
    ]
    elsewhere = ranges > 0.0  # a point at the place itself says nothing
    a, b = (column[elsewhere] - column[elsewhere].mean() for column in (spread, np.array(densities)))
    flat = min(a @ a, b @ b) < 1e-18
    return [
        float(np.mean([t < 0.0 for t in turned])) if turned else 0.0,
        float(np.mean(hidden)),
        float((cosines < 0.1).mean()),  # a place on the point itself is no number, and does not graze
        0.0 if flat else float(-(a @ b) / np.sqrt((a @ a) * (b @ b))),
    ]


def scattered(seed: int) -> tuple[Array, Array]:
    points = np.random.default_rng(seed).uniform(-1.0, 1.0, (90, 3))
    return points, directions(90, seed + 1)


def box(seed: int) -> tuple[Array, Array]:
    """The sides of a box, with their normals: what is behind a side is hidden by it, and sides in line are torn."""
    points = shell(150, 2.0, seed)
    axis = np.abs(points / [1.0, 1.0, 0.5]).argmax(axis=1)
    return points, np.eye(3)[axis]


def lattice(seed: int) -> tuple[Array, Array]:
    """Many places in line with each other, on the borders of directions, and exactly in the planes of others."""
    points = np.random.default_rng(seed).permutation(np.stack(np.mgrid[-2:3, -2:3, -2:3], -1).reshape(-1, 3) * 0.5)
    return points[:70], np.eye(3)[np.random.default_rng(seed).integers(3, size=70)]


PLACES = np.array([[0.0, 0.0, 0.0], [0.3, -0.2, 0.11], [5.0, 4.0, -3.0], [0.0, 0.0, 30.0], [-0.25, 1.5, 0.5]])


@pytest.mark.parametrize("cloud", [scattered, box, lattice])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("radius", "margin"), [(0.45, 0.05), (0.7, 0.4), (0.01, 0.0)])
def test_a_look_is_what_plain_numpy_sees(cloud: Any, seed: int, radius: float, margin: float) -> None:
    points, normals = cloud(seed)
    counts, near = numbers(len(points), seed), native(points, 0.8)
    views = _core.ViewedSurface(points, normals, counts, near, radius, margin, ALL).look_from(PLACES, True, 1)
    expected = np.array([seen_from(place, points, normals, counts, near, radius, margin) for place in PLACES])
    assert np.array_equal(views[:, HIDDEN], expected[:, HIDDEN])
    assert np.allclose(views, expected, rtol=0.0, atol=1e-9)


def test_the_clouds_of_the_oracle_have_all_that_it_is_about() -> None:
    """Torn, hidden, grazing, thinning either way: none of the four is always nothing."""
    views = []
    for cloud in (scattered, box, lattice):
        points, normals = cloud(0)
        surface = _core.ViewedSurface(points, normals, numbers(len(points), 0), native(points, 0.8), 0.7, 0.05, ALL)
        views.append(surface.look_from(PLACES, True, 1))
    assert (np.concatenate(views).max(axis=0) > 0.1).all()
    assert np.concatenate(views)[:, THINNING].min() < -0.1


@pytest.mark.parametrize("seed", range(3))
def test_moving_the_cloud_with_the_place_changes_nothing_but_the_directions(seed: int) -> None:
    points, normals = scattered(seed)
    counts, near, motion = numbers(len(points), seed), native(points, 0.8), random_motion(seed, shift=10.0)
    moved = np.ascontiguousarray(normals @ motion[:3, :3].T)
    here = _core.ViewedSurface(points, normals, counts, near, 0.7, 0.1, ALL).look_from(PLACES, True, 1)
    there = _core.ViewedSurface(move(motion, points), moved, counts, near, 0.7, 0.1, ALL)
    views = there.look_from(move(motion, PLACES), True, 1)
    assert here[:, TORN].max() > 0.1
    for column in (TORN, GRAZING, THINNING):
        assert np.allclose(views[:, column], here[:, column], rtol=0.0, atol=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_signs_of_normals_threads_and_what_is_asked_for_do_not_change_a_look(seed: int) -> None:
    points, normals = scattered(seed)
    counts, near = numbers(len(points), seed), native(points, 0.8)
    signs = np.random.default_rng(seed).choice([-1.0, 1.0], (len(points), 1))
    views = _core.ViewedSurface(points, normals, counts, near, 0.5, 0.1, ALL).look_from(PLACES, True, 1)
    turned = _core.ViewedSurface(points, normals * signs, counts, near, 0.5, 0.1, ALL)
    for threads in (1, 2, 7):
        assert np.array_equal(turned.look_from(PLACES, True, threads), views)
    unasked = turned.look_from(PLACES, False, 1)
    assert not unasked[:, HIDDEN].any()
    assert np.array_equal(np.delete(unasked, HIDDEN, axis=1), np.delete(views, HIDDEN, axis=1))


@pytest.mark.parametrize("scale", [1e-150, 1.0, 1e150])
def test_instruction_sets_give_the_same_looks(simd: str, scale: float) -> None:
    points, normals = (
        np.concatenate([cloud(seed)[part] for cloud in (scattered, box) for seed in range(3)]) for part in range(2)
    )
    counts, near = numbers(len(points), 0), native(points, 0.8)
    surface = _core.ViewedSurface(scale * points, normals, counts, near, 0.5 * scale, 0.1 * scale, ALL)
    views = surface.look_from(scale * PLACES, True, 1)
    _core.select_simd(_core.simd_available()[-1])
    assert np.array_equal(surface.look_from(scale * PLACES, True, 1), views)


@pytest.mark.parametrize("points", TINY.values(), ids=TINY)
def test_surfaces_of_hardly_any_points_can_be_looked_at(points: Array) -> None:
    normals = np.tile([0.0, 0.0, 1.0], (len(points), 1))
    counts = np.ones(len(points), dtype=np.int32)
    places = np.concatenate((PLACES, [[np.nan, 0.0, 0.0], [1e90, 0.0, 0.0], [np.inf, 0.0, 0.0]]))
    surface = _core.ViewedSurface(points, normals, counts, native(points, 0.5), 0.5, 0.1, ALL)
    views = surface.look_from(places, True, 2)
    assert views.shape == (len(places), 4)
    assert np.isfinite(views).all()
    assert not views[:, [TORN, HIDDEN, THINNING]].any()
    assert surface.look_from(np.empty((0, 3)), True, 1).shape == (0, 4)


def test_an_even_wall_seen_from_its_points_is_neither_torn_nor_thinning() -> None:
    grid = np.column_stack([axis.ravel() for axis in np.meshgrid(np.arange(9.0), np.arange(9.0), [0.0])])
    normals, counts = np.tile([0.0, 0.0, 1.0], (81, 1)), np.full(81, 3, dtype=np.int32)
    surface = _core.ViewedSurface(grid, normals, counts, native(grid, 1.5), 1.5, 0.1, ALL)
    views = surface.look_from(np.concatenate((grid[40:41], [[4.0, 4.0, 5.0]])), True, 1)
    assert np.array_equal(views[:, TORN], [0.0, 0.0])
    assert np.array_equal(views[:, GRAZING], [80.0 / 81.0, 0.0])
    assert np.abs(views[:, THINNING]).max() == 0.0
    assert np.array_equal(views[:, HIDDEN], [0.0, 0.0])  # a wall does not hide itself, however slanted it is seen


def test_a_wall_behind_another_is_hidden() -> None:
    grid = np.column_stack([axis.ravel() for axis in np.meshgrid(np.arange(60.0), np.arange(60.0), [0.0, 9.0])])
    normals, counts = np.tile([0.0, 0.0, 1.0], (len(grid), 1)), np.ones(len(grid), dtype=np.int32)
    surface = _core.ViewedSurface(grid, normals, counts, native(grid, 1.5), 1.5, 1.0, ALL)
    before, between = surface.look_from(np.array([[29.5, 29.5, -30.0], [29.5, 29.5, 4.5]]), True, 1)
    assert before[HIDDEN] == pytest.approx(0.5, abs=0.01)
    assert between[HIDDEN] == 0.0


def test_thinning_is_a_correlation_from_far_away_too() -> None:
    random = np.random.default_rng(0)
    points = np.column_stack((random.uniform(-1.0, 1.0, (200, 2)), np.zeros(200)))
    normals, counts, near = np.tile([0.0, 0.0, 1.0], (200, 1)), numbers(200, 0), native(points, 0.3)
    place = np.array([0.4, 0.3, 3000.0])
    (view,) = _core.ViewedSurface(points, normals, counts, near, 0.3, 0.1, ALL).look_from(place[None], True, 1)
    expected = seen_from(place, points, normals, counts, near, 0.3, 0.1)[THINNING]
    assert view[THINNING] == pytest.approx(expected, abs=1e-3)


def test_a_sample_of_the_points_sees_about_the_same() -> None:
    cloud = cp.prepare(room().source)
    near = native(cloud.points, 2.0 * cloud.voxel_size)
    about = cloud.points, cloud.normals, np.ones(len(cloud.points), dtype=np.int32), near
    every, some = (_core.ViewedSurface(*about, 0.2, 0.3, most).look_from(PLACES, True, 1) for most in (ALL, 700))
    assert np.abs(every - some)[:, [TORN, GRAZING]].max() < 0.05


@settings(max_examples=60)
@given(clouds(most=80), st.integers(0, 99))
def test_normals_turn_to_the_side_of_the_neighbours(cloud: tuple[Array, float], seed: int) -> None:
    points, size = cloud
    near, normals = cp.Neighbourhoods(points, radius=2.0 * size), directions(len(points), seed)
    turned = _core.turn_inwards(points, normals, near._native, 1)
    assert np.array_equal(turned, _core.turn_inwards(points, normals, near._native, 2))
    for i in range(len(points)):
        offsets = points[near.of(i)] - points[i]
        side = offsets.sum(axis=0) @ normals[i]
        if abs(side) <= 1e-12 * np.abs(offsets).sum():  # by chance
            assert np.array_equal(np.abs(turned[i]), np.abs(normals[i]))
        else:
            assert np.array_equal(turned[i], np.sign(side) * normals[i])


@functools.cache
def prepared(seed: int, motion_seed: int | None = None) -> cp.PreparedCloud:
    cloud = room(seed).source
    return cp.prepare(cloud if motion_seed is None else move(far_motion(motion_seed), cloud))


def far_motion(seed: int) -> Array:
    return random_motion(seed, shift=1e3)


SEEDS = range(5)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_scan_in_the_frame_of_its_sensor_was_seen_from_the_origin(seed: int) -> None:
    viewpoint = prepared(seed).viewpoint
    assert viewpoint.source == "origin"
    assert np.array_equal(viewpoint.place, np.zeros(3))
    assert 0.5 <= viewpoint.plausibility <= 1.0


@pytest.mark.parametrize("seed", SEEDS)
def test_the_sensor_of_a_scan_in_any_frame_is_found(seed: int) -> None:
    cloud = prepared(seed, 50 + seed)
    place = move(inverse(far_motion(50 + seed)), cloud.viewpoint.place[None])[0]
    size = np.linalg.norm(np.ptp(room(seed).source, axis=0))
    assert cloud.viewpoint.source == "found"
    assert np.linalg.norm(place) < 0.3 * size  # mean of places in the box: 0.5
    assert (np.einsum("ij,ij->i", cloud.viewpoint.place - cloud.points, cloud.normals) >= 0.0).all()


@pytest.mark.parametrize("scans", [room, street])
def test_a_place_that_is_told_is_taken_if_it_can_be(scans: Any) -> None:
    motion, cloud = far_motion(60), scans().source
    there = move(motion, cloud)
    told = cp.prepare(there, viewpoint=motion[:3, 3]).viewpoint
    assert told.source == "told"
    assert np.array_equal(told.place, motion[:3, 3])
    assert cp.prepare(cloud, viewpoint=(0, 0, 0)).viewpoint.source == "told"
    for wrong in ((0.0, 0.0, -300.0), (500.0, 0.0, 0.0), (0.0, -1e6, 0.0)):
        viewpoint = cp.prepare(cloud, viewpoint=wrong).viewpoint
        assert viewpoint.source == "found"
        assert np.linalg.norm(viewpoint.place) < 0.3 * np.linalg.norm(np.ptp(cloud, axis=0))


class Recorded:
    """A cloud as other libraries have it."""

    def __init__(self, points: Array, viewpoint: Any) -> None:
        self.points, self.viewpoint = points, viewpoint


def test_a_cloud_that_says_the_origin_says_nothing() -> None:
    motion, cloud = far_motion(61), room().source
    assert cp.prepare(Recorded(cloud, (0.0, 0.0, 0.0))).viewpoint.source == "origin"
    assert cp.prepare(Recorded(cloud, None)).viewpoint.source == "origin"
    there = move(motion, cloud)
    assert cp.prepare(Recorded(there, np.zeros(3))).viewpoint.source == "found"
    assert cp.prepare(Recorded(there, motion[:3, 3])).viewpoint.source == "told"
    assert cp.prepare(Recorded(there, np.zeros(3)), viewpoint=motion[:3, 3]).viewpoint.source == "told"


@pytest.mark.parametrize("wrong", [(0.0, 1.0), np.nan, (0.0, np.inf, 0.0), "here", [[0.0, 0.0, 0.0]], (0, 0, 1e101)])
def test_what_is_no_place_is_refused(wrong: Any) -> None:
    with pytest.raises(cp.LandmarkError, match="viewpoint: expected three finite coordinates"):
        cp.prepare(room().source, viewpoint=wrong)
    with pytest.raises(cp.LandmarkError, match="viewpoint: expected three finite coordinates"):
        cp.prepare(Recorded(room().source, wrong))


@pytest.mark.parametrize("scans", [room, street])
def test_the_sensor_of_a_georeferenced_scan_is_near_the_scan(scans: Any) -> None:
    cloud = scans().source + np.array([4e5, 5e6, 200.0])
    viewpoint = cp.prepare(cloud).viewpoint
    low, high = cloud.min(axis=0), cloud.max(axis=0)
    margin = 0.5 * np.linalg.norm(high - low)
    assert viewpoint.source == "found"
    assert (viewpoint.place > low - margin).all()
    assert (viewpoint.place < high + margin).all()


@pytest.mark.parametrize("points", TINY.values(), ids=TINY)
def test_clouds_of_hardly_any_points_have_some_viewpoint(points: Array) -> None:
    for cloud in (points, points + 3.0):
        viewpoint = cp.prepare(cloud, threads=2).viewpoint
        assert np.isfinite(viewpoint.place).all()
        assert 0.0 <= viewpoint.plausibility <= 1.0


def test_threads_do_not_change_what_is_found() -> None:
    expected = prepared(0, 50).viewpoint
    found = cp.prepare(move(far_motion(50), room(0).source), threads=3).viewpoint
    assert np.array_equal(found.place, expected.place)
    assert found.plausibility == expected.plausibility
