"""Neighbours within a radius against plain numpy: exactly those of double precision, whatever the coordinates."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import neighbours_of, squared_distances
from strategies import clouds, shell

import clipperplus as cp
from clipperplus import _core
from clipperplus.clouds.neighbourhoods import Neighbourhoods

Points = npt.NDArray[np.float64]


CLOUD = shell(60, 10.0)


def found(neighbourhoods: Neighbourhoods) -> list[list[int]]:
    return [sorted(neighbourhoods.of(i).tolist()) for i in range(len(neighbourhoods))]


@settings(max_examples=150)
@given(clouds(), st.sampled_from([0.5, 1.0, 2.0**0.5, 3.0**0.5, 2.0, 5.0]), st.sampled_from([1, 2]))
def test_neighbours_are_those_within_the_radius_in_double_precision(
    cloud: tuple[Points, float], times: float, threads: int
) -> None:
    points, size = cloud
    radius = times * size
    assert found(Neighbourhoods(points, radius=radius, threads=threads)) == neighbours_of(points, radius)


@settings(max_examples=150)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.1, 0.3, 1.0, 2.0**0.5]))
def test_distances_that_round_to_the_radius_count(seed: int, radius: float) -> None:
    """Pairs whose ends are just outside of neighbouring cells; their distance is the radius but for the last digit."""
    random = np.random.default_rng(seed)
    ends = random.integers(-2, 3, 40) * radius
    tiny = random.choice([0.0, -1e-300, 1e-300, -1e-20, 1e-18, -1e-17, 1e-16, -1e-16], 40)
    points = np.zeros((40, 3))
    points[:, random.integers(3)] = ends + tiny
    assert found(Neighbourhoods(points, radius=radius)) == neighbours_of(points, radius)


def test_a_distance_that_rounds_to_the_radius_counts_across_two_cell_borders() -> None:
    points = np.array([[-1e-20, 0.0, 0.0], [1.0, 0.0, 0.0]])
    assert squared_distances(points)[0, 1] == 1.0
    assert found(Neighbourhoods(points, radius=1.0)) == [[1], [0]]


def test_neighbours_are_the_same_on_all_instruction_sets_and_threads(simd: str) -> None:
    points = np.random.default_rng(1).integers(0, 25, (300, 3)) / 8.0
    expected = neighbours_of(points, 0.625)
    order = [Neighbourhoods(points, radius=0.625).of(i).tolist() for i in range(len(points))]
    for threads in (1, 2, 5):
        neighbourhoods = Neighbourhoods(points, radius=0.625, threads=threads)
        assert found(neighbourhoods) == expected
        assert [neighbourhoods.of(i).tolist() for i in range(len(points))] == order


def test_points_at_one_place_are_neighbours_of_each_other_but_not_of_themselves() -> None:
    neighbourhoods = Neighbourhoods(np.full((5, 3), 7.7), radius=1e-6)
    assert found(neighbourhoods) == [[j for j in range(5) if j != i] for i in range(5)]


def test_no_points_and_one_point_have_no_neighbours() -> None:
    assert len(Neighbourhoods(np.empty((0, 3)), radius=1.0)) == 0
    assert Neighbourhoods([[1.0, 2.0, 3.0]], radius=1.0).of(0).tolist() == []


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Neighbourhoods(CLOUD, radius=1e-7), "radius: expected at least"),
        (lambda: Neighbourhoods(CLOUD, radius=0.0), "radius: expected"),
        (lambda: Neighbourhoods(CLOUD.T, radius=1.0), "points: expected points of shape"),
        (
            lambda: Neighbourhoods(np.where(np.arange(60)[:, None] == 3, np.nan, CLOUD), radius=1.0),
            "points: point 3 is",
        ),
        (lambda: Neighbourhoods(CLOUD, radius=1.0, threads=0), "threads: expected an integer"),
        (lambda: Neighbourhoods(CLOUD, radius=1.0).of(60), "point: expected an integer"),
        (lambda: Neighbourhoods(CLOUD, radius=1.0).of(-1), "point: expected an integer"),
        (lambda: Neighbourhoods(np.empty((0, 3)), radius=1.0).of(0), "point: "),
    ],
)
def test_wrong_input_is_refused(call: Any, message: str) -> None:
    with pytest.raises(cp.ClipperPlusError, match=message):
        call()


def test_more_neighbours_than_fit_are_refused_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    def too_many(*_: object) -> None:
        raise ValueError("too many neighbours")  # what the core's std::length_error becomes

    monkeypatch.setattr(_core, "find_neighbours", too_many)
    with pytest.raises(cp.OptionError, match=r"radius: 1.0 gives more than 2²⁸ neighbours"):
        Neighbourhoods(CLOUD, radius=1.0)


@pytest.mark.parametrize("other", [30, 0.5, "many", [[1, 2, 3]], object()])
def test_what_are_no_neighbours_is_refused_by_name(other: object) -> None:
    points, ups = np.zeros((4, 3)), np.tile([0.0, 0.0, 1.0], (4, 1))
    with pytest.raises(cp.OptionError, match=r"neighbours: expected clipperplus.Neighbourhoods, got "):
        cp.estimate_normals(points, radius=1.0, neighbours=other)  # type: ignore[arg-type]
    with pytest.raises(cp.OptionError, match=r"neighbours: expected clipperplus.Neighbourhoods, got "):
        cp.compute_fpfh(points, ups, radius=1.0, neighbours=other)  # type: ignore[arg-type]
