"""Tables of pairs: every number comes back to the last bit, in the order of the list, and no file is left half done."""

from __future__ import annotations

import csv
import errno
import itertools
import random
import shutil
import struct
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pair_stores import files_of_at_most

import clipperplus as cp
from clipperplus.pairs import table as tables
from clipperplus.pairs.table import COLUMNS, PairTable

Pairs = list[tuple[str, str]]
MATRIX = [f"T{row}{column}" for row in range(3) for column in range(4)]
NUMBERS = ("confidence", "overlap", "num_inliers", "voxel_size", "seconds")
PAIRS: Pairs = [(f"scan{k}.ply", f"scan{k + 1}.ply") for k in range(6)]
TRICKY = (
    "a,b",
    'say "hello"',
    "two\nlines",
    "two\r\nlines",
    " blank ",
    "'",
    ";\t",
    "ü 雪 \N{SNOWMAN} \U0001f600",
    "\u2028",
)
TRICKY += ("=1+1", "\ufeffmark", "#", "e\u0301", "back\\slash", "nan", "0")


def bits(number: float) -> bytes:
    return struct.pack("<d", number)


def motion(seed: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    T = np.eye(4)
    T[:3] = np.random.default_rng(seed).normal(size=(3, 4))
    return T


def result(number: int, pair: tuple[str, str] = ("a", "b")) -> cp.PairResult:
    return cp.PairResult(
        number,
        *pair,
        status=cp.Status.OK,
        T_target_source=motion(number),
        confidence=0.1 * number,
        overlap=1.0 / (number + 1),
        num_inliers=100 + number,
        voxel_size=0.05 * (number + 1),
        seconds=0.3 * number,
    )


def failed(number: int, reason: str = "no such file") -> cp.PairResult:
    return cp.PairResult(number, *PAIRS[number], failure=reason)


def filled(pairs: Pairs, results: Iterable[cp.PairResult] = ()) -> PairTable:
    table = PairTable(pairs)
    for one in results:
        table.add(one)
    return table


def from_csv(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file, strict=True)
    assert tuple(header) == COLUMNS
    return [dict(zip(header, row, strict=True)) for row in rows]


def from_parquet(path: Path) -> list[dict[str, Any]]:
    found = pyarrow.parquet.read_table(path)
    assert tuple(found.column_names) == COLUMNS
    rows: list[dict[str, Any]] = found.to_pylist()
    return rows


def both(folder: Path, table: PairTable) -> tuple[list[dict[str, str]], list[dict[str, Any]]]:
    written = table.write(folder, "pairs")
    assert written == [folder / "pairs.csv", folder / "pairs.parquet"]
    assert sorted(folder.iterdir()) == written  # and nothing else
    return from_csv(written[0]), from_parquet(written[1])


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tables")


ANY = st.floats(allow_nan=False)
SOME = st.none() | ANY


@given(
    motions=st.lists(ANY, min_size=12, max_size=12) | st.none(),
    confidence=ANY,
    overlap=SOME,
    size=SOME,
    seconds=ANY,
    inliers=st.integers(0, 2**53),
)
@example(
    motions=[0.0, -0.0, 5e-324, -5e-324, 2.2250738585072014e-308, 1e308, 0.1, 1 / 3, 1e16, 1e22, np.pi, np.inf],
    confidence=0.1 + 0.2,
    overlap=-0.0,
    size=5e-324,
    seconds=-np.inf,
    inliers=2**53,
)
def test_numbers_come_back_bit_for_bit_and_what_is_absent_is_empty(
    folder: Path,
    motions: list[float] | None,
    confidence: float,
    overlap: float | None,
    size: float | None,
    seconds: float,
    inliers: int,
) -> None:
    T = None if motions is None else np.vstack((np.reshape(motions, (3, 4)), [0.0, 0.0, 0.0, 1.0]))
    one = cp.PairResult(
        0, "a", "b", cp.Status.OK, T, confidence, None, overlap, inliers, voxel_size=size, seconds=seconds
    )
    (of_csv,), (of_parquet,) = both(folder, filled([("a", "b")], [one]))
    expected = {"confidence": confidence, "overlap": overlap, "voxel_size": size, "seconds": seconds}
    expected |= dict(zip(MATRIX, [None] * 12 if motions is None else motions, strict=True))
    for title, number in expected.items():
        if number is None:
            assert of_csv[title] == ""
            assert of_parquet[title] is None
        else:
            assert of_csv[title] == repr(number)
            assert bits(float(of_csv[title])) == bits(number) == bits(of_parquet[title])
    assert of_csv["num_inliers"] == str(inliers)
    assert of_parquet["num_inliers"] == inliers
    assert type(of_parquet["num_inliers"]) is int
    assert (of_csv["status"], of_csv["failure"]) == ("ok", "")
    assert (of_parquet["status"], of_parquet["failure"]) == ("ok", None)


def test_the_transform_is_there_row_after_row(tmp_path: Path) -> None:
    of_csv, of_parquet = both(tmp_path, filled(PAIRS, [result(3, PAIRS[3])]))
    for rows in (of_csv, of_parquet):
        assert np.array_equal(np.reshape([float(rows[3][title]) for title in MATRIX], (3, 4)), motion(3)[:3])


@pytest.mark.parametrize("status", list(cp.Status), ids=lambda status: status.value)
def test_each_status_is_said_as_elsewhere(tmp_path: Path, status: cp.Status) -> None:
    of_csv, of_parquet = both(tmp_path, filled([("a", "b")], [cp.PairResult(0, "a", "b", status=status)]))
    assert of_csv[0]["status"] == of_parquet[0]["status"] == status.value
    assert of_parquet[0]["confidence"] == 0.0
    assert of_parquet[0]["T00"] is None


def test_the_order_is_that_of_the_list_whatever_that_of_results(tmp_path: Path) -> None:
    pairs = PAIRS * 20
    results = [result(number, pair) for number, pair in enumerate(pairs)]
    in_order, shuffled = tmp_path / "in order", tmp_path / "shuffled"
    for folder in (in_order, shuffled):
        folder.mkdir()
    of_csv, of_parquet = both(in_order, filled(pairs, results))
    random.Random(0).shuffle(results)
    both(shuffled, filled(pairs, results))
    assert contents(shuffled) == contents(in_order)
    for rows in (of_csv, of_parquet):
        assert [(row["source"], row["target"]) for row in rows] == pairs
        assert [int(row["num_inliers"]) for row in rows] == [100 + number for number in range(len(pairs))]


def test_pairs_that_are_not_done_yet_say_so(tmp_path: Path) -> None:
    table = filled(PAIRS, [result(4, PAIRS[4])])
    for rows in both(tmp_path, table):
        assert [row["failure"] or "" for row in rows] == ["not done yet"] * 4 + ["", "not done yet"]
        assert [row["status"] or "" for row in rows] == [""] * 4 + ["ok", ""]
        assert not any(rows[0][title] for title in (*NUMBERS, *MATRIX))
        assert (rows[5]["source"], rows[5]["target"]) == PAIRS[5]
    for number in (0, 1, 2, 3, 5):
        table.add(result(number, PAIRS[number]))
    for rows in both(tmp_path, table):
        assert not any(row["failure"] for row in rows)


def test_what_failed_has_a_reason_and_no_numbers(tmp_path: Path) -> None:
    of_csv, of_parquet = both(tmp_path, filled(PAIRS, [failed(1), result(2, PAIRS[2])]))
    assert of_csv[1] == dict.fromkeys(COLUMNS, "") | {
        "source": PAIRS[1][0],
        "target": PAIRS[1][1],
        "failure": "no such file",
    }
    assert of_parquet[1] == {title: value or None for title, value in of_csv[1].items()}


def test_what_failed_may_be_done_later(tmp_path: Path) -> None:
    of_csv, of_parquet = both(tmp_path, filled(PAIRS, [failed(1), result(1, PAIRS[1])]))
    for rows in (of_csv, of_parquet):
        assert rows[1]["status"] == "ok"
        assert not rows[1]["failure"]


def test_a_table_of_no_pairs_has_its_columns(tmp_path: Path) -> None:
    assert both(tmp_path, PairTable([])) == ([], [])


@pytest.mark.parametrize("pairs", [[], PAIRS], ids=["no pairs", "pairs"])
@pytest.mark.parametrize("done", [0, 6])
def test_columns_have_the_same_types_whatever_is_in_them(tmp_path: Path, pairs: Pairs, done: int) -> None:
    table = filled(pairs, [result(number, pair) for number, pair in enumerate(pairs[:done])])
    schema = pyarrow.parquet.read_schema(table.write(tmp_path, "pairs")[1])
    text = {"source", "target", "status", "failure"}
    for field in schema:
        expected = "string" if field.name in text else "int64" if field.name == "num_inliers" else "double"
        assert str(field.type) == expected, field.name


@pytest.mark.parametrize("name", TRICKY, ids=ascii)
def test_names_and_reasons_survive_with_commas_quotes_newlines_and_unicode(tmp_path: Path, name: str) -> None:
    pairs = [(name, "b"), ("a", name), (name, name)]
    for rows in both(tmp_path, filled(pairs, [cp.PairResult(1, "a", name, failure=name)])):
        assert [(row["source"], row["target"]) for row in rows] == pairs
        assert [row["failure"] for row in rows] == ["not done yet", name, "not done yet"]


TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1)


