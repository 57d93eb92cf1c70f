"""Which pairs to believe, checked on poses that are known."""

from __future__ import annotations

import numpy as np
import pytest
from motions import random_motion

from clipperplus.geometry.poses import inverse
from clipperplus.mapping.beliefs import Union, believe, join_again, standing, unions_without
from clipperplus.mapping.links import Link, are_connected
from clipperplus.mapping.places import Places, Suggestions, _mean_squares
from clipperplus.pairs.order import one_after_the_other

VOXEL = 0.05
CORNERS = np.concatenate((np.zeros((1, 3)), np.eye(3), -np.eye(3)))


def poses_of(count: int, seed: int = 0) -> np.ndarray:
    random = np.random.default_rng(seed)
    return np.array([random_motion(random) for _ in range(count)])


def places_for(count: int) -> Places:
    return Places(np.tile(CORNERS, (count, 1, 1)), VOXEL)


def suggest(poses: np.ndarray, rows: list[tuple[int, int, float, bool]], seed: int = 1) -> Suggestions:
    """Make suggestions (source, target, weight, whether right); those of one pair belong to one relation."""
    random = np.random.default_rng(seed)
    relations: dict[tuple[int, int], int] = {}
    motions = [(inverse(poses[[b]]) @ poses[[a]])[0] if right else random_motion(random) for a, b, _, right in rows]
    numbers = [relations.setdefault((a, b), len(relations)) for a, b, *_ in rows]
    return Suggestions(
        np.array(numbers),
        np.array([row[0] for row in rows]),
        np.array([row[1] for row in rows]),
        np.array(motions).reshape(-1, 4, 4),
        np.array([row[2] for row in rows]),
    )


def errors(beliefs, poses: np.ndarray) -> float:
    """Return by how much relative poses within places are off, at most."""
    worst = 0.0
    for a in range(len(poses)):
        for b in range(len(poses)):
            if beliefs.labels[a] == beliefs.labels[b]:
                found = inverse(beliefs.poses[[b]]) @ beliefs.poses[[a]]
                worst = max(worst, float(np.abs(found - inverse(poses[[b]]) @ poses[[a]]).max()))
    return worst


def test_a_chain_of_right_pairs_is_one_place() -> None:
    poses = poses_of(6)
    beliefs = believe(places_for(6), suggest(poses, [(k, k + 1, 3.0, True) for k in range(5)]))
    assert (beliefs.labels == 0).all()
    assert errors(beliefs, poses) < 1e-9
    assert beliefs.believed.all()
    assert beliefs.proven


def test_a_wrong_pair_is_outvoted_by_two_that_agree() -> None:
    poses = poses_of(3)
    rows = [(0, 1, 5.0, True), (1, 2, 1.0, True), (0, 2, 1.0, True)]
    strong_lie = suggest(poses, [*rows, (1, 2, 2.5, False)])
    beliefs = believe(places_for(3), strong_lie)
    assert (beliefs.labels == 0).all()
    assert errors(beliefs, poses) < 1e-9
    assert beliefs.believed.tolist() == [True, True, True, False]


def test_an_alternative_that_agrees_is_not_lost() -> None:
    poses = poses_of(4)
    rows = [
        (0, 1, 5.0, True),
        (1, 2, 5.0, True),
        (0, 3, -1.0, False),
        (0, 3, -1.0, True),
        (1, 3, 0.5, True),
        (2, 3, 0.5, True),
    ]
    beliefs = believe(places_for(4), suggest(poses, rows))
    assert (beliefs.labels == 0).all()
    assert beliefs.believed.tolist() == [True, True, False, True, True, True]


def test_places_that_nothing_relates_stay_apart() -> None:
    poses = poses_of(4)
    beliefs = believe(places_for(4), suggest(poses, [(0, 1, 4.0, True), (2, 3, 4.0, True), (1, 2, -3.0, False)]))
    assert beliefs.labels.tolist() == [0, 0, 2, 2]
    assert len(beliefs.unions) == 2


def test_what_is_seen_decides_where_suggestions_hardly_do() -> None:
    poses = poses_of(3)
    some = suggest(poses, [(0, 1, 5.0, True), (1, 2, 1.0, True)])
    for seen, expected in ((2.0, [0, 0, 0]), (-2.0, [0, 0, 2])):
        beliefs = believe(places_for(3), some, lambda *_, seen=seen: seen)
        assert beliefs.labels.tolist() == expected


def test_numbers_of_the_scans_do_not_matter() -> None:
    random = np.random.default_rng(5)
    poses = poses_of(12)
    rows = [
        (a, b, float(random.uniform(0.5, 4.0)), True)
        for a in range(12)
        for b in range(a + 1, 12)
        if random.random() < 0.4
    ]
    rows += [(a, b, -0.5, False) for a, b, *_ in rows[::3]]
    order = random.permutation(12)
    new = np.argsort(order)
    plain = believe(places_for(12), suggest(poses, rows))
    some = suggest(poses, rows)
    moved = Suggestions(some.relation, new[some.source], new[some.target], some.motions, some.weights)
    other = believe(places_for(12), moved)
    same = plain.labels[:, None] == plain.labels
    assert (same == (other.labels[new][:, None] == other.labels[new])).all()
    assert errors(plain, poses) < 1e-9


