"""Voxel means, neighbours and normals against plain numpy: exact where the definition is, whatever the coordinates."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import clipperplus as cp
from clipperplus import _core
from clipperplus.preprocess import Neighbourhoods, as_cloud

Points = npt.NDArray[np.float64]


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


def squared_distances(points: Points) -> npt.NDArray[np.float64]:
    x, y, z = ((points[:, None, axis] - points[:, axis]) ** 2 for axis in range(3))
    return np.asarray((x + y) + z)


def neighbours_of(points: Points, radius: float) -> list[list[int]]:
    near = squared_distances(points) <= radius * radius
    np.fill_diagonal(near, False)
    return [np.flatnonzero(row).tolist() for row in near]


def found(neighbourhoods: Neighbourhoods) -> list[list[int]]:
    return [sorted(neighbourhoods.of(i).tolist()) for i in range(len(neighbourhoods))]


@st.composite
def clouds(draw: st.DrawFn, most: int = 120) -> tuple[Points, float]:
    """Points and a size: scattered, on a lattice of the size, or on top of each other; anywhere."""
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(0, most))
    size = draw(st.sampled_from([0.05, 0.1, 0.25, 1.0, 3.0, 1e-6, 1e5]))
    kind = draw(st.sampled_from(["scattered", "lattice", "next to the lattice", "few places"]))
    if kind == "few places":
        points = random.uniform(-3.0, 3.0, (4, 3))[random.integers(4, size=n)]
    elif kind == "scattered":
        points = random.uniform(-3.0, 3.0, (n, 3))
    else:
        points = random.integers(-3, 4, (n, 3)).astype(np.float64)
    points = points * size
    if kind == "next to the lattice":
        points = np.nextafter(points, random.choice([-np.inf, np.inf], points.shape))
    offset = draw(st.sampled_from([0.0, 0.0, 1.0, -1e3, 1e6, 1e9]))
    return points + offset * size * random.integers(-1, 2, 3), size


# Voxel means ----------------------------------------------------------------------------------------------------------


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
    kept, dropped = as_cloud("cloud", points)
    assert (kept.tolist(), dropped) == ([[0.0, 0.0, 0.0], [0.5, 0.5, 0.5]], 2)
    assert cp.downsample(points, voxel_size=1.0).tolist() == [[0.25, 0.25, 0.25]]
    assert cp.downsample(np.full((5, 3), np.nan), voxel_size=1.0).shape == (0, 3)
    assert cp.downsample(np.empty((0, 3)), voxel_size=1.0).shape == (0, 3)
    prepared = cp.prepare(points, voxel_size=1.0)
    assert (prepared.num_raw, prepared.num_dropped, len(prepared.points)) == (4, 2, 1)


def test_dtype_and_memory_order_do_not_matter() -> None:
    points = np.random.default_rng(0).uniform(-2.0, 2.0, (300, 3)).astype(np.float32)
    expected = voxel_means(points.astype(np.float64), 0.3)
    for form in (
        points,
        np.asfortranarray(points),
        points.astype(">f4"),
        points.tolist(),
        np.repeat(points, 2, 0)[::2],
    ):
        assert np.array_equal(cp.downsample(form, voxel_size=0.3), expected)
    assert np.array_equal(cp.downsample(type("Cloud", (), {"points": points})(), voxel_size=0.3), expected)


# Neighbours -----------------------------------------------------------------------------------------------------------


@settings(max_examples=150)
@given(clouds(), st.sampled_from([0.5, 1.0, 2.0**0.5, 3.0**0.5, 2.0, 5.0]), st.sampled_from([1, 2]))
def test_neighbours_are_those_within_the_radius_in_double_precision(
    cloud: tuple[Points, float], times: float, threads: int
) -> None:
    points, size = cloud
    radius = times * size
    assert found(Neighbourhoods(points, radius=radius, threads=threads)) == neighbours_of(points, radius)


@settings(max_examples=150)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.1, 0.3, 1.0, 2.0**0.5]))
def test_distances_that_round_to_the_radius_count(seed: int, radius: float) -> None:
    """Pairs whose ends are just outside of neighbouring cells; their distance is the radius but for the last digit."""
    random = np.random.default_rng(seed)
    ends = random.integers(-2, 3, 40) * radius
    tiny = random.choice([0.0, -1e-300, 1e-300, -1e-20, 1e-18, -1e-17, 1e-16, -1e-16], 40)
    points = np.zeros((40, 3))
    points[:, random.integers(3)] = ends + tiny
    assert found(Neighbourhoods(points, radius=radius)) == neighbours_of(points, radius)


def test_a_distance_that_rounds_to_the_radius_counts_across_two_cell_borders() -> None:
    points = np.array([[-1e-20, 0.0, 0.0], [1.0, 0.0, 0.0]])
    assert squared_distances(points)[0, 1] == 1.0
    assert found(Neighbourhoods(points, radius=1.0)) == [[1], [0]]


def test_neighbours_are_the_same_on_all_instruction_sets_and_threads(simd: str) -> None:
    points = np.random.default_rng(1).integers(0, 25, (300, 3)) / 8.0
    expected = neighbours_of(points, 0.625)
    order = [Neighbourhoods(points, radius=0.625).of(i).tolist() for i in range(len(points))]
    for threads in (1, 2, 5):
        neighbourhoods = Neighbourhoods(points, radius=0.625, threads=threads)
        assert found(neighbourhoods) == expected
        assert [neighbourhoods.of(i).tolist() for i in range(len(points))] == order


def test_points_at_one_place_are_neighbours_of_each_other_but_not_of_themselves() -> None:
    neighbourhoods = Neighbourhoods(np.full((5, 3), 7.7), radius=1e-6)
    assert found(neighbourhoods) == [[j for j in range(5) if j != i] for i in range(5)]


def test_no_points_and_one_point_have_no_neighbours() -> None:
    assert len(Neighbourhoods(np.empty((0, 3)), radius=1.0)) == 0
    assert Neighbourhoods([[1.0, 2.0, 3.0]], radius=1.0).of(0).tolist() == []


# Normals --------------------------------------------------------------------------------------------------------------


def surface(seed: int, n: int = 300) -> Points:
    """A bent sheet with some noise."""
    random = np.random.default_rng(seed)
    x, y = random.uniform(-1.0, 1.0, (2, n))
    a, b, c = random.uniform(-1.0, 1.0, 3)
    return np.column_stack((x, y, a * x * x + b * x * y + c * y * y)) + random.normal(0.0, 0.005, (n, 3))


@settings(max_examples=5)
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from([0.15, 0.3]),
    st.sampled_from([(0.0, 0.0, 0.0), (0.0, 0.0, 5.0), (3.0, -2.0, 1.0)]),
    st.sampled_from([0.0, 100.0]),
)
def test_normals_are_the_directions_of_least_spread_towards_the_sensor(
    seed: int, radius: float, sensor: tuple[float, float, float], offset: float
) -> None:
    points, viewpoint = surface(seed) + offset, np.array(sensor) + offset
    normals = cp.estimate_normals(points, radius=radius, viewpoint=viewpoint)
    assert np.allclose(np.linalg.norm(normals, axis=1), 1.0, atol=1e-12)
    compared = 0
    for i, others in enumerate(neighbours_of(points, radius)):
        to_sensor = viewpoint - points[i]
        assert normals[i] @ to_sensor >= -1e-9 * np.linalg.norm(to_sensor)
        if len(others) < 3:
            assert np.allclose(normals[i], to_sensor / np.linalg.norm(to_sensor), atol=1e-12)
            continue
        members = points[[i, *others]]
        centred = members - members.mean(axis=0)
        values, vectors = np.linalg.eigh(centred.T @ centred)
        if values[1] - values[0] < 1e-6 * values[2]:
            continue
        compared += 1
        sine = np.linalg.norm(np.cross(normals[i], vectors[:, 0]))
        assert sine < 1e-10 * (1.0 + offset) * values[2] / (values[1] - values[0])
    assert compared > 100


def test_normals_of_a_plane_are_exact_and_face_either_side() -> None:
    x, y = np.meshgrid(np.arange(10.0), np.arange(10.0))
    points = np.column_stack((x.ravel(), y.ravel(), np.full(100, 2.0)))
    for height, sign in ((5.0, 1.0), (-5.0, -1.0)):
        normals = cp.estimate_normals(points, radius=1.5, viewpoint=(0.0, 0.0, height))
        assert np.allclose(normals, [0.0, 0.0, sign], atol=1e-12)


def test_a_point_with_fewer_than_three_others_has_the_direction_to_the_sensor() -> None:
    sensor = np.array([0.0, 0.0, 10.0])
    line = np.array([[0.0, 0.0, 0.0], [0.1, 0.0, 0.0], [0.2, 0.0, 0.0], [50.0, 0.0, 0.0]])
    normals = cp.estimate_normals(line, radius=1.0, viewpoint=sensor)
    directions = sensor - line
    assert np.allclose(normals, directions / np.linalg.norm(directions, axis=1)[:, None], atol=1e-15)


@pytest.mark.parametrize("others", [0, 1, 5])
def test_a_point_at_the_sensor_has_a_unit_normal_all_the_same(others: int) -> None:
    points = np.zeros((1 + others, 3))
    normals = cp.estimate_normals(points, radius=1.0)
    assert np.allclose(np.linalg.norm(normals, axis=1), 1.0)


def test_collinear_and_coincident_points_have_unit_normals_across_their_line() -> None:
    line = np.outer(np.arange(20.0), [1.0, 2.0, -1.0]) / 10.0
    normals = cp.estimate_normals(line, radius=1.0, viewpoint=(0.0, 0.0, 9.0))
    assert np.allclose(np.linalg.norm(normals, axis=1), 1.0)
    assert np.abs(normals @ [1.0, 2.0, -1.0]).max() < 1e-9
    same = cp.estimate_normals(np.full((9, 3), 4.0), radius=1.0)
    assert np.allclose(np.linalg.norm(same, axis=1), 1.0)


def test_normals_from_wider_neighbours_are_those_of_the_radius(simd: str) -> None:
    points = surface(3, 500)
    expected = cp.estimate_normals(points, radius=0.2, viewpoint=(0.0, 0.0, 4.0))
    wide = Neighbourhoods(points, radius=0.5)
    for threads in (1, 2, 5):
        normals = cp.estimate_normals(points, radius=0.2, viewpoint=(0.0, 0.0, 4.0), neighbours=wide, threads=threads)
        assert np.allclose(normals, expected, atol=1e-9)  # neighbours come in another order: rounding
        again = cp.estimate_normals(points, radius=0.2, viewpoint=(0.0, 0.0, 4.0), threads=threads)
        assert np.array_equal(again, expected)


# The choice of a voxel size -------------------------------------------------------------------------------------------


def shell(n: int, size: float, seed: int = 0) -> Points:
    """Points on the six sides of a box of size × size × size / 2."""
    random = np.random.default_rng(seed)
    points = random.uniform(-0.5, 0.5, (n, 3))
    axis = random.integers(3, size=n)
    points[np.arange(n), axis] = random.choice([-0.5, 0.5], n)
    return points * size * [1.0, 1.0, 0.5]


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


# Wrong input ----------------------------------------------------------------------------------------------------------

CLOUD = shell(60, 10.0)


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
        (lambda: Neighbourhoods(CLOUD, radius=1e-7), "radius: expected at least"),
        (lambda: Neighbourhoods(CLOUD, radius=0.0), "radius: expected"),
        (lambda: Neighbourhoods(CLOUD.T, radius=1.0), "points: expected points of shape"),
        (
            lambda: Neighbourhoods(np.where(np.arange(60)[:, None] == 3, np.nan, CLOUD), radius=1.0),
            "points: point 3 is",
        ),
        (lambda: Neighbourhoods(CLOUD, radius=1.0, threads=0), "threads: expected an integer"),
        (lambda: Neighbourhoods(CLOUD, radius=1.0).of(60), "point: expected an integer"),
        (lambda: Neighbourhoods(CLOUD, radius=1.0).of(-1), "point: expected an integer"),
        (lambda: Neighbourhoods(np.empty((0, 3)), radius=1.0).of(0), "point: "),
        (
            lambda: cp.estimate_normals(CLOUD, radius=1.0, viewpoint=(0.0, 0.0)),
            "viewpoint: expected three finite coordinates",
        ),
        (lambda: cp.estimate_normals(CLOUD, radius=1.0, viewpoint=(0.0, 0.0, np.nan)), "viewpoint: "),
        (lambda: cp.estimate_normals(CLOUD, radius=1.0, viewpoint="origin"), "viewpoint: "),
        (
            lambda: cp.estimate_normals(CLOUD, radius=1.0, neighbours=Neighbourhoods(CLOUD, radius=0.5)),
            "neighbours: expected those within at least 1.0, got those within 0.5",
        ),
        (
            lambda: cp.estimate_normals(CLOUD, radius=1.0, neighbours=Neighbourhoods(CLOUD[:9], radius=1.0)),
            "neighbours: ",
        ),
        (lambda: cp.choose_voxel_size(CLOUD.T), r"clouds\[0\]: expected points of shape"),
        (lambda: cp.choose_voxel_size(CLOUD, CLOUD[0]), r"clouds\[1\]: expected points of shape"),
    ],
)
def test_wrong_input_is_refused(call: Any, message: str) -> None:
    with pytest.raises(cp.ClipperPlusError, match=message):
        call()


def test_huge_and_tiny_coordinates_do_no_harm() -> None:
    for scale in (1e-300, 1e-140, 1e140, 1e300):
        with pytest.raises(cp.ClipperPlusError, match=r"radius: expected|points: expected"):
            cp.estimate_normals(surface(1, 100) * scale, radius=0.3 * scale)
    for scale in (1e-90, 1e-20, 1e20, 1e90):
        points = surface(1, 100) * scale
        normals = cp.estimate_normals(points, radius=0.3 * scale, viewpoint=(0.0, 0.0, 3.0 * scale))
        assert np.isfinite(normals).all()
        assert np.allclose(np.linalg.norm(normals, axis=1), 1.0, atol=1e-12)


def test_more_neighbours_than_fit_are_refused_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    def too_many(*_: object) -> None:
        raise ValueError("too many neighbours")  # what the core's std::length_error becomes

    monkeypatch.setattr(_core, "find_neighbours", too_many)
    with pytest.raises(cp.OptionError, match=r"radius: 1.0 gives more than 2²⁸ neighbours"):
        Neighbourhoods(CLOUD, radius=1.0)
