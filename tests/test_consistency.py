"""Consistency graphs of points: exactly what the definition gives in double precision, however they are asked for."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from common import as_in_paper, real_graph, real_graph_names
from hypothesis import given, settings
from hypothesis import strategies as st

import clipperplus as cp
from clipperplus import _core, _limits, invariants
from clipperplus.consistency import ConsistencyProblem
from clipperplus.graphs._memory import check_graph_fits


def definition(
    source: npt.NDArray[Any],
    target: npt.NDArray[Any],
    pairs: npt.NDArray[np.int64] | None = None,
    *,
    epsilon: float | npt.NDArray[np.float64],
    one_to_one: bool = True,
    min_distance: float = 0.0,
) -> npt.NDArray[np.bool_]:
    """The adjacency matrix, with n × n arrays of floats."""
    source, target = source.astype(np.float64), target.astype(np.float64)
    pairs = np.column_stack((np.arange(len(source)),) * 2) if pairs is None else pairs
    a, b = source[pairs[:, 0]], target[pairs[:, 1]]
    between = [np.linalg.norm(points[:, None] - points, axis=2) for points in (a, b)]
    bound = epsilon if isinstance(epsilon, float) else epsilon[:, None] + epsilon
    joined = (np.abs(between[0] - between[1]) < bound) & (np.minimum(*between) >= min_distance)
    if one_to_one:
        joined &= (pairs[:, None, 0] != pairs[:, 0]) & (pairs[:, None, 1] != pairs[:, 1])
    np.fill_diagonal(joined, False)
    return joined


def clouds(n: int, dimension: int = 3, *, size: float = 1.0, seed: int = 0) -> tuple[npt.NDArray[np.float64], ...]:
    random = np.random.default_rng(seed)
    source = random.uniform(0.0, size, (n, dimension))
    target = source + random.normal(0.0, 0.01 * size, (n, dimension))
    target[::2] = random.uniform(0.0, size, (len(target[::2]), dimension))
    return source, target


@settings(max_examples=200)
@given(
    n=st.integers(0, 140),
    dimension=st.sampled_from([2, 3]),
    size=st.sampled_from([1e-6, 1.0, 50.0, 1e5]),
    offset=st.sampled_from([0.0, 1e3, 1e6, -1e6]),
    relative_epsilon=st.sampled_from([1e-9, 1e-3, 0.05, 0.5, 10.0]),
    apart=st.sampled_from([0.0, 0.2]),
    seed=st.integers(0, 2**32 - 1),
)
def test_the_graph_is_that_of_the_definition(
    n: int, dimension: int, size: float, offset: float, relative_epsilon: float, apart: float, seed: int
) -> None:
    source, target = clouds(n, dimension, size=size, seed=seed)
    source, target, epsilon = source + offset, target + offset, relative_epsilon * size
    graph = cp.consistency_graph(source, target, epsilon=epsilon, min_distance=apart * size)
    assert np.array_equal(graph.adjacency(), definition(source, target, epsilon=epsilon, min_distance=apart * size))


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.25, 0.5, 2.0**0.5 - 1.0, 1.0]))
def test_pairs_on_the_threshold_are_decided_as_in_double_precision(seed: int, epsilon: float) -> None:
    """Points on a grid: distances repeat, and many pairs differ by exactly epsilon."""
    random = np.random.default_rng(seed)
    source, target = random.integers(0, 6, (2, 90, 3)) / 4.0
    graph = cp.consistency_graph(source, target, epsilon=epsilon)
    assert np.array_equal(graph.adjacency(), definition(source, target, epsilon=epsilon))


@pytest.mark.parametrize("epsilon", [1.0, 0.5, 0.1, 0.02])
@pytest.mark.parametrize("jitter", [1e-5, 1e-4, 1e-3])
def test_a_short_distance_against_one_of_epsilon_is_decided_as_in_double_precision(
    simd: str, epsilon: float, jitter: float
) -> None:
    """There the test without square roots hardly depends on epsilon, and rounding errors weigh most."""
    random = np.random.default_rng(0)
    source = random.normal(size=(400, 3))
    source *= (epsilon * random.uniform(1.0, 1.0 + 2.0 * jitter, 400) / np.linalg.norm(source, axis=1))[:, None]
    source[::2] = 0.0
    source[0] = 1.0
    target = random.uniform(-0.5, 0.5, (400, 3)) * jitter * epsilon
    expected = definition(source, target, epsilon=epsilon)
    assert np.array_equal(cp.consistency_graph(source, target, epsilon=epsilon).adjacency(), expected)
    halves = np.full(400, epsilon / 2.0)
    assert np.array_equal(cp.consistency_graph(source, target, epsilon=halves).adjacency(), expected)


@settings(max_examples=300)
@given(st.integers(0, 2**32 - 1), st.sampled_from(["longer", "shorter", "tiny"]))
def test_pairs_next_to_the_threshold_are_decided_as_in_double_precision(seed: int, kind: str) -> None:
    """Stars: every point's two distances to the centre differ by epsilon, but for a share of 1e-9 to 1e-2."""
    random = np.random.default_rng(seed)
    n, epsilon = int(random.integers(2, 150)), 10.0 ** random.uniform(-6.0, 0.3)
    gap = epsilon * (1.0 + random.choice([-1.0, 1.0], n) * 10.0 ** random.uniform(-9.0, -2.0, n))
    a = 10.0 ** random.uniform(-2.0, 3.0) * 10.0 ** random.uniform(-5.0, 0.0, n)
    b = np.abs(a - gap) if kind == "shorter" else a + gap
    if kind == "tiny":
        a = epsilon * 10.0 ** random.uniform(-8.0, -1.0, n)
        b = a + gap
    rays = random.normal(size=(2, n, 3))
    rays *= np.stack((a, b))[..., None] / np.linalg.norm(rays, axis=2)[..., None]
    centre = np.zeros((3, 3))
    source, target = (np.concatenate((centre, ray)) + random.choice([0.0, 1e3, 1e6]) for ray in rays)
    expected = definition(source, target, epsilon=epsilon)
    before = _core.simd_selected()
    try:
        for name in _core.simd_available():
            _core.select_simd(name)
            assert np.array_equal(cp.consistency_graph(source, target, epsilon=epsilon).adjacency(), expected)
    finally:
        _core.select_simd(before)


