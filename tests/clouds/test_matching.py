"""Matches of features: exactly those of double precision, ties to the lower number, whatever the features are."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

import clipperplus as cp
from clipperplus import _core

Features = npt.NDArray[np.float32]


def squares_of(source: Features, target: Features) -> npt.NDArray[np.float64]:
    """Squared distances in double precision, dimension after dimension."""
    total = np.zeros((len(source), len(target)))
    for a, b in zip(source.astype(np.float64).T, target.astype(np.float64).T, strict=True):
        total = total + (a[:, None] - b) ** 2
    return total


def definition(
    source: Features, target: Features, *, k: int = 1, mutual: bool = True, ratio: float | None = None
) -> list[list[int]]:
    squares = squares_of(source, target)
    there = np.argsort(squares, axis=1, kind="stable")
    back = np.argsort(squares, axis=0, kind="stable")[:k]
    pairs = []
    for i in range(len(source)):
        for j in there[i, :k]:
            if mutual and i not in back[:, j]:
                continue
            if ratio is not None and k < len(target) and not squares[i, j] < ratio**2 * squares[i, there[i, k]]:
                continue
            pairs.append([i, int(j)])
    return sorted(pairs)


def check(source: Features, target: Features, *, ratio: float | None = None) -> None:
    for k in (1, 2, 5):
        for mutual in (True, False):
            expected = definition(source, target, k=k, mutual=mutual, ratio=ratio)
            pairs = cp.match_features(source, target, k=k, mutual=mutual, ratio=ratio)
            assert pairs.dtype == np.int64
            assert pairs.shape == (len(expected), 2)
            assert pairs.tolist() == expected


def random_features(n: int, d: int, seed: int) -> Features:
    return np.random.default_rng(seed).normal(size=(n, d)).astype(np.float32)


@pytest.mark.parametrize("dimension", [1, 2, 33, 200])
@pytest.mark.parametrize(("n", "m"), [(1, 1), (1, 70), (70, 1), (3, 4), (64, 64), (65, 129)])
def test_matches_are_those_of_double_precision(dimension: int, n: int, m: int) -> None:
    source, target = random_features(n, dimension, 1), random_features(m, dimension, 2)
    target[: min(n, m) // 2] = source[: min(n, m) // 2] + np.float32(0.1) * target[: min(n, m) // 2]
    check(source, target)
    check(source, target, ratio=0.8)


def test_the_definition_agrees_with_scipy() -> None:
    source, target = random_features(90, 33, 3), random_features(80, 33, 4)
    nearest = cdist(source.astype(np.float64), target.astype(np.float64)).argmin(axis=1)
    assert cp.match_features(source, target, mutual=False)[:, 1].tolist() == nearest.tolist()


@settings(max_examples=40)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 150),
    st.integers(1, 150),
    st.sampled_from([1, 2, 33]),
    st.integers(1, 3),
    st.sampled_from([None, 0.5]),
)
def test_equally_near_features_are_taken_in_their_order(
    seed: int, n: int, m: int, dimension: int, values: int, ratio: float | None
) -> None:
    """Few values: most distances occur several times, and many features are the same."""
    random = np.random.default_rng(seed)
    source, target = (random.integers(0, values + 1, (count, dimension)).astype(np.float32) for count in (n, m))
    check(source, target, ratio=ratio)


@pytest.mark.parametrize("value", [0.0, 1.0, -7.5, 1e30, 1e-30, 3e38, 1e-45])
def test_features_that_are_all_the_same_match_the_first_ones(value: float) -> None:
    same = np.full((300, 33), value, dtype=np.float32)
    check(same[:140], same[:150])
    assert cp.match_features(same, same).tolist() == [[0, 0]]
    assert cp.match_features(same, same, mutual=False)[:, 1].tolist() == [0] * 300
    assert cp.match_features(same, same, mutual=False, ratio=0.99).shape == (0, 2)


@pytest.mark.parametrize("scale", [1e-38, 1e-30, 1e30, 3e37])
@pytest.mark.parametrize("offset", [0.0, 1.0, 1e4])
def test_scale_and_offset_cost_no_digit(scale: float, offset: float) -> None:
    source, target = (
        ((random_features(100, 20, seed) + np.float32(offset)) * np.float32(scale if offset < 10.0 else 1e-4 * scale))
        for seed in (5, 6)
    )
    check(source, target)


@settings(max_examples=40)
@given(st.integers(0, 2**32 - 1), st.sampled_from([1, 2, 33]), st.sampled_from([0.0, 1.0, 100.0, 1e20]))
def test_features_that_differ_in_the_last_bit_are_told_apart(seed: int, dimension: int, middle: float) -> None:
    """Candidates around one place, a few units in the last place of single precision away from it."""
    random = np.random.default_rng(seed)
    centre = (random.normal(size=dimension) + middle).astype(np.float32)
    steps = random.integers(-2, 3, (2, 130, dimension))
    source, target = centre + steps.astype(np.float32) * np.spacing(centre)
    source[::3] += random_features(len(source[::3]), dimension, seed)
    check(source, target)


@settings(max_examples=40)
@given(st.integers(0, 2**32 - 1), st.sampled_from([2, 33]))
def test_features_on_a_sphere_around_another_are_told_apart(seed: int, dimension: int) -> None:
    """All targets are equally far from a source feature, but for rounding: a dozen bits below single precision."""
    random = np.random.default_rng(seed)
    centre = random.normal(size=dimension) * 10.0
    rays = random.normal(size=(200, dimension))
    target = (centre + rays / np.linalg.norm(rays, axis=1)[:, None]).astype(np.float32)
    source = np.concatenate((np.tile(centre, (5, 1)), target[:40], random.normal(size=(20, dimension)))).astype(
        np.float32
    )
    check(source, target)


@settings(max_examples=40)
@given(st.integers(0, 2**32 - 1))
def test_a_few_large_features_do_not_blur_the_small_ones(seed: int) -> None:
    random = np.random.default_rng(seed)
    source, target = random.normal(size=(2, 90, 8)) * 1e-20
    for features in (source, target):
        features[random.integers(90, size=3)] *= 10.0 ** random.uniform(5.0, 55.0)
    check(source.astype(np.float32), target.astype(np.float32))


def test_one_dimension_far_from_zero_does_not_blur_the_others() -> None:
    source, target = random_features(150, 6, 7), random_features(150, 6, 8)
    source[:, 2] = target[:, 2] = 1e7
    check(source, target)
    source[::2, 2] *= -1.0
    target[::2, 2] *= -1.0
    check(source, target)


def test_histograms_match_as_in_double_precision() -> None:
    """Features as they come: non-negative, sparse, adding up to the same."""
    random = np.random.default_rng(9)
    source = random.dirichlet(np.full(33, 0.3), 200).astype(np.float32) * 600
    target = np.concatenate((source[::2] + random.normal(0.0, 5.0, (100, 33)), source[::5])).astype(np.float32)
    check(source, target)
    check(source, target, ratio=0.9)


def surface_features(n: int, seed: int, *, spread: float = 1.0) -> Features:
    """Enough of them for bounds of distances to be used, most of their variance along a few axes."""
    random = np.random.default_rng(seed)
    axes = np.random.default_rng(99).normal(size=(5, 33)) * np.array([[8.0], [4.0], [2.0], [1.0], [0.5]])
    features = random.normal(size=(n, 5)) ** 3 @ axes + random.normal(size=(n, 33)) * 0.1 * spread
    return np.abs(features).astype(np.float32) * 10


@pytest.mark.parametrize(("n", "m"), [(256, 256), (257, 320), (500, 263), (640, 511)])
def test_features_along_a_few_axes_match_as_in_double_precision(n: int, m: int) -> None:
    source, target = surface_features(n, 20), surface_features(m, 21)
    target[::4] = source[: len(target[::4])] + np.float32(0.01) * target[::4]
    target[1::7] = target[0]
    check(source, target)
    check(source, target, ratio=0.9)


@pytest.mark.parametrize("scale", [1e-38, 1e-22, 1e30])
def test_bounds_of_features_cost_no_digit(scale: float) -> None:
    """Features with others a few units in the last place away, some of them far from all others, or all but zero."""
    random = np.random.default_rng(22)
    source = surface_features(300, 23, spread=0.0)
    target = np.concatenate((source, source[:40])) * (1 + random.integers(-2, 3, (340, 33)) * np.float32(2**-23))
    source[::50] *= 1e5
    target[::60] *= 1e-15
    check((source * scale).astype(np.float32), (target * scale).astype(np.float32))


def test_many_features_that_are_all_the_same_match_the_first_ones() -> None:
    same = np.full((300, 33), 7.0, dtype=np.float32)
    check(same, same[:280])
    same[:, 5] = np.arange(300) % 3
    check(same, same[:280])


def test_threads_and_instruction_sets_give_the_same_matches(simd: str) -> None:
    random = np.random.default_rng(10)
    for n, m, dimension in ((200, 130, 33), (64, 300, 5), (64, 65, 1), (321, 260, 33)):
        source, target = (random.integers(0, 4, (count, dimension)).astype(np.float32) for count in (n, m))
        source[::2] += random_features(len(source[::2]), dimension, 11) * np.float32(1e-6)
        if n > 300:  # along one axis: bounds leave a few pairs of each block
            source[:, 1:], target[:, 1:] = (f[:, :1] * 7 + f[:, 1:] / 4 for f in (source, target))
        expected = definition(source, target, k=2)
        for threads in (1, 2, 3, 7):
            assert cp.match_features(source, target, k=2, threads=threads).tolist() == expected
            for ours, theirs in zip(
                _core.nearest_features(source, target, 3, threads),
                (*both(source, target), *both(target, source)),
                strict=True,
            ):
                assert np.array_equal(ours, theirs)


def both(source: Features, target: Features) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    squares = squares_of(source, target)
    nearest = np.argsort(squares, axis=1, kind="stable")[:, :3]
    return nearest, np.take_along_axis(squares, nearest, axis=1)


def test_more_neighbours_than_features_are_all_of_them() -> None:
    source, target = random_features(3, 4, 12), random_features(2, 4, 13)
    everything = [[i, j] for i in range(3) for j in range(2)]
    for k in (3, 5, 1000):
        for mutual in (True, False):
            assert cp.match_features(source, target, k=k, mutual=mutual).tolist() == everything
    assert cp.match_features(source, target, k=2, ratio=0.5, mutual=False).tolist() == everything  # no next nearest


def test_swapping_the_sets_swaps_mutual_matches() -> None:
    source, target = random_features(200, 10, 14), random_features(180, 10, 15)
    for k in (1, 3):
        pairs = cp.match_features(source, target, k=k)
        swapped = cp.match_features(target, source, k=k)
        assert sorted(pairs[:, ::-1].tolist()) == swapped.tolist()


def test_no_features_match_nothing() -> None:
    some = random_features(5, 33, 16)
    for source, target in ((some[:0], some), (some, some[:0]), (some[:0], some[:0])):
        for ratio in (None, 0.5):
            assert cp.match_features(source, target, ratio=ratio).shape == (0, 2)


def test_dtype_and_memory_order_do_not_matter() -> None:
    source, target = random_features(60, 7, 17), random_features(50, 7, 18)
    expected = definition(source, target)
    for form in (np.asfortranarray, lambda a: a.astype(np.float64), lambda a: a.astype(">f4"), lambda a: a.tolist()):
        assert cp.match_features(form(source), form(target)).tolist() == expected


SOME = random_features(4, 3, 19)


@pytest.mark.parametrize(
    ("source", "target", "arguments", "message"),
    [
        (SOME[0], SOME, {}, r"source: expected features of shape \(n, d\), got \(3,\)"),
        (SOME, SOME[:, :0], {}, r"target: expected features of shape \(n, d\)"),
        (SOME, SOME[:, :2], {}, "target: expected features of 3 numbers, got 2"),
        (SOME * np.nan, SOME, {}, "source: feature 0 has a number that is not finite"),
        (SOME, SOME.astype(np.float64) * 1e300, {}, "target: feature 0 has a number that is not finite in float32"),
        (SOME.astype(complex), SOME, {}, "source: expected numbers, got dtype complex128"),
        (SOME.astype(str), SOME, {}, "source: expected numbers"),
        ([[1.0], [1.0, 2.0]], SOME, {}, "source: expected an array"),
        (SOME, SOME, {"k": 0}, "k: expected an integer"),
        (SOME, SOME, {"k": 1.5}, "k: expected an integer"),
        (SOME, SOME, {"ratio": 0.0}, "ratio: expected"),
        (SOME, SOME, {"ratio": 1.5}, "ratio: expected"),
        (SOME[:0], SOME, {"ratio": -3.0}, "ratio: expected"),
        (SOME, SOME, {"mutual": "yes"}, "mutual: expected True or False"),
        (SOME, SOME, {"threads": 0}, "threads: expected an integer"),
    ],
)
def test_wrong_input_is_refused(source: Any, target: Any, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(cp.ClipperPlusError, match=message):
        cp.match_features(source, target, **arguments)


def test_features_that_vanish_beside_others_are_told_apart() -> None:
    """Their products are too small for single precision."""
    random = np.random.default_rng(0)
    source, target = (random.uniform(1e-24, 1e-20, (600, 4)).astype(np.float32) for _ in range(2))
    source[0], target[0] = 1.0, -1.0
    squares = ((source[:, None].astype(np.float64) - target[None].astype(np.float64)) ** 2).sum(axis=2)
    found = cp.match_features(source, target, mutual=False)
    assert np.array_equal(found[:, 1], squares.argmin(axis=1))


@pytest.mark.parametrize("k", [16, 17, 40])
def test_many_neighbours_are_matched_as_defined(k: int) -> None:
    source, target = random_features(70, 3, 16), random_features(60, 3, 17)
    assert cp.match_features(source, target, k=k).tolist() == definition(source, target, k=k)
