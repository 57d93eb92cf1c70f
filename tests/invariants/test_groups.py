"""Groups of matches: the graph is what all groups say, in bounded work, and planted problems are solved."""

from __future__ import annotations

import itertools
import math
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pinholes import INTRINSICS, joined_by_all_triples, simulate

import clipperplus as cp
from clipperplus.invariants import (
    CameraReprojection,
    Distance,
    DistanceRatios,
    GroupInvariant,
    GroupSampling,
    Invariant,
    Pairs,
)

Array = npt.NDArray[np.float64]


def scaled_problem(seed: int, count: int, outliers: float, scale: float) -> tuple[Array, Array, npt.NDArray[np.int64]]:
    """Points, the same turned, shifted and scaled with noise below 5 cm, and which of them are not random instead."""
    random = np.random.default_rng(seed)
    turn, _ = np.linalg.qr(random.normal(size=(3, 3)))
    source = random.uniform(0.0, 10.0, (count, 3))
    target = random.uniform(0.0, 10.0 * scale, (count, 3))
    right = np.sort(random.permutation(count)[: round((1.0 - outliers) * count)])
    noise = random.uniform(-0.03, 0.03, (len(right), 3)) * scale
    target[right] = scale * source[right] @ turn.T + 5.0 + noise
    return source, target, right


def edges_of(graph: cp.Graph) -> set[tuple[int, int]]:
    return set(map(tuple, graph.edges().tolist()))


def ratio_pairs(source: Array, target: Array, epsilon: float, least: int) -> set[tuple[int, int]]:
    """All triples, one after the other, by the definition."""
    times: dict[tuple[int, int], int] = {}
    for three in itertools.combinations(range(len(source)), 3):
        sides = list(itertools.combinations(three, 2))
        a = np.array([math.dist(source[i], source[j]) for i, j in sides])
        b = np.array([math.dist(target[i], target[j]) for i, j in sides])
        (scale,), *_ = np.linalg.lstsq(a[:, None], b, rcond=None)
        if b.max() >= 10.0 * epsilon and np.abs(b - scale * a).max() < epsilon:
            for pair in sides:
                times[pair] = times.get(pair, 0) + 1
    return {pair for pair, count in times.items() if count >= least}


@given(st.integers(0, 2**32), st.integers(3, 16), st.sampled_from([1, 2, 4]))
@settings(max_examples=25, deadline=None)
def test_ratios_of_all_triples_make_the_graph(seed: int, count: int, least: int) -> None:
    source, target, _ = scaled_problem(seed, count, 0.4, 2.5)
    graph = cp.consistency_graph(
        source, target, invariant=DistanceRatios(), epsilon=0.5, groups=GroupSampling(min_groups=least)
    )
    assert edges_of(graph) == ratio_pairs(source, target, 0.5, least)


@given(st.integers(0, 2**32), st.integers(4, 11), st.sampled_from([1, 2, 5]))
@settings(max_examples=15, deadline=None)
def test_poses_of_all_triples_make_the_graph_of_a_camera(seed: int, count: int, least: int) -> None:
    seen = simulate(seed, count, 0.3, noise=0.5)
    camera = CameraReprojection(INTRINSICS)
    graph = cp.consistency_graph(
        seen.points, seen.pixels, invariant=camera, epsilon=4.0, groups=GroupSampling(min_groups=least)
    )
    assert edges_of(graph) == joined_by_all_triples(seen, 4.0, least)


@pytest.mark.parametrize("scale", [0.1, 1.0, 10.0])
def test_similarities_are_found_without_a_vote_on_the_scale(scale: float) -> None:
    source, target, right = scaled_problem(0, 300, 0.9, scale)
    graph = cp.consistency_graph(source, target, invariant=DistanceRatios(), epsilon=0.15 * scale)
    clique = cp.find_clique(graph)
    assert np.isin(clique.vertices, right).all()
    assert clique.size >= 0.9 * len(right)