@given(st.integers(0, 2**32 - 1), st.booleans())
def test_associations_that_share_a_point_contradict_each_other(seed: int, one_to_one: bool) -> None:
    random = np.random.default_rng(seed)
    source, target = clouds(20, seed=seed)
    pairs = random.integers(0, 20, (120, 2))
    graph = cp.consistency_graph(source, target, pairs, epsilon=0.1, one_to_one=one_to_one)
    assert np.array_equal(graph.adjacency(), definition(source, target, pairs, epsilon=0.1, one_to_one=one_to_one))


@given(st.integers(0, 2**32 - 1))
def test_noise_bounds_of_two_associations_add_up(seed: int) -> None:
    random = np.random.default_rng(seed)
    source, target = clouds(100, seed=seed)
    bounds = random.choice([0.01, 0.05, 1e-9, 0.3], size=100)
    graph = cp.consistency_graph(source, target, epsilon=bounds, min_distance=0.1)
    assert np.array_equal(graph.adjacency(), definition(source, target, epsilon=bounds, min_distance=0.1))


def test_dtype_order_and_instruction_set_do_not_matter(simd: str) -> None:
    source, target = (cloud.astype(np.float32) for cloud in clouds(300, size=20.0))
    expected = definition(source, target, epsilon=0.3)
    for form in (
        lambda cloud: cloud,
        lambda cloud: np.asfortranarray(cloud),
        lambda cloud: cloud.astype(np.float64),
        lambda cloud: cloud.astype(">f4"),
        lambda cloud: np.repeat(cloud, 2, axis=0)[::2],
        lambda cloud: cloud.tolist(),
        lambda cloud: type("Cloud", (), {"points": cloud})(),
    ):
        for threads in (1, 2, 5):
            graph = cp.consistency_graph(form(source), form(target), epsilon=0.3, threads=threads)
            assert np.array_equal(graph.adjacency(), expected)


def test_a_rigid_motion_of_either_cloud_changes_nothing_but_pairs_on_the_threshold() -> None:
    source, target = clouds(200, size=5.0)
    angle = 0.7
    turn = np.array([[np.cos(angle), -np.sin(angle), 0.0], [np.sin(angle), np.cos(angle), 0.0], [0.0, 0.0, 1.0]])
    before = cp.consistency_graph(source, target, epsilon=0.2)
    assert cp.consistency_graph(source @ turn.T + 3.0, target - 8.0, epsilon=0.2) == before


