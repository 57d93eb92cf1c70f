"""Work in the background: the newest settings win, errors are told, and the steps of a registration are known."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from simulated import room

import clipperplus as cp
from clipperplus.viz.viewer.background import Background, Progress, Report
from clipperplus.viz.viewer.repeated_registration import STEPS, RepeatedRegistration, Settings

PATIENCE = 30.0
"""Seconds after which something that should have happened has not."""


class Told:
    """A listener that remembers what it hears."""

    def __init__(self) -> None:
        self.progress: list[Progress] = []
        self.outcomes: queue.Queue[object] = queue.Queue()

    def progressed(self, progress: Progress) -> None:
        self.progress.append(progress)

    def finished(self, result: object) -> None:
        self.outcomes.put(result)

    def failed(self, error: Exception) -> None:
        self.outcomes.put(error)

    def next_outcome(self) -> object:
        return self.outcomes.get(timeout=PATIENCE)


class Gate:
    """Work that stops between two steps until it is let through."""

    def __init__(self) -> None:
        self.begun = threading.Semaphore(0)
        self.through = threading.Semaphore(0)
        self.completed: list[str] = []

    def __call__(self, settings: str, report: Report) -> str:
        report(Progress("first", 0.0))
        self.begun.release()
        assert self.through.acquire(timeout=PATIENCE)
        report(Progress("second", 0.5))
        self.completed.append(settings)
        return settings.upper()


@pytest.fixture
def told() -> Told:
    return Told()


@pytest.fixture
def start(told: Told) -> Iterator[Callable[[Callable[[str, Report], object]], Background[str, object]]]:
    started: list[Background[str, object]] = []

    def begin(work: Callable[[str, Report], object]) -> Background[str, object]:
        started.append(Background(work, told))
        return started[-1]

    yield begin
    for background in started:
        background.close(PATIENCE)


def test_work_is_done_and_told_step_by_step(told, start) -> None:
    gate = Gate()
    gate.through.release()
    start(gate).request("a")
    assert told.next_outcome() == "A"
    assert told.progress == [Progress("first", 0.0), Progress("second", 0.5)]


def test_newer_settings_end_the_work_at_its_next_step_and_those_in_between_are_never_begun(told, start) -> None:
    gate = Gate()
    background = start(gate)
    background.request("a")
    assert gate.begun.acquire(timeout=PATIENCE)
    for settings in ("b", "c", "d"):
        background.request(settings)
    gate.through.release(2)
    assert told.next_outcome() == "D"
    assert gate.completed == ["d"]
    assert told.outcomes.empty()


def test_a_result_that_is_overtaken_after_the_last_step_is_not_told(told, start) -> None:
    finishing, overtaken = threading.Event(), threading.Event()

    def work(settings: str, report: Report) -> str:
        report(Progress("only", 0.0))
        if settings == "a":
            finishing.set()
            assert overtaken.wait(PATIENCE)
        return settings

    background = start(work)
    background.request("a")
    assert finishing.wait(PATIENCE)
    background.request("b")
    overtaken.set()
    assert told.next_outcome() == "b"
    assert told.outcomes.empty()


def test_the_same_settings_are_not_done_twice_in_a_row_but_again_after_others(told, start) -> None:
    gate = Gate()
    gate.through.release(3)
    background = start(gate)
    for settings in ("a", "b", "a"):
        background.request(settings)
        background.request(settings)
        assert told.next_outcome() == settings.upper()
        background.request(settings)
    assert gate.completed == ["a", "b", "a"]


def test_an_error_is_told_and_the_next_settings_are_worked_on(told, start) -> None:
    def work(settings: str, report: Report) -> str:
        if settings == "bad":
            raise cp.OptionError("settings: expected good ones, got 'bad'")
        return settings

    background = start(work)
    background.request("bad")
    error = told.next_outcome()
    assert isinstance(error, cp.OptionError)
    assert "expected good ones" in str(error)
    background.request("good")
    assert told.next_outcome() == "good"


def test_closing_ends_the_work_at_its_next_step_and_nothing_more_is_told(told) -> None:
    gate = Gate()
    background: Background[str, str] = Background(gate, told)
    background.request("a")
    assert gate.begun.acquire(timeout=PATIENCE)
    background.close(0.0)
    gate.through.release()
    background.close(PATIENCE)
    assert gate.completed == []
    assert told.outcomes.empty()


def test_a_pair_is_registered_as_by_register_and_tells_every_step() -> None:
    scans, reports = room(), []
    pair = RepeatedRegistration(cp.Cloud(scans.source), cp.Cloud(scans.target))
    pose = pair.register(Settings(0.12, 0.1), reports.append)
    expected = cp.register(scans.source, scans.target, voxel_size=0.12, epsilon=0.1)
    assert np.array_equal(pose.T_target_source, expected.T_target_source)
    assert [stage.name for stage in pose.stages if stage.name in STEPS] == list(STEPS[2:])
    assert [report.step for report in reports] == [step for step in STEPS if step != "voxel size"]
    shares = [report.share for report in reports]
    assert shares == sorted(shares)
    assert 0.0 <= shares[0] <= shares[-1] < 1.0


def test_a_pair_is_prepared_once_for_a_voxel_size() -> None:
    scans = room()
    pair = RepeatedRegistration(cp.Cloud(scans.source), cp.Cloud(scans.target))
    prepared = [
        any(stage.name == "source features" for stage in pair.register(Settings(*sizes), lambda _: None).stages)
        for sizes in ((0.2, 0.2), (0.2, 0.1), (0.25, 0.25), (0.2, 0.3))
    ]
    assert prepared == [True, False, True, False]


def test_a_registration_ends_where_the_report_of_a_step_raises() -> None:
    def stop(progress: Progress) -> None:
        if progress.step == "clique":
            raise InterruptedError(progress.step)

    scans = room()
    with pytest.raises(InterruptedError, match="clique"):
        RepeatedRegistration(cp.Cloud(scans.source), cp.Cloud(scans.target)).register(Settings(0.2, 0.2), stop)


def test_voxels_too_small_for_a_pair_are_an_error_in_words() -> None:
    scans = room()
    pair = RepeatedRegistration(cp.Cloud(scans.source), cp.Cloud(scans.target))
    with pytest.raises(cp.OptionError, match="voxel_size: expected at least"):
        pair.register(Settings(1e-9, 1e-9), lambda _: None)
