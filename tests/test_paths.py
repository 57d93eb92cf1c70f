"""Only regular files are read, and nobody waits for anything else."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import clipperplus as cp
from clipperplus import _paths
from clipperplus.io.poses import read_info, read_kitti, read_log, read_poses, read_transform, read_tum
from clipperplus.mapping import load_map
from clipperplus.pairs.lists import read_pairs

READERS: dict[str, Callable[..., Any]] = {
    **dict.fromkeys((f"a{ending}" for ending in cp.clouds.files.CLOUD_ENDINGS), cp.read_cloud),
    **dict.fromkeys(("a.clq", "a.clq.gz", "a.mtx", "a.edges", "a.clq.b"), cp.read_graph),
    "a.g2o": cp.io.pose_graphs.read_g2o,
    "a.log": read_log,
    "a.info": read_info,
    "a.tum": read_tum,
    "a.tum.gz": read_tum,
    "a.kitti": read_kitti,
    "poses.txt": read_poses,
    "transform.txt": read_transform,
    "pairs.csv": read_pairs,
}
needs_pipes = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names here")


@needs_pipes
@pytest.mark.timeout(20)
@pytest.mark.parametrize("name", READERS)
def test_pipes_are_refused_at_once(tmp_path: Path, name: str) -> None:
    os.mkfifo(tmp_path / name)
    with pytest.raises(cp.FileFormatError, match=f"{name}: expected a regular file, this is a pipe"):
        READERS[name](tmp_path / name)


@pytest.mark.timeout(20)
@pytest.mark.parametrize("name", READERS)
def test_devices_sockets_and_folders_are_refused_and_links_followed(tmp_path: Path, name: str) -> None:
    path, read = tmp_path / name, READERS[name]
    for device in ("/dev/zero", "/dev/null", "/dev/tty"):
        if os.path.exists(device):
            path.symlink_to(device)
            with pytest.raises(cp.FileFormatError, match="this is a device"):
                read(path)
            path.unlink()
    path.mkdir()
    with pytest.raises(IsADirectoryError, match=name):
        read(path)
    path.rmdir()
    path.symlink_to(tmp_path / "nothing")
    with pytest.raises(FileNotFoundError):
        read(path)


def test_sockets_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # names of sockets are short
    with socket.socket(socket.AF_UNIX) as there:
        there.bind("a.ply")
        with pytest.raises(cp.FileFormatError, match=r"a\.ply: expected a regular file, this is a socket"):
            cp.read_cloud("a.ply")


def test_links_to_files_are_read(tmp_path: Path) -> None:
    (tmp_path / "there").write_text("0 1\n")
    (tmp_path / "here.edges").symlink_to(tmp_path / "there")
    assert cp.read_graph(tmp_path / "here.edges").num_edges == 1


@needs_pipes
@pytest.mark.timeout(20)
def test_a_file_that_becomes_a_pipe_while_it_is_opened_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.edges"
    path.write_text("0 1\n")
    looked = _paths.check_is_file

    def look_and_replace(name: Path, mode: int | None = None) -> None:
        looked(name, mode)
        if mode is None:
            path.unlink()
            os.mkfifo(path)

    monkeypatch.setattr(_paths, "check_is_file", look_and_replace)
    with pytest.raises(cp.FileFormatError, match="this is a pipe"):
        cp.read_graph(path)


@needs_pipes
@pytest.mark.timeout(20)
def test_a_pipe_that_somebody_writes_to_is_refused_and_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.edges")
    reading = os.open(tmp_path / "a.edges", os.O_RDONLY | os.O_NONBLOCK)
    writer = threading.Thread(target=lambda: (tmp_path / "a.edges").write_text("0 1\n"))
    writer.start()
    writer.join()
    with pytest.raises(cp.FileFormatError, match="this is a pipe"):
        cp.read_graph(tmp_path / "a.edges")
    assert os.read(reading, 100) == b"0 1\n"
    os.close(reading)


@needs_pipes
@pytest.mark.timeout(20)
@pytest.mark.parametrize("name", ["map.json", "scans.npz"])
def test_a_map_with_a_pipe_in_it_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "map.json").write_text('{"kind": "clipperplus map", "format": 1}')
    (tmp_path / name).unlink(missing_ok=True)
    os.mkfifo(tmp_path / name)
    with pytest.raises(cp.FileFormatError):
        load_map(tmp_path)
