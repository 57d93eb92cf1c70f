"""Graph files: what is written comes back, what is damaged is refused with file and place."""

from __future__ import annotations

import gzip
import os
import warnings
from pathlib import Path

import numpy as np
import pytest
import scipy.io
from hypothesis import given
from hypothesis import strategies as st
from strategies import graphs

import clipperplus as cp

ENDINGS = [".clq", ".col", ".clq.b", ".mtx", ".txt", ".edges"]
ENDINGS += [ending + ".gz" for ending in ENDINGS]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("graphs")


@given(graph=graphs(), ending=st.sampled_from(ENDINGS))
def test_what_is_written_comes_back(folder: Path, graph: cp.Graph, ending: str) -> None:
    path = folder / f"graph{ending}"
    cp.write_graph(path, graph)
    assert cp.read_graph(path) == graph
    assert cp.read_graph(str(path)) == graph


def test_scipy_reads_our_matrix_market_and_we_read_its(tmp_path: Path) -> None:
    graph = cp.Graph.from_edges(5, [(0, 1), (1, 2), (3, 4)])
    cp.write_graph(tmp_path / "ours.mtx", graph)
    with warnings.catch_warnings():  # newer releases warn that the kind of matrix returned will change
        warnings.simplefilter("ignore", DeprecationWarning)
        theirs = scipy.io.mmread(tmp_path / "ours.mtx").toarray()
    assert np.array_equal(theirs != 0, graph.adjacency())
    for symmetry in ("general", "symmetric"):
        scipy.io.mmwrite(tmp_path / "theirs.mtx", graph.adjacency(sparse=True).astype(float), symmetry=symmetry)
        assert cp.read_graph(tmp_path / "theirs.mtx") == graph


def test_dimacs_binary_layout_is_the_published_one(tmp_path: Path) -> None:
    """Row i of the lower triangle takes i // 8 + 1 bytes, column 0 in the highest bit."""
    path = tmp_path / "graph.clq.b"
    preamble = b"c hand made\np edge 10 3\n"
    rows = [b"\x00", b"\x80", b"\x00", b"\x20", *[b"\x00"] * 4, b"\x00\x00", b"\x00\x80"]
    path.write_bytes(str(len(preamble)).encode() + b"\n" + preamble + b"".join(rows))
    assert cp.read_graph(path).edges().tolist() == [[0, 1], [2, 3], [8, 9]]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.clq", b"p edge 3 2\ne 1 2\n", "line 2: the header promises 2 edges, the file holds 1"),
        ("a.clq", b"p edge 3 1\ne 1 4\n", r"line 2: vertex 4 is not in 1 … 3"),
        ("a.clq", b"p edge 3 1\ne 0 1\n", r"line 2: vertex 0 is not in 1 … 3"),
        ("a.clq", b"p edge 3 1\ne 1\n", "line 2: expected a vertex number, the line ends"),
        ("a.clq", b"p edge 3 1\nq 1 2\n", "line 2: expected a line that starts with c, p, n or e, got 'q'"),
        ("a.clq", b"", "line 1: no 'p edge N M' line"),
        ("a.clq", b"\x89PNG\r\n\x1a\n\x00\x00", "line 1: expected a line that starts with"),
        ("a.clq", b"p edge 99999999999999999999 1\n", "line 1: expected the number of vertices"),
        ("a.clq.b", b"not binary", "line 1: expected the length of the preamble"),
        ("a.clq.b", b"500\np edge 2 1\n", "line 1: the preamble should have 500 bytes"),
        ("a.clq.b", b"12\np edge 9 1\n \x00", "byte 15: 9 vertices need 10 bytes of rows, the file has 1"),
        ("a.clq.b", b"11\np edge 2 1\n\x00\x40", "byte 15: row 2 has bit 2 set, on or above the diagonal"),
        ("a.clq.b", b"11\np edge 2 0\n\x00\x80", "the preamble promises 0 edges, the rows hold 1"),
        ("a.clq.b", b"18\np edge 67108864 1\n\x00\x80", "67108864 vertices need 281475010265088 bytes of rows"),
        ("a.clq.b", b"6000\np edge " + b"9" * 5000 + b" 1\n" + b" " * 1000, "line 2: expected the number of vertices"),
        ("a.clq.b", b"10\np foo 1 0\n\x00", "line 2: expected 'p edge' or 'p col', got 'foo'"),
        ("a.clq", b"p edge 3 1\ne 1 2", r"line 2: the file ends inside this line \(no line feed\)"),
        ("a.edges", b"", "line 1: no edges, and no comment"),
        ("a.txt.gz", b"", "not a complete gzip file"),
        ("a.mtx", b"%%MatrixMarket matrix coordinate real symmetric\n2 2 1\n2 1 1\0x\n", "line 3: an adjacency matrix"),
        ("a.mtx", b"2 2 1\n1 2\n", "line 1: the first line must start with %%MatrixMarket"),
        ("a.mtx", b"%%MatrixMarket matrix array real general\n", "line 1: only coordinate matrices are read"),
        ("a.mtx", b"%%MatrixMarket matrix coordinate complex general\n", "line 1: expected pattern, integer or real"),
        ("a.txt", b"0 1\n1 1\n", "line 2: self-loop at vertex 1"),
        ("a.edges", b"0 1\n1 x\n", "line 2: expected a vertex number, got 'x'"),
        ("a.txt", b"# vertices 5 edges 2\n0 1\n", "line 2: the header promises 2 edges, the file holds 1"),
        ("a.foo", b"0 1\n", "unknown kind of graph file; known endings are .clq"),
        ("a.clq.gz", b"p edge 0 0\n", "not a complete gzip file"),
        ("a.clq.gz", gzip.compress(b"p edge 1000 0\n" * 50, mtime=0)[:-9], "not a complete gzip file"),
    ],
)
def test_damaged_files_are_refused_with_file_and_place(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(cp.FileFormatError, match=message) as caught:
        cp.read_graph(path)
    assert str(caught.value).startswith(str(path))


@given(
    ending=st.sampled_from([".clq", ".clq.b", ".mtx", ".edges"]),
    mutations=st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 255), st.booleans()), min_size=1, max_size=5),
)
def test_mutated_files_are_read_or_refused(folder: Path, ending: str, mutations: list[tuple[int, int, bool]]) -> None:
    path = folder / f"mutated{ending}"
    cp.write_graph(path, cp.Graph.from_edges(11, [(0, 1), (3, 9), (10, 2), (4, 5)]))
    data = bytearray(path.read_bytes())
    for position, byte, cut in mutations:
        if cut:
            del data[position % (len(data) + 1) :]
        elif data:
            data[position % len(data)] = byte
    path.write_bytes(bytes(data))
    try:
        graph = cp.read_graph(path)
    except cp.FileFormatError as error:
        graph, message = None, str(error)
    if graph is None:
        assert message.startswith(str(path))
    else:
        assert graph.edges().max(initial=0) < max(graph.num_vertices, 1)


