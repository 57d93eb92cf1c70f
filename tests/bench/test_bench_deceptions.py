"""The zoo of deceptions: the same by number, finite, with truths that are true and places that are alike."""

from __future__ import annotations

import functools
import math
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from deceptions import Row, attempt, kinds_table, totals_table
from motions import move, random_motion
from scipy.spatial import cKDTree

import clipperplus as cp
from clipperplus.bench.deceptions import KINDS, Deception, Kind, alike, honest, scenes, traffic
from clipperplus.bench.deceptions.changed import mirrored
from clipperplus.errors import OptionError
from clipperplus.synthetic.ray_casting import Scene, Shape

Array = npt.NDArray[np.float64]

GENERATED = [name for name, kind in KINDS.items() if not kind.needs_data]
REAL = [name for name, kind in KINDS.items() if kind.needs_data]
NO_TRUTH = ("noise", "scaled", "mirrored", "other ", "chance", "reflected")
"""With what the names of kinds begin that no answer is right for."""
APART = {"coplanar walls", "stairwell"}
"""Kinds whose scans may share little or nothing."""


@functools.cache
def first_of(name: str, data: Path | None = None) -> Deception:
    return KINDS[name].number(0, data)


def shared(made: Deception, motion: Array) -> float:
    """Return the share of the source that a motion brings near the target: within 1 % of its size, up to 60 cm."""
    near = min(0.01 * np.linalg.norm(np.ptp(made.target, axis=0)), 0.6)
    distances, _ = cKDTree(made.target).query(move(motion, made.source[::7]))
    return float(np.mean(distances < near))


def check(made: Deception) -> None:
    for cloud in (made.source, made.target):
        assert cloud.shape[1:] == (3,)
        assert np.isfinite(cloud).all()
        if made.associations is None:
            assert 4_000 < len(cloud) < 170_000
    if made.associations is not None:
        assert made.associations.min() >= 0
        assert (made.associations.max(axis=0) < (len(made.source), len(made.target))).all()
    if made.truth is not None:
        assert np.allclose(made.truth[:3, :3] @ made.truth[:3, :3].T, np.eye(3), atol=1e-2)  # files are rounded
        assert np.linalg.det(made.truth[:3, :3]) > 0.9


@pytest.mark.parametrize("name", GENERATED)
def test_every_kind_makes_finite_points_and_rigid_truths(name: str) -> None:
    check(first_of(name))


@pytest.mark.parametrize("name", [name for name in GENERATED if "street" not in name or "convoy" in name])
def test_a_number_is_always_the_same_deception(name: str) -> None:
    made, again = first_of(name), KINDS[name].number(0)
    assert np.array_equal(made.source, again.source)
    assert np.array_equal(made.target, again.target)
    assert made.options == again.options


@pytest.mark.parametrize("name", ["noise", "square empty room", "chance matches", "round thing"])
def test_another_number_is_another_deception(name: str) -> None:
    made, other = first_of(name), KINDS[name].number(1)
    assert made.source.shape != other.source.shape or not np.allclose(made.source, other.source)


@pytest.mark.parametrize("name", REAL)
def test_real_scans_deceive_too(name: str, data_folder: Path) -> None:
    made = first_of(name, data_folder)
    check(made)
    if made.truth is not None:
        assert shared(made, made.truth) > 0.15


@pytest.mark.parametrize("name", REAL[:1])
def test_real_scans_need_a_folder(name: str) -> None:
    with pytest.raises(OptionError, match="data: this kind of deception needs a folder"):
        KINDS[name].number(0)


@pytest.mark.parametrize("name", [name for name in GENERATED if name not in APART and "matches" not in name])
def test_truths_bring_the_source_onto_the_target(name: str) -> None:
    made = first_of(name)
    assert (made.truth is None) == name.startswith(NO_TRUTH)
    if made.truth is not None:
        assert shared(made, made.truth) > 0.15
        assert shared(made, random_motion(3) @ made.truth) < 0.7 * shared(made, made.truth)


def test_true_matches_follow_the_truth_and_others_have_none() -> None:
    made = first_of("matches")
    assert made.truth is not None
    near = np.linalg.norm(move(made.truth, made.source) - made.target, axis=1) < 0.2
    assert 0.1 < near.mean() < 0.35
    for name in ("chance matches", "reflected matches", "scaled matches"):
        assert first_of(name).truth is None


def test_moving_a_deception_moves_its_truth() -> None:
    made, (here, there) = first_of("rooms"), (random_motion(1), random_motion(2))
    other = made.moved(here, there)
    assert made.truth is not None
    assert other.truth is not None
    expected = move(there, move(made.truth, made.source[:50]))
    assert np.allclose(move(other.truth, other.source[:50]), expected)


def test_some_clouds_stay_in_the_frame_of_their_sensor_and_some_are_moved() -> None:
    kind = Kind("still", "honest", lambda random, data: Deception(np.eye(3), np.eye(3), np.eye(4)))
    made = [kind.number(k) for k in range(60)]
    source, target = ([np.allclose(getattr(m, side), np.eye(3)) for m in made] for side in ("source", "target"))
    assert 15 < sum(source) < 35
    assert sum(target) > sum(source)
    for one in made:
        assert one.truth is not None
        assert np.allclose(move(one.truth, one.source), one.target)


