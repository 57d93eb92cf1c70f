"""LAS files, and LAZ where laspy is installed."""

from __future__ import annotations

import io
import struct
import sys
from pathlib import Path

import numpy as np
import pytest

import clipperplus as cp

POINTS = [[100.5, -20.25, 3.0], [101.0, -20.0, 3.75]]


def las(minor: int = 2, **changes: float) -> bytes:
    """Two points by hand: scale 0.25, offsets 100, 0 and 0, a record of 20 bytes and 2 more."""
    size = 375 if minor >= 4 else 227
    header = bytearray(size)
    header[:4], header[24:26] = b"LASF", bytes([1, minor])
    values = {"size": size, "start": size + 5, "kind": 0, "record": 22, "count": 2, "scale": 0.25} | changes
    legacy = 0 if minor >= 4 else values["count"]
    struct.pack_into(
        "<HIIBHI", header, 94, *(values[name] for name in ("size", "start")), 0, values["kind"], 22, legacy
    )
    struct.pack_into("<H", header, 105, values["record"])
    struct.pack_into("<6d", header, 131, values["scale"], 0.25, 0.25, 100.0, 0.0, 0.0)
    if minor >= 4:
        struct.pack_into("<Q", header, 247, values["count"])
    records = [struct.pack("<3i", 2, -81, 12) + bytes(10), struct.pack("<3i", 4, -80, 15) + bytes(10)]
    return bytes(header) + bytes(5) + b"".join(records)


def read(folder: Path, content: bytes, name: str = "cloud.las") -> cp.Cloud:
    path = folder / name
    path.write_bytes(content)
    return cp.read_cloud(path)


@pytest.mark.parametrize("minor", [0, 1, 2, 3, 4])
@pytest.mark.parametrize("name", ["a.las", "a.laz"])
def test_coordinates_are_scaled_and_shifted(tmp_path: Path, minor: int, name: str) -> None:
    assert read(tmp_path, las(minor), name).points.tolist() == POINTS


def test_points_that_no_double_can_hold_are_dropped(tmp_path: Path) -> None:
    cloud = read(tmp_path, las(scale=1e308))
    assert cloud.points.shape == (0, 3)
    assert cloud.dropped == 2


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "byte 0: not a LAS file"),
        (b"1 2 3\n" * 100, "byte 0: not a LAS file"),
        (las()[:226], "byte 0: not a LAS file"),
        (las(4)[:300], "byte 94: expected a header of 375 bytes"),
        (las(4, size=227), "byte 94: expected a header of 375 bytes"),
        (las(record=19), "byte 105: expected points of 20 bytes or more, got 19"),
        (las(start=100), "byte 96: the points are said to start at byte 100"),
        (las(start=2**32 - 1), "byte 96: the points are said to start at byte 4294967295"),
        (las(scale=float("nan")), "byte 131: expected finite scales and offsets"),
        (las()[:-1], "byte 232: the header promises 2 points, 44 bytes from here on; there are 43"),
        (las(4, count=2**64 - 1), "byte 380: the header promises 18446744073709551615 points"),
    ],
)
def test_broken_files_are_refused_with_the_byte(tmp_path: Path, content: bytes, message: str) -> None:
    with pytest.raises(cp.FileFormatError, match=message) as caught:
        read(tmp_path, content)
    assert str(caught.value).startswith(str(tmp_path / "cloud.las: byte"))


def test_without_laspy_compressed_files_name_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "laspy", None)
    with pytest.raises(cp.MissingPackageError, match=r"pip install 'clipperplus\[las\]'"):
        read(tmp_path, las(kind=0x80), "a.laz")


def laz() -> bytes:
    laspy = pytest.importorskip("laspy")
    pytest.importorskip("lazrs")
    data = laspy.create(point_format=6, file_version="1.4")
    data.header.scales, data.header.offsets = [0.25] * 3, [100.0, 0.0, 0.0]
    data.x, data.y, data.z = np.tile(POINTS, (500, 1)).T
    stream = io.BytesIO()
    data.write(stream, do_compress=True, laz_backend=laspy.LazBackend.Lazrs)
    return stream.getvalue()


def test_compressed_files_come_back(tmp_path: Path) -> None:
    assert np.array_equal(read(tmp_path, laz(), "a.laz").points, np.tile(POINTS, (500, 1)))


def test_compressed_files_that_are_cut_off_are_refused(tmp_path: Path) -> None:
    content = laz()
    for end in range(375, len(content) - 1, 17):
        with pytest.raises(cp.FileFormatError, match="byte"):
            read(tmp_path, content[:end], "a.laz")
