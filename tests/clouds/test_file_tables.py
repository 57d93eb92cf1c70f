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
        "% made by Matlab\n1 2 3\n% and another\n-4.5 5 6e3\n",
        "x,y,z,full %,note\n1,2,3,50%,\n-4.5,5,6e3,9 %,dark\n",
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


OF_MICROSOFT = ["1.#QNAN", "-1.#IND", "1.#INF", "-1.#INF00", "1.#QNAN0", "1.#SNAN", "1.#J", "1.#QO", "1.#INFe+000"]


@pytest.mark.parametrize("word", [*OF_MICROSOFT, "-nan(ind)", "nan(snan)"])
def test_what_programs_of_microsoft_write_for_no_number_is_left_out(tmp_path: Path, word: str) -> None:
    axes = "".join(f"property float {axis}\n" for axis in "xyz")
    header = f"ply\nformat ascii 1.0\nelement vertex 2\n{axes}end_header\n"
    fields = "FIELDS x y z\nSIZE 4 4 4\nTYPE F F F\nCOUNT 1 1 1\nWIDTH 2\nHEIGHT 1\nPOINTS 2\nDATA ascii\n"
    for row in (f"{word} 5 6", f"5 {word} 6", f"5 6 {word}"):
        for name, content in (
            ("a.xyz", f"{row}\n1 2 3\n"),
            ("a.xyz", f"1 2 3 # first\n{row} # second\n"),
            ("a.csv", f"1 2 3\n{row}\n".replace(" ", ",")),
            ("a.csv", f"x y z\n{row}\n1 2 3\n".replace(" ", "; ")),
            ("a.ply", f"{header}{row}\n1 2 3\n"),
            ("a.pcd", f"{fields}{row}\n1 2 3\n"),
        ):
            cloud = read(tmp_path, content, name)
            assert cloud.points.tolist() == [[1, 2, 3]], content
            assert cloud.dropped == 1


def test_a_comment_begins_a_line_or_follows_a_blank_or_a_separator(tmp_path: Path) -> None:
    for content in (
        "#1\n1 2 3 #2 3\n //4\n-4.5 5 6e3\t// 5\n",
        "Point#,x,y,z,note\n1,1,2,3,#5\n2,-4.5,5,6e3,//\n",
        "x;y;z;page\n1;2;3;http://a.b/#c\n-4.5;5;6e3;https://d\n",
    ):
        assert read(tmp_path, content).points.tolist() == POINTS
    for row in ("1 2 3#4", "1 2 3//4", "1 2 1.#5", "1 2 1.#", "1 2 2.#INF", "1 2 1#INF"):
        with pytest.raises(cp.FileFormatError, match="line 2: expected 3 numbers, got '1 2 "):
            read(tmp_path, f"1 2 3\n{row}\n")


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
        ("20\n1 2 3\n", "line 1: expected 3 numbers or more, got '20': remove it if it counts the points"),
        ("//X Y Z\n20\n1 2 3\n", "line 2: expected 3 numbers or more, got '20': remove it if it counts the points"),
        (",0,1,2\n0,1.5,2.5,3.5\n", "line 1: expected names of columns above an index, got ',0,1,2': index,x,y,z,…"),
        (
            "name;x;y;z\nP1;1,5;2,5;3,5\n",
            "line 2: expected 4 numbers with decimal points, got 'P1;1,5;2,5;3,5'",
        ),
        ("1 two 3\n", "line 1: expected 3 numbers, got '1 two 3'"),
        ("# c\n1 2 3\n\n1 2\n", "line 4: expected 3 numbers, got '1 2'"),
        ("1 2 3\n4 5 6 7\n", "line 2: expected 3 numbers, got '4 5 6 7'"),
        ("1,2,3\n4,,6\n", "line 2: expected 3 numbers, got '4,,6'"),
        ("1,2,3\n4 5 6\n", "line 2: expected 3 numbers, got '4 5 6'"),
        ("1,5;2,5;3,5\n", "line 1: expected decimal points, got commas in '1,5;2,5;3,5'"),
        ("1,5 2,5 3,5\n", "line 1: expected decimal points, got commas"),
        ("x;y;z\n1;2,5;3\n", "line 2: expected decimal points, got commas in '1;2,5;3'"),
        ("1;2;3\n1,5;2,5;3,5\n", "line 2: expected decimal points, got commas in '1,5;2,5;3,5'"),
        (
            "1,5, 2,5, 3,5\n",
            "line 1: expected a blank after every comma or after none, got '1,5, 2,5, 3,5': commas without",
        ),
        ("-1,5e3,\t2, 3,5\n", "line 1: expected a blank after every comma or after none"),
        ("1,2, 3\n", "line 1: expected a blank after every comma or after none, got '1,2, 3'"),
        ("1, 2,3\n", "line 1: expected a blank after every comma or after none"),
        ("0, 0, 0\n1,5, 2,5, 3,5\n", "line 2: expected a blank after every comma or after none"),
        ("x, y, z\n1,5, 2,5, 3,5\n", "line 2: expected"),
        ("1,5, 2,5, oak\n", "line 1: expected a blank after every comma or after none"),
        ("691,608.2, 5,334,760.1, 519.4\n", "line 1: expected a blank after every comma or after none"),
        ("1 2 3\n1_0 2 3\n", "line 2: expected 3 numbers, got '1_0 2 3'"),
        ("1 2 3\n0x10 2 3\n", "line 2: expected 3 numbers, got '0x10 2 3'"),
        ("x y\n1 2\n", "line 1: expected columns x, y and z; there is no z among 'x y'"),
        ("x y z w\n1 2 3\n", "line 2: expected 4 words as in the header, got '1 2 3'"),
        (b"\x89PNG\r\n\x1a\n\0\0", "line 1: expected"),
        ("1 2 3\n".encode("utf-16"), "line 1: expected text in ASCII or UTF-8, got UTF-16"),
        (b"\xfe\xff" + "1 2 3\n".encode("utf-16-be"), "line 1: expected text in ASCII or UTF-8, got UTF-16"),
    ],
)
def test_broken_files_are_refused_with_the_line(tmp_path: Path, content: str | bytes, message: str) -> None:
    with pytest.raises(cp.FileFormatError, match=message) as caught:
        read(tmp_path, content)
    assert str(caught.value).startswith(str(tmp_path / "cloud.xyz: line"))


