"""Lists of pairs: what they say is read with its type, and what is wrong in them is refused with file and line."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import clipperplus as cp
from clipperplus.pairs.lists import ListedPair, read_pairs
from clipperplus.pairs.tasks import OPTIONS

MARKS = {"comma": ",", "semicolon": ";", "tab": "\t"}
TYPES: dict[str, type | tuple[type, ...]] = {
    **dict.fromkeys(("voxel_size", "epsilon", "ratio", "min_confidence", "prior"), float),
    **dict.fromkeys(("matches", "max_alternatives"), int),
    **dict.fromkeys(("method", "effort", "refine"), str),
    "free_space": bool,
    "time_limit": (float, str),
}
ALL = {
    "voxel_size": ("0.25", 0.25),
    "epsilon": ("1e-3", 1e-3),
    "matches": ("7", 7),
    "ratio": ("0.9", 0.9),
    "method": ("clipper+", "clipper+"),
    "time_limit": ("2.5", 2.5),
    "effort": ("thorough", "thorough"),
    "refine": ("gicp", "gicp"),
    "free_space": ("no", False),
    "min_confidence": ("1", 1.0),
    "prior": ("0.1", 0.1),
    "max_alternatives": ("0", 0),
}


def listed(folder: Path, content: str | bytes) -> Path:
    path = folder / "pairs.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
    return path


def read(folder: Path, content: str | bytes) -> list[ListedPair]:
    return read_pairs(listed(folder, content))


def names(folder: Path, *pairs: tuple[str, str]) -> list[ListedPair]:
    return [(str(folder / source), str(folder / target), {}) for source, target in pairs]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("lists")


@pytest.mark.parametrize("mark", MARKS.values(), ids=MARKS.keys())
def test_a_list_without_a_header_names_two_files_a_line(tmp_path: Path, mark: str) -> None:
    content = f"a.ply{mark}b.ply\nb.ply{mark}c.ply{mark}voxel_size=0.5{mark}Matches = 3\n"
    assert read(tmp_path, content) == [
        (str(tmp_path / "a.ply"), str(tmp_path / "b.ply"), {}),
        (str(tmp_path / "b.ply"), str(tmp_path / "c.ply"), {"voxel_size": 0.5, "matches": 3}),
    ]


@pytest.mark.parametrize("mark", MARKS.values(), ids=MARKS.keys())
def test_a_header_names_the_columns_in_any_order_and_case(tmp_path: Path, mark: str) -> None:
    lines = [("Target", "epsilon", "SOURCE", "free_space"), ("b", "0.5", "a", "false"), ("d", "", "c", "")]
    assert read(tmp_path, "".join(mark.join(line) + "\n" for line in lines)) == [
        (str(tmp_path / "a"), str(tmp_path / "b"), {"epsilon": 0.5, "free_space": False}),
        (str(tmp_path / "c"), str(tmp_path / "d"), {}),
    ]


def test_every_option_of_a_registration_may_be_said_and_has_its_type(tmp_path: Path) -> None:
    assert set(ALL) == set(TYPES) == {"voxel_size", *OPTIONS}
    columns = f"source,target,{','.join(ALL)}\na,b,{','.join(text for text, _ in ALL.values())}\n"
    cells = "a,b," + ",".join(f"{option}={text}" for option, (text, _) in ALL.items())
    for content in (columns, cells):
        ((_, _, options),) = read(tmp_path, content)
        assert options == {option: value for option, (_, value) in ALL.items()}
        assert all(isinstance(value, TYPES[option]) for option, value in options.items())
        assert type(options["min_confidence"]) is float
        assert type(options["matches"]) is int


@pytest.mark.parametrize(
    ("said", "expected"),
    [("true", True), ("YES", True), ("1", True), ("False", False), ("no", False), ("0", False)],
)
def test_free_space_is_said_in_words(tmp_path: Path, said: str, expected: bool) -> None:
    ((_, _, options),) = read(tmp_path, f"a,b,free_space={said}\n")
    assert options["free_space"] is expected


def test_the_time_limit_may_be_the_default_one(tmp_path: Path) -> None:
    assert read(tmp_path, "a,b,time_limit=default\n")[0][2] == {"time_limit": "default"}


def test_an_option_of_which_nothing_is_said_is_what_it_is_for_all(tmp_path: Path) -> None:
    assert read(tmp_path, "a,b,ratio=,method= ,prior=0.5\n")[0][2] == {"prior": 0.5}
    assert read(tmp_path, "source,target,ratio,method,prior\na,b,,  ,0.5\n")[0][2] == {"prior": 0.5}


def test_names_are_relative_to_the_folder_of_the_list_or_absolute(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "lists"
    folder.mkdir()
    content = f"a.ply,../scans/b.ply\n{tmp_path / 'c.ply'},d.ply\n"
    expected = [
        (str(folder / "a.ply"), str(folder / "../scans/b.ply"), {}),
        (str(tmp_path / "c.ply"), str(folder / "d.ply"), {}),
    ]
    assert read(folder, content) == expected
    assert read_pairs(str(folder / "pairs.csv")) == expected
    monkeypatch.chdir(folder)
    assert read_pairs("pairs.csv")[0] == ("a.ply", str(Path("../scans/b.ply")), {})


def test_comments_and_empty_lines_are_left_out(tmp_path: Path) -> None:
    content = "# pairs; of, a\tday\n\n  \t\n  # source,target\nsource,target\n#a,b\n\nc,d\n# the end"
    assert read(tmp_path, content) == names(tmp_path, ("c", "d"))


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=["Unix", "Windows", "old Mac"])
@pytest.mark.parametrize("start", ["", "\ufeff"], ids=["no BOM", "BOM"])
def test_lines_of_every_system_are_read_with_a_mark_of_their_encoding_or_none(
    tmp_path: Path, start: str, end: str
) -> None:
    expected = names(tmp_path, ("a", "b"), ("ü", "雪 \N{SNOWMAN}"))
    for header in ([], ["source,target"]):
        for last in ("", end):
            assert read(tmp_path, start + end.join([*header, "a,b", "ü,雪 \N{SNOWMAN}"]) + last) == expected


def test_names_may_be_quoted(tmp_path: Path) -> None:
    content = 'a,b\n"one, two", "say ""hello"""\n"#1.ply","x;y"\n'
    assert read(tmp_path, content)[1:] == names(tmp_path, ("one, two", 'say "hello"'), ("#1.ply", "x;y"))


