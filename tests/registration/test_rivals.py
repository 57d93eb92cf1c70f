"""What else an answer could be: scenes whose symmetries, size and handedness are known."""

import numpy as np
import pytest

import clipperplus as cp
from clipperplus.registration import rivals, scrutiny
from clipperplus.registration.uncertainty import surface_information

VOXEL = 0.1


def box_surface(random: np.random.Generator, size: tuple[float, float, float], count: int) -> np.ndarray:
    """Return points on the faces of a box around the origin, as many by area."""
    half = np.array(size) / 2
    areas = np.array([size[1] * size[2], size[0] * size[2], size[0] * size[1]])
    axes = random.choice(3, count, p=areas / areas.sum())
    points = random.uniform(-half, half, (count, 3))
    points[np.arange(count), axes] = random.choice([-1.0, 1.0], count) * half[axes]
    return points


def empty_room(seed: int, size: tuple[float, float, float] = (5.0, 4.0, 2.5)) -> np.ndarray:
    random = np.random.default_rng(seed)
    return box_surface(random, size, 30_000) + random.normal(scale=0.005, size=(30_000, 3))


def furnished(seed: int) -> np.ndarray:
    """Return a room with things on one side of it, which no turn and no mirror brings onto each other."""
    random = np.random.default_rng(seed)
    things = [
        box_surface(random, size, 6000) + np.array(place)
        for size, place in (((1.5, 0.6, 0.8), (1.2, 1.5, -0.85)), ((0.5, 0.5, 1.6), (-2.0, 1.2, -0.45)))
    ]
    return np.concatenate((empty_room(seed + 100), *things))


def seen_room(seed: int, size: tuple[float, float, float] = (5.0, 4.0, 2.5)) -> np.ndarray:
    """Return an empty room as a sensor in its middle sees it, evenly in all directions."""
    rays = np.random.default_rng(seed).normal(size=(30_000, 3))
    return np.asarray(rays * (np.array(size) / 2 / np.abs(rays)).min(axis=1)[:, None])


def scrutinised(
    source: np.ndarray, target: np.ndarray, motion: np.ndarray | None = None, suggested: np.ndarray | None = None
) -> scrutiny.Scrutiny:
    clouds = [cp.prepare(points, voxel_size=VOXEL, viewpoint=(0.0, 0.0, 0.0)) for points in (source, target)]
    motion = np.eye(4) if motion is None else motion
    information = surface_information(*clouds, motion)
    none = np.empty((0, 4, 4))
    others = scrutiny.Suggested(none if suggested is None else suggested, none)
    return scrutiny.scrutinise(*clouds, motion, information, others, free_space=True, threads=1)


