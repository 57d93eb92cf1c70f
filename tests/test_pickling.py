"""Results and other values cross processes: all of the package are found here, pickled and copied."""

from __future__ import annotations

import enum
import functools
import multiprocessing
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from copies import COPIES, TIMES, assert_same, differences, name_of, public
from maps import nothing_fits, two_rooms
from motions import planted
from pinholes import INTRINSICS, simulate
from simulated import room
from strategies import random_graph

import clipperplus as cp
from clipperplus import evaluation, invariants, synthetic
from clipperplus.io import pose_graphs, poses


@functools.cache
def values() -> tuple[type, ...]:
    """Return those of them that are results, or other values."""
    kinds = {kind for kind in public() - set(EXCLUDED) if not issubclass(kind, BaseException)}
    return tuple(sorted(kinds, key=name_of))


@functools.cache
def prepared() -> tuple[cp.PreparedCloud, cp.PreparedCloud]:
    source, target = (cp.prepare(cloud, voxel_size=0.15) for cloud in (room().source, room().target))
    return source, target


@functools.cache
def registered() -> tuple[cp.Pose, ...]:
    """Of clouds, of matched points, and of two that have nothing in common."""
    source, target, _ = planted(20, 10)
    nothing = np.random.default_rng(0).uniform(-1.0, 1.0, (2, 3))
    return cp.register(*prepared()), cp.solve(source, target, epsilon=0.02), cp.solve(nothing, -nothing, epsilon=1e-6)


@functools.cache
def verified() -> tuple[cp.Verification, ...]:
    return cp.verify(*prepared(), np.array([np.eye(4), room().T_target_source]))


def judged() -> tuple[cp.Pose | cp.Verification, ...]:
    return *registered(), *verified()


def prepared_clouds() -> tuple[cp.PreparedCloud, ...]:
    """As they are usually, for ICP on finer points, with normals of the file, and with features of one's own."""
    source = prepared()[0]
    told = cp.Cloud(source.points, normals=source.normals)
    return (
        source,
        cp.prepare(room().target, voxel_size=0.15, refine="gicp", viewpoint=(0.0, 0.0, 0.0)),
        cp.prepare(told, voxel_size=0.2),
        cp.prepare(np.empty((0, 3)), voxel_size=0.2),
        source.with_features(source.points[:9], np.eye(9, 4)),
    )


def cliques() -> tuple[cp.CliqueResult, ...]:
    graph = random_graph(60, 0.5, 1)
    none = cp.find_clique(cp.Graph.from_edges(0, []))
    return none, *(cp.find_clique(graph, method=method) for method in ("exact", "clipper+", "relaxation", "ding"))


def pair_results() -> tuple[cp.PairResult, ...]:
    """One that was registered, and one that could not be."""
    pairs = [(0, 1), (0, "there/is/no/such/file.ply")]
    results = cp.register_pairs(pairs, clouds=[room().source, room().target], voxel_size=0.15, threads=1)
    return tuple(sorted(results, key=lambda result: result.number))


@functools.cache
def robots() -> synthetic.TwoRobots:
    return synthetic.two_robots(poses=12, loops=14, outlier_ratio=0.4)


def odometry() -> invariants.Odometry:
    return invariants.Odometry(robots().trajectory_a, 1e-6 * np.eye(6))


def loop_closures() -> tuple[cp.LoopClosures, ...]:
    """Of two robots, of one whose odometry has errors, and none."""
    two = cp.LoopClosures(robots().trajectory_a, robots().trajectory_b)
    one = cp.LoopClosures(driven := odometry(), driven, covariance=1e-4 * np.eye(6))
    for closures in (two, one):
        for (a, b), measured in list(zip(robots().loops, robots().measurements, strict=True))[:10]:
            closures.add(a, b, measured)
    return two, one, cp.LoopClosures()


def loop_closure_sets() -> tuple[cp.LoopClosureSet, ...]:
    world = robots()
    given = world.trajectory_a, world.trajectory_b, world.loops, world.measurements
    return tuple(cp.consistent_loop_closures(*given, covariances=spread) for spread in (None, 1e-4 * np.eye(6)))


def evaluations() -> tuple[evaluation.Evaluation, ...]:
    truths, answers = np.tile(np.eye(4), (3, 1, 1)), [np.eye(4), None, room().T_target_source]
    by_rmse = {"protocol": "3DMatch-RMSE", "information": np.tile(np.eye(6), (3, 1, 1))}
    settings: tuple[dict[str, Any], ...] = {}, by_rmse
    return tuple(evaluation.evaluate_pairs(answers, truths, scenes=["a", "a", "b"], **some) for some in settings)


def pose_graph() -> pose_graphs.PoseGraph:
    motions = robots().trajectory_a
    return pose_graphs.PoseGraph(motions[:3], np.array([(0, 1), (1, 2)]), motions[1:3], np.tile(np.eye(6), (2, 1, 1)))


def no_residuals(source: Any, target: Any, first: Any, second: Any) -> npt.NDArray[np.float64]:
    """Return what a function of a caller may say."""
    return np.zeros(len(first.source))


