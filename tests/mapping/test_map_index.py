"""Every field of ``map.json`` is looked at: what loads can be used and saved, and what is refused is named."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from damage import changed, places
from maps import two_rooms
from random_maps import change, some_map

import clipperplus as cp
from clipperplus.mapping import Map
from clipperplus.mapping.map_files import load_map, save_map

BAD: list[Any] = [*("x", "1", "false", {}, [], [1], None, True, math.nan, math.inf, -1, 7, 0.7, 1e-300, 1e300, 10**400)]
IN_MATRICES = 4
"""Levels below which all numbers are alike: of a matrix, one on the diagonal and one beside it will do."""
NAMED = re.compile(
    r"map\.json: not a map as it is written here \("
    r"(scans|components|edges|voxel_size|prior|proven|usual_conflict|stages|seconds|viewpoints|free_space)"
    r"[^ ]*: [^\n]{1,150}\)$"
)
IGNORED = {"kind", "format", "clipperplus", "files", "points_sha256"}
"""What is asked for elsewhere."""


def index_of(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "map.json").read_bytes())  # type: ignore[no-any-return]


def some_places(index: dict[str, Any]) -> list[tuple[Any, ...]]:
    """Return the way to everything in an index, but for most numbers of matrices."""
    ways = [way for way in places(index) if way[0] not in IGNORED]
    return [way for way in ways if len(way) <= IN_MATRICES or way[IN_MATRICES - 1 :] in ((0, 0), (1, 2))]


def use(folder: Path, loaded: Map) -> None:
    """Do with a map what can be done with maps."""
    json.dumps(loaded.to_dict(), allow_nan=False)
    for work in (
        lambda: loaded.save(folder / "again"),
        lambda: loaded.report(folder / "map.html"),
        lambda: [loaded.points(component=number) for number in range(len(loaded.components))],
        lambda: loaded.locate(loaded.scans[0]),
    ):
        with suppress(cp.ClipperPlusError):
            work()


def test_whatever_stands_in_a_field_is_refused_by_name_or_can_be_used(tmp_path: Path) -> None:
    save_map(some_map(8, (2, 1), 0), tmp_path)
    index = index_of(tmp_path)
    ways, refused, used = some_places(index), 0, 0
    for way in ways:
        for value in BAD:
            (tmp_path / "map.json").write_text(json.dumps(changed(index, way, value)))
            try:
                loaded = load_map(tmp_path)
            except cp.FileFormatError as error:
                assert NAMED.search(str(error)), (way, value, str(error))  # noqa: PT017
                refused += 1
                continue
            json.dumps(loaded.to_dict(), allow_nan=False)
            used += 1
            if used % 8 == 0:  # the rest takes long; the test below tries the largest numbers
                use(tmp_path, loaded)
    assert refused > 5 * used > 300


@pytest.fixture(scope="module")
def rooms(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a map in which scans can be located."""
    folder = tmp_path_factory.mktemp("rooms")
    save_map(two_rooms(), folder)
    return folder


def moved(place: float) -> list[list[float]]:
    return [[1.0, 0.0, 0.0, place], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, -place], [0.0, 0.0, 0.0, 1.0]]


@pytest.mark.parametrize(
    "edit",
    [
        *(lambda index, size=size: index.update(voxel_size=size) for size in (1e-100, 1e-10, 10.0, 1e100)),
        *(lambda index, share=share: index.update(usual_conflict=share) for share in (1e-9, 1.0)),
        *(lambda index, share=share: index.update(prior=share) for share in (0, 1)),
        *(lambda index, far=far: index.update(viewpoints=11 * [[far, 0.0, -far]]) for far in (100.0, 1e37, 1e100)),
        *(lambda index, far=far: index["scans"][1].update(T_map_scan=moved(far)) for far in (1e3, 1e10, 1e38)),
        *(lambda index, far=far: index["edges"][0].update(T_target_source=moved(far)) for far in (1e3, 1e38)),
        *(lambda index, c=c: index["scans"][1].update(covariance=(c * np.eye(6)).tolist()) for c in (0.0, 1e37, 1e100)),
        *(lambda index, c=c: index["edges"][0].update(covariance=(c * np.eye(6)).tolist()) for c in (0.0, 1e37, 1e100)),
        lambda index: index["edges"][0].update(overlap=0, shift=1e100, confidence=0),
        lambda index: index.update(seconds=1e100, stages=[{"name": "", "seconds": 1e100, "count": 2**63 - 1}]),
    ],
)
def test_the_largest_and_smallest_numbers_can_be_used(edit: Callable[[dict[str, Any]], Any], rooms: Path) -> None:
    whole = (rooms / "map.json").read_bytes()
    try:
        change(rooms, edit)
        use(rooms, load_map(rooms))
    finally:
        (rooms / "map.json").write_bytes(whole)
