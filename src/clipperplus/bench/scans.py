"""Table II of the paper: pairs of real scans, with the published numbers beside ours, and how many are registered.

Scans are reduced to means of voxels of 5 cm, described by FPFH and matched where each is the nearest of the other; two
associations are consistent where their distances differ by less than the voxel size, which is epsilon. An association
is an outlier where the truth takes its point farther than epsilon from the match. As in the paper, ratios and times are
means over the pairs that the maximum clique registers: within 5° and 2 epsilon, the bounds of the program that its
authors published with it. Recall is over all pairs, by a named protocol: that of the maximum clique with Arun's fit,
and that of :func:`clipperplus.register`.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..clique import find_clique
from ..clouds.matching import match_features
from ..clouds.prepared import PreparedCloud, prepare
from ..consistency import consistency_graph
from ..errors import OptionError
from ..evaluation import Protocol, evaluate_pairs
from ..geometry.motions import fit_transform
from ..geometry.transforms import apply_transform
from ..registration import register
from .fragments import FragmentPair, Scene
from .measuring import COMPARED, LABELS, Row, compare_times, means, measure_all, method_columns, proofs
from .published import TimesAndRatios, published_cells, times_and_ratios
from .store import Store
from .tables import Table, three_digits

__all__ = [
    "PAPER",
    "VOXEL_SIZE",
    "Published",
    "SceneResult",
    "columns",
    "conclusions",
    "pairs",
    "papers_of",
    "results",
    "run",
    "tables",
    "without_rmse",
]


@dataclass(frozen=True)
class Published:
    """A line of the paper's Table II."""

    name: str
    pairs: int
    outliers: float
    """Per cent."""
    vertices: int
    sparsity: float
    methods: TimesAndRatios


def _line(name: str, pairs: int, outliers: float, vertices: int, sparsity: float, *values: float) -> Published:
    return Published(name, pairs, outliers, vertices, sparsity, times_and_ratios(values))


_KITCHEN = (118.5, 0.96, 28.3, 0.9, 73.7, 0.99, 62.7, 0.97, 10.1, 0.89, 119.9, 0.99, 53.1, 0.99)
_HOME = (133.1, 0.97, 17.5, 0.87, 64.0, 0.98, 58.2, 0.98, 10.3, 0.89, 76.0, 0.99, 46.4, 0.99)
_HOTEL = (215.3, 0.96, 28.9, 0.89, 116.5, 0.99, 109.3, 0.98, 12.3, 0.89, 159.4, 0.99, 56.1, 0.99)
_STUDY = (192.9, 0.97, 32.2, 0.87, 120.6, 0.99, 102.8, 0.97, 14.0, 0.88, 180.8, 0.99, 83.9, 0.99)
_GAZEBO = (4255.2, 0.95, 1275.6, 0.8, 8467.8, 0.98, 7978.5, 0.97, 351.5, 0.81, 7595.7, 0.99, 3769.0, 0.99)
_WOOD = (4866.2, 0.94, 2990.9, 0.89, 14464.0, 0.98, 12774.0, 0.97, 564.5, 0.75, 14758.0, 0.99, 14594.0, 0.99)
PAPER = {
    "7-scenes-redkitchen": _line("redkitchen", 244, 92.8, 680, 0.88, *_KITCHEN),
    "sun3d-home_at-home_at_scan1_2013_jan_1": _line("home_at_scan1", 81, 88.0, 670, 0.83, *_HOME),
    "sun3d-hotel_uc-scan3": _line("hotel_uc_scan3", 117, 93.5, 843, 0.89, *_HOTEL),
    "sun3d-mit_76_studyroom-76-1studyroom2": _line("mit_76_1studyroom2", 96, 94.2, 936, 0.9, *_STUDY),
    "gazebo_summer": _line("gazebo_summer", 116, 98.3, 4320, 0.97, *_GAZEBO),
    "wood_autumn": _line("wood_autumn", 87, 99.4, 5703, 0.98, *_WOOD),
}
"""Scene → its line. The paper takes voxels of 10 cm for the last two."""

VOXEL_SIZE = 0.05
"""Metres."""
_MAX_ROTATION, _MAX_TRANSLATION = 5.0, 2.0
"""Degrees and epsilons within which the paper counts a pair."""
_SECONDS_FOR_PROOF = 60.0
_REPEATS, _QUICK_PAIRS = 3, 5
_PLAIN, _PRODUCT = "clique and fit", "register"


def pairs(scenes: Iterable[Scene], *, protocol: Protocol, quick: bool = False) -> list[FragmentPair]:
    """Return all pairs of some scenes; ``quick`` takes a few of each, evenly spread."""
    found = []
    for scene in scenes:
        members = scene.pairs()
        if quick and len(members) > _QUICK_PAIRS:
            members = [members[k] for k in np.linspace(0, len(members) - 1, _QUICK_PAIRS, dtype=np.int64)]
        if protocol.max_rmse is not None and any(pair.information is None for pair in members):
            raise OptionError(f"protocol: {protocol.name} needs the gt.info of all pairs beside {scene.log}")
        found += members
    return found