def distances(points: Array) -> Array:
    return np.asarray(np.linalg.norm(np.diff(points[:200], axis=0), axis=1))


def handedness(points: Array, images: Array) -> float:
    """Return 1 if a rotation takes points to their images, and -1 if a reflection does."""
    a, b = points - points.mean(axis=0), images - images.mean(axis=0)
    left, _, right = np.linalg.svd(a.T @ b)
    return float(np.sign(np.linalg.det(left @ right)))


@pytest.mark.parametrize("name", ["mirrored room", "scaled room", "mirrored street", "scaled street"])
def test_what_was_done_to_the_source_is_what_the_name_says(name: str) -> None:
    what, place = name.split()
    recipe = honest.room if place == "room" else honest.street
    was = recipe(np.random.default_rng(5), None)
    made = KINDS[name].recipe(np.random.default_rng(5), None)
    assert np.array_equal(made.target, was.target)
    original = was.source if len(made.source) == len(was.source) else was.target
    ratio = distances(made.source) / np.maximum(distances(original), 1e-9)
    if what == "mirrored":
        assert np.allclose(ratio, 1.0)
        assert handedness(original, made.source) == -1.0
    else:
        assert min(abs(np.median(ratio) - scale) for scale in (1.05, 1.1, 1.2, 0.9)) < 1e-9
        assert handedness(original, made.source) == 1.0


def test_a_mirror_is_no_motion() -> None:
    points = np.random.default_rng(0).normal(size=(100, 3))
    assert np.allclose(distances(mirrored(points)), distances(points))
    assert handedness(points, mirrored(points)) == -1.0
    assert handedness(points, move(random_motion(0), points)) == 1.0


def test_reflected_matches_keep_all_distances_and_scaled_ones_do_not() -> None:
    for number in range(8):
        made = KINDS["reflected matches"].number(number)
        near = np.abs(distances(made.source) - distances(made.target)) < made.options["epsilon"]
        assert near.mean() > 0.2
        if near.all():  # no match is wrong
            assert handedness(made.source, made.target) == -1.0
        made = KINDS["scaled matches"].number(number)
        assert abs(np.median(distances(made.target) / distances(made.source)) - 1.0) > 0.04


def rays(count: int = 4000) -> Array:
    directions = np.random.default_rng(0).normal(size=(count, 3))
    return np.asarray(directions / np.linalg.norm(directions, axis=1)[:, None])


def alike_from(
    shapes: list[Shape], here: tuple[float, ...], shift: tuple[float, ...], turn: float, reach: float
) -> bool:
    """Whether the same is seen from two places, the second sensor turned about the vertical."""
    c, s = math.cos(turn), math.sin(turn)
    turned = rays() @ np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]])
    scene, place = Scene(shapes), np.array(here)
    first = scene.cast(place, rays(), reach).ranges
    second = scene.cast(place + shift, turned, reach).ranges
    return bool(np.mean(np.isclose(first, second, atol=1e-6)) > 0.995)  # but for rays that touch an edge


def test_places_that_are_to_look_alike_do() -> None:
    random = np.random.default_rng(1)
    assert alike_from([scenes.hall(4.0, 4.0, 3.0)], (0.0, 0.0, 1.5), (0.0, 0.0, 0.0), math.pi / 2.0, 30.0)
    assert not alike_from([scenes.hall(6.0, 4.0, 3.0)], (0.0, 0.0, 1.5), (0.0, 0.0, 0.0), math.pi / 2.0, 30.0)
    assert alike_from([scenes.hall(6.0, 4.0, 3.0)], (0.0, 0.0, 1.5), (0.0, 0.0, 0.0), math.pi, 30.0)
    corridor = scenes.corridor(random, 2.0, 2.5, 3.0)
    assert alike_from(corridor, (0.3, 0.1, 1.4), (3.0, 0.0, 0.0), 0.0, 14.0)
    assert not alike_from(corridor, (0.3, 0.1, 1.4), (1.2, 0.0, 0.0), 0.0, 14.0)
    assert alike_from(scenes.corridor(random, 2.0, 2.5, math.inf), (0.3, 0.1, 1.4), (1.2, 0.0, 0.0), 0.0, 14.0)
    assert alike_from(scenes.tunnel(random, 4.0), (0.3, 0.1, 1.4), (0.0, 7.7, 0.0), 0.0, 30.0)
    assert alike_from(scenes.shelves(random, 2.0, 2.5), (0.3, 0.1, 1.4), (2.0, 0.0, 0.0), 0.0, 12.0)
    assert alike_from(scenes.pillars(random, (5.0, 6.0), 3.0), (0.3, 0.1, 1.4), (5.0, -6.0, 0.0), 0.0, 14.0)
    assert alike_from(scenes.row_houses(random, 7.0, 8.0), (0.3, 0.1, 1.8), (7.0, 0.0, 0.0), 0.0, 30.0)
    assert alike_from(scenes.stairwell(random, 1.0, 5.5, 3.0, 1.3), (0.3, -1.7, 1.4), (0.0, 0.0, 3.0), 0.0, 5.0)


