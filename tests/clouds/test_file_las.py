"""LAS files, and LAZ where lazrs is installed."""

from __future__ import annotations

import base64
import struct
import sys
import zlib
from pathlib import Path

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
        (las(scale=float("inf")), "byte 131: expected finite scales and offsets"),
        (las(scale=0.0), r"byte 131: expected scales other than 0, got \[0.0, 0.25, 0.25\]"),
        (las()[:-1], "byte 232: the header promises 2 points, 44 bytes from here on; there are 43"),
        (las(4, count=2**64 - 1), "byte 380: the header promises 18446744073709551615 points"),
    ],
)
def test_broken_files_are_refused_with_the_byte(tmp_path: Path, content: bytes, message: str) -> None:
    with pytest.raises(cp.FileFormatError, match=message) as caught:
        read(tmp_path, content)
    assert str(caught.value).startswith(str(tmp_path / "cloud.las: byte"))


def test_without_lazrs_compressed_files_name_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "lazrs", None)
    with pytest.raises(cp.MissingPackageError, match=r"pip install 'clipperplus\[las\]'"):
        read(tmp_path, las(kind=0x80), "a.laz")


# Written by laspy, three points with the scale 0.25: in the formats 1 and 6, packed again for the line.
LAZ_1_2 = (
    "c-r%E40dC{0vMV6Lp)rA7{~|qjIY=qGq^JX%>wcoWf++8D!*WlosM+Cs@wr4E_(n~+yugR=!eR40O_2>;;PI7h19&{{FKxb28KOh"
    "dJGvQB?VUc`Vc9-{GxO;3z$Hd3BnFI%)sy;4KOjVF^B+Fu`_T0$x23quJu4!9&B#bJ1l-IKiZwka~>>^f!MeSNB{s%L^Q|"
)
LAZ_1_4 = (
    "c-r%E40dC{0vK8RLp)rA7{~|qjIY?s8Lu(|%>we;<OnFgV2_=Sbik_I0VXbc09D)s!guJ0%5z}V&&)8;ASbc7DziW#H7_|oB{hYC"
    "VNaL_Lq<tSft9{KL`pBeC>@KdnV2B#fWr(7|Iq*=0~doFP?ZT(4TxF~6z5^U6$V^D%udLu;!zeWY%PEc5!H>_u=D}M)=fYH0MJD<"
    "&j"
)
THREE = [*POINTS, [-7.25, 0.0, 1000.0]]


@pytest.fixture(params=[LAZ_1_2, LAZ_1_4], ids=["1.2", "1.4"])
def laz(request: pytest.FixtureRequest) -> bytes:
    pytest.importorskip("lazrs")
    return zlib.decompress(base64.b85decode(request.param))


def test_compressed_files_come_back(tmp_path: Path, laz: bytes) -> None:
    assert read(tmp_path, laz, "a.laz").points.tolist() == THREE
    assert read(tmp_path, laz, "a.las").points.tolist() == THREE


def test_compressed_files_that_are_cut_off_are_refused(tmp_path: Path, laz: bytes) -> None:
    for end in range(227, len(laz) - 8, 7):
        with pytest.raises(cp.FileFormatError, match="byte"):
            read(tmp_path, laz[:end], "a.laz")


def test_compressed_files_that_lie_are_refused(tmp_path: Path, laz: bytes) -> None:
    start = int.from_bytes(laz[96:100], "little")
    table = int.from_bytes(laz[start : start + 8], "little")
    minor = laz[25]
    lies = {
        "the sizes of the compressed parts contradict each other": (table + 4, b"\xff\xff\xff\x7f"),
        "the sizes of the compressed parts": (laz.index(b"laszip encoded") + 52 + 34 + 2, b"\x13"),
        "nothing says how the points are compressed": (laz.index(b"laszip encoded"), b"?"),
        "the header states another size of a point|contradict": (105, b"\x20"),
    }
    for message, (place, changed) in lies.items():
        with pytest.raises(cp.FileFormatError, match=message):
            read(tmp_path, laz[:place] + changed + laz[place + len(changed) :], "a.laz")
    place, changed = (107, b"\xff\xff\xff\x7f") if minor < 4 else (247, b"\xff" * 8)
    with pytest.raises(cp.MemoryLimitError, match=f"byte {start}: what it holds takes"):
        read(tmp_path, laz[:place] + changed + laz[place + len(changed) :], "a.laz")
