"""The simulated registration problem has the clique that it claims."""

from __future__ import annotations

import pytest
from oracles import is_clique

import clipperplus as cp
from clipperplus.synthetic import registration_graph


@pytest.mark.parametrize(("associations", "ratio"), [(0, 0.5), (1, 0.0), (150, 0.0), (300, 0.9), (300, 1.0)])
def test_inliers_form_a_clique(associations: int, ratio: float) -> None:
    problem = registration_graph(associations, outlier_ratio=ratio, seed=4)
    assert problem.graph.num_vertices == associations
    assert problem.inliers.size == round(associations * (1 - ratio))
    assert is_clique(problem.graph, problem.inliers.tolist())


def test_the_seed_decides_everything() -> None:
    assert registration_graph(200, seed=1).graph == registration_graph(200, seed=1).graph
    assert registration_graph(200, seed=1).graph != registration_graph(200, seed=2).graph


def test_the_clique_is_found_and_proven() -> None:
    problem = registration_graph(600, outlier_ratio=0.95, seed=0)
    result = cp.find_clique(problem.graph)
    assert result.optimal
    assert set(problem.inliers.tolist()) <= set(result.vertices.tolist())


@pytest.mark.parametrize("arguments", [{"associations": -1}, {"outlier_ratio": 1.5}, {"epsilon": 0.0}])
def test_wrong_arguments_are_refused(arguments: dict[str, float]) -> None:
    with pytest.raises(cp.OptionError, match=next(iter(arguments))):
        registration_graph(**arguments)  # type: ignore[arg-type]
