"""Files of pose graphs: what is written comes back, GTSAM reads the same, what is broken is refused with its line."""

from __future__ import annotations

import contextlib
import gzip
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from clipperplus import ClipperPlusError, FileFormatError, LandmarkError, OptionError
from clipperplus.geometry.poses import inverse
from clipperplus.io.pose_graphs import PoseGraph, read_g2o, write_g2o

Matrices = npt.NDArray[np.float64]

IN_PLANE = np.array([2, 3, 4])
PLANE = """VERTEX_SE2 7 1 2 0.5
VERTEX_SE2 3 4 5 -3
FIX 3
EDGE_SE2 7 3 1 2 0.25 11 12 13 22 23 33
"""
SPACE = """VERTEX_SE3:QUAT 0 1 2 3 0 0 0 1
VERTEX_SE3:QUAT 1 4 5 6 0.5 0.5 0.5 0.5
EDGE_SE3:QUAT 0 1 7 8 9 0 0 0 1 21 1 2 3 4 5 22 6 7 8 9 23 10 11 12 124 13 14 125 15 126
"""


def write(folder: Path, content: str | bytes, name: str = "graph.g2o") -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def motions(random: np.random.Generator, count: int, dimension: int) -> Matrices:
    poses = np.tile(np.eye(4), (count, 1, 1))
    for pose in poses:
        turn = random.normal(size=3) * (1.0 if dimension == 3 else (0.0, 0.0, 2.0))
        pose[:3, :3] = Rotation.from_rotvec(turn).as_matrix()
    poses[:, :dimension, 3] = random.normal(size=(count, dimension)) * 10.0 ** random.integers(-9, 7, (count, 1))
    return poses


def random_graph(seed: int, poses: int, edges: int, dimension: int) -> PoseGraph:
    random = np.random.default_rng(seed)
    ends = np.array([random.choice(poses, 2, replace=False) for _ in range(edges)], dtype=np.int64).reshape(-1, 2)
    roots = random.normal(size=(edges, 6, 6))
    information = roots @ roots.swapaxes(1, 2)
    if dimension == 2:
        information[:, [0, 1, 5]] = information[:, :, [0, 1, 5]] = 0.0
    ids = random.choice(10 * poses, poses, replace=False) + random.integers(2) * (2**63 - 1 - 10 * poses)
    fixed = np.flatnonzero(random.random(poses) < 0.2)
    motion = motions(random, edges, dimension)
    return PoseGraph(motions(random, poses, dimension), ends, motion, information, ids, fixed, dimension)


@settings(max_examples=80)
@given(st.integers(0, 2**32 - 1), st.integers(2, 6), st.integers(0, 6), st.sampled_from([2, 3]), st.booleans())
def test_what_is_written_comes_back(
    tmp_path_factory: pytest.TempPathFactory, seed: int, poses: int, edges: int, dimension: int, packed: bool
) -> None:
    graph = random_graph(seed, poses, edges, dimension)
    path = tmp_path_factory.getbasetemp() / ("graph.g2o.gz" if packed else "graph.g2o")
    write_g2o(path, graph)
    assert (path.read_bytes()[:2] == b"\x1f\x8b") == packed
    read = read_g2o(path)
    for name in ("edges", "information", "ids", "fixed"):
        assert np.array_equal(getattr(read, name), getattr(graph, name)), name
    assert read.dimension == dimension
    for name in ("poses", "measurements"):
        before, after = getattr(graph, name), getattr(read, name)
        assert np.array_equal(after[:, :3, 3], before[:, :3, 3])
        assert np.allclose(after[:, :3, :3], before[:, :3, :3], rtol=0.0, atol=5e-15)


def test_numbers_are_where_the_format_has_them(tmp_path: Path) -> None:
    graph = read_g2o(write(tmp_path, PLANE))
    assert graph.dimension == 2
    assert graph.ids.tolist() == [7, 3]
    assert graph.fixed.tolist() == [1]
    assert graph.edges.tolist() == [[0, 1]]
    assert np.allclose(graph.poses[1, :2, :2], [[np.cos(3), np.sin(3)], [-np.sin(3), np.cos(3)]], atol=1e-15)
    assert graph.poses[:, :3, 3].tolist() == [[1.0, 2.0, 0.0], [4.0, 5.0, 0.0]]
    assert graph.measurements[0, :3, 3].tolist() == [1.0, 2.0, 0.0]
    assert graph.information is not None
    expected = np.zeros((6, 6))
    expected[np.ix_([3, 4, 2], [3, 4, 2])] = [[11, 12, 13], [12, 22, 23], [13, 23, 33]]
    assert np.array_equal(graph.information[0], expected)
    graph = read_g2o(write(tmp_path, SPACE))
    assert graph.dimension == 3
    assert np.allclose(graph.poses[1], [[0, 0, 1, 4], [1, 0, 0, 5], [0, 1, 0, 6], [0, 0, 0, 1]], atol=1e-15)


