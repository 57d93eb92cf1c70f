"""Fast point feature histograms against a plain rendering of their definition, with angles and in double precision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from oracles import neighbours_of

import clipperplus as cp
from clipperplus.clouds.neighbourhoods import Neighbourhoods

Array = npt.NDArray[np.float64]

BINS = 11
DOUBT = 1e-9
"""Angles closer than this to a border, and pairs whose order hangs on less, may be on either side."""


@dataclass
class Bounds:
    """Between what every number of every feature must be; points next to nearly undefined pairs are not judged."""

    low: Array
    high: Array
    judged: npt.NDArray[np.bool_]


def unit(vectors: Array) -> Array:
    return np.asarray(vectors / np.linalg.norm(vectors, axis=-1, keepdims=True))


def angles(first: int, second: int, points: Array, normals: Array) -> tuple[Array, float] | None:
    """The three numbers of a pair in [-1, 1], and how well they are determined; None: it has none."""
    d, n1, n2 = points[second] - points[first], normals[first], normals[second]
    across = np.cross(d, n1)
    length, sine = np.linalg.norm(d), np.linalg.norm(across)
    if length == 0.0 or sine == 0.0:
        return None
    v = across / sine
    w = np.cross(n1, v)
    beside, along = w @ n2, n1 @ n2
    f = np.array([np.arctan2(beside, along) / np.pi, v @ n2, n1 @ d / length])
    return f, min(sine / length, float(np.hypot(beside, along)))


def possible_bins(points: Array, normals: Array, here: int, there: int) -> tuple[list[set[int]], bool] | None:
    """The bins in which each of the three numbers may fall, and whether that is sure; None: the pair has none."""
    d = unit(points[there] - points[here]) if (points[there] != points[here]).any() else None
    if d is None:
        return None
    mine, theirs = abs(normals[here] @ d), abs(normals[there] @ d)
    orders = []
    if mine >= theirs - DOUBT:
        orders.append((here, there))
    if theirs >= mine - DOUBT:
        orders.append((there, here))
    bins: list[set[int]] = [set(), set(), set()]
    answers = [angles(*order, points, normals) for order in orders]
    if all(answer is None for answer in answers):
        return None
    sure = all(answer is not None and answer[1] > 1e-5 for answer in answers)
    for answer in answers:
        if answer is None:
            continue
        for kind, value in enumerate(answer[0]):
            for moved in (value - DOUBT, value, value + DOUBT):
                if kind == 0 and abs(moved) > 1.0:
                    moved -= 2.0 * np.sign(moved)  # the same angle from the other side
                bins[kind].add(int(np.clip(np.floor((moved + 1.0) / 2.0 * BINS), 0, BINS - 1)))
    return bins, sure


def definition(points: Array, normals: Array, radius: float) -> Bounds:
    """Histograms of pairs, then their means over the neighbours; from below and from above."""
    n = len(points)
    gaps = points[:, None] - points
    squares = (gaps[..., 0] ** 2 + gaps[..., 1] ** 2) + gaps[..., 2] ** 2
    near = squares <= radius * radius
    np.fill_diagonal(near, False)
    simple, total, judged = np.zeros((2, n, 3, BINS)), np.zeros(n), np.ones(n, dtype=np.bool_)
    for i in range(n):
        others = np.flatnonzero(near[i])
        for j in others:
            possible = possible_bins(points, normals, i, int(j))
            if possible is None:
                continue
            bins, sure = possible
            judged[i] &= sure
            total[i] += 1.0 / len(others)
            for kind, where in enumerate(bins):
                for place in where:
                    simple[1, i, kind, place] += 100.0 / len(others)
                    simple[0, i, kind, place] += 100.0 / len(others) * (len(where) == 1)
    result, sound = simple.copy(), judged.copy()
    for i in range(n):
        others = np.flatnonzero(near[i] & (squares[i] > 0.0))
        sound[i] &= judged[others].all()
        weights = 1.0 / squares[i, others]
        if (total[others] > 0.0).any():
            result[:, i] += np.einsum("k,bkaj->baj", weights / (weights @ total[others]), simple[:, others])
    return Bounds(result[0].reshape(n, 33), result[1].reshape(n, 33), sound)


def check(points: Array, normals: Array, radius: float, *, decided: float = 0.9) -> None:
    """Compare with the definition; ``decided``: at least this share of the numbers must be beyond doubt."""
    bounds = definition(points, unit(normals), radius)
    features = cp.compute_fpfh(points, normals, radius=radius)
    assert features.shape == (len(points), 33)
    assert features.dtype == np.float32
    low, high, got = bounds.low[bounds.judged], bounds.high[bounds.judged], features[bounds.judged]
    assert (got >= low - 1e-3).all()
    assert (got <= high + 1e-3).all()
    if got.size:
        assert np.mean(high - low < 1e-6) >= decided
    assert bounds.judged.mean() >= decided if len(points) else True
    sums = features.reshape(-1, 3, BINS).astype(np.float64).sum(axis=2)
    assert np.allclose(sums, sums[:, :1], atol=0.01)


def surface(seed: int, n: int) -> tuple[Array, Array]:
    """A bent sheet with its normals, both with some noise."""
    random = np.random.default_rng(seed)
    x, y = random.uniform(-1.0, 1.0, (2, n))
    a, b, c = random.uniform(-1.0, 1.0, 3)
    points = np.column_stack((x, y, a * x * x + b * x * y + c * y * y))
    normals = np.column_stack((-2.0 * a * x - b * y, -b * x - 2.0 * c * y, np.ones(n)))
    return points + random.normal(0.0, 0.01, (n, 3)), unit(unit(normals) + random.normal(0.0, 0.1, (n, 3)))


def turned(seed: int) -> Array:
    matrix = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))[0]
    return np.asarray(matrix * np.linalg.det(matrix))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("radius", "offset"), [(0.3, 0.0), (0.6, 0.0), (0.4, 1000.0)])
def test_features_of_surfaces_are_those_of_the_definition(seed: int, radius: float, offset: float) -> None:
    points, normals = surface(seed, 60)
    check(points + offset, normals, radius)


@pytest.mark.parametrize("seed", range(4))
def test_features_of_points_with_any_normals_are_those_of_the_definition(seed: int) -> None:
    """Every angle occurs, in all bins, and duplicates have no angle with each other."""
    random = np.random.default_rng(seed)
    points = random.uniform(-1.0, 1.0, (50, 3))
    points[40:] = points[:10]
    normals = random.normal(size=(50, 3)) * random.uniform(0.1, 10.0, (50, 1))
    check(points, normals, 0.9)


@pytest.mark.parametrize("seed", range(4))
def test_features_on_a_lattice_are_those_of_the_definition(seed: int) -> None:
    """Normals up and down: pairs along them count nothing, many others are on top of each other."""
    random = np.random.default_rng(seed)
    points = random.integers(0, 5, (50, 3)) / 4.0
    normals = np.array([0.0, 0.0, 1.0]) * random.choice([-1.0, 1.0], (50, 1))
    check(points, normals, 0.6, decided=0.3)


def test_a_plane_has_all_its_pairs_in_the_middle_bins() -> None:
    x, y = np.meshgrid(np.arange(8.0), np.arange(8.0))
    points = np.column_stack((x.ravel(), y.ravel(), np.zeros(64)))
    features = cp.compute_fpfh(points, np.tile([0.0, 0.0, 1.0], (64, 1)), radius=2.0)
    expected = np.zeros((3, BINS))
    expected[:, 5] = 200.0
    assert np.allclose(features, expected.ravel(), atol=1e-3)


def test_numbers_of_a_single_pair_are_where_the_definition_says() -> None:
    """By hand: f1 = atan2(-0.6, 0.8) = -0.64, bin 4; f2 = 0, bin 5; f3 = 0, but from the other end 0.6, bin 8."""
    points = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    normals = np.array([[0.0, 0.0, 1.0], [0.6, 0.0, 0.8]])
    # The second is the first of the pair: its normal is closer to the line. d = -x, v = d × n = (0, 0.8, 0) → y,
    # w = n × v = (-0.8, 0, 0.6); f1 = atan2(0.6, 0.8) = 0.64, bin 6; f2 = 0; f3 = -0.6, bin 2.
    expected = np.zeros((3, BINS))
    expected[0, 6] = expected[1, 5] = expected[2, 2] = 200.0
    assert np.allclose(cp.compute_fpfh(points, normals, radius=2.0), expected.ravel(), atol=1e-3)


def test_points_without_neighbours_or_angles_have_zeros() -> None:
    points = np.array([[0.0, 0.0, 0.0], [9.0, 0.0, 0.0], [9.0, 0.0, 0.0], [0.0, 9.0, 0.0], [0.0, 9.0, 0.5]])
    normals = np.tile([0.0, 0.0, 1.0], (5, 1))
    assert not cp.compute_fpfh(points, normals, radius=1.0).any()
    assert cp.compute_fpfh(np.empty((0, 3)), np.empty((0, 3)), radius=1.0).shape == (0, 33)
    assert not cp.compute_fpfh(points[:1], normals[:1], radius=1.0).any()


@settings(max_examples=10)
@given(st.integers(0, 2**32 - 1))
@example(8706)  # a corner of the sheet has no neighbours
def test_each_feature_adds_up_to_600_and_those_of_lonely_points_to_nothing(seed: int) -> None:
    points, normals = surface(seed, 400)
    features = cp.compute_fpfh(points, normals, radius=0.4)
    lonely = np.array([not others for others in neighbours_of(points, 0.4)])
    assert np.allclose(features.sum(axis=1), np.where(lonely, 0.0, 600.0), atol=0.02)
    assert (features >= 0.0).all()


@settings(max_examples=10)
@given(st.integers(0, 2**32 - 1), st.sampled_from([1.0, 100.0]))
def test_a_rigid_motion_changes_features_by_rounding_only(seed: int, far: float) -> None:
    points, normals = surface(seed, 300)
    rotation, shift = turned(seed), far * np.array([1.0, -2.0, 0.5])
    before = cp.compute_fpfh(points, normals, radius=0.4)
    after = cp.compute_fpfh(points @ rotation.T + shift, normals @ rotation.T, radius=0.4)
    assert np.mean(np.abs(after - before).max(axis=1) < 1e-2) > 0.99


def test_scale_does_not_matter() -> None:
    points, normals = surface(4, 200)
    before = cp.compute_fpfh(points, normals, radius=0.4)
    for scale in (2.0**-40, 2.0**40):
        assert np.allclose(cp.compute_fpfh(points * scale, normals, radius=0.4 * scale), before, atol=1e-2)


def test_the_order_of_the_points_changes_features_by_rounding_only() -> None:
    points, normals = surface(5, 300)
    order = np.random.default_rng(0).permutation(300)
    before, after = (cp.compute_fpfh(points[o], normals[o], radius=0.4) for o in (np.arange(300), order))
    assert np.allclose(after, before[order], atol=1e-2)


def test_threads_and_instruction_sets_give_the_same_bits(simd: str) -> None:
    from clipperplus import _core

    for n in (1, 2, 63, 64, 65, 700):
        points, normals = surface(n, n)
        points[n // 2 :: 7] = points[0]
        _core.select_simd(_core.simd_available()[-1])
        expected = cp.compute_fpfh(points, normals, radius=0.4)
        _core.select_simd(simd)
        for threads in (1, 2, 5):
            features = cp.compute_fpfh(points, normals, radius=0.4, threads=threads)
            assert features.tobytes() == expected.tobytes()


def test_a_prepared_cloud_holds_what_its_steps_give() -> None:
    points, _ = surface(6, 5000)
    points[:, 2] -= 4.0
    prepared = cp.prepare(points, voxel_size=0.05, viewpoint=(0.0, 0.0, 1.0))
    means = cp.downsample(points, voxel_size=0.05)
    normals = cp.estimate_normals(means, radius=2.0 * 0.05, viewpoint=(0.0, 0.0, 1.0))
    assert np.array_equal(prepared.points, means)
    assert np.allclose(prepared.normals, normals, atol=1e-9)
    around = Neighbourhoods(means, radius=5.0 * 0.05)
    inwards = cp.estimate_normals(means, radius=2.0 * 0.05, viewpoint=None, neighbours=around)
    features = cp.compute_fpfh(means, inwards, radius=5.0 * 0.05)
    assert np.array_equal(prepared.features, features)
    assert (prepared.voxel_size, prepared.num_raw, prepared.num_dropped) == (0.05, 5000, 0)


def test_the_viewpoint_comes_from_the_cloud_unless_it_is_given() -> None:
    points, _ = surface(7, 500)
    below = type("Scan", (), {"points": points, "viewpoint": (0.0, 0.0, -9.0)})()
    assert (cp.prepare(below, voxel_size=0.2).normals[:, 2] <= 0.0).mean() > 0.9
    assert (cp.prepare(below, voxel_size=0.2, viewpoint=(0.0, 0.0, 9.0)).normals[:, 2] >= 0.0).mean() > 0.9
    nowhere = type("Scan", (), {"points": points, "viewpoint": None})()
    assert np.array_equal(cp.prepare(nowhere, voxel_size=0.2).normals, cp.prepare(points, voxel_size=0.2).normals)


POINTS, NORMALS = surface(0, 20)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: cp.compute_fpfh(POINTS, NORMALS[:5], radius=1.0), "normals: expected as many as there are points, 20"),
        (lambda: cp.compute_fpfh(POINTS, NORMALS * 0.0, radius=1.0), "normals: vector 0 is zero"),
        (lambda: cp.compute_fpfh(POINTS, NORMALS * np.nan, radius=1.0), "normals: "),
        (lambda: cp.compute_fpfh(POINTS * np.inf, NORMALS, radius=1.0), "points: point 0 is"),
        (lambda: cp.compute_fpfh(POINTS.T, NORMALS, radius=1.0), r"points: expected points of shape \(n, 3\)"),
        (lambda: cp.compute_fpfh(POINTS, NORMALS, radius=0.0), "radius: expected"),
        (lambda: cp.compute_fpfh(POINTS, NORMALS, radius=1e-9), "radius: expected at least"),
        (lambda: cp.compute_fpfh(POINTS, NORMALS, radius=1.0, threads=0), "threads: expected"),
        (
            lambda: cp.compute_fpfh(POINTS, NORMALS, radius=1.0, neighbours=Neighbourhoods(POINTS, radius=2.0)),
            "neighbours: expected those within 1.0, got those within 2.0",
        ),
        (
            lambda: cp.compute_fpfh(POINTS, NORMALS, radius=1.0, neighbours=Neighbourhoods(POINTS + 1.0, radius=1.0)),
            "neighbours: ",
        ),
        (lambda: cp.prepare(POINTS, voxel_size=-1.0), "voxel_size: expected"),
        (lambda: cp.prepare(POINTS, viewpoint=(1.0, 2.0)), "viewpoint: expected three finite coordinates"),
        (lambda: cp.prepare(POINTS[0]), "cloud: expected points of shape"),
    ],
)
def test_wrong_input_is_refused(call: Any, message: str) -> None:
    with pytest.raises(cp.ClipperPlusError, match=message):
        call()
