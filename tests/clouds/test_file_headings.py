"""Names of columns in tables of points, in headers and in comments above the rows."""

from __future__ import annotations

from pathlib import Path

import pytest

import clipperplus as cp

POINTS = [[1.0, 2.0, 3.0], [-4.5, 5.0, 6e3]]


def read(folder: Path, content: str, name: str = "cloud.xyz") -> cp.Cloud:
    path = folder / name
    path.write_bytes(content.encode())
    return cp.read_cloud(path)


def test_names_that_come_twice_are_refused(tmp_path: Path) -> None:
    with pytest.raises(cp.FileFormatError, match="line 1: the header names x twice"):
        read(tmp_path, "x y z X\n1 2 3 4\n")


NAMES = [
    "x y z",
    "X Y Z",
    '"X" "Y" "Z"',
    "x_m y_m z_m",
    "X[m] Y[m] Z[m]",
    "x(m) y(m) z(m)",
    "x_ft y_ft z_ft",
    "x_meters y_meters z_meters",
    "x_coord y_coord z_coord",
    "XCoord YCoord ZCoord",
    "x-coordinate y-coordinate z-coordinate",
    "coord_x coord_y coord_z",
    "pos_x pos_y pos_z",
    "posX posY posZ",
    "position.x position.y position.z",
    "point.x point.y point.z",
    "POINT_X POINT_Y POINT_Z",
    "px py pz",
    "Points:0 Points:1 Points:2",
    '"Points:0" "Points:1" "Points:2"',
    "Points_0 Points_1 Points_2",
    "Points_m_XYZ:0 Points_m_XYZ:1 Points_m_XYZ:2",
    "x_utm y_utm z_utm",
    "x_ecef y_ecef z_ecef",
    "easting northing height",
    "Easting Northing Elevation",
    "EASTING_m NORTHING_m ALTITUDE_m",
    "easting northing z",
    "east north up",
    "E N H",
    "e n z",
    "x y height",
    "x y elev",
    "X Y Alt",
    "Rechtswert Hochwert Hoehe",
]


@pytest.mark.parametrize("names", NAMES)
def test_coordinates_are_found_by_the_names_that_programs_give_them(tmp_path: Path, names: str) -> None:
    x, y, z = names.split()
    for separator in (",", ";", "\t", " ", ", ", " ; "):
        for columns, order in (
            (("id", x, y, z), (9, 0, 1, 2)),
            ((z, "intensity", y, x), (2, 9, 1, 0)),
            ((x, y, z, "r", "g", "b"), (0, 1, 2, 9, 9, 9)),
        ):
            header = separator.join(columns)
            rows = [separator.join("7" if k == 9 else repr(point[k]) for k in order) for point in POINTS]
            letters = order[:3] != (0, 1, 2) and names in ("E N H", "e n z")  # may be any, in a comment
            for start in ("",) if letters else ("", "# ", "//", "% "):
                cloud = read(tmp_path, "\n".join([start + header, *rows]) + "\n", "a.csv")
                assert cloud.points.tolist() == POINTS, start + header


@pytest.mark.parametrize(
    ("header", "separator"),
    [
        ("x [m],y [m],z [m]", ","),
        ("X (m)\tY (m)\tZ (m)", "\t"),
        ("X [m] Y [m] Z [m]", " "),
        ('"X (m)";"Y (m)";"Z (m)"', ";"),
    ],
)
def test_units_may_stand_apart_from_the_names(tmp_path: Path, header: str, separator: str) -> None:
    rows = [separator.join(map(repr, point)) for point in POINTS]
    assert read(tmp_path, "\n".join([header, *rows])).points.tolist() == POINTS


@pytest.mark.parametrize("unit", [" [m]", "\t(mm)", "  [ m ]"])
@pytest.mark.parametrize("names", ["x y z", "x, y, z", "X\tY\tZ", "columns: x y z"])
def test_a_unit_at_the_end_of_a_comment_is_that_of_all(tmp_path: Path, names: str, unit: str) -> None:
    assert read(tmp_path, f"# {names}{unit}\n1 2 3\n-4.5 5 6e3\n").points.tolist() == POINTS
    other = names.replace("y", "t y").replace("Y", "t\tY") if "," not in names else "x, t, y, z"
    assert read(tmp_path, f"# {other}{unit}\n1 9 2 3\n-4.5 9 5 6e3\n").points.tolist() == POINTS