def test_information_weighs_a_small_motion_as_the_error_of_the_format_does(tmp_path: Path) -> None:
    """The error of an edge is the translation, then the vector part of the quaternion, of measurement⁻¹ · motion."""
    graph = read_g2o(write(tmp_path, SPACE))
    entries = [float(word) for word in SPACE.splitlines()[2].split()[10:]]
    matrix = np.zeros((6, 6))
    matrix[np.triu_indices(6)] = entries
    matrix = matrix + np.triu(matrix, 1).T
    random = np.random.default_rng(0)
    assert graph.information is not None
    for _ in range(20):
        small = 1e-5 * random.normal(size=6)
        error = np.concatenate((small[3:], Rotation.from_rotvec(small[:3]).as_quat()[:3]))
        assert small @ graph.information[0] @ small == pytest.approx(error @ matrix @ error, rel=1e-8)


def test_covariances_are_the_inverses(tmp_path: Path) -> None:
    for seed, dimension in ((0, 2), (1, 3)):
        graph = random_graph(seed, 4, 5, dimension)
        assert graph.information is not None
        assert graph.covariances is not None
        inside = IN_PLANE if dimension == 2 else np.arange(6)
        for information, covariance in zip(graph.information, graph.covariances, strict=True):
            assert np.allclose(np.linalg.inv(information[np.ix_(inside, inside)]), covariance[np.ix_(inside, inside)])
            outside = np.setdiff1d(np.arange(6), inside)
            assert np.array_equal(covariance[outside][:, outside], np.eye(len(outside)))
            assert not covariance[outside][:, inside].any()
    poses, edges = np.tile(np.eye(4), (2, 1, 1)), np.array([[0, 1]])
    assert PoseGraph(poses, edges, poses[:1]).covariances is None
    with pytest.raises(LandmarkError, match="information: expected matrices with an inverse"):
        _ = PoseGraph(poses, edges, poses[:1], np.zeros((1, 6, 6))).covariances


def test_without_information_edges_are_alike(tmp_path: Path) -> None:
    poses = np.tile(np.eye(4), (3, 1, 1))
    write_g2o(tmp_path / "graph.g2o", PoseGraph(poses, np.array([[0, 1], [1, 2]]), poses[:2]))
    read = read_g2o(tmp_path / "graph.g2o")
    assert np.array_equal(read.information, np.tile(np.eye(6), (2, 1, 1)))
    assert read.ids.tolist() == [0, 1, 2]
    assert "124.0" not in (tmp_path / "graph.g2o").read_text()


def test_empty_lines_comments_spaces_and_line_ends_do_not_matter(tmp_path: Path) -> None:
    plain = read_g2o(write(tmp_path, SPACE))
    text = "\n# a comment\n" + SPACE.replace(" ", " \t ").replace("\n", " \r\n\r\n").removesuffix("\r\n")
    other = read_g2o(write(tmp_path, text))
    for name in ("poses", "edges", "measurements", "information", "ids", "fixed"):
        assert np.array_equal(getattr(plain, name), getattr(other, name)), name


def test_edges_may_come_before_their_vertices(tmp_path: Path) -> None:
    backwards = "\n".join(reversed(PLANE.splitlines()))
    graph = read_g2o(write(tmp_path, backwards))
    assert graph.ids.tolist() == [3, 7]
    assert graph.edges.tolist() == [[1, 0]]
    assert graph.fixed.tolist() == [0]


def test_a_file_without_poses_is_empty(tmp_path: Path) -> None:
    graph = read_g2o(write(tmp_path, "# nothing\n"))
    assert graph.poses.shape == graph.measurements.shape == (0, 4, 4)
    assert graph.edges.shape == (0, 2)
    write_g2o(tmp_path / "again.g2o", graph)
    assert (tmp_path / "again.g2o").read_bytes() == b""


