"""Maps of simulated scans, whose poses are known."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from motions import random_motion

import clipperplus as cp
from clipperplus import EdgeStatus, Map, ScanStatus, rotation_error, translation_error
from clipperplus.geometry.poses import inverse
from clipperplus.pairs.store import PairStore, StoreFullError
from clipperplus.synthetic import building_scans

pytest.importorskip("gtsam", reason="maps need gtsam")

SCANS = building_scans(scans=8, resolution=200)
VOXEL = 0.12


def build(scans: list[npt.NDArray[np.float64]], **options: object) -> Map:
    return cp.build_map(scans, voxel_size=VOXEL, threads=2, **options)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def known() -> Map:
    return build(list(SCANS.clouds))


def worst_errors(found: Map, truth: npt.NDArray[np.float64], scans: list[int]) -> tuple[float, float]:
    """Return by how many degrees and metres relative poses are off, at most."""
    turns, shifts = [0.0], [0.0]
    for a in scans:
        for b in scans:
            if a < b:
                here = inverse(found.poses[[b]])[0] @ found.poses[a]
                there = inverse(truth[[b]])[0] @ truth[a]
                turns.append(float(rotation_error(here, there)))
                shifts.append(float(translation_error(here, there)))
    return max(turns), max(shifts)


def test_all_scans_stand_where_they_were_taken(known: Map) -> None:
    assert known.is_complete
    assert known.left_out == ()
    turn, shift = worst_errors(known, SCANS.poses, list(range(8)))
    assert turn < 0.5
    assert shift < 0.05
    assert (known.confidence > 0.9).all()
    assert {edge.status for edge in known.edges} >= {EdgeStatus.BELIEVED}
    assert np.isfinite(known.covariances).all()


def test_one_scan_of_each_component_is_its_frame(known: Map) -> None:
    at_origin = np.abs(known.poses - np.eye(4)).max(axis=(1, 2)) < 1e-9
    assert at_origin.sum() == 1
    assert np.abs(known.covariances[at_origin]).max() < 1e-9


def test_neither_threads_nor_the_order_of_the_scans_matter(known: Map) -> None:
    order = np.random.default_rng(3).permutation(8)
    other = cp.build_map([SCANS.clouds[k] for k in order], voxel_size=VOXEL, threads=1)
    assert (other.poses == known.poses[order]).all()
    assert (other.covariances == known.covariances[order]).all()
    assert (other.confidence == known.confidence[order]).all()
    pairs = {frozenset((int(order[edge.source]), int(order[edge.target]))): edge.status for edge in other.edges}
    assert pairs == {frozenset((edge.source, edge.target)): edge.status for edge in known.edges}


def test_frames_of_the_scans_do_not_matter(known: Map) -> None:
    random = np.random.default_rng(5)
    motions = [random_motion(random) for _ in SCANS.clouds]
    moved = [cloud @ m[:3, :3].T + m[:3, 3] for cloud, m in zip(SCANS.clouds, motions, strict=True)]
    found = build(moved)
    assert found.is_complete
    back = SCANS.poses @ inverse(np.array(motions))
    for a in range(7):
        here = inverse(found.poses[[a + 1]])[0] @ found.poses[a]
        there = inverse(back[[a + 1]])[0] @ back[a]
        points = moved[a][::50]
        gap = points @ (here - there)[:3, :3].T + (here - there)[:3, 3]
        assert np.sqrt((gap**2).sum(axis=1).mean()) < 0.1


def test_scans_one_by_one_give_the_same_map(known: Map) -> None:
    mapper = cp.Mapper(voxel_size=VOXEL, threads=2)
    for cloud in SCANS.clouds:
        mapper.add(cloud)
    assert len(mapper) == 8
    assert (mapper.map.poses == known.poses).all()
    assert mapper.map is mapper.map


def test_strangers_copies_and_empty_scans_are_named_and_left_out(known: Map) -> None:
    stranger = np.random.default_rng(0).uniform(-3.0, 3.0, (4000, 3))
    scans = [*SCANS.clouds, stranger, SCANS.clouds[2].copy(), np.empty((0, 3)), np.zeros((5, 3))]
    found = build(scans)
    assert found.status[8] is ScanStatus.ALONE
    assert found.status[10] is found.status[11] is ScanStatus.EMPTY
    assert found.reasons[8]
    assert "too few points" in found.reasons[10]
    assert (found.poses[9] == found.poses[2]).all()
    assert any(edge.origin == "same points" and {edge.source, edge.target} == {2, 9} for edge in found.edges)
    assert np.abs(found.poses[:8] - known.poses).max() < 0.05
    assert np.isnan(found.poses[[8, 10, 11]]).all()


@pytest.mark.parametrize("change", [np.diag([1.0, -1.0, 1.0]), 1.1 * np.eye(3)], ids=["mirrored", "scaled"])
def test_a_copy_that_is_mirrored_or_scaled_is_not_glued_on(change: npt.NDArray[np.float64]) -> None:
    found = build([*SCANS.clouds[:5], SCANS.clouds[1] @ change])
    assert found.status[:5] == (ScanStatus.PLACED,) * 5
    assert found.status[5] is ScanStatus.ALONE
    assert found.reasons[5]


def test_scans_of_different_places_are_different_maps() -> None:
    other = building_scans(seed=5, scans=3, resolution=200)
    found = build([*SCANS.clouds[:3], *other.clouds])
    for component in found.components:
        assert set(component.tolist()) <= {0, 1, 2} or set(component.tolist()) <= {3, 4, 5}


@pytest.mark.parametrize("count", [0, 1])
def test_fewer_than_two_scans_are_no_map(count: int) -> None:
    found = build(list(SCANS.clouds[:count]))
    assert found.components == ()
    assert found.left_out == tuple(range(count))
    assert not found.is_complete
    assert all("no other scan" in reason for reason in found.reasons)


def test_rough_poses_give_the_frame(known: Map) -> None:
    random = np.random.default_rng(8)
    rough = SCANS.poses.copy()
    rough[:, :3, 3] += random.normal(scale=0.1, size=(8, 3))
    found = build(list(SCANS.clouds), poses=cp.RoughPoses(rough, 1.0, 20.0))
    assert found.is_complete
    assert np.linalg.norm(found.poses[:, :3, 3] - SCANS.poses[:, :3, 3], axis=1).max() < 0.3


def test_poses_that_contradict_what_is_found_are_believed() -> None:
    """Where it is known that two scans are far apart, what says otherwise is not followed."""
    far = np.tile(np.eye(4), (2, 1, 1))
    far[1, 0, 3] = 100.0
    found = build(list(SCANS.clouds[:2]), poses=cp.RoughPoses(far, 1.0, 10.0))
    assert found.components == ()


def test_an_interrupted_map_goes_on_where_it_was(tmp_path: Path, known: Map, monkeypatch: pytest.MonkeyPatch) -> None:
    store = tmp_path / "relations.sqlite"

    class StoppedError(Exception):
        pass

    def stop(what: str, done: int, total: int) -> None:
        if what == "registering pairs" and done == 5:
            raise StoppedError

    with pytest.raises(StoppedError):
        build(list(SCANS.clouds), store=store, progress=stop)
    counts: list[str] = []
    original = cp.mapping.relations.relate

    def counted(*args: object, **options: object) -> object:
        counts.append("pair")
        return original(*args, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(cp.mapping.relations, "relate", counted)
    again = build(list(SCANS.clouds), store=store)
    assert (again.poses == known.poses).all()
    first = len(counts)
    assert first < len([edge for edge in known.edges if edge.origin != "seen"])
    build(list(SCANS.clouds), store=store)
    assert len(counts) == first


def test_a_full_disk_does_not_end_a_map(
    tmp_path: Path, known: Map, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(*arguments: object) -> None:
        raise StoreFullError("relations.sqlite: cannot be written: database or disk is full")

    monkeypatch.setattr(PairStore, "put", full)
    found = build(list(SCANS.clouds), store=tmp_path / "relations.sqlite")
    assert (found.poses == known.poses).all()
    assert "disk is full" in caplog.text


def test_a_pair_that_fails_is_in_the_map_with_its_reason(
    known: Map, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    original = cp.mapping.relations.relate

    def fail_once(*args: object, **options: object) -> object:
        monkeypatch.setattr(cp.mapping.relations, "relate", original)
        raise MemoryError

    monkeypatch.setattr(cp.mapping.relations, "relate", fail_once)
    found = cp.build_map(list(SCANS.clouds), voxel_size=VOXEL, threads=1)
    failed = [edge for edge in found.edges if edge.reason == "not enough memory"]
    assert len(failed) <= 1  # others may have shown where the scans lie
    assert "not enough memory" in caplog.text
    assert len(found.left_out) <= 1


def test_memory_for_clouds_may_be_told(known: Map) -> None:
    found = build(list(SCANS.clouds), memory=1)
    assert (found.poses == known.poses).all()
    with pytest.raises(cp.OptionError, match="memory"):
        build(list(SCANS.clouds[:2]), memory=0)


def test_a_store_that_is_something_else_is_refused(tmp_path: Path) -> None:
    store = tmp_path / "relations.sqlite"
    store.write_text("no database, but some text that is long enough to be looked at as if it were one")
    with pytest.raises(cp.FileFormatError, match=r"relations\.sqlite"):
        build(list(SCANS.clouds[:2]), store=store)


@pytest.mark.parametrize(
    ("scans", "options", "words"),
    [
        ("cloud.ply", {}, "scans"),
        ([np.zeros((3, 4))], {}, r"scans\[0\]"),
        ([np.zeros((4, 3)), "no such file.ply"], {}, "no such file"),
        ([np.zeros((4, 3))], {"names": ["a", "b"]}, "names"),
        ([np.zeros((4, 3))], {"poses": np.zeros((2, 4, 4))}, "poses"),
        ([np.zeros((4, 3))], {"voxel_size": -1.0}, "voxel_size"),
        ([np.zeros((4, 3))], {"threads": 0}, "threads"),
        ([np.zeros((4, 3))], {"free_space": 1}, "free_space"),
        ([np.zeros((4, 3))], {"size_limit": -1}, "size_limit"),
        (np.array(1.0), {}, "scans: expected several scans in a list, got ndarray"),
        ([np.zeros((4, 3))], {"names": 3}, "names: expected one for each scan in a list, got int"),
        ([np.zeros((4, 3))], {"names": "a"}, "names: expected one for each scan in a list, got str"),
        ([np.zeros((4, 3))], {"store": 3}, "store: expected the name of a file, got 3"),
        ([np.zeros((4, 3))], {"client": "tcp://127.0.0.1:8786"}, "client: expected a distributed.Client, got 'tcp"),
        ([np.zeros((4, 3))], {"progress": True}, "progress: expected a function, got bool"),
        ([np.full((4, 3), -1e38)], {}, r"scans\[0\]: expected coordinates of at most 1e\+37 in a map, got 1e\+38"),
    ],
)
def test_wrong_input_is_named(scans: object, options: dict[str, object], words: str) -> None:
    with pytest.raises((cp.ClipperPlusError, OSError), match=words):
        cp.build_map(scans, **options)  # type: ignore[arg-type]


def test_points_of_a_component_are_in_one_frame(known: Map) -> None:
    merged = known.points(0.2)
    frame = known.poses[0] @ inverse(SCANS.poses[:1])[0]
    expected = np.concatenate([c @ p[:3, :3].T + p[:3, 3] for c, p in zip(SCANS.clouds, SCANS.poses, strict=True)])
    expected = expected @ frame[:3, :3].T + frame[:3, 3]
    assert np.abs(merged.min(axis=0) - expected.min(axis=0)).max() < 0.3
    assert np.abs(merged.max(axis=0) - expected.max(axis=0)).max() < 0.3
    with pytest.raises(cp.OptionError, match="component"):
        known.points(component=7)


def test_a_scan_is_located_in_a_map(known: Map) -> None:
    more = building_scans(scans=10, resolution=200)
    found = known.locate(more.clouds[8], threads=2)
    assert found.status is cp.Status.OK
    truth = known.poses[0] @ inverse(SCANS.poses[:1])[0] @ more.poses[8]
    assert found.T_map_scan is not None
    assert rotation_error(found.T_map_scan, truth) < 1.0
    assert translation_error(found.T_map_scan, truth) < 0.1
    assert found.component == 0
    assert found.neighbours
    again = known.locate(more.clouds[8], threads=1)
    assert again.T_map_scan is not None
    assert (again.T_map_scan == found.T_map_scan).all()


def test_a_scan_of_elsewhere_is_not_located(known: Map) -> None:
    elsewhere = np.random.default_rng(1).uniform(-3.0, 3.0, (4000, 3))
    for scan in (elsewhere, np.zeros((3, 3))):
        found = known.locate(scan)
        assert found.T_map_scan is None
        assert found.confidence == 0.0
        assert found.reasons


def test_only_the_pairs_that_are_asked_for_are_registered(known: Map) -> None:
    found = build(list(SCANS.clouds[:4]), pairs=[(1, 0), (2, 3)])
    registered = {(edge.source, edge.target) for edge in found.edges if edge.origin == "registered"}
    assert {tuple(sorted(pair)) for pair in registered} == {(0, 1), (2, 3)}
    assert [scans.tolist() for scans in found.components] == [[0, 1], [2, 3]]
    every = build(list(SCANS.clouds[:4]), pairs="all")
    assert every.is_complete
    for wrong in ([(0, 9)], [[0.5, 1.0]], "some", [0, 1, 2]):
        with pytest.raises(cp.OptionError, match="pairs"):
            build(list(SCANS.clouds[:4]), pairs=wrong)


@pytest.mark.filterwarnings("error")
def test_scans_as_large_as_single_precision_holds_are_put_together_saved_and_loaded(tmp_path: Path) -> None:
    large = 2.0**119  # 6.6e35: a power of two changes no digit
    clouds = [large * np.asarray(cloud) for cloud in building_scans(scans=3, resolution=90).clouds]
    made = cp.build_map(clouds, voxel_size=0.2 * large)
    assert made.is_complete
    made.save(tmp_path)
    assert np.array_equal(Map.load(tmp_path).poses, made.poses)