def columns(methods: Iterable[str]) -> list[str]:
    """Return the headings of the CSV file."""
    head = ["pair", "checksum", "scene", "i", "j", "vertices", "edges", "sparsity", "outliers"]
    head += ["clique number", "clique number is", *method_columns(methods), "counted"]
    ways = [f"{way} {what}" for way in (_PLAIN, _PRODUCT) for what in ("rotation °", "translation m", "registered")]
    return [*head, *ways, f"{_PRODUCT} status", f"{_PRODUCT} ms"]


def run(
    chosen: Iterable[FragmentPair],
    methods: list[str],
    store: Store,
    *,
    protocol: Protocol,
    voxel_size: float = VOXEL_SIZE,
) -> list[Row]:
    """Measure every method on every pair that the store does not have yet; return the rows of all of them."""
    clouds = _Clouds(voxel_size)
    rows = []
    for pair in chosen:
        checksum = pair.checksum
        row = store.find(pair.key, checksum)
        if row is None:
            row = {"pair": pair.key, "checksum": checksum}
            row |= {"scene": pair.scene.name, "i": str(pair.i), "j": str(pair.j)}
            row |= _measure(pair, clouds, methods, protocol)
            store.add(row)
        rows.append(row)
    return rows


class _Clouds:
    """Fragments that are ready to be matched; those of one scene at a time, because each is in many pairs."""

    def __init__(self, voxel_size: float) -> None:
        self.voxel_size = voxel_size
        self._scene: Scene | None = None
        self._kept: dict[int, PreparedCloud] = {}

    def get(self, scene: Scene, number: int) -> PreparedCloud:
        if scene is not self._scene:
            self._scene, self._kept = scene, {}
        if number not in self._kept:
            self._kept[number] = prepare(scene.points(number), voxel_size=self.voxel_size)
        return self._kept[number]


def _measure(pair: FragmentPair, clouds: _Clouds, methods: list[str], protocol: Protocol) -> Row:
    epsilon = clouds.voxel_size
    source, target = clouds.get(pair.scene, pair.j), clouds.get(pair.scene, pair.i)
    associations = match_features(source.features, target.features)
    here, there = source.points[associations[:, 0]], target.points[associations[:, 1]]
    graph = consistency_graph(here, there, epsilon=epsilon)
    misses = np.linalg.norm(apply_transform(pair.T_i_j, here) - there, axis=1)
    row = {"vertices": str(graph.num_vertices), "edges": str(graph.num_edges)}
    row |= {"sparsity": f"{1.0 - graph.density:.4f}", "outliers": str(np.count_nonzero(misses > epsilon))}

    truth = find_clique(graph, method="exact", time_limit=_SECONDS_FOR_PROOF)
    row |= measure_all(graph, methods, omega=truth.size if truth.optimal else None, repeats=_REPEATS)
    sizes = [int(row[f"{method} size"]) for method in methods]
    row["clique number"] = str(max(truth.size, *sizes))
    row["clique number is"] = "proven" if truth.optimal else "largest found"

    plain = fit_transform(here[truth.vertices], there[truth.vertices]) if truth.size >= 3 else None
    papers = Protocol("as in the paper", max_rotation_deg=_MAX_ROTATION, max_translation=_MAX_TRANSLATION * epsilon)
    row["counted"] = _judge(pair, plain, papers)["registered"]
    start = time.perf_counter()
    pose = register(source, target)
    seconds = time.perf_counter() - start
    for way, motion in ((_PLAIN, plain), (_PRODUCT, pose.T_target_source)):
        row |= {f"{way} {what}": cell for what, cell in _judge(pair, motion, protocol).items()}
    return row | {f"{_PRODUCT} status": pose.status.value, f"{_PRODUCT} ms": f"{1e3 * seconds:.4f}"}


def _judge(pair: FragmentPair, motion: npt.NDArray[np.float64] | None, protocol: Protocol) -> Row:
    information = None if pair.information is None else [pair.information]
    found = evaluate_pairs([motion], [pair.T_i_j], protocol=protocol, information=information)
    rotation, translation = found.rotation_error[0], found.translation_error[0]
    registered = "yes" if found.success[0] else "no"
    return {"rotation °": f"{rotation:.4f}", "translation m": f"{translation:.5f}", "registered": registered}


@dataclass(frozen=True)
class SceneResult:
    """What came of the pairs of a scene."""

    scene: str
    pairs: int
    counted: int
    """Pairs that the maximum clique registers; the means are over these."""
    outliers: float
    """Mean per cent."""
    vertices: float
    sparsity: float
    methods: TimesAndRatios
    """Without any where no pair counts."""
    registered: dict[str, int]
    """How → pairs that are registered by the protocol."""

    @property
    def name(self) -> str:
        """The paper's name of the scene, or what it is called within its data set."""
        return _short(self.scene)


