"""Voxel means and the choice of their size, against plain numpy: exact where the definition is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from common import reset_peak, resident_mb
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import clouds, shell

import clipperplus as cp
from clipperplus.clouds.cloud import as_cloud

Points = npt.NDArray[np.float64]


CLOUD = shell(60, 10.0)


def voxel_means(points: Points, size: float) -> Points:
    """A dictionary of the cells, sums in the order of the points, cells by z, then y, then x."""
    cells: dict[tuple[float, ...], list[Points]] = {}
    for point in points:
        cells.setdefault(tuple(np.floor(point / size))[::-1], []).append(point)
    means = []
    for _, members in sorted(cells.items()):
        total = np.zeros(3)
        for point in members:
            total = total + point
        means.append(total / len(members))
    return np.array(means).reshape(-1, 3)


@settings(max_examples=150)
@given(clouds(80))
def test_each_occupied_cell_keeps_the_mean_of_its_points_in_the_order_of_cells(cloud: tuple[Points, float]) -> None:
    points, size = cloud
    assert np.array_equal(cp.downsample(points, voxel_size=size), voxel_means(points, size))


def test_cells_are_ordered_by_z_then_y_then_x() -> None:
    cells = np.stack(np.meshgrid(*[np.arange(-2.0, 3.0)] * 3, indexing="ij"), axis=-1).reshape(-1, 3) + 0.5
    means = cp.downsample(np.random.default_rng(0).permutation(cells), voxel_size=1.0)
    assert np.array_equal(means, cells[np.lexsort(cells.T)])


@settings(max_examples=40)
@given(clouds(), st.integers(0, 2**32 - 1))
def test_the_order_of_the_points_matters_by_rounding_only(cloud: tuple[Points, float], seed: int) -> None:
    points, size = cloud
    shuffled = np.random.default_rng(seed).permutation(points)
    expected = cp.downsample(points, voxel_size=size)
    largest = np.abs(points).max(initial=0.0)
    assert np.allclose(cp.downsample(shuffled, voxel_size=size), expected, rtol=0.0, atol=1e-13 * largest)


@settings(max_examples=40)
@given(st.integers(0, 2**32 - 1), st.tuples(*[st.integers(-1000, 1000)] * 3))
def test_moving_a_cloud_by_whole_cells_moves_the_means(seed: int, cells: tuple[int, int, int]) -> None:
    """Multiples of a power of two, so that nothing is rounded but the means."""
    points = np.random.default_rng(seed).integers(-(2**12), 2**12, (200, 3)) / 2.0**10
    shift = np.array(cells) * 0.25
    means = cp.downsample(points, voxel_size=0.25)
    assert np.allclose(cp.downsample(points + shift, voxel_size=0.25), means + shift, rtol=0.0, atol=1e-12)


def test_a_point_on_the_border_belongs_to_the_upper_cell_and_zero_separates_cells() -> None:
    points = np.array([[-1e-300, 0.0, 0.0], [0.0, 0.0, 0.0], [1.0 - 2.0**-53, 0.0, 0.0], [1.0, 0.0, 0.0]])
    means = cp.downsample(points, voxel_size=1.0)
    assert means[:, 0].tolist() == [-1e-300, (1.0 - 2.0**-53) / 2.0, 1.0]


def test_points_that_are_not_finite_are_left_out_and_counted() -> None:
    points = np.array([[0.0, 0.0, 0.0], [np.nan, 0.0, 0.0], [0.0, np.inf, 0.0], [0.5, 0.5, 0.5]])
    cloud = as_cloud("cloud", points)
    kept, dropped = cloud.points, cloud.dropped
    assert (kept.tolist(), dropped) == ([[0.0, 0.0, 0.0], [0.5, 0.5, 0.5]], 2)
    assert cp.downsample(points, voxel_size=1.0).tolist() == [[0.25, 0.25, 0.25]]
    assert cp.downsample(np.full((5, 3), np.nan), voxel_size=1.0).shape == (0, 3)
    assert cp.downsample(np.empty((0, 3)), voxel_size=1.0).shape == (0, 3)
    prepared = cp.prepare(points, voxel_size=1.0)
    assert (prepared.num_raw, prepared.num_dropped, len(prepared.points)) == (4, 2, 1)


def misaligned(points: npt.NDArray[np.floating[Any]]) -> npt.NDArray[np.floating[Any]]:
    """The same points in the middle of a buffer, where no number begins at a multiple of its size."""
    array = np.frombuffer(b"x" + points.tobytes(), dtype=points.dtype, offset=1).reshape(points.shape)
    assert not array.flags.aligned
    return array


def read_only(points: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    copy = points.copy()
    copy.setflags(write=False)
    return copy


def test_dtype_and_memory_order_do_not_matter() -> None:
    points = np.random.default_rng(0).uniform(-2.0, 2.0, (300, 3)).astype(np.float32)
    expected = voxel_means(points.astype(np.float64), 0.3)
    for form in (
        points,
        np.asfortranarray(points),
        points.astype(">f4"),
        points.astype(">f8"),
        misaligned(points),
        misaligned(points.astype(np.float64)),
        read_only(points),
        points.tolist(),
        np.repeat(points, 2, 0)[::2],
    ):
        assert np.array_equal(cp.downsample(form, voxel_size=0.3), expected)
    assert np.array_equal(cp.downsample(type("Cloud", (), {"points": points})(), voxel_size=0.3), expected)
    for rough in (points.astype(np.float16), (points * 100).astype(np.int16)):
        assert np.array_equal(cp.downsample(rough, voxel_size=0.3), voxel_means(rough.astype(np.float64), 0.3))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_large_clouds_have_the_same_means_and_size_on_any_number_of_threads(dtype: type) -> None:
    """More points than a thread takes at a time."""
    points = shell(700_000, 4.0, seed=1).astype(dtype)
    means, size = cp.downsample(points, voxel_size=0.1), cp.choose_voxel_size(points)
    for threads in (2, 3, 7):
        assert np.array_equal(cp.downsample(points, voxel_size=0.1, threads=threads), means)
        assert cp.choose_voxel_size(points, threads=threads) == size
    cells, place = np.unique(np.floor(points.astype(np.float64) / 0.1), axis=0, return_inverse=True)
    sums = np.zeros((len(cells), 3))
    np.add.at(sums, place.ravel(), points)
    expected = sums / np.bincount(place.ravel())[:, None]
    order = np.lexsort(cells.T)
    assert np.allclose(means, expected[order], rtol=0.0, atol=1e-12)
    assert 4000 < len(cp.downsample(points, voxel_size=size)) < 6200  # the size has two digits


@pytest.mark.skipif(
    not Path("/proc/self/clear_refs").exists(), reason="the peak of the memory can be read on Linux only"
)
def test_a_large_cloud_is_neither_copied_nor_converted() -> None:
    points = shell(4_000_000, 4.0, seed=2).astype(np.float32)
    cp.prepare(points[:1000])  # what is loaded once
    before = reset_peak()
    cp.prepare(points)
    assert resident_mb("VmHWM") - before < 0.7 * points.nbytes / 2**20


@pytest.mark.parametrize("size", [0.05, 6.0, 150.0])
@pytest.mark.parametrize("offset", [0.0, 1e3])
def test_the_size_gives_about_5000_voxels_whatever_the_scale(size: float, offset: float) -> None:
    points = shell(40_000, size) + offset * size
    voxel = cp.choose_voxel_size(points)
    assert 4000 < len(cp.downsample(points, voxel_size=voxel)) < 6200
    assert voxel == float(f"{voxel:.2g}")


def test_the_larger_of_two_clouds_decides() -> None:
    small, large = shell(20_000, 1.0), shell(20_000, 8.0)
    assert cp.choose_voxel_size(small, large) == cp.choose_voxel_size(large, small) == cp.choose_voxel_size(large)
    assert cp.choose_voxel_size(np.empty((0, 3)), small) == cp.choose_voxel_size(small)


@pytest.mark.parametrize("n", [20, 200, 2000, 9000])
def test_small_clouds_keep_about_half_of_their_points(n: int) -> None:
    points = shell(n, 2.0)
    kept = len(cp.downsample(points, voxel_size=cp.choose_voxel_size(points)))
    assert 0.4 * n < kept < 0.65 * n


@settings(max_examples=8)
@given(st.integers(0, 2**32 - 1), st.sampled_from([1e-3, 1e3, 1024.0]))
def test_scaling_a_cloud_scales_the_size_but_for_its_two_digits(seed: int, scale: float) -> None:
    points = shell(3000, 1.0, seed)
    assert cp.choose_voxel_size(points * scale) == pytest.approx(scale * cp.choose_voxel_size(points), rel=0.1)


@pytest.mark.parametrize(
    "cloud",
    [
        np.empty((0, 3)),
        np.zeros((1, 3)),
        np.full((100, 3), 12.5),
        np.full((100, 3), np.nan),
        np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 5e-324]]),
        np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 1e-200]]),
        np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 1e200]]),
        np.array([[-1e308, 0.0, 0.0], [1e308, 0.0, 0.0]]),
        np.array([[1e15, 0.0, 0.0], [1e15 + 1.0, 0.0, 0.0]]),
    ],
    ids=["empty", "one", "equal", "nan", "denormal", "tiny", "large", "huge", "far"],
)
def test_odd_clouds_get_a_finite_positive_size_that_can_be_used_or_are_refused(cloud: Points) -> None:
    try:
        size = cp.choose_voxel_size(cloud)
        assert 0.0 < size < np.inf
        assert len(cp.downsample(cloud, voxel_size=size)) <= len(cloud)
    except cp.ClipperPlusError:
        assert np.abs(cloud).max() >= 1e15


def test_a_stray_point_does_not_decide_the_size() -> None:
    """The sun in a depth image, an echo in the clouds: a thousand times as far as everything else."""
    points = np.concatenate((shell(50_000, 1.0), [[1000.0, 0.0, 0.0]]))
    assert cp.choose_voxel_size(points) == pytest.approx(cp.choose_voxel_size(points[:-1]), rel=0.1)


def with_strays(points: Points, count: int, distance: float) -> Points:
    """The same points with a few more, so far away, among them."""
    random = np.random.default_rng(count)
    return random.permutation(np.concatenate((points, random.normal(size=(count, 3)) * distance)))


@pytest.mark.parametrize("distance", [1e4, 1e6, 1e9, 1e30])
@pytest.mark.parametrize(("n", "count"), [(20, 1), (60, 5), (3000, 5), (40_000, 1), (40_000, 100), (300_000, 3)])
def test_a_handful_of_strays_is_as_good_as_absent_however_far_away(n: int, count: int, distance: float) -> None:
    points = shell(n, 1.0)
    spoilt = with_strays(points, count, distance)
    size = cp.choose_voxel_size(spoilt)
    assert size == pytest.approx(cp.choose_voxel_size(points), rel=0.1)
    kept = len(cp.downsample(spoilt, voxel_size=size)) - len(cp.downsample(points, voxel_size=size))
    assert 0 <= kept <= count


def test_the_origin_is_a_stray_of_a_cloud_in_the_coordinates_of_a_country() -> None:
    """What a scanner did not see is often written as zeros."""
    points = shell(30_000, 40.0) + np.array([3.5e6, 5.8e6, 120.0])
    size = cp.choose_voxel_size(points)
    assert cp.choose_voxel_size(np.concatenate((np.zeros((50, 3)), points))) == pytest.approx(size, rel=0.1)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_strays_do_not_depend_on_the_number_of_threads(dtype: type) -> None:
    points = with_strays(shell(700_000, 4.0, seed=1), 20, 1e8).astype(dtype)
    size = cp.choose_voxel_size(points)
    means = cp.downsample(points, voxel_size=0.1)
    for threads in (2, 5):
        assert cp.choose_voxel_size(points, threads=threads) == size
        assert np.array_equal(cp.downsample(points, voxel_size=0.1, threads=threads), means)


def test_strays_that_can_be_told_apart_keep_their_cells_and_others_are_left_out() -> None:
    points = shell(5000, 1.0)
    near, far = np.array([[1e4, 0.0, 0.0]]), np.array([[1e6, 0.0, 0.0], [0.0, -1e20, 0.0]])
    kept = cp.downsample(np.concatenate((points, near)), voxel_size=0.1)
    assert np.array_equal(kept, voxel_means(np.concatenate((points, near)), 0.1))
    assert np.array_equal(cp.downsample(np.concatenate((far, points)), voxel_size=0.1), voxel_means(points, 0.1))


@pytest.mark.parametrize("share", [0.05, 0.5])
def test_many_points_far_away_are_no_strays(share: float) -> None:
    points = shell(10_000, 1.0)
    there = int(share * len(points))
    apart = points + np.where(np.arange(len(points)) < there, 1e7, 0.0)[:, None]
    with pytest.raises(cp.OptionError, match=r"voxel_size: expected at least .* for points that spread 1e\+07"):
        cp.downsample(apart, voxel_size=0.1)
    size = cp.choose_voxel_size(apart)
    assert len(cp.downsample(apart, voxel_size=size)) >= 2


def test_most_points_at_one_place_do_not_make_the_others_strays() -> None:
    points = np.concatenate((np.zeros((5000, 3)), shell(20, 1.0)))
    assert np.array_equal(cp.downsample(points, voxel_size=0.1), voxel_means(points, 0.1))
    assert 0.0 < cp.choose_voxel_size(points) < 1.0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: cp.downsample(CLOUD.T, voxel_size=1.0), r"points: expected points of shape \(n, 3\), got \(3, 60\)"),
        (lambda: cp.downsample(CLOUD[:, :2], voxel_size=1.0), r"points: expected points of shape \(n, 3\)"),
        (lambda: cp.downsample(CLOUD[0], voxel_size=1.0), r"points: expected points of shape \(n, 3\)"),
        (lambda: cp.downsample(CLOUD.astype(str), voxel_size=1.0), "points: expected numbers"),
        (lambda: cp.downsample(CLOUD, voxel_size=0.0), "voxel_size: expected"),
        (lambda: cp.downsample(CLOUD, voxel_size=-1.0), "voxel_size: expected"),
        (lambda: cp.downsample(CLOUD, voxel_size=np.nan), "voxel_size: expected"),
        (lambda: cp.downsample(CLOUD, voxel_size=np.inf), "voxel_size: expected"),
        (lambda: cp.downsample(CLOUD, voxel_size="1"), "voxel_size: expected"),
        (lambda: cp.downsample(CLOUD, voxel_size=1e-6), "voxel_size: expected at least .* got 1e-06"),
        (lambda: cp.downsample([[1e200, 0, 0], [0, 0, 0]], voxel_size=1.0), "points: expected coordinates of at most"),
        (lambda: cp.downsample([[1e308, 0, 0], [-1e308, 0, 0]], voxel_size=1.0), "points: expected coordinates"),
        (lambda: cp.downsample([[1e20, 0, 0]], voxel_size=1.0), "voxel_size: expected at least"),
        (lambda: cp.downsample([[5.0, 0, 0]], voxel_size=5e-324), "voxel_size: expected a number from 1e-100"),
        (lambda: cp.choose_voxel_size(CLOUD.T), r"clouds\[0\]: expected points of shape"),
        (lambda: cp.choose_voxel_size(CLOUD, CLOUD[0]), r"clouds\[1\]: expected points of shape"),
    ],
)
def test_wrong_input_is_refused(call: Any, message: str) -> None:
    with pytest.raises(cp.ClipperPlusError, match=message):
        call()
