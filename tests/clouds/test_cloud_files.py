"""Point cloud files of every kind: the way there and back, lies about sizes, and bytes changed at random."""

from __future__ import annotations

import io
import struct
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import clipperplus as cp

POINTS = np.array([[0.5, -1.25, 3.0], [1e6, 0.0, -2.5], [7.0, 8.0, 9.0]])
ENDINGS = ".ply .pcd .xyz .txt .csv .npy .npz .bin .las .laz"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("clouds")


def rows(width: int) -> st.SearchStrategy[npt.NDArray[Any]]:
    """Finite numbers, in three columns or, with normals, in six."""

    def arrays(dtype: type) -> st.SearchStrategy[npt.NDArray[Any]]:
        finite = {"allow_nan": False, "allow_infinity": False}
        return hnp.arrays(dtype, st.tuples(st.integers(0, 9), st.just(width)), elements=finite)

    return st.sampled_from([np.float32, np.float64]).flatmap(arrays)


@given(table=st.sampled_from([3, 6]).flatmap(rows), ending=st.sampled_from([".ply", ".pcd"]), binary=st.booleans())
def test_what_is_written_comes_back(folder: Path, table: npt.NDArray[Any], ending: str, binary: bool) -> None:
    path = folder / f"cloud{ending}"
    normals = table[:, 3:] if table.shape[1] == 6 else None
    cp.write_cloud(path, table[:, :3], normals=normals, binary=binary)
    word = {(".ply", 4): b"property float x", (".ply", 8): b"property double x"}
    assert word.get((ending, table.itemsize), f"SIZE {table.itemsize} ".encode()) in path.read_bytes()
    cloud = cp.read_cloud(str(path))
    assert np.array_equal(cloud.points, table[:, :3])
    assert cloud.dropped == 0
    assert (cloud.normals is None) == (normals is None)
    assert cloud.normals is None or np.array_equal(cloud.normals, table[:, 3:])


def test_a_cloud_is_written_with_all_it_has(tmp_path: Path) -> None:
    normals = np.array([[0.0, 0, 1], [np.nan, np.nan, np.nan], [0, 1, 0]])
    cp.write_cloud(tmp_path / "A.PCD", cp.Cloud(POINTS, normals=normals, viewpoint=np.array([1.0, 2, 3])))
    cloud = cp.read_cloud(tmp_path / "A.PCD")
    assert np.array_equal(cloud.points, POINTS)
    assert cloud.normals is not None
    assert np.array_equal(cloud.normals, normals, equal_nan=True)
    assert cloud.viewpoint is not None
    assert cloud.viewpoint.tolist() == [1, 2, 3]


def test_what_is_read_cannot_be_changed(tmp_path: Path) -> None:
    cp.write_cloud(tmp_path / "a.ply", POINTS, normals=POINTS)
    cloud = cp.read_cloud(tmp_path / "a.ply")
    assert cloud.normals is not None
    for array in (cloud.points, cloud.normals):
        assert array.dtype == np.float64
        assert array.flags.c_contiguous
        assert not array.flags.writeable


def test_a_cloud_is_taken_where_points_are(tmp_path: Path) -> None:
    cp.write_cloud(tmp_path / "a.ply", POINTS)
    cloud = cp.read_cloud(tmp_path / "a.ply")
    assert cp.consistency_graph(cloud, cloud, epsilon=0.1).num_edges == 3


@pytest.mark.parametrize(
    ("name", "points", "normals", "message"),
    [
        ("a.xyz", POINTS, None, "a.xyz: cannot write this kind of point cloud; known endings are .ply .pcd"),
        ("a.ply", POINTS.T[:, :2], None, r"points: expected points of shape \(n, 3\), got \(3, 2\)"),
        ("a.ply", [[0, 0, np.nan]], None, "points: point 0 is"),
        ("a.pcd", POINTS, POINTS[:2], r"normals: expected numbers of shape \(3, 3\), got float64 of shape \(2, 3\)"),
        ("a.pcd", POINTS, POINTS > 0, r"normals: expected numbers of shape \(3, 3\), got bool"),
    ],
)
def test_what_cannot_be_written_is_refused(tmp_path: Path, name: str, points: Any, normals: Any, message: str) -> None:
    with pytest.raises(cp.ClipperPlusError, match=message):
        cp.write_cloud(tmp_path / name, points, normals=normals)
    assert not (tmp_path / name).exists()


