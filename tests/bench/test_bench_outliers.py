"""`clipperplus bench outliers`: problems with a known answer, the rivals' cells, tables and figures."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
import xml.etree.ElementTree
from pathlib import Path

import numpy as np
import pytest
from command_line import PROGRAM, run
from motions import move, planted, random_motion
from test_bench_dimacs import rows_of

import clipperplus as cp
from clipperplus.bench import match_problems, outliers
from clipperplus.bench.match_problems import KINDS, Matches, Problem
from clipperplus.bench.one_thread import one_thread
from clipperplus.bench.rivals import RIVALS
from clipperplus.bench.store import Store

METHODS = ["ransac", "gnc-tls", "clipper+", "ours"]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Matches in all the layouts that are read."""
    folder = tmp_path_factory.mktemp("data")
    for name in ("graphs", "scans/kitti", "scans/correspondences"):
        (folder / name).mkdir(parents=True)
    source, target, truth = planted(60, 140)
    np.savez(folder / "graphs" / "room.npz", source=source, target=target, T_target_source=truth, epsilon=0.05, n=200)
    np.savez(folder / "graphs" / "other.npz", n=3, adjacency=np.zeros((3, 1), dtype=np.uint8), omega=1)
    far = 20.0 * source, move(truth, 20.0 * source), truth
    np.savez(folder / "scans" / "kitti" / "pair.npz", src=source[:5], kp_src=far[0], kp_dst=far[1], T=far[2])
    np.savez(folder / "scans" / "correspondences" / "hall.npz", src=source, dst=target, T=truth)
    return folder


def test_problems_are_read_from_every_layout(data: Path) -> None:
    found = match_problems.problems(data, wanted=None, quick=False, seed=0)
    assert [(one.name, one.kind) for one in found] == [
        ("3DMatch room", "3DMatch"), ("indoor hall", "indoor"), ("KITTI pair", "KITTI"),
    ]  # fmt: skip
    read = [one.matches() for one in found]
    assert [one.epsilon for one in read] == [0.05, 0.10, 0.60]
    assert [one.source.shape for one in read] == [(200, 3)] * 3
    assert read[0].outliers == pytest.approx(70.0, abs=1.0)  # a random match may be within 10 cm
    assert read[2].outliers == 0.0
    assert read[0].checksum == read[1].checksum != read[2].checksum  # the first two are the same points


def test_trials_have_the_outliers_that_they_promise_and_a_motion_of_their_own() -> None:
    found = match_problems.problems(None, wanted=["99.5 %", "bunny 20 %"], quick=False, seed=3)
    assert len(found) == 40
    for problem, share in ((found[0], 20.0), (found[-1], 99.5)):
        made, again = problem.matches(), problem.matches()
        assert made.checksum == again.checksum
        assert made.outliers == share
        gaps = np.linalg.norm(move(made.truth, made.source) - made.target, axis=1)
        right = gaps <= np.sqrt(3.0) / 2.0 * made.epsilon + 1e-12
        assert right.sum() == pytest.approx(1000 - 10 * share, abs=8)  # neighbours of the right point may do as well
        assert np.linalg.det(made.truth[:3, :3]) == pytest.approx(1.0)
    assert cp.rotation_error(found[0].matches().truth, found[1].matches().truth) > 1.0


def test_cells_say_how_far_an_answer_is_off() -> None:
    source, target, truth = planted(100, 100)
    matches = Matches(source, target, truth, 0.05, 50.0)
    cells = outliers.measure("ours", matches, KINDS["3DMatch"].protocol)
    answer = cp.solve(source, target, epsilon=0.05).T_target_source
    assert answer is not None
    assert cells["ours registered"] == cells["ours trusted"] == "yes"
    assert outliers.measure("ransac", matches, KINDS["3DMatch"].protocol)["ransac trusted"] == ""
    assert float(cells["ours degrees"]) == pytest.approx(float(cp.rotation_error(answer, truth)), abs=1e-4)
    assert float(cells["ours metres"]) == pytest.approx(float(cp.translation_error(answer, truth)), abs=1e-5)
    assert 0.0 < float(cells["ours ms"]) < 1000.0
    elsewhere = Matches(source, target, truth @ random_motion(7), 0.05, 50.0)
    assert outliers.measure("ours", elsewhere, KINDS["3DMatch"].protocol)["ours registered"] == "no"
    alone = Matches(source[:2], target[:2], truth, 0.05, 0.0)
    nothing = outliers.measure("ours", alone, KINDS["3DMatch"].protocol)
    assert (nothing["ours registered"], nothing["ours degrees"], nothing["ours metres"]) == ("no", "", "")


