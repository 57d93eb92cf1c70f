"""Scans of which not all is kept in memory: what is made again is the same."""

from __future__ import annotations

import functools
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from clipperplus.clouds.cloud import as_cloud
from clipperplus.clouds.prepared import PreparedCloud
from clipperplus.clouds.recent import Recent
from clipperplus.clouds.voxels import voxel_means
from clipperplus.mapping.scans import as_scans, prepare_scans
from clipperplus.mapping.shelf import Shelf
from clipperplus.mapping.similarity import pair_similarities
from clipperplus.mapping.surfaces import FinePoints
from clipperplus.mapping.workbench import Workbench
from clipperplus.synthetic import building_scans

SCANS = building_scans(scans=4, resolution=120)
VOXEL = 0.2


def made(counts: Counter[int], number: int) -> np.ndarray:
    counts[number] += 1
    return np.full(100, number)


def test_the_most_recent_are_kept_and_others_made_again() -> None:
    counts, recent = Counter[int](), Recent(3 * 800)
    for number in (0, 1, 2, 0, 3, 4, 0, 1):
        assert (recent.get(number, functools.partial(made, counts, number)) == number).all()
    assert counts == {0: 1, 1: 2, 2: 1, 3: 1, 4: 1}


def test_what_several_threads_ask_for_at_once_is_made_once() -> None:
    counts, recent, ready = Counter[int](), Recent(10**6), threading.Barrier(4)

    def ask(_: int) -> np.ndarray:
        ready.wait(10.0)
        return recent.get(7, lambda: made(counts, 7))

    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(ask, range(4)))
    assert all(result is results[0] for result in results)
    assert counts == {7: 1}


def test_what_was_cleared_is_made_again() -> None:
    counts, recent = Counter[int](), Recent(10**6)
    recent.get(0, functools.partial(made, counts, 0))
    recent.clear()
    recent.get(0, functools.partial(made, counts, 0))
    assert counts == {0: 2}


@pytest.mark.parametrize("far", [0.0, 1e6])
def test_finer_points_lose_next_to_nothing(far: float) -> None:
    """Against double precision, also of clouds that are far from the origin of their frame."""
    cloud = as_cloud("cloud", SCANS.clouds[0] + far)
    expected, _ = voxel_means(cloud, VOXEL, 1)
    surface = FinePoints.of_cloud(cloud, VOXEL, 4.5).surface()
    assert np.abs(surface.points - expected).max() < 1e-6
    assert np.abs(np.linalg.norm(surface.normals, axis=1) - 1.0).max() < 1e-6


def test_what_could_not_be_made_is_tried_again() -> None:
    recent = Recent(1000)
    with pytest.raises(ZeroDivisionError):
        recent.get(0, lambda: np.zeros(1 // 0))
    assert len(recent.get(0, lambda: np.zeros(3))) == 3


@pytest.fixture(scope="module")
def shelf() -> Shelf:
    scans = as_scans([*SCANS.clouds, np.zeros((4, 3))])
    return Shelf(Workbench((), free_space=True, threads=2), scans, VOXEL)


@pytest.fixture(scope="module")
def expected() -> list[PreparedCloud]:
    return prepare_scans(Workbench((), free_space=True, threads=1), as_scans(list(SCANS.clouds)), VOXEL)


def test_clouds_of_a_shelf_are_those_that_were_prepared(shelf: Shelf, expected: list[PreparedCloud]) -> None:
    assert shelf.numbers == [0, 1, 2, 3]  # not the empty one
    for k, cloud in enumerate(expected):
        for row in (shelf.seen, shelf.described):
            other = row[k]
            assert (other.points == cloud.points).all()
            assert (other.normals == cloud.normals).all()
            assert (other.bends == cloud.bends).all()
            assert (other.viewpoint.place == cloud.viewpoint.place).all()
            inside = np.ascontiguousarray(0.5 * (cloud.points[::50] + cloud.viewpoint.place))
            motions = np.eye(4)[None]
            assert other.sight.count_in_front(inside, motions, 0.1, 1) == cloud.sight.count_in_front(
                inside, motions, 0.1, 1
            )
        assert (shelf.described[k].features == cloud.features).all()
        assert not len(shelf.seen[k].features)
    with pytest.raises(IndexError, match="4 scans"):
        shelf.seen[4]


def test_similarities_are_those_of_the_clouds(shelf: Shelf, expected: list[PreparedCloud]) -> None:
    assert (shelf.similarities() == pair_similarities(expected)).all()


def test_memory_of_a_cloud_grows_with_what_is_asked_of_it(expected: list[PreparedCloud]) -> None:
    cloud = expected[0]
    before = cloud.nbytes
    assert before > cloud.points.nbytes + cloud.features.nbytes
    assert cloud.surface.nbytes > cloud.points.nbytes
    assert cloud.nbytes == before + cloud.surface.nbytes
    cloud.described(1.0, 3.0, 1)
    assert cloud.nbytes > before + cloud.surface.nbytes