def test_a_graph_too_large_for_bits_is_stored_as_rows_and_is_the_same() -> None:
    """17 000 associations: bits would take 35 MiB, the rows a few."""
    random = np.random.default_rng(1)
    source, target = random.uniform(0.0, 100.0, (2, 17_000, 3))
    graph = cp.consistency_graph(source, target, epsilon=0.02, threads=2)
    assert graph.representation == "csr"
    assert graph.nbytes < 4_000_000
    for i in random.integers(17_000, size=40):
        gap = np.linalg.norm(source - source[i], axis=1) - np.linalg.norm(target - target[i], axis=1)
        expected = np.setdiff1d(np.flatnonzero(np.abs(gap) < 0.02), i)
        assert np.array_equal(graph.neighbours(int(i)), expected)
    assert graph == cp.consistency_graph(source, target, epsilon=0.02, threads=1)


def test_associations_that_agree_with_too_few_lose_their_edges_and_keep_their_numbers() -> None:
    source, target = clouds(400, seed=9)
    whole = cp.consistency_graph(source, target, epsilon=0.02)
    for size in (0, 1, 2, 20, 60, 500):
        graph = cp.consistency_graph(source, target, epsilon=0.02, min_clique_size=size)
        keep = whole.degrees() >= size - 1
        assert np.array_equal(graph.adjacency(), whole.adjacency() & keep[:, None] & keep)


def test_real_scans_give_their_published_graphs(data_folder: Path) -> None:
    """Matched points of 3DMatch scans and the graph that was made of them."""
    names = [name for name in real_graph_names(data_folder) if as_in_paper(name)][:6]
    assert len(names) == 6
    for name in names:
        stored = np.load(data_folder / "graphs" / f"{name}.npz")
        adjacency, omega = real_graph(data_folder, name)
        graph = cp.consistency_graph(stored["source"], stored["target"], epsilon=float(stored["epsilon"]))
        assert np.mean(graph.adjacency() != adjacency) < 1e-5  # stored in single precision
        assert abs(cp.clique_number(graph) - omega) <= 1


# Weights --------------------------------------------------------------------------------------------------------------


def test_weights_are_scores_of_the_same_pairs() -> None:
    source, target = clouds(120, size=3.0)
    graph = cp.consistency_graph(source, target, epsilon=0.1)
    weights = cp.consistency_weights(source, target, epsilon=0.1, sigma=0.04)
    between = [np.linalg.norm(points[:, None] - points, axis=2) for points in (source, target)]
    expected = np.exp(-0.5 * ((between[0] - between[1]) / 0.04) ** 2) * graph.adjacency()
    assert np.allclose(weights.toarray(), expected, atol=1e-12)
    assert np.array_equal(weights.toarray() > 0, graph.adjacency())
    result = cp.find_clique(graph, method="clipper", weights=weights)
    assert cp.is_maximal(graph, result.vertices)


def test_sigma_is_a_third_of_epsilon_unless_it_is_given() -> None:
    source, target = clouds(60)
    graph = cp.consistency_graph(source, target, epsilon=0.1)
    sharp = cp.consistency_weights(source, target, epsilon=0.1, sigma=1e-4)
    assert sharp.nnz < 2 * graph.num_edges  # scores that are too small for a number are not stored
    for epsilon in (0.1, np.full(60, 0.05)):
        default = cp.consistency_weights(source, target, epsilon=epsilon)
        explicit = cp.consistency_weights(source, target, epsilon=epsilon, sigma=0.1 / 3.0)
        assert np.allclose(default.toarray(), explicit.toarray())


# Wrong input ----------------------------------------------------------------------------------------------------------

POINTS = np.arange(12.0).reshape(4, 3)