# Beside GTSAM ---------------------------------------------------------------------------------------------------------


def check_with_gtsam(path: Path, graph: PoseGraph) -> None:
    gtsam = pytest.importorskip("gtsam", reason="gtsam is not installed")
    factors, values = gtsam.readG2o(str(path), graph.dimension == 3)
    assert factors.size() == len(graph.edges)
    at = values.atPose2 if graph.dimension == 2 else values.atPose3
    plane = [0, 1, 3]

    def as_matrix(pose: Any) -> Matrices:
        matrix = np.asarray(pose.matrix())
        if graph.dimension == 3:
            return matrix
        whole = np.eye(4)
        whole[np.ix_(plane, plane)] = matrix
        return whole

    poses = np.array([as_matrix(at(int(name))) for name in graph.ids])
    assert np.allclose(poses, graph.poses, rtol=0.0, atol=1e-9)
    assert graph.information is not None
    read = [factors.at(row) for row in range(factors.size())]
    keys = np.array([factor.keys() for factor in read])
    assert np.array_equal(graph.ids[graph.edges], keys)
    measured = np.array([as_matrix(factor.measured()) for factor in read])
    assert np.allclose(measured, graph.measurements, rtol=0.0, atol=1e-9)
    # Its rotations are those of the file, half as large; in the plane they come last.
    roots = np.array([factor.noiseModel().R() for factor in read])
    order = [3, 4, 2] if graph.dimension == 2 else list(range(6))
    scale = np.ones(3) if graph.dimension == 2 else np.repeat([2.0, 1.0], 3)
    ours = graph.information[:, order][:, :, order] * np.outer(scale, scale)
    theirs = roots.swapaxes(1, 2) @ roots
    assert np.allclose(theirs, ours, rtol=0.0, atol=1e-7 * np.abs(ours).max())


@pytest.mark.parametrize("dimension", [2, 3])
def test_gtsam_reads_what_is_written(tmp_path: Path, dimension: int) -> None:
    random = np.random.default_rng(dimension)
    poses, motion = motions(random, 20, dimension), motions(random, 40, dimension)
    poses[:, :3, 3], motion[:, :3, 3] = np.clip(poses[:, :3, 3], -9, 9), np.clip(motion[:, :3, 3], -9, 9)
    graph = random_graph(1, 20, 40, dimension)
    tame = PoseGraph(poses, graph.edges, motion, graph.information, dimension=dimension)
    write_g2o(tmp_path / "graph.g2o", tame)
    check_with_gtsam(tmp_path / "graph.g2o", tame)


NAMES = ["intel", "manhattan3500", "parking-garage", "sphere2500", "torus3D", "bicocca_closures_0.100", "bicocca_gps"]


@pytest.mark.parametrize("name", NAMES)
def test_published_graphs_are_read_as_gtsam_reads_them_quickly_and_come_back(
    tmp_path: Path, data_folder: Path, name: str
) -> None:
    path = data_folder / "posegraphs" / f"{name}.g2o.gz"
    if not path.exists():
        pytest.skip(f"no pose graph at {path}")
    start = time.perf_counter()
    graph = read_g2o(path)
    assert time.perf_counter() - start < 3.0  # 0.3 s on a machine that does nothing else
    unpacked = write(tmp_path, gzip.decompress(path.read_bytes()))
    words = [line.split()[0] for line in unpacked.read_text().splitlines()]
    assert sum(word.startswith("VERTEX") for word in words) == len(graph.poses)
    assert sum(word.startswith("EDGE") for word in words) == len(graph.edges)
    write_g2o(tmp_path / "again.g2o", graph)
    again = read_g2o(tmp_path / "again.g2o")
    assert np.array_equal(again.edges, graph.edges)
    assert np.array_equal(np.asarray(again.information), np.asarray(graph.information))
    assert np.allclose(again.measurements, graph.measurements, rtol=0.0, atol=1e-14)
    check_with_gtsam(unpacked, graph)