@pytest.mark.parametrize("name", ["a.stl", "a", ".ply", "a.ply.gz"])
def test_other_endings_are_refused_with_those_that_are_known(tmp_path: Path, name: str) -> None:
    with pytest.raises(cp.FileFormatError, match=f"unknown kind of point cloud; known endings are {ENDINGS}"):
        cp.read_cloud(tmp_path / name)


@pytest.mark.parametrize("path", [5, None, "a\0b"])
def test_what_is_no_path_is_refused(path: Any) -> None:
    with pytest.raises(cp.FileFormatError, match="path: expected the name of a file"):
        cp.read_cloud(path)
    with pytest.raises(cp.FileFormatError, match="path: expected the name of a file"):
        cp.write_cloud(path, POINTS)


@pytest.mark.parametrize("ending", ENDINGS.split())
def test_missing_files_and_folders_are_errors_of_the_system(tmp_path: Path, ending: str) -> None:
    with pytest.raises(FileNotFoundError):
        cp.read_cloud(tmp_path / f"nowhere{ending}")
    (tmp_path / f"folder{ending}").mkdir()
    with pytest.raises(OSError, match="folder"):
        cp.read_cloud(tmp_path / f"folder{ending}")


@pytest.mark.parametrize("ending", ENDINGS.split())
def test_empty_files_are_refused(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"empty{ending}"
    path.touch()
    with pytest.raises(cp.FileFormatError, match=r"line 1|byte 0"):
        cp.read_cloud(path)


@pytest.fixture(scope="module")
def valid(folder: Path) -> list[tuple[str, bytes]]:
    """A small file of every kind and variant."""
    files = []
    for ending in (".ply", ".pcd"):
        for binary in (False, True):
            cp.write_cloud(folder / f"a{ending}", POINTS, normals=POINTS, binary=binary)
            files.append((ending, (folder / f"a{ending}").read_bytes()))
    faces = b"element face 2\nproperty list uchar short v\nproperty char c\nelement vertex"
    ply = files[1][1].replace(b"element vertex", faces)
    place = ply.index(b"end_header\n") + len(b"end_header\n")
    files.append((".ply", ply[:place] + b"\1\0\0\7\2\0\0\0\0\7" + ply[place:]))
    body = b"\0\1\x20\0\x02\0\0\x80\xe0\x14\4"
    pcd = b"FIELDS x y z\nSIZE 4 4 4\nTYPE F F F\nWIDTH 3\nHEIGHT 1\nPOINTS 3\nDATA binary_compressed\n"
    files.append((".pcd", pcd + struct.pack("<2I", len(body), 36) + body))
    files += [(".xyz", b"# made by hand\n1 2 3\n4 5 nan\n7 8 9\n"), (".csv", b"id,x,y,z,what\n1,2,3,4,a\n5,6,7,8,b\n")]
    for packed in (False, True):
        stream = io.BytesIO()
        (np.savez_compressed if packed else np.savez)(stream, points=POINTS, normals=POINTS)
        files.append((".npz", stream.getvalue()))
    stream = io.BytesIO()
    np.save(stream, POINTS)
    header = bytearray(227)
    header[:4], header[24:26] = b"LASF", b"\1\2"
    struct.pack_into("<HIIBHI", header, 94, 227, 227, 0, 0, 20, 3)
    struct.pack_into("<6d", header, 131, 0.1, 0.1, 0.1, 5.0, 6.0, 7.0)
    files.append((".las", bytes(header) + bytes(60)))
    return [*files, (".npy", stream.getvalue()), (".bin", POINTS.astype("<f4").tobytes() + bytes(12))]


def _mutate(data: st.DataObject, content: bytes) -> bytes:
    """Change bytes, cut some out, put some in, cut off the end, or put another number where one is."""
    changed = bytearray(content)
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, max(0, len(changed) - 1)))
        match data.draw(st.sampled_from(["flip", "delete", "insert", "truncate", "number"])):
            case "flip" if changed:
                changed[place] = data.draw(st.integers(0, 255))
            case "delete":
                del changed[place : place + data.draw(st.integers(1, 20))]
            case "insert":
                changed[place:place] = data.draw(st.binary(min_size=1, max_size=9))
            case "truncate":
                del changed[place:]
            case _:
                digits = [index for index, byte in enumerate(changed) if 48 <= byte <= 57]
                if digits:
                    number = data.draw(st.sampled_from(["0", "-1", "7", "4294967295", "9" * 18, "1" + "0" * 30, "1e9"]))
                    index = data.draw(st.sampled_from(digits))
                    changed[index : index + 1] = number.encode()
    return bytes(changed)


