"""Section V-B of the paper: a model among clutter, with ever more outliers among the associations.

1000 points of the model, which fits into a cube of 0.2 m or is scaled into it; a second cloud with uniform noise of
± epsilon / 2 in every coordinate, where epsilon is the mean distance of a point to its nearest neighbour, and 1000
points of clutter from a ball of 1 m around the model; 200 associations, of which a given share are outliers; two
associations are consistent where their distances differ by less than epsilon. Outlier ratios from 0 to 98 % in steps of
2, 50 graphs each.
"""

from __future__ import annotations

import statistics
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ..clique import find_clique
from ..clouds.files import read_cloud
from ..consistency import consistency_graph
from ..errors import OptionError
from ..graphs import Graph
from ..synthetic import rabbit_surface
from .measuring import COMPARED, LABELS, Row, compare_times, means, measure_all, method_columns, proofs
from .store import Store
from .tables import Table, three_digits

__all__ = [
    "Associations",
    "Level",
    "Model",
    "Trial",
    "associate",
    "columns",
    "conclusions",
    "draw",
    "levels",
    "load_model",
    "run",
    "tables",
    "trial_graph",
    "trials",
]

_POINTS, _CLUTTER, _ASSOCIATIONS = 1000, 1000, 200
_CUBE, _BALL = 0.2, 1.0
"""Metres."""
_SMALLEST = 1e-100
"""Metres: squares of smaller distances vanish."""
_REPEATS = 3


@dataclass(frozen=True, eq=False)
class Model:
    """The points to find again."""

    points: npt.NDArray[np.float64]
    """``(1000, 3)``, in metres, their centre at the origin."""
    epsilon: float
    """Mean distance to the nearest neighbour, in metres: the range of the noise and the consistency threshold."""


@dataclass(frozen=True)
class Trial:
    """One graph of the benchmark."""

    outliers: int
    """Per cent."""
    number: int

    @property
    def key(self) -> str:
        """Name of the trial."""
        return f"{self.outliers} % {self.number}"


def load_model(path: Path | None, *, seed: int = 0) -> Model:
    """Take 1000 points of a point cloud file, or of a rabbit that the package generates."""
    random = np.random.default_rng(seed)
    if path is None:
        points = rabbit_surface(_POINTS, seed=seed)
    else:
        cloud = read_cloud(path).points
        if len(cloud) < _POINTS:
            raise OptionError(f"data: {path} has {len(cloud)} points; the benchmark takes {_POINTS}")
        points = cloud[np.sort(random.choice(len(cloud), size=_POINTS, replace=False))]
    with np.errstate(over="ignore"):
        size = np.ptp(points, axis=0).max()
    if not _SMALLEST < size < np.inf:
        raise OptionError(f"data: {path} spans {size} m; expected a model of some size")
    points = (points - points[0]) * min(1.0, _CUBE / size)
    return Model(points - points.mean(axis=0), _mean_gap(points))


def _mean_gap(points: npt.NDArray[np.float64]) -> float:
    squares = ((points[:, None] - points) ** 2).sum(axis=2)
    np.fill_diagonal(squares, np.inf)
    gap = float(np.sqrt(squares.min(axis=1)).mean())
    if not gap > 0.0:
        raise OptionError("data: every point of the model has another one in the same place")
    return gap


@dataclass(frozen=True, eq=False)
class Associations:
    """Matched points of the two clouds, in random order."""

    source: npt.NDArray[np.int64]
    """Points of the model, by number."""
    target: npt.NDArray[np.int64]
    """Points of the second cloud; an association is an inlier where both numbers are the same."""
    second: npt.NDArray[np.float64]
    """The second cloud: the model with noise, then clutter."""


def associate(model: Model, trial: Trial, *, seed: int = 0) -> Associations:
    """Make the second cloud of a trial and choose its associations from all that are possible."""
    random = np.random.default_rng([seed, trial.outliers, trial.number])
    return draw(model, _ASSOCIATIONS, round(_ASSOCIATIONS * trial.outliers / 100), random)


def draw(model: Model, associations: int, outliers: int, random: np.random.Generator) -> Associations:
    """Make a second cloud and choose associations, so many of them outliers, from all that are possible."""
    noise = random.uniform(-model.epsilon / 2.0, model.epsilon / 2.0, size=model.points.shape)
    clutter = random.normal(size=(_CLUTTER, 3))
    clutter *= (_BALL * np.cbrt(random.uniform(size=_CLUTTER)) / np.linalg.norm(clutter, axis=1))[:, None]
    second = np.concatenate((model.points + noise, clutter))

    right = random.choice(_POINTS, size=associations - outliers, replace=False)
    # Every point has one right partner and all others as wrong ones: those from the right one on move up by one.
    partners = len(second) - 1
    wrong_source, wrong_target = np.divmod(random.choice(_POINTS * partners, size=outliers, replace=False), partners)
    wrong_target += wrong_target >= wrong_source
    order = random.permutation(associations)
    source = np.concatenate((right, wrong_source))[order]
    target = np.concatenate((right, wrong_target))[order]
    return Associations(source, target, second)


