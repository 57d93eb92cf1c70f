"""Pairs on real clusters of processes: the same results whatever is killed, and nothing that takes others with it."""

from __future__ import annotations

import dataclasses
import itertools
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import dask
import numpy as np
import numpy.typing as npt
import psutil
import pytest
from dask_processes import dask_processes, workers_of
from misbehaving import Counting, EndingItsParent, Endless, Failing, Poisonous, PoisonousRecipe, tries

import clipperplus as cp
from clipperplus.clouds.scan import Unread, as_scan
from clipperplus.pairs.clients import connected, started
from clipperplus.pairs.cluster import Cluster
from clipperplus.pairs.recipes import Failure, Recipe
from clipperplus.pairs.tasks import Task

Clouds = list[npt.NDArray[np.float64]]
VOXEL = 0.2
PAIRS = list(itertools.combinations(range(6), 2))


def said(results: Any) -> dict[int, str]:
    """Return all that was computed, to the last bit."""
    left_out = ("seconds", "was_known", "source", "target")
    return {
        result.number: json.dumps({name: value for name, value in result.to_dict().items() if name not in left_out})
        for result in results
    }


@pytest.fixture(scope="module")
def truth(clouds: Clouds) -> dict[int, str]:
    """What one process says, without Dask."""
    return said(cp.register_pairs(PAIRS, clouds=clouds, voxel_size=VOXEL, effort="low", threads=1))


@contextmanager
def work_on(client: Any, clouds: Clouds, **options: Any) -> Iterator[Cluster]:
    scans = [as_scan(cloud, f"cloud {number}") for number, cloud in enumerate(clouds)]
    recipes = {str(number): Recipe(scan, scan.content, VOXEL) for number, scan in enumerate(scans)}
    cluster = Cluster(client, recipes.__getitem__, **options)
    yield cluster
    cluster.close()


def results_of(cluster: Cluster, works: list[Any], pairs: Sequence[tuple[object, object]] = PAIRS) -> list[Any]:
    ends = itertools.cycle(pairs)
    tasks = [Task(k, *map(str, next(ends)), work) for k, work in enumerate(works)]
    found = {task.number: result for some in cluster.work(tasks) for task, result in some}
    return [found[number] for number in range(len(works))]


def test_results_are_those_of_one_process_to_the_last_bit(client: Any, clouds: Clouds, truth: dict[int, str]) -> None:
    found = cp.register_pairs(PAIRS, clouds=clouds, voxel_size=VOXEL, effort="low", client=client)
    assert said(found) == truth


def test_workers_read_files_and_what_they_cannot_read_fails_alone(
    client: Any, files: list[Path], truth: dict[int, str], tmp_path: Path
) -> None:
    pairs = [*((files[a], files[b]) for a, b in PAIRS), (files[0], tmp_path / "missing.npy")]
    found = list(cp.register_pairs(pairs, voxel_size=VOXEL, effort="low", client=client))
    failed = [result for result in found if result.failure is not None]
    assert [result.number for result in failed] == [len(PAIRS)]
    assert "missing.npy" in str(failed[0].failure)
    assert said(result for result in found if result.failure is None) == truth


def test_a_file_that_only_the_client_has_is_sent(
    client: Any, clouds: Clouds, files: list[Path], tmp_path: Path
) -> None:
    """Paths on the workers are simulated by ones that are gone when they look."""
    scan = as_scan(files[0], "scan")

    class Here(Recipe):
        def with_points(self) -> Recipe:
            return Recipe(scan, scan.content, VOXEL)

    others = as_scan(clouds[1], "other"), as_scan(clouds[2], "third")
    recipes = {
        "0": Here(Unread(str(tmp_path / "elsewhere.npy"), "elsewhere"), scan.content, VOXEL),
        "1": Recipe(others[0], others[0].content, VOXEL),
        "2": Recipe(others[1], others[1].content, VOXEL),
    }
    cluster = Cluster(client, recipes.__getitem__)
    found = results_of(cluster, [Counting(str(tmp_path), "a") for _ in range(20)], [("0", "1"), ("2", "0")])
    cluster.close()
    sizes = {key: len(recipe.with_points().make().points) for key, recipe in recipes.items()}
    assert [result["points"] for result in found] == [[sizes["0"], sizes["1"]], [sizes["2"], sizes["0"]]] * 10


