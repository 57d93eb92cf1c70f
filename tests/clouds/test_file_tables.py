"""Points as lines of text: separators, headers, comments, and errors with their line."""

from __future__ import annotations

from pathlib import Path

import pytest

import clipperplus as cp

POINTS = [[1.0, 2.0, 3.0], [-4.5, 5.0, 6e3]]


def read(folder: Path, content: str | bytes, name: str = "cloud.xyz") -> cp.Cloud:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return cp.read_cloud(path)


@pytest.mark.parametrize("name", ["a.xyz", "a.txt", "a.csv", "a.XYZ"])
@pytest.mark.parametrize(
    "content",
    [
        "1 2 3\n-4.5 5 6e3\n",
        "1 2 3\n-4.5 5 6e3",
        "\n  1\t2 3  \r\n\r\n-4.5 5 6e3\r\n\n",
        "1,2,3\n-4.5,5,6e3\n",
        "1, 2 , 3\n-4.5, 5, 6e3\n",
        "1;2;3\n-4.5;5;6e3\n",
        "\ufeff1 2 3\n-4.5 5 6e3\n",
        "1 2 3 0.5 255\n-4.5 5 6e3 1 255\n",
        "x,y,z\n1,2,3\n-4.5,5,6e3\n",
        "x, y, z\n1 2 3\n-4.5 5 6e3\n",
        '"Z";"id";"X";"Y"\n3;7;1;2\n6e3;8;-4.5;5\n',
        "name,x,y,z\ntree,1,2,3\nlamp post,-4.5,5,6e3\n",
        "x,y,z,note\n1,2,3,\n-4.5,5,6e3,high\n",
        "# made by hand\n1 2 3 # first\n// second\n-4.5 5 6e3\n",
        "//X Y Z\n1 2 3\n-4.5 5 6e3\n",
        "# id x y z\n9 1 2 3\n9 -4.5 5 6e3\n",
        "# made with x y z in mind\n1 2 3\n-4.5 5 6e3\n",
        "# a comment\nz y x\n# and another\n3 2 1\n6e3 5 -4.5\n",
    ],
)
def test_points_come_back_from_every_way_to_write_them(tmp_path: Path, name: str, content: str) -> None:
    cloud = read(tmp_path, content, name)
    assert cloud.points.tolist() == POINTS
    assert cloud.dropped == 0
    assert cloud.normals is None


def test_what_is_no_finite_number_is_left_out(tmp_path: Path) -> None:
    cloud = read(tmp_path, "1 2 nan\n1 2 3\n-inf 0 0\n1e999 0 0\nNaN NaN NaN\n")
    assert cloud.points.tolist() == [[1, 2, 3]]
    assert cloud.dropped == 4


def test_normals_are_found_by_name(tmp_path: Path) -> None:
    for names in ("X Y Z NX NY NZ", "x y z Normal_X normal_y normal_z"):
        cloud = read(tmp_path, f"{names}\n1 2 3 0 0 1\n4 5 6 0 1 0\n")
        assert cloud.normals is not None
        assert cloud.normals.tolist() == [[0, 0, 1], [0, 1, 0]]


def test_a_header_alone_is_an_empty_cloud(tmp_path: Path) -> None:
    assert read(tmp_path, "x,y,z\n").points.shape == (0, 3)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "line 1: expected points; the file has no line with a number"),
        ("# nothing\n\n", "line 1: expected points"),
        ("hello world\n", "line 1: expected columns x, y and z; cannot tell which they are in 'hello world'"),
        ("a,b,c\n", "line 1: expected columns x, y and z; cannot tell which they are in 'a,b,c'"),
        ("a b c\n1 2 3\n", "line 1: expected columns x, y and z; cannot tell which they are in 'a b c'"),
        ("1 2\n", "line 1: expected 3 numbers or more, got '1 2'"),
        ("1 two 3\n", "line 1: expected 3 numbers, got '1 two 3'"),
        ("# c\n1 2 3\n\n1 2\n", "line 4: expected 3 numbers, got '1 2'"),
        ("1 2 3\n4 5 6 7\n", "line 2: expected 3 numbers, got '4 5 6 7'"),
        ("1,2,3\n4,,6\n", "line 2: expected 3 numbers, got '4,,6'"),
        ("1,2,3\n4 5 6\n", "line 2: expected 3 numbers, got '4 5 6'"),
        ("1,5;2,5;3,5\n", "line 1: expected decimal points, got commas in '1,5;2,5;3,5'"),
        ("1,5 2,5 3,5\n", "line 1: expected decimal points, got commas"),
        ("x;y;z\n1;2,5;3\n", "line 2: expected decimal points, got commas in '1;2,5;3'"),
        ("1;2;3\n1,5;2,5;3,5\n", "line 2: expected decimal points, got commas in '1,5;2,5;3,5'"),
        ("1 2 3\n1_0 2 3\n", "line 2: expected 3 numbers, got '1_0 2 3'"),
        ("1 2 3\n0x10 2 3\n", "line 2: expected 3 numbers, got '0x10 2 3'"),
        ("x y\n1 2\n", "line 1: expected columns x, y and z; there is no z among 'x y'"),
        ("x y z w\n1 2 3\n", "line 2: expected 4 words as in the header, got '1 2 3'"),
        (b"\x89PNG\r\n\x1a\n\0\0", "line 1: expected"),
        ("1 2 3\n".encode("utf-16"), "line 1: expected"),
    ],
)
def test_broken_files_are_refused_with_the_line(tmp_path: Path, content: str | bytes, message: str) -> None:
    with pytest.raises(cp.FileFormatError, match=message) as caught:
        read(tmp_path, content)
    assert str(caught.value).startswith(str(tmp_path / "cloud.xyz: line"))


def test_names_that_come_twice_are_refused(tmp_path: Path) -> None:
    with pytest.raises(cp.FileFormatError, match="line 1: the header names x twice"):
        read(tmp_path, "x y z X\n1 2 3 4\n")