def some_pairs() -> npt.NDArray[np.int64]:
    return np.array([(0, 1), (0, 2)])


@functools.cache
def cameras() -> tuple[cp.CameraPose, ...]:
    """Found among matches, half of them wrong, and not found among three."""
    many, few = (simulate(0, count, 0.5) for count in (40, 3))
    return tuple(cp.solve_camera(seen.points, seen.pixels, INTRINSICS) for seen in (many, few))


MAKERS: dict[type, Callable[[], tuple[Any, ...]]] = {
    cp.BelachewOptions: lambda: (cp.BelachewOptions(), cp.BelachewOptions(start=np.ones(3))),
    cp.CameraHypothesis: lambda: (cp.CameraHypothesis(np.eye(4), np.arange(5), 0.5),),
    cp.CameraPose: cameras,
    cp.ClipperOptions: lambda: (cp.ClipperOptions(), cp.ClipperOptions(start=[0.0, 1.0], tol_u=1e-3)),
    cp.CliqueList: lambda: (cp.find_maximum_cliques(random_graph(20, 0.5, 0)),),
    cp.CliqueResult: cliques,
    cp.CliqueStage: lambda: tuple(stage for result in cliques() for stage in result.stages),
    cp.Cloud: lambda: (cp.Cloud(np.eye(3)), cp.Cloud(np.eye(3), 2, np.full((3, 3), np.nan), np.zeros(3))),
    cp.CoreInfo: lambda: (cp.core_info(),),
    cp.DingOptions: lambda: (cp.DingOptions(), cp.DingOptions(start=np.ones(3), tolerance=1e-3)),
    cp.Edge: lambda: two_rooms().edges,
    cp.Evidence: lambda: tuple(pose.evidence for pose in registered()),
    cp.Graph: lambda: (
        cp.Graph.from_edges(0, []),
        random_graph(70, 0.5, 0),
        cp.Graph.from_edges(400_000, [(0, 1), (7, 399_999)]),
    ),
    cp.Hypothesis: lambda: tuple(other for result in judged() for other in result.alternatives),
    cp.Location: lambda: (two_rooms().locate(two_rooms().scans[7]), two_rooms().locate(np.zeros((3, 3)))),
    cp.LoopClosureSet: loop_closure_sets,
    cp.LoopClosures: loop_closures,
    cp.Map: lambda: (two_rooms(), nothing_fits()),
    cp.Neighbourhoods: lambda: (
        cp.Neighbourhoods(prepared()[0].points[:50], radius=0.3),
        cp.Neighbourhoods(np.empty((0, 3)), radius=1.0),
    ),
    cp.PairResult: pair_results,
    cp.PelilloOptions: lambda: (cp.PelilloOptions(), cp.PelilloOptions(start=np.ones(3), max_steps=5)),
    cp.Pose: registered,
    cp.PreparedCloud: prepared_clouds,
    cp.Progress: lambda: (cp.Progress(0.1, 3, 7), *cliques()[1].history),
    cp.Reason: lambda: tuple(reason for result in judged() for reason in result.reasons),
    cp.RelaxationOptions: lambda: (cp.RelaxationOptions(), cp.RelaxationOptions(tol_u=0.0, start=np.ones(3))),
    cp.RoughPoses: lambda: (cp.RoughPoses([np.eye(4), np.full((4, 4), np.nan)], 0.5, 3.0),),
    cp.RoughTransform: lambda: (cp.RoughTransform(room().T_target_source, 0.5),),
    cp.SearchOptions: lambda: (cp.SearchOptions(), cp.SearchOptions(reduction=False)),
    cp.Stage: lambda: prepared()[0].stages,
    cp.Verification: verified,
    cp.Viewpoint: lambda: tuple(cloud.viewpoint for cloud in prepared_clouds()),
    evaluation.Evaluation: evaluations,
    evaluation.Protocol: lambda: tuple(evaluation.PROTOCOLS.values()),
    evaluation.SceneRecall: lambda: tuple(row for result in evaluations() for row in result.rows()),
    invariants.CameraReprojection: lambda: (invariants.CameraReprojection(INTRINSICS),),
    invariants.Custom: lambda: (invariants.Custom(no_residuals, 0.5),),
    invariants.Distance: lambda: (invariants.Distance(),),
    invariants.DistanceAndNormals: lambda: (invariants.DistanceAndNormals(angle=0.1, oriented=False),),
    invariants.DistanceRatios: lambda: (invariants.DistanceRatios(0.5, 2.0),),
    invariants.GroupSampling: lambda: (invariants.GroupSampling(), invariants.GroupSampling(1000, 3, 7)),
    invariants.Landmarks: lambda: (invariants.Landmarks(np.eye(3), (np.eye(3), np.eye(3))), invariants.Landmarks()),
    invariants.Lines: lambda: (invariants.Lines(),),
    invariants.LinesAndPlanes: lambda: (invariants.LinesAndPlanes(angle=0.1),),
    invariants.Odometry: lambda: (odometry(),),
    invariants.Pairs: lambda: (invariants.Pairs(np.arange(3), np.arange(3), np.arange(3)),),
    invariants.Planes: lambda: (invariants.Planes(),),
    invariants.Under: lambda: (invariants.Under("yaw", up=[0.0, 1.0, 1.0]), invariants.Under("translation")),
    invariants.RelativePoses: lambda: tuple(
        invariants.RelativePoses(robots().measurements, covariances=spread) for spread in (None, np.eye(6))
    ),
    pose_graphs.PoseGraph: lambda: (pose_graph(),),
    poses.PairInformation: lambda: (poses.PairInformation(some_pairs(), np.tile(np.eye(6), (2, 1, 1)), 3),),
    poses.PairPoses: lambda: (poses.PairPoses(some_pairs(), np.tile(np.eye(4), (2, 1, 1)), 3),),
    poses.Trajectory: lambda: (poses.Trajectory(np.arange(12.0), robots().trajectory_a),),
    synthetic.BuildingScans: lambda: (synthetic.building_scans(scans=2, resolution=40),),
    synthetic.LaserPair: lambda: (synthetic.laser_scans(beams=100),),
    synthetic.RegistrationGraph: lambda: (synthetic.registration_graph(40, outlier_ratio=0.5),),
    synthetic.ScanPair: lambda: (room(),),
    synthetic.TwoRobots: lambda: (robots(),),
}
"""Some of every class; enumerations need none."""
EXCLUDED: dict[type, str] = {
    cp.Mapper: "no value, but work that goes on: it has a connection to a cluster, and functions that are told of it",
    invariants.GroupInvariant: "a protocol, as the next one",
    invariants.Invariant: "a protocol: there are only classes of callers that follow it",
}
"""Public classes that need not be copied, and why."""


