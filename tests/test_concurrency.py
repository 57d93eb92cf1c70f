"""The GIL is released, Ctrl-C is heard, threads do not disturb each other."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from pinholes import INTRINSICS, simulate
from strategies import random_graph, symmetric_weights

import clipperplus as cp
from clipperplus._paths import write_bytes
from clipperplus.invariants import GroupSampling

LONG = cp.RelaxationOptions(tol_u=0.0, tol_f=0.0, max_inner=10**6)
ENDLESS = {
    "pelillo": cp.PelilloOptions(tolerance=0.0, max_steps=10**9),
    "ding": cp.DingOptions(tolerance=0.0, max_steps=10**9),
    "belachew": cp.BelachewOptions(tolerance=0.0, max_sweeps=10**9),
    "clipper": cp.ClipperOptions(tol_u=0.0, tol_f=0.0, max_inner=10**9),
}


def test_four_python_threads_get_the_answers_of_one() -> None:
    graphs = [random_graph(400, 0.3, seed) for seed in range(12)]
    expected = [cp.find_clique(graph, method="clipper+").vertices.tolist() for graph in graphs]
    with ThreadPoolExecutor(4) as pool:
        for _ in range(3):
            results = pool.map(lambda graph: cp.find_clique(graph, method="clipper+"), graphs)
            assert [result.vertices.tolist() for result in results] == expected


def test_the_gil_is_released_while_a_kernel_runs() -> None:
    """Python code in this thread goes on while another thread is inside a kernel."""
    graph = random_graph(1500, 0.5, 1)
    worker = threading.Thread(
        target=cp.find_clique, args=(graph,), kwargs={"method": "relaxation", "relaxation": LONG, "time_limit": 0.5}
    )
    worker.start()
    longest, last = 0.0, time.perf_counter()
    while worker.is_alive():
        now = time.perf_counter()
        longest, last = max(longest, now - last), now
        time.sleep(0.001)
    assert longest < 0.2


def test_calls_from_four_python_threads_overlap() -> None:
    """Each call lasts until its own time limit: together they take one limit, not four, if none blocks another."""
    graph = random_graph(1500, 0.5, 2)

    def work() -> float:
        return cp.find_clique(graph, method="relaxation", relaxation=LONG, time_limit=0.5).seconds

    start = time.perf_counter()
    with ThreadPoolExecutor(4) as pool:
        durations = [future.result() for future in [pool.submit(work) for _ in range(4)]]
    wall = time.perf_counter() - start
    assert min(durations) >= 0.5
    assert wall < 0.6 * sum(durations)


def test_the_interpreter_ends_while_daemon_threads_search() -> None:
    code = (
        "import threading, time, numpy as np, clipperplus as cp\n"
        "upper = np.triu(np.random.default_rng(0).random((1500, 1500)) < 0.5, k=1)\n"
        "graph = cp.Graph.from_adjacency(upper | upper.T)\n"
        "options = cp.RelaxationOptions(tol_u=0, tol_f=0, max_inner=10**6)\n"
        "search = lambda: cp.find_clique(graph, method='relaxation', relaxation=options)\n"
        "[threading.Thread(target=search, daemon=True).start() for _ in range(3)]\n"
        "time.sleep(0.3)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_clouds_that_change_while_they_are_read_do_no_harm(dtype: type) -> None:
    """They are not copied; nonsense in them gives some answer or an error, nothing worse."""
    points = np.random.default_rng(0).uniform(-1.0, 1.0, (40_000, 3)).astype(dtype)
    points[::3] = (0.5, 0.5, 0.5)
    done = threading.Event()

    def scribble() -> None:
        while not done.is_set():
            for nonsense in (np.nan, np.inf, np.finfo(dtype).max, -np.finfo(dtype).max, 1e9, 0.5):
                points[::3] = nonsense

    writer = threading.Thread(target=scribble)
    writer.start()
    try:
        for _ in range(100):
            with contextlib.suppress(ValueError):
                assert cp.downsample(points, voxel_size=0.1, threads=2).shape[1] == 3
            with contextlib.suppress(ValueError):
                cp.prepare(points, voxel_size=0.2, threads=2)
    finally:
        done.set()
        writer.join()


def test_arrays_that_change_while_they_are_read_do_no_harm() -> None:
    """Another thread writes nonsense into the caller's array: some graph or an error, nothing worse."""
    n = 4000
    graph = cp.Graph.from_edges(n, [])
    vertices = np.arange(n, dtype=np.int32)
    wide = np.arange(n)
    edges = np.column_stack((np.arange(n - 1), np.arange(1, n)))
    done = threading.Event()

    def scribble() -> None:
        while not done.is_set():
            vertices[100], wide[-1], edges[-5:] = 2**30, 2**40, 2**40
            vertices[100], wide[-1], edges[-5:] = 100, n - 1, (0, 1)

    writer = threading.Thread(target=scribble)
    writer.start()
    try:
        for _ in range(500):
            attempts = (
                lambda: graph.subgraph(vertices),
                lambda: cp.Graph.from_edges(10 * n, edges),
                lambda: cp.is_clique(graph, wide),
            )
            for attempt in attempts:
                with contextlib.suppress(ValueError):
                    attempt()
    finally:
        done.set()
        writer.join()


