"""What a file holds is bounded by one rule, before it is reserved, in every reader; callers can move the bound."""

from __future__ import annotations

import gzip
import struct
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attacks
import numpy as np
import pytest
from attacks import gzip_bomb

import clipperplus as cp
from clipperplus import _limits
from clipperplus._limits import ALWAYS_FINE, HIGHEST_RATIO, SizeLimit
from clipperplus.io.poses import read_info, read_kitti, read_log, read_poses, read_transform, read_tum
from clipperplus.pairs.lists import read_pairs

MIB = 2**20
FLOOR = ALWAYS_FINE // MIB

EDGE = b"EDGE_SE3:QUAT 0 1 0 0 0 0 0 0 1 1 0 0 0 0 0 1 0 0 0 0 1 0 0 0 1 0 0 1 0 1\n"
VERTICES = b"VERTEX_SE3:QUAT 0 0 0 0 0 0 0 1\nVERTEX_SE3:QUAT 1 0 0 0 0 0 0 1\n"
MATRIX = b"%%MatrixMarket matrix coordinate pattern general\n67108864 67108864 0\n"

BOMBS: dict[str, tuple[str, Callable[[], bytes]]] = {
    "zeros.clq.gz": ("graph", lambda: gzip_bomb(bytes(1024), 1 << 30)),
    "comments.clq.gz": ("graph", lambda: gzip_bomb(b"c\n", 1 << 30, b"p edge 2 0\n")),
    "edges.edges.gz": ("graph", lambda: gzip_bomb(b"0 1\n", 250 << 20)),
    "far.edges": ("graph", lambda: b"0 67108863"),
    "vertices.clq": ("graph", lambda: b"p edge 67108864 0\n"),
    "weights.clq": ("graph", lambda: b"p edge 10000000 0\nn 1 5\n"),
    "square.mtx": ("graph", lambda: MATRIX),
    "said.edges": ("graph", lambda: b"# vertices 67108864 edges 0\n"),
    "small.npz": ("cloud", lambda: attacks.npz_bomb("|i1", 43_000_000)),
    "large.npz": ("cloud", lambda: attacks.npz_bomb("<f4", 60_000_000)),
    "packed.pcd": ("cloud", lambda: attacks.pcd_bomb(88_000_000)),
    "lines.txt.gz": ("poses", lambda: gzip_bomb(b"1\n", 200 << 20)),
    "line.txt.gz": ("poses", lambda: gzip_bomb(b"1 ", 200 << 20)),
    "log.log.gz": ("log", lambda: gzip_bomb(b"0 1 2\n1 0 0 0\n0 1 0 0\n0 0 1 0\n0 0 0 1\n", 200 << 20)),
    "fixed.g2o.gz": ("g2o", lambda: gzip_bomb(b"FIX " + b"0 " * 1000 + b"\n", 100 << 20, VERTICES)),
    "edges.g2o.gz": ("g2o", lambda: gzip_bomb(EDGE, 30 << 20, VERTICES)),
    "pairs.csv": ("pairs", lambda: b"a,b\n" * 500_000),
}


@pytest.mark.skipif(sys.platform != "linux", reason="the peak of the memory is measured as on Linux")
@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_refused_within_seconds_and_a_few_times_the_bound(tmp_path: Path, name: str) -> None:
    reader, make = BOMBS[name]
    (tmp_path / name).write_bytes(make())
    size = (tmp_path / name).stat().st_size
    assert size < 4 * MIB
    seen = attacks.measured(tmp_path / name, reader)
    assert "line.txt" in name or seen["outcome"].startswith(f"MemoryLimitError: {tmp_path / name}: "), seen
    assert seen["outcome"] != "read"
    assert seen["peak"] < 3 * max(FLOOR, HIGHEST_RATIO * size / MIB), seen
    assert seen["seconds"] < 60.0, seen  # some seconds where nobody else works


@pytest.mark.skipif(sys.platform != "linux", reason="the peak of the memory is measured as on Linux")
def test_members_of_gzip_that_hold_nothing_take_no_time(tmp_path: Path) -> None:
    path = tmp_path / "members.clq.gz"
    path.write_bytes(attacks.empty_members(8 << 20))
    seen = attacks.measured(path, "graph")
    assert seen["outcome"] == "read"
    assert seen["seconds"] < 20.0  # 0.6 where nobody else works; it was minutes
    assert seen["peak"] < 32.0


@pytest.mark.skipif(sys.platform != "linux", reason="limits on the memory of a process are those of Linux")
def test_the_end_of_the_memory_is_an_error_that_names_the_file(tmp_path: Path) -> None:
    np.save(tmp_path / "points.npy", np.zeros((4_000_000, 3), dtype=np.int8))
    (tmp_path / "far.edges").write_bytes(b"0 3000000\n")  # 72 MB: less than the machine has, more than the process
    for name, reader in (("points.npy", "cloud"), ("far.edges", "graph")):
        seen = attacks.measured(tmp_path / name, reader, memory=40 << 20)
        assert seen["outcome"] == f"MemoryLimitError: {tmp_path / name}: not enough memory for what it holds"


