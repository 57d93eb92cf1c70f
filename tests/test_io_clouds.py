"""PLY files: what every variant holds comes back, and what is broken is refused with its place."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clipperplus import ClipperPlusError, FileFormatError
from clipperplus.io.clouds import read_ply

POINTS = np.array([[0.5, -1.25, 3.0], [1e6, 0.0, -2.5], [7.0, 8.0, 9.0]])


def ply(kind: str, *lines: str, body: bytes = b"", newline: str = "\n") -> bytes:
    return newline.join(["ply", f"format {kind} 1.0", *lines, "end_header", ""]).encode() + body


XYZ = ("element vertex 3", "property double x", "property double y", "property double z")


def write(folder: Path, content: bytes) -> Path:
    path = folder / "cloud.ply"
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("kind", ["ascii", "binary_little_endian", "binary_big_endian"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_coordinates_come_back_from_every_format(tmp_path: Path, kind: str, newline: str) -> None:
    lines = (
        "comment made by a test",
        "obj_info nothing",
        "element camera 2",
        "property int id",
        "element vertex 3",
        "property uchar red",
        "property float z",
        "property float x",
        "property double quality",
        "property float y",
        "element face 1",
        "property list uchar int vertex_indices",
    )
    if kind == "ascii":
        rows = ["1", "2", *(f"255 {z} {x} 0.5 {y}" for x, y, z in POINTS), "3 0 1 2", ""]
        body = newline.join(rows).encode()
    else:
        order = "<" if "little" in kind else ">"
        body = struct.pack(f"{order}2i", 1, 2)
        body += b"".join(struct.pack(f"{order}Bffdf", 255, z, x, 0.5, y) for x, y, z in POINTS)
        body += struct.pack(f"{order}B3i", 3, 0, 1, 2)
    assert np.array_equal(read_ply(write(tmp_path, ply(kind, *lines, body=body, newline=newline))), POINTS)


def test_a_cloud_without_points_is_empty(tmp_path: Path) -> None:
    lines = ("element vertex 0", *XYZ[1:])
    for kind in ("ascii", "binary_little_endian"):
        assert read_ply(write(tmp_path, ply(kind, *lines))).shape == (0, 3)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "not a PLY file"),
        (b"hello\n", "not a PLY file"),
        (b"ply\nformat ascii 1.0\n", "the header has no end_header"),
        (b"ply\nend_header\n", "the header has no format"),
        (ply("ascii"), "the header has no element vertex"),
        (ply("ascii", "element vertex 1", "property float x"), "the vertices have no property y"),
        (ply("ascii", "element vertex 1", "property list uchar float x"), "property x of the vertices is a list"),
        (ply("ascii", *XYZ, "property list uchar int n"), "property n of the vertices is a list"),
        (ply("ascii", *XYZ, "property float x"), "two properties of the same name"),
        (b"ply\nformat ascii 1.0\nformat ascii 1.0\nend_header\n", "line 3: cannot understand"),
        (ply("mime"), "line 2: cannot understand 'format mime 1.0'"),
        (ply("ascii", "element vertex -3"), "line 3: cannot understand 'element vertex -3'"),
        (ply("ascii", "element vertex 9" + "9" * 5000), "line 3: cannot understand"),
        (ply("ascii", "property float x"), "line 3: cannot understand"),
        (ply("ascii", "element vertex 1", "property quaternion x"), "line 4: cannot understand"),
        (ply("ascii", "hello world"), "line 3: cannot understand 'hello world'"),
        (ply("ascii", *XYZ, body=b"1 2 3\n"), "promises 3 vertices; there are 1 lines"),
        (ply("ascii", *XYZ, body=b"1 2 3\n1 2\n1 2 3\n"), "line 9: expected 3 numbers, got '1 2'"),
        (ply("ascii", *XYZ, body=b"1 2 3\n1 2 3\n1 two 3\n"), "line 10: expected 3 numbers, got '1 two 3'"),
        (ply("ascii", *XYZ, body=b"1 2 3\n1 2 3\n1 1_0 3\n"), "line 10: expected 3 numbers, got '1 1_0 3'"),
        (
            ply("binary_little_endian", *XYZ, body=b"\0" * 71),
            "promises 3 vertices, 72 bytes from byte .*; there are 71",
        ),
        (ply("binary_little_endian", "element vertex 99999999999999", *XYZ[1:]), "promises 99999999999999 vertices"),
        (ply("binary_big_endian", "element face 1", "property list uchar int v", *XYZ), "lists comes before"),
    ],
)
def test_broken_files_are_refused_with_the_reason(tmp_path: Path, content: bytes, message: str) -> None:
    with pytest.raises(FileFormatError, match=message):
        read_ply(write(tmp_path, content))


def test_vertices_beyond_the_end_are_refused(tmp_path: Path) -> None:
    for count in (10, 10**30):
        lines = (f"element camera {count}", "property int id", "element vertex 0", *XYZ[1:])
        with pytest.raises(FileFormatError, match="the header puts the vertices at byte"):
            read_ply(write(tmp_path, ply("binary_little_endian", *lines)))


@pytest.mark.parametrize("path", [5, None, "a\0b"])
def test_what_is_no_path_is_refused(path: object) -> None:
    with pytest.raises(FileFormatError, match="path: expected the name of a file"):
        read_ply(path)  # type: ignore[arg-type]


def test_a_missing_file_is_an_error_of_the_system(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_ply(tmp_path / "nowhere.ply")


@settings(max_examples=500)
@given(st.data())
def test_mutated_files_never_do_worse_than_an_error(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    kind = data.draw(st.sampled_from(["ascii", "binary_little_endian", "binary_big_endian"]))
    body = b"1 2 3\n4 5 6\n7 8 9\n" if kind == "ascii" else POINTS.tobytes()
    before = data.draw(st.sampled_from([(), ("element camera 0", "property int id")]))
    content = bytearray(ply(kind, *before, *XYZ, "element face 1", "property list uchar int v", body=body))
    for _ in range(data.draw(st.integers(1, 6))):
        place = data.draw(st.integers(0, len(content) - 1))
        if data.draw(st.booleans()):
            content[place] = data.draw(st.integers(0, 255))
        else:
            del content[place : place + data.draw(st.integers(1, 20))]
        if not content:
            break
    path = tmp_path_factory.getbasetemp() / "mutated.ply"
    path.write_bytes(bytes(content))
    try:
        points = read_ply(path)
    except ClipperPlusError:
        return
    assert points.ndim == 2
    assert points.shape[1] == 3
    assert len(points) <= len(content)