def test_hops_are_shortest_chains() -> None:
    places = places_for(5)
    poses = poses_of(5)
    places.labels[:] = 0
    places.settle(np.arange(5), poses, np.array([(0, 1), (1, 2), (2, 3), (3, 4), (0, 4)]))
    assert places.hops[0, 3] == 2.0
    assert places.hops[0, 2] == 2.0
    assert (places.hops == places.hops.T).all()


@pytest.mark.parametrize("share", [0.1, 0.3])
def test_wrong_suggestions_among_many_are_found(share: float) -> None:
    random = np.random.default_rng(7)
    poses = poses_of(25, 3)
    rows = []
    for a in range(25):
        for b in range(a + 1, min(25, a + 6)):
            right = random.random() > share
            rows.append((a, b, float(random.normal(2.0 if right else 0.0, 1.0)), right))
    some = suggest(poses, rows)
    beliefs = believe(places_for(25), some)
    assert (beliefs.labels == 0).all()
    assert errors(beliefs, poses) < 1e-9
    assert beliefs.believed.tolist() == [row[3] for row in rows]


def test_distances_by_products_are_those_of_the_points() -> None:
    random = np.random.default_rng(8)
    for far in (0.0, 1e5):
        motions, points = poses_of(9, seed=4), random.normal(size=(9, 7, 3)) + far
        moved = np.einsum("kij,ncj->knci", motions[:, :3, :3], points) + motions[:, None, None, :3, 3]
        own = moved[np.arange(9), np.arange(9)]
        expected = ((moved - own) ** 2).sum(axis=3).mean(axis=2)
        assert np.allclose(_mean_squares(motions, points), expected, rtol=1e-9, atol=1e-6 * (1.0 + far * 1e-4))


def union_of(first: list[int], second: list[int]) -> Union:
    return Union(np.array(first), np.array(second), np.array([0]), 1.0, np.eye(4))


def test_what_was_made_of_a_wrong_union_does_not_stand() -> None:
    unions = [
        union_of([0], [1]),
        union_of([2], [3]),
        union_of([0, 1], [2, 3]),
        union_of([0, 1, 2, 3], [4]),
        union_of([5], [6]),
    ]
    groups = standing(unions, [True, True, False, True, True])
    assert [[(u.first.tolist(), u.second.tolist()) for u in group] for group in groups] == [
        [([0], [1])],
        [([2], [3])],
        [([5], [6])],
    ]
    assert [len(group) for group in standing(unions, [True] * 5)] == [4, 1]
    assert standing(unions, [False] * 5) == []


def test_unions_are_made_again_as_they_were() -> None:
    poses = poses_of(6)
    some = suggest(poses, [(k, k + 1, 3.0, True) for k in range(5)])
    places = places_for(6)
    before = places.copy()
    beliefs = believe(places, some)
    again = join_again(before, some, beliefs.unions)
    assert (again.labels == beliefs.labels).all()
    assert (again.poses == beliefs.poses).all()
    assert (before.hops == places.hops).all()


def test_places_are_undone_and_scans_taken_out() -> None:
    poses = poses_of(6)
    places = places_for(6)
    before = places.copy()
    believe(places, suggest(poses, [(0, 1, 3.0, True), (1, 2, 3.0, True), (3, 4, 3.0, True)]))
    places.take_out(0)
    assert places.labels.tolist() == [0, 1, 1, 3, 3, 5]
    assert np.isinf(places.hops[0, 1:]).all()
    assert places.hops[0, 0] == 0.0
    assert places.hops[1, 2] == 1.0
    places.undo(np.array([3, 4]), before)
    assert places.labels.tolist() == [0, 1, 1, 3, 4, 5]
    assert (places.poses[[3, 4]] == np.eye(4)).all()


def test_a_single_scan_that_fits_two_places_as_well_is_not_sure_of_either() -> None:
    poses = poses_of(11)
    first, second = ([(a, b, 5.0, True) for a in range(k, k + 5) for b in range(a + 1, k + 5)] for k in (0, 5))
    alone = believe(places_for(11), suggest(poses, [*first, *second, (0, 10, 2.0, True)]))
    assert alone.labels[10] == alone.labels[0]
    torn = believe(places_for(11), suggest(poses, [*first, *second, (0, 10, 2.0, True), (5, 10, 1.9, False)]))
    assert torn.labels[10] == 10


def test_a_scan_that_is_taken_out_is_in_no_union() -> None:
    unions = [union_of([0], [1]), union_of([0, 1], [2]), union_of([0, 1, 2], [3])]
    rest = unions_without(unions, 0)
    assert [(u.first.tolist(), u.second.tolist()) for u in rest] == [([1], [2]), ([1, 2], [3])]
    assert len(unions_without(unions, 3)) == 2


def test_scans_are_connected_by_links_or_not() -> None:
    links = [Link(a, b, np.eye(4), np.eye(6), "seen") for a, b in ((0, 1), (1, 2), (4, 5))]
    assert are_connected(np.array([0, 1, 2]), links[:2])
    assert not are_connected(np.array([0, 1, 2, 4, 5]), links)
    assert are_connected(np.array([7]), [])
    assert not are_connected(np.array([7, 8]), [])


def test_pairs_of_one_scan_come_soon_after_each_other() -> None:
    pairs = [(a, a + 1) for a in range(40)]
    shuffled = [pairs[k] for k in np.random.default_rng(0).permutation(40)]
    ordered = one_after_the_other(shuffled)
    assert ordered in (pairs, pairs[::-1])  # along the chain
    assert one_after_the_other([]) == []