def test_the_odometry_of_a_published_graph_leads_from_pose_to_pose(data_folder: Path) -> None:
    """So measurements are what an edge's end looks like from its beginning, not the other way round."""
    path = data_folder / "posegraphs" / "bicocca_closures_0.100.g2o.gz"
    if not path.exists():
        pytest.skip(f"no pose graph at {path}")
    graph = read_g2o(path)
    step = graph.edges[:, 1] - graph.edges[:, 0] == 1
    a, b = graph.edges[step].T
    assert np.allclose(inverse(graph.poses[a]) @ graph.poses[b], graph.measurements[step], atol=1e-5)


# Wrong input ----------------------------------------------------------------------------------------------------------

EDGE = "EDGE_SE2 7 3 1 2 0.25 11 12 13 22 23 33"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (PLANE + "VERTEX_XY 9 1 2\n", r"line 5: expected one of VERTEX_SE2, EDGE_SE2, .*, FIX, got 'VERTEX_XY'"),
        (PLANE + "VERTEX_TRACKXYZ 9 1 2 3\n", "line 5: expected one of .*, got 'VERTEX_TRACKXYZ'"),
        (PLANE + "vertex_se2 9 1 2 3\n", "line 5: expected one of .*, got 'vertex_se2'"),
        (PLANE + "\n\nVERTEX_SE2 9 1 2\n", "line 7: expected 3 numbers, got '1 2'"),
        (PLANE + "VERTEX_SE2 9 1 2 3 4\n", "line 5: expected 3 numbers, got '1 2 3 4'"),
        (PLANE + "VERTEX_SE2\n", "line 5: expected ids, integers from 0 on, got ''"),
        (PLANE + "VERTEX_SE2 9\n", "line 5: expected 3 numbers, got ''"),
        (PLANE + "VERTEX_SE2 9 1 2 x\n", "line 5: expected 3 numbers"),
        (PLANE + "VERTEX_SE2 9 1_0 2 3\n", "line 5: expected 3 numbers"),
        (PLANE + "VERTEX_SE2 9 1 2 nan\n", "line 5: expected finite numbers"),
        (PLANE + "VERTEX_SE2 9 inf 2 3\n", "line 5: expected finite numbers"),
        (PLANE + "VERTEX_SE2 -9 1 2 3\n", "line 5: expected ids, integers from 0 on, got '-9 1 2 3'"),
        (PLANE + "VERTEX_SE2 1.5 1 2 3\n", "line 5: expected ids, integers"),
        (PLANE + f"VERTEX_SE2 {2**63} 1 2 3\n", "line 5: expected ids, integers"),
        (PLANE + "VERTEX_SE2 7 1 2 3\n", "line 5: expected a vertex with an id of its own"),
        (PLANE + "FIX 8\n", "line 5: expected ids of vertices that are in the file"),
        (PLANE + "FIX 7 x\n", "line 5: expected ids, integers"),
        (PLANE + EDGE.replace("7 3", "7 8"), "line 5: expected ids of vertices that are in the file"),
        (PLANE + EDGE.replace("7 3", "1 3"), "line 5: expected ids of vertices that are in the file"),
        (PLANE + EDGE.replace("7 3", "7 7"), "line 5: expected an edge between two different vertices"),
        (PLANE + EDGE.replace("7 3", "7"), "line 5: expected 9 numbers"),
        (PLANE + EDGE + " 1", "line 5: expected 9 numbers"),
        (PLANE + EDGE.replace("22", "-22"), "line 5: expected an information matrix without negative eigenvalues"),
        (PLANE + EDGE.replace("22", "nan"), "line 5: expected finite numbers"),
        (EDGE, "line 1: expected ids of vertices that are in the file"),
        (PLANE + SPACE, "line 5: expected poses in 2 dimensions, as in line 1"),
        (SPACE + PLANE, "line 4: expected poses in 3 dimensions, as in line 1"),
        (SPACE.replace("0.5 0.5 0.5 0.5", "0.5 0.5 0.5 0.6"), "line 2: expected a quaternion of length 1"),
        (SPACE.replace("0.5 0.5 0.5 0.5", "0 0 0 0"), "line 2: expected a quaternion of length 1"),
        (SPACE.replace("0.5 0.5 0.5 0.5", "1e200 0 0 0"), "line 2: expected a quaternion of length 1"),
        (SPACE.replace("124", "-124"), "line 3: expected an information matrix without negative eigenvalues"),
    ],
)
def test_what_is_broken_is_refused_with_its_line(tmp_path: Path, content: str, message: str) -> None:
    path = write(tmp_path, content)
    with pytest.raises(FileFormatError, match=message) as caught:
        read_g2o(path)
    assert str(caught.value).startswith(f"{path}: line ")


