"""PLY files: what every variant holds comes back, and what is broken is refused with its place."""

from __future__ import annotations

import struct
import time
from pathlib import Path

import numpy as np
import pytest

import clipperplus as cp

POINTS = np.array([[0.5, -1.25, 3.0], [1e6, 0.0, -2.5], [7.0, 8.0, 9.0]])
KINDS = ["ascii", "binary_little_endian", "binary_big_endian"]
XYZ = ("element vertex 3", "property double x", "property double y", "property double z")


def ply(kind: str, *lines: str, body: bytes = b"", newline: str = "\n") -> bytes:
    return newline.join(["ply", f"format {kind} 1.0", *lines, "end_header", ""]).encode() + body


def read(folder: Path, content: bytes) -> cp.Cloud:
    path = folder / "cloud.ply"
    path.write_bytes(content)
    return cp.read_cloud(path)


@pytest.mark.parametrize("kind", KINDS)
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
    cloud = read(tmp_path, ply(kind, *lines, body=body, newline=newline))
    assert np.array_equal(cloud.points, POINTS)
    assert cloud.normals is None
    assert cloud.viewpoint is None


@pytest.mark.parametrize("kind", KINDS)
def test_lists_before_the_vertices_are_passed_over(tmp_path: Path, kind: str) -> None:
    lines = (
        "element strip 3",
        "property uchar colour",
        "property list uchar short first",
        "property float weight",
        "property list int double second",
        "property ushort last",
    )
    strips: list[tuple[list[int], list[float]]] = [([1, 2, 3], []), ([], [0.5, 0.25]), ([7], [1.5])]
    if kind == "ascii":
        rows = []
        for first, second in strips:
            words = [9, len(first), *first, 0.5, len(second), *second, 8]
            rows.append(" ".join(map(str, words)))
        body = "\n\n".join([*rows, *(f"{x} {y} {z}" for x, y, z in POINTS)]).encode()
    else:
        order = "<" if "little" in kind else ">"
        body = b""
        for first, second in strips:
            body += struct.pack(f"{order}BB{len(first)}h", 9, len(first), *first)
            body += struct.pack(f"{order}fi{len(second)}dH", 0.5, len(second), *second, 8)
        body += POINTS.astype(f"{order}f8").tobytes()
    assert np.array_equal(read(tmp_path, ply(kind, *lines, *XYZ, body=body)).points, POINTS)


@pytest.mark.parametrize("kind", KINDS)
def test_normals_go_with_their_points(tmp_path: Path, kind: str) -> None:
    lines = ("element vertex 2", *(f"property float {name}" for name in ("nx", "x", "ny", "y", "nz", "z")))
    numbers = np.array([[0.0, 1, 0.5, 2, -1, 3], [0.25, np.nan, 1, 5, 1, 6]])
    if kind == "ascii":
        body = b"0 1 0.5 2 -1 3\n0.25 nan 1 5 1 6\n"
    else:
        body = numbers.astype("<f4" if "little" in kind else ">f4").tobytes()
    cloud = read(tmp_path, ply(kind, *lines, body=body))
    assert cloud.points.tolist() == [[1, 2, 3]]
    assert cloud.normals is not None
    assert cloud.normals.tolist() == [[0, 0.5, -1]]
    assert cloud.dropped == 1


def test_a_cloud_without_points_is_empty(tmp_path: Path) -> None:
    for kind in KINDS:
        assert read(tmp_path, ply(kind, "element vertex 0", *XYZ[1:])).points.shape == (0, 3)


