"""Results that were changed in the file: whole, or computed again, and never an error of Python."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from damage import JUNK, changed, damaged
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import clipperplus as cp
from clipperplus.pairs.result import PairResult
from clipperplus.pairs.store import PairStore
from clipperplus.pairs.table import PairTable
from clipperplus.pairs.tasks import OPTIONS, Registering
from clipperplus.synthetic import room_scans


@pytest.fixture(scope="module")
def answer() -> dict[str, Any]:
    scans = room_scans(resolution=80)
    one, other = (cp.prepare(cloud, voxel_size=0.2) for cloud in (scans.source, scans.target))
    made = Registering({**OPTIONS, "voxel_size": 0.2})(one, other)
    assert made["T_target_source"] is not None
    others = [{"T_target_source": np.eye(4).tolist(), "rivalry": rivalry} for rivalry in (0.5, None)]
    return json.loads(json.dumps({**made, "alternatives": others}))  # type: ignore[no-any-return]


def in_table(known: PairResult, folder: Path) -> None:
    table = PairTable([("a", "b")])
    table.add(known)
    table.write(folder, "pairs")


def test_what_was_registered_is_whole(answer: dict[str, Any]) -> None:
    assert PairResult.is_whole(answer)
    nothing = {**answer, "status": "too few inliers", "T_target_source": None, "covariance": None, "alternatives": []}
    assert PairResult.is_whole(nothing)


@pytest.mark.parametrize(
    ("field", "wrong"),
    [
        ("T_target_source", [[float("nan")] * 4] * 4),
        ("T_target_source", np.diag([2.0, 2.0, 2.0, 1.0]).tolist()),
        ("T_target_source", [[1.0]]),
        ("T_target_source", []),
        ("T_target_source", None),  # and to be trusted
        ("confidence", -1),
        ("confidence", 10**400),
        ("confidence", float("nan")),
        ("num_inliers", 2**63),
        ("num_inliers", 1.5),
        ("overlap", "0.5"),
        ("voxel_size", []),
        ("voxel_size", 0.0),
        ("seconds", float("inf")),
        ("covariance", (-np.eye(6)).tolist()),
        ("covariance", [[1.0] * 6]),
        ("reasons", "because"),
        ("alternatives", [{"T_target_source": [[0.0] * 4] * 4, "rivalry": None}]),
        ("evidence", {}),
    ],
)
def test_what_nobody_wrote_is_not_whole(answer: dict[str, Any], field: str, wrong: Any) -> None:
    assert not PairResult.is_whole({**{**answer, "status": "ok"}, field: wrong})


@pytest.mark.parametrize("junk", JUNK, ids=lambda junk: repr(junk)[:20])
def test_whatever_takes_the_place_of_a_field_ends_in_no_error(
    answer: dict[str, Any], junk: Any, tmp_path: Path
) -> None:
    fields = [(field,) for field in answer] + [("evidence", field) for field in answer["evidence"]]
    for field in fields:
        other = changed(answer, field, junk)
        if PairResult.is_whole(other):
            in_table(PairResult.of(0, "a", "b", other), tmp_path)


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_result_that_was_changed_is_whole_or_not_and_never_an_error(
    answer: dict[str, Any], tmp_path: Path, data: st.DataObject
) -> None:
    other = json.loads(json.dumps(data.draw(damaged(answer))))
    if PairResult.is_whole(other):
        known = PairResult.of(0, "a", "b", other)
        assert 0.0 <= known.confidence <= 1.0
        assert known.T_target_source is None or np.isfinite(known.T_target_source).all()
        assert known.evidence is not None
        assert 0.0 <= known.evidence.confidence() <= 1.0
        in_table(known, tmp_path)


def test_a_pair_whose_result_was_changed_is_registered_again(tmp_path: Path) -> None:
    scans, store = room_scans(resolution=40), tmp_path / "pairs.sqlite"
    (whole,) = cp.register_pairs([(scans.source, scans.target)], voxel_size=0.3, store=store)
    with PairStore(store) as kept:
        kept._database.execute("UPDATE results SET result = json_set(result, '$.confidence', -1)")
        kept._database.commit()
    (again,) = cp.register_pairs([(scans.source, scans.target)], voxel_size=0.3, store=store)
    assert not again.was_known
    assert again.confidence == whole.confidence
