"""The simulated registration problem has the clique that it claims."""

from __future__ import annotations

import numpy as np
import pytest
from oracles import is_clique

import clipperplus as cp
from clipperplus.synthetic import rabbit_surface, registration_graph


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


def test_the_rabbit_fits_its_cube_and_has_points_everywhere() -> None:
    points = rabbit_surface(20_000, seed=1)
    assert points.shape == (20_000, 3)
    assert np.ptp(points, axis=0).max() <= 0.2
    assert np.ptp(points, axis=0).min() > 0.08
    assert np.array_equal(points, rabbit_surface(20_000, seed=1))
    assert not np.array_equal(points, rabbit_surface(20_000, seed=2))
    assert rabbit_surface(0).shape == (0, 3)


def test_points_of_the_rabbit_are_spread_by_area() -> None:
    """On the body, an ellipsoid, the share of points above a plane is that of the area above it, by quadrature."""
    a, b, c = 0.062, 0.045, 0.050
    points = rabbit_surface(200_000)
    on_body = points[np.abs(((points / (a, b, c)) ** 2).sum(axis=1) - 1.0) < 1e-6]
    # Away from head and tail: compare two bands of the lower half by their areas.
    bands = [(-0.9, -0.6), (-0.6, -0.3)]
    counts = [np.count_nonzero((on_body[:, 2] > low * c) & (on_body[:, 2] <= high * c)) for low, high in bands]
    angle = np.linspace(0.0, 2.0 * np.pi, 2001)[:-1]
    areas = []
    for low, high in bands:
        height = np.linspace(low, high, 1001)
        z, phi = np.meshgrid((height[1:] + height[:-1]) / 2.0, angle)
        radius = np.sqrt(1.0 - z**2)
        x, y = radius * np.cos(phi), radius * np.sin(phi)
        areas.append((np.sqrt((x / a) ** 2 + (y / b) ** 2 + (z / c) ** 2)).mean() * (high - low))
    assert counts[0] / counts[1] == pytest.approx(areas[0] / areas[1], rel=0.03)