@pytest.mark.parametrize(
    ("line", "source", "target"),
    [
        ('"a;b.ply","c.ply"', "a;b.ply", "c.ply"),
        ('"a\tb.ply","c.ply"', "a\tb.ply", "c.ply"),
        ('"a\tb.ply";"c.ply"', "a\tb.ply", "c.ply"),
    ],
)
def test_what_is_quoted_does_not_say_what_cells_are_separated_by(
    tmp_path: Path, line: str, source: str, target: str
) -> None:
    assert read(tmp_path, f"{line}\n") == names(tmp_path, (source, target))


WRONG = {
    "unknown column": ("source,target,voxels\na,b,1\n", 1, "voxels"),
    "nameless column": ("source,target,\na,b,1\n", 1, "''"),
    "column twice": ("source,target,ratio,ratio\na,b,1,1\n", 1, "'ratio' is there twice"),
    "column twice in another case": ("source,target,Source\na,b,c\n", 1, "'source' is there twice"),
    "too few cells": ("source,target,ratio\n# one\n\na,b\n", 4, "expected 3 cells, got 2"),
    "too many cells": ("source,target\na,b\na,b,c\n", 3, "expected 2 cells, got 3"),
    "one cell": ("a,b\nc\n", 2, "two names"),
    "one word": ("hello\n", 1, "two names"),
    "another mark": ("a,b\nc;d\n", 2, "two names"),
    "a third name": ("a,b,c\n", 1, "option=value"),
    "a mark at the end": ("a,b,\n", 1, "option=value"),
    "unknown option": ("a,b\na,b,voxels=1\n", 2, "voxels"),
    "unknown option of no value": ("a,b,voxels=\n", 1, "voxels"),
    "nameless option": ("a,b,=1\n", 1, "expected an option of"),
    "option twice": ("a,b,ratio=0.5,ratio=0.6\n", 1, "ratio"),
    "source twice": ("a,b,source=c\n", 1, "source"),
    "target twice": ("a,b,target=c\n", 1, "target"),
    "bad number": ("source,target,epsilon\na,b,0.1\na,b,wide\n", 3, "epsilon: expected a number, got 'wide'"),
    "bad number without a header": ("a,b,voxel_size=0,5\n", 1, "option=value"),
    "number with a unit": ("a,b,voxel_size=5 cm\n", 1, "voxel_size: expected a number"),
    "part of a match": ("a,b,matches=1.5\n", 1, "matches: expected a number"),
    "a number of too many digits": (f"a,b,matches={'9' * 5000}\n", 1, "matches: expected a number"),
    "a number with a mark in it": ("a,b,matches=1_0\n", 1, "matches: expected a number, got '1_0'"),
    "a fraction with a mark in it": ("a,b,ratio=0.1_0\n", 1, "ratio: expected a number, got '0.1_0'"),
    "a number of another script": ("a,b,matches=\u0661\u0662\n", 1, "matches: expected a number"),
    "a fraction of another script": ("a,b,prior=\uff10.\uff11\n", 1, "prior: expected a number"),
    "bad limit": ("a,b,time_limit=none\n", 1, "time_limit: expected a number"),
    "bad word": ("a,b,free_space=perhaps\n", 1, "free_space: expected true or false, got 'perhaps'"),
    "empty source": ("a,b\n,b\n", 2, "source"),
    "empty target": ("source,target,ratio\na, ,0.5\n", 2, "target"),
    "quoted nothing": ('a,""\n', 1, "target"),
    "NUL in a name": ("a,b\nc,d\0e\n", 2, ""),
    "NUL in a number": ("a,b,epsilon=1\x00\n", 1, ""),
    "NUL in a header": ("source,target\0\na,b\n", 1, ""),
    "quotes left open": ('a,b\na,"b\nc",d\n', 2, "unexpected end of data"),
    "quotes left open at the end": ('a,b\nc,"d', 2, "unexpected end of data"),
    "quotes closed too early": ('a,b\n"a"b,c\n', 2, "expected after"),
    "a cell of megabytes": (f"a,b\nc,{'d' * 2_000_000}\n", 2, "limit"),
}


