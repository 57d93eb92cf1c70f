"""Folders that are no whole map, or were changed: each is refused by name, and nothing in them is run."""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attacks import npz_bomb
from damage import damaged
from hypothesis import given, settings
from hypothesis import strategies as st
from random_maps import assert_same, change, some_map

import clipperplus as cp
from clipperplus.mapping import Map
from clipperplus.mapping.map_files import load_map, save_map


def left_out(index: dict[str, Any]) -> int:
    return next(k for k, scan in enumerate(index["scans"]) if scan["status"] != "placed")


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda index: index.update(format=2), r"map\.json: expected format 1; clipperplus '\d.*' wrote format 2"),
        (lambda index: index.update(format="\x1b" + "2" * 10**6), r"format 1; .* wrote format '\\x1b22*2 …$"),
        (lambda index: index.update(kind="recipe"), r"map\.json: expected a clipperplus map, this is something else"),
        (lambda index: index.pop("edges"), r"not a map as it is written here \(edges: missing\)"),
        (lambda index: index.update(edges=3), "edges: expected a list, got 3"),
        (lambda index: index["edges"][0].update(source=99), "a pair of scans 99 and"),
        (
            lambda index: index["edges"][0].update(status="liked"),
            r"edges\[0\]\.status: expected one of .*, got 'liked'",
        ),
        (lambda index: index["edges"][0].update(T_target_source=[[1.0]]), r"of shape \(4, 4\), got \[\[1.0\]\]"),
        (lambda index: index["edges"][0].update(T_target_source=None), "no transform, and is believed"),
        (lambda index: index["edges"][-1].update(covariance=np.eye(6).tolist()), "no transform, and is believed or"),
        (lambda index: index["edges"][0].update(T_target_source=np.full((4, 4), np.nan).tolist()), "finite numbers"),
        (lambda index: index["edges"][0].update(T_target_source=[["1"] * 4] * 4), "finite numbers"),
        (lambda index: index["edges"][0]["T_target_source"][0].__setitem__(3, 1e308), "numbers of at most 1e"),
        (lambda index: index["edges"][0].update(T_target_source=np.zeros((4, 4)).tolist()), "no rotation"),
        (lambda index: index["edges"][0].update(covariance=np.full((6, 6), np.inf).tolist()), "finite numbers"),
        (lambda index: index["edges"][0].update(covariance=(1e308 * np.eye(6)).tolist()), "numbers of at most 1e"),
        (lambda index: index["edges"][0].update(covariance=(-np.eye(6)).tolist()), "negative eigenvalues"),
        (lambda index: index["edges"][0]["covariance"][0].__setitem__(1, 1.0), "not symmetric"),
        (lambda index: index["edges"][0].update(confidence=-1), "a number from 0 to 1"),
        (lambda index: index["edges"][0].update(overlap="half"), "a number from 0"),
        (
            lambda index: index["edges"][0].update(target=index["edges"][0]["source"]),
            r"edges\[0\]: a pair of scans \d and",
        ),
        (lambda index: index["edges"].append(index["edges"][0]), r"edges\[6\]: scans \d and \d are a pair already"),
        (lambda index: index["edges"][0].update(source=left_out(index)), r"edges\[0\]: it is believed, and scans"),
        (lambda index: index["scans"][0].update(covariance=(-np.eye(6)).tolist()), "negative eigenvalues"),
        (lambda index: index["scans"][0]["covariance"][0].__setitem__(1, 1.0), r"scans\[0\].*not symmetric"),
        (lambda index: index["components"].append([]), r"components\[2\]: expected scans, got none"),
        (
            lambda index: index["components"][0].append(index["components"][0][0]),
            r"components\[0\]: scan \d is named twice",
        ),
        (lambda index: index["components"].append([8]), r"components: they name scan 8, of 8"),
        (
            lambda index: index.update(components=[[0.7, 1.2]]),
            r"components\[0\]\[0\]: expected an integer of at least 0",
        ),
        (lambda index: index.update(voxel_size=-1), "voxel_size: expected a number from 1e-100 to 1e"),
        (lambda index: index.update(proven="false"), "proven: expected true or false, got 'false'"),
        (lambda index: index["stages"][0].update(seconds="abc"), r"stages\[0\]\.seconds: expected a number"),
        (lambda index: index["components"].pop(), "its components are not the scans that were placed"),
        (lambda index: index["viewpoints"].pop(), "viewpoints: expected one of each of 8 scans, got 7"),
        (
            lambda index: index["scans"][0].update(confidence="high"),
            r"scans\[0\]\.confidence: expected a number from 0",
        ),
        (lambda index: index.update(scans=None), "scans: expected a list, got None"),
        (lambda index: [scan.update(T_map_scan=None) for scan in index["scans"]], r"T_map_scan: expected one of each"),
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
