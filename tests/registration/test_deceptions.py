"""A small zoo of deceptions: no answer is wrong and trusted. ``benchmarks/deceptions.py`` tries many more."""

from __future__ import annotations

import pytest

from clipperplus import Status
from clipperplus.bench.deceptions import KINDS

KNOWN_LIES: set[str] = {
    "grid of pillars",
    "orchard",
    "other room",
    "same walls, other furniture",
}
"""Kinds that are answered wrongly with status OK below; they are left out."""
NUMBERS: dict[str, tuple[int, ...]] = {
    "room in noise": (6,),
    "street in noise": (2,),
    "scaled room": (1,),
    "scaled street": (10,),
    "mirrored room": (1,),
    "mirrored street": (5,),
    "other room": (3,),
    "other room, no free space": (5,),
    "square empty room": (1, 8),
    "rectangular empty room": (3,),
    "box in one scan of an empty room": (0,),
    "box in both scans of an empty room": (5,),
    "same walls, other furniture": (10,),
    "corridor with even doors": (10,),
    "smooth corridor": (3,),
    "rows of shelves": (10,),
    "grid of pillars": (3,),
    "orchard": (3,),
    "row houses": (4,),
    "stairwell": (4,),
    "plane with far bumps": (1,),
    "coplanar walls": (2,),
    "round thing": (7,),
    "half of the cars moved": (1,),
    "all cars moved": (11,),
    "convoy in a street": (7,),
    "convoy on a motorway": (1,),
    "ground of a street": (10,),
    **dict.fromkeys(("chance matches", "reflected matches", "scaled matches"), tuple(range(20))),
}
"""Which of a kind are tried, where it is not the first one: fast ones, and such that a registration once lied on."""
TO_DECEIVE = [name for name, kind in KINDS.items() if not kind.needs_data and kind.family != "honest"]


@pytest.mark.parametrize("name", [name for name in TO_DECEIVE if name not in KNOWN_LIES])
def test_no_wrong_answer_is_trusted(name: str) -> None:
    kind = KINDS[name]
    for number in NUMBERS.get(name, (0,)):
        made = kind.number(number)
        pose = made.answer()
        if pose.status is Status.OK:
            outcome = kind.judge(made, pose)
            assert outcome.right, f"number {number}: confidence {pose.confidence:.2f}, {pose.evidence}"


@pytest.mark.parametrize(
    ("name", "number"), [("matches", 0), ("matches", 1), ("rooms", 0), ("rooms", 1), ("streets", 0)]
)
def test_right_answers_for_ordinary_scans_stay_trusted(name: str, number: int) -> None:
    kind = KINDS[name]
    made = kind.number(number)
    pose = made.answer()
    assert kind.judge(made, pose).right
    assert pose.status is Status.OK, f"confidence {pose.confidence:.2f}, {pose.evidence}"


def test_what_is_known_to_lie_is_a_kind() -> None:
    assert set(TO_DECEIVE) >= KNOWN_LIES | NUMBERS.keys()