def test_numbers_between_commas_may_be_aligned(tmp_path: Path) -> None:
    for rows in (
        "   1.0,   2.0,   3.0\n  -4.5,   5.0,6000.0\n",
        "1.0,2.0, 3.0\n-4.5, 5.0,6000.0\n",
        " 1.0e+00, 2.0e+00, 3.0e+00\n-4.5e+00, 5.0e+00, 6.0e+03\n",
        "   1.0,   2.0,   3.0, 17,100\n  -4.5,   5.0,6000.0,  1,  2\n",
        "1,2,3\n-4.5,5, 6000\n",
    ):
        assert read(tmp_path, rows).points.tolist() == POINTS
    assert read(tmp_path, " 1,-2, 3\n-4, 5,-6\n").points.tolist() == [[1, -2, 3], [-4, 5, -6]]
    assert read(tmp_path, "x,y,z\n100,200,  3\n 10,200,300\n").points.tolist() == [[100, 200, 3], [10, 200, 300]]


@pytest.mark.parametrize(
    "row",
    [
        "1,234.5,2,345.6,3,456.7",
        "-1,234.5,2,345.,3,456.789",
        "691,608.2,5,334,760.1,1,519.4",
        "1,234.5,2,345.6,3,456.7,8,000.0",
    ],
)
def test_commas_that_may_mark_thousands_are_refused(tmp_path: Path, row: str) -> None:
    for content, line in (
        (f"{row}\n", 1),
        (f"# a comment\n{row}\n", 2),
        ("0" + ",0" * row.count(",") + f"\n{row}\n", 2),
    ):
        with pytest.raises(
            cp.FileFormatError, match=f"line {line}: expected numbers without marks of thousands, got '"
        ):
            read(tmp_path, content)
    names = ",".join(["x", "y", "z", *"abcdefgh"[: row.count(",") - 2]])
    assert len(read(tmp_path, f"{names}\n{row}\n").points) == 1


@pytest.mark.parametrize(
    "row",
    [
        "1,234.5,2,345.6",
        "1,234.5,2,345.6,3,45.7",
        "1,234.5,2,345.6,3,4567.8",
        "1,234.5,2,345.6,3,456",
        "1,2,3,456.7",
        "1;234.5;2;345.6;3;456.7",
    ],
)
def test_commas_that_cannot_mark_thousands_separate(tmp_path: Path, row: str) -> None:
    assert read(tmp_path, f"{row}\n").points[0, 0] == 1


@pytest.mark.parametrize(
    "content", ["1d0 2d0 3d0\n-4.5D+0 .5d1 6d3\n", "1 2 3\n-4.5 5 6D3\n", "x,y,z\n1d0,2D0,3\n-45d-1,5,6.D3\n"]
)
def test_exponents_of_fortran_are_understood(tmp_path: Path, content: str) -> None:
    assert read(tmp_path, content).points.tolist() == POINTS