def test_what_kills_its_worker_is_given_up_after_two_tries_and_takes_nobody_with_it(
    client: Any, clouds: Clouds, tmp_path: Path
) -> None:
    marks = str(tmp_path)
    works: list[Any] = [Counting(marks, f"good{k}", 0.01) for k in range(20)]
    works[7] = Poisonous(marks, "poison")
    with work_on(client, clouds) as cluster:
        found = results_of(cluster, works)
    assert isinstance(found[7], Failure)
    assert found[7].reason == "ended the process that worked on it, twice: SIGKILL"
    assert tries(tmp_path, "poison") == 2
    assert all("points" in result for k, result in enumerate(found) if k != 7)
    assert all(1 <= tries(tmp_path, f"good{k}") <= 3 for k in range(20) if k != 7)


def test_a_cloud_that_kills_its_worker_is_given_up_after_two_tries(client: Any, clouds: Clouds, tmp_path: Path) -> None:
    scans = [as_scan(cloud, f"cloud {number}") for number, cloud in enumerate(clouds)]
    recipes: dict[str, Recipe] = {str(k): Recipe(scan, scan.content, VOXEL) for k, scan in enumerate(scans)}
    recipes["0"] = PoisonousRecipe(scans[0], scans[0].content, VOXEL, marks=str(tmp_path))
    cluster = Cluster(client, recipes.__getitem__, memory=1)  # whatever was prepared is let go at once
    found = results_of(cluster, [Counting(str(tmp_path), "good") for _ in range(30)])
    cluster.close()
    for (source, target), result in zip(itertools.cycle(PAIRS), found, strict=False):
        if 0 in (source, target):
            assert result == Failure("ended the process that worked on it, twice: SIGKILL")
        else:
            assert "points" in result
    assert tries(tmp_path, "cloud") == 2


def test_what_was_there_when_its_worker_was_killed_is_simply_done(client: Any, clouds: Clouds, tmp_path: Path) -> None:
    """Work that was killed once, by something else, looks the same as poison at first."""
    works = [Poisonous(str(tmp_path), "unlucky", times=1), Counting(str(tmp_path), "other")]
    with work_on(client, clouds) as cluster:
        found = results_of(cluster, works)
    assert all("points" in result for result in found)
    assert tries(tmp_path, "unlucky") == 2