@pytest.mark.parametrize(
    "label",
    [
        "Columns: ",
        "columns:",
        "fields: ",
        "FIELDS ",
        "FIELDS: ",
        "Header:\t",
        "Format = ",
        "columns ",
        "Order of columns: ",
    ],
)
def test_names_in_a_comment_may_be_introduced(tmp_path: Path, label: str) -> None:
    for separator in (" ", ",", "; ", "\t"):
        for names, row in (
            ("y x z", "2 1 3"),
            ("intensity x y z", "7 1 2 3"),
            ("Points:1 Points:0 Points:2 r", "2 1 3 7"),
        ):
            content = f"# scan: 7\n# {label}{names.replace(' ', separator)}\n#\n{row.replace(' ', separator)}\n"
            assert read(tmp_path, content).points.tolist() == [[1, 2, 3]], content


@pytest.mark.parametrize(
    "comment",
    [
        "made by scanner",
        "range of 5",
        "elevation range map",
        "r g b",
        "in format xyz",
        "azimuth was lost",
        "note: no names",
        "format: ascii text here",
        "origin: lat 48.1 lon 11.6",
        "scan: 1 2 3",
        "https://some.where/a b c",
        "distance, range, r",
        "a long corridor",
    ],
)
def test_comments_that_are_sentences_hinder_nothing(tmp_path: Path, comment: str) -> None:
    for row in ("1 2 3", "1,2,3", "1 2 3 4"):
        assert read(tmp_path, f"# {comment}\n{row}\n").points.tolist() == [[1, 2, 3]]


SENTENCES = [
    "first three are x y z",
    "intensity is after x y z",
    "point cloud with x y z",
    "columns are x y z",
    "columns: a cloud of x y z",
    "scanner position x y z",
    "origin x y z",
    "sorted by z y x",
    "swap y z from x",
    "h x y",
    "up e n",
    "id e n h",
    "heights above easting northing elevation",
    "i x y z of scan",
]


@pytest.mark.parametrize("comment", SENTENCES)
@pytest.mark.parametrize("start", ["# ", "//", "% "])
def test_sentences_with_names_elsewhere_are_refused_or_passed_over(tmp_path: Path, comment: str, start: str) -> None:
    refused = 0
    for width in range(3, 9):
        row = " ".join(map(str, range(1, width + 1)))
        try:
            assert read(tmp_path, f"{start}{comment}\n{row}\n").points.tolist() == [[1, 2, 3]]
        except cp.FileFormatError as error:
            assert f"line 1: cannot tell whether '{start}{comment}' names the columns: name them in" in str(error)  # noqa: PT017
            refused += 1
        assert len(read(tmp_path, f"{start}{comment}\n{'x y z a b c d e'[: 2 * width - 1]}\n{row}\n").points) == 1
    assert 1 <= refused <= 2


@pytest.mark.parametrize("comment", ["x y intensity", "id x y", "x y width height", "x y h s v", "columns: x y r g b"])
def test_comments_of_names_without_a_height_are_refused(tmp_path: Path, comment: str) -> None:
    row = " ".join("123456"[: len(comment.removeprefix("columns: ").split())])
    with pytest.raises(cp.FileFormatError, match=f"line 1: cannot tell whether '# {comment}' names the columns"):
        read(tmp_path, f"# {comment}\n{row}\n")
    assert read(tmp_path, f"# {comment} too\n{row}\n").points[0, 0] == 1


@pytest.mark.parametrize(
    ("comment", "point"),
    [
        ("x y z are first", [1, 2, 3]),
        ("x y z foo bar", [1, 2, 3]),
        ("e n h foo bar", [1, 2, 3]),
        ("gps_time ring x y z", [3, 4, 5]),
        ("z y x number_of_returns Scalar_field_2", [3, 2, 1]),
        ("normal_x normal_y x y z", [3, 4, 5]),
        ("intensity northing easting height id", [3, 2, 4]),
        ("x 1 y 2 z", [1, 2, 3]),
        ("lat 48.1 lon 11.6 origin", [1, 2, 3]),
        ("z y x id t\n# sorted by z y x", [3, 2, 1]),
    ],
)
def test_comments_of_names_alone_and_of_names_that_come_first_are_understood(
    tmp_path: Path, comment: str, point: list[float]
) -> None:
    assert read(tmp_path, f"# {comment}\n1 2 3 4 5\n").points.tolist() == [point]


def test_plain_names_come_before_others(tmp_path: Path) -> None:
    cloud = read(tmp_path, "pos_x pos_y pos_z x y z height lat lon\n7 7 7 1 2 3 9 48 11\n")
    assert cloud.points.tolist() == [[1, 2, 3]]
    cloud = read(tmp_path, "Normals:0,Normals:1,Normals:2,Points:0,Points:1,Points:2\n0,0,1,1,2,3\n")
    assert cloud.points.tolist() == [[1, 2, 3]]
    assert cloud.normals is not None
    assert cloud.normals.tolist() == [[0, 0, 1]]


