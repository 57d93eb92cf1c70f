"""Arrays of numpy as point clouds."""

from __future__ import annotations

import io
import struct
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import clipperplus as cp

POINTS = np.array([[1.0, 2.0, 3.0], [-4.0, 5.0, 6.0]])


def read(folder: Path, content: bytes, name: str) -> cp.Cloud:
    path = folder / name
    path.write_bytes(content)
    return cp.read_cloud(path)


def npy(array: Any, **changes: str) -> bytes:
    stream = io.BytesIO()
    np.lib.format.write_array(stream, np.asarray(array), version=(1, 0))
    content = stream.getvalue().decode("latin-1")
    for old, new in changes.items():
        content = content.replace(old, new)
    return content.encode("latin-1")


def npz(*, packed: bool = True, **arrays: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED) as archive:
        for name, content in arrays.items():
            archive.writestr(f"{name}.npy", content)
    return stream.getvalue()


@pytest.mark.parametrize("dtype", ["<f4", ">f4", "<f8", ">f8", "<f2", "<i2", "i1", ">i8"])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("columns", [3, 4, 64])
def test_the_first_three_columns_of_an_array_come_back(tmp_path: Path, dtype: str, order: Any, columns: int) -> None:
    array = np.zeros((2, columns), dtype=dtype, order=order)
    array[:, :3] = POINTS
    cloud = read(tmp_path, npy(array), "a.npy")
    assert np.array_equal(cloud.points, POINTS)
    assert cloud.points.flags.c_contiguous


@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
def test_every_version_of_the_format_is_read(tmp_path: Path, version: tuple[int, int]) -> None:
    stream = io.BytesIO()
    np.lib.format.write_array(stream, POINTS, version=version)
    assert np.array_equal(read(tmp_path, stream.getvalue(), "a.npy").points, POINTS)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "byte 0: not an array of numpy"),
        (b"1 2 3\n", "byte 0: not an array of numpy"),
        (npy(POINTS)[:9], "byte 0: not an array of numpy"),
        (npy(POINTS)[:50], "byte 0: not an array of numpy"),
        (b"\x93NUMPY\x09\x00" + npy(POINTS)[8:], "byte 0: not an array of numpy"),
        (npy(POINTS, descr="dxscr"), "byte 0: not an array of numpy"),
        (npy(POINTS, shape="shave"), "byte 0: not an array of numpy"),
        (npy(POINTS)[:-1], "byte 128: the header promises 2 rows, 48 bytes from here on; there are 47"),
        (npy(POINTS, **{"(2, 3), }                ": "(99999999999999999, 3), }"}), "promises 99999999999999999 rows"),
        (npy(POINTS, **{"(2, 3)": "(2,-3)"}), "byte 0: not an array of numpy"),
        (npy(POINTS, **{"(2, 3), }  ": "(True,3), }"}), "byte 0: not an array of numpy"),
        (npy(np.array([None, {}, set()], dtype=object)), "got something else than numbers"),
        (npy(POINTS.astype(complex)), "got something else than numbers of shape"),
        (npy(np.zeros(2, dtype=[("x", "<f4"), ("y", "<f4")])), "got something else than numbers"),
        (npy(np.zeros((2, 2))), r"got <f8 of shape \(2, 2\)"),
        (npy(np.zeros(3)), r"got <f8 of shape \(3,\)"),
        (npy(np.zeros((3, 1000))), r"got <f8 of shape \(3, 1000\); is it transposed\?"),
        (npy(np.zeros((3, 9))), r"got <f8 of shape \(3, 9\); is it transposed\?"),
        (npy(np.zeros((4, 20))), r"got <f8 of shape \(4, 20\); is it transposed\?"),
        (npy(np.zeros((2, 3, 3))), r"got <f8 of shape \(2, 3, 3\)"),
    ],
)
def test_broken_arrays_are_refused_with_the_byte(tmp_path: Path, content: bytes, message: str) -> None:
    with pytest.raises(cp.FileFormatError, match=message) as caught:
        read(tmp_path, content, "a.npy")
    assert str(caught.value).startswith(str(tmp_path / "a.npy: byte"))