def row_of(kind: str, share: float, cells: dict[str, tuple[str, str, str, str, str]]) -> dict[str, str]:
    row = {"problem": f"{kind} {share} {len(cells)}", "checksum": "1", "kind": kind, "outlier share": str(share)}
    for method, found in cells.items():
        names = (f"{method} {what}" for what in ("registered", "trusted", "degrees", "metres", "ms"))
        row |= dict(zip(names, found, strict=True))
    return row


def test_levels_have_medians_and_sentences_say_who_is_better() -> None:
    right, wrong = ("yes", "yes", "1.0", "0.010", "2.0"), ("no", "no", "90.0", "5.0", "1.0")
    rows = [
        row_of("3DMatch", 85.0, {"ransac": right, "ours": wrong}),
        row_of("3DMatch", 89.0, {"ransac": ("yes", "", "3.0", "0.030", "4.0"), "ours": right}),
        row_of("3DMatch", 97.0, {"ransac": wrong, "ours": right}),
        row_of("bunny", 20.0, {"ransac": ("no", "", "", "", "0.5"), "ours": right}),
    ]
    methods = ["ransac", "ours"]
    found = outliers.levels(rows, methods)
    assert [level.name for level in found] == ["bunny 20 %", "3DMatch 80–90 %", "3DMatch 95–100 %"]
    assert found[1].right == {"ransac": 2, "ours": 1}
    assert found[1].degrees == {"ransac": 2.0, "ours": 1.0}
    assert found[1].metres["ransac"] == pytest.approx(0.020)
    assert found[1].ms == {"ransac": 3.0, "ours": 1.5}
    assert found[0].degrees["ransac"] is None
    said = outliers.conclusions(rows, methods)
    assert said == [
        "Right more often than ours: 3DMatch 80–90 % (RANSAC 2, ours 1 of 2).",
        "Above 80 % outliers, faster than ours and as often right: none.",
        "Above 80 % outliers, faster than ours and less often right: RANSAC at 3DMatch 95–100 %.",
        "Of ours, 3 of 3 right answers are called OK, and 0 of 1 wrong ones; the others do not say.",
    ]
    assert outliers.conclusions(rows, ["ransac"]) == []
    tables = outliers.tables(rows, methods, {"magsac++": "no such package"})
    assert len(tables) == 9
    assert tables[0].rows == [["problems", "1"], ["RANSAC", "0.00"], ["ours", "1.00"]]
    assert tables[4].columns == ["outliers", "80–90 %", "95–100 %"]
    assert tables[7].rows[1] == ["RANSAC", "20.0", ""]
    assert tables[8].rows[-1] == ["MAGSAC++", "Barath et al. 2020", "not measured: no such package"]


def test_a_run_writes_tables_and_figures_and_goes_on_where_it_was(data: Path, tmp_path: Path) -> None:
    arguments = ["bench", "outliers", "--data", data, "--methods", ",".join(METHODS), "--output", tmp_path]
    done = run(*arguments, "--only", "3DMatch")
    assert done.returncode == 0, done.stderr
    done = run(*arguments)
    assert done.returncode == 0, done.stderr
    assert "1 graphs were measured before" in done.stderr
    rows = rows_of(tmp_path / "outliers.csv")
    assert list(rows) == ["3DMatch room", "indoor hall", "KITTI pair"]
    assert all(row[f"{method} registered"] == "yes" for row in rows.values() for method in ("clipper+", "ours"))
    about = json.loads((tmp_path / "outliers.json").read_text())
    assert about["complete"]
    assert [level["kind"] for level in about["summary"]] == ["3DMatch", "indoor", "KITTI"]
    text = (tmp_path / "outliers.md").read_text()
    for name in ("outliers_real_success", "outliers_real_time"):
        assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        xml.etree.ElementTree.parse(tmp_path / f"{name}.svg")
        assert f"![{name}]({name}.png)" in text
    refused = run(*arguments[:4], "--methods", "ours", "--output", tmp_path)
    assert refused.returncode == 2
    assert "another run" in refused.stderr


