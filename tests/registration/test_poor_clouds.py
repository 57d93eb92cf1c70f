"""Clouds that say little, and what is no cloud: refused, or not believed."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from motions import move, random_motion
from simulated import room, street

import clipperplus as cp
from clipperplus import Status

Array = npt.NDArray[np.float64]


def grid(n: int, spacing: float, z: float = 0.0) -> Array:
    x, y = np.meshgrid(np.arange(n) * spacing, np.arange(n) * spacing)
    return np.column_stack((x.ravel(), y.ravel(), np.full(n * n, z)))


def sphere(n: int, seed: int) -> Array:
    points = np.random.default_rng(seed).normal(size=(n, 3))
    return np.asarray(points / np.linalg.norm(points, axis=1)[:, None])


def tube(n: int, seed: int) -> Array:
    random = np.random.default_rng(seed)
    angle, height = random.uniform(0.0, 2.0 * np.pi, n), random.uniform(-5.0, 5.0, n)
    return np.column_stack((np.cos(angle), np.sin(angle), height))


def noise(n: int, seed: int) -> Array:
    return np.random.default_rng(seed).uniform(-1.0, 1.0, (n, 3))


def line(n: int, seed: int) -> Array:
    return np.outer(np.random.default_rng(seed).uniform(0.0, 10.0, n), [1.0, 2.0, 2.0])


TURN = random_motion(500, shift=0.0)

POOR: dict[str, Any] = {
    "both empty": lambda: (np.empty((0, 3)), np.empty((0, 3))),
    "source empty": lambda: (np.empty((0, 3)), room().target),
    "target empty": lambda: (room().source, np.empty((0, 3))),
    "one point": lambda: (np.zeros((1, 3)), np.ones((1, 3))),
    "one point and a scan": lambda: (np.zeros((1, 3)), room().target),
    "all points equal": lambda: (np.full((1000, 3), 2.0), np.full((1000, 3), 5.0)),
    "nan everywhere": lambda: (np.full((100, 3), np.nan), room().target),
    "ten points": lambda: (noise(10, 0), move(TURN, noise(10, 0))),
    "ten other points": lambda: (noise(10, 0), noise(10, 1)),
    "noise": lambda: (noise(3000, 0), noise(3000, 1)),
    "a plane": lambda: (grid(60, 0.1), grid(60, 0.1, 1.0) + np.array([0.33, 0.17, 0.0])),
    "a rough plane": lambda: (grid(60, 0.1) + 0.02 * noise(3600, 0), grid(60, 0.1, 1.0) + 0.02 * noise(3600, 1)),
    "a line": lambda: (line(2000, 0), line(2000, 1)),
    "a line and a plane": lambda: (line(2000, 0), grid(60, 0.1)),
    "a sphere, turned": lambda: (sphere(5000, 0), move(TURN, sphere(5000, 1))),
    "the same sphere, turned": lambda: (sphere(5000, 0), sphere(5000, 0) @ TURN[:3, :3].T),
    "a tube": lambda: (tube(5000, 0), tube(5000, 1)),
    "very different scales": lambda: (room().source, room().target * 1000.0),
    "slightly different scales": lambda: (room().source, room().target * 1.5),
    "different rooms": lambda: (room(0).source, room(5).target),
    "a room and a street": lambda: (room().source, street().target),
    "huge coordinates": lambda: (room().source * 1e300, room().target * 1e300),
    "tiny coordinates": lambda: (room().source[::9] * 1e-300, room().target[::9] * 1e-300),
    "an extent that overflows": lambda: (np.array([[-1e308] * 3, [1e308] * 3]), room().target),
    "a scan and a stray point": lambda: (np.concatenate((room().source, [[1e12, 0.0, 0.0]])), room().target),
}
TRUE_MOTIONS: dict[str, Any] = {
    "ten points": lambda: TURN,
    "the same sphere, turned": lambda: TURN,
    "a scan and a stray point": lambda: room().T_target_source,
}


REFUSED = ("huge coordinates", "an extent that overflows")


@pytest.mark.parametrize("name", REFUSED)
def test_clouds_that_cannot_be_computed_with_are_refused(name: str) -> None:
    with pytest.raises(cp.LandmarkError, match=r"source: expected coordinates of at most 1e\+100, got \d"):
        cp.register(*POOR[name]())


@pytest.mark.parametrize("name", sorted(POOR.keys() - set(REFUSED)))
def test_poor_clouds_are_not_believed(name: str) -> None:
    source, target = POOR[name]()
    pose = cp.register(source, target)
    assert 0.0 <= pose.confidence <= 1.0
    if pose.T_target_source is None:
        assert pose.status is Status.TOO_FEW_INLIERS
        return
    assert np.isfinite(pose.T_target_source).all()
    assert np.isfinite(pose.covariance).all()
    pose.to_dict()
    if pose.status is Status.OK:
        assert name in TRUE_MOTIONS, f"believed: {pose}"
        truth = TRUE_MOTIONS[name]()
        assert cp.rotation_error(pose.T_target_source, truth) < 3.0
        assert cp.translation_error(pose.T_target_source, truth) < 2.0 * pose.voxel_size


def test_a_street_without_landmarks_is_open_along_itself() -> None:
    """Two walls and the ground: nothing holds a shift along them."""
    random = np.random.default_rng(20)
    clouds = []
    for _ in range(2):
        along, across = random.uniform(-10.0, 10.0, 6000), random.uniform(-2.0, 2.0, 6000)
        side = random.integers(3, size=6000)
        clouds.append(
            np.column_stack((along, np.where(side == 0, across, 4.0 * side - 6.0), np.where(side == 0, -2.0, across)))
        )
    pose = cp.register(*clouds)
    assert pose.status is Status.DEGENERATE
    assert max(abs(direction[3]) for direction in pose.degenerate_directions) > 0.9


@pytest.mark.parametrize("voxel_size", [0.6, 0.4])
def test_identical_clouds_are_registered_by_the_identity(voxel_size: float) -> None:
    pose = cp.register(room().source, room().source, voxel_size=voxel_size)
    assert cp.translation_error(pose.T_target_source, np.eye(4)) < 0.1 * voxel_size
    assert cp.rotation_error(pose.T_target_source, np.eye(4)) < 0.5
    assert pose.overlap > 0.85


@pytest.mark.timeout(60)
def test_clouds_that_match_perfectly_take_no_longer_than_others() -> None:
    """All associations are right: the graph is nearly complete, and so are its cliques."""
    pair = room()
    started = time.perf_counter()
    cp.register(pair.source, pair.target, voxel_size=0.35)
    usual = time.perf_counter() - started
    cp.register(pair.source, pair.source, voxel_size=0.35)
    assert time.perf_counter() - started < 10.0 * usual


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "voxel size": ({"voxel_size": 0.0}, "voxel_size: expected"),
    "voxels that are too small": ({"voxel_size": 1e-9}, "voxel_size: expected at least"),
    "epsilon": ({"epsilon": -1.0}, "epsilon: expected"),
    "matches": ({"matches": 0}, "matches: expected"),
    "ratio": ({"ratio": 2.0}, "ratio: expected"),
    "refine": ({"refine": "icp"}, "refine: expected None or 'gicp', got 'icp'"),
    "viewpoint": ({"source_viewpoint": (0.0, 1.0)}, "viewpoint: expected three finite coordinates"),
    "confidence": ({"min_confidence": 1.5}, "min_confidence: expected"),
    "alternatives": ({"max_alternatives": -1}, "max_alternatives: expected"),
    "threads": ({"threads": 0}, "threads: expected"),
    "method": ({"method": "guess"}, "method: "),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_options_are_refused(name: str) -> None:
    options, message = WRONG[name]
    with pytest.raises(cp.ClipperPlusError, match=message):
        cp.register(room().source[::20], room().target[::20], **options)


@pytest.mark.parametrize("name", [name for name in WRONG if name not in ("voxels that are too small", "viewpoint")])
def test_wrong_options_are_refused_before_the_clouds_are_looked_at(name: str) -> None:
    options, message = WRONG[name]
    with pytest.raises(cp.OptionError, match=message):
        cp.register(None, None, **options)


@pytest.mark.parametrize(
    ("cloud", "message"),
    [
        (np.zeros((3, 100)), r"source: expected points of shape \(n, 3\), got \(3, 100\)"),
        (np.zeros(3), "source: expected points of shape"),
        (np.zeros((5, 2)), "source: expected points of shape"),
        ("cloud.ply", "source: "),
        (None, "source: "),
        (np.zeros((5, 3), dtype=complex), "source: expected numbers"),
    ],
)
@pytest.mark.parametrize("voxel_size", [None, 0.1])
def test_what_is_no_cloud_is_refused_by_name(cloud: Any, message: str, voxel_size: float | None) -> None:
    with pytest.raises(cp.ClipperPlusError, match=message):
        cp.register(cloud, room().target, voxel_size=voxel_size)


@pytest.mark.parametrize("distance", [1e4, 1e6, 1e9])
@pytest.mark.parametrize("voxel_size", [None, 0.1])
def test_strays_in_both_clouds_do_not_spoil_the_registration(voxel_size: float | None, distance: float) -> None:
    scans = room()
    strays = distance * np.array([[1.0, 0.2, -0.3], [-0.5, 2.0, 0.0], [0.0, 0.0, -1.0]])
    source, target = np.concatenate((strays, scans.source)), np.concatenate((scans.target, strays[:2]))
    pose = cp.register(source, target, voxel_size=voxel_size)
    clean = cp.register(scans.source, scans.target, voxel_size=voxel_size)
    assert pose.status is Status.OK
    assert pose.voxel_size == pytest.approx(clean.voxel_size, rel=0.1)
    assert cp.rotation_error(pose.T_target_source, scans.T_target_source) < 1.0
    assert cp.translation_error(pose.T_target_source, scans.T_target_source) < 0.05
