"""Relations that were changed in the file: whole, or registered again, and never an error of Python."""

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
from clipperplus.mapping import build_map
from clipperplus.mapping.grow import overlap_prior, suggestions_of
from clipperplus.mapping.relations import Relation, not_related, relate, usual_conflict
from clipperplus.pairs.store import PairStore
from clipperplus.synthetic import building_scans, room_scans


@pytest.fixture(scope="module")
def relation() -> dict[str, Any]:
    scans = room_scans(resolution=80)
    one, other = (cp.prepare(cloud, voxel_size=0.2) for cloud in (scans.source, scans.target))
    made = relate(one, other, "high", free_space=True).to_dict()
    assert made["motions"]
    more = {"motions": [made["motions"][0]] * 2, "rivalries": [1.0, 0.3], "back_to_back": [0.0, 0.1]}
    return json.loads(json.dumps({**made, **more, "undetermined": [np.eye(6)[3].tolist()]}))  # type: ignore[no-any-return]


def use(about: dict[str, Any]) -> None:
    """Do with a relation what a map does."""
    relation = Relation.from_dict(0, 1, about)
    prior = overlap_prior([relation])
    assert 0.0 < prior < 1.0
    found = suggestions_of([relation], [prior], usual_conflict([relation]))
    assert not np.isnan(found.weights).any()


def test_what_was_related_is_whole(relation: dict[str, Any]) -> None:
    assert Relation.is_whole(relation)
    assert Relation.is_whole(not_related(0, 1, "low", "it failed").to_dict())
    use(relation)


@pytest.mark.parametrize(
    ("field", "wrong"),
    [
        ("back_to_back", []),
        ("back_to_back", [0.0, 2.0]),
        ("rivalries", [1.0]),
        ("rivalries", [1.0, float("nan")]),
        ("motions", [[[float("nan")] * 4] * 4] * 2),
        ("motions", np.zeros((2, 4, 4)).tolist()),
        ("motions", []),
        ("covariance", [[1.0]]),
        ("covariance", np.full((6, 6), np.inf).tolist()),
        ("undetermined", [[1.0] * 5]),
        ("seconds", 10**400),
        ("effort", "none"),
        ("reasons", None),
        ("evidence", []),
    ],
)
def test_what_nobody_wrote_is_not_whole(relation: dict[str, Any], field: str, wrong: Any) -> None:
    assert not Relation.is_whole({**relation, field: wrong})


@pytest.mark.parametrize("junk", JUNK, ids=lambda junk: repr(junk)[:20])
def test_whatever_takes_the_place_of_a_field_ends_in_no_error(relation: dict[str, Any], junk: Any) -> None:
    fields = [(field,) for field in relation] + [("evidence", field) for field in relation["evidence"]]
    for field in fields:
        other = changed(relation, field, junk)
        if Relation.is_whole(other):
            use(other)


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_relation_that_was_changed_is_whole_or_not_and_never_an_error(
    relation: dict[str, Any], data: st.DataObject
) -> None:
    other = json.loads(json.dumps(data.draw(damaged(relation))))
    if Relation.is_whole(other):
        use(other)


def test_pairs_whose_relations_were_changed_are_registered_again(tmp_path: Path) -> None:
    scans, store = building_scans(scans=3, resolution=90).clouds, tmp_path / "relations.sqlite"
    before = build_map(scans, voxel_size=0.2, store=store)
    with PairStore(store) as kept:
        kept._database.execute("UPDATE results SET result = json_set(result, '$.back_to_back', json('[]'))")
        kept._database.commit()
    after = build_map(scans, voxel_size=0.2, store=store)
    assert np.array_equal(after.poses, before.poses, equal_nan=True)
