"""Maps in folders: what is saved comes back bit by bit, others read it too, and no half map ever loads."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from attacks import npz_bomb
from damage import damaged
from hypothesis import given, settings
from hypothesis import strategies as st
from maps import many_scans, nothing_fits, two_rooms
from scipy.spatial.transform import Rotation

import clipperplus as cp
from clipperplus.geometry.poses import inverse
from clipperplus.mapping import Edge, EdgeStatus, Map, ScanStatus, build_map, read_g2o
from clipperplus.mapping.map_files import is_map_folder, load_map, save_map
from clipperplus.synthetic import building_scans

Array = npt.NDArray[np.float64]


def motions(random: np.random.Generator, count: int, where: float = 0.0) -> Array:
    """Return motions that take what is near a place to somewhere near it."""
    poses = np.tile(np.eye(4), (count, 1, 1))
    poses[:, :3, :3] = Rotation.from_quat(random.normal(size=(count, 4))).as_matrix().reshape(-1, 3, 3)
    poses[:, :3, 3] = where + 10.0 * random.normal(size=(count, 3)) - where * poses[:, :3, :3].sum(axis=2)
    return poses


def covariances(random: np.random.Generator, count: int, size: float = 1e-3) -> Array:
    roots = size * random.normal(size=(count, 6, 9))
    return np.asarray(roots @ roots.swapaxes(1, 2))


def some_map(seed: int, sizes: tuple[int, ...] = (4, 2), alone: int = 2, where: float = 10.0) -> Map:
    """Return a map of random numbers: components of some sizes, and scans that were left out."""
    random = np.random.default_rng(seed)
    placed = sum(sizes)
    count = placed + alone
    order = random.permutation(count)
    components = tuple(np.sort(part) for part in np.split(order[:placed], np.cumsum(sizes)[:-1]) if len(part))
    poses, spread = np.full((count, 4, 4), np.nan), np.full((count, 6, 6), np.nan)
    confidence = np.zeros(count)
    for part in components:
        poses[part], spread[part] = motions(random, len(part), where), covariances(random, len(part))
        spread[part[-1]] *= 1e-6  # the frame is that of this scan
        confidence[part] = random.random(len(part))
    edges = []
    for part in components:
        for source, target in zip(part[:-1].tolist(), part[1:].tolist(), strict=True):
            motion = (inverse(poses[[target]]) @ poses[[source]])[0]
            edges.append(edge(random, source, target, EdgeStatus.BELIEVED, motion))
    if count > 1:
        edges.append(edge(random, 0, count - 1, EdgeStatus.REFUSED, motions(random, 1)[0]))
        edges.append(Edge(1, 0, EdgeStatus.DOUBTED, "no transform was found", "registered", 0.0))
    status = [ScanStatus.ALONE] * count
    for scan in np.flatnonzero(confidence).tolist():
        status[scan] = ScanStatus.PLACED
    return Map(
        names=tuple(f"scan {k} \u00e4\udc80\n.ply" for k in range(count)),
        poses=poses,
        components=components,
        status=tuple(status),
        reasons=tuple("" if entry is ScanStatus.PLACED else "it fits nowhere" for entry in status),
        confidence=confidence,
        covariances=spread,
        edges=tuple(edges),
        voxel_size=float(random.uniform(0.01, 1.0)),
        prior=float(random.random()),
        proven=bool(random.integers(2)),
        stages=(cp.Stage("reading", float(random.random()), count), cp.Stage("settling", float(random.random()))),
        seconds=float(random.random()),
        scans=tuple(where + random.normal(size=(random.integers(1, 50), 3)) for _ in range(count)),
        viewpoints=np.where(random.random((count, 1)) < 0.5, random.normal(size=(count, 3)), np.nan),
        free_space=bool(random.integers(2)),
        usual_conflict=float(random.random()),
    )


def edge(random: np.random.Generator, source: int, target: int, status: EdgeStatus, motion: Array) -> Edge:
    return Edge(
        source=source,
        target=target,
        status=status,
        reason=f"because of {random.random()}",
        origin="registered",
        confidence=float(random.random()),
        T_target_source=motion,
        covariance=covariances(random, 1)[0],
        overlap=float(random.random()),
        shift=None if status is EdgeStatus.REFUSED else float(random.random()),
    )


def assert_same(loaded: Any, saved: Any, where: str = "map") -> None:
    """Compare all fields bit by bit, but points to single precision."""
    assert type(loaded) is type(saved), where
    if isinstance(saved, np.ndarray):
        assert loaded.dtype == saved.dtype, where
        assert loaded.shape == saved.shape, where
        assert loaded.tobytes() == saved.tobytes(), where
    elif isinstance(saved, tuple):
        assert len(loaded) == len(saved), where
        for number, (one, other) in enumerate(zip(loaded, saved, strict=True)):
            assert_same(one, other, f"{where}[{number}]")
    elif dataclasses.is_dataclass(saved):
        for field in dataclasses.fields(saved):
            if field.name != "scans":
                assert_same(getattr(loaded, field.name), getattr(saved, field.name), f"{where}.{field.name}")
    else:
        assert loaded == saved, where


@pytest.fixture(scope="module")
def real() -> Map:
    return build_map(building_scans(scans=4, resolution=180).clouds, voxel_size=0.1)


@settings(max_examples=40)
@given(
    st.integers(0, 2**32 - 1),
    st.lists(st.integers(2, 5), max_size=3),
    st.integers(0, 3),
    st.sampled_from([0.0, 10.0, 5e6]),
)
def test_what_is_saved_comes_back(
    tmp_path_factory: pytest.TempPathFactory, seed: int, sizes: list[int], alone: int, where: float
) -> None:
    saved = some_map(seed, tuple(sizes), alone, where)
    folder = tmp_path_factory.mktemp("map")
    save_map(saved, folder)
    loaded = load_map(folder)
    assert_same(loaded, saved)
    for points, original in zip(loaded.scans, saved.scans, strict=True):
        extent = np.ptp(original, axis=0).max()
        assert np.abs(points - original).max() <= 2.0**-24 * extent + 2.0**-51 * where


def test_a_real_map_comes_back_and_is_the_same_map(real: Map, tmp_path: Path) -> None:
    assert real.is_complete
    real.save(tmp_path / "new" / "folder")
    loaded = Map.load(tmp_path / "new" / "folder")
    assert_same(loaded, real)
    assert loaded.to_dict() == real.to_dict()
    for points, original in zip(loaded.scans, real.scans, strict=True):
        assert np.abs(points - original).max() < 1e-6


def test_points_of_single_precision_come_back_as_they_were(tmp_path: Path) -> None:
    single = tuple(points.astype(np.float32) for points in some_map(0).scans)
    save_map(dataclasses.replace(some_map(0), scans=(*single[:-1], np.empty((0, 3)))), tmp_path)
    loaded = load_map(tmp_path).scans
    assert [points.dtype for points in loaded] == [np.float32] * len(single)
    assert all(np.array_equal(one, other) for one, other in zip(loaded[:-1], single[:-1], strict=True))
    assert loaded[-1].shape == (0, 3)


def test_saving_twice_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one", "other"):
        save_map(some_map(3), tmp_path / name)
    files = sorted(path.name for path in (tmp_path / "one").iterdir())
    assert files == ["map.g2o", "map.json", "map.ply", "map_1.ply", "poses.tum", "poses_1.tum", "scans.npz"]
    for name in files:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "other" / name).read_bytes()


def test_trajectories_hold_the_poses_of_each_component(tmp_path: Path) -> None:
    saved = some_map(1)
    save_map(saved, tmp_path)
    for part, name in zip(saved.components, ("poses.tum", "poses_1.tum"), strict=True):
        table = np.loadtxt(tmp_path / name)
        assert table[:, 0].tolist() == part.tolist()
        assert np.array_equal(table[:, 1:4], saved.poses[part, :3, 3])
        assert np.allclose(Rotation.from_quat(table[:, 4:]).as_matrix(), saved.poses[part, :3, :3], atol=1e-12)


def test_clouds_hold_the_points_of_each_component(tmp_path: Path) -> None:
    saved = some_map(1)
    save_map(saved, tmp_path)
    for number, name in enumerate(("map.ply", "map_1.ply")):
        assert np.allclose(cp.read_cloud(tmp_path / name).points, saved.points(component=number), atol=1e-5)
    far = some_map(1, where=5e6)
    save_map(far, tmp_path)
    assert np.array_equal(cp.read_cloud(tmp_path / "map.ply").points, far.points())  # single precision is too coarse


def test_the_pose_graph_has_the_placed_scans_and_the_pairs_that_are_believed(tmp_path: Path) -> None:
    gtsam = pytest.importorskip("gtsam")
    saved = some_map(2)
    save_map(saved, tmp_path)
    graph = read_g2o(tmp_path / "map.g2o")
    placed = np.sort(np.concatenate(saved.components))
    assert graph.ids.tolist() == placed.tolist()
    assert graph.ids[graph.fixed].tolist() == sorted(int(part[-1]) for part in saved.components)
    factors, values = gtsam.readG2o(str(tmp_path / "map.g2o"), True)
    for scan in placed.tolist():
        assert np.allclose(values.atPose3(scan).matrix(), saved.poses[scan], atol=1e-9)
    assert factors.size() == sum(edge.status is EdgeStatus.BELIEVED for edge in saved.edges) == 4
    assert factors.error(values) < 1e-9  # each says where the map has its scans


def test_information_weighs_small_motions_as_the_covariance_of_the_pair_does(tmp_path: Path) -> None:
    """The error of a g2o edge, from its definition, against the motion in the frame of the target."""
    saved = some_map(4)
    save_map(saved, tmp_path)
    believed = [edge for edge in saved.edges if edge.status is EdgeStatus.BELIEVED]
    lines = [line.split() for line in (tmp_path / "map.g2o").read_text().splitlines() if line.startswith("EDGE")]
    random = np.random.default_rng(0)
    for one, words in zip(believed, lines, strict=True):
        assert [int(word) for word in words[1:3]] == [one.target, one.source]
        numbers = np.array([float(word) for word in words[3:]])
        measured = np.eye(4)
        measured[:3, :3], measured[:3, 3] = Rotation.from_quat(numbers[3:7]).as_matrix(), numbers[:3]
        information = np.zeros((6, 6))
        information[np.triu_indices(6)] = numbers[7:]
        information = information + np.triu(information, 1).T
        assert one.covariance is not None
        for small in 1e-5 * random.normal(size=(5, 6)):
            motion = np.eye(4)
            motion[:3, :3], motion[:3, 3] = Rotation.from_rotvec(small[:3]).as_matrix(), small[3:]
            off = np.linalg.inv(measured) @ motion @ one.T_target_source
            error = np.concatenate((off[:3, 3], Rotation.from_matrix(off[:3, :3]).as_quat()[:3]))
            expected = small @ np.linalg.solve(one.covariance, small)
            assert error @ information @ error == pytest.approx(expected, rel=1e-3)


def test_equal_scans_weigh_much_in_the_pose_graph(tmp_path: Path) -> None:
    scans = building_scans(scans=1, resolution=60).clouds
    save_map(build_map([scans[0], scans[0]], voxel_size=0.2), tmp_path)
    graph = read_g2o(tmp_path / "map.g2o")
    assert graph.information is not None
    assert np.allclose(graph.information, 1e12 * np.eye(6))


class Killed(BaseException):
    pass


@pytest.mark.parametrize("moved", range(8))
def test_no_half_map_loads_when_saving_is_killed(moved: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old, new = some_map(5, (3,)), some_map(6, (4, 2))
    save_map(old, tmp_path)
    replace, done = os.replace, []

    def replace_some(source: Path, target: Path) -> None:
        if target.parent != tmp_path:  # a file that becomes whole before all of them are moved
            replace(source, target)
            return
        if len(done) == moved:
            raise Killed
        replace(source, target)
        done.append(target)

    with monkeypatch.context() as patch:
        patch.setattr("clipperplus.mapping.map_files.os.replace", replace_some)
        patch.setattr("clipperplus.mapping.map_files.shutil.rmtree", lambda *_, **__: None)  # nobody clears up
        if moved < 7:
            with pytest.raises(Killed):
                save_map(new, tmp_path)
        else:
            save_map(new, tmp_path)
    if moved == 0:
        assert_same(load_map(tmp_path), old)
    elif moved == 7:
        assert_same(load_map(tmp_path), new)
    else:
        with pytest.raises(cp.FileFormatError, match=r"scans\.npz: damaged, or of another map"):
            load_map(tmp_path)
    save_map(new, tmp_path)
    assert_same(load_map(tmp_path), new)
    assert not (tmp_path / ".saving").exists()


def test_files_of_the_map_before_are_removed_and_no_others(tmp_path: Path) -> None:
    (tmp_path / "map_7.ply").write_bytes(b"mine")
    save_map(some_map(7, (4, 2)), tmp_path)
    assert (tmp_path / "map_1.ply").exists()
    save_map(some_map(7, (4,)), tmp_path)
    assert not (tmp_path / "map_1.ply").exists()
    assert not (tmp_path / "poses_1.tum").exists()
    assert (tmp_path / "map_7.ply").read_bytes() == b"mine"


def test_a_list_of_files_leads_nowhere_else(tmp_path: Path) -> None:
    (tmp_path / "precious").write_bytes(b"mine")
    save_map(some_map(7), tmp_path / "map")
    change(tmp_path / "map", lambda index: index.update(files=["../precious", str(tmp_path / "precious"), 3]))
    save_map(some_map(7), tmp_path / "map")
    assert (tmp_path / "precious").exists()


def test_a_folder_with_something_else_is_not_overwritten(tmp_path: Path) -> None:
    for content in (b'{"tiles": []}', b"[]", b"no json"):
        (tmp_path / "map.json").write_bytes(content)
        assert not is_map_folder(tmp_path)
        with pytest.raises(cp.FileFormatError, match=r"map\.json: this is no map, and is not replaced"):
            save_map(some_map(0), tmp_path)
        assert (tmp_path / "map.json").read_bytes() == content
        assert [path.name for path in tmp_path.iterdir()] == ["map.json"]


def change(folder: Path, edit: Callable[[dict[str, Any]], Any]) -> None:
    index = json.loads((folder / "map.json").read_bytes())
    edit(index)
    (folder / "map.json").write_text(json.dumps(index))


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda index: index.update(format=2), r"map\.json: expected format 1; clipperplus \d.* wrote format 2"),
        (lambda index: index.update(kind="recipe"), r"map\.json: expected a clipperplus map, this is something else"),
        (lambda index: index.pop("edges"), "not a map as it is written here"),
        (lambda index: index.update(edges=3), "not a map as it is written here"),
        (lambda index: index["edges"][0].update(source=99), "a pair of scans 99 and"),
        (lambda index: index["edges"][0].update(status="liked"), "'liked' is not a valid EdgeStatus"),
        (lambda index: index["edges"][0].update(T_target_source=[[1.0]]), r"shape \(1, 1\)"),
        (lambda index: index["edges"][0].update(T_target_source=None), "no transform, and are believed"),
        (lambda index: index["edges"][-1].update(covariance=np.eye(6).tolist()), "no transform, and are believed or"),
        (lambda index: index["edges"][0].update(T_target_source=np.full((4, 4), np.nan).tolist()), "finite numbers"),
        (lambda index: index["edges"][0].update(T_target_source=[["1"] * 4] * 4), "finite numbers"),
        (lambda index: index["edges"][0]["T_target_source"][0].__setitem__(3, 1e308), "moves farther than 1e"),
        (lambda index: index["edges"][0].update(T_target_source=np.zeros((4, 4)).tolist()), "no rotation"),
        (lambda index: index["edges"][0].update(covariance=np.full((6, 6), np.inf).tolist()), "finite numbers"),
        (lambda index: index["edges"][0].update(covariance=(1e308 * np.eye(6)).tolist()), "overflow"),
        (lambda index: index["edges"][0].update(covariance=(-np.eye(6)).tolist()), "negative eigenvalues"),
        (lambda index: index["edges"][0]["covariance"][0].__setitem__(1, 1.0), "not symmetric"),
        (lambda index: index["edges"][0].update(confidence=-1), "a number from 0 to 1"),
        (lambda index: index["edges"][0].update(overlap="half"), "a number from 0"),
        (lambda index: index["components"].pop(), "its components are not the scans that were placed"),
        (lambda index: index["scans"].pop(), "scans.npz has no offset for each of 7 scans"),
        (lambda index: index["scans"][0].update(confidence="high"), "could not convert"),
        (lambda index: index["viewpoints"].pop(), "not a map as it is written here"),
        (lambda index: index.update(scans=None), "not a map as it is written here"),
        (lambda index: [scan.update(T_map_scan=None) for scan in index["scans"]], "a transform is no rotation"),
        (lambda index: index.update(points_sha256="0"), r"scans\.npz: damaged, or of another map than map\.json"),
    ],
)
def test_what_is_not_whole_or_of_another_version_is_refused(
    edit: Callable[[dict[str, Any]], Any], message: str, tmp_path: Path
) -> None:
    save_map(some_map(8), tmp_path)
    change(tmp_path, edit)
    with pytest.raises(cp.FileFormatError, match=message) as refused:
        load_map(tmp_path)
    assert str(refused.value).startswith(str(tmp_path))
    assert "\n" not in str(refused.value)


@pytest.mark.filterwarnings("error")
@settings(max_examples=100)
@given(data=st.data())
def test_pairs_that_were_changed_are_refused_or_can_be_saved_again(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("map")
    save_map(some_map(8, (3, 2)), folder)
    change(folder, lambda index: index.update(edges=data.draw(damaged(index["edges"]))))
    try:
        loaded = load_map(folder)
    except cp.FileFormatError:
        return
    save_map(loaded, folder)
    assert_same(load_map(folder), loaded)


@pytest.mark.parametrize("make", [lambda: some_map(3), two_rooms, nothing_fits, lambda: many_scans(6, 12)])
def test_what_was_loaded_is_saved_as_it_was(make: Callable[[], Map], tmp_path: Path) -> None:
    save_map(make(), tmp_path / "one")
    save_map(load_map(tmp_path / "one"), tmp_path / "other")
    for name in sorted(path.name for path in (tmp_path / "one").iterdir()):
        if name.endswith((".g2o", ".tum")):
            assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "other" / name).read_bytes()
    assert load_map(tmp_path / "one").to_dict() == load_map(tmp_path / "other").to_dict()


def test_missing_and_damaged_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(cp.FileFormatError, match=r"nowhere/map\.json: missing; expected the folder of a map"):
        load_map(tmp_path / "nowhere")
    save_map(some_map(9), tmp_path)
    index, points = tmp_path / "map.json", tmp_path / "scans.npz"
    whole = points.read_bytes()
    for broken in (whole[:-1], whole[:100], b"", whole[:200] + b"\x01" + whole[201:]):
        points.write_bytes(broken)
        with pytest.raises(cp.FileFormatError, match=r"scans\.npz: damaged"):
            load_map(tmp_path)
    points.unlink()
    with pytest.raises(cp.FileFormatError, match=r"scans\.npz: missing"):
        load_map(tmp_path)
    text = index.read_bytes()
    for broken in (text[:-1], text[: len(text) // 2], b"", b"[" * 100_000, b"\xff\xfe"):
        index.write_bytes(broken)
        with pytest.raises(cp.FileFormatError, match=r"map\.json: damaged"):
            load_map(tmp_path)


class Trap:
    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return Path.touch, (self.path,)


def test_nothing_is_unpickled(tmp_path: Path) -> None:
    save_map(some_map(10), tmp_path)
    sprung = tmp_path / "sprung"
    with (tmp_path / "scans.npz").open("wb") as file:
        np.savez(file, offsets=np.array([Trap(sprung)], dtype=object))
    change(tmp_path, lambda index: index.update(points_sha256=sha256(tmp_path / "scans.npz")))
    with pytest.raises(cp.FileFormatError, match="not a map as it is written here"):
        load_map(tmp_path)
    assert not sprung.exists()
    pickle.loads(pickle.dumps(Trap(sprung)))
    assert sprung.exists()  # it is a trap


def test_archives_without_what_is_needed_are_refused(tmp_path: Path) -> None:
    save_map(some_map(10), tmp_path)
    count = len(some_map(10).names)
    points = {f"points_{k}": np.zeros((2, 3), dtype=np.float32) for k in range(count)}
    for arrays in (
        {"offsets": np.zeros((count, 3))},
        {**points, "offsets": np.zeros((count, 2))},
        {**points, "offsets": np.zeros((count, 3)), "points_1": np.zeros((2, 4), dtype=np.float32)},
        {**points, "offsets": np.zeros((count, 3)), "points_1": np.zeros((2, 3), dtype=np.int32)},
        points,
    ):
        np.savez(tmp_path / "scans.npz", **arrays)
        change(tmp_path, lambda index: index.update(points_sha256=sha256(tmp_path / "scans.npz")))
        with pytest.raises(cp.FileFormatError, match="not a map as it is written here"):
            load_map(tmp_path)


def test_points_that_would_fill_the_memory_are_refused(tmp_path: Path) -> None:
    save_map(some_map(0, (1,), 0), tmp_path)
    with pytest.raises(cp.MemoryLimitError, match=r"map\.json: what it holds"):
        load_map(tmp_path, size_limit=100)
    for rows, kind, message in (
        (30_000_000, "<f4", r"scans\.npz: what it holds takes \d+ bytes"),
        (30_000_000, "<f8", r"has no points of scan 0"),
    ):
        (tmp_path / "scans.npz").write_bytes(npz_bomb(kind, rows, 3, "points_0", offsets=np.zeros((1, 3))))
        assert (tmp_path / "scans.npz").stat().st_size < 2**21
        change(tmp_path, lambda index: index.update(points_sha256=sha256(tmp_path / "scans.npz")))
        with pytest.raises(cp.ClipperPlusError, match=message):
            load_map(tmp_path)
    path = tmp_path / "scans.npz"
    path.write_bytes(npz_bomb("<f4", 100_000, 3, "points_0", offsets=np.zeros((1, 3))))
    change(tmp_path, lambda index: index.update(points_sha256=sha256(path)))
    with pytest.raises(cp.MemoryLimitError, match=r"scans\.npz: what it holds") as refused:
        load_map(tmp_path, size_limit=2**20)
    assert Map.load(tmp_path, size_limit=refused.value.needed).scans[0].shape == (100_000, 3)
    path.write_bytes(npz_bomb("<f4", 3, 3, "points_0", offsets=np.zeros((1, 3)), promised=10**12))
    change(tmp_path, lambda index: index.update(points_sha256=sha256(path)))
    with pytest.raises(cp.FileFormatError, match=r"points_0\.npy: byte 128: the header promises 1000000000000 rows"):
        load_map(tmp_path)


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