@given(pairs=st.lists(st.tuples(TEXT, TEXT), max_size=4), reason=TEXT)
@example(pairs=[("a\rb", "c")], reason="d")
@example(pairs=[("a", "b")], reason="c\r")
@example(pairs=[("\n", '"')], reason=",")
def test_whatever_names_are_they_come_back(folder: Path, pairs: Pairs, reason: str) -> None:
    for rows in both(folder, filled(pairs, [cp.PairResult(0, *pair, failure=reason) for pair in pairs[:1]])):
        assert [(row["source"], row["target"]) for row in rows] == pairs
        assert [row["failure"] for row in rows] == [reason, *["not done yet"] * len(pairs)][: len(pairs)]


def test_names_may_be_paths(tmp_path: Path) -> None:
    table = PairTable([(tmp_path / "a.ply", Path("b.ply"), {"voxel_size": 0.1})])
    for rows in both(tmp_path, table):
        assert (rows[0]["source"], rows[0]["target"]) == (str(tmp_path / "a.ply"), "b.ply")


def test_without_pyarrow_there_is_a_csv_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert filled(PAIRS).write(tmp_path, "pairs") == [tmp_path / "pairs.csv"]
    assert [path.name for path in tmp_path.iterdir()] == ["pairs.csv"]


def test_a_second_write_takes_the_place_of_the_first(tmp_path: Path) -> None:
    both(tmp_path, filled(PAIRS))
    of_csv, of_parquet = both(tmp_path, filled(PAIRS[:2], [result(0, PAIRS[0])]))
    assert [row["status"] or "" for row in of_csv] == [row["status"] or "" for row in of_parquet] == ["ok", ""]