def made(kind: type) -> tuple[Any, ...]:
    if issubclass(kind, enum.Enum):
        return tuple(kind)
    assert kind in MAKERS, f"{name_of(kind)} is new: say in MAKERS how to make one, or in EXCLUDED why it is not copied"
    return MAKERS[kind]()


def test_what_is_made_or_excluded_is_public() -> None:
    """The tables have nothing that is gone."""
    assert set(MAKERS) <= set(values())
    assert set(EXCLUDED) <= public()
    assert all(EXCLUDED.values())


@pytest.mark.parametrize("kind", values(), ids=name_of)
def test_values_survive_being_copied(kind: type) -> None:
    instances = made(kind)
    assert instances
    for it in instances:
        assert type(it) is kind
        for way, again in COPIES.items():
            assert list(differences(again(it), it)) == [], way


@pytest.mark.parametrize("way", COPIES)
def test_clouds_that_were_used_can_be_copied_and_used_again(way: str) -> None:
    clouds = tuple(cp.prepare(cloud, voxel_size=0.15) for cloud in (room().source, room().target))
    expected = cp.register(*clouds, effort="high")
    for cloud in clouds:
        assert cloud.surface is not None
        assert cloud.by_fronts(1) is not cloud
    copies = tuple(COPIES[way](cloud) for cloud in clouds)
    assert_same(copies, clouds)
    assert_same(cp.register(*copies, effort="high"), expected, TIMES)
    for cloud, again in zip(clouds, copies, strict=True):
        assert_same(again.by_fronts(1), cloud.by_fronts(1))


@pytest.mark.parametrize("way", COPIES)
def test_loop_closures_go_on_where_they_were_copied(way: str) -> None:
    for closures in loop_closures()[:2]:
        again = COPIES[way](closures)
        for (a, b), measured in list(zip(robots().loops, robots().measurements, strict=True))[10:]:
            assert_same(again.add(a, b, measured), closures.add(a, b, measured))
        assert_same(again, closures)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (0.0, -0.0),
        (1, True),
        ((1.0, np.nan), (1.0, 2.0)),
        (np.zeros(2), np.zeros(2, dtype=np.float32)),
        (np.zeros(2), np.zeros((2, 1))),
        (np.array([np.nan, 1.0]), np.array([np.nan, 2.0])),
        ({"a": 1}, {"b": 1}),
        (cp.Progress(0.1, 2, 3), cp.Progress(0.1, 2, 4)),
        (cp.Stage("a", 0.1), cp.Stage("a", 0.1, 7)),
        (cp.Graph.from_edges(3, [(0, 1)]), cp.Graph.from_edges(3, [(0, 2)])),
        (cp.Neighbourhoods(np.eye(3), radius=1.0), cp.Neighbourhoods(np.eye(3), radius=2.0)),
    ],
)
def test_values_that_differ_are_told_apart(a: Any, b: Any) -> None:
    assert list(differences((0, a), (0, b)))
    assert not list(differences((0, a), (0, a)))


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[ProcessPoolExecutor]:
    """A process that shares nothing with this one."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        yield pool


def test_what_another_process_registers_is_what_this_one_does(elsewhere: ProcessPoolExecutor) -> None:
    there = elsewhere.submit(cp.register, *prepared()).result(timeout=60)
    assert there.status is cp.Status.OK
    assert_same(there, cp.register(*prepared()), TIMES)