def moved(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return points moved, and the motion back."""
    turn = np.linalg.qr(np.random.default_rng(5).normal(size=(3, 3)))[0]
    motion = np.eye(4)
    motion[:3, :3] = turn * np.sign(np.linalg.det(turn))
    return cp.apply_transform(motion, points), np.linalg.inv(motion)


def test_an_empty_room_has_a_rival_after_half_a_turn_that_no_match_suggests() -> None:
    found = scrutinised(empty_room(0), empty_room(1)).rivals
    turns = [motion for motion, value in zip(found.motions, found.rivalry, strict=True) if value > 0.8]
    assert any(cp.rotation_error(motion, np.diag([-1.0, -1.0, 1.0, 1.0])) < 2.0 for motion in turns)
    assert all(abs(cp.rotation_error(motion, np.eye(4)) - 180.0) < 2.0 for motion in turns)


def test_furniture_on_one_side_leaves_no_rival() -> None:
    assert scrutinised(furnished(0), furnished(1)).rivals.rivalry.max(initial=0.0) < 0.5


def test_rivalry_does_not_depend_on_the_frame() -> None:
    still = scrutinised(empty_room(0), empty_room(1))
    points, back = moved(empty_room(0))
    turned = scrutinised(points, empty_room(1), back)
    assert turned.rivals.rivalry.max() == pytest.approx(still.rivals.rivalry.max(), abs=0.1)


def test_what_is_suggested_is_compared_first_and_in_order() -> None:
    aside = np.eye(4)
    aside[:3, 3] = [0.8, 0.0, 0.0]
    half = np.diag([-1.0, -1.0, 1.0, 1.0])
    found = scrutinised(empty_room(0), empty_room(1), suggested=np.array([aside, half])).rivals
    assert found.origins[:2] == ("match", "match")
    assert found.rivalry[0] < 0.5
    assert found.rivalry[1] > 0.8


def test_repeated_things_are_rivals_a_period_further() -> None:
    def row(seed: int) -> np.ndarray:
        random = np.random.default_rng(seed)
        floor = random.uniform([-6.0, -2.0, 0.0], [6.0, 2.0, 0.0], (12_000, 3))
        posts = [
            box_surface(random, (0.4, 0.4, 1.5), 1200) + np.array([x, y, 0.75])
            for x in np.arange(-5.0, 5.1, 2.0)
            for y in (-1.0, 1.0)
        ]
        return np.concatenate((floor, *posts)) + np.array([0.0, 0.0, -1.0])

    found = scrutinised(row(0), row(1)).rivals
    shifts = found.motions[np.array(found.origins) == "shift"]
    assert any(abs(np.linalg.norm(motion[:3, 3]) - 2.0) < 0.1 for motion in shifts)


@pytest.mark.parametrize("angle", [0.3, 0.7])
def test_rows_that_run_any_way_are_found_and_taken_again_and_again(angle: float) -> None:
    turn = np.array([[np.cos(angle), -np.sin(angle), 0.0], [np.sin(angle), np.cos(angle), 0.0], [0.0, 0.0, 1.0]])
    period = 1.6

    def posts(seed: int) -> np.ndarray:
        random = np.random.default_rng(seed)
        floor = random.uniform([-7.0, -7.0, 0.0], [7.0, 7.0, 0.0], (20_000, 3))
        around, height = random.uniform(0.0, 2 * np.pi, (2, 49, 500))
        circle = np.stack((0.2 * np.cos(around), 0.2 * np.sin(around), height / 4.0), axis=-1)
        rows = np.stack(np.meshgrid(*2 * [period * np.arange(-3, 4)]), axis=-1).reshape(-1, 1, 2)
        circle[..., :2] += rows
        return np.concatenate((floor, circle.reshape(-1, 3) @ turn.T))

    found = scrutinised(posts(0), posts(1)).rivals
    strong = found.motions[found.rivalry > 0.5]
    steps = strong[:, :3, 3] @ turn / period
    assert len(strong) >= 4
    assert np.abs(steps[:, :2] - steps[:, :2].round()).max() < 0.15  # whole steps along the rows, and across
    assert "repeat" in found.origins


def test_a_tunnel_is_open_along_and_around() -> None:
    def tunnel(seed: int) -> np.ndarray:
        random = np.random.default_rng(seed)
        angle, along = random.uniform(0.0, 2 * np.pi, 30_000), random.uniform(-6.0, 6.0, 30_000)
        return np.column_stack((along, 1.5 * np.cos(angle), 1.5 * np.sin(angle)))

    assert scrutinised(tunnel(0), tunnel(1)).open == 2
    assert scrutinised(furnished(0), furnished(1)).open == 0


def test_a_mirror_image_that_fits_better_is_seen() -> None:
    mirrored = furnished(0) * [-1.0, 1.0, 1.0]
    assert scrutinised(mirrored, furnished(1)).mirror > 1.5
    assert scrutinised(furnished(0), furnished(1)).mirror < 0.6


def test_a_reflection_that_matches_suggest_is_tried() -> None:
    # The answer is turned by what no main direction is: its mirror images along these are no better.
    mirrored, target = furnished(0) * [-1.0, 1.0, 1.0], furnished(1)
    turned, _ = moved(np.eye(3))
    answer = np.eye(4)
    answer[:3, :3] = turned.T
    clouds = [cp.prepare(points, voxel_size=VOXEL, viewpoint=(0.0, 0.0, 0.0)) for points in (mirrored, target)]
    information, none = surface_information(*clouds, answer), np.empty((0, 4, 4))
    found = [
        scrutiny.scrutinise(
            *clouds, answer, information, scrutiny.Suggested(none, reflections), free_space=True, threads=1
        ).mirror
        for reflections in (none, np.diag([-1.0, 1.0, 1.0, 1.0])[None])
    ]
    assert found[1] > 2.0
    assert found[1] > 2.0 * found[0]


@pytest.mark.parametrize("scale", [0.95, 1.0, 1.03])
def test_the_scale_is_fitted_with_its_deviation(scale: float) -> None:
    found = scrutinised(furnished(0), scale * furnished(1))
    assert found.scale == pytest.approx(scale, abs=0.005)
    assert found.scale_deviation < 0.01


def test_sensors_at_one_place_must_see_the_same() -> None:
    room = seen_room(0)
    assert scrutinised(room, seen_room(1)).sensor_pattern is False
    assert scrutinised(room, seen_room(1, (3.0, 6.0, 2.5))).sensor_pattern is True
    aside = np.eye(4)
    aside[:3, 3] = [1.0, 0.0, 0.0]
    assert scrutinised(room, seen_room(1), aside).sensor_pattern is None
    # Backs of things: nothing is seen from one place.
    assert scrutinised(furnished(0), furnished(1)).sensor_pattern is None


def test_peaks_are_looked_for_along_each_way() -> None:
    values = np.array([3.0, 2.0, 4.0, 4.0, 1.0, 5.0, 6.0])
    ways = np.array([0, 0, 0, 0, 0, 1, 1])
    assert scrutiny._peaks(values, ways).tolist() == [True, False, True, True, False, False, True]


def test_places_are_apart_as_the_points_are_moved() -> None:
    random = np.random.default_rng(0)
    points = random.normal(size=(80, 3))
    shifted = np.eye(4)
    shifted[:3, 3] = [0.0, 3.0, 4.0]
    places = rivals.places_of(np.array([np.eye(4), shifted]), points)
    assert np.linalg.norm(places[0] - places[1]) == pytest.approx(5.0)
