"""Arrays and clouds of other libraries, and what goes wrong inside them: the error names the argument."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import clipperplus as cp
from clipperplus import invariants
from clipperplus.io.poses import Trajectory, write_kitti, write_log, write_tum

POINTS = np.random.default_rng(0).normal(size=(20, 3))
GRAPH = cp.Graph.from_edges(3, [(0, 1)])


class BrokenArray:
    """Raises when it is to become an array."""

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise self.error


class BrokenCloud:
    """Raises when it is asked for something."""

    def __init__(self, name: str, error: BaseException) -> None:
        self.name, self.error = name, error

    def __getattr__(self, name: str) -> Any:
        if name == self.name:
            raise self.error
        if name == "points":
            return POINTS
        raise AttributeError(name)


TAKERS: dict[str, Callable[[Any], Any]] = {
    "source": lambda given: cp.register(given, POINTS),
    "target": lambda given: cp.solve(POINTS, given),
    "associations": lambda given: cp.solve(POINTS, POINTS, associations=given),
    "edges": lambda given: cp.Graph.from_edges(3, given),
    "adjacency": cp.Graph.from_adjacency,
    "weights": GRAPH.with_vertex_weights,
    "vertices": GRAPH.subgraph,
    "start": lambda given: cp.find_clique(GRAPH, start=given),
    "vertex_weights": lambda given: cp.find_clique(GRAPH, vertex_weights=given),
    "points": lambda given: cp.downsample(given, voxel_size=0.1),
    "T": lambda given: cp.apply_transform(given, POINTS),
    "poses": lambda given: write_kitti("never.txt", given),
    "trajectory.timestamps": lambda given: write_tum("never.txt", Trajectory(given, np.eye(4)[None])),
    "source_viewpoint": lambda given: cp.register(POINTS, POINTS, source_viewpoint=given),
    "transforms": lambda given: cp.verify(POINTS, POINTS, given),
    "pixels": lambda given: cp.solve_camera(POINTS, given, np.eye(3)),
}


@pytest.mark.parametrize("argument", TAKERS)
@pytest.mark.parametrize(
    "kind", [RuntimeError, KeyError, ZeroDivisionError, MemoryError, OSError, AttributeError, ValueError]
)
def test_what_an_array_raises_gets_the_name_of_the_argument(argument: str, kind: type[Exception]) -> None:
    with pytest.raises(cp.ClipperPlusError, match=rf"{argument}.*: expected .* got BrokenArray.*the disk is gone"):
        TAKERS[argument](BrokenArray(kind("the disk is gone")))


class SpeechlessError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("there is nothing to say")


@pytest.mark.parametrize("argument", TAKERS)
def test_an_error_that_says_nothing_gets_the_name_of_the_argument(argument: str) -> None:
    with pytest.raises(
        cp.ClipperPlusError, match=rf"{argument}.*: expected .* got BrokenArray.*a SpeechlessError without"
    ):
        TAKERS[argument](BrokenArray(SpeechlessError()))
    with pytest.raises(
        cp.LandmarkError, match=r"source.*\.points, got BrokenCloud, .* a SpeechlessError without a message"
    ):
        cp.register(BrokenCloud("points", SpeechlessError()), POINTS)


RUDE = "\x1b[2J\n\u202e" + "x" * 100_000


@pytest.mark.parametrize("argument", TAKERS)
def test_what_others_say_is_shown_in_one_short_line_and_not_obeyed(argument: str) -> None:
    for error in (RuntimeError(RUDE), ValueError(RUDE)):
        with pytest.raises(cp.ClipperPlusError, match=r"\\x1b\[2J\\n\\u202exx.*x …") as refused:
            TAKERS[argument](BrokenArray(error))
        assert str(refused.value).isprintable()
        assert len(str(refused.value)) < 600


@pytest.mark.parametrize("attribute", ["points", "normals", "viewpoint"])
def test_what_clouds_of_others_say_is_shown_in_one_short_line_and_not_obeyed(attribute: str) -> None:
    with pytest.raises(cp.LandmarkError, match=r"RuntimeError: \\x1b\[2J\\n\\u202exx.*x …") as refused:
        cp.register(BrokenCloud(attribute, RuntimeError(RUDE)), POINTS)
    assert str(refused.value).isprintable()
    assert len(str(refused.value)) < 600


class Unspeakable:
    def __repr__(self) -> str:
        raise RuntimeError("there is nothing to show")


@pytest.mark.parametrize("value", [10**5000, np.zeros((500, 5)), Unspeakable(), RUDE, [RUDE]], ids=lambda v: type(v))
@pytest.mark.parametrize(
    "option",
    [
        "threads",
        "min_confidence",
        "max_alternatives",
        "prior",
        "motion",
        "method",
        "invariant",
        "time_limit",
        "epsilon",
    ],
)
def test_wrong_options_are_shown_in_one_short_line_whatever_they_are(option: str, value: Any) -> None:
    with pytest.raises(cp.OptionError, match=f"{option}: expected .* got ") as refused:
        cp.solve(POINTS, POINTS, **{option: value})
    assert str(refused.value).isprintable()
    assert len(str(refused.value)) < 600


def test_what_sparse_matrices_of_others_say_is_shown_in_one_short_line_and_not_obeyed() -> None:
    class BrokenMatrix:
        shape, format, nnz = (3, 3), "coo", 0

        def tocoo(self) -> Any:
            raise RuntimeError(RUDE)

    with pytest.raises(cp.GraphError, match=r"the sparse matrix cannot be read .*\\x1b.*x …") as refused:
        cp.Graph.from_adjacency(BrokenMatrix())
    assert str(refused.value).isprintable()


MANY: dict[str, Callable[[], Any]] = {
    "source": lambda: cp.register(everywhere(3), POINTS),
    "target": lambda: cp.solve(POINTS, everywhere(3)),
    "points": lambda: cp.downsample(everywhere(3, dtype=np.float32), voxel_size=0.1),
    "cloud": lambda: cp.prepare(everywhere(3, dtype=np.int8), voxel_size=0.1),
    "associations": lambda: cp.consistency_graph(POINTS, POINTS, everywhere(2, dtype=np.int64)),
    "vertices": lambda: GRAPH.subgraph(everywhere(dtype=np.int64)),
    "adjacency": lambda: cp.Graph.from_adjacency(np.broadcast_to(np.zeros(1), (2**20, 2**20))),
    "transforms": lambda: cp.verify(POINTS, POINTS, everywhere(4, 4)),
    "poses": lambda: write_kitti("never.txt", everywhere(4, 4)),
}


def everywhere(*shape: int, dtype: type = np.float64) -> Any:
    """Return one number, a hundred thousand million times, which takes no memory."""
    return np.broadcast_to(np.zeros((), dtype), (10**11, *shape))


@pytest.mark.parametrize("argument", MANY)
def test_one_number_in_many_places_is_refused_where_it_would_not_fit(argument: str) -> None:
    with pytest.raises(cp.MemoryLimitError, match=rf"{argument}: in memory it takes about .* GiB, this machine has"):
        MANY[argument]()


def test_a_copy_that_would_not_fit_is_refused_and_what_needs_none_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("clipperplus._limits.ALWAYS_FINE", 0)
    monkeypatch.setattr("clipperplus._limits.machine_memory", lambda: POINTS.nbytes - 1)
    assert len(cp.fit_transform(POINTS, POINTS)) == 4
    for copied in (np.asfortranarray(POINTS), POINTS.astype(np.float32), POINTS[::-1]):
        with pytest.raises(cp.MemoryLimitError, match="source: in memory it takes"):
            cp.fit_transform(copied, POINTS)


def test_files_of_poses_are_written_of_poses_alone() -> None:
    with pytest.raises(cp.LandmarkError, match=r"trajectory: expected a clipperplus\.io\.poses\.Trajectory, got list"):
        write_tum("never.txt", [])  # type: ignore[arg-type]
    with pytest.raises(cp.LandmarkError, match=r"log: expected a clipperplus\.io\.poses\.PairPoses, got NoneType"):
        write_log("never.txt", None)  # type: ignore[arg-type]


@pytest.mark.parametrize("pair", [{1, 2}, {0: 1, 1: 2}, frozenset((1, 2)), 3, "ab"])
def test_pairs_that_are_none_are_refused(pair: Any) -> None:
    with pytest.raises(cp.LandmarkError, match=r"pairs\[0\]: expected two clouds"):
        list(cp.register_pairs([pair], clouds=[POINTS, POINTS]))


@pytest.mark.parametrize("clouds", [{0: POINTS, 1: POINTS}, {"a", "b"}, {}.keys()], ids=type)
def test_what_has_no_order_is_no_list_of_clouds(clouds: Any) -> None:
    with pytest.raises(cp.LandmarkError, match="clouds: expected clouds in a list, got "):
        list(cp.register_pairs([(0, 1)], clouds=clouds))
    with pytest.raises(cp.LandmarkError, match="scans: expected several scans in a list, got "):
        cp.build_map(clouds)


def test_very_many_scans_that_are_none_take_no_memory() -> None:
    with pytest.raises(cp.LandmarkError, match=r"scans\[0\]: expected points"):
        cp.build_map(everywhere(3))


@pytest.mark.parametrize("pairs", [np.array(3), [np.array(3)], [(POINTS, POINTS, {1: 2, "epsilon": 0.1})]], ids=str)
def test_pairs_of_numpy_that_are_none_and_options_without_names_are_refused(pairs: Any) -> None:
    with pytest.raises(cp.ClipperPlusError, match=r"pairs.*: expected "):
        list(cp.register_pairs(pairs))


@pytest.mark.parametrize("half", [Fraction(1, 2), np.longdouble(0.5), np.float16(0.5)], ids=type)
def test_options_of_pairs_are_numbers_of_any_kind(half: Any, tmp_path: Path) -> None:
    (result,) = cp.register_pairs([(POINTS, POINTS)], epsilon=half, store=tmp_path / "a.sqlite")
    assert result.failure is None
    (again,) = cp.register_pairs([(POINTS, POINTS, {"epsilon": 0.5})], store=tmp_path / "a.sqlite")
    assert again.was_known


@pytest.mark.parametrize("time", [np.timedelta64(1, "s"), np.timedelta64(1), np.datetime64("2026-01-01")], ids=str)
def test_times_are_no_numbers(time: Any) -> None:
    with pytest.raises(cp.OptionError, match="voxel_size: expected a number, got "):
        cp.downsample(POINTS, voxel_size=time)


@pytest.mark.parametrize("graph", [Unspeakable(), POINTS, RUDE], ids=type)
def test_what_is_no_graph_of_networkx_is_shown_in_one_short_line(graph: Any) -> None:
    with pytest.raises(cp.GraphError, match="graph: expected a networkx graph, got ") as refused:
        cp.Graph.from_networkx(graph)
    assert str(refused.value).isprintable()


def test_ctrl_c_is_passed_on() -> None:
    with pytest.raises(KeyboardInterrupt):
        cp.solve(BrokenArray(KeyboardInterrupt()), POINTS)


CLOUD_TAKERS: dict[str, Callable[[Any], Any]] = {
    "source": lambda given: cp.register(given, POINTS),
    "cloud|viewpoint": lambda given: cp.prepare(given, voxel_size=0.1),
    "points": lambda given: cp.write_cloud("never.ply", given),
    r"scans\[0\]": lambda given: cp.build_map([given]),
}


@pytest.mark.parametrize("argument", CLOUD_TAKERS)
@pytest.mark.parametrize("attribute", ["points", "normals", "viewpoint"])
def test_what_a_cloud_raises_gets_the_name_of_the_argument(argument: str, attribute: str) -> None:
    if argument == "points" and attribute != "points":
        pytest.skip("of a cloud of another library, the points alone are written")
    message = (
        rf"({argument}).*: expected something with \.{attribute}, got BrokenCloud, where it raises RuntimeError: gone"
    )
    with pytest.raises(cp.LandmarkError, match=message):
        CLOUD_TAKERS[argument](BrokenCloud(attribute, RuntimeError("gone")))


@pytest.mark.parametrize(
    ("points", "message"),
    [
        (None, "shape"),
        ("here", "shape"),
        (lambda: POINTS, "shape"),
        ({"x": 1}, "shape"),
        ([[1, 2, 3], [4, 5]], "expected an array"),
        (np.ma.masked_less(POINTS, 0.0), "without a mask"),
        (BrokenArray(RuntimeError("gone")), "gone"),
        (POINTS.astype(complex), "expected numbers"),
        (POINTS.astype(object), "expected numbers"),
        (np.zeros((3, 20)), r"did you mean source\.T"),
    ],
)
def test_points_that_are_none_are_refused(points: Any, message: str) -> None:
    class Holder:
        pass

    holder = Holder()
    holder.points = points  # type: ignore[attr-defined]
    with pytest.raises(cp.LandmarkError, match=f"source: .*{message}"):
        cp.register(holder, POINTS)


def test_a_mask_behind_an_array_is_not_lost() -> None:
    class Masked:
        def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
            return np.ma.masked_less(POINTS, 0.0)

    with pytest.raises(cp.LandmarkError, match="source: expected an array without a mask"):
        cp.solve(Masked(), POINTS)


def test_subclasses_of_arrays_are_taken_as_arrays() -> None:
    class Named(np.ndarray):
        points = property(lambda self: 1 / 0)

    for given in (POINTS.view(Named), POINTS.view(np.matrix), POINTS.view(np.recarray)):
        assert np.array_equal(cp.solve(given, POINTS).T_target_source, cp.solve(POINTS, POINTS).T_target_source)


def test_normals_of_landmarks_are_asked_for_in_the_same_way(tmp_path: Path) -> None:
    invariant = invariants.DistanceAndNormals()
    with pytest.raises(cp.LandmarkError, match=r"source: expected something with \.normals, got BrokenCloud"):
        cp.consistency_graph(BrokenCloud("normals", RuntimeError("gone")), POINTS, [(0, 0)], invariant=invariant)
