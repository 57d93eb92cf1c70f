"""PCD files: what every variant holds comes back, and what is broken is refused with its place."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest
from clipperplus._core import LzfError, decompress_lzf
from hypothesis import given
from hypothesis import strategies as st

import clipperplus as cp

HEADER = {
    "VERSION": ".7",
    "FIELDS": "x y z",
    "SIZE": "4 4 4",
    "TYPE": "F F F",
    "COUNT": "1 1 1",
    "WIDTH": "2",
    "HEIGHT": "1",
    "VIEWPOINT": "0.5 -1 2 1 0 0 0",
    "POINTS": "2",
    "DATA": "ascii",
}
POINTS = [[1.0, 2.0, 3.0], [-4.0, 5.5, 6.0]]


def pcd(body: bytes = b"1 2 3\n-4 5.5 6\n", **changes: str | None) -> bytes:
    """A file whose header differs from the usual one; None leaves an entry out."""
    entries = {**HEADER, **changes}
    lines = ["# .PCD v.7", *(f"{key} {value}" for key, value in entries.items() if value is not None), ""]
    return "\n".join(lines).encode() + body


def packed(body: bytes, size: int | None = None, **changes: str | None) -> bytes:
    """A file with a compressed part of literal runs."""
    runs = b"".join(bytes([len(run) - 1]) + run for run in (body[i : i + 32] for i in range(0, len(body), 32)))
    sizes = struct.pack("<2I", len(runs), len(body) if size is None else size)
    return pcd(sizes + runs, DATA="binary_compressed", **changes)


def read(folder: Path, content: bytes) -> cp.Cloud:
    path = folder / "cloud.pcd"
    path.write_bytes(content)
    return cp.read_cloud(path)


MIXED = {"FIELDS": "_ z rgb x _ hist y", "SIZE": "1 4 4 8 2 2 2", "TYPE": "U F F F I U I", "COUNT": "3 1 1 1 1 2 1"}


def test_coordinates_come_back_from_every_format(tmp_path: Path) -> None:
    points = [[1.5, 2.0, 3.25], [-4.5, 5.0, 6.0]]
    text = b"1 2 3 3.25 nan 1.5 4 5 6 2\n1 2 3 6 4.2e9 -4.5 4 5 6 5\n"
    binary = b"".join(struct.pack("<3Bffdh2Hh", 1, 2, 3, z, 0.0, x, 4, 5, 6, int(y)) for x, y, z in points)
    x, y, z = zip(*points, strict=True)
    columns = bytes(6) + struct.pack("<2f", *z) + bytes(8) + struct.pack("<2d", *x) + bytes(4 + 8)
    columns += struct.pack("<2h", *map(int, y))
    for content in (pcd(text, **MIXED), pcd(binary, **MIXED, DATA="binary"), packed(columns, **MIXED)):
        cloud = read(tmp_path, content)
        assert cloud.points.tolist() == points
        assert cloud.viewpoint is not None
        assert cloud.viewpoint.tolist() == [0.5, -1, 2]
        assert not cloud.viewpoint.flags.writeable
        assert cloud.normals is None


def test_normals_go_with_their_points(tmp_path: Path) -> None:
    fields = {"FIELDS": "x y z normal_x normal_y normal_z", **dict.fromkeys(("SIZE", "COUNT"), "8 8 8 8 8 8")}
    fields |= {"TYPE": "F F F F F F", "COUNT": None}
    numbers = np.array([[np.nan, np.nan, np.nan, 0, 0, 1], [1, 2, 3, 0, np.nan, 1]])
    for content in (pcd(numbers.tobytes(), **fields, DATA="binary"), packed(numbers.T.tobytes(), **fields)):
        cloud = read(tmp_path, content)
        assert cloud.points.tolist() == [[1, 2, 3]]
        assert cloud.dropped == 1
        assert cloud.normals is not None
        assert np.array_equal(cloud.normals, [[0, np.nan, 1]], equal_nan=True)


@pytest.mark.parametrize("absent", ["VERSION", "COUNT", "POINTS", "WIDTH", "HEIGHT"])
def test_what_follows_from_the_rest_may_be_absent(tmp_path: Path, absent: str) -> None:
    assert read(tmp_path, pcd(**{absent: None})).points.tolist() == POINTS


def test_without_a_viewpoint_there_is_none(tmp_path: Path) -> None:
    assert read(tmp_path, pcd(VIEWPOINT=None)).viewpoint is None


def test_a_cloud_without_points_is_empty(tmp_path: Path) -> None:
    for data in ("ascii", "binary", "binary_compressed"):
        assert read(tmp_path, pcd(b"", WIDTH="0", POINTS="0", DATA=data)).points.shape == (0, 3)


BINARY = np.array(POINTS, dtype="<f4").tobytes()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "line 1: not a PCD file: its header has no DATA"),
        (b"hello\n", "line 1: cannot understand 'hello'"),
        (b"\x89PNG\r\n\x1a\n\0\0", "line 1: cannot understand"),
        (pcd(DATA=None)[:-20], "line 9: not a PCD file|line 10: not a PCD file"),
        (pcd(FIELDS=None), "line 10: the header has no FIELDS"),
        (pcd(TYPE=None), "line 10: the header has no TYPE"),
        (pcd(POINTS=None, HEIGHT=None), "line 9: the header has no HEIGHT"),
        (pcd(VERSION=".7\nWIDTH 2"), "line 8: cannot understand 'WIDTH 2'"),
        (pcd(FIELDS="x y w"), "there is no z among 'x, y, w'"),
        (pcd(FIELDS="x y y"), "line 3: FIELDS: expected every name once, got 'x y y'"),
        (pcd(SIZE="4 4"), "line 4: SIZE: expected as many words as there are fields, 3, got '4 4'"),
        (pcd(COUNT="1 1 1 1"), "line 6: COUNT: expected as many words"),
        (pcd(TYPE="F F Q"), "line 5: TYPE: expected I, U or F of a known size; 'z' is Q of 4 bytes"),
        (pcd(SIZE="4 4 3"), "line 5: TYPE: expected I, U or F of a known size; 'z' is F of 3 bytes"),
        (pcd(COUNT="1 1 0"), "line 6: COUNT: expected numbers above 0, got '1 1 0'"),
        (pcd(COUNT="1 1 -1"), "line 6: COUNT: expected numbers above 0"),
        (pcd(COUNT="1 1 2"), "field z has 2 numbers per point; expected one"),
        (pcd(FIELDS="x y z w", SIZE="4 4 4 4", TYPE="F F F F", COUNT=f"1 1 1 {10**30}"), "expected 10{29}3 numbers"),
        (pcd(WIDTH="-2"), "line 7: WIDTH: expected one number, 0 or above, got '-2'"),
        (pcd(POINTS="9" * 5000), "line 10: POINTS: expected one number"),
        (pcd(POINTS="3"), "line 10: POINTS: expected WIDTH times HEIGHT, 2, got '3'"),
        (pcd(VIEWPOINT="0 0 0"), "line 9: VIEWPOINT: expected 7 numbers, tx ty tz qw qx qy qz, got '0 0 0'"),
        (pcd(VIEWPOINT="0 0 0 1 0 0 nan"), "line 9: VIEWPOINT: expected 7 numbers"),
        (pcd(DATA="zip"), "line 11: DATA: expected ascii, binary or binary_compressed, got 'zip'"),
        (pcd(b"1 2 3\n"), "line 12: the header promises 2 points; the file ends after 1"),
        (pcd(b"1 2 3\n4 5\n"), "line 13: expected 3 numbers, got '4 5'"),
        (pcd(b"1 2 3\n4 5 six\n"), "line 13: expected 3 numbers, got '4 5 six'"),
        (pcd(WIDTH=str(10**30), POINTS=str(10**30)), "promises 10{30} points; the file ends after 2"),
        (pcd(BINARY[:-1], DATA="binary"), r"byte \d+: the header promises 2 points, 24 bytes .* there are 23"),
        (pcd(BINARY, WIDTH=str(10**30), POINTS=None, DATA="binary"), "promises 10{30} points"),
        (pcd(bytes(7), DATA="binary_compressed"), r"byte \d+: expected two sizes of 4 bytes"),
        (packed(BINARY, size=25), "2 points take 24 bytes; the compressed part is said to hold 25"),
        (packed(BINARY)[:-1], "the compressed part should have 25 bytes; there are 24"),
        (packed(BINARY[:-1], size=24), "the compressed part is damaged: there are 23 bytes instead of 24"),
        (packed(BINARY + b"!", size=24), "the compressed part is damaged: there are more than 24 bytes"),
        (pcd(struct.pack("<2I", 0, 24), DATA="binary_compressed"), "0 bytes cannot be the compressed form of 24"),
        (packed(b"", size=24_000_000, WIDTH="2000000", POINTS=None), "0 bytes cannot be the compressed form"),
    ],
)
def test_broken_files_are_refused_with_the_place(tmp_path: Path, content: bytes, message: str) -> None:
    with pytest.raises(cp.FileFormatError, match=message) as caught:
        read(tmp_path, content)
    assert str(caught.value).startswith(str(tmp_path / "cloud.pcd: "))


@pytest.mark.parametrize(
    ("compressed", "plain"),
    [
        (b"", b""),
        (b"\x02abc", b"abc"),
        (b"\x00a\x20\x00", b"aaaa"),  # three bytes from one byte back
        (b"\x02abc\x40\x02", b"abcabca"),  # four bytes from three bytes back
        (b"\x00a\xe0\xff\x00", b"a" * 265),  # the longest repetition
        (b"\x1f" + bytes(32) + b"\x00b" + b"\x20\x20", bytes(32) + b"b" + bytes(3)),
    ],
)
def test_lzf_by_hand(compressed: bytes, plain: bytes) -> None:
    assert decompress_lzf(compressed, len(plain)) == plain


def test_lzf_reaches_back_through_both_bytes_of_a_distance() -> None:
    runs = b"".join(b"\x1f" + bytes([number]) * 32 for number in range(10))
    assert decompress_lzf(runs + b"\x21\x3f", 323) == decompress_lzf(runs, 320) + bytes(3)  # 320 = 256 + 0x3f + 1


@pytest.mark.parametrize(
    ("compressed", "size", "message"),
    [
        (b"\x02ab", 3, "the last piece is cut off"),
        (b"\x00a\x20", 4, "the last piece is cut off"),
        (b"\x00a\xe0", 9, "the last piece is cut off"),
        (b"\x20\x00", 3, "a repetition goes back 1 bytes where there are 0"),
        (b"\x00a\x20\x01", 4, "a repetition goes back 2 bytes where there are 1"),
        (b"\x00a\xe0\xff\x00", 264, "there are more than 264 bytes"),
    ],
)
def test_broken_lzf_is_refused(compressed: bytes, size: int, message: str) -> None:
    with pytest.raises(LzfError, match=message):
        decompress_lzf(compressed, size)


@given(compressed=st.binary(max_size=60), size=st.integers(0, 3000))
def test_lzf_of_any_bytes_gives_the_size_or_an_error(compressed: bytes, size: int) -> None:
    try:
        plain = decompress_lzf(compressed, size)
    except LzfError:
        return
    assert len(plain) == size
