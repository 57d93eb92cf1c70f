"""Maps of many scans: multiview recall on the scenes of 3DMatch, poses of sequences, and where a scan is in a map.

Scans come in shuffled order, and nothing is told but their points. ``moved`` means that each scan was moved by a random
rigid motion of its own, so that its sensor is not at the origin.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from ..errors import OptionError
from .map_places import of_places
from .map_runs import Problem
from .map_scenes import FOLDER, MOVED, OPEN3D, of_folder, of_memory, of_open3d, of_scene, over_all, scenes_of
from .map_sequences import of_sequence
from .measuring import Row
from .store import Store
from .tables import Table

__all__ = ["COLUMNS", "Problem", "problems", "run", "tables"]

COLUMNS = (
    "problem", "checksum", "scans", "placed", "components", "recall", "recall_low", "wrong", "located", "strangers",
    "worst_shift", "worst_turn", "loop_shift", "given_loop_shift", "seconds", "median_seconds", "pairs", "pairs_low",
    "memory", "worst_points", "most_possible", "alike", "suggested", "registered", "gap", "given_gap", "better",
)  # fmt: skip
BENCHMARKS = "3DMatch", "3DLoMatch"
PUBLISHED = {"SGHR (learned, CVPR 2023), 8 scenes": ("0.96", "0.82")}
"""Multiview recall, about."""


def problems(data: Path, *, wanted: Sequence[str] | None = None, open3d: bool = True) -> list[Problem]:
    """Return what can be measured with the data of a folder; ``wanted`` are parts of names, None: all of it."""
    folders = [data, data / "scans" / "3dmatch", data / "scans" / "3dmatch_more"]
    kinds = {benchmark: scenes_of(folders, benchmark) for benchmark in BENCHMARKS}
    scenes = [(kinds[BENCHMARKS[0]][name], kinds[BENCHMARKS[1]].get(name)) for name in kinds[BENCHMARKS[0]]]
    sequences = sorted((data / "sequences").glob("*.npz"))
    found = [of_scene(*scene, moved=moved) for moved in (False, True) for scene in scenes]
    found += [of_folder(scenes)] if len(scenes) > 1 else []
    found += [of_sequence(path) for path in sequences]
    found += [of_places(scene, [other for other, _ in scenes if other is not scene]) for scene, _ in scenes[:1]]
    found += [
        of_places(path, [other for other in sequences if other is not path])
        for path in sequences
        if path.stem == "courtyard_lidar"
    ]
    found += [of_memory(scene, denser=denser) for scene, _ in scenes[:1] for denser in (1, 8)]
    found += [of_open3d(*scene) for scene in scenes] if open3d else []
    chosen = [one for one in found if wanted is None or any(part in one.name for part in wanted)]
    if not chosen:
        raise OptionError(f"data: nothing to be measured in {data}; expected scenes of 3DMatch, or sequences")
    return chosen


def run(found: Iterable[Problem], store: Store, *, threads: int) -> list[Row]:
    """Measure what was not measured before."""
    for problem in found:
        if store.find(problem.name, problem.checksum) is None:
            row = dict.fromkeys(COLUMNS, "")
            row |= {key: str(value) for key, value in problem.measure(threads).items()}
            store.add(row | {"problem": problem.name, "checksum": problem.checksum})
    return store.rows


def tables(rows: Sequence[Row]) -> list[Table]:
    """Return what was measured."""
    published = [[name, "", "", "", *recalls, "", ""] for name, recalls in PUBLISHED.items()]
    scenes = [row for row in rows if row["recall"]]
    kinds = [FOLDER, f", {MOVED}", f", {OPEN3D}"]
    groups = [[row for row in scenes if row["problem"].endswith(kind)] for kind in kinds]
    alone = [row for row in scenes if not any(row in group for group in groups)]
    named = [("all, each alone", alone), (f"all, {MOVED}", groups[1])]
    together = [dict.fromkeys(COLUMNS, "") | {"problem": name} | over_all(some) for name, some in named if some]
    maps = [
        [r["problem"], r["scans"], r["placed"], r["components"], r["recall"], r["recall_low"], r["wrong"], r["seconds"]]
        for r in [*scenes, *together]
    ]
    sequences = [
        [r["problem"], r["scans"], r["placed"], r["components"], r["located"], r["wrong"], r["worst_shift"],
         r["worst_turn"], r["worst_points"], r["loop_shift"], r["given_loop_shift"], r["gap"], r["given_gap"],
         r["better"], r["seconds"]]
        for r in rows
        if r["worst_shift"]
    ]  # fmt: skip
    memory = [[r["problem"], r["scans"], r["memory"], r["seconds"]] for r in rows if r["memory"]]
    places = [
        [r["problem"], r["scans"], r["located"], r["strangers"], r["median_seconds"]]
        for r in rows
        if r["median_seconds"]
    ]
    candidates = [
        [r["problem"], r["scans"], r["registered"], r["most_possible"], r["alike"], r["suggested"]]
        for r in rows
        if r["suggested"]
    ]
    shares = ["registered", "at a quarter: possible", "most alike", "with what the map suggests"]
    head = ["scans", "placed", "components"]
    return [
        Table("Scenes", ["scene", *head, *BENCHMARKS, "in a wrong one", "seconds"], [*maps, *published]),
        Table(
            "Sequences",
            [
                "sequence",
                *head,
                "within the limits",
                "wrong with confidence",
                "worst m",
                "worst degrees",
                "its points m",
                "loops agree to m",
                "as given",
                "surfaces apart mm",
                "as given",
                "pairs that fit better",
                "seconds",
            ],
            sequences,
        ),
        Table("Where in a map", ["map", "scans", "right", "strangers that are OK", "seconds, median"], places),
        Table("Candidates", ["scene", "scans", *shares], candidates),
        Table("Memory", ["map", "scans", "peak, times the clouds", "seconds"], memory),
    ]
