"""Rays end where geometry says: by hand, and by a plain search of one ray and one shape at a time."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clipperplus.synthetic.ray_casting import Scene, Shape, moved

ORIGIN = np.zeros(3)
AHEAD = np.array([[1.0, 0.0, 0.0]])


def unit(*vector: float) -> np.ndarray:
    return np.array([vector]) / np.linalg.norm(vector)


@pytest.mark.parametrize(
    ("shape", "direction", "expected", "cosine"),
    [
        (Shape("box", (5.0, 0.0, 0.0), (1.0, 2.0, 3.0)), (1, 0, 0), 4.0, 1.0),
        (
            Shape("box", (5.0, 0.0, 0.0), (1.0, 2.0, 3.0)),
            (1, 0.25, 0),
            4.0 * math.hypot(1, 0.25),
            1 / math.hypot(1, 0.25),
        ),
        (
            Shape("box", (5.0, 0.0, 0.0), (1.0, 1.0, 1.0), yaw=math.pi / 4),
            (1, 0, 0),
            5.0 - math.sqrt(2.0),
            math.sqrt(0.5),
        ),
        (Shape("box", (5.0, 0.0, 0.0), (1.0, 1.0, 3.0), yaw=math.pi / 2, tilt=math.pi / 2), (1, 0, 0), 2.0, 1.0),
        (Shape("box", (0.0, 0.0, 0.0), (2.0, 3.0, 4.0)), (0, 1, 0), 3.0, 1.0),  # from inside
        (Shape("box", (-5.0, 0.0, 0.0), (1.0, 1.0, 1.0)), (1, 0, 0), math.inf, 0.0),  # behind
        (Shape("box", (5.0, 1.0, 0.0), (1.0, 1.0, 1.0)), (1, 0, 0), math.inf, 0.0),  # within a face
        (Shape("ellipsoid", (5.0, 0.0, 0.0), (1.0, 2.0, 3.0)), (1, 0, 0), 4.0, 1.0),
        (Shape("ellipsoid", (5.0, 0.6, 0.0), (1.0, 1.0, 1.0)), (1, 0, 0), 4.2, 0.8),
        (Shape("ellipsoid", (0.0, 0.0, 0.0), (2.0, 3.0, 4.0)), (0, 0, -1), 4.0, 1.0),
        (Shape("cylinder", (5.0, 0.6, 0.0), (1.0, 1.0, 2.0)), (1, 0, 0), 4.2, 0.8),
        (Shape("cylinder", (0.5, 0.0, -5.0), (1.0, 1.0, 2.0)), (0, 0, -1), 3.0, 1.0),  # along its axis, to a cap
        (Shape("cylinder", (1.5, 0.0, -5.0), (1.0, 1.0, 2.0)), (0, 0, -1), math.inf, 0.0),
        (Shape("cylinder", (5.0, 0.0, 0.0), (1.0, 1.0, 2.0)), (1, 0, 1), math.inf, 0.0),  # over its cap
    ],
)
def test_a_ray_meets_a_shape_where_it_should(
    shape: Shape, direction: tuple[float, ...], expected: float, cosine: float
) -> None:
    hits = Scene([shape]).cast(ORIGIN, unit(*direction))
    assert hits.ranges[0] == pytest.approx(expected)
    assert hits.cosines[0] == pytest.approx(cosine)


def test_the_nearest_shape_wins_whatever_the_order() -> None:
    shapes = [Shape("box", (x, 0.0, 0.0), (0.5, 1.0, 1.0)) for x in (9.0, 3.0, 6.0)]
    for turned in (shapes, shapes[::-1]):
        assert Scene(turned).cast(ORIGIN, AHEAD).ranges[0] == pytest.approx(2.5)


def test_what_is_too_far_away_is_not_met() -> None:
    scene = Scene(
        [Shape("box", (5.0, 0.0, 0.0), (1.0, 1.0, 1.0)), Shape("ellipsoid", (2.0, 3.0, 0.0), (1.0, 2.0, 1.0))]
    )
    assert scene.cast(ORIGIN, AHEAD, max_range=4.01).ranges[0] == pytest.approx(4.0)
    too_far = scene.cast(ORIGIN, AHEAD, max_range=3.99)
    assert (too_far.ranges[0], too_far.cosines[0]) == (math.inf, 0.0)


def test_no_rays_and_no_shapes_are_fine() -> None:
    assert Scene([]).cast(ORIGIN, AHEAD).ranges.tolist() == [math.inf]
    assert Scene([Shape("box", (5.0, 0.0, 0.0), (1.0, 1.0, 1.0))]).cast(ORIGIN, np.empty((0, 3))).ranges.size == 0


def test_moving_shapes_is_moving_the_sensor_back() -> None:
    shapes = [
        Shape("box", (3.0, 1.0, 0.5), (0.5, 0.8, 1.2), 0.4, 0.3),
        Shape("cylinder", (2.0, -1.0, 0.0), (0.3, 0.3, 1.0)),
        Shape("ellipsoid", (4.0, 0.0, 1.0), (1.0, 0.5, 0.7), -0.8),
    ]
    yaw, shift = 0.7, np.array([1.0, -2.0, 0.5])
    turn = np.array([[math.cos(yaw), -math.sin(yaw), 0.0], [math.sin(yaw), math.cos(yaw), 0.0], [0.0, 0.0, 1.0]])
    rays = np.random.default_rng(0).normal(size=(2000, 3))
    rays /= np.linalg.norm(rays, axis=1)[:, None]
    before = Scene(shapes).cast(ORIGIN, rays)
    after = Scene(moved(shapes, *shift, yaw)).cast(shift, rays @ turn.T)
    assert np.isfinite(before.ranges).sum() > 100
    np.testing.assert_allclose(after.ranges, before.ranges, atol=1e-9)
    np.testing.assert_allclose(after.cosines, before.cosines, atol=1e-6)


def level(shape: Shape, point: list[float]) -> float:
    """How far out a point is: below 1 inside the shape, 1 on it, above 1 outside."""
    x, y, z = (p - c for p, c in zip(point, shape.centre, strict=True))
    c, s = math.cos(shape.yaw), math.sin(shape.yaw)
    x, y = c * x + s * y, -s * x + c * y
    c, s = math.cos(shape.tilt), math.sin(shape.tilt)
    y, z = c * y + s * z, -s * y + c * z
    x, y, z = (abs(value) / half for value, half in zip((x, y, z), shape.half, strict=True))
    if shape.kind == "box":
        return max(x, y, z)
    return math.sqrt(x * x + y * y + z * z) if shape.kind == "ellipsoid" else max(math.hypot(x, y), z)


def first_crossing(shape: Shape, origin: list[float], ray: list[float], far: float) -> float | None:
    """Search one ray; inf: it misses; None: it only just touches. Along a ray, the level is a convex function."""

    def at(t: float) -> float:
        return level(shape, [o + t * d for o, d in zip(origin, ray, strict=True)])

    outside, low, high = at(0.0) > 1.0, 0.0, far
    if outside:  # there is something to cross if the lowest level is inside
        for _ in range(120):
            left, right = low + (high - low) / 3.0, high - (high - low) / 3.0
            low, high = (low, right) if at(left) <= at(right) else (left, high)
        if abs(at(low) - 1.0) < 1e-6:
            return None
        if at(low) > 1.0:
            return math.inf
        low, high = 0.0, low
    for _ in range(60):
        middle = (low + high) / 2.0
        low, high = (middle, high) if (at(middle) > 1.0) == outside else (low, middle)
    return low


coordinate = st.floats(-4.0, 4.0)
shapes = st.builds(
    Shape,
    st.sampled_from(["box", "ellipsoid", "cylinder"]),
    st.tuples(coordinate, coordinate, coordinate),
    st.tuples(*[st.floats(0.2, 3.0)] * 3),
    st.floats(-4.0, 4.0),
    st.floats(-4.0, 4.0),
)


@settings(max_examples=25, deadline=None)
@given(st.lists(shapes, min_size=1, max_size=4), st.integers(0, 1000))
def test_rays_end_where_a_plain_search_ends(scene: list[Shape], seed: int) -> None:
    random = np.random.default_rng(seed)
    rays = random.normal(size=(12, 3))
    rays /= np.linalg.norm(rays, axis=1)[:, None]
    origin = random.uniform(-4.0, 4.0, 3)
    found = Scene(scene).cast(origin, rays).ranges
    for ray, distance in zip(rays.tolist(), found.tolist(), strict=True):
        crossings = [first_crossing(shape, origin.tolist(), ray, 30.0) for shape in scene]
        if None not in crossings:
            assert distance == pytest.approx(min(filter(None, crossings)), abs=1e-7)


@settings(max_examples=15, deadline=None)
@given(st.lists(shapes, min_size=1, max_size=8), st.integers(0, 1000))
def test_bundles_leave_out_no_shape(scene: list[Shape], seed: int) -> None:
    """Many neighbouring rays together give what each of them gives alone."""
    random = np.random.default_rng(seed)
    rays = random.normal(size=3) + random.normal(scale=random.choice([0.01, 0.2, 3.0]), size=(300, 3))
    rays /= np.linalg.norm(rays, axis=1)[:, None]
    origin = random.uniform(-6.0, 6.0, 3)
    together = Scene(scene).cast(origin, rays).ranges
    alone = [min(Scene([shape]).cast(origin, ray[None]).ranges[0] for shape in scene) for ray in rays[::10]]
    np.testing.assert_allclose(together[::10], alone, rtol=1e-9)