@pytest.mark.parametrize(
    ("source", "target", "arguments", "message"),
    [
        (POINTS.T, POINTS, {}, r"source: expected points of shape \(n, 3\) or \(n, 2\), got \(3, 4\); did you mean"),
        (POINTS, POINTS[:, :2], {}, "target: 2 coordinates a point, the source has 3"),
        (POINTS, POINTS[:3], {}, "target: 3 landmarks for 4 of the source; pass associations"),
        (np.full((4, 3), np.nan), POINTS, {}, r"source: point 0 is \[nan, nan, nan\]; expected finite coordinates"),
        (POINTS, np.where(POINTS == 5.0, np.inf, POINTS), {}, r"target: point 1 is \[3.0, 4.0, inf\]"),
        (POINTS[0], POINTS, {}, r"source: expected points of shape .*, got \(3,\)"),
        (POINTS.astype(complex), POINTS, {}, "source: expected numbers, got dtype complex128"),
        (np.full((4, 3), "a"), POINTS, {}, "source: expected numbers, got dtype"),
        (np.ma.array(POINTS), POINTS, {}, "source: expected an array without a mask"),
        ([[1, 2, 3], [1, 2]], POINTS, {}, "source: expected an array"),
        (POINTS, POINTS, {"associations": [[0, 4]]}, "associations: row 0 names number 4 of the second set; it has 4"),
        (POINTS, POINTS, {"associations": [[0, 1], [-1, 0]]}, "associations: row 1 names number -1 of the first set"),
        (POINTS, POINTS, {"associations": [[0.0, 1.0]]}, "associations: expected integers, got dtype float64"),
        (POINTS, POINTS, {"associations": [0, 1]}, r"associations: expected an array of shape \(m, 2\), got \(2,\)"),
        (POINTS, POINTS, {"associations": [[0, 1, 2], [0, 1, 2]]}, r"got \(2, 3\); did you mean associations.T\?"),
        (POINTS, POINTS, {"epsilon": 0.0}, "epsilon: expected a finite number above 0, got 0.0"),
        (POINTS, POINTS, {"epsilon": -1.0}, "epsilon: expected a finite number above 0"),
        (POINTS, POINTS, {"epsilon": np.nan}, "epsilon: expected a finite number above 0"),
        (POINTS, POINTS, {"epsilon": [0.1, 0.1]}, r"epsilon: expected a number or one per association, shape \(4,\)"),
        (POINTS, POINTS, {"epsilon": [0.1, 0.1, 0.0, 0.1]}, "epsilon: entry 2 is 0.0; expected finite numbers above 0"),
        (POINTS, POINTS, {"epsilon": [[1], [1, 2]]}, "epsilon: expected an array"),
        (POINTS, POINTS, {"epsilon": np.full(4, np.longdouble("1e4000"))}, "epsilon: entry 0 is inf"),
        (POINTS, POINTS, {"epsilon": "small"}, "epsilon: expected a number"),
        (POINTS, POINTS, {"min_distance": -0.1}, "min_distance: expected"),
        (POINTS, POINTS, {"one_to_one": 1}, "one_to_one: expected True or False, got 1"),
        (POINTS, POINTS, {"threads": 0}, "threads: expected an integer from 1"),
        (POINTS, POINTS, {"min_clique_size": -1}, "min_clique_size: expected an integer"),
        (POINTS, POINTS, {"invariant": "distance"}, "invariant: expected one of clipperplus.invariants"),
        (POINTS, POINTS, {"invariant": cp.invariants.Distance}, "invariant: expected one of clipperplus.invariants"),
        (POINTS, POINTS, {"invariant": cp.invariants.Lines(), "min_distance": 0.1}, "min_distance: Lines is not about"),
    ],
)
def test_wrong_input_is_refused(source: Any, target: Any, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(cp.ClipperPlusError, match=message):
        cp.consistency_graph(source, target, **arguments)


def test_hard_but_valid_input_gives_a_valid_graph() -> None:
    empty = cp.consistency_graph(np.empty((0, 3)), np.empty((0, 3)))
    assert (empty.num_vertices, empty.num_edges) == (0, 0)
    assert cp.consistency_graph([], []).num_vertices == 0
    assert cp.consistency_graph(POINTS, POINTS, []).num_vertices == 0
    assert cp.consistency_graph([], POINTS[:, :2], []).num_vertices == 0
    assert cp.consistency_graph(POINTS, POINTS, np.empty((0, 2), dtype=int)).num_vertices == 0
    same = cp.consistency_graph(np.ones((5, 3)), np.ones((5, 3)))  # all in one place: nothing contradicts
    assert same.density == 1.0
    assert cp.consistency_graph(np.ones((5, 3)), np.ones((5, 3)), min_distance=1e-9).num_edges == 0
    twice = [[0, 0], [0, 0], [1, 1]]
    assert cp.consistency_graph(POINTS, POINTS, twice).edges().tolist() == [[0, 2], [1, 2]]
    assert cp.consistency_graph(POINTS, POINTS, twice, one_to_one=False).density == 1.0
    with np.errstate(all="ignore"):
        huge = cp.consistency_graph(POINTS * 1e300, POINTS * 1e300, epsilon=1e290)
        assert np.array_equal(huge.adjacency(), definition(POINTS * 1e300, POINTS * 1e300, epsilon=1e290))


def test_points_that_change_while_they_are_read_do_no_harm() -> None:
    """Rows are counted in one pass over all pairs and written in another."""
    random = np.random.default_rng(0)
    source = random.uniform(-1.0, 1.0, (17_000, 3))
    far, near = source + random.normal(0.0, 1e-7, source.shape), source.copy()
    target, done = far.copy(), threading.Event()

    def scribble() -> None:
        while not done.is_set():
            target[:] = near
            target[:] = far

    writer = threading.Thread(target=scribble)
    writer.start()
    try:
        graph = cp.consistency_graph(source, target, epsilon=1e-9, threads=2)
    finally:
        done.set()
        writer.join()
    assert len(graph.edges()) == graph.num_edges


def test_ctrl_c_is_heard_by_all_threads() -> None:
    random = np.random.default_rng(0)
    source = random.uniform(-1.0, 1.0, (40_000, 3))
    target = source + random.normal(0.0, 3e-7, source.shape)  # nearly all pairs must be computed twice
    sent: list[float] = []

    def interrupt() -> None:
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(0.5, interrupt)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        cp.consistency_graph(source, target, epsilon=1e-6, threads=4)
    assert time.perf_counter() - sent[0] < 0.5
    timer.join()


def test_the_callers_arrays_are_not_changed() -> None:
    source, target = clouds(50)
    pairs = np.column_stack((np.arange(50), np.arange(50)))
    before = source.copy(), target.copy(), pairs.copy()
    cp.consistency_graph(source, target, pairs)
    assert all(np.array_equal(old, new) for old, new in zip(before, (source, target, pairs), strict=True))


def test_a_graph_that_cannot_fit_into_the_memory_is_refused_before_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_limits, "machine_memory", lambda: 2**20)
    monkeypatch.setattr(_core, "join_by_distance", None)  # which would do the work
    points = np.random.default_rng(0).normal(size=(2**16 + 1, 3))
    with pytest.raises(cp.MemoryLimitError, match=r"associations: the graph of 65537 of them takes .* fewer") as raised:
        cp.consistency_graph(points, points)
    assert raised.value.needed == (2**16 + 1) ** 2 // 8
    with pytest.raises(cp.MemoryLimitError, match="associations"):  # bits are not smaller for edges that are lost
        cp.consistency_graph(points, points, min_clique_size=10)
    with pytest.raises(cp.MemoryLimitError, match="associations"):
        cp.solve(points, points)