@pytest.mark.parametrize("word", ["d", "1d", "d1", "1d1d1", "1dd1", "1d1.5", "0d"])
def test_what_looks_like_it_is_refused(tmp_path: Path, word: str) -> None:
    with pytest.raises(cp.FileFormatError, match="line 2: expected 3 numbers"):
        read(tmp_path, f"1 2 3\n{word} 2 3\n")


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "line", [" " * 10**6 + "x", "_" * 10**6, "x " * 400_000, "x [" * 300_000, "(" * 10**6, "1," * 500_000]
)
def test_strange_first_lines_take_no_time(tmp_path: Path, line: str) -> None:
    with pytest.raises(cp.FileFormatError, match=r"line [12]: expected"):
        read(tmp_path, f"{line}\n1 2 3\n")


def test_a_line_that_is_no_point_is_not_taken_apart(tmp_path: Path) -> None:
    with pytest.raises(cp.FileFormatError, match="line 2: expected a point, got 2000000 bytes"):
        read(tmp_path, "1 2 3\n" + "1 " * 10**6)


@pytest.mark.parametrize("separator", [",", "; ", "\t"])
def test_numbers_above_the_columns_are_no_point(tmp_path: Path, separator: str) -> None:
    for rows in ("0 1 2\n1.0 2.0 3.0\n-4.5 5.0 6e3\n", "0 1 2 3\n1.0 2.0 3.0 7\n-4.5 5.0 6e3 8\n"):
        cloud = read(tmp_path, "# of a scan\n" + rows.replace(" ", separator))
        assert cloud.points.tolist() == POINTS


@pytest.mark.parametrize(
    "rows",
    [
        "0,1,2\n",
        "0,1,2\n3,4,5\n",
        "0,1,2\n3.5,4,5\n",
        "0,1,2\n3.5,4.5,5.5\n1.5,2,3.5\n",
        "0,1,2.0\n3.5,4.5,5.5\n",
        "0.0,1.0,2.0\n3.5,4.5,5.5\n",
        "0 1 2\n3.5 4.5 5.5\n",
        "x,y,z\n0,1,2\n3.5,4.5,5.5\n",
        "# x y z\n0,1,2\n3.5,4.5,5.5\n",
    ],
)
def test_a_point_that_looks_like_them_is_one(tmp_path: Path, rows: str) -> None:
    assert read(tmp_path, rows).points[0].tolist() == [0, 1, 2]


@pytest.mark.parametrize("first", [0, 1, 2, 4000])
@pytest.mark.parametrize("separator", [",", " ", ";"])
def test_columns_after_one_that_counts_are_not_guessed(tmp_path: Path, first: int, separator: str) -> None:
    rows = [separator.join((f"{first + k}", f"{k}.5", "2", "3.5")) for k in range(5)]
    with pytest.raises(
        cp.FileFormatError, match=r"line 2: expected x, y and z first, got a column that counts .*index,x,y,z"
    ):
        read(tmp_path, "\n".join(["# a comment", *rows]))
    named = "\n".join([separator.join(["index", "x", "y", "z"]), *rows])
    assert read(tmp_path, named).points.tolist() == [[k + 0.5, 2, 3.5] for k in range(5)]


@pytest.mark.parametrize(
    "index", [[0, 1, 3, 4, 8], [-3, 5, 6, 7, 10**9], [1403636579763555584 + k * 10**8 for k in range(5)]]
)
@pytest.mark.parametrize("header", ["", "0,1,2,3\n"])
def test_columns_after_one_that_rises_by_integers_are_not_guessed(
    tmp_path: Path, index: list[int], header: str
) -> None:
    rows = "".join(f"{k},1.5,2,3.5\n" for k in index)
    line = 1 + header.count("\n")
    with pytest.raises(
        cp.FileFormatError, match=f"line {line}: expected x, y and z first, .* rises with them, in '{index[0]},"
    ):
        read(tmp_path, header + rows)


def test_numbers_of_columns_above_an_index_are_no_point(tmp_path: Path) -> None:
    for separator in ",;\t ":
        rows = [separator.join(words) for words in ("0123", *((str(k), "1.5", "2", "3.5") for k in range(5)))]
        with pytest.raises(cp.FileFormatError, match="line 2: expected x, y and z first, got a column that counts"):
            read(tmp_path, "\n".join(rows))


@pytest.mark.parametrize(
    "rows",
    [
        [f"{k} 1.5 2.5 3.5" for k in range(4)],
        [f"{k} 1.5 2.5" for k in range(9)],
        [f"{k} 1 2.0 {k}" for k in range(9)],
        [f"{k} 1.5 2.5 3" for k in range(9, 0, -1)],
        [f"{k} 1.5 2.5 3.5" for k in (0, 1, 2, 2, 3, 4)],
        [f"{k}.5 1.5 2.5 3.5" for k in range(9)],
        [f"{k} 1.5 2.5 3.5" for k in [*range(9), 7]],
        [f"{k} 1 2 3 0.5" for k in range(9)],
    ],
)
def test_other_columns_of_integers_may_come_first(tmp_path: Path, rows: list[str]) -> None:
    assert len(read(tmp_path, "\n".join(rows)).points) == len(rows)