@pytest.mark.parametrize(("content", "line", "message"), WRONG.values(), ids=WRONG.keys())
def test_what_is_wrong_is_refused_with_file_and_line(tmp_path: Path, content: str, line: int, message: str) -> None:
    path = listed(tmp_path, content)
    with pytest.raises(cp.FileFormatError, match=f"^{re.escape(f'{path}, line {line}: ')}.*{re.escape(message)}"):
        read_pairs(path)


@pytest.mark.parametrize(
    "content",
    [
        *(f"a,b,{option}={'9' * 5000}x\n" for option in ("matches", "ratio", "time_limit", "free_space")),
        f"a,b,matches={'9' * 4000}\n",
        f"a,b,{'v' * 5000}=1\n",
        f"source,target,{'v' * 5000}\na,b,1\n",
        f"a,b\n{'c' * 5000}\0,d\n",
    ],
)
def test_of_what_is_wrong_little_is_shown(tmp_path: Path, content: str) -> None:
    with pytest.raises(cp.FileFormatError, match="expected") as caught:
        read(tmp_path, content)
    assert len(str(caught.value)) < 350 + len(str(tmp_path))


@pytest.mark.parametrize("blank", ["\x0c", "\u2028"], ids=ascii)
def test_lines_are_counted_as_editors_do(tmp_path: Path, blank: str) -> None:
    path = listed(tmp_path, f"# one{blank}# still the first\na,b\nc\n")
    with pytest.raises(cp.FileFormatError, match=re.escape(f"{path}, line 3: ")):
        read_pairs(path)


