"""Tables without a header whose first columns are times, or places in a picture: they are not taken for x and y."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

import clipperplus as cp


def read(folder: Path, content: str, name: str = "cloud.xyz") -> cp.Cloud:
    path = folder / name
    path.write_bytes(content.encode())
    return cp.read_cloud(path)


@pytest.mark.parametrize("separator", [" ", ",", "\t"])
def test_rows_and_columns_of_a_picture_are_no_coordinates(tmp_path: Path, separator: str) -> None:
    """As FARO SCENE writes them, whatever is scanned first."""
    places = [(row, column) for row in range(3) for column in range(4)]
    for ends in places, [place[::-1] for place in places], places[::-1]:
        words = [(f"{a}", f"{b}", f"{a}.1250", "-2.5", "3.0000", "100", "90", "80") for a, b in ends]
        content = "\n".join(map(separator.join, words))
        with pytest.raises(cp.FileFormatError, match=r"line 2: expected x, y and z first, .*: row,column,x,y,z, or"):
            read(tmp_path, "# a comment\n" + content)
        header = separator.join(["row", "column", "x", "y", "z", "r", "g", "b"])
        assert read(tmp_path, f"{header}\n{content}").points.tolist() == [[a + 0.125, -2.5, 3] for a, _ in ends]


@pytest.mark.parametrize(
    "rows",
    [
        [f"{k % 3} {k} 1.5 2.5 3.5" for k in range(4)],
        [f"{k % 3} {k} 1.5 2.5" for k in range(9)],
        [f"{k % 3} {k} 1.5 2.5 3" for k in range(9)],
        [f"{k % 3} {k} 1.5 2 3" for k in range(9)],
        [f"{k % 3}.0 {k} 1.5 2.5 3.5" for k in range(9)],
        [f"{k % 3} {-k} 1.5 2.5 3.5" for k in range(9)],
        [f"500000 {5_000_000 + k} 1.5 2.5 3.5" for k in range(9)],
        [f"{k % 3} {k} 1.5 2.5 3.5" for k in range(9)] + ["1.5 2.5 3.5 4.5 5.5"],
    ],
)
def test_coordinates_may_be_integers_and_others_not(tmp_path: Path, rows: list[str]) -> None:
    assert len(read(tmp_path, "\n".join(rows)).points) == len(rows)


def test_times_are_no_coordinates_whatever_follows_them(tmp_path: Path) -> None:
    """As ``rostopic echo -p`` writes them, with the number, a time and the name of a frame next."""
    names = "time,field.header.seq,field.header.stamp,field.header.frame_id,field.point.x,field.point.y,field.point.z"
    times = [1403636579763555584 + k * 10**8 for k in range(5)]
    rows = "\n".join(f"{time},{k},{time},map,0.5,{k}.25,2" for k, time in enumerate(times))
    with pytest.raises(cp.FileFormatError, match=r"line 2: expected x, y and z first, got a column that .*rises"):
        read(tmp_path, f"%{names}\n{rows}")
    named = names.replace("field.point.", "")
    assert read(tmp_path, f"{named}\n{rows}").points.tolist() == [[0.5, k + 0.25, 2] for k in range(5)]


@pytest.mark.parametrize("step", [0.0, 0.0333, 1.0])
@pytest.mark.parametrize("count", [1, 2, 9])
def test_seconds_since_1970_are_no_coordinates(tmp_path: Path, step: float, count: int) -> None:
    """As in trajectories of TUM, and of points that have the time of their scan."""
    rows = "\n".join(f"{1305031102.1758 + k * step:.4f} {k}.5 -2.5 3 0 0 0 1" for k in range(count))
    for comment in ("", "# timestamp tx ty tz qx qy qz qw\n"):
        with pytest.raises(cp.FileFormatError, match=r"expected x, y and z first, got .* seconds .*: time,x,y,z, or"):
            read(tmp_path, comment + rows)
    named = f"time x y z qx qy qz qw\n{rows}"
    assert read(tmp_path, named).points.tolist() == [[k + 0.5, -2.5, 3] for k in range(count)]


@pytest.mark.parametrize(
    "rows",
    [
        ["1305031102.5 1.5 2.5"] * 9,
        ["1305031102.5 512345678.5 519400.5 7"] * 9,
        ["1305031102.5 1.5 2.5 7", "1305031101.5 1.5 2.5 7"],
        ["1305031102.5 1.5 2.5 7", "3305031101.5 1.5 2.5 7"],
        ["1305031.5 1.5 2.5 7"] * 9,
    ],
)
def test_large_coordinates_are_no_times(tmp_path: Path, rows: list[str]) -> None:
    assert len(read(tmp_path, "\n".join(rows)).points) == len(rows)


@pytest.mark.parametrize("numbers", [range(9, 0, -1), [7, 101, 5, 23, 1_000_000], [-1, -3, -2, -5, -4]])
@pytest.mark.parametrize("separator", [" ", ",", "\t"])
def test_numbers_of_points_in_any_order_are_no_coordinates(
    tmp_path: Path, numbers: Sequence[int], separator: str
) -> None:
    """As surveyors and COLMAP write them."""
    content = "\n".join(separator.join((f"{number}", f"{number}.5", "-2.5", "3.0", "9")) for number in numbers)
    with pytest.raises(cp.FileFormatError, match=r"line 1: expected x, y and z first, .* another integer .*: id,x,y,z"):
        read(tmp_path, content)
    named = separator.join(["id", "x", "y", "z", "code"])
    assert len(read(tmp_path, f"{named}\n{content}").points) == len(numbers)


@pytest.mark.parametrize(
    "rows",
    [
        [f"{k} 1.5 2.5 3.5" for k in range(4, 0, -1)],
        [f"{k} 1.5 2.5" for k in range(9, 0, -1)],
        [f"{k % 8} 1.5 2.5 3.5" for k in range(9, 0, -1)],
        [f"{k} 1.5 2 3.5" for k in range(9, 0, -1)],
        [f"{k}.0 1.5 2.5 3.5" for k in range(9, 0, -1)],
        [f"{k} 1.5 2.5 3.5" for k in range(9, 0, -1)] + ["10 1.5 2.5 3"],
    ],
)
def test_other_integers_in_any_order_may_be_coordinates(tmp_path: Path, rows: list[str]) -> None:
    assert len(read(tmp_path, "\n".join(rows)).points) == len(rows)
