"""What is too much: refused with the figure before the memory is taken."""

from __future__ import annotations

import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from simulated import room

import clipperplus as cp
from clipperplus._limits import check_fits
from clipperplus.registration import looks


def test_too_many_matches_are_refused_with_the_figure() -> None:
    with pytest.raises(cp.MemoryLimitError, match=r"matches: .* \d{6} associations takes about \d+\.\d GiB") as caught:
        cp.register(room().source, room().target, matches=100)
    assert caught.value.needed is not None
    assert caught.value.needed > 6 * 2**30


def test_more_matches_that_fit_are_taken() -> None:
    pose = cp.register(room().source, room().target, matches=10)
    assert pose.status is cp.Status.OK
    assert len(pose.associations) > 10_000


def test_a_look_that_would_be_too_large_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    few = cp.register(room().source[::7], room().target[::7], effort="low")
    monkeypatch.setattr(looks, "_SMALL", len(few.associations))
    monkeypatch.setattr(looks, "_MOST_BYTES", 1)
    monkeypatch.setattr("clipperplus._limits.ALWAYS_FINE", 0)
    monkeypatch.setattr("clipperplus.registration.candidates._TRUSTED", 1.1)  # so that others follow
    again = cp.register(room().source[::7], room().target[::7])
    assert again.stages[-1].name == "look again"
    assert again.status is few.status


@pytest.mark.parametrize("count", [70_000_000, 1_000_001])
@pytest.mark.parametrize("call", [cp.consistency_graph, cp.consistency_weights, cp.solve, cp.register])
def test_more_associations_than_can_be_compared_are_refused_at_once(call: Callable[..., Any], count: int) -> None:
    points = np.random.default_rng(0).normal(size=(1000, 3))
    associations = np.broadcast_to(np.zeros((1, 2), dtype=np.int32), (count, 2))
    pytest.importorskip("scipy.sparse")  # whose modules take some memory themselves
    tracemalloc.start()
    try:
        with pytest.raises(
            cp.MemoryLimitError, match=f"associations: expected at most 1000000, .* got {count}; "
        ) as no:
            call(points, points, associations=associations)
        assert tracemalloc.get_traced_memory()[1] < 2**20  # nothing of their size is made
    finally:
        tracemalloc.stop()
    assert no.value.needed == count**2 // 8


def test_landmarks_and_matches_are_no_more_than_associations(monkeypatch: pytest.MonkeyPatch) -> None:
    points = np.random.default_rng(0).normal(size=(301, 3))
    monkeypatch.setattr("clipperplus.consistency.arguments.MOST_COMPARED", 300)
    assert cp.consistency_graph(points[1:], points[1:]).num_vertices == 300
    for call in (cp.consistency_graph, cp.consistency_weights, cp.solve):
        with pytest.raises(cp.MemoryLimitError, match=r"associations: expected at most 300, .* got 301"):
            call(points, points)
    with pytest.raises(cp.MemoryLimitError, match="matches: expected at most 300, "):
        cp.register(room().source, room().target)


def test_what_the_machine_does_not_have_is_refused() -> None:
    check_fits("this takes", 2**30)
    with pytest.raises(cp.MemoryLimitError, match=r"this takes about 1048576\.0 GiB, this machine has [\d.]+; "):
        check_fits("this takes", 2**50)
    with pytest.raises(cp.MemoryLimitError, match=r"this takes about 1\.0 GiB, 0\.5 are allowed; expected fewer"):
        check_fits("this takes", 2**30, 2**29)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such limits")
@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("cp.Graph.from_edges(2**26, [(0, 2**26 - 1)])", "not enough memory: the system refused"),  # in the core
        ("cp.consistency_graph(*[np.ones((200_000, 3))] * 2, epsilon=0.5)", "this machine has 1.0"),
        ("cp.solve(*[np.ones((200_000, 3))] * 2, epsilon=0.5)", "this machine has 1.0"),
        ("cp.match_features(*[np.zeros((100_000, 8))] * 2, k=1000)", "this machine has 1.0"),
    ],
)
def test_what_the_process_may_not_have_is_an_error_of_the_package(call: str, message: str) -> None:
    code = (
        "import resource, numpy as np, clipperplus as cp\n"
        "resource.setrlimit(resource.RLIMIT_AS, (2**30, 2**30))\n"
        f"try:\n    {call}\n"
        "except cp.MemoryLimitError as error:\n    print(error)\n"
    )
    environment = {"OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": str(Path(cp.__file__).parents[1])}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert message in done.stdout, done.stderr
