"""`clipperplus bench scans`: both layouts of the data, the table, the figures, wrong input."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from command_line import run
from test_bench_dimacs import rows_of

import clipperplus as cp
from clipperplus.bench import figures, scans
from clipperplus.bench.fragments import Scene, find_scenes
from clipperplus.bench.measuring import COMPARED
from clipperplus.bench.store import Store
from clipperplus.cli import main
from clipperplus.evaluation import PROTOCOLS
from clipperplus.geometry.files import PairPoses, write_log

SCENE = "7-scenes-redkitchen"
COARSE = ("--voxel-size", "0.1", "--methods", "greedy,auto")


def write_truth(folder: Path, pair: cp.synthetic.ScanPair) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    poses = np.array([np.linalg.inv(pair.T_target_source), pair.T_target_source])
    write_log(folder / "gt.log", PairPoses(np.array([[0, 1], [2, 0]]), poses, 3))


@pytest.fixture(scope="session")
def scene() -> tuple[cp.synthetic.ScanPair, list[np.ndarray]]:
    """Three fragments, of which the first and the last are the same one, to millimetres."""
    pair = cp.synthetic.room_scans(seed=1, motion=0.5, frames=2, resolution=96)
    return pair, [np.round(1e3 * points).astype(np.int16) for points in (pair.source, pair.target, pair.target)]


@pytest.fixture(scope="session")
def packed(scene: tuple[cp.synthetic.ScanPair, list[np.ndarray]], tmp_path_factory: pytest.TempPathFactory) -> Path:
    data = tmp_path_factory.mktemp("packed")
    pair, fragments = scene
    np.savez_compressed(data / f"{SCENE}.npz", scale=1e-3, **{f"p{k}": points for k, points in enumerate(fragments)})
    write_truth(data / "benchmarks" / "3DMatch" / SCENE, pair)
    return data


@pytest.fixture(scope="session")
def unpacked(scene: tuple[cp.synthetic.ScanPair, list[np.ndarray]], tmp_path_factory: pytest.TempPathFactory) -> Path:
    data = tmp_path_factory.mktemp("unpacked")
    pair, fragments = scene
    (data / SCENE).mkdir()
    for number, points in enumerate(fragments):
        cp.write_cloud(data / SCENE / f"cloud_bin_{number}.ply", points * 1e-3)
    write_truth(data / f"{SCENE}-evaluation", pair)
    return data


def test_both_layouts_give_the_same_fragments_and_pairs(packed: Path, unpacked: Path) -> None:
    (here,), (there,) = find_scenes(packed), find_scenes(unpacked)
    assert here.name == there.name == SCENE
    assert here.numbers() == there.numbers() == {0, 1, 2}
    for number in here.numbers():
        assert np.allclose(here.points(number), there.points(number), rtol=0.0, atol=1e-6)
    for first, second in zip(here.pairs(), there.pairs(), strict=True):
        assert (first.key, first.information) == (second.key, second.information)
        assert np.array_equal(first.T_i_j, second.T_i_j)


def test_the_truth_may_be_among_the_fragments(unpacked: Path, tmp_path: Path) -> None:
    shutil.copytree(unpacked / SCENE, tmp_path / SCENE)
    shutil.copy(unpacked / f"{SCENE}-evaluation" / "gt.log", tmp_path / SCENE)
    assert [pair.key for pair in find_scenes(tmp_path)[0].pairs()] == [f"{SCENE} 0 1", f"{SCENE} 2 0"]


def test_the_table_comes_out_and_a_second_run_measures_nothing_again(
    unpacked: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ("bench", "scans", "--data", unpacked, *COARSE, "--output", tmp_path)
    done = run(*arguments, COLUMNS="150")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert "in the paper" in done.stdout
    assert "proven on 2 of 2 graphs" in done.stdout
    rows = rows_of(tmp_path / "scans.csv")
    assert set(rows) == {f"{SCENE} 0 1", f"{SCENE} 2 0"}
    for row in rows.values():
        assert row["auto size"] == row["clique number"]
        assert row["auto proven"] == row["clique and fit registered"] == row["register registered"] == "yes"
        assert 0 < int(row["outliers"]) < int(row["vertices"])
        assert float(row["clique and fit translation m"]) < 0.2
    text = (tmp_path / "scans.md").read_text()
    assert "| redkitchen | 2 | 2 (244) |" in text
    assert "## Registration recall by 3DMatch\n" in text
    assert re.search(r"without consecutive fragments\n\n.*\n.*\n\| redkitchen \| 1 \| 1.000 \| 1.000 \|", text)
    assert json.loads((tmp_path / "scans.json").read_text())["summary"][0]["methods"]["auto"]["ratio"] == 1.0
    for name in ("scans_ratio", "scans_time"):
        assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")

    before = (tmp_path / "scans.csv").read_bytes()
    monkeypatch.delattr(scans, "_measure")
    monkeypatch.setattr(figures, "available", lambda: False)
    monkeypatch.setattr("sys.argv", ["clipperplus", *map(str, arguments)])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert not stopped.value.code
    assert "2 graphs were measured before" in capsys.readouterr().err
    assert (tmp_path / "scans.csv").read_bytes() == before


def test_an_outlier_is_what_the_truth_takes_farther_than_epsilon(packed: Path) -> None:
    rule = PROTOCOLS["3DMatch"]
    pair = scans.pairs(find_scenes(packed), protocol=rule)[0]
    (row,) = scans.run(
        [pair], ["auto"], Store(None, "scans", {}, scans.columns(["auto"])), protocol=rule, voxel_size=0.1
    )
    source, target = (cp.prepare(pair.scene.points(k), voxel_size=0.1) for k in (1, 0))
    associations = cp.match_features(source.features, target.features)
    moved = cp.apply_transform(pair.T_i_j, source.points[associations[:, 0]])
    misses = np.linalg.norm(moved - target.points[associations[:, 1]], axis=1)
    assert int(row["outliers"]) == np.count_nonzero(misses > 0.1)
    assert int(row["vertices"]) == len(associations)


def test_figures_and_tables_do_without_pairs_that_count(packed: Path, tmp_path: Path) -> None:
    rule = PROTOCOLS["3DMatch"]
    pair = scans.pairs(find_scenes(packed), protocol=rule)[:1]
    rows = scans.run(pair, ["auto"], Store(None, "scans", {}, scans.columns(["auto"])), protocol=rule, voxel_size=0.1)
    rows = [{**row, "counted": "no"} for row in rows]
    assert figures.scans_figures(rows, ["auto"], tmp_path) == []
    assert [len(table.rows) for table in scans.tables(rows, ["auto"], rule)] == [1, 0, 0, 1, 0]
    assert len(scans.conclusions(rows, ["auto"])) == 2


def test_pairs_without_information_are_named_where_the_rmse_is_asked_for(packed: Path) -> None:
    rmse = PROTOCOLS["3DMatch-RMSE"]
    first, second = scans.pairs(find_scenes(packed), protocol=PROTOCOLS["3DMatch"])[:2]
    known, unknown = replace(first, information=np.eye(6)), replace(second, information=np.zeros((6, 6)))
    assert scans.without_rmse([known, unknown], rmse) == [unknown.key]
    assert scans.without_rmse([known, unknown], PROTOCOLS["3DMatch"]) == []
    store = Store(None, "scans", {}, scans.columns(["greedy"]))
    rows = scans.run([unknown], ["greedy"], store, protocol=rmse, voxel_size=0.1)
    said = scans.conclusions(rows, ["greedy"], [unknown.key])
    assert any("because their information is zero" in line and unknown.key in line for line in said)
    assert not any("information" in line for line in scans.conclusions(rows, ["greedy"]))


def test_the_papers_numbers_stand_beside_its_own_pairs_only(packed: Path) -> None:
    rule = PROTOCOLS["3DMatch"]
    store = Store(None, "scans", {}, scans.columns(["greedy"]))
    rows = scans.run(scans.pairs(find_scenes(packed), protocol=rule), ["greedy"], store, protocol=rule, voxel_size=0.1)
    for benchmark, expected in (("3DMatch", True), ("3DLoMatch", False)):
        found = scans.tables(rows, ["greedy"], rule, scans.papers_of(benchmark))
        assert [any(table.published) for table in found] == [expected, expected, expected, False, False]


def test_quick_takes_a_few_pairs_of_every_scene(packed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (scene,) = find_scenes(packed)
    many = scene.pairs() * 10
    monkeypatch.setattr(Scene, "pairs", lambda _: many)
    assert len(scans.pairs([scene, scene], protocol=PROTOCOLS["3DMatch"], quick=True)) == 10


def test_the_papers_table_is_copied_without_an_error(data_folder: Path) -> None:
    """Read Table II from the paper's own text."""
    paper = data_folder.parent / "paper.txt"
    if not paper.exists():
        pytest.skip("the paper's text is not beside the data")
    for published in scans.PAPER.values():
        line = next(line for line in paper.read_text().splitlines() if rf"\verb|{published.name}| &" in line)
        cells = [re.sub(r"\\textbf\{([^}]*)\}", r"\1", cell).strip(" \\%") for cell in line.split("&")]
        numbers = [float(cell) for cell in cells if re.fullmatch(r"[\d.]+", cell)]
        ours = [published.methods[method][what] for method in COMPARED for what in ("ms", "ratio")]
        assert numbers == [published.pairs, published.outliers, published.vertices, published.sparsity, *ours]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--data", "nowhere"), "nowhere is not a folder"),
        (("--data", "."), "no scenes in .; expected folders SCENE with cloud_bin_0.ply"),
        (("--data", "packed", "--scenes", "kitchen,attic"), f"scenes: expected parts of the names {SCENE}"),
        (("--data", "packed", "--scenes", ","), f"scenes: expected parts of the names {SCENE}"),
        (("--data", "packed", "--benchmark", "3DLoMatch"), "has no truth of 3DLoMatch for the scene"),
        (("--data", "packed", "--protocol", "magic"), "protocol: expected one of 3DMatch"),
        (("--data", "packed", "--protocol", "3DMatch-RMSE"), "3DMatch-RMSE needs the gt.info of all pairs"),
        (("--data", "packed", "--voxel-size", "0"), "voxel_size: expected"),
        (("--data", "broken"), "broken/scene.npz: not a file with fragments"),
        (("--data", "fewer"), "names fragments that fewer/scene.npz does not have: [2]"),
    ],
)
def test_wrong_input_is_one_line_and_status_2(
    scene: tuple[cp.synthetic.ScanPair, list[np.ndarray]],
    packed: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: tuple[str, ...],
    message: str,
) -> None:
    (tmp_path / "packed").symlink_to(packed)
    for name in ("broken", "fewer"):
        write_truth(tmp_path / name / "benchmarks" / "3DMatch" / "scene", scene[0])
    (tmp_path / "broken" / "scene.npz").write_bytes(b"PK\3\4 and no more")
    np.savez(tmp_path / "fewer" / "scene.npz", scale=1e-3, p0=scene[1][0], p1=scene[1][1])
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["clipperplus", "bench", "scans", *arguments])
    with pytest.raises(SystemExit) as stopped:
        main()
    said = capsys.readouterr()
    assert stopped.value.code == 2
    assert said.out == ""
    assert message in said.err
    assert said.err.count("\n") == 1
