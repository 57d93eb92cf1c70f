"""Algorithm 2 along quasi-Newton directions: what an ascent must keep, and where it ends beside the gradient's."""

from __future__ import annotations

from typing import Any

import numpy as np
import plain
import pytest
from hypothesis import given
from strategies import graphs, random_graph, symmetric_weights

import clipperplus as cp
from clipperplus import _core

FOREVER = _core.Watch(None, False)


def ascend(graph: cp.Graph, start: np.ndarray, optimiser: str, **limits: Any) -> _core.RelaxationResult:
    options = cp.RelaxationOptions(optimiser=optimiser, **limits)  # type: ignore[arg-type]
    return _core.relax(graph._native, start, options.to_core(_core.RelaxationOptions()), FOREVER)


def objective_of_the_first_d(graph: cp.Graph, start: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return M_d for the d that an ascent begins with, and where it begins."""
    M = graph.adjacency() + np.eye(graph.num_vertices)
    M_bar = 1.0 - M
    u = M @ start
    u /= np.linalg.norm(u)
    ratios = plain.violating_ratios(M, M_bar, u)
    return M - (ratios.min() if ratios.size else 0.0) * M_bar, u


@pytest.mark.parametrize("seed", range(6))
def test_the_objective_never_falls(seed: int) -> None:
    graph = random_graph(50, [0.2, 0.5, 0.8][seed % 3], seed)
    start = np.random.default_rng(seed).random(50)
    M_d, u = objective_of_the_first_d(graph, start)
    values = [u @ M_d @ u]
    for steps in range(1, 40):
        u = ascend(graph, start, "lbfgs", max_outer=1, max_inner=steps).u
        values.append(u @ M_d @ u)
    assert np.diff(values).min() >= -1e-10
    assert values[-1] > values[0] + 1e-3


@given(graphs())
def test_the_constraint_is_kept_and_the_end_is_a_clique(graph: cp.Graph) -> None:
    n = graph.num_vertices
    if n == 0:
        return
    for limits in ({"max_outer": 1, "max_inner": 3}, {}):
        result = ascend(graph, np.random.default_rng(n).random(n) + 0.01, "lbfgs", **limits)
        assert result.u.min() >= 0.0
        assert np.linalg.norm(result.u) == pytest.approx(1.0, abs=1e-12)
    if result.finished:
        assert cp.is_clique(graph, result.support)


def test_for_one_d_both_optimisers_reach_the_same_point() -> None:
    """The first d leaves the form close to one of a positive matrix, which has one maximum."""
    same = 0
    for seed in range(40):
        graph = random_graph(40, [0.3, 0.6, 0.9][seed % 3], seed)
        start = np.random.default_rng(seed).random(40)
        limits = {"max_outer": 1, "max_inner": 5000, "tol_u": 1e-12, "tol_f": 1e-15}
        one, other = (ascend(graph, start, optimiser, **limits) for optimiser in ("gradient", "lbfgs"))
        M_d, _ = objective_of_the_first_d(graph, start)
        gradient = M_d @ other.u - (other.u @ M_d @ other.u) * other.u
        gradient[(other.u == 0.0) & (gradient < 0.0)] = 0.0
        assert np.abs(gradient).max() < 1e-5
        same += np.abs(one.u - other.u).max() < 1e-5
    assert same >= 36


def test_an_end_is_the_indicator_of_a_clique_as_with_the_gradient() -> None:
    for seed in range(20):
        graph = random_graph(40, 0.6, seed)
        start = np.random.default_rng(seed).random(40) + 0.1
        for optimiser in ("gradient", "lbfgs"):
            result = ascend(graph, start, optimiser)
            assert result.finished
            assert cp.is_clique(graph, result.support)
            assert result.u[result.support] == pytest.approx(1.0 / np.sqrt(result.support.size), abs=1e-3)


def test_a_planted_clique_is_found_by_both() -> None:
    for seed in range(20):
        adjacency = random_graph(200, 0.1, seed).adjacency()
        adjacency[:20, :20] = ~np.eye(20, dtype=bool)
        graph = cp.Graph.from_adjacency(adjacency)
        for optimiser in ("gradient", "lbfgs"):
            settings = cp.RelaxationOptions(optimiser=optimiser)  # type: ignore[arg-type]
            found = cp.find_clique(graph, method="relaxation", relaxation=settings)
            assert set(range(20)) <= set(found.vertices.tolist())


def test_it_takes_fewer_steps_than_the_gradient() -> None:
    steps = {"gradient": 0, "lbfgs": 0}
    sizes = {"gradient": 0, "lbfgs": 0}
    for seed in range(30):
        graph = random_graph(150, [0.1, 0.5, 0.8][seed % 3], seed)
        for optimiser in steps:
            result = ascend(graph, np.ones(150), optimiser)
            steps[optimiser] += result.inner_steps
            sizes[optimiser] += result.support.size
    assert steps["lbfgs"] < 0.6 * steps["gradient"]
    assert sizes["lbfgs"] >= 0.95 * sizes["gradient"]


def test_every_instruction_set_and_every_run_gives_the_same_vector(simd: str) -> None:
    graph = random_graph(130, 0.7, 6)
    settings = cp.RelaxationOptions(optimiser="lbfgs")
    here = cp.find_clique(graph, method="relaxation", relaxation=settings).relaxed
    _core.select_simd("portable")
    assert np.array_equal(here, cp.find_clique(graph, method="relaxation", relaxation=settings).relaxed)


def test_csr_and_bits_follow_the_same_path() -> None:
    dense = random_graph(80, 0.5, 5)
    sparse = cp.Graph.from_edges(6000, dense.edges())
    assert (dense.representation, sparse.representation) == ("bits", "csr")
    start = np.random.default_rng(0).random(80)
    in_bits = ascend(dense, start, "lbfgs", max_outer=2, max_inner=6)
    in_csr = ascend(sparse, np.concatenate((start, np.zeros(5920))), "lbfgs", max_outer=2, max_inner=6)
    assert np.abs(in_bits.u - in_csr.u[:80]).max() < 1e-8
    assert not in_csr.u[80:].any()


def test_weights_of_one_are_no_weights() -> None:
    graph = random_graph(60, 0.5, 1)
    weights = symmetric_weights(graph, 0)
    weights[weights > 0] = 1.0
    rows = [np.flatnonzero(row) for row in weights]
    offsets = np.concatenate(([0], np.cumsum([row.size for row in rows])))
    native = _core.EdgeWeights(
        graph._native, offsets.astype(np.int64), np.concatenate(rows).astype(np.int32), np.ones(offsets[-1])
    )
    for optimiser in ("gradient", "lbfgs"):
        options = cp.RelaxationOptions(optimiser=optimiser, max_outer=2, max_inner=6)  # type: ignore[arg-type]
        core = options.to_core(_core.RelaxationOptions())
        with_ones = _core.relax(graph._native, np.ones(60), core, FOREVER, native)
        assert np.abs(_core.relax(graph._native, np.ones(60), core, FOREVER).u - with_ones.u).max() < 1e-8


def test_a_time_limit_ends_an_endless_run() -> None:
    graph = random_graph(400, 0.5, 0)
    endless = cp.RelaxationOptions(optimiser="lbfgs", tol_u=0.0, tol_f=0.0, max_inner=10**9, max_outer=10**9)
    result = cp.find_clique(graph, method="relaxation", relaxation=endless, time_limit=0.2)
    assert result.seconds < 1.0
    assert cp.is_maximal(graph, result.vertices)


@pytest.mark.parametrize("value", ["newton", "", "LBFGS", None, 1, ["lbfgs"]])
def test_other_optimisers_are_refused(value: object) -> None:
    with pytest.raises(cp.OptionError, match="optimiser: expected 'gradient' or 'lbfgs', got"):
        cp.RelaxationOptions(optimiser=value)  # type: ignore[arg-type]
    with pytest.raises((ValueError, TypeError)):
        _core.RelaxationOptions().optimiser = value  # type: ignore[assignment]