def trial_graph(model: Model, trial: Trial, *, seed: int = 0) -> Graph:
    """Join the associations of a trial that agree within epsilon."""
    chosen = associate(model, trial, seed=seed)
    source, target = model.points[chosen.source], chosen.second[chosen.target]
    return consistency_graph(source, target, epsilon=model.epsilon)


def trials(*, quick: bool = False) -> list[Trial]:
    """Return all trials: 50 outlier ratios of 50 graphs each, or a few of both."""
    ratios, numbers = (range(0, 99, 14), 5) if quick else (range(0, 99, 2), 50)
    return [Trial(outliers, number) for outliers in ratios for number in range(numbers)]


def columns(methods: Iterable[str]) -> list[str]:
    """Return the headings of the CSV file."""
    return ["trial", "checksum", "outliers", "edges", "clique number", *method_columns(methods)]


def run(chosen: Iterable[Trial], model: Model, methods: list[str], store: Store, *, seed: int = 0) -> list[Row]:
    """Measure every method on every graph that the store does not have yet; return the rows of all of them."""
    checksum = f"{zlib.crc32(model.points.tobytes()):08x}"
    rows = []
    for trial in chosen:
        row = store.find(trial.key, checksum)
        if row is None:
            row = {"trial": trial.key, "checksum": checksum, "outliers": str(trial.outliers)}
            row |= _measure(trial_graph(model, trial, seed=seed), methods)
            store.add(row)
        rows.append(row)
    return rows


def _measure(graph: Graph, methods: list[str]) -> Row:
    truth = find_clique(graph, method="exact")
    row = {"edges": str(graph.num_edges), "clique number": str(truth.size)}
    return row | measure_all(graph, methods, omega=truth.size, repeats=_REPEATS)


@dataclass(frozen=True)
class Level:
    """Means over the graphs of an outlier ratio."""

    outliers: int
    """Per cent."""
    graphs: int
    ratio: dict[str, float]
    """Method → mean r."""
    ms: dict[str, float]
    """Method → mean time in milliseconds."""


def levels(rows: list[Row], methods: list[str]) -> list[Level]:
    """Return the means for every outlier ratio."""
    result = []
    for outliers in sorted({int(row["outliers"]) for row in rows}):
        members = [row for row in rows if int(row["outliers"]) == outliers]
        found = means(members, methods)
        ratios, times = ({method: found[method][what] for method in methods} for what in ("ratio", "ms"))
        result.append(Level(outliers, len(members), ratios, times))
    return result


def tables(rows: list[Row], methods: list[str]) -> list[Table]:
    """Return mean ratio and mean time against outliers."""
    headings = ["outliers", *(LABELS[method] for method in methods)]

    def body(values: list[tuple[int, dict[str, float]]], text: Callable[[float], str]) -> list[list[str]]:
        lines = [[f"{outliers} %", *(text(mean[method]) for method in methods)] for outliers, mean in values]
        over_all = [statistics.fmean(mean[method] for _, mean in values) for method in methods]
        return [*lines, ["mean", *map(text, over_all)]]

    found = levels(rows, methods)
    ratios, times = [(level.outliers, level.ratio) for level in found], [(level.outliers, level.ms) for level in found]
    return [
        Table("Mean ratio of the clique number", headings, body(ratios, "{:.4f}".format), everything=False),
        Table("Mean time in ms", headings, body(times, three_digits), everything=False),
    ]


def conclusions(rows: list[Row], methods: list[str]) -> list[str]:
    """Say in sentences what the tables show of the paper's conclusions."""
    found = levels(rows, methods)
    ratio_of = {method: statistics.fmean(level.ratio[method] for level in found) for method in methods}
    ms_of = {method: statistics.fmean(level.ms[method] for level in found) for method in methods}
    papers = sorted((method for method in methods if method in COMPARED), key=lambda method: -ratio_of[method])
    said = []
    if papers:
        named = ", ".join(f"{LABELS[method]} {ratio_of[method]:.4f}" for method in papers)
        said.append(f"Mean r of the paper's methods, highest first: {named}.")
    if "greedy" in methods:
        parts = []
        for low, high in ((0, 30), (32, 62), (64, 96), (98, 98)):
            values = [level.ratio["greedy"] for level in found if low <= level.outliers <= high]
            if values:
                parts.append(f"{statistics.fmean(values):.4f} at {low}{f' to {high}' if high > low else ''} %")
        said.append(f"Mean r of Greedy by outliers: {', '.join(parts)}.")
    if {"clipper+", "relaxation"} <= set(methods):
        slower = [str(level.outliers) for level in found if level.ms["clipper+"] >= level.ms["relaxation"]]
        where = f"slower at {', '.join(slower)} %, faster elsewhere" if slower else "faster at every outlier ratio"
        said.append(f"CLIPPER+ against Optim: {where}.")
    return said + proofs(rows, methods) + compare_times(ms_of, papers)