@pytest.mark.parametrize("size", [0, 1, 11, ALWAYS_FINE // HIGHEST_RATIO, ALWAYS_FINE, 2**40])
def test_the_rule_is_a_floor_and_a_ratio(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_limits, "machine_memory", lambda: None)
    most = max(ALWAYS_FINE, HIGHEST_RATIO * size)
    limit = SizeLimit.of(Path("a"), size, None)
    limit.check(most)
    with pytest.raises(cp.MemoryLimitError, match=f"a: here: what it holds takes {most + 1} bytes") as refused:
        limit.check(most + 1, "here")
    assert refused.value.needed == most + 1


def test_no_more_than_the_machine_has_is_allowed_but_by_the_caller(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_limits, "machine_memory", lambda: 1000)
    assert SizeLimit.of(Path("a"), 10, None).limit == 1000
    assert SizeLimit.of(Path("a"), 10, 2000).limit == 2000
    with pytest.raises(cp.MemoryLimitError, match="takes 1001 bytes"):
        SizeLimit.of(Path("a"), 1001, None)


@pytest.mark.parametrize("wrong", [-1, 1.5, "1", True, 2**63, 10**5000], ids=lambda wrong: type(wrong).__name__)
def test_a_size_limit_is_a_number_of_bytes(tmp_path: Path, wrong: Any) -> None:
    (tmp_path / "a.edges").write_text("0 1\n")
    with pytest.raises(cp.OptionError, match="size_limit: expected an integer"):
        cp.read_graph(tmp_path / "a.edges", size_limit=wrong)


def las(points: int) -> bytes:
    header = bytearray(227)
    header[:4], header[24:26] = b"LASF", bytes([1, 2])
    struct.pack_into("<HII", header, 94, 227, 227, 0)
    struct.pack_into("<BHI", header, 104, 0, 20, points)
    struct.pack_into("<6d", header, 131, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0)
    return bytes(header) + bytes(20 * points)


def small_files(folder: Path) -> dict[str, Callable[..., Any]]:
    """Write a small file of every kind; return their readers."""
    points = np.arange(300.0).reshape(-1, 3)
    rows = "".join(f"{x} {y} {z}\n" for x, y, z in points)
    for name in ("b.ply", "b.pcd"):
        cp.write_cloud(folder / name, points)
        cp.write_cloud(folder / f"text{name}", points, binary=False)
    np.save(folder / "a.npy", points)
    np.savez(folder / "a.npz", points=points)
    (folder / "a.bin").write_bytes(bytes(1600))
    (folder / "a.las").write_bytes(las(100))
    (folder / "a.xyz").write_text(rows)
    clouds = ["b.ply", "b.pcd", "textb.ply", "textb.pcd", "a.npy", "a.npz", "a.bin", "a.las", "a.xyz"]
    graph = cp.Graph.from_edges(100, [(k, k + 1) for k in range(99)])
    graphs = ["a.clq", "a.clq.b", "a.mtx", "a.edges", "a.clq.gz"]
    for name in graphs:
        cp.write_graph(folder / name, graph)
    identity = "1 0 0 0\n0 1 0 0\n0 0 1 0\n0 0 0 1\n"
    texts: dict[str, tuple[str, Callable[..., Any]]] = {
        "a.log": (("0 1 2\n" + identity) * 20, read_log),
        "a.info": (("0 1 2\n" + "0 0 0 0 0 0\n" * 6) * 20, read_info),
        "a.tum": ("0 0 0 0 0 0 0 1\n" * 50, read_tum),
        "a.kitti": ("1 0 0 0 0 1 0 0 0 0 1 0\n" * 50, read_kitti),
        "poses.txt": ("0 0 0 0 0 0 0 1\n" * 50, read_poses),
        "transform.txt": (identity, read_transform),
        "a.g2o": ((VERTICES + EDGE).decode(), cp.io.pose_graphs.read_g2o),
        "pairs.csv": ("a.ply,b.ply\n", read_pairs),
    }
    for name, (text, _) in texts.items():
        (folder / name).write_text(text)
    return {
        **dict.fromkeys(clouds, cp.read_cloud),
        **dict.fromkeys(graphs, cp.read_graph),
        **{name: read for name, (_, read) in texts.items()},
    }


def test_every_reader_says_what_it_needs_and_reads_where_that_is_allowed(tmp_path: Path) -> None:
    for name, read in small_files(tmp_path).items():
        path, limit = tmp_path / name, 0
        while (refusal := refused(read, path, limit)) is not None:  # first the file itself, then what is made of it
            assert refusal.needed > limit, name
            assert f"{path}: " in str(refusal), name
            assert f"{limit} are allowed, unless size_limit says more" in str(refusal), name
            limit = refusal.needed
        assert refused(read, path, limit - 1) is not None, name


def refused(read: Callable[..., Any], path: Path, limit: int) -> cp.MemoryLimitError | None:
    try:
        read(path, size_limit=limit)
    except cp.MemoryLimitError as error:
        return error
    return None


def test_a_limit_can_be_raised_above_the_rule(tmp_path: Path) -> None:
    path = tmp_path / "far.edges"
    path.write_bytes(b"0 12000000\n")
    with pytest.raises(cp.MemoryLimitError) as refused:
        cp.read_graph(path)
    assert cp.read_graph(path, size_limit=refused.value.needed).num_vertices == 12_000_001


def test_what_is_unpacked_is_what_gzip_unpacks(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    ends = zip(range(40_000), random.integers(40_000, 70_000, 40_000), strict=True)
    text = b"# vertices 70000 edges 40000\n" + b"".join(b"%d %d\n" % pair for pair in ends)
    cuts = sorted(random.integers(0, len(text), 20).tolist())
    parts = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    members = [gzip.compress(part, compresslevel=int(random.integers(10))) for part in parts]
    path = tmp_path / "a.edges.gz"
    for data in (gzip.compress(text), b"".join(members), b"\0\0".join(members) + bytes(40_000)):
        assert gzip.decompress(data) == text
        path.write_bytes(data)
        assert cp.read_graph(path).num_edges == 40_000
    for broken in (b"", data[:-40_010], members[0] + b"garbage", members[0][:5], b"\0" + members[0]):
        path.write_bytes(broken)
        with pytest.raises(cp.FileFormatError, match="not a complete gzip file"):
            cp.read_graph(path)
