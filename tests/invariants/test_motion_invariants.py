"""What motions that are less than rigid keep of two points: the graph is that of the definition in double precision."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import clipperplus as cp
from clipperplus import _core
from clipperplus.invariants import Custom, Under

Array = npt.NDArray[np.float64]
seeds = st.integers(0, 2**32 - 1)


def definition(motion: str, up: Array, a: Array, b: Array, bound: Array) -> npt.NDArray[np.bool_]:
    """Which matched points agree, with n × n arrays of floats."""
    between = [np.linalg.norm(points[:, None] - points, axis=2) for points in (a, b)]
    joined = np.abs(between[0] - between[1]) < bound
    shifts = b - a
    if motion == "translation":
        joined &= np.linalg.norm(shifts[:, None] - shifts, axis=2) < bound
    if motion in ("yaw", "planar"):
        joined &= np.abs((shifts @ up)[:, None] - shifts @ up) < bound
    if motion == "planar":
        joined &= np.maximum(np.abs(shifts @ up)[:, None], np.abs(shifts @ up)) < bound
    np.fill_diagonal(joined, False)
    return joined


@settings(max_examples=150)
@given(
    motion=st.sampled_from(["rigid", "yaw", "planar", "translation"]),
    n=st.integers(0, 140),
    size=st.sampled_from([1e-6, 1.0, 1e5]),
    place=st.sampled_from([0.0, 1e6, -1e6]),
    relative_epsilon=st.sampled_from([1e-9, 1e-3, 0.05, 0.5, 10.0]),
    varying=st.booleans(),
    seed=seeds,
)
def test_the_graph_is_that_of_the_definition(
    motion: str, n: int, size: float, place: float, relative_epsilon: float, varying: bool, seed: int
) -> None:
    random = np.random.default_rng(seed)
    up = np.array([0.0, 0.0, 1.0])
    source = random.uniform(0.0, size, (n, 3)) + place
    target = source + random.normal(0.0, 0.01 * size, (n, 3)) + size * random.normal(size=3) * [1.0, 1.0, 0.0]
    target[::2] = random.uniform(0.0, size, (len(target[::2]), 3)) + place
    epsilon = relative_epsilon * size
    bounds = random.uniform(0.5, 2.0, n) * epsilon if varying else epsilon
    pairwise = np.asarray(bounds)[:, None] + bounds if varying else np.full((n, n), epsilon)
    graph = cp.consistency_graph(source, target, epsilon=bounds, invariant=Under(motion))
    assert np.array_equal(graph.adjacency(), definition(motion, up, source, target, pairwise))


@given(st.sampled_from(["yaw", "planar", "translation"]), seeds, st.sampled_from([0.25, 0.5, 1.0]))
def test_pairs_on_the_threshold_are_decided_as_in_double_precision(motion: str, seed: int, epsilon: float) -> None:
    """Points on a grid: many pairs differ by exactly epsilon."""
    random = np.random.default_rng(seed)
    source, target = random.integers(0, 6, (2, 90, 3)) / 4.0
    up = np.array([0.0, 0.0, 1.0])
    graph = cp.consistency_graph(source, target, epsilon=epsilon, invariant=Under(motion))
    assert np.array_equal(graph.adjacency(), definition(motion, up, source, target, np.full((90, 90), epsilon)))


@given(st.sampled_from(["yaw", "planar", "translation"]), seeds)
def test_any_direction_and_any_associations(motion: str, seed: int) -> None:
    """As a function of one's own that has no kernel: also where associations share points."""
    random = np.random.default_rng(seed)
    up = random.normal(size=3) if motion != "translation" else None
    source, target = random.uniform(0.0, 1.0, (40, 3)), random.uniform(0.0, 1.0, (50, 3))
    pairs = np.column_stack((random.integers(0, 40, 130), random.integers(0, 50, 130)))
    invariant = Under(motion, up)

    def residual(a: Array, b: Array, first: cp.invariants.Pairs, second: cp.invariants.Pairs) -> Array:
        return invariant.residuals(a, b, first, second, np.full(len(first.source), 0.2))

    graph = cp.consistency_graph(source, target, pairs, epsilon=0.2, invariant=invariant)
    slow = cp.consistency_graph(source, target, pairs, invariant=Custom(residual, threshold=1.0))
    assert np.array_equal(graph.adjacency(), slow.adjacency())
    kept = cp.consistency_graph(source, target, pairs, epsilon=0.2, invariant=invariant, threads=2, min_clique_size=3)
    degrees = slow.degrees()
    assert np.array_equal(kept.adjacency(), slow.adjacency() & (degrees >= 2)[:, None] & (degrees >= 2))


@pytest.mark.parametrize("motion", ["yaw", "planar", "translation"])
def test_all_instruction_sets_say_the_same(motion: str) -> None:
    random = np.random.default_rng(0)
    source, target = random.uniform(0.0, 1.0, (2, 300, 3))
    expected = definition(motion, np.array([0.0, 0.0, 1.0]), source, target, np.full((300, 300), 0.2))
    selected = _core.simd_selected()
    try:
        for path in _core.simd_available():
            _core.select_simd(path)
            graph = cp.consistency_graph(source, target, epsilon=0.2, invariant=Under(motion))
            assert np.array_equal(graph.adjacency(), expected), path
    finally:
        _core.select_simd(selected)


def test_points_of_the_plane_agree_as_those_of_space_at_one_height() -> None:
    random = np.random.default_rng(3)
    source, target = random.uniform(0.0, 1.0, (2, 100, 2))
    flat = cp.consistency_graph(source, target, epsilon=0.1, invariant=Under("planar"))
    lifted = [np.column_stack((points, np.zeros(100))) for points in (source, target)]
    assert flat == cp.consistency_graph(*lifted, epsilon=0.1, invariant=Under("planar"))
    assert flat == cp.consistency_graph(source, target, epsilon=0.1)


def test_what_cannot_be_compared_is_refused() -> None:
    points = np.zeros((4, 3))
    with pytest.raises(cp.OptionError, match="keeps something of two points, got 'similarity'"):
        Under("similarity")
    with pytest.raises(cp.OptionError, match="motion: expected one of"):
        Under("affine")
    with pytest.raises(cp.LandmarkError, match=r"source: expected points of shape \(n, 3\)"):
        cp.consistency_graph(points[:, :2], points[:, :2], invariant=Under("yaw"))
    with pytest.raises(cp.LandmarkError, match="points of the plane are turned about z"):
        cp.consistency_graph(points[:, :2], points[:, :2], invariant=Under("planar", up=(1.0, 0.0, 0.0)))
    with pytest.raises(cp.LandmarkError, match="target: 3 coordinates a point, the source has 2"):
        cp.consistency_graph(points[:, :2], points, invariant=Under("planar"))
