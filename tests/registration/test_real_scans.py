"""Registration of real scans, a sample of what benchmarks/registration.py measures on all of them."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

import clipperplus as cp
from clipperplus.bench.fragments import find_scenes

Points = npt.NDArray[np.float64]


@pytest.fixture
def scans(data_folder: Path) -> Path:
    if not (data_folder / "scans").is_dir():
        pytest.skip(f"no scans in {data_folder}")
    return data_folder / "scans"


def errors(pose: cp.Pose, truth: Points) -> tuple[float, float]:
    assert pose.T_target_source is not None
    return cp.rotation_error(pose.T_target_source, truth), cp.translation_error(pose.T_target_source, truth)


@pytest.mark.parametrize("name", ["pair_000", "pair_010", "pair_020"])
def test_kitti_pairs_are_registered_with_nothing_given(scans: Path, name: str) -> None:
    stored = np.load(scans / "kitti" / f"{name}.npz")
    pose = cp.register(stored["src"], stored["dst"])
    turned, moved = errors(pose, stored["T"])
    assert turned < 5.0
    assert moved < 0.6
    assert pose.status is cp.Status.OK


def test_a_wood_of_eth_is_registered_with_nothing_given(scans: Path) -> None:
    stored = np.load(scans / "eth_gazebo_summer" / "Hokuyo_12_to_10.npz")
    pose = cp.register(stored["src"], stored["dst"])
    turned, moved = errors(pose, stored["T_ref"])
    assert turned < 3.0
    assert moved < 0.3
    assert pose.status is cp.Status.OK


@pytest.mark.parametrize(("first", "second"), [("bun000", "bun315"), ("bun045", "bun090"), ("bun315", "chin")])
def test_scans_of_a_bunny_are_registered_with_nothing_given(scans: Path, first: str, second: str) -> None:
    stored = np.load(scans / "stanford_bunny" / "bunny_10scans.npz")
    source = stored[f"p_{first}"]
    there = np.linalg.inv(stored[f"X_{second}"]) @ stored[f"X_{first}"]
    truth = cp.fit_transform(source, source @ there[:3, :3].T + there[:3, 3])  # the published ones stretch a little
    pose = cp.register(source, stored[f"p_{second}"])
    turned, moved = errors(pose, truth)
    assert turned < 2.0
    assert moved < 2.0  # millimetres, as the scans
    assert pose.status is cp.Status.OK


@pytest.mark.parametrize(("benchmark", "least"), [("3DMatch", 0.97), ("3DLoMatch", 0.72)])
def test_fragments_of_rooms_are_registered(scans: Path, benchmark: str, least: float) -> None:
    pairs = [pair for scene in find_scenes(scans / "3dmatch", benchmark=benchmark) for pair in scene.pairs()]
    right = []
    for pair in pairs[::25]:
        pose = cp.register(pair.scene.points(pair.j), pair.scene.points(pair.i), voxel_size=0.05)
        right.append(pose.T_target_source is not None and np.less(errors(pose, pair.T_i_j), (15.0, 0.3)).all())
    assert np.mean(right) >= least


def test_fragments_of_different_places_are_not_believed(scans: Path) -> None:
    scenes = find_scenes(scans / "3dmatch")
    believed = []
    for (first, second), step in itertools.product(itertools.permutations(scenes, 2), range(5)):
        clouds = [scene.points(sorted(scene.numbers())[3 + 11 * step]) for scene in (first, second)]
        pose = cp.register(*clouds, voxel_size=0.05)
        believed.append(pose.status is cp.Status.OK)
    assert np.mean(believed) <= 0.1  # about 2 % of a thousand; these are thirty