def test_broken_gzip_files_are_refused(tmp_path: Path) -> None:
    packed = gzip.compress(PLANE.encode())
    for data in (packed[:-9], PLANE.encode(), b""):
        with pytest.raises(FileFormatError, match="not a complete gzip file"):
            read_g2o(write(tmp_path, data, "graph.g2o.gz"))
    with pytest.raises(FileNotFoundError):
        read_g2o(tmp_path / "absent.g2o")


@settings(max_examples=200)
@given(st.data())
def test_nothing_in_a_file_does_worse_than_be_refused(tmp_path_factory: pytest.TempPathFactory, data: Any) -> None:
    text = bytearray(data.draw(st.sampled_from([PLANE, SPACE])).encode())
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(text) - 1))
        text[place : place + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
        if not text:
            break
    path = write(tmp_path_factory.getbasetemp(), bytes(text), "mutated.g2o")
    with contextlib.suppress(ClipperPlusError):
        graph = read_g2o(path)
        assert np.isfinite(graph.poses).all()
        write_g2o(path, graph)
        assert np.array_equal(read_g2o(path).edges, graph.edges)


EYES = np.tile(np.eye(4), (3, 1, 1))
TILTED = EYES.copy()
TILTED[1, :3, :3] = Rotation.from_rotvec([0.1, 0.0, 0.0]).as_matrix()
RAISED = EYES.copy()
RAISED[2, 2, 3] = 0.5


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"poses": EYES[0]}, LandmarkError, r"poses: expected poses of shape \(k, 4, 4\)"),
        ({"poses": 2.0 * EYES}, LandmarkError, "poses: pose 0 is no rotation"),
        ({"measurements": EYES[:1]}, LandmarkError, "measurements: expected one per edge, 2, got 1"),
        ({"edges": [[0, 1], [1, 3]]}, LandmarkError, "edges: row 1 names number 3"),
        ({"edges": [[0.0, 1.0], [1.0, 2.0]]}, LandmarkError, "edges: expected integers"),
        ({"information": np.zeros((2, 3, 3))}, LandmarkError, r"information: expected numbers of shape \(2, 6, 6\)"),
        ({"information": -np.tile(np.eye(6), (2, 1, 1))}, LandmarkError, "information: matrix 0 is not symmetric"),
        ({"information": np.full((2, 6, 6), np.nan)}, LandmarkError, "information: matrix 0 is not symmetric"),
        ({"ids": [1, 2]}, LandmarkError, "ids: expected one per pose, 3, got 2"),
        ({"ids": [1, 2, 1]}, LandmarkError, "ids: expected different integers from 0"),
        ({"ids": [-1, 2, 1]}, LandmarkError, "ids: expected different integers from 0"),
        ({"ids": [[1, 2, 1]]}, LandmarkError, "ids: expected a row of integers"),
        ({"fixed": [3]}, LandmarkError, "fixed: expected different integers from 0 to 2"),
        ({"dimension": 4}, OptionError, "dimension: expected 2 or 3, got 4"),
        ({"dimension": 2, "poses": TILTED}, LandmarkError, "poses: pose 1 leaves the plane"),
        ({"dimension": 2, "poses": RAISED}, LandmarkError, "poses: pose 2 leaves the plane"),
        ({"dimension": 2, "measurements": TILTED[:2]}, LandmarkError, "measurements: pose 1 leaves the plane"),
    ],
)
def test_graphs_that_are_none_are_refused(changes: dict[str, Any], error: type[Exception], message: str) -> None:
    arguments: dict[str, Any] = {"poses": EYES, "edges": [[0, 1], [1, 2]], "measurements": EYES[:2], **changes}
    with pytest.raises(error, match=message):
        PoseGraph(**arguments)


@pytest.mark.parametrize("action", [lambda path: write_g2o(path, "graph"), lambda path: read_g2o(5)])  # type: ignore[arg-type]
def test_arguments_of_other_kinds_are_refused(tmp_path: Path, action: Callable[[Path], Any]) -> None:
    with pytest.raises(ClipperPlusError, match=r"graph: expected|path: expected"):
        action(tmp_path / "graph.g2o")
