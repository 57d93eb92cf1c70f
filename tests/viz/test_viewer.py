"""The viewer without a browser: where it listens, what it says, how it begins and ends."""

from __future__ import annotations

import socket
import sys
import urllib.request
from pathlib import Path

import numpy as np
import pytest
from simulated import registered_room, room
from viewing import viewing

import clipperplus as cp
from clipperplus.cli import main
from clipperplus.registration import Pose
from clipperplus.viz.framing import likely_up
from clipperplus.viz.palette import INLIER, OUTLIER
from clipperplus.viz.viewer import Viewer, panel_text
from clipperplus.viz.viewer.ports import free_port


def listening(port: int) -> set[str]:
    """Return the addresses, as Linux writes them, at which something listens on a port."""
    found = set()
    for table in ("tcp", "tcp6"):
        for line in Path("/proc/net", table).read_text().splitlines()[1:]:
            address, _, local_port = line.split()[1].partition(":")
            if int(local_port, 16) == port and line.split()[3] == "0A":
                found.add(address)
    return found


def call(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> object:
    """Return the exit status of ``clipperplus view``."""
    monkeypatch.setattr("sys.argv", ["clipperplus", "view", *arguments])
    with pytest.raises(SystemExit) as end:
        main()
    return end.value.code


def pose_without_transform() -> Pose:
    line = np.column_stack((np.arange(100.0), np.zeros((100, 2))))
    return cp.register(line, line[:1])


def test_view_prints_one_line_serves_a_page_and_ends_on_ctrl_c(tmp_path: Path) -> None:
    with viewing(tmp_path) as view:
        assert view.line == f"viewer: {view.url} (Ctrl-C ends it)\n"
        with urllib.request.urlopen(view.url, timeout=30) as answer:
            assert b"<html" in answer.read().lower()
        assert view.interrupt() == (0, "", "")


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="reads the sockets from /proc")
def test_view_listens_on_the_loopback_address_and_no_other(tmp_path: Path) -> None:
    with viewing(tmp_path) as view:
        assert view.url.startswith("http://127.0.0.1:")
        assert listening(view.port) == {"0100007F"}


def test_a_port_that_is_taken_is_followed_by_the_next_one_that_is_free() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        taken = server.getsockname()[1]
        assert taken < free_port("127.0.0.1", taken) <= taken + 99
    some = [free_port("127.0.0.1", 0) for _ in range(5)]
    assert any(free_port("127.0.0.1", port) == port for port in some)  # another program may have taken one meanwhile


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["here.ply"], "target: expected a second point cloud, or no file at all, got only here.ply"),
        (["here.ply", "there.ply"], "No such file or directory: here.ply"),
        (["--host", "203.0.113.1"], "host: expected an address of this machine, got '203.0.113.1'"),
        (["--host", ""], "host: expected an address of this machine, got ''"),
        (["--host", "..a"], "host: expected an address of this machine, got '..a': not a name"),
        (["--port", "65536"], "port: expected an integer from 0 to 65535, got 65536"),
        (["--voxel-size", "0"], "voxel_size: expected a finite number above 0, got 0.0"),
        (["--epsilon", "-1"], "epsilon: expected a finite number above 0, got -1.0"),
        (["--method", "magic"], "method: expected one of auto, "),
        (["--output", "nowhere/T.txt"], "no such folder: nowhere"),
        (["--threads", "0"], "threads: expected an integer from 1 to 1024, got 0"),
    ],
)
def test_wrong_input_is_one_line_and_status_2(
    arguments: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert call(monkeypatch, *arguments) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith(f"clipperplus: {message}")
    assert printed.err.count("\n") == 1


def test_without_viser_the_viewer_says_how_to_install_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Nowhere:
        """Finds no viser, as where it is not installed."""

        def find_spec(self, name: str, path: object = None, target: object = None) -> None:
            if name == "viser":
                raise ModuleNotFoundError("No module named 'viser'", name="viser")

    monkeypatch.delitem(sys.modules, "viser", raising=False)
    monkeypatch.setattr("sys.meta_path", [Nowhere(), *sys.meta_path])
    assert call(monkeypatch) == 2
    error = capsys.readouterr().err
    assert error == "clipperplus: the viewer needs the package viser: pip install 'clipperplus[viz]'\n"


def test_a_viewer_of_clouds_without_points_starts_and_ends() -> None:
    nothing = cp.Cloud(np.empty((0, 3)))
    viewer = Viewer(("nothing", "nothing"), (nothing, nothing), port=0)
    try:
        assert viewer.url.startswith("http://127.0.0.1:")
    finally:
        viewer.close()


def test_cameras_look_along_z_and_lidars_stand_upright() -> None:
    assert likely_up(room().target) == "-y"
    assert likely_up(np.random.default_rng(0).normal(size=(100, 3))) == "+z"
    assert likely_up(np.empty((0, 3))) == "+z"


def test_the_status_is_said_with_the_numbers_that_settings_change() -> None:
    pose = registered_room()
    text = panel_text.describe_status(pose)
    assert "trust it" in text
    assert f"inliers **{pose.num_inliers}** of {len(pose.associations)}" in text
    assert "proven to be the most" in text
    assert INLIER in text
    text = panel_text.describe_status(pose_without_transform())
    assert "there is no transform" in text
    assert f"what helps: {panel_text.plain(pose_without_transform().reasons[0].help)}" in text
    assert OUTLIER in text


def test_every_hypothesis_is_described_and_so_is_none() -> None:
    pose = registered_room()
    assert "The answer" in panel_text.describe_hypothesis(pose, 0)
    for number, other in enumerate(pose.alternatives, start=1):
        text = panel_text.describe_hypothesis(pose, number)
        assert f"Alternative {number}" in text
        assert f"{other.support} inliers" in text
    assert "no transform" in panel_text.describe_hypothesis(pose_without_transform(), 0)


def test_evidence_and_times_are_tables() -> None:
    pose = registered_room()
    for text in (panel_text.describe_evidence(pose), panel_text.describe_steps(pose)):
        lines = text.splitlines()
        assert len({line.count(" | ") for line in lines}) == 1
        assert len(lines) > 5
    assert "clique" in panel_text.describe_steps(pose)
    assert "overlap" in panel_text.describe_evidence(pose)


def test_names_and_errors_are_shown_as_they_are() -> None:
    assert panel_text.plain("<b>_a_*.ply") == r"&lt;b&gt;\_a\_\*.ply"
    assert panel_text.describe_error(cp.OptionError("voxel_size: too small")) == r"voxel\_size: too small"
    assert panel_text.describe_error(IsADirectoryError(21, "Is a directory", "here")) == "Is a directory"
    assert panel_text.describe_error(MemoryError()) == "not enough memory"
    assert panel_text.describe_error(KeyError("else")) == "KeyError: 'else'"