class HalfAWriter:
    """Writes some lines, and then something happens."""

    def __init__(self, writer: Any, happening: Callable[[], object]) -> None:
        self._writer, self._happening = writer, happening

    def writerow(self, row: Sequence[object]) -> None:
        self._writer.writerow(row)

    def writerows(self, rows: Iterator[Sequence[object]]) -> None:
        self._writer.writerows(itertools.islice(rows, 3))
        self._happening()
        self._writer.writerows(rows)


def fail_half_way(monkeypatch: pytest.MonkeyPatch, happening: Callable[[], object]) -> None:
    honest = csv.writer
    monkeypatch.setattr(tables.csv, "writer", lambda file, **style: HalfAWriter(honest(file, **style), happening))


@pytest.mark.parametrize(
    "error", [OSError(errno.ENOSPC, "no space left"), KeyboardInterrupt(), MemoryError()], ids=repr
)
@pytest.mark.parametrize("there", [False, True], ids=["a new file", "an old file"])
def test_a_table_that_cannot_be_finished_leaves_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, there: bool, error: BaseException
) -> None:
    if there:
        filled(PAIRS).write(tmp_path, "pairs")
    before = contents(tmp_path)

    def happening() -> None:
        raise error

    table = filled(PAIRS, [result(number, pair) for number, pair in enumerate(PAIRS)])
    with monkeypatch.context() as patch:
        fail_half_way(patch, happening)
        with pytest.raises(type(error)):
            table.write(tmp_path, "pairs")
    assert contents(tmp_path) == before
    assert [row["status"] for row in both(tmp_path, table)[0]] == ["ok"] * 6  # and the next write is as if nothing was


@pytest.mark.parametrize("there", [False, True], ids=["a new file", "an old file"])
def test_a_parquet_file_that_cannot_be_finished_leaves_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, there: bool
) -> None:
    if there:
        filled(PAIRS).write(tmp_path, "pairs")
    before = contents(tmp_path)

    def write_half(table: Any, path: Path) -> None:
        Path(path).write_bytes(b"PAR1 and so on")
        raise OSError(errno.ENOSPC, "no space left")

    table = filled(PAIRS, [failed(0)])
    monkeypatch.setattr(pyarrow.parquet, "write_table", write_half)
    with pytest.raises(OSError, match="no space left"):
        table.write(tmp_path, "pairs")
    after = contents(tmp_path)
    assert after.get("pairs.parquet") == before.get("pairs.parquet")
    assert set(after) == {"pairs.csv", *before}
    assert len(from_csv(tmp_path / "pairs.csv")) == len(PAIRS)  # whole, old or new


def test_a_file_system_that_takes_no_more_leaves_the_old_table(tmp_path: Path) -> None:
    filled(PAIRS).write(tmp_path, "pairs")
    before = contents(tmp_path)
    table = filled(PAIRS * 1000)
    with pytest.raises(OSError, match="large"), files_of_at_most(20_000):
        table.write(tmp_path, "pairs")
    assert contents(tmp_path) == before


def test_a_folder_that_is_gone_is_said_and_not_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "results"
    table = filled(PAIRS)
    with pytest.raises(FileNotFoundError):
        table.write(folder, "pairs")
    folder.mkdir()
    fail_half_way(monkeypatch, lambda: shutil.rmtree(folder))
    with pytest.raises(FileNotFoundError):
        table.write(folder, "pairs")
    assert not list(tmp_path.iterdir())


def test_a_file_in_place_of_the_folder_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "results").write_bytes(b"mine")
    with pytest.raises(NotADirectoryError):
        filled(PAIRS).write(tmp_path / "results", "pairs")
    assert contents(tmp_path) == {"results": b"mine"}


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_folder_in_place_of_the_file_is_left_alone(tmp_path: Path, ending: str) -> None:
    (tmp_path / f"pairs.{ending}" / "inside").mkdir(parents=True)
    with pytest.raises(IsADirectoryError):
        filled(PAIRS).write(tmp_path, "pairs")
    assert (tmp_path / f"pairs.{ending}" / "inside").is_dir()
    assert not list(tmp_path.glob(".*"))
