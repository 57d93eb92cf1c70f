"""A small zoo of deceptions: no answer is wrong and trusted. ``benchmarks/deceptions.py`` tries many more."""

from __future__ import annotations

import pytest

from clipperplus import Status
from clipperplus.bench.deceptions import KINDS

KNOWN_LIES: set[tuple[str, int]] = set()
"""Kinds and numbers that are answered wrongly with status OK, and are left out."""
NUMBERS = {name: (0,) for name, kind in KINDS.items() if not kind.needs_data and kind.family != "honest"}
"""Which of each kind are tried."""
MATCHES = [name for name in NUMBERS if name.endswith("matches")]
NUMBERS |= {name: tuple(range(20)) for name in MATCHES}  # these take milliseconds
TRIED = [(name, number) for name, numbers in NUMBERS.items() for number in numbers if (name, number) not in KNOWN_LIES]
HONEST = [("matches", 0), ("matches", 1), ("rooms", 0), ("rooms", 1), ("streets", 0)]


@pytest.mark.parametrize(("name", "number"), TRIED)
def test_no_wrong_answer_is_trusted(name: str, number: int) -> None:
    kind = KINDS[name]
    made = kind.number(number)
    pose = made.answer()
    if pose.status is Status.OK:
        assert kind.judge(made, pose).right, f"confidence {pose.confidence:.2f}, {pose.evidence}"


@pytest.mark.parametrize(("name", "number"), HONEST)
def test_right_answers_for_ordinary_scans_stay_trusted(name: str, number: int) -> None:
    kind = KINDS[name]
    made = kind.number(number)
    pose = made.answer()
    assert kind.judge(made, pose).right
    assert pose.status is Status.OK, f"confidence {pose.confidence:.2f}, {pose.evidence}"