def test_heights_beside_widths_are_those_of_boxes_except_beside_others(tmp_path: Path) -> None:
    for header in ("x,y,z,width,height", "easting,northing,height,w,h", "x,y,elevation,w,h", "e,n,h,s,w"):
        assert read(tmp_path, f"{header}\n1,2,3,4,5\n").points.tolist() == [[1, 2, 3]]


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("id,a,b,c", "expected columns x, y and z; cannot tell which they are in 'id,a,b,c'"),
        (
            "time,r,theta,phi",
            "directions and distances are no coordinates, expected x, y and z; got 'time, r, theta, phi'",
        ),
        ("id,range,azimuth,elevation", "directions and distances"),
        ("id,range_m,azimuth_deg,elevation [deg]", "directions and distances"),
        ("# id,azimuth,elevation,range", "directions and distances"),
        ("#id,r (m),theta (rad),z", "directions and distances"),
        ("// t,rho,theta,phi", "directions and distances"),
        ("# columns: id,azimuth,zenith,dist", "directions and distances"),
        ("# columns: id,lon,lat,alt", "longitude and latitude are angles"),
        ("id,north,east,down", "cannot tell which they are"),
        ("id,pos_x,point_y,z", "there is no x among"),
        ("id,lon,lat,alt", "longitude and latitude are angles, .* project them"),
        ("id,Longitude,Latitude,Height", "longitude and latitude are angles"),
        ("id,lat_deg,lon_deg,h", "longitude and latitude are angles"),
        ("id,Latitude [deg],Longitude [deg],h", "longitude and latitude are angles"),
        ("# id,lon,lat,alt", "longitude and latitude are angles"),
        ("id,x_m,y_m,z_mm", "expected x, y and z in one unit"),
        ("id,x [rad],y [rad],z [rad]", "cannot tell which they are"),
        ("x,x_m,y_m,z_m", "the header names x twice"),
        ("x,y,width,height", "there is no z among"),
        ("x,y,w,h", "there is no z among"),
        ("x,y,h,s,v", "there is no z among"),
        ("x_local,y_local,z_local,x_global,y_global,z_global", "x, y and z once, got those of 'local' and 'global'"),
        ("p_x,p_y,p_z,pos_x,pos_y,pos_z", "x, y and z once, got those of 'p' and 'pos': call the right ones x"),
        ("# p_x,pos_x,pos_y,pos_z,p_y,p_z", "expected x, y and z once"),
        ("easting,easting,northing,height", "the header names easting twice"),
        ("x y\t z;w", "expected"),
    ],
)
def test_headers_that_name_something_else_are_refused(tmp_path: Path, header: str, message: str) -> None:
    with pytest.raises(cp.FileFormatError, match=f"cloud.xyz: line 1: .*{message}"):
        read(tmp_path, f"{header}\n{','.join('9123456'[: header.count(',') + 1])}\n")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("blanks", [0, 98, 99, 100, 250])
def test_columns_are_named_in_the_hundred_lines_above_the_first_row(tmp_path: Path, end: str, blanks: int) -> None:
    lines = [
        "\ufeff# no names",
        "# z y \xe9",
        "# z y x",
        *["#", "  "] * (blanks // 2),
        *[""] * (blanks % 2),
        "1 2 3 # a",
        "4 5",
    ]
    with pytest.raises(cp.FileFormatError, match=f"line {blanks + 5}: expected 3 numbers, got '4 5'"):
        read(tmp_path, end.join(lines))
    cloud = read(tmp_path, end.join(lines[:-1]))
    assert cloud.points.tolist() == ([[3, 2, 1]] if blanks < 100 else [[1, 2, 3]])


def test_of_several_comments_that_name_columns_the_nearest_counts(tmp_path: Path) -> None:
    assert read(tmp_path, "# x y z\n# z y x\n# of a scan\n1 2 3\n").points.tolist() == [[3, 2, 1]]


@pytest.mark.timeout(30)
def test_many_comments_above_the_first_row_take_no_time(tmp_path: Path) -> None:
    assert read(tmp_path, "# a b c\n" * 10**6 + "1 2 3\n").points.tolist() == [[1, 2, 3]]
    assert read(tmp_path, f"# {'a ' * 400_000}\n" * 100 + "1 2 3\n").points.tolist() == [[1, 2, 3]]
    wide = " ".join(map(str, range(50_000)))
    assert read(tmp_path, f"# {wide}\n" * 100 + wide).points.tolist() == [[0, 1, 2]]
