"""Maps in folders: what is saved comes back bit by bit, others read it too, and no half map ever loads."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from maps import many_scans, nothing_fits, two_rooms
from random_maps import assert_same, change, some_map
from scipy.spatial.transform import Rotation

import clipperplus as cp
from clipperplus.mapping import EdgeStatus, Map, build_map, read_g2o
from clipperplus.mapping.map_files import is_map_folder, load_map, save_map
from clipperplus.synthetic import building_scans


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
    (tmp_path / "map" / "notes.txt").write_bytes(b"mine, too")
    others = ["../precious", str(tmp_path / "precious"), 3, "notes.txt", "..", "map.ply\0"]
    change(tmp_path / "map", lambda index: index.update(files=others))
    save_map(some_map(7), tmp_path / "map")
    assert (tmp_path / "precious").exists()
    assert (tmp_path / "map" / "notes.txt").exists()


def test_a_folder_with_something_else_is_not_overwritten(tmp_path: Path) -> None:
    for content in (b'{"tiles": []}', b"[]", b"no json"):
        (tmp_path / "map.json").write_bytes(content)
        assert not is_map_folder(tmp_path)
        with pytest.raises(cp.FileFormatError, match=r"map\.json: this is no map, and is not replaced"):
            save_map(some_map(0), tmp_path)
        assert (tmp_path / "map.json").read_bytes() == content
        assert [path.name for path in tmp_path.iterdir()] == ["map.json"]


@pytest.mark.parametrize("make", [lambda: some_map(3), two_rooms, nothing_fits, lambda: many_scans(6, 12)])
def test_what_was_loaded_is_saved_as_it_was(make: Callable[[], Map], tmp_path: Path) -> None:
    save_map(make(), tmp_path / "one")
    save_map(load_map(tmp_path / "one"), tmp_path / "other")
    for name in sorted(path.name for path in (tmp_path / "one").iterdir()):
        if name.endswith((".g2o", ".tum")):
            assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "other" / name).read_bytes()
    assert load_map(tmp_path / "one").to_dict() == load_map(tmp_path / "other").to_dict()