@pytest.mark.parametrize(("memory", "density"), [(2**20, 1e-6), (2**33, 1.0), (None, 1.0)])
def test_a_graph_that_may_fit_is_not_refused(
    monkeypatch: pytest.MonkeyPatch, memory: int | None, density: float
) -> None:
    monkeypatch.setattr(_limits, "machine_memory", lambda: memory)
    check_graph_fits("associations", 2**17, density)


def test_the_memory_of_this_machine_is_known() -> None:
    stated = next(line for line in Path("/proc/meminfo").read_text().splitlines() if line.startswith("MemTotal"))
    assert _limits.machine_memory() == pytest.approx(1024 * int(stated.split()[1]), rel=0.01)


def test_a_sample_of_the_pairs_tells_how_many_agree() -> None:
    source, target = clouds(300)
    pairs = np.random.default_rng(0).integers(300, size=(400, 2))
    problem = ConsistencyProblem.check(source, target, pairs, 0.3, None, True, 0.0)
    graph = problem.join(1)
    assert problem.sampled_density() == pytest.approx(2 * graph.num_edges / 400**2, abs=0.02)
    assert graph.num_edges > 0.1 * 400**2 / 2


def test_scores_that_cannot_fit_into_the_memory_are_refused_before_they_are_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    source, target = clouds(300)
    edges = cp.consistency_graph(source, target).num_edges
    monkeypatch.setattr(_limits, "ALWAYS_FINE", 0)
    monkeypatch.setattr(_limits, "machine_memory", lambda: 36 * edges - 1)
    with pytest.raises(cp.MemoryLimitError, match=f"associations: scores of {edges} consistent pairs take"):
        cp.consistency_weights(source, target)


@pytest.mark.parametrize("at_once", [1, 7, 64, 2**18])
def test_scores_are_those_of_each_pair_whatever_is_looked_at_at_once(
    at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The function is not symmetric: of two associations, the first one is always first."""
    monkeypatch.setattr("clipperplus.consistency.PAIRS_AT_ONCE", at_once)
    points = np.random.default_rng(0).normal(size=(40, 3))
    lean = invariants.Custom(lambda source, target, first, second: 0.1 + first.association / 100.0, threshold=0.35)
    weights = cp.consistency_weights(points, points, invariant=lean)
    i, j = np.triu_indices(40, 1)
    expected = np.zeros((40, 40))
    expected[i, j] = np.where(0.1 + i / 100.0 < 0.35, np.exp(-0.5 * (3.0 * (0.1 + i / 100.0) / 0.35) ** 2), 0.0)
    assert weights.has_sorted_indices
    assert np.allclose(weights.toarray(), expected + expected.T, atol=1e-12)
