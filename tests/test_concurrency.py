"""The GIL is released, Ctrl-C is heard, threads do not disturb each other."""

from __future__ import annotations

import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from strategies import random_graph

import clipperplus as cp

LONG = cp.RelaxationOptions(tol_u=0.0, tol_f=0.0, max_inner=10**6)


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


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="needs two cores to run in parallel")
def test_calls_from_python_threads_run_in_parallel() -> None:
    """Two threads' processor time adds up to more than the wall clock shows."""
    graph = random_graph(1500, 0.5, 2)

    def work() -> None:
        cp.find_clique(graph, method="relaxation", relaxation=LONG, time_limit=0.6)

    wall, cpu = time.perf_counter(), time.process_time()
    with ThreadPoolExecutor(4) as pool:
        for future in [pool.submit(work) for _ in range(4)]:
            future.result()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    assert cpu > 1.3 * wall


@pytest.mark.parametrize(
    ("n", "density", "method", "delay"),
    [(1500, 0.5, "relaxation", 0.2), (7000, 0.3, "greedy", 0.15), (7000, 0.3, "clipper+", 0.5)],
)
def test_ctrl_c_returns_within_a_tenth_of_a_second(n: int, density: float, method: str, delay: float) -> None:
    graph = random_graph(n, density, 3)
    options = LONG if method != "greedy" else None
    sent: list[float] = []

    def interrupt() -> None:
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    def search_forever() -> None:
        while True:
            cp.find_clique(graph, method=method, relaxation=options)

    timer = threading.Timer(delay, interrupt)
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            search_forever()
        assert time.perf_counter() - sent[0] < 0.1
    finally:
        timer.cancel()
        timer.join()
    assert cp.find_clique(random_graph(100, 0.3, 1)).size > 0  # and everything still works