@given(data=st.data())
def test_mutated_files_are_read_or_refused(folder: Path, valid: list[tuple[str, bytes]], data: st.DataObject) -> None:
    for ending, content in valid:
        path = folder / f"mutated{ending}"
        mutated = _mutate(data, content)
        path.write_bytes(mutated)
        cloud, message = None, ""
        try:
            cloud = cp.read_cloud(path)
        except cp.ClipperPlusError as error:
            message = str(error)
        if cloud is None:
            assert message.startswith(str(path))
            continue
        assert cloud.points.shape == (len(cloud.points), 3)
        assert np.isfinite(cloud.points).all()
        assert cloud.normals is None or cloud.normals.shape == cloud.points.shape
        assert len(cloud.points) + cloud.dropped <= 88 * len(mutated)


def test_files_of_the_fuzz_test_are_valid(folder: Path, valid: list[tuple[str, bytes]]) -> None:
    for ending, content in valid:
        path = folder / f"valid{ending}"
        path.write_bytes(content)
        assert len(cp.read_cloud(path).points) >= 2


HUGE = 10**12
LIES = {
    "count.ply": f"ply\nformat binary_little_endian 1.0\nelement vertex {HUGE}\nproperty float x\nproperty float y\n"
    "property float z\nend_header\n",
    "ascii.ply": f"ply\nformat ascii 1.0\nelement vertex {HUGE}\nproperty float x\nproperty float y\nproperty float z\n"
    "end_header\n",
    "lists.ply": f"ply\nformat binary_big_endian 1.0\nelement face {HUGE}\nproperty list uint double v\n"
    "element vertex 1\nproperty float x\nproperty float y\nproperty float z\nend_header\n",
    "width.pcd": f"FIELDS x y z\nSIZE 4 4 4\nTYPE F F F\nWIDTH {HUGE}\nHEIGHT 1\nDATA binary\n",
    "count.pcd": f"FIELDS x y z w\nSIZE 4 4 4 4\nTYPE F F F F\nCOUNT 1 1 1 {HUGE}\nPOINTS 1\nDATA binary\n",
    "ascii.pcd": f"FIELDS x y z w\nSIZE 4 4 4 4\nTYPE F F F F\nCOUNT 1 1 1 {HUGE}\nPOINTS 1\nDATA ascii\n",
    "packed.pcd": "FIELDS x y z\nSIZE 4 4 4\nTYPE F F F\nPOINTS 300000000\nDATA binary_compressed\n",
    "shape.npy": "\x93NUMPY\x01\0\x76\0{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000, 3), }",
}


@pytest.mark.parametrize("name", LIES)
def test_memory_is_not_reserved_for_what_a_header_promises(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    sizes = struct.pack("<2I", 100_000, 3_600_000_000)
    path.write_bytes(LIES[name].encode("latin-1") + sizes + b"\n1 2 3 " * 100_000)
    tracemalloc.start()
    with pytest.raises((cp.FileFormatError, cp.MemoryLimitError)):
        cp.read_cloud(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 4 * path.stat().st_size + 2**20
