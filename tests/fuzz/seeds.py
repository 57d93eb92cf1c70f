"""Write the inputs that fuzzing begins with, a few valid files for each reader: ``python tests/fuzz/seeds.py``."""

from __future__ import annotations

import base64
import gzip
import struct
import sys
import tempfile
import zlib
from pathlib import Path

import numpy as np
from readers import CORPUS, KEY, READERS

sys.path[:0] = [str(CORPUS.parents[1]), str(CORPUS.parents[1] / "clouds")]
# ruff: noqa: E402

import maps
from test_file_las import LAZ_1_2, LAZ_1_4, las
from test_file_pcd import packed, pcd

import clipperplus as cp
from clipperplus.geometry.files import PairPoses, Trajectory, write_kitti, write_log, write_transform, write_tum
from clipperplus.mapping.g2o import PoseGraph, write_g2o
from clipperplus.mapping.map import Map
from clipperplus.pairs.store import PairStore

POINTS = np.array([[1.5, -2.0, 3.25], [0.0, 5.5, 6.0], [7.0, 8.0, -9.125], [0.1, 0.2, 0.3]])
NORMALS = np.array([[0.0, 0.0, 1.0]] * 4)
TURN = np.array([[0.0, -1.0, 0.0, 1.0], [1.0, 0.0, 0.0, 2.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]])
POSES = np.stack((np.eye(4), TURN, TURN @ TURN))
GRAPH = cp.Graph.from_edges(6, [(0, 1), (0, 2), (1, 2), (3, 4), (2, 5)])


def graphs(folder: Path) -> None:
    """Write the formats of graphs."""
    weighted = GRAPH.with_vertex_weights([3, 1, 4, 1, 5, 9])
    real = GRAPH.with_vertex_weights([0.5, 1.25, 2.0, 0.0, 1e-3, 7.0])
    for name in ("dimacs", "dimacs_binary", "dimacs_gzip"):
        for number, graph in enumerate((GRAPH, weighted, real)):
            _write(name, folder, lambda path, graph=graph: cp.write_graph(path, graph), number)
    for name in ("matrix_market", "edge_list"):
        _write(name, folder, lambda path: cp.write_graph(path, GRAPH))
    _put("matrix_market", b"%%MatrixMarket matrix coordinate real general\n% c\n3 3 2\n1 2 1.0\n2 1 1\n", 1)
    _put("edge_list", b"# a comment\n% another\n0 1\n2\t1\n\n0 2", 1)


def clouds(folder: Path) -> None:
    """Write the formats of clouds."""
    for name in ("ply", "pcd"):
        for number, (points, binary) in enumerate(((POINTS, True), (POINTS.astype(np.float32), True), (POINTS, False))):
            normals = None if number == 1 else NORMALS
            _write(
                name,
                folder,
                lambda path, p=points, n=normals, b=binary: cp.write_cloud(path, p, normals=n, binary=b),
                number,
            )
    header = b"ply\nformat binary_big_endian 1.0\ncomment c\nelement camera 1\nproperty list uchar short a\n"
    header += b"element vertex 2\nproperty double x\nproperty float y\nproperty ushort z\nend_header\n"
    _put("ply", header + b"\x02\0\1\0\2" + b"".join(struct.pack(">dfH", 1.0, k, k) for k in range(2)), 3)
    _put("pcd", packed(POINTS[:2].astype("<f4").T.tobytes()), 3)
    _put("pcd", pcd(), 4)
    for minor in (2, 4):
        _put("las", las(minor), minor)
    for number, text in enumerate((LAZ_1_2, LAZ_1_4)):
        _put("laz", zlib.decompress(base64.b85decode(text)), number)
    for number, array in enumerate((POINTS, np.asfortranarray(POINTS), np.arange(12, dtype=">i2").reshape(3, 4))):
        _write("npy", folder, lambda path, array=array: np.save(path, array), number)
    _write("npz", folder, lambda path: np.savez(path, points=POINTS, normals=NORMALS))
    _write("npz", folder, lambda path: np.savez_compressed(path, a=POINTS), 1)
    rows = "\n".join(" ".join(map(str, row)) for row in POINTS.tolist())
    _put("xyz", f"# points\n// of a scan\n{rows}\n".encode())
    _put("csv", b'"x";"y";"z";"nx";"ny";"nz"\n1;2;3;0;0;1\n1e5;-2.5;+.5;1;0;0\n')
    _put("csv", b"intensity,Z,Y,X\n7,3,2,1\n8,6,5,4\n", 1)
    # What only C++ reads: two bytes with the size that is promised, six literals, and two with repetitions.
    _put("lzf", b"\x06\0\x05abcdef")
    _put("lzf", b"\x0e\0\x01ab\x20\x01\xe0\0\x01", 1)
    _put("kitti_scan", np.arange(12, dtype="<f4").tobytes())


