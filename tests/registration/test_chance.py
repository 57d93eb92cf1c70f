"""Random matches are not believed, and how many of them agree by chance is what is said."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import combinations

import numpy as np
import numpy.typing as npt
import pytest
from motions import move, planted, random_motion

import clipperplus as cp
from clipperplus import Status
from clipperplus.registration.chance import expected_by_chance

Array = npt.NDArray[np.float64]


def cube(random: np.random.Generator, n: int) -> Array:
    return random.uniform(0.0, 10.0, (n, 3))


def plane(random: np.random.Generator, n: int) -> Array:
    return cube(random, n) * [1.0, 1.0, 0.0]


def rod(random: np.random.Generator, n: int) -> Array:
    return cube(random, n) * [1.0, 0.05, 0.05]


def line(random: np.random.Generator, n: int) -> Array:
    return cube(random, n) * [1.0, 0.0, 0.0]


def clusters(random: np.random.Generator, n: int) -> Array:
    return cube(random, 6)[random.integers(0, 6, n)] + random.normal(0.0, 0.2, (n, 3))


def lattice(random: np.random.Generator, n: int) -> Array:
    return 1.25 * random.integers(0, 8, (n, 3)) + random.normal(0.0, 0.01, (n, 3))


SHAPES = [cube, plane, rod, line, clusters, lattice]
Shape = Callable[[np.random.Generator, int], Array]


def test_random_matches_are_not_believed() -> None:
    """At most one in 200, over shapes, numbers of matches, and epsilons at which some agree."""
    sizes = ((5, (0.3, 1.0)), (10, (0.1, 0.6)), (20, (0.05, 0.3, 0.6)), (60, (0.02, 0.2)), (200, (0.02, 0.1)))
    cases = [(shape, n, epsilon) for shape in SHAPES for n, epsilons in sizes for epsilon in epsilons]
    tries, believed = 0, 0
    for shape, n, epsilon in cases:
        for seed in range(20):
            random = np.random.default_rng([seed, n])
            pose = cp.solve(shape(random, n), shape(random, n), epsilon=epsilon, max_alternatives=1)
            tries += 1
            believed += pose.status is Status.OK
    assert tries == 1320
    assert believed <= tries / 200


def test_thousands_of_random_matches_are_not_believed() -> None:
    for seed, (n, epsilon) in enumerate([(1000, 0.05), (1000, 0.1), (3000, 0.02), (5000, 0.02)]):
        random = np.random.default_rng(seed)
        pose = cp.solve(cube(random, n), cube(random, n), epsilon=epsilon, max_alternatives=1, time_limit=2.0)
        assert pose.status is not Status.OK


def test_twenty_random_matches_in_a_cube() -> None:
    """Cliques of three, of which one in four was believed."""
    for seed in range(100):
        random = np.random.default_rng(seed)
        pose = cp.solve(cube(random, 20), cube(random, 20), epsilon=0.3)
        assert pose.status is not Status.OK
        if pose.T_target_source is not None:
            assert "chance" in [reason.kind for reason in pose.reasons]
            assert pose.confidence < 0.5


def count_consistent(source: Array, target: Array, epsilon: float, size: int) -> int:
    """How many sets of so many matches keep all their distances: by trying them."""
    a, b = (np.linalg.norm(points[:, None] - points, axis=2) for points in (source, target))
    agree = np.abs(a - b) < epsilon
    return sum(all(agree[i, j] for i, j in combinations(some, 2)) for some in combinations(range(len(source)), size))


@pytest.mark.parametrize(
    ("size", "shape", "epsilon"),
    [
        (3, cube, 0.6),
        (3, plane, 0.4),
        (3, clusters, 0.4),
        (3, line, 0.15),
        (4, cube, 1.2),
        (4, plane, 0.9),
        (4, clusters, 0.9),
        (4, line, 0.4),
    ],
)
def test_the_expected_number_is_the_mean_of_many_tries(size: int, shape: Shape, epsilon: float) -> None:
    """Within a factor of six, for shapes whose numbers differ by more at the same density."""
    n, found, expected = 16, [], []
    for seed in range(100):
        random = np.random.default_rng([seed, size])
        source, target = shape(random, n), shape(random, n)
        found.append(count_consistent(source, target, epsilon, size))
        pose = cp.solve(source, target, epsilon=epsilon, max_alternatives=0)
        if pose.clique.size == size and pose.evidence.chance is not None:
            expected.append(pose.evidence.chance)
    assert len(expected) > 10
    assert abs(np.median(expected) - math.log(np.mean(found))) < math.log(6.0)


def test_larger_sets_are_less_likely_by_chance_and_copies_count_once() -> None:
    random = np.random.default_rng(0)
    source, target = cube(random, 50), cube(random, 50)
    target[:12] = source[:12]
    values = [expected_by_chance(source, target, np.arange(size), 0.1) for size in range(3, 13)]
    assert (np.diff(values) <= 0.0).all()
    assert (np.diff(values[:4]) < -4.0).all()
    copies = np.concatenate((np.arange(4), np.zeros(8, dtype=np.int64)))
    assert expected_by_chance(source, target, copies, 0.1) == values[1]
    wider = [expected_by_chance(source, target, np.arange(5), epsilon) for epsilon in (0.05, 0.1, 0.2, 0.4)]
    assert (np.diff(wider) > 0.0).all()


def test_copies_of_random_matches_are_not_believed() -> None:
    """Each of 20 matches ten times, as points of their own: cliques of thirty."""
    for seed in range(50):
        random = np.random.default_rng(seed)
        source, target = (np.repeat(cube(random, 20), 10, axis=0) for _ in range(2))
        assert cp.solve(source, target, epsilon=0.3).status is not Status.OK


@pytest.mark.parametrize("n", [4, 5, 6])
def test_a_few_markers_that_all_agree_are_believed(n: int) -> None:
    """As surveyors use them: known to millimetres, metres apart."""
    for seed in range(20):
        random = np.random.default_rng(seed)
        source, motion = random.uniform(0.0, 20.0, (n, 3)), random_motion(seed)
        pose = cp.solve(source, move(motion, source) + random.normal(0.0, 0.001, (n, 3)), epsilon=0.01)
        assert pose.evidence.chance is not None
        assert pose.evidence.chance < math.log(0.005)
        assert pose.status is Status.OK


def test_a_rule_of_ones_own_does_not_hide_chance() -> None:
    """A rule that lets everything agree gives a large clique, of which hardly anything fits the transform."""
    random = np.random.default_rng(4)
    rule = cp.invariants.Custom(lambda *_: np.zeros(len(_[2].source)), threshold=1.0)
    pose = cp.solve(cube(random, 60), cube(random, 60), epsilon=0.1, invariant=rule)
    assert pose.clique.size == 60
    assert pose.status is not Status.OK
    assert pose.confidence < 0.1


def test_the_chance_of_right_matches_is_small() -> None:
    source, target, _ = planted(20, 400, seed=3)
    pose = cp.solve(source, target, epsilon=0.02)
    assert pose.status is Status.OK
    assert pose.evidence.chance is not None
    assert pose.evidence.chance < -20.0