def test_in_a_convoy_the_cars_stand_still_and_the_street_does_not() -> None:
    """What is high above the ground and near the lane belongs to cars; the rest of the street moves along."""
    made = traffic._convoy_on_a_motorway(np.random.default_rng(0), None)
    cars = made.source[(made.source[:, 2] > -1.0) & (np.abs(made.source[:, 1]) < 5.0)]
    still, _ = cKDTree(made.target).query(cars)
    assert np.mean(still < 1.0) > 0.8
    assert made.truth is not None
    assert np.linalg.norm(made.truth[:3, 3]) > 2.5


def test_the_box_of_an_empty_room_is_seen_by_one_sensor_or_by_both() -> None:
    for number in range(4):
        random = np.random.default_rng(number)
        _, thing, _ = alike._boxed(np.random.default_rng(number), 1.2)
        assert math.hypot(*thing.centre[:2]) >= 0.9
        made = alike._box_in_both(random, None)
        assert made.truth is not None
        inside = ~np.isclose(np.abs(made.source), np.abs(made.source).max(axis=0), atol=0.1).any(axis=1)
        assert inside.sum() > 100


def test_a_street_without_what_is_above_the_ground_is_flat() -> None:
    made = traffic._ground_alone(np.random.default_rng(0), None)
    assert np.ptp(made.source[:, 2]) < 1.5
    assert np.ptp(made.source[:, 0]) > 30.0


def test_an_answer_is_compared_with_the_truth_in_the_middle_of_the_source() -> None:
    made = first_of("rooms")
    assert made.truth is not None
    kind = KINDS["rooms"]
    pose = made.answer()
    outcome = kind.judge(made, pose)
    off = np.mean(move(pose.T_target_source, made.source) - move(made.truth, made.source), axis=0)
    near = np.linalg.norm(off) < 0.3 and cp.rotation_error(pose.T_target_source, made.truth) < 15.0
    assert outcome.right == near
    assert made.is_right(made.truth, kind.tolerance)
    off = made.truth.copy()
    off[0, 3] += 0.31
    assert not made.is_right(off, kind.tolerance)
    assert not made.is_right(None, kind.tolerance)
    assert not first_of("noise").is_right(np.eye(4), kind.tolerance)


def test_along_open_shifts_an_answer_may_be_anywhere() -> None:
    made = first_of("smooth corridor")
    assert made.truth is not None
    tolerance = KINDS["smooth corridor"].tolerance
    along = np.array([0.6, 0.8, 0.0])
    off = made.truth.copy()
    off[:3, 3] += 3.0 * along
    assert not made.is_right(off, tolerance)
    assert made.is_right(off, tolerance, along[None])
    assert made.is_right(off, tolerance, np.array([[1.0, 0.0, 0.0], [0.0, 2.0, 0.0]]))
    assert not made.is_right(off, tolerance, np.array([[0.0, 0.0, 1.0]]))
    assert not made.is_right(off, tolerance, np.empty((0, 3)))


def answered(name: str, status: cp.Status, right: int, among: int = 0) -> Row:
    """Return a row of the benchmark."""
    kind = KINDS[name]
    about = {"kind": name, "family": kind.family, "real": int(kind.needs_data), "has_truth": 1, "milliseconds": 5.0}
    return about | {"status": status.value, "right": right, "among": among, "confidence": 0.25 if right else 0.75}


def test_the_benchmark_counts_lies_of_deceptions_and_trust_in_honest_scans() -> None:
    ok, doubt = cp.Status.OK, cp.Status.AMBIGUOUS
    rows = [
        *(answered("all cars moved", status, right) for status, right in ((ok, 0), (ok, 1), (doubt, 0), (doubt, 1))),
        *(answered("square empty room", doubt, 0, among) for among in (1, 1, 1, 0, 0)),
        answered("smooth corridor", ok, 0),  # counts as a lie; its truth is not asked for among the alternatives
        *(answered("rooms", status, right) for status, right in ((ok, 1), (doubt, 1), (doubt, 0))),
        answered("fragments", ok, 1),
    ]
    shares = [line.split("|")[2].strip() for line in totals_table(rows).splitlines()[2:]]
    assert shares == [
        "**0.250** of 4",
        "**0.833** of 6",
        "**0.600** of 5",
        "**0.500** of 2",
        "**1.000** of 1",
        "**0.000** of 4",
    ]
    cells = [cell.strip() for cell in kinds_table(rows, [KINDS["all cars moved"]]).splitlines()[2].split("|")[1:-1]]
    assert cells == ["all cars moved", "4", "**1**", "1", "2", "0", "2", "0", "0", "0", "0", "0.75", "5"]


def test_a_try_of_the_benchmark_has_outcome_and_evidence() -> None:
    row = attempt(("reflected matches", 0), None)
    again = KINDS["reflected matches"].number(0).answer()
    assert row["status"] == again.status.value
    assert row["explained"] == again.evidence.explained
    assert (row["right"], row["has_truth"], row["real"]) == (0, 0, 0)
