"""Normals against plain numpy: the direction of least spread, towards the sensor."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import neighbours_of
from strategies import shell

import clipperplus as cp
from clipperplus.clouds.neighbourhoods import Neighbourhoods

Points = npt.NDArray[np.float64]


CLOUD = shell(60, 10.0)


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


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: cp.estimate_normals(CLOUD, radius=1.0, viewpoint=(0.0, 0.0)),
            "viewpoint: expected three finite coordinates",
        ),
        (lambda: cp.estimate_normals(CLOUD, radius=1.0, viewpoint=(0.0, 0.0, np.nan)), "viewpoint: "),
        (lambda: cp.estimate_normals(CLOUD, radius=1.0, viewpoint="origin"), "viewpoint: "),
        (lambda: cp.estimate_normals(CLOUD, radius=1.0, viewpoint=np.full(3, np.inf, np.float32)), "viewpoint: "),
        (
            lambda: cp.estimate_normals(CLOUD, radius=1.0, neighbours=Neighbourhoods(CLOUD, radius=0.5)),
            "neighbours: expected those within at least 1.0, got those within 0.5",
        ),
        (
            lambda: cp.estimate_normals(CLOUD, radius=1.0, neighbours=Neighbourhoods(CLOUD[:9], radius=1.0)),
            "neighbours: ",
        ),
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