def test_solve_takes_ratios_and_says_how_much_larger_the_target_is() -> None:
    source, target, right = scaled_problem(5, 60, 0.3, 2.0)
    pose = cp.solve(source, target, invariant=DistanceRatios(), epsilon=0.3)
    assert pose.clique.vertices.tolist() == right.tolist()
    assert pose.status is not cp.Status.OK
    with pytest.raises(cp.OptionError, match="CameraReprojection is of others"):
        cp.solve(source, target, invariant=CameraReprojection(INTRINSICS))


def test_scales_that_are_not_wanted_are_not_consistent() -> None:
    source, target, right = scaled_problem(1, 30, 0.3, 3.0)
    for bounds, size in (((0.0, math.inf), len(right)), ((2.5, 3.5), len(right)), ((4.0, 5.0), 0), ((0.0, 2.0), 0)):
        graph = cp.consistency_graph(source, target, invariant=DistanceRatios(*bounds), epsilon=0.3)
        clique = cp.find_clique(graph).vertices
        assert clique.tolist() == right.tolist() if size else len(clique) < 5


def test_the_same_seed_draws_the_same_groups_and_another_one_others() -> None:
    source, target, _ = scaled_problem(2, 200, 0.8, 2.0)
    small = GroupSampling(budget=20_000)
    graphs = [
        cp.consistency_graph(source, target, invariant=DistanceRatios(), epsilon=0.3, groups=groups, threads=threads)
        for groups, threads in ((small, 1), (small, 4), (GroupSampling(budget=20_000, seed=1), 1))
    ]
    assert edges_of(graphs[0]) == edges_of(graphs[1])
    assert edges_of(graphs[0]) != edges_of(graphs[2])


@dataclass(frozen=True)
class Counted:
    """Ratios that say how often they were asked, or four points that share a sign."""

    asked: list[int]
    arity: int = 3

    def landmarks(self, name: str, given: Any) -> Any:
        return np.asarray(given, dtype=np.float64)

    def group_residuals(self, source: Array, target: Array, members: tuple[Pairs, ...], epsilon: Array) -> Array:
        assert len(members) == self.arity
        assert all(not member.association.flags.writeable for member in members)
        self.asked.append(len(epsilon))
        if self.arity == 3:
            return DistanceRatios().group_residuals(source, target, members, epsilon)
        signs = np.array([np.sign(source[member.source, 0]) for member in members])
        return np.where((signs == signs[0]).all(axis=0), 0.0, np.inf)


def test_no_more_groups_are_asked_about_than_the_budget() -> None:
    for count, budget in ((2000, 50_000), (5000, None)):
        source, target, _ = scaled_problem(3, count, 0.9, 2.0)
        asked: list[int] = []
        start = time.perf_counter()
        groups = GroupSampling() if budget is None else GroupSampling(budget=budget)
        cp.consistency_graph(source, target, invariant=Counted(asked), epsilon=0.2, groups=groups)
        assert sum(asked) <= (4_000_000 if budget is None else budget)
        assert max(asked) <= 1 << 16
        assert time.perf_counter() - start < 60.0


def test_groups_of_four_of_ones_own_join_what_they_say() -> None:
    values = np.array([[1.0], [2.0], [-1.0], [3.0], [4.0], [-2.0], [-3.0]])
    asked: list[int] = []
    graph = cp.consistency_graph(values, values, invariant=Counted(asked, 4), groups=GroupSampling(min_groups=1))
    assert edges_of(graph) == set(itertools.combinations((0, 1, 3, 4), 2))
    assert sum(asked) == math.comb(7, 4)