def test_upper_case_endings_mean_the_same(tmp_path: Path) -> None:
    graph = cp.Graph.from_edges(3, [(0, 1)])
    cp.write_graph(tmp_path / "A.CLQ.GZ", graph)
    assert (tmp_path / "A.CLQ.GZ").read_bytes()[:2] == b"\x1f\x8b"
    assert cp.read_graph(tmp_path / "A.CLQ.GZ") == graph


def test_wrong_arguments_are_refused(tmp_path: Path) -> None:
    with pytest.raises(cp.GraphError, match=r"graph: expected a clipperplus.Graph, got int"):
        cp.write_graph(tmp_path / "x.clq", 5)  # type: ignore[arg-type]
    (tmp_path / "x.clq").touch()
    with os.scandir(os.fsencode(tmp_path)) as entries:
        (named_in_bytes,) = entries
    for path in (None, 5, b"x.clq", "x\0.clq", named_in_bytes):
        with pytest.raises(cp.FileFormatError, match="path: expected the name of a file"):
            cp.read_graph(path)  # type: ignore[arg-type]
    with pytest.raises(cp.GraphError, match="would take 58 GiB in this format"):
        cp.write_graph(tmp_path / "x.clq.b", cp.Graph.from_edges(10**6, []))


def test_a_missing_file_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        cp.read_graph(tmp_path / "none.clq")


@pytest.mark.parametrize("weights", [[3, 0, 2**60], [0.1, 2.5, 1e-300]])
@pytest.mark.parametrize("name", ["g.clq", "g.col.gz", "g.clq.b", "g.col.b.gz"])
def test_weights_of_vertices_survive_dimacs_files(tmp_path: Path, name: str, weights: list[float]) -> None:
    graph = cp.Graph.from_edges(3, [(0, 1)]).with_vertex_weights(weights)
    cp.write_graph(tmp_path / name, graph)
    again = cp.read_graph(tmp_path / name)
    assert again == graph
    assert again.vertex_weights is not None
    assert again.vertex_weights.dtype == graph.vertex_weights.dtype  # type: ignore[union-attr]


@pytest.mark.parametrize("name", ["g.mtx", "g.edges", "g.txt"])
def test_formats_without_weights_do_not_lose_them(tmp_path: Path, name: str) -> None:
    graph = cp.Graph.from_edges(3, [(0, 1)]).with_vertex_weights([1, 2, 3])
    with pytest.raises(cp.GraphError, match="no weights of vertices"):
        cp.write_graph(tmp_path / name, graph)
    assert not (tmp_path / name).exists()
    cp.write_graph(tmp_path / name, graph.unweighted())


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("n 1 2\n", "line 3: vertex 2 has no weight"),
        ("n 1 2\nn 1 2\nn 2 1\n", "line 4: a second weight for vertex 1"),
        ("n 3 2\n", "line 3: vertex 3 is not in 1 … 2"),
        ("n 0 2\n", "line 3: vertex 0 is not in 1 … 2"),
        ("n 1 -2\n", "line 3: expected a weight, finite and at least 0, got '-2'"),
        ("n 1 nan\n", "line 3: expected a weight, finite"),
        ("n 1 inf\n", "line 3: expected a weight, finite"),
        ("n 1 2x\n", "line 3: expected a weight, finite"),
        ("n 1\n", "line 3: expected a weight, the line ends"),
        ("n 1 2 3\n", "line 3: expected the end of the line"),
        ("n 1 9223372036854775807\nn 2 1\n", "sum is less than"),
    ],
)
def test_wrong_weights_in_dimacs_files_are_refused(tmp_path: Path, lines: str, message: str) -> None:
    path = tmp_path / "g.clq"
    path.write_text(f"p edge 2 1\ne 1 2\n{lines}", encoding="ascii")
    with pytest.raises(cp.FileFormatError, match=message):
        cp.read_graph(path)


def test_weights_before_the_header_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "g.clq"
    path.write_text("n 1 2\np edge 2 1\ne 1 2\n", encoding="ascii")
    with pytest.raises(cp.FileFormatError, match="line 1: an 'n' line before the 'p' line"):
        cp.read_graph(path)
