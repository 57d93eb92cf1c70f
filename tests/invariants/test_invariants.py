"""Normals, lines, planes and functions of one's own: motions do not change them, and planted problems are solved."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import clipperplus as cp
from clipperplus.invariants import (
    Custom,
    Distance,
    DistanceAndNormals,
    Invariant,
    Landmarks,
    Lines,
    LinesAndPlanes,
    Pairs,
    Planes,
)

Array = npt.NDArray[np.float64]


def random_motion(random: np.random.Generator) -> tuple[Array, Array]:
    turn, _ = np.linalg.qr(random.normal(size=(3, 3)))
    return turn * np.sign(np.linalg.det(turn)), random.uniform(-20.0, 20.0, 3)


def directions(random: np.random.Generator, n: int) -> Array:
    vectors = random.normal(size=(n, 3))
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1)[:, None])


# One problem of every kind: landmarks, how a motion moves them, and how noise changes them. ---------------------------


def moved(points: Array, vectors: Array, turn: Array, shift: Array) -> tuple[Array, Array]:
    return points @ turn.T + shift, vectors @ turn.T


def make_pair(random: np.random.Generator, n: int) -> tuple[Array, Array]:
    return random.uniform(0.0, 10.0, (n, 3)), directions(random, n)


def move_pair(given: tuple[Array, Array], turn: Array, shift: Array) -> tuple[Array, Array]:
    return moved(*given, turn, shift)


def disturb_pair(random: np.random.Generator, given: tuple[Array, Array]) -> tuple[Array, Array]:
    n = len(given[0])
    return given[0] + random.uniform(-0.004, 0.004, (n, 3)), given[1] + random.uniform(-2e-4, 2e-4, (n, 3))


def make_flats(random: np.random.Generator, n: int) -> Landmarks:
    thirds = [make_pair(random, part) for part in (n // 3, n // 3, n - 2 * (n // 3))]
    return Landmarks(points=thirds[0][0], lines=thirds[1], planes=thirds[2])


def move_flats(given: Landmarks, turn: Array, shift: Array) -> Landmarks:
    points = np.asarray(given.points) @ turn.T + shift
    return Landmarks(points, move_pair(given.lines, turn, shift), move_pair(given.planes, turn, shift))  # type: ignore[arg-type]


def disturb_flats(random: np.random.Generator, given: Landmarks) -> Landmarks:
    points = np.asarray(given.points)
    return Landmarks(
        points + random.uniform(-0.004, 0.004, points.shape),
        disturb_pair(random, given.lines),  # type: ignore[arg-type]
        disturb_pair(random, given.planes),  # type: ignore[arg-type]
    )


def make_points(random: np.random.Generator, n: int) -> Array:
    return random.uniform(0.0, 10.0, (n, 3))


def move_points(given: Array, turn: Array, shift: Array) -> Array:
    return np.asarray(given @ turn.T + shift)


def disturb_points(random: np.random.Generator, given: Array) -> Array:
    return np.asarray(given + random.uniform(-0.004, 0.004, given.shape))


Kind = tuple[Any, Callable[..., Any], Callable[..., Any], Callable[..., Any]]
KINDS: dict[str, Kind] = {
    "points": (Distance(), make_points, move_points, disturb_points),
    "normals": (DistanceAndNormals(), make_pair, move_pair, disturb_pair),
    "unoriented normals": (DistanceAndNormals(oriented=False), make_pair, move_pair, disturb_pair),
    "lines": (Lines(), make_pair, move_pair, disturb_pair),
    "planes": (Planes(angle=math.radians(0.5)), make_pair, move_pair, disturb_pair),  # most have nothing but angles
    "all": (LinesAndPlanes(), make_flats, move_flats, disturb_flats),
}


@settings(max_examples=60)
@given(st.sampled_from(list(KINDS)), st.integers(0, 2**32 - 1))
def test_a_rigid_motion_of_both_sets_gives_the_same_graph(kind: str, seed: int) -> None:
    """Pairs within rounding of a bound may change sides; there are next to none."""
    invariant, make, move, _ = KINDS[kind]
    random = np.random.default_rng(seed)
    source, target = make(random, 45), make(random, 45)
    before = cp.consistency_graph(source, target, invariant=invariant, epsilon=1.0)
    after = cp.consistency_graph(
        move(source, *random_motion(random)), move(target, *random_motion(random)), invariant=invariant, epsilon=1.0
    )
    assert np.count_nonzero(before.adjacency() != after.adjacency()) <= 2


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(5))
def test_planted_problems_with_90_percent_outliers_are_recovered_exactly(kind: str, seed: int) -> None:
    invariant, make, move, disturb = KINDS[kind]
    random = np.random.default_rng(seed)
    source = make(random, 60)
    target = move(disturb(random, source), *random_motion(random))
    right = np.column_stack((np.arange(60), np.arange(60)))[random.permutation(60)[:30]]
    wrong = random.integers(60, size=(300, 2))
    wrong = wrong[wrong[:, 0] != wrong[:, 1]]
    associations = np.unique(np.concatenate((right, wrong)), axis=0)
    inliers = np.flatnonzero(associations[:, 0] == associations[:, 1])
    assert len(inliers) / len(associations) <= 0.1
    graph = cp.consistency_graph(source, target, associations, invariant=invariant, epsilon=0.05)
    result = cp.find_clique(graph, method="exact")
    assert result.vertices.tolist() == inliers.tolist()


@pytest.mark.parametrize("kind", KINDS)
def test_the_order_of_associations_only_renumbers_the_graph(kind: str) -> None:
    invariant, make, _, _ = KINDS[kind]
    random = np.random.default_rng(7)
    source, target = make(random, 40), make(random, 40)
    pairs = random.integers(40, size=(150, 2))
    order = random.permutation(150)
    graph = cp.consistency_graph(source, target, pairs, invariant=invariant, epsilon=1.0)
    shuffled = cp.consistency_graph(source, target, pairs[order], invariant=invariant, epsilon=1.0)
    assert shuffled == graph.subgraph(order)


# What the quantities are ----------------------------------------------------------------------------------------------


def agree(invariant: Invariant, source: Any, target: Any, epsilon: float = 0.1) -> bool:
    return cp.consistency_graph(source, target, invariant=invariant, epsilon=epsilon).num_edges == 1


def test_normals_decide_where_distances_do_not() -> None:
    points = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]]
    up, tilted, down = [0.0, 0.0, 1.0], [0.0, math.sin(0.5), math.cos(0.5)], [0.0, 0.0, -1.0]
    assert agree(DistanceAndNormals(angle=0.1), (points, [up, up]), (points, [tilted, tilted]))
    assert not agree(DistanceAndNormals(angle=0.4), (points, [up, up]), (points, [up, tilted]))
    assert agree(DistanceAndNormals(angle=0.6), (points, [up, up]), (points, [up, tilted]))
    assert not agree(DistanceAndNormals(angle=0.6), (points, [up, up]), (points, [up, down]))
    assert agree(DistanceAndNormals(angle=0.6, oriented=False), (points, [up, up]), (points, [up, down]))
    far = [[0.0, 0.0, 0.0], [2.0, 0.0, 0.0]]  # another distance
    assert not agree(DistanceAndNormals(), (points, [up, up]), (far, [up, up]))


def test_lines_keep_angle_and_distance() -> None:
    x, y = [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]

    def crossing(height: float, second: list[float]) -> Any:
        return [[5.0, 0.0, 0.0], [0.0, -7.0, height]], [x, second]

    assert agree(Lines(), crossing(2.0, y), crossing(2.05, y))
    assert not agree(Lines(), crossing(2.0, y), crossing(2.2, y))
    tilted = [math.sin(0.2), math.cos(0.2), 0.0]
    assert not agree(Lines(angle=0.1), crossing(2.0, y), crossing(2.0, tilted))
    assert agree(Lines(angle=0.3), crossing(2.0, y), crossing(2.0, tilted))
    assert agree(Lines(), crossing(2.0, y), crossing(2.0, [0.0, -3.0, 0.0]))  # neither sign nor length matters
    beside = ([[0.0, 0.0, 0.0], [9.0, 3.0, 4.0]], [x, x])  # parallel, 5 apart
    assert agree(Lines(), beside, ([[1.0, 0.0, 0.0], [-6.0, 5.0, 0.0]], [x, x]))
    assert not agree(Lines(), beside, ([[1.0, 0.0, 0.0], [-6.0, 6.0, 0.0]], [x, x]))


def tilted(degrees: float) -> list[float]:
    return [math.cos(math.radians(degrees)), math.sin(math.radians(degrees)), 0.0]


@pytest.mark.parametrize("angles", [(4.99, 5.01), (5.01, 4.99), (4.9, 4.92), (5.1, 5.12), (0.0, 0.1)])
def test_lines_that_are_just_about_parallel_agree_on_either_side_of_the_bound(angles: tuple[float, float]) -> None:
    """The two formulas for the distance give different numbers; they must not be compared with each other."""

    def lines(degrees: float) -> Any:
        return [[0.0, 0.0, 0.0], [4.0, 3.0, 0.0]], [tilted(0.0), tilted(degrees)]

    assert agree(Lines(), lines(angles[0]), lines(angles[1]))


@pytest.mark.parametrize("slide", [0.0, 3.0, -10.0])
@pytest.mark.parametrize("degrees", [0.0, 1.0, 3.0, 4.9, 30.0])
def test_points_may_slide_along_their_lines_and_planes(degrees: float, slide: float) -> None:
    """Two maps do not see the same part of a wall."""
    there = [[0.0, 0.0, 0.0], [4.0, 3.0, 1.0]]
    along = np.array(tilted(degrees))
    slid = [there[0], (np.array(there[1]) + slide * along).tolist()]
    vectors = [tilted(0.0), tilted(degrees)]
    assert agree(Lines(), (there, vectors), (slid, vectors))
    normals = [[0.0, 1.0, 0.0], [-along[1], along[0], 0.0]]
    assert agree(Planes(), (there, normals), (slid, normals))
    mixed = [Landmarks(lines=([there[0]], [vectors[0]]), planes=([at], [normals[1]])) for at in (there[1], slid[1])]
    assert agree(LinesAndPlanes(), *mixed)


def test_planes_have_a_gap_only_where_they_are_parallel() -> None:
    up, side = [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]
    shelves = ([[0.0, 0.0, 0.0], [3.0, 1.0, 2.0]], [up, up])
    assert agree(Planes(), shelves, ([[5.0, 5.0, 0.0], [0.0, 0.0, 2.0]], [up, [0.0, 0.0, -1.0]]))
    assert not agree(Planes(), shelves, ([[5.0, 5.0, 0.0], [0.0, 0.0, 2.5]], [up, up]))
    corner = ([[0.0, 0.0, 0.0], [3.0, 1.0, 2.0]], [up, side])
    assert agree(Planes(), corner, ([[0.0, 0.0, 0.0], [30.0, 1.0, 2.0]], [up, side]))
    assert not agree(Planes(), corner, shelves)


def test_points_lines_and_planes_together() -> None:
    up, along = [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]

    def scene(height: float, offset: float) -> Landmarks:
        """A point above a plane, and a line beside them."""
        return Landmarks([[0.0, 0.0, height]], ([[4.0, offset, 0.5]], [along]), ([[7.0, 7.0, 0.0]], [up]))

    def edges(source: Landmarks, target: Landmarks) -> list[list[int]]:
        return cp.consistency_graph(source, target, invariant=LinesAndPlanes(), epsilon=0.1).edges().tolist()

    assert edges(scene(1.0, 2.0), scene(1.05, 2.0)) == [[0, 1], [0, 2], [1, 2]]
    assert edges(scene(1.0, 2.0), scene(1.3, 2.0)) == [[0, 1], [1, 2]]  # another height above the plane
    assert edges(scene(1.0, 2.0), scene(1.0, 2.3)) == [[0, 2], [1, 2]]  # another distance to the line


def test_associations_of_different_kinds_agree_with_nothing() -> None:
    random = np.random.default_rng(0)
    landmarks = make_flats(random, 9)
    pairs = [[0, 0], [1, 1], [0, 4], [4, 4], [5, 7], [7, 7]]
    graph = cp.consistency_graph(landmarks, landmarks, pairs, invariant=LinesAndPlanes(), epsilon=0.1)
    assert graph.degrees()[[2, 4]].tolist() == [0, 0]
    assert graph.has_edge(0, 1)
    assert graph.has_edge(3, 5)


# Functions of one's own -----------------------------------------------------------------------------------------------


def time_gap(source: Any, target: Any, first: Pairs, second: Pairs) -> Array:
    """Events keep the time between them."""
    return np.abs((source[first.source] - source[second.source]) - (target[first.target] - target[second.target]))


def test_a_custom_function_is_asked_about_every_pair_once() -> None:
    random = np.random.default_rng(1)
    source, target = random.uniform(0.0, 100.0, (2, 900))
    asked: list[tuple[int, int]] = []

    def residual(a: Any, b: Any, first: Pairs, second: Pairs) -> Array:
        asked.extend(zip(first.association.tolist(), second.association.tolist(), strict=True))
        return time_gap(a, b, first, second)

    graph = cp.consistency_graph(source, target, invariant=Custom(residual, 2.0))
    gaps = np.abs((source[:, None] - source) - (target[:, None] - target))
    assert np.array_equal(graph.adjacency(), (gaps < 2.0) & ~np.eye(900, dtype=bool))
    assert sorted(asked) == [(i, j) for i in range(900) for j in range(i + 1, 900)]


def test_a_class_of_ones_own_is_an_invariant_like_ours() -> None:
    class Order:
        """Associations that do not cross."""

        def landmarks(self, name: str, given: Any) -> Any:
            return np.asarray(given)

        def residuals(self, source: Any, target: Any, first: Pairs, second: Pairs, epsilon: Array) -> Array:
            same = (source[first.source] < source[second.source]) == (target[first.target] < target[second.target])
            return np.where(same, 0.0, 2.0)

    assert isinstance(Order(), Invariant)
    source, target = np.arange(6), np.array([0, 1, 5, 2, 3, 4])
    graph = cp.consistency_graph(source, target, invariant=Order())
    assert cp.find_clique(graph).vertices.tolist() == [0, 1, 3, 4, 5]  # the longest increasing subsequence
    weights = cp.consistency_weights(source, target, invariant=Order())
    assert np.array_equal(weights.toarray() > 0, graph.adjacency())


def test_a_subclass_with_its_own_rule_is_asked() -> None:
    class Never(Distance):
        def residuals(self, source: Any, target: Any, first: Pairs, second: Pairs, epsilon: Array) -> Array:
            return np.full(len(epsilon), 2.0)

    points = np.random.default_rng(0).random((20, 3))
    assert cp.consistency_graph(points, points, invariant=Distance()).density == 1.0
    assert cp.consistency_graph(points, points, invariant=Never()).num_edges == 0


def test_scores_of_a_custom_function_are_in_its_own_unit() -> None:
    times = np.array([0.0, 1.0]), np.array([0.0, 1.5])
    weights = cp.consistency_weights(*times, invariant=Custom(time_gap, 2.0), sigma=0.5)
    assert weights[0, 1] == pytest.approx(math.exp(-0.5))


def test_numbers_that_overflow_are_not_consistent() -> None:
    huge = Landmarks([[0.0, 0.0, 0.0], [1e200, 0.0, 0.0]])
    assert cp.consistency_graph(huge, huge, invariant=LinesAndPlanes()).num_edges == 0


def test_distance_as_a_custom_function_gives_the_graph_of_distance() -> None:
    random = np.random.default_rng(2)
    source, target = random.uniform(0.0, 1.0, (2, 150, 3))
    pairs = random.integers(150, size=(300, 2))

    def residual(a: Any, b: Any, first: Pairs, second: Pairs) -> Array:
        one = np.linalg.norm(a[first.source] - a[second.source], axis=1)
        other = np.linalg.norm(b[first.target] - b[second.target], axis=1)
        return np.abs(one - other)

    expected = cp.consistency_graph(source, target, pairs, epsilon=0.1, invariant=Distance())
    assert cp.consistency_graph(source, target, pairs, invariant=Custom(residual, 0.1)) == expected
    few = cp.consistency_graph(source, target, pairs, invariant=Custom(residual, 0.1), min_clique_size=20)
    assert few == cp.consistency_graph(source, target, pairs, epsilon=0.1, min_clique_size=20)


def test_what_a_custom_function_raises_is_passed_on_and_nonsense_is_refused() -> None:
    def broken(*_: Any) -> Any:
        raise RuntimeError("no idea")

    with pytest.raises(RuntimeError, match="no idea"):
        cp.consistency_graph([1, 2], [1, 2], invariant=Custom(broken, 1.0))
    with pytest.raises(cp.OptionError, match=r"invariant: expected one residual per pair, shape \(1,\), got \(3,\)"):
        cp.consistency_graph([1, 2], [1, 2], invariant=Custom(lambda *_: [1.0, 2.0, 3.0], 1.0))
    nothing = cp.consistency_graph([1, 2], [1, 2], invariant=Custom(lambda *_: [np.nan], 1.0))
    assert nothing.num_edges == 0
    for nonsense in (["a"], [[1.0], [1.0, 2.0]], [1j], np.ma.masked_all(1), None):
        with pytest.raises(cp.OptionError, match="invariant: expected"):
            cp.consistency_graph([1, 2], [1, 2], invariant=Custom(lambda *_, value=nonsense: value, 1.0))


def test_a_custom_function_is_not_called_for_nothing_and_cannot_change_the_pairs() -> None:
    assert cp.consistency_graph([1], [1], invariant=Custom(lambda *_: 1 / 0, 1.0)).num_edges == 0

    def scribble(a: Any, b: Any, first: Pairs, second: Pairs) -> Any:
        first.association[:] = 0

    with pytest.raises(ValueError, match="read-only"):
        cp.consistency_graph([1, 2, 3], [1, 2, 3], invariant=Custom(scribble, 1.0))


# Wrong input ----------------------------------------------------------------------------------------------------------

PAIR = (np.zeros((2, 3)), np.ones((2, 3)))


@pytest.mark.parametrize(
    ("invariant", "given", "message"),
    [
        (DistanceAndNormals(), np.zeros((2, 3)), r"source: expected a pair \(points, normals\), got ndarray"),
        (DistanceAndNormals(), (np.zeros((2, 3)), np.ones((3, 3))), "source normals: expected as many as there are"),
        (DistanceAndNormals(), (np.zeros((2, 3)), np.zeros((2, 3))), "source normals: vector 0 is zero"),
        (DistanceAndNormals(), (np.zeros((2, 2)), np.ones((2, 3))), r"source: expected points of shape \(n, 3\)"),
        (Lines(), PAIR[0], r"source: expected a pair \(points, directions\)"),
        (Lines(), (PAIR[0], np.full((2, 3), np.nan)), "source directions: point 0 is"),
        (Planes(), (PAIR[0],), r"source: expected a pair \(points, normals\)"),
        (LinesAndPlanes(), PAIR, "source: expected clipperplus.invariants.Landmarks, got tuple"),
        (LinesAndPlanes(), Landmarks(lines=PAIR[0]), "source lines: expected a pair"),
        (LinesAndPlanes(), Landmarks(points=np.zeros((3, 2))), r"source: expected points of shape \(n, 3\)"),
        (Custom(time_gap, 1.0), 5, "source: expected landmarks with a length, got int"),
    ],
)
def test_wrong_landmarks_are_refused(invariant: Invariant, given: Any, message: str) -> None:
    with pytest.raises(cp.LandmarkError, match=message):
        cp.consistency_graph(given, given, invariant=invariant)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: DistanceAndNormals(angle=0.0), "angle: expected"),
        (lambda: DistanceAndNormals(oriented="yes"), "oriented: expected True or False"),  # type: ignore[arg-type]
        (lambda: Lines(angle=-1.0), "angle: expected"),
        (lambda: Planes(parallel=4.0), "parallel: expected"),
        (lambda: LinesAndPlanes(angle=float("nan")), "angle: expected"),
        (lambda: Custom(3, 1.0), "residual: expected a function, got int"),  # type: ignore[arg-type]
        (lambda: Custom(time_gap, 0.0), "threshold: expected"),
    ],
)
def test_wrong_bounds_are_refused(make: Callable[[], object], message: str) -> None:
    with pytest.raises(cp.OptionError, match=message):
        make()


def test_landmarks_without_anything_are_an_empty_graph() -> None:
    assert cp.consistency_graph(Landmarks(), Landmarks(), invariant=LinesAndPlanes()).num_vertices == 0
    empty = np.empty((0, 3))
    for invariant in (DistanceAndNormals(), Lines(), Planes()):
        assert cp.consistency_graph((empty, empty), (empty, empty), invariant=invariant).num_vertices == 0


@pytest.mark.parametrize("found", [None, 5, iter(())])
@pytest.mark.parametrize("arity", [2, 3])
def test_landmarks_that_have_no_length_are_refused(arity: int, found: Any) -> None:
    class Forgetful:
        def __init__(self) -> None:
            self.arity = arity

        def landmarks(self, name: str, given: Any) -> Any:
            return found

        def residuals(self, *_: Any) -> Any:
            raise AssertionError("there is nothing to compare")

        group_residuals = residuals

    kind = type(found).__name__
    with pytest.raises(cp.OptionError, match=rf"invariant: expected landmarks that have a length .*, got {kind}"):
        cp.consistency_graph(np.zeros((5, 3)), np.zeros((5, 3)), invariant=Forgetful())