def test_associations_that_share_a_landmark_are_not_joined_and_bounds_add_up() -> None:
    source, target, _ = scaled_problem(4, 12, 0.0, 2.0)
    pairs = np.array([(k, k) for k in range(12)] + [(0, 1), (1, 0)])
    graph = cp.consistency_graph(source, target, pairs, invariant=DistanceRatios(), epsilon=0.3)
    assert edges_of(graph) == set(itertools.combinations(range(12), 2))
    same = cp.consistency_graph(source, target, pairs, invariant=DistanceRatios(), epsilon=np.full(14, 0.1))
    assert edges_of(same) == edges_of(graph)
    seen = simulate(5, 12, 0.0)
    graph = cp.consistency_graph(seen.points, seen.pixels, pairs, invariant=CameraReprojection(INTRINSICS), epsilon=4.0)
    assert edges_of(graph) >= set(itertools.combinations(range(2, 12), 2))
    assert not edges_of(graph) & {(0, 12), (0, 13), (1, 12), (1, 13)}


def test_a_group_of_a_camera_agrees_where_a_fourth_is_seen_at_its_pixel() -> None:
    seen = simulate(6, 40, 0.5, noise=0.0)
    camera = CameraReprojection(tuple(INTRINSICS[[0, 1, 0, 1], [0, 1, 2, 2]]))
    groups = np.array(list(itertools.combinations(seen.right[:8].tolist(), 4)))
    wrong = np.setdiff1d(np.arange(40), seen.right)
    mixed = np.column_stack((groups[:, :3], np.resize(wrong, len(groups))))
    for some, right in ((groups, True), (mixed, False)):
        members = tuple(Pairs(column, column, column) for column in some.T)
        residuals = camera.group_residuals(seen.points, seen.pixels, members, np.full(len(some), 1.0))
        assert (residuals < 1e-3).all() if right else (residuals > 1.0).mean() > 0.9


def test_protocols_tell_pairs_from_groups() -> None:
    assert isinstance(DistanceRatios(), GroupInvariant)
    assert isinstance(CameraReprojection(INTRINSICS), GroupInvariant)
    assert not isinstance(Distance(), GroupInvariant)
    assert not isinstance(DistanceRatios(), Invariant)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"groups": GroupSampling()}, "groups: expected None, or GroupSampling for an invariant of groups"),
        ({"groups": 3, "invariant": DistanceRatios()}, "groups: expected None, or GroupSampling"),
        ({"invariant": Counted([], 5)}, "invariant arity: expected an integer from 2 to 4, got 5"),
        ({"invariant": Counted([], 2)}, "invariant: expected one of clipperplus.invariants"),
        ({"invariant": DistanceRatios(), "min_distance": 1.0}, "min_distance: DistanceRatios is not about distances"),
    ],
)
def test_wrong_settings_are_named(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(cp.OptionError, match=message):
        cp.consistency_graph(np.zeros((5, 3)), np.zeros((5, 3)), **settings)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: GroupSampling(budget=0), "budget: expected an integer from 1"),
        (lambda: GroupSampling(min_groups=0), "min_groups: expected an integer from 1"),
        (lambda: GroupSampling(seed=-1), "seed: expected an integer from 0"),
        (lambda: DistanceRatios(min_scale=-1.0), "min_scale: expected"),
        (lambda: DistanceRatios(min_scale=2.0, max_scale=1.0), "max_scale: expected"),
        (lambda: DistanceRatios(arity=4), "arity: distances of three points"),
        (lambda: CameraReprojection(INTRINSICS, arity=3), "arity: it takes four points"),
        (lambda: CameraReprojection(np.eye(2)), "intrinsics: expected"),
    ],
)
def test_wrong_fields_are_named(make: Any, message: str) -> None:
    with pytest.raises(cp.OptionError, match=message):
        make()


def test_groups_have_no_weights_and_a_camera_has_one_epsilon() -> None:
    points, pixels = np.zeros((5, 3)), np.zeros((5, 2))
    with pytest.raises(cp.OptionError, match="invariant: expected one of pairs"):
        cp.consistency_weights(points, points, invariant=DistanceRatios())  # type: ignore[arg-type]
    with pytest.raises(cp.OptionError, match="epsilon: expected one number of pixels"):
        cp.consistency_graph(points, pixels, invariant=CameraReprojection(INTRINSICS), epsilon=np.ones(5))
