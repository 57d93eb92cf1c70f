"""Two clouds: the motion is found, and nothing but the clouds changes the answer."""

from __future__ import annotations

import functools
import pickle
import sys
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pytest
from motions import move, random_motion, same_pose
from simulated import registered_room, room, street

import clipperplus as cp
from clipperplus import Status, _core
from clipperplus.geometry.poses import inverse
from clipperplus.registration.steps import Step

Array = npt.NDArray[np.float64]


@pytest.mark.parametrize("scans", [room, functools.partial(room, 1), street])
def test_scans_are_registered_to_within_a_degree_and_a_voxel(scans: Any) -> None:
    pair = scans()
    pose = cp.register(pair.source, pair.target, min_confidence=0.0)
    assert pose.status is Status.OK
    assert cp.rotation_error(pose.T_target_source, pair.T_target_source) < 1.0
    assert cp.translation_error(pose.T_target_source, pair.T_target_source) < pose.voxel_size
    assert 0.5 * pair.overlap < pose.overlap < pair.overlap + 0.1  # sparse rays miss the other scan's voxels
    assert pose.covariance is not None
    assert np.linalg.eigvalsh(pose.covariance).min() > 0.0
    moved = move(pose.T_target_source, pose.source_points[pose.associations[:, 0]])
    assert np.allclose(pose.residuals, np.linalg.norm(moved - pose.target_points[pose.associations[:, 1]], axis=1))
    assert all(len(pose.source_points) > i >= 0 for i in pose.associations[:, 0])


def test_threads_and_repetition_do_not_change_a_bit() -> None:
    pair = room()
    for threads in (1, 2):
        again = cp.register(pair.source, pair.target, threads=threads)
        assert same_pose(again, registered_room())
        assert np.array_equal(again.T_target_source, registered_room().T_target_source)


def test_the_callback_hears_every_step_and_can_end_the_registration() -> None:
    pair = room()
    heard: list[cp.Stage] = []
    pose = cp.register(pair.source, pair.target, callback=heard.append)
    assert tuple(heard) == pose.stages
    assert same_pose(pose, registered_room())

    def stop(step: cp.Stage) -> None:
        if step.name == "matching":
            raise InterruptedError(step.name)

    with pytest.raises(InterruptedError, match="matching"):
        cp.register(pair.source, pair.target, callback=stop)
    with pytest.raises(cp.OptionError, match="callback: expected a function, got int"):
        cp.register(pair.source, pair.target, callback=3)


def test_the_graph_of_a_pose_is_that_of_its_associations() -> None:
    pose = registered_room()
    points = pose.source_points, pose.target_points
    assert pose.graph == cp.consistency_graph(*points, pose.associations, epsilon=pose.epsilon)
    assert cp.is_clique(pose.graph, pose.clique.vertices)
    assert cp.solve(*points, pose.associations, epsilon=pose.epsilon).graph == pose.graph


@pytest.mark.parametrize("seed", range(2))
def test_moving_the_clouds_and_their_sensors_moves_the_answer(seed: int) -> None:
    pair, before = room(), registered_room()
    a, b = random_motion(300 + seed, shift=20.0), random_motion(400 + seed, shift=20.0)
    after = cp.register(
        move(a, pair.source),
        move(b, pair.target),
        voxel_size=before.voxel_size,
        source_viewpoint=a[:3, 3],
        target_viewpoint=b[:3, 3],
    )
    back = inverse(b) @ after.T_target_source @ a
    assert cp.rotation_error(back, before.T_target_source) < 0.5
    middle = pair.source.mean(axis=0, keepdims=True)
    assert np.linalg.norm(move(back, middle) - move(before.T_target_source, middle)) < 0.5 * before.voxel_size


def test_swapping_the_clouds_inverts_the_answer() -> None:
    pair, there = room(), registered_room()
    back = cp.register(pair.target, pair.source)
    assert cp.rotation_error(inverse(back.T_target_source), there.T_target_source) < 0.5
    assert cp.translation_error(inverse(back.T_target_source), there.T_target_source) < there.voxel_size