def test_weights_and_starts_that_change_while_they_are_read_do_no_harm() -> None:
    graph = random_graph(80, 0.5, 0)
    weights = symmetric_weights(graph, 0)
    sparse = scipy.sparse.csr_array(weights)
    start = np.ones(80)
    done = threading.Event()

    def scribble() -> None:
        while not done.is_set():
            weights[40], sparse.indices[50], sparse.indptr[9], start[7] = np.nan, 2**30, -5, -1.0
            weights[40], sparse.indices[50], sparse.indptr[9], start[7] = 0.0, 3, 4, 1.0

    writer = threading.Thread(target=scribble)
    writer.start()
    try:
        for _ in range(500):
            for settings in ({"weights": weights}, {"weights": sparse}, {"options": cp.ClipperOptions(start=start)}):
                with contextlib.suppress(cp.ClipperPlusError):
                    cp.find_clique(graph, method="clipper", **settings)  # type: ignore[arg-type]
    finally:
        done.set()
        writer.join()


@pytest.mark.parametrize(
    ("n", "density", "method", "delay"),
    [
        (1500, 0.5, "relaxation", 0.2),
        (5000, 0.3, "greedy", 0.15),
        (5000, 0.3, "clipper+", 0.5),
        (2000, 0.99, "csr greedy", 0.5),
        *((1500, 0.5, method, 0.2) for method in ENDLESS),
    ],
)
def test_ctrl_c_returns_within_a_tenth_of_a_second(n: int, density: float, method: str, delay: float) -> None:
    graph = random_graph(n, density, 3)
    if method == "csr greedy":
        graph, method = cp.Graph.from_edges(400_000, graph.edges()), "greedy"
        assert graph.representation == "csr"
    settings: dict[str, Any] = {}
    if method in ENDLESS:
        settings["options"] = ENDLESS[method]
    elif method != "greedy":
        settings["relaxation"] = LONG

    def search_forever() -> None:
        while True:
            cp.find_clique(graph, method=method, **settings)

    # The fastest of three: other processes on the machine may hold up one.
    assert min(seconds_to_stop(search_forever, delay) for _ in range(3)) < 0.1
    assert cp.find_clique(random_graph(100, 0.3, 1)).size > 0  # and everything still works


@pytest.mark.parametrize("threads", [1, 2])
def test_ctrl_c_ends_the_search_for_a_camera(threads: int) -> None:
    seen, many = simulate(0, 500, 1.0), GroupSampling(budget=10**9)

    def search() -> None:
        cp.solve_camera(seen.points, seen.pixels, INTRINSICS, groups=many, threads=threads)

    assert min(seconds_to_stop(search, 0.2) for _ in range(3)) < 0.1


@pytest.mark.parametrize("what", ["pairs", "a map"])
def test_ctrl_c_ends_what_other_threads_do(what: str) -> None:
    """It reaches this thread alone, which waits for them."""
    places = np.random.default_rng(0).uniform(-5.0, 5.0, (2, 300_000, 2))
    clouds = [np.column_stack((place, np.sin(place[:, 0]) * np.cos(place[:, 1]))) for place in places]

    def work() -> None:
        if what == "pairs":
            list(cp.register_pairs([(0, 1), (1, 0)], clouds=clouds, voxel_size=0.02, threads=2))
        else:
            cp.build_map(clouds, voxel_size=0.02, threads=2)
        pytest.fail("it ended by itself")

    assert min(seconds_to_stop(work, 0.7) for _ in range(3)) < 0.1


def test_work_on_threads_that_was_ended_can_be_done_again() -> None:
    points = np.random.default_rng(0).normal(size=(3000, 3))
    pairs = [(points, points), (points, points[::2]), (points[::2], points), (points, points[::3])]
    some = cp.register_pairs(pairs, threads=2)
    next(some)
    some.close()  # type: ignore[attr-defined]
    assert [result.failure for result in cp.register_pairs(pairs, threads=2)] == [None] * 4


def test_ctrl_c_ends_the_packing_of_a_file(tmp_path: Path) -> None:
    digits = np.random.default_rng(0).integers(48, 58, 40_000_000, dtype=np.uint8).tobytes()

    def pack() -> None:
        while True:
            write_bytes(tmp_path / "a.gz", digits)

    assert min(seconds_to_stop(pack, 0.2) for _ in range(3)) < 0.1
    assert list(tmp_path.iterdir()) == []


def seconds_to_stop(work: Callable[[], None], delay: float) -> float:
    """Return how long work that does not end by itself goes on after Ctrl-C."""
    sent: list[float] = []

    def interrupt() -> None:
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(delay, interrupt)
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            work()
        return time.perf_counter() - sent[0]
    finally:
        timer.cancel()
        timer.join()