def test_without_data_a_generated_model_is_used() -> None:
    done = run("bench", "outliers", "--quick", "--methods", "gnc-tls,ours", "--only", "95 %")
    assert done.returncode == 0, done.stderr
    assert "None is right more often than ours." in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--methods", "magic"), "methods: expected names from"),
        (("--only", "nothing"), "nothing to be measured without data whose name has one of nothing"),
        (("--data", "missing"), "nothing to be measured in"),
    ],
)
def test_bad_input_is_refused_in_a_line(arguments: tuple[str, ...], message: str) -> None:
    done = run("bench", "outliers", *arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_files_without_matches_are_refused(tmp_path: Path) -> None:
    folder = tmp_path / "scans" / "kitti"
    folder.mkdir(parents=True)
    for stored, message in (
        ({"src": np.zeros((4, 3))}, "no matched points with a motion"),
        ({"src": np.zeros((4, 3)), "dst": np.zeros((5, 3)), "T": np.eye(4)}, "as many source as target"),
    ):
        np.savez(folder / "pair.npz", **stored)  # type: ignore[arg-type]
        (problem,) = match_problems.problems(tmp_path, wanted=None, quick=False, seed=0)
        with pytest.raises(cp.OptionError, match=message):
            problem.matches()


def test_a_method_that_ends_its_process_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    source, target, truth = planted(10, 0)
    problem = Problem("small", "3DMatch", lambda: Matches(source, target, truth, 0.05, 0.0))
    monkeypatch.setattr(outliers, "measure", _end)
    with pytest.raises(cp.ClipperPlusError, match="ours: the process that it ran in ended on small"):
        outliers.run([problem], ["ours"], Store(None, "outliers", {}, outliers.columns(["ours"])))


def _end(*_: object) -> None:
    os._exit(3)


def _environment() -> tuple[str | None, int]:
    return os.environ.get("OMP_NUM_THREADS"), len(os.sched_getaffinity(0))


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="asks Linux for its cores")
def test_measurements_have_one_thread_and_leave_the_caller_as_it_was() -> None:
    before = _environment()
    with one_thread() as process:
        assert process.submit(_environment).result() == ("1", 1)
    assert _environment() == before


def test_ctrl_c_ends_at_once_and_keeps_what_is_done(tmp_path: Path) -> None:
    command = [*PROGRAM, "bench", "outliers", "--methods", "ours", "--output", str(tmp_path)]
    running = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    csv_path = tmp_path / "outliers.csv"
    while not csv_path.exists() or csv_path.read_text().count("\n") < 4:
        time.sleep(0.05)
        assert running.poll() is None
    os.killpg(running.pid, signal.SIGINT)  # as a terminal does: to both processes
    start = time.perf_counter()
    _, stderr = running.communicate(timeout=30)
    assert time.perf_counter() - start < 5.0
    assert running.returncode == 130
    assert "200 graphs are measured; the same command goes on from there" in stderr
    assert "Traceback" not in stderr


def test_every_method_has_a_style_and_a_label_of_its_own() -> None:
    from clipperplus.bench import figures

    assert list(figures._RIVAL_STYLES) == list(RIVALS)
    looks = {(style["color"], style["marker"]) for style in figures._RIVAL_STYLES.values()}
    assert len(looks) == len(RIVALS) == len({rival.label for rival in RIVALS.values()})