def test_prepared_clouds_give_the_pose_of_the_raw_ones() -> None:
    pair, expected = room(), registered_room()
    source, target = (cp.prepare(cloud, voxel_size=expected.voxel_size) for cloud in (pair.source, pair.target))
    for clouds in ((source, target), (pair.source, target), (source, pair.target), (source, target)):
        assert same_pose(cp.register(*clouds), expected)


def test_clouds_prepared_with_other_voxels_are_refused() -> None:
    pair = room()
    fine, coarse = (cp.prepare(pair.source, voxel_size=size) for size in (0.1, 0.2))
    with pytest.raises(cp.OptionError, match=r"target: prepared with voxels of 0\.2; expected 0\.1"):
        cp.register(fine, coarse)
    with pytest.raises(cp.OptionError, match=r"source: prepared with voxels of 0\.1; expected 0\.3"):
        cp.register(fine, pair.target, voxel_size=0.3)
    with pytest.raises(cp.OptionError, match="source_viewpoint: the cloud is prepared"):
        cp.register(fine, pair.target, source_viewpoint=(0.0, 0.0, 0.0))


def test_refinement_improves_the_transform() -> None:
    errors = []
    for seed in (0, 1):
        pair = room(seed)
        for refine in (None, "gicp"):
            pose = cp.register(pair.source, pair.target, refine=refine)
            moved = [move(m, pair.source) for m in (pose.T_target_source, pair.T_target_source)]
            errors.append(np.sqrt(np.mean((moved[0] - moved[1]) ** 2)))
    assert np.sum(errors[1::2]) < np.sum(errors[::2])
    assert max(errors[1::2]) < 0.02


def test_refinement_alone_improves_a_transform_that_is_nearly_right() -> None:
    pair = room()
    start = pair.T_target_source.copy()
    start[:3, 3] += [0.05, -0.04, 0.03]
    refined = cp.refine_transform(pair.source, pair.target, start, voxel_size=0.05)
    assert cp.translation_error(refined, pair.T_target_source) < 0.02
    assert np.array_equal(refined, cp.refine_transform(pair.source, pair.target, start, voxel_size=0.05, threads=2))
    far = np.eye(4)
    far[:3, 3] = 1e4
    assert np.array_equal(cp.refine_transform(pair.source, pair.target, far, voxel_size=0.05), far)  # nothing to match
    assert np.array_equal(cp.refine_transform(pair.source[:9], pair.target, start, voxel_size=0.05), start)


def test_without_small_gicp_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "small_gicp", None)
    pair = room()
    with pytest.raises(cp.MissingPackageError, match="pip install small_gicp"):
        cp.refine_transform(pair.source, pair.target, pair.T_target_source, voxel_size=0.05)


def test_points_that_are_not_finite_change_nothing() -> None:
    pair, expected = room(), registered_room()
    rotten = np.insert(pair.source, [0, 500, 4000], [np.nan, 0.0, np.inf], axis=0)
    assert same_pose(cp.register(rotten, pair.target), expected)


def evidence(**other: float) -> cp.Evidence:
    usual = {"associations": 800, "explained": 40, "runner_up": 0.3, "overlap": 0.3, "against": 0.03, "conflict": 0.002}
    usual |= {"detail": 0.2, "nearby_overlap": 0.5, "rivalry": 0.3, "residual": 0.25}
    return cp.Evidence(**(usual | other))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("worse", "better"),
    [
        ({"rivalry": 0.9}, {"rivalry": 0.1}),
        ({"detail": 0.02}, {"detail": 0.5}),
        ({"nearby_overlap": 0.2}, {"nearby_overlap": 0.7}),
        ({"scale": 1.2}, {"scale": 1.0}),
        ({"overlap": 0.05}, {"overlap": 0.6}),
        ({"against": 0.2}, {"against": 0.0}),
        ({"conflict": 0.1}, {"conflict": 0.0}),
        ({"runner_up": 0.95}, {"runner_up": 0.05}),
        ({"undetermined": 3}, {"undetermined": 0}),
        ({"points": 100}, {"points": 1000}),
    ],
)
def test_better_evidence_gives_more_confidence(worse: dict[str, float], better: dict[str, float]) -> None:
    less, usual, more = (evidence(**other).confidence() for other in (worse, {}, better))
    assert 0.0 < less < more < 1.0
    assert less <= usual <= more