@pytest.mark.parametrize("packed", [False, True])
def test_the_array_of_points_is_found_by_its_name_or_is_the_only_one(tmp_path: Path, packed: bool) -> None:
    other = {"pose": npy(np.eye(4)), "name": npy(np.array("scan")), "any": npy(np.array([None], dtype=object))}
    zeros = npy(np.zeros((2, 3)))
    for arrays in (
        {"src": npy(POINTS)},
        {"arr_0": npy(POINTS)},
        {"points": npy(POINTS), "colours": zeros, "vertices": zeros, **other},
        {"vertices": npy(POINTS), "a": zeros, **other},
        {"pcd": npy(POINTS), "color": zeros},
    ):
        cloud = read(tmp_path, npz(packed=packed, **arrays), "a.npz")
        assert np.array_equal(cloud.points, POINTS)
        assert cloud.normals is None


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        (
            {"points": np.zeros((3, 100)), "colors": np.zeros((100, 3))},
            r"points: .* shape \(3, 100\); is it transposed",
        ),
        ({"points": np.zeros((3, 9)), "colors": np.zeros((9, 3))}, r"points: .* of shape \(3, 9\); is it transposed"),
        ({"points": np.zeros(9), "colors": np.zeros((9, 3))}, r"points: expected .* got <f8 of shape \(9,\)$"),
        ({"points": np.array(["a"]), "xyz": POINTS}, "points: expected .* got something else than numbers"),
        ({"a": POINTS, "intensity": np.zeros(2)}, r"called points if .* there are a \(2, 3\), intensity \(2,\)"),
        ({"xyz": POINTS, "vertices": POINTS}, "called points if there are several"),
        ({"arr_0": POINTS, "arr_1": POINTS}, "called points if there are several"),
        ({"a": POINTS, "colors": np.zeros((2, 3))}, "called points if there are several"),
        ({"rgb": POINTS}, "called points if there are several"),
        ({"normals": POINTS}, "called points if there are several"),
        ({"pose": np.eye(4)}, "called points if there are several"),
        ({"points": np.eye(4)}, "a 4 by 4 matrix with a last row of 0 0 0 1, which is a transform"),
        ({"camera": np.eye(4)}, "a 4 by 4 matrix with a last row of 0 0 0 1, which is a transform"),
    ],
)
def test_what_may_be_no_points_is_not_taken_for_them(tmp_path: Path, arrays: dict[str, Any], message: str) -> None:
    with pytest.raises(cp.FileFormatError, match=f"byte 0: .*{message}"):
        read(tmp_path, npz(**{name: npy(array) for name, array in arrays.items()}), "a.npz")


def test_a_transform_is_no_cloud_of_four_points(tmp_path: Path) -> None:
    for kind in ("<f8", "<f4", "<i4"):
        with pytest.raises(cp.FileFormatError, match=r"byte 0: expected points, got a 4 by 4 matrix .* a transform"):
            read(tmp_path, npy(np.eye(4, dtype=kind)), "a.npy")
    corners = np.array([[0.0, 0, 0, 1], [1, 0, 0, 1], [0, 1, 0, 1], [0, 0, 1, 1]])
    assert np.array_equal(read(tmp_path, npy(corners), "a.npy").points, corners[:, :3])


def test_an_array_called_normals_goes_with_the_points(tmp_path: Path) -> None:
    points = np.array([[1.0, 2, 3, 0.5], [np.inf, 5, 6, 0.5]])
    normals = np.array([[0.0, 0, 1], [0, 1, 0]])
    cloud = read(tmp_path, npz(points=npy(points), normals=npy(normals)), "a.npz")
    assert cloud.points.tolist() == [[1, 2, 3]]
    assert cloud.normals is not None
    assert cloud.normals.tolist() == [[0, 0, 1]]
    assert read(tmp_path, npz(points=npy(points), normals=npy(normals[:1])), "a.npz").normals is None


def huge(shape: str, kind: str = "<f8") -> bytes:
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}}}".encode()
    return b"\x93NUMPY\x01\0" + struct.pack("<H", len(header)) + header


