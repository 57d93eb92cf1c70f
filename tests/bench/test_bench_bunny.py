"""`clipperplus bench bunny`: trials as the paper makes them, tables and figures."""

from __future__ import annotations

import time
import xml.etree.ElementTree
from pathlib import Path

import numpy as np
import pytest
from command_line import run
from scipy.spatial import cKDTree
from test_bench_dimacs import rows_of

from clipperplus.bench import bunny, figures
from clipperplus.bench.measuring import COMPARED
from clipperplus.bench.store import Store


@pytest.fixture(scope="module")
def model() -> bunny.Model:
    return bunny.load_model(None)


def test_the_model_is_a_thousand_points_in_a_cube_and_epsilon_their_mean_gap(model: bunny.Model) -> None:
    assert model.points.shape == (1000, 3)
    assert 0.1 < np.ptp(model.points, axis=0).max() <= 0.2
    assert np.abs(model.points.mean(axis=0)).max() < 1e-12
    gaps, _ = cKDTree(model.points).query(model.points, k=2)
    assert model.epsilon == pytest.approx(gaps[:, 1].mean())


@pytest.mark.parametrize("outliers", [0, 2, 50, 98])
def test_a_trial_is_made_as_the_paper_says(model: bunny.Model, outliers: int) -> None:
    chosen = bunny.associate(model, bunny.Trial(outliers, 7))
    assert chosen.second.shape == (2000, 3)
    noise = chosen.second[:1000] - model.points
    assert np.abs(noise).max() <= model.epsilon / 2
    assert np.abs(noise).max() > 0.49 * model.epsilon
    assert np.abs(noise.mean()) < 0.02 * model.epsilon
    distance = np.linalg.norm(chosen.second[1000:], axis=1)
    assert distance.max() <= 1.0
    assert (distance < 0.5).mean() == pytest.approx(0.125, abs=0.04)  # by volume
    pairs = set(zip(chosen.source.tolist(), chosen.target.tolist(), strict=True))
    assert len(pairs) == 200
    assert sum(source == target for source, target in pairs) == 200 - 2 * outliers
    assert chosen.source.max() < 1000
    assert chosen.target.max() < 2000


def test_the_graph_of_a_trial_is_that_of_the_definition(model: bunny.Model) -> None:
    trial = bunny.Trial(40, 3)
    chosen = bunny.associate(model, trial)
    source, target = model.points[chosen.source], chosen.second[chosen.target]
    gaps = np.linalg.norm(source[:, None] - source, axis=2) - np.linalg.norm(target[:, None] - target, axis=2)
    expected = (np.abs(gaps) < model.epsilon) & ~np.eye(200, dtype=bool)
    assert np.array_equal(bunny.trial_graph(model, trial).adjacency(), expected)


def test_trials_are_the_papers_and_each_has_its_own_numbers(model: bunny.Model) -> None:
    trials = bunny.trials()
    assert len(trials) == 2500
    assert sorted({trial.outliers for trial in trials}) == list(range(0, 99, 2))
    assert len({trial.key for trial in trials}) == 2500
    first, again = bunny.trial_graph(model, trials[60]), bunny.trial_graph(model, trials[60])
    assert first == again
    assert first != bunny.trial_graph(model, trials[61])
    assert first != bunny.trial_graph(model, trials[60], seed=1)


def test_wrong_partners_are_spread_over_all_points_but_the_right_one(model: bunny.Model) -> None:
    targets = []
    for number in range(40):
        chosen = bunny.associate(model, bunny.Trial(98, number))
        wrong = chosen.source != chosen.target
        targets.append(chosen.target[wrong])
    all_targets = np.concatenate(targets)
    assert (all_targets < 1000).mean() == pytest.approx(0.5, abs=0.02)
    assert all_targets.max() == 1999


def test_a_quick_run_writes_tables_and_figures(tmp_path: Path) -> None:
    start = time.perf_counter()
    done = run("bench", "bunny", "--quick", "--output", tmp_path)
    assert time.perf_counter() - start < 60
    assert done.returncode == 0, done.stderr
    rows = rows_of(tmp_path / "bunny.csv")
    assert len(rows) == 40
    assert all(row["auto size"] == row["clique number"] and row["auto proven"] == "yes" for row in rows.values())
    for name in ("bunny_ratio_distribution", "bunny_ratio", "bunny_time"):
        assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        xml.etree.ElementTree.parse(tmp_path / f"{name}.svg")
        assert f"![{name}]({name}.png)" in (tmp_path / "bunny.md").read_text()

    pictures = {path: path.read_bytes() for path in tmp_path.glob("bunny_*")}
    again = run("bench", "bunny", "--quick", "--output", tmp_path)
    assert "40 graphs were measured before" in again.stderr
    assert {path: path.read_bytes() for path in tmp_path.glob("bunny_*")} == pictures


def test_figures_show_every_method(model: bunny.Model, tmp_path: Path) -> None:
    import matplotlib.image

    methods = [*COMPARED, "auto"]
    store = Store(None, "bunny", {}, bunny.columns(methods))
    rows = bunny.run([bunny.Trial(outliers, k) for outliers in (20, 40) for k in range(30)], model, methods, store)
    pictures = [path for path in figures.bunny_figures(rows, methods, tmp_path) if path.suffix == ".png"]
    assert len(pictures) == 3
    for path in pictures:
        pixels = matplotlib.image.imread(path)[..., :3].reshape(-1, 3)
        for method in methods[:-1]:  # ours is black, like the text
            wanted = figures._STYLES[method]["color"]
            colour = np.array([int(wanted[k : k + 2], 16) for k in (1, 3, 5)]) / 255.0
            distance = np.abs(pixels - colour).max(axis=1).min()
            assert distance < 0.08, (path.name, method)


def test_a_large_model_is_scaled_into_the_cube_and_a_small_one_is_not(tmp_path: Path) -> None:
    points = np.random.default_rng(0).normal(size=(1200, 3))
    path = tmp_path / "model.ply"
    head = "ply\nformat binary_little_endian 1.0\nelement vertex 1200\n"
    head += "".join(f"property double {axis}\n" for axis in "xyz") + "end_header\n"
    for scale in (1e-3, 1e3):
        path.write_bytes(head.encode() + (1e5 + scale * points).astype("<f8").tobytes())
        size = np.ptp(bunny.load_model(path).points, axis=0).max()
        assert size == pytest.approx(0.2) if scale > 1 else size < 0.01