def test_more_points_than_enough_prove_nothing_more() -> None:
    assert evidence(points=1000).confidence() == evidence(points=10**6).confidence() == evidence().confidence()
    assert 0.0 < evidence(points=0).confidence() < 1e-6


def test_voxels_that_leave_few_points_do_not_make_wrong_answers_trustworthy() -> None:
    """Scans of different rooms, voxels of 70 cm: wrong answers explain the little that is left."""
    places = [cp.synthetic.room_scans(seed=seed, resolution=64, frames=2) for seed in range(8)]
    pairs = zip(places, places[1:] + places[:1], strict=True)
    wrong = [cp.register(place.source, other.target, voxel_size=0.7) for place, other in pairs]
    assert any(replace(pose.evidence, points=1000).confidence() > 0.5 for pose in wrong)
    assert all(pose.confidence < 0.5 for pose in wrong)


def test_less_than_three_matches_without_clouds_are_no_evidence() -> None:
    assert cp.Evidence(associations=2, explained=2, runner_up=0.0).confidence() == 0.0
    assert cp.Evidence(associations=30, explained=20, runner_up=0.0).confidence() > 0.5


@pytest.mark.parametrize("kind", [{}, {"conflict": None}, {"overlap": None, "against": None, "conflict": None}])
def test_any_evidence_gives_a_probability(kind: dict[str, None]) -> None:
    for explained, runner_up in ((0, 0.0), (3, 1.0), (10**9, 0.0), (0, 1e300)):
        numbers = {"associations": 10**9, "explained": explained, "runner_up": runner_up}
        assert 0.0 <= evidence(**(numbers | kind)).confidence() <= 1.0  # type: ignore[arg-type]


def test_asking_for_no_alternatives_does_not_change_the_confidence() -> None:
    scans = cp.synthetic.room_scans(resolution=64, frames=2)
    all_of_it, less = (cp.register(scans.source, scans.target, max_alternatives=most) for most in (5, 0))
    assert all_of_it.alternatives
    assert not less.alternatives
    assert less.confidence == all_of_it.confidence
    assert less.status is all_of_it.status


def test_free_space_is_not_looked_at_unless_asked_for() -> None:
    scans = cp.synthetic.room_scans(resolution=64, frames=2)
    pose = cp.register(scans.source, scans.target, free_space=False)
    assert pose.evidence.conflict is None
    assert cp.rotation_error(pose.T_target_source, scans.T_target_source) < 1.0
    with pytest.raises(cp.OptionError, match="free_space: expected True or False, got 1"):
        cp.register(scans.source, scans.target, free_space=1)


def test_a_wrong_viewpoint_is_no_reason_for_a_confident_lie() -> None:
    scans = cp.synthetic.room_scans(resolution=64, frames=2)
    for far in ((0.0, 0.0, -50.0), (0.0, 0.0, 50.0), (30.0, 0.0, 0.0), (0.0, -20.0, 0.0)):
        pose = cp.register(scans.source, scans.target, source_viewpoint=far, target_viewpoint=far)
        assert pose.evidence.viewpoints == ("found", "found")
        assert pose.T_target_source is not None
        assert cp.rotation_error(pose.T_target_source, scans.T_target_source) < 2.0
        assert pose.status is Status.OK


def test_prepared_clouds_and_poses_survive_pickling() -> None:
    scans = cp.synthetic.room_scans(resolution=64, frames=2)
    clouds = [cp.prepare(cloud, voxel_size=0.15) for cloud in (scans.source, scans.target)]
    pose = cp.register(*clouds)
    copies = pickle.loads(pickle.dumps(clouds))
    again = pickle.loads(pickle.dumps(cp.register(*copies)))
    assert np.array_equal(again.T_target_source, pose.T_target_source)
    assert again.evidence == pose.evidence


