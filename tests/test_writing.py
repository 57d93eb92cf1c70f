"""Files are written whole or not at all, whoever writes them; links, permissions and pipes are as they were."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from maps import two_rooms
from simulated import registered_room

import clipperplus as cp
from clipperplus import io
from clipperplus._paths import replaced, write_bytes
from clipperplus.bench.store import _replace
from clipperplus.pairs.table import PairTable

resource = pytest.importorskip("resource")

RANDOM = np.random.default_rng(0)
POINTS = RANDOM.normal(size=(500, 3))
POSES = np.tile(np.eye(4), (100, 1, 1))
GRAPH = cp.Graph.from_edges(300, [(k, k + 1) for k in range(299)])

WRITERS: dict[str, Callable[[Path], object]] = {
    "a.clq": lambda path: cp.write_graph(path, GRAPH),
    "a.clq.gz": lambda path: cp.write_graph(path, GRAPH),
    "a.mtx": lambda path: cp.write_graph(path, GRAPH),
    "a.ply": lambda path: cp.write_cloud(path, POINTS),
    "a.pcd": lambda path: cp.write_cloud(path, POINTS, binary=False),
    "a.tum": lambda path: io.poses.write_tum(path, io.poses.Trajectory(np.arange(100.0), POSES)),
    "a.kitti": lambda path: io.poses.write_kitti(path, POSES),
    "a.log": lambda path: io.poses.write_log(path, io.poses.PairPoses(np.zeros((100, 2), dtype=int), POSES, 1)),
    "a.g2o": lambda path: io.pose_graphs.write_g2o(
        path, io.pose_graphs.PoseGraph(POSES, np.zeros((0, 2), int), POSES[:0])
    ),
    "a.html": lambda path: registered_room().report(path),
    "map.html": lambda path: two_rooms().report(path),
    "a.png": lambda path: registered_room().plot(path),
    "a.svg": lambda path: registered_room().plot(path),
    "map.pdf": lambda path: two_rooms().plot(path),
    "pairs.csv": lambda path: PairTable([("a.ply", "b.ply")] * 100).write(path.parent, path.stem),
    "bench.md": lambda path: _replace(path, "text " * 1000),
}
"""By the name of what they write."""


@contextmanager
def full_disk(room: int = 600) -> Iterator[None]:
    """Let files become no larger than that, as if there were no room for more."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("name", WRITERS)
def test_a_file_that_cannot_be_written_to_its_end_is_not_there(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    with full_disk(), pytest.raises(OSError, match="too large") as caught:
        WRITERS[name](path)
    assert caught.value.errno == errno.EFBIG
    assert caught.value.filename == str(path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", WRITERS)
def test_the_file_that_was_there_stays_until_the_new_one_is_whole(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(b"before")
    with full_disk(), pytest.raises(OSError, match="too large"):
        WRITERS[name](path)
    assert path.read_bytes() == b"before"
    assert list(tmp_path.iterdir()) == [path]
    WRITERS[name](path)
    assert path.stat().st_size > 600
    assert path in tmp_path.iterdir()
    assert [beside for beside in tmp_path.iterdir() if beside.name.startswith(".")] == []


def test_a_map_that_cannot_be_written_to_its_end_leaves_the_one_that_was_there(tmp_path: Path) -> None:
    two_rooms().save(tmp_path)
    names = sorted(tmp_path.iterdir())
    with full_disk(), pytest.raises(OSError, match="too large") as caught:
        two_rooms().save(tmp_path)
    assert caught.value.filename == str(tmp_path)
    assert sorted(tmp_path.iterdir()) == names
    assert cp.Map.load(tmp_path).names == two_rooms().names


def test_whatever_ends_the_writing_the_old_file_stays(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("before")

    def write() -> None:
        with replaced(path) as unfinished:
            unfinished.write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write()
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_permissions_follow_the_mask_or_stay_what_they_were(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    before = os.umask(0o027)
    try:
        write_bytes(path, b"new")
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    path.chmod(0o604)
    write_bytes(path, b"again")
    assert stat.S_IMODE(path.stat().st_mode) == 0o604


def test_a_file_that_nobody_else_may_read_is_not_readable_while_it_is_written_either(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("before")
    path.chmod(0o600)
    with replaced(path) as unfinished:
        unfinished.write_text("a secret")
        assert stat.S_IMODE(unfinished.stat().st_mode) == 0o600
    assert path.read_text() == "a secret"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_links_stay_links_and_what_they_name_is_written(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    link, target = tmp_path / "link.txt", tmp_path / "there" / "target.txt"
    link.symlink_to("there/target.txt")
    for content in (b"one", b"another"):  # it is not there yet, and then it is
        write_bytes(link, content)
        assert link.is_symlink()
        assert target.read_bytes() == content
    link.unlink()
    link.symlink_to(link)
    with pytest.raises(OSError, match="symbolic links"):
        write_bytes(link, b"in a circle")


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="the superuser may write everything")
def test_a_file_that_may_not_be_written_is_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"before")
    path.chmod(0o400)
    with pytest.raises(PermissionError):
        write_bytes(path, b"after")
    assert path.read_bytes() == b"before"


@pytest.mark.parametrize("name", ["a" * 251 + ".ply", "é" * 125 + ".ply"])
def test_names_may_be_as_long_as_names_can_be(name: str, tmp_path: Path) -> None:
    cp.write_cloud(tmp_path / name, POINTS)
    assert len(cp.read_cloud(tmp_path / name).points) == len(POINTS)


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
def test_standard_output_is_written_to_and_not_replaced(name: str, tmp_path: Path) -> None:
    if not Path(name).exists():
        pytest.skip("there is no such name")
    program = f"import numpy, clipperplus; clipperplus.io.poses.write_transform('{name}', numpy.eye(4))"
    expected = b"1.0 0.0 0.0 0.0\n0.0 1.0 0.0 0.0\n0.0 0.0 1.0 0.0\n0.0 0.0 0.0 1.0\n"
    piped = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, check=True)
    assert piped.stdout == expected
    path = tmp_path / "redirected"
    with path.open("wb") as file:
        subprocess.run([sys.executable, "-c", program], stdout=file, check=True)
        assert os.fstat(file.fileno()).st_ino == path.stat().st_ino
    assert path.read_bytes() == expected


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no such device")
def test_a_device_that_is_full_is_an_error_and_stays(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No space left") as caught:
        io.poses.write_transform("/dev/full", np.eye(4))
    assert caught.value.filename == "/dev/full"
    write_bytes(Path("/dev/null"), b"gone")
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    with subprocess.Popen(["cat", str(fifo)], stdout=subprocess.PIPE) as reader:
        write_bytes(fifo, b"through a pipe")
        assert reader.communicate(timeout=30)[0] == b"through a pipe"
    assert stat.S_ISFIFO(fifo.stat().st_mode)
