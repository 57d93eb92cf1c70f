"""What speaks for and against pairs and unions of places, before a map believes in them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest
from motions import random_motion

from clipperplus.clouds.prepared import PreparedCloud
from clipperplus.clouds.scan import prepare_scan
from clipperplus.mapping.grow import least_seen, seen_together, suggestions_of
from clipperplus.mapping.relations import Relation, Sighting, look_at, relate, usual_conflict, what_is_seen
from clipperplus.mapping.scans import as_scans, origin_odds, prepare_scans
from clipperplus.mapping.workbench import Workbench
from clipperplus.registration.confidence import Evidence, Status
from clipperplus.synthetic import building_scans

SCANS = building_scans(scans=6, resolution=160)
VOXEL = 0.15


def workbench(clouds: Sequence[PreparedCloud] = ()) -> Workbench:
    return Workbench(clouds, free_space=True, threads=2)


def prepared(scans: list[npt.NDArray[np.float64]]) -> list[PreparedCloud]:
    return prepare_scans(workbench(), as_scans(scans), VOXEL)


@pytest.fixture(scope="module")
def bench() -> Workbench:
    return workbench(prepared(list(SCANS.clouds)))


def relation(*, conflict: float, sure: bool = True) -> Relation:
    """Return what a registration may have said, with two motions."""
    evidence = Evidence(
        associations=500,
        explained=450 if sure else 8,
        runner_up=0.0 if sure else 0.99,
        overlap=0.95 if sure else 0.1,
        against=0.0,
        detail=0.95 if sure else 0.05,
        residual=0.1,
        conflict=conflict,
        points=3000,
        rivalry=0.0 if sure else 0.95,
        viewpoints=("origin", "origin"),
        chance=-2000.0 if sure else 0.0,
    )
    motions = np.tile(np.eye(4), (2, 1, 1))
    motions[1, 0, 3] = 1.0
    nothing = np.zeros(2)
    return Relation(0, 1, "low", Status.OK, motions, np.array([1.0, 0.5]), evidence, None, np.empty((0, 6)), nothing)


def origins(clouds: Iterable[PreparedCloud]) -> int:
    return sum(cloud.viewpoint.source == "origin" for cloud in clouds)


def test_scans_of_one_folder_share_a_custom(bench: Workbench) -> None:
    at_origin = bench.clouds[0]
    elsewhere = replace(at_origin, viewpoint=replace(at_origin.viewpoint, source="found"))
    odds = [origin_odds([at_origin] * k + [elsewhere] * (20 - k)) for k in range(21)]
    assert odds == sorted(odds)
    assert odds[2] < 0.0 < odds[10]
    assert origin_odds([replace(at_origin, viewpoint=replace(at_origin.viewpoint, source="told"))]) == origin_odds([])


def test_the_custom_of_a_folder_decides_where_a_scan_leaves_it_open() -> None:
    (scan, beside) = as_scans([SCANS.clouds[0], SCANS.clouds[0] + (0.6, 0.4, 0.2)])
    assert prepare_scan(scan, VOXEL).viewpoint.source == "origin"
    assert prepare_scan(scan, VOXEL, -20.0).viewpoint.source == "found"
    assert prepare_scan(beside, VOXEL, 20.0).viewpoint.source == "origin"
    assert origins(prepared(list(SCANS.clouds))) == len(SCANS.clouds)


def test_what_is_told_of_a_sensor_is_kept() -> None:
    class Told:
        points = SCANS.clouds[0] + 3.0
        viewpoint = np.full(3, 3.0)

    clouds = prepare_scans(workbench(), as_scans([Told(), *SCANS.clouds[1:4]]), VOXEL)
    assert clouds[0].viewpoint.source == "told"
    assert (clouds[0].viewpoint.place == 3.0).all()


def test_usual_conflict_leaves_twin_rooms_out() -> None:
    clean = [relation(conflict=0.001) for _ in range(20)]
    twins = [relation(conflict=0.06) for _ in range(12)]
    assert min(one.confidence(0.5) for one in (*clean, *twins)) > 0.95
    assert usual_conflict([*clean, *twins]) == usual_conflict(clean)
    bent = [relation(conflict=0.003) for _ in range(8)]
    assert usual_conflict(bent) > usual_conflict(clean)
    assert usual_conflict([relation(conflict=0.02) for _ in range(8)]) <= 0.02
    assert usual_conflict([]) == 0.02


def test_conflicts_say_nothing_where_most_pairs_that_are_certain_have_them() -> None:
    """So it is with an object that turns before a sensor: what is free is not what it seems."""
    many = [relation(conflict=0.06) for _ in range(10)]
    assert usual_conflict(many) >= 1.0
    assert usual_conflict(many[:4]) == 0.02  # too few to say so


def test_alternatives_of_pairs_that_hardly_overlap_say_little() -> None:
    doubtful = relation(conflict=0.0, sure=False)
    rare, likely = (suggestions_of([doubtful], [prior], 0.01).weights for prior in (0.02, 0.6))
    assert rare[1] < -5.0
    assert likely[1] > -3.5


def test_conflict_beyond_what_is_usual_speaks_against_an_answer() -> None:
    weights = [suggestions_of([relation(conflict=conflict)], [0.5], 0.01).weights[0] for conflict in (0.0, 0.01, 0.04)]
    assert weights[0] > weights[1] > weights[2] + 2.0


def sighting(**about: float) -> Sighting:
    return Sighting(
        **{
            "motion": np.eye(4),
            "shift": 0.0,
            "is_improved": True,
            "overlap": 0.5,
            "against": 0.0,
            "detail": 0.5,
            "residual": 0.3,
            "conflict": 0.0,
            "back_to_back": 0.0,
            "usual_conflict": 0.005,
            **about,
        }  # type: ignore[arg-type]
    )


def test_what_is_seen_of_a_pair_is_judged_by_what_is_usual() -> None:
    clean = sighting()
    assert clean.support == 2.0
    assert sighting(conflict=0.01).support == clean.support
    assert sighting(conflict=0.04).support < 0.0
    assert replace(sighting(conflict=0.04), usual_conflict=0.02).support == clean.support
    assert sighting(back_to_back=1.0).support < -3.0
    assert sighting(overlap=0.0).support == 0.0
    assert clean.support > sighting(shift=6.0).support > sighting(shift=12.0).support == 0.0  # ICP moved it away
    assert sighting(shift=12.0, is_improved=False).support == clean.support


def test_icp_that_leads_astray_is_not_believed(bench: Workbench) -> None:
    """Wherever ICP ends, what is seen is at least as good as where the map puts the scans."""
    for source, target in ((0, 1), (1, 4), (2, 5), (0, 5)):
        truth = np.linalg.inv(SCANS.poses[target]) @ SCANS.poses[source]
        both = look_at(bench.clouds[source], bench.clouds[target], truth, free_space=True)
        seen = what_is_seen(both, usual_conflict=0.01)
        assert seen.support >= -0.5
        if not seen.is_improved:
            assert (seen.motion == truth).all()


def test_many_pairs_say_no_more_than_some() -> None:
    assert seen_together([]) == 0.0
    assert seen_together([2.0]) == 1.0
    assert seen_together([2.0] * 50) == seen_together([2.0] * 16) == 6.0
    assert math.isclose(seen_together([-6.0] * 100), seen_together([-6.0] * 16))
    assert seen_together([-6.0] * 16, least=-3.0) == -3.0
    assert seen_together([2.0] * 8 + [0.05] * 50) >= seen_together([2.0] * 8) - 0.1  # those show nothing


def test_one_sensor_at_a_wrong_place_explains_all_conflicts_of_its_scan(bench: Workbench) -> None:
    assert least_seen(bench, [0], [1, 2]) == -np.inf  # they were seen from their origins
    random = np.random.default_rng(5)
    motion = random_motion(random)
    lost = workbench(prepared([cloud @ motion[:3, :3].T + motion[:3, 3] for cloud in SCANS.clouds[:3]]))
    assert least_seen(lost, [0], [1, 2]) == least_seen(lost, [1, 2], [0]) == -3.0
    assert least_seen(lost, [0, 1], [2, 2]) == -np.inf


def test_a_registration_between_neighbours_is_right(bench: Workbench) -> None:
    found = relate(bench.clouds[0], bench.clouds[1], "low", free_space=True)
    truth = np.linalg.inv(SCANS.poses[1]) @ SCANS.poses[0]
    assert len(found.motions)
    assert np.abs(found.motions[0] - truth).max() < VOXEL
    assert found.back_to_back[0] < 0.5