def test_a_stray_point_far_away_changes_nothing() -> None:
    scans = cp.synthetic.room_scans(resolution=64, frames=2)
    source = np.concatenate((scans.source, [[40_000.0, 0.0, 0.0]]))
    pose = cp.register(source, scans.target, voxel_size=0.1)
    assert cp.rotation_error(pose.T_target_source, scans.T_target_source) < 1.0
    assert pose.status is Status.OK


def test_points_without_neighbours_are_not_matched() -> None:
    scans = cp.synthetic.room_scans(resolution=64, frames=2)
    far = np.random.default_rng(0).uniform(1e3, 1e6, (500, 3))
    source, target = (np.concatenate((cloud, far)) for cloud in (scans.source, scans.target))
    pose = cp.register(source, target, voxel_size=1.0, free_space=False)
    lonely = np.abs(pose.source_points).max(axis=1) > 500.0
    assert lonely.sum() >= 499
    assert not lonely[pose.associations[:, 0]].any()


def test_gicp_of_prepared_clouds_is_that_of_raw_ones() -> None:
    scans = cp.synthetic.room_scans(resolution=64, frames=2)
    expected = cp.register(scans.source, scans.target, voxel_size=0.15, refine="gicp")
    source, target = (cp.prepare(cloud, voxel_size=0.15, refine="gicp") for cloud in (scans.source, scans.target))
    assert np.array_equal(source.fine_points, cp.downsample(scans.source, voxel_size=0.075))
    pose = cp.register(source, target, refine="gicp")
    assert np.array_equal(pose.T_target_source, expected.T_target_source)
    assert not np.array_equal(pose.T_target_source, cp.register(source, target).T_target_source)
    assert np.array_equal(cp.register(source, scans.target, refine="gicp").T_target_source, expected.T_target_source)


def test_gicp_refuses_clouds_that_were_not_prepared_for_it() -> None:
    scans = cp.synthetic.room_scans(resolution=64, frames=2)
    fine, coarse = (cp.prepare(scans.target, voxel_size=0.15, refine=refine) for refine in ("gicp", None))
    with pytest.raises(cp.OptionError, match=r"target: prepared without .* prepare\(…, refine='gicp'\)"):
        cp.register(fine, coarse, refine="gicp")
    with pytest.raises(cp.OptionError, match="source: prepared without"):
        cp.register(coarse, fine, refine="gicp")
    with pytest.raises(cp.OptionError, match=r"voxel_size: expected at least .* got 1e-05"):
        cp.prepare(np.array([[0.0, 0.0, 0.0], [12.0, 0.0, 0.0]]), voxel_size=1e-5, refine="gicp")
    with pytest.raises(cp.OptionError, match="refine: expected None or 'gicp', got 'icp'"):
        cp.prepare(scans.target, refine="icp")


def test_each_cloud_is_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    scans = cp.synthetic.room_scans(resolution=64, frames=2)
    seen: list[int] = []
    bounds_of = _core.bounds_of

    def counted(points: npt.NDArray[np.float64], threads: int) -> object:
        seen.append(len(points))
        return bounds_of(points, threads)

    monkeypatch.setattr(_core, "bounds_of", counted)
    cp.register(scans.source, scans.target, refine="gicp")
    assert seen == [len(scans.source), len(scans.target)]


@pytest.mark.parametrize(
    ("matched", "refine", "absent"),
    [
        (10_000, None, {Step.LOOK_AGAIN, Step.DESCENT, Step.GICP}),  # the answer is trusted at once
        (10_000, "gicp", {Step.LOOK_AGAIN, Step.DESCENT}),
        (2000, "gicp", {Step.LOOK_AGAIN}),
    ],
)
def test_stages_have_the_names_of_the_steps_in_their_order(
    matched: int, refine: Literal["gicp"] | None, absent: set[Step], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("clipperplus.registration.given._MOST_MATCHED", matched)
    scans = cp.synthetic.room_scans(resolution=64, frames=2)
    source, target = (cp.prepare(cloud, voxel_size=0.05, refine="gicp") for cloud in (scans.source, scans.target))
    names = [stage.name for stage in cp.register(source, target, refine=refine).stages]
    assert names == [step.value for step in Step if step not in absent]