@pytest.mark.parametrize(
    "content",
    [
        b"\xff\xfea\x00,\x00b\x00\n\x00",
        b"PK\x03\x04\x14\x00\x00\x00\x08\x00\xb7\xac\xce",
        b"\x93NUMPY\x01\x00v\x00{'descr': '<f8'}\n",
        "a,b\nü,c\n".encode("latin-1"),
        bytes(range(256)),
    ],
    ids=["UTF-16", "zip", "npy", "Latin-1", "all bytes"],
)
def test_data_that_is_no_text_is_refused_with_the_name_of_the_file(tmp_path: Path, content: bytes) -> None:
    path = listed(tmp_path, content)
    with pytest.raises(cp.FileFormatError, match=f"^{re.escape(str(path))}: .*text"):
        read_pairs(path)


@pytest.mark.parametrize("content", ["", "\ufeff", "\n\n", " \t \n", "# source,target\n", "\ufeff# nothing"], ids=ascii)
def test_a_list_of_nothing_is_refused(tmp_path: Path, content: str) -> None:
    path = listed(tmp_path, content)
    with pytest.raises(cp.FileFormatError, match=f"^{re.escape(str(path))}: no pairs$"):
        read_pairs(path)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"none\.csv"):
        read_pairs(tmp_path / "none.csv")
    with pytest.raises(OSError, match=re.escape(tmp_path.name)):
        read_pairs(tmp_path)


CELLS = st.one_of(
    st.sampled_from(["source", "target", "Source", " TARGET ", "", '"', '""', "#", "a.ply", "=", "\0", "\ufeff"]),
    st.sampled_from(list(TYPES)),
    st.builds("{}={}".format, st.sampled_from([*TYPES, "source", "target", "nonsense", ""]), st.text(max_size=5)),
    st.builds("{}={}".format, st.sampled_from(list(TYPES)), st.floats().map(repr) | st.integers().map(str)),
    st.text(max_size=8),
)
LINES = st.builds(str.join, st.sampled_from([",", ";", "\t", ", ", ",\t"]), st.lists(CELLS, max_size=6))
TABLES = st.builds(str.join, st.sampled_from(["\n", "\r\n", "\r", "\x85"]), st.lists(LINES, max_size=6))


@given(content=st.one_of(st.binary(), st.text().map(str.encode), TABLES.map(lambda text: text.encode("utf-8"))))
@example(content=b'"')
@example(content=b"source,target")
@example(content=b"\xef\xbb\xbf\xef\xbb\xbfa,b")
@example(content=b"a,b," + b"=" * 1000)
def test_whatever_is_in_a_file_it_is_read_or_refused_with_its_name(folder: Path, content: bytes) -> None:
    path = listed(folder, content)
    try:
        pairs, message = read_pairs(path), None
    except cp.FileFormatError as error:
        pairs, message = [], str(error)
    if message is not None:
        found = re.match(rf"{re.escape(str(path))}(?:, line (\d+): |: (?:no pairs|expected text, in UTF-8)$)", message)
        assert found is not None, message
        assert found[1] is None or 1 <= int(found[1]) <= len(content.decode("utf-8-sig").splitlines())
    for source, target, options in pairs:
        check(folder, source, target, options)


def check(folder: Path, source: str, target: str, options: dict[str, Any]) -> None:
    for name in (source, target):
        assert "\0" not in name
        assert Path(name).is_absolute()
        assert name not in ("", str(folder / "x").removesuffix("x"))
    for option, value in options.items():
        assert isinstance(value, TYPES[option])


@given(
    pairs=st.lists(
        st.tuples(*[st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=8)] * 2), min_size=1
    ),
    mark=st.sampled_from(list(MARKS.values())),
    header=st.booleans(),
)
def test_quoted_names_come_back(folder: Path, pairs: list[tuple[str, str]], mark: str, header: bool) -> None:
    lines = [mark.join('"' + name.replace('"', '""') + '"' for name in pair) for pair in pairs]
    content = "\n".join([f"source{mark}target" if header else f"first.ply{mark}second.ply", *lines])
    assert read(folder, content)[not header :] == names(folder, *pairs)