def poses(folder: Path) -> None:
    """Write the formats of poses, and pose graphs."""
    log = PairPoses(np.array([[0, 1], [1, 2]]), POSES[:2], 3)
    _write("log", folder, lambda path: write_log(path, log))
    matrix = "\n".join(" ".join(map(str, row)) for row in np.diag([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).tolist())
    _put("info", f"0 1 3\n{matrix}\n1\t2\t3\n{matrix}\n".encode())
    _write("tum", folder, lambda path: write_tum(path, Trajectory(np.arange(3.0), POSES)))
    _write("kitti_poses", folder, lambda path: write_kitti(path, POSES))
    _write("transform", folder, lambda path: write_transform(path, TURN))
    unknown = "nan nan nan nan\n" * 4
    below = "".join(" ".join(map(str, row)) + "\n" for row in TURN.tolist()) + unknown
    for name, pack in (("poses", bytes), ("poses_gzip", lambda data: gzip.compress(data, mtime=0))):
        _put(name, pack(below.encode()), 0)
        _put(name, pack((CORPUS / "tum" / "valid").read_bytes()), 1)
        _put(name, pack((CORPUS / "kitti_poses" / "valid").read_bytes()), 2)
    ends = np.array([[0, 1], [1, 2]])
    for number, dimension in enumerate((3, 2)):
        graph = PoseGraph(POSES, ends, POSES[1:], ids=np.array([4, 7, 9]), fixed=np.array([0]), dimension=dimension)
        for name in ("g2o", "g2o_gzip"):
            _write(name, folder, lambda path, graph=graph: write_g2o(path, graph), number)


def lists_and_folders(folder: Path) -> None:
    """Write what the package makes for itself, and lists of pairs."""
    _put("pair_list", b'source,target,voxel_size,method\na.ply,b.ply,0.05,exact\n"c,d.ply",e.pcd,,\n')
    _put("pair_list", b"# no names of columns\na.ply;b.ply;epsilon=0.1;free_space=no\nc.ply;d.ply\n", 1)
    scans = [POINTS, POINTS + 1e4, np.empty((0, 3))]
    edges = [edge for edge in maps.two_rooms().edges if max(edge.source, edge.target) < 2]
    made: Map = maps.made(["a.ply", "b.ply", "c.ply"], scans, POSES[:2], [np.arange(2)], edges)
    made.save(folder / "map")
    _put("map_index", (folder / "map" / "map.json").read_bytes())
    _put("map_points", (folder / "map" / "scans.npz").read_bytes())
    with PairStore(folder / "results") as store:
        store.put([(KEY, {"status": "registered", "confidence": 0.5})])
    _put("results", (folder / "results").read_bytes())


def _write(name: str, folder: Path, write: object, number: int = 0) -> None:
    path = folder / READERS[name].file
    write(path)
    _put(name, path.read_bytes(), number)


def _put(name: str, data: bytes, number: int | None = 0) -> None:
    """Keep an input for a reader."""
    (CORPUS / name).mkdir(parents=True, exist_ok=True)
    (CORPUS / name / (f"valid_{number}" if number else "valid")).write_bytes(data)


def main() -> None:
    """Write all of them."""
    with tempfile.TemporaryDirectory() as folder:
        for write in (graphs, clouds, poses, lists_and_folders):
            write(Path(folder))


if __name__ == "__main__":
    main()