def test_blank_lines_in_ascii_do_not_count(tmp_path: Path) -> None:
    content = ply("ascii", "element camera 2", "property int id", *XYZ, body=b"\n7\n\n8\n \n1 2 3\n\n4 5 6\n7 8 9")
    assert read(tmp_path, content).points.tolist() == [[1, 2, 3], [4, 5, 6], [7, 8, 9]]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "line 1: not a PLY file"),
        (b"hello\n", "line 1: not a PLY file"),
        (b"ply\nformat ascii 1.0\n", "line 2: the header has no end_header"),
        (b"ply\nend_header\n", "line 2: the header has no format"),
        (ply("ascii"), "line 3: the header has no element vertex"),
        (ply("ascii", "element vertex 1", "property float x"), "line 5: expected columns x, y and z; there is no y"),
        (ply("ascii", "element vertex 1", "property list uchar float x"), "property x of the vertices is a list"),
        (ply("ascii", *XYZ, "property list uchar int n"), "line 8: property n of the vertices is a list"),
        (ply("ascii", *XYZ, "property float x"), "line 8: element 'vertex' has two properties of the same name"),
        (b"ply\nformat ascii 1.0\nformat ascii 1.0\nend_header\n", "line 3: cannot understand"),
        (ply("mime"), "line 2: cannot understand 'format mime 1.0'"),
        (ply("ascii", "element vertex -3"), "line 3: cannot understand 'element vertex -3'"),
        (ply("ascii", "element vertex 9" + "9" * 5000), "line 3: cannot understand"),
        (ply("ascii", "property float x"), "line 3: cannot understand"),
        (ply("ascii", "element vertex 1", "property quaternion x"), "line 4: cannot understand"),
        (ply("ascii", "element face 1", "property list float int v"), "line 4: cannot understand"),
        (ply("ascii", "hello world"), "line 3: cannot understand 'hello world'"),
        (ply("ascii", *XYZ, body=b"1 2 3\n"), "line 8: the header promises 3 points; the file ends after 1"),
        (ply("ascii", *XYZ), "line 8: the header promises 3 points; the file ends after 0"),
        (ply("ascii", *XYZ, body=b"1 2 3\n1 2\n1 2 3\n"), "line 9: expected 3 numbers, got '1 2'"),
        (ply("ascii", *XYZ, body=b"1 2 3\n1 2 3\n1 two 3\n"), "line 10: expected 3 numbers, got '1 two 3'"),
        (ply("ascii", *XYZ, body=b"1 2 3\n1 2 3\n1 1_0 3\n"), "line 10: expected 3 numbers, got '1 1_0 3'"),
        (ply("ascii", *XYZ, body=b"1 2 3\n1 2 3\n1 2\0 3\n"), "line 10: expected 3 numbers"),
        (ply("ascii", *XYZ, body=b"1 2 3 4\n" * 3), "line 8: expected 3 numbers, got '1 2 3 4'"),
        (ply("ascii", f"element vertex {10**30}", *XYZ[1:], body=b"1 2 3\n"), "promises 10{30} points; .* after 1"),
        (
            ply("binary_little_endian", *XYZ, body=b"\0" * 71),
            "byte 118: the header promises 3 points, 72 bytes from here on; there are 71",
        ),
        (ply("binary_little_endian", "element vertex 99999999999999", *XYZ[1:]), "promises 99999999999999 points"),
        (
            ply("binary_big_endian", "element face 1", "property list char int v", *XYZ, body=b"\xff"),
            "byte 155: a list cannot have -1 entries",
        ),
        (
            ply("binary_big_endian", "element face 2", "property list uchar int v", *XYZ, body=b"\1\0\0\0\0\2\0"),
            "byte 156: the header promises 2 records of element 'face'; the file ends within them, at byte 163",
        ),
    ],
)
def test_broken_files_are_refused_with_the_place(tmp_path: Path, content: bytes, message: str) -> None:
    with pytest.raises(cp.FileFormatError, match=message) as caught:
        read(tmp_path, content)
    assert str(caught.value).startswith(str(tmp_path / "cloud.ply: "))


@pytest.mark.parametrize("count", [10, 10**30])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("property_", ["int id", "list uchar int v"])
def test_vertices_beyond_the_end_are_refused(tmp_path: Path, count: int, kind: str, property_: str) -> None:
    lines = (f"element camera {count}", f"property {property_}", "element vertex 1", *XYZ[1:])
    with pytest.raises(cp.FileFormatError, match="the header promises"):
        read(tmp_path, ply(kind, *lines, body=b"\0" * 9))


@pytest.mark.parametrize("count", [5 * 10**6 + 1, 99_999_999_999])
def test_lists_that_no_file_can_hold_are_not_looked_for(tmp_path: Path, count: int) -> None:
    lines = (f"element face {count}", "property list uchar int v", "property uchar w", *XYZ)
    content = ply("binary_little_endian", *lines, body=bytes(10**7))
    began = time.process_time()
    with pytest.raises(cp.FileFormatError, match=f"promises {count} records of element 'face'; the file ends within"):
        read(tmp_path, content)
    assert time.process_time() - began < 0.5


def test_lines_before_the_vertices_that_are_missing_are_not_called_points(tmp_path: Path) -> None:
    for vertices in (0, 3):
        lines = ("element q 7", "property int id", f"element vertex {vertices}", *XYZ[1:])
        message = "line 11: the header promises 7 lines before the points; the file ends after 2$"
        with pytest.raises(cp.FileFormatError, match=message):
            read(tmp_path, ply("ascii", *lines, body=b"1\n2\n"))
