"""What scans share, told for all pairs at once, against one pair after the other."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from motions import random_motion

import clipperplus as cp
from clipperplus.clouds.prepared import PreparedCloud
from clipperplus.geometry.poses import inverse
from clipperplus.mapping.outlines import Outline, Outlines
from clipperplus.mapping.workbench import Workbench
from clipperplus.synthetic import building_scans

SCANS = building_scans(scans=7, resolution=140)
VOXEL = 0.15
NUMBERS = np.arange(7)


@pytest.fixture(scope="module")
def clouds() -> list[PreparedCloud]:
    return [cp.prepare(cloud, voxel_size=VOXEL) for cloud in SCANS.clouds]


@pytest.fixture(scope="module")
def outlines(clouds: list[PreparedCloud]) -> list[Outline]:
    return [Outline(cloud) for cloud in clouds]


def near_share(source: PreparedCloud, target: PreparedCloud, motion: npt.NDArray[np.float64]) -> float:
    """Return the share of one cloud within three voxels of the other, by brute force."""
    points = source.points @ motion[:3, :3].T + motion[:3, 3]
    gaps = np.array([np.linalg.norm(target.points - point, axis=1).min() for point in points])
    return float((gaps < 3.0 * VOXEL).mean())


def test_shares_are_about_those_of_brute_force(clouds: list[PreparedCloud], outlines: list[Outline]) -> None:
    shares = Outlines(outlines, VOXEL).shares(NUMBERS, NUMBERS, SCANS.poses)
    for a in range(7):
        for b in range(a):
            there = (inverse(SCANS.poses[[b]]) @ SCANS.poses[[a]])[0]
            back = np.linalg.inv(there)
            expected = max(near_share(clouds[a], clouds[b], there), near_share(clouds[b], clouds[a], back))
            assert shares[a, b] == pytest.approx(expected, abs=0.2)


def test_a_scan_shares_all_of_itself_and_nothing_with_what_is_far_away(outlines: list[Outline]) -> None:
    poses = SCANS.poses.copy()
    poses[3, :3, 3] += 1e4
    shares = Outlines(outlines, VOXEL).shares(NUMBERS, NUMBERS, poses)
    assert np.allclose(np.diag(shares), 1.0, atol=1e-4)
    assert not np.delete(shares[3], 3).any()
    assert not np.delete(shares[:, 3], 3).any()


def test_shares_do_not_depend_on_which_side_a_scan_is_nor_on_blocks(
    outlines: list[Outline], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = Outlines(outlines, VOXEL).shares(NUMBERS, NUMBERS, SCANS.poses)
    assert np.allclose(whole, whole.T, atol=1e-4)
    monkeypatch.setattr("clipperplus.mapping.outlines._BLOCK", 2)
    assert np.allclose(Outlines(outlines, VOXEL).shares(NUMBERS, NUMBERS, SCANS.poses), whole, atol=1e-5)


def test_poses_that_are_asked_about_again_are_not_mixed_up(outlines: list[Outline]) -> None:
    known = Outlines(outlines, VOXEL)
    first = known.shares(NUMBERS, NUMBERS, SCANS.poses)
    other = SCANS.poses.copy()
    other[2] = random_motion(np.random.default_rng(0)) @ other[2]
    known.shares(NUMBERS, NUMBERS, other)
    assert (known.shares(NUMBERS, NUMBERS, SCANS.poses) == first).all()


def test_pairs_come_in_the_order_of_what_they_share(clouds: list[PreparedCloud]) -> None:
    bench = Workbench(clouds, free_space=True, threads=1)
    near = bench.near(NUMBERS, NUMBERS, SCANS.poses, 0.1)
    shares = [share for share, _ in near]
    assert shares == sorted(shares, reverse=True)
    assert min(shares) >= 0.1
    assert all(a < b for _, (a, b) in near)
    assert len({pair for _, pair in near}) == len(near)


def test_a_look_is_remembered_as_long_as_scans_hardly_move(clouds: list[PreparedCloud]) -> None:
    bench = Workbench(clouds, free_space=True, threads=1)
    (first,) = bench.look([(0, 1)], SCANS.poses, "")
    moved = SCANS.poses.copy()
    moved[0, 0, 3] += 0.1 * VOXEL
    (again,) = bench.look([(0, 1)], moved, "")
    assert again.motion is first.motion
    moved[0, 0, 3] += VOXEL
    (other,) = bench.look([(0, 1)], moved, "")
    assert other.motion is not first.motion
    assert (bench.covariance((0, 1), first.motion) == bench.covariance((0, 1), first.motion.copy())).all()


def test_an_empty_scan_shares_nothing() -> None:
    empty = Outline(cp.prepare(np.empty((0, 3)), voxel_size=VOXEL))
    full = Outline(cp.prepare(SCANS.clouds[0], voxel_size=VOXEL))
    shares = Outlines([empty, full], VOXEL).shares(np.arange(2), np.arange(2), np.tile(np.eye(4), (2, 1, 1)))
    assert shares[0, 0] == shares[0, 1] == shares[1, 0] == 0.0
    assert shares[1, 1] == pytest.approx(1.0, abs=1e-4)
