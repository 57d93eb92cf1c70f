"""How flat the constants are by which maps are put together: each is made smaller and larger while the others stay.

Measured on the scenes of 3DMatch: each alone, each with every scan moved by a random motion of its own, and all in one
folder. Pairs are registered once and kept in a folder of their own, from where an interrupted run goes on. Takes about
an hour.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from common import argument_parser, write_report
from constants import Constant, changed, sweep

from clipperplus.bench.map_scenes import of_folder, of_scene, over_all, scenes_of
from clipperplus.bench.tables import markdown_table

AS_IT_IS = "as it is"
TITLES = ("", "value", "alone", "alone, low overlap", "moved", "moved, low overlap", "folder", "maps", "in a wrong one")
CONSTANTS = (
    Constant("mapping.survey", "_LIKELY", "log-odds below which a union is undone", limits=(-2.0, 1.0, 4.0)),
    Constant("mapping.survey", "_LIKELY_ALONE", "the same of a single scan", limits=(0.7, 1.0, 1.3)),
    Constant("mapping.survey", "_SUGGESTED_ENOUGH", "suggested so much, it is no such scan", limits=(0.5, 1.0, 2.0)),
    Constant("mapping.survey", "_STAYS_ALONE", "log-odds below which it is taken out", limits=(0.5, 1.0, 1.5)),
    Constant("mapping.beliefs", "_ESTABLISHED", "scans of a place that stands for itself", limits=(0.6, 1.0, 2.0)),
    Constant("mapping.beliefs", "_AGREEMENT", "log-odds of one more suggestion", limits=(0.75, 1.0, 1.25)),
    Constant("mapping.grow", "_SEEN_WEIGHT", "weight of what a pair shows", limits=(0.75, 1.0, 1.25)),
    Constant("mapping.relations", "_STEADY", "voxels that ICP may move a scan"),
    Constant("mapping.candidates", "_MOST_TRIED", "pairs of large places, until they are given up"),
    Constant("mapping.workbench", "_SAME", "voxels that leave what is seen as it was"),
)


def main() -> None:
    """Measure, and write the report."""
    parser = argument_parser(__doc__ or "")
    parser.add_argument("--store", type=Path, required=True, help="folder for registrations of pairs")
    parser.add_argument("--threads", type=int, default=2)
    options, _ = parser.parse_known_args()
    options.store.mkdir(parents=True, exist_ok=True)
    folders = [options.data / "scans" / name for name in ("3dmatch", "3dmatch_more")]
    low = scenes_of(folders, "3DLoMatch")
    scenes = [(scene, low.get(name)) for name, scene in scenes_of(folders, "3DMatch").items()]

    def measured(moved: bool) -> dict[str, str]:
        kind = "moved" if moved else "alone"
        problems = [
            of_scene(*both, moved=moved, store=options.store / f"{both[0].name}.{kind}.sqlite") for both in scenes
        ]
        rows = [problem.measure(options.threads) for problem in problems]
        return over_all([{name: str(value) for name, value in row.items()} for row in rows])

    known_file = options.store / "constants.json"
    known: dict[str, list[str]] = json.loads(known_file.read_text()) if known_file.exists() else {}

    def of_value(constant: Constant, factor: float) -> tuple[str, ...]:
        name = AS_IT_IS if factor == 1.0 else f"{constant.name} {constant.times(factor)}"
        if name not in known:
            known[name] = list(cells(constant, factor))
            known_file.write_text(json.dumps(known))
        return tuple(known[name])

    def cells(constant: Constant, factor: float) -> tuple[str, ...]:
        with changed(constant, factor):
            alone, moved = measured(False), measured(True)
            folder: Mapping[str, object] = of_folder(scenes, store=options.store / "folder.sqlite").measure(
                options.threads
            )
        recalls = (f"{float(row[name]):.3f}" for row in (alone, moved) for name in ("recall", "recall_low"))
        found = tuple(recalls), f"{float(str(folder['recall'])):.3f} / {float(str(folder['recall_low'])):.3f}"
        result = (*found[0], found[1], str(folder["components"]), str(folder["wrong"]))
        print(constant.name, constant.times(factor), *result, flush=True)
        return result

    table = markdown_table(TITLES, sweep(CONSTANTS, of_value))
    body = f"""The middle value of each is that which is used. Recalls are those of 3DMatch and 3DLoMatch.

{table}"""
    command = "python benchmarks/map_constants.py --data DIR --store DIR"
    write_report("map_constants", "Constants of the maps", command, body)


if __name__ == "__main__":
    main()