def test_what_ends_workers_again_and_again_is_given_up_in_the_end(
    client: Any, clouds: Clouds, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Dask itself gives up after some workers; then it is tried afresh, and not for ever."""
    monkeypatch.setattr("clipperplus.pairs.cluster._KILLED", 2)
    works = [EndingItsParent(str(tmp_path), "worst"), *(Counting(str(tmp_path), f"good{k}") for k in range(4))]
    with work_on(client, clouds) as cluster:
        found = results_of(cluster, works)
    assert found[0] == Failure("the workers that it was given to ended, again and again")
    assert all("points" in result for result in found[1:])


def test_what_does_not_end_where_it_should_is_ended(client: Any, clouds: Clouds, tmp_path: Path) -> None:
    works = [Endless(str(tmp_path), "endless"), *(Counting(str(tmp_path), f"good{k}") for k in range(4))]
    with work_on(client, clouds) as cluster:
        found = results_of(cluster, works)
    assert found[0] == Failure("took longer than 2.2 s, and did not end by itself")
    assert tries(tmp_path, "endless") == 2
    assert all("points" in result for result in found[1:])


def test_errors_cross_processes(client: Any, clouds: Clouds, tmp_path: Path) -> None:
    with work_on(client, clouds) as cluster:
        found = results_of(cluster, [Failing(str(tmp_path), "failing"), Counting(str(tmp_path), "good")])
    assert found[0] == Failure("not enough memory")
    assert "points" in found[1]


def test_memory_of_workers_is_bounded_and_what_is_let_go_is_made_again(
    client: Any, clouds: Clouds, truth: dict[int, str]
) -> None:
    found = cp.register_pairs(PAIRS, clouds=clouds, voxel_size=VOXEL, effort="low", client=client, memory=1)
    assert said(found) == truth
    with work_on(client, clouds, memory=1) as cluster:
        results_of(cluster, [Counting("/tmp", os.devnull)] * 15)
        assert len(cluster._clouds) <= 2 * cluster._most_at_once()


def test_nothing_listens_but_on_loopback(client: Any) -> None:
    me = psutil.Process()
    listening = [
        place.laddr.ip
        for process in (me, *me.children(recursive=True))
        for place in process.net_connections()
        if place.status == psutil.CONN_LISTEN
    ]
    assert listening
    assert set(listening) <= {"127.0.0.1", "::1"}


def test_workers_may_be_killed_all_the_time(clouds: Clouds, tmp_path: Path) -> None:
    """Every pair ten times, by options that make it another one; whenever some came back, a worker is killed."""
    pairs = [(a, b, {"min_confidence": 0.5 + 0.01 * k}) for k in range(10) for a, b in PAIRS]
    options: dict[str, Any] = {"clouds": clouds, "voxel_size": VOXEL, "effort": "low"}
    found, killed = [], 0
    others = set(workers_of(os.getpid()))  # of the cluster that the other tests share
    with started(2) as connection:
        results = cp.register_pairs(pairs, client=connection.client, store=tmp_path / "pairs.sqlite", **options)
        for result in results:
            found.append(result)
            if len(found) % 30 == 10:
                workers = set(workers_of(os.getpid())) - others
                min(workers, key=psutil.Process.create_time).kill()  # one that has begun: its nanny starts another
                killed += 1
    assert killed == 5
    assert said(found) == said(cp.register_pairs(pairs, **options))


def test_a_worker_that_is_killed_is_started_again_however_long_it_takes(clouds: Clouds, tmp_path: Path) -> None:
    """Dask gives up those that are not back in time; one that was killed again at that moment looks the same."""
    others = set(workers_of(os.getpid()))
    at_once = {"distributed.deploy.lost-worker-timeout": "10ms"}  # no process is back so soon
    with dask.config.set(at_once), started(1) as connection, work_on(connection.client, clouds) as cluster:
        for name in ("first", "second"):
            (found,) = results_of(cluster, [Counting(str(tmp_path), name)])
            assert "points" in found
            (worker,) = set(workers_of(os.getpid())) - others
            worker.kill()


def test_a_scheduler_that_was_killed_and_started_again_goes_on(clouds: Clouds, truth: dict[int, str]) -> None:
    found = []
    with dask_processes() as (cluster, client):
        for result in cp.register_pairs(PAIRS, clouds=clouds, voxel_size=VOXEL, effort="low", client=client):
            found.append(result)
            if len(found) == 3:
                cluster.kill_scheduler()
                cluster.start()
    assert said(found) == truth


def test_a_scheduler_that_does_not_come_back_is_told(
    clouds: Clouds, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("clipperplus.pairs.cluster._PATIENCE", 2.0)
    found, store = [], tmp_path / "pairs.sqlite"
    options: dict[str, Any] = {"clouds": clouds, "voxel_size": VOXEL, "effort": "low", "store": store}
    with dask_processes() as (cluster, client):

        def until_it_is_gone() -> None:
            for result in cp.register_pairs(PAIRS, client=client, **options):
                found.append(result)
                if len(found) == 3:
                    cluster.kill_scheduler()

        with pytest.raises(cp.ClusterError, match="gone"):
            until_it_is_gone()
    rest = list(cp.register_pairs(PAIRS, **options))
    assert {result.number for result in rest if result.was_known} >= {result.number for result in found}


def test_workers_that_are_gone_for_good_are_told(
    clouds: Clouds, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Also where nothing is left to be given out."""
    monkeypatch.setattr("clipperplus.pairs.cluster._PATIENCE", 3.0)
    works = [Counting(str(tmp_path), "slow", 30.0)] * 2
    with dask_processes() as (cluster, client), work_on(client, clouds) as engine:
        results_of(engine, [Counting(str(tmp_path), "first")])
        threading.Timer(2.0, cluster.kill_workers).start()
        with pytest.raises(cp.ClusterError, match="no workers"):
            results_of(engine, works)


def test_a_client_that_gives_up_its_scheduler_is_told(clouds: Clouds, tmp_path: Path) -> None:
    """Dask closes it then, and what is done with it raises errors of its own."""
    from distributed import Client

    with dask_processes() as (cluster, _), Client(cluster.address, timeout=1) as client:
        threading.Timer(2.0, cluster.kill_scheduler).start()
        with work_on(client, clouds) as engine, pytest.raises(cp.ClusterError, match="gone"):
            results_of(engine, [Counting(str(tmp_path), "slow", 30.0)] * 2)
        with pytest.raises(cp.ClusterError, match="gone"):
            list(cp.register_pairs(PAIRS, clouds=clouds, voxel_size=VOXEL, client=client))


def test_workers_of_another_version_do_nothing(client: Any, files: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    here = cp.core_info()
    monkeypatch.setattr("clipperplus.pairs.cluster.core_info", lambda: dataclasses.replace(here, version="9.9"))
    (found,) = cp.register_pairs([files[:2]], voxel_size=VOXEL, client=client)
    assert found.failure == f"a worker has clipperplus {here.version}, and the client 9.9"


def test_a_client_that_was_killed_loses_no_result(files: list[Path], truth: dict[int, str], tmp_path: Path) -> None:
    store = tmp_path / "pairs.sqlite"
    pairs = [(str(files[a]), str(files[b])) for a, b in PAIRS]
    script = f"""
import clipperplus as cp
from clipperplus.pairs.clients import started
if __name__ == "__main__":
    with started(2) as connection:
        options = dict(voxel_size={VOXEL}, effort="low", client=connection.client, store={str(store)!r})
        found = cp.register_pairs({pairs!r}, **options)
        for result in found:
            print(result.number, flush=True)
"""
    (tmp_path / "run.py").write_text(script, encoding="utf-8")
    child = subprocess.Popen([sys.executable, tmp_path / "run.py"], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    reported = [int(child.stdout.readline()) for _ in range(4)]
    child.kill()
    child.communicate()
    again = list(cp.register_pairs(pairs, voxel_size=VOXEL, effort="low", store=store))
    assert set(reported) <= {result.number for result in again if result.was_known}
    assert said(again) == truth


def test_no_scheduler_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("clipperplus.pairs.clients._PATIENCE", 1.0)
    with pytest.raises(cp.ClusterError, match=r"127\.0\.0\.1:9: no scheduler"), connected("tcp://127.0.0.1:9"):
        pass
    with pytest.raises(cp.ClusterError, match="no scheduler"), connected("what://is:this"):
        pass


def test_a_map_is_the_same_on_a_cluster(client: Any, clouds: Clouds) -> None:
    pytest.importorskip("gtsam", reason="maps need gtsam")
    here = cp.build_map(clouds, voxel_size=VOXEL)
    there = cp.build_map(clouds, voxel_size=VOXEL, client=client)
    assert np.array_equal(here.poses, there.poses, equal_nan=True)
    assert np.array_equal(here.confidence, there.confidence)
    assert [edge.reason for edge in here.edges] == [edge.reason for edge in there.edges]