def results(rows: list[Row], methods: list[str]) -> list[SceneResult]:
    """Return the means over the counted pairs of every scene."""
    found = []
    for scene, members in _by_scene(rows).items():
        counted = [row for row in members if row["counted"] == "yes"]
        outliers = _mean(100.0 * int(row["outliers"]) / max(1, int(row["vertices"])) for row in counted)
        vertices = _mean(float(row["vertices"]) for row in counted)
        sparsity = _mean(float(row["sparsity"]) for row in counted)
        of_method = means(counted, methods) if counted else {}
        registered = {way: sum(row[f"{way} registered"] == "yes" for row in members) for way in (_PLAIN, _PRODUCT)}
        numbers = len(members), len(counted), outliers, vertices, sparsity
        found.append(SceneResult(scene, *numbers, of_method, registered))
    return found


def _by_scene(rows: list[Row]) -> dict[str, list[Row]]:
    return {scene: [row for row in rows if row["scene"] == scene] for scene in dict.fromkeys(r["scene"] for r in rows)}


def _short(scene: str) -> str:
    return PAPER[scene].name if scene in PAPER else scene.removeprefix("sun3d-").removeprefix("7-scenes-")


def _mean(values: Iterable[float]) -> float:
    return statistics.fmean([*values] or [0.0])


def papers_of(benchmark: str) -> dict[str, Published]:
    """Return what the paper has of a benchmark; its pairs are those of 3DMatch."""
    return PAPER if benchmark == "3DMatch" else {}


def tables(
    rows: list[Row], methods: list[str], protocol: Protocol, of_scene: Mapping[str, Published] = PAPER
) -> list[Table]:
    """Return the paper's Table II, graphs, ratios and times apart, with what the paper has, and recalls."""
    apart = [row for row in rows if abs(int(row["j"]) - int(row["i"])) > 1]
    found = results(rows, methods)
    papers = [of_scene.get(result.scene) for result in found]

    graphs = [
        [r.name, str(r.pairs), str(r.counted), f"{r.outliers:.1f} %", f"{r.vertices:.0f}", f"{r.sparsity:.2f}"]
        for r in found
    ]
    theirs = [
        ["", "", str(p.pairs), f"{p.outliers:g} %", str(p.vertices), f"{p.sparsity:g}"] if p else None for p in papers
    ]
    headings = ["scene", "pairs", "counted", "outliers", "n", "sparsity"]

    def make(title: str, what: str, text: Callable[[float], str]) -> Table:
        counted = [(result, paper) for result, paper in zip(found, papers, strict=True) if result.counted]
        lines = [[r.name, *(text(r.methods[method][what]) for method in methods)] for r, _ in counted]
        published = [["", *published_cells(p.methods, methods, what)] if p else None for _, p in counted]
        return Table(title, ["scene", *(LABELS[method] for method in methods)], lines, published)

    return [
        Table("Graphs of the counted pairs", headings, graphs, theirs),
        make("Mean ratio of the clique number", "ratio", "{:.3f}".format),
        make("Mean time in ms", "ms", three_digits),
        _recalls(f"Registration recall by {protocol.name}", rows),
        _recalls(f"Registration recall by {protocol.name}, without consecutive fragments", apart),
    ]


def _recalls(title: str, rows: list[Row]) -> Table:
    lines = []
    groups = _by_scene(rows)
    for scene, members in {**groups, "all pairs": rows}.items() if len(groups) > 1 else groups.items():
        shares = [_mean(float(row[f"{way} registered"] == "yes") for row in members) for way in (_PLAIN, _PRODUCT)]
        ms = statistics.fmean(float(row[f"{_PRODUCT} ms"]) for row in members)
        lines.append([_short(scene), str(len(members)), *(f"{share:.3f}" for share in shares), three_digits(ms)])
    return Table(title, ["scene", "pairs", _PLAIN, _PRODUCT, f"ms of {_PRODUCT}"], lines)


def without_rmse(chosen: Iterable[FragmentPair], protocol: Protocol) -> list[str]:
    """Return the pairs that a protocol can't judge by RMSE, because their information is zero."""
    if protocol.max_rmse is None:
        return []
    return [pair.key for pair in chosen if pair.information is not None and not pair.information.any()]


def conclusions(rows: list[Row], methods: list[str], judged_otherwise: Sequence[str] = ()) -> list[str]:
    """Say in sentences what the tables show; some pairs were judged by rotation and translation instead of RMSE."""
    said = proofs(rows, methods)
    if judged_otherwise:
        pairs = ", ".join(judged_otherwise)
        said.append(f"Judged by rotation and translation, because their information is zero: {pairs}.")
    unproven = [row["pair"] for row in rows if row["clique number is"] != "proven"]
    if unproven:
        said.append(f"The clique number is only the largest found for {', '.join(unproven)}.")
    counted = [row for row in rows if row["counted"] == "yes"]
    if counted:
        ms = {method: cells["ms"] for method, cells in means(counted, methods).items()}
        said += compare_times(ms, [method for method in methods if method in COMPARED])
    sure = [row for row in rows if row[f"{_PRODUCT} status"] == "ok"]
    right = sum(row[f"{_PRODUCT} registered"] == "yes" for row in sure)
    said.append(
        f"`{_PRODUCT}` is sure (status ok) of {len(sure)} of {len(rows)} pairs; {right} of them are registered."
    )
    return said