@pytest.mark.parametrize(
    "shape", [f"({9 * 10**4298}, 3)", f"({10**300}, 3)", f"(0, {10**300})", f"({'9' * 18}, {'9' * 18}, 3)"]
)
def test_arrays_larger_than_any_file_are_refused_in_few_words(tmp_path: Path, shape: str) -> None:
    for name, content in (
        ("a.npy", huge(shape)),
        ("a.npy", huge(shape, "<U0")),
        ("a.npz", npz(points=huge(shape))),
    ):
        with pytest.raises(cp.FileFormatError, match="byte 0: the header promises an array that is larger") as caught:
            read(tmp_path, content, name)
        assert len(str(caught.value)) < 150 + len(str(tmp_path))


def test_of_a_shape_with_many_dimensions_little_is_shown(tmp_path: Path) -> None:
    with pytest.raises(cp.FileFormatError, match=r"got <f8 of shape \(1, 1, 1") as caught:
        read(tmp_path, huge("(" + "1," * 3000 + ")"), "a.npy")
    assert len(str(caught.value)) < 250 + len(str(tmp_path))


ZEROS = npy(np.zeros((40_000_000, 3), dtype=np.int8))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "byte 0: not an NPZ file"),
        (b"1 2 3\n", "byte 0: not an NPZ file"),
        (npz(), "there are none"),
        (npz(a=npy(np.zeros((2, 2)))), r"a: expected an array .* got <f8 of shape \(2, 2\)"),
        (npz(src=npy(POINTS), dst=npy(POINTS)), r"called points if there .* src \(2, 3\), dst \(2, 3\)"),
        (npz(points=b"hello"), r"points.npy: byte 0: not an array of numpy"),
        (npz(points=npy(POINTS)[:-1]), "points.npy: byte 128: the header promises 2 rows, 48 bytes .* there are 47"),
        (npz(points=npy(POINTS, **{"(2, 3), }        ": "(999999999, 3), }"})), "promises 999999999 rows"),
        (npz(packed=False, points=npy(POINTS)).replace(POINTS.tobytes(), bytes(48)), "cannot be unpacked .*CRC"),
    ],
)
def test_broken_archives_are_refused(tmp_path: Path, content: bytes, message: str) -> None:
    with pytest.raises(cp.FileFormatError, match=message) as caught:
        read(tmp_path, content, "a.npz")
    assert str(caught.value).startswith(str(tmp_path / "a.npz: "))


def test_other_compressions_and_passwords_are_refused(tmp_path: Path) -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("points.npy", npy(POINTS))
    with pytest.raises(cp.FileFormatError, match=r"points.npy: byte 0: cannot be unpacked \(compression 14\)"):
        read(tmp_path, stream.getvalue(), "a.npz")
    locked = bytearray(npz(points=npy(POINTS)))
    locked[locked.index(b"PK\1\2") + 8] |= 1
    with pytest.raises(cp.FileFormatError, match=r"cannot be unpacked .*encrypted"):
        read(tmp_path, bytes(locked), "a.npz")


def test_an_archive_that_would_fill_the_memory_is_refused_before_it_does(tmp_path: Path) -> None:
    path = tmp_path / "bomb.npz"
    path.write_bytes(npz(points=ZEROS))
    tracemalloc.start()
    with pytest.raises(cp.MemoryLimitError, match=r"takes 1080000128 bytes .* unless size_limit says more") as refused:
        cp.read_cloud(path)
    assert refused.value.needed == 1_080_000_128
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 4 * path.stat().st_size + 2**20


def test_names_in_an_archive_are_shown_in_one_short_line(tmp_path: Path) -> None:
    name = "\x1b[2J\n" + 3000 * "a"
    array = npy(POINTS)
    torn = npz(packed=False, **{name: array}).replace(b"PK\x03\x04", b"PK\x03\x05", 1)
    other = npz(packed=False, **{name: array}).replace(name.encode(), name.replace("a", "b").encode(), 1)
    for content in (torn, other, npz(**{name: b"no array"}), npz(**{name: npy(1.0)}), npz(**{name: array, "b": array})):
        with pytest.raises(cp.FileFormatError, match=r"x1b\[2J") as caught:
            read(tmp_path, content, "a.npz")
        assert len(str(caught.value)) < 600 + len(str(tmp_path))
        assert str(caught.value).isprintable()
