"""Why pairs are missed: what became of the truth of the pairs that ``registration.py`` found to be registered wrongly.

The published motion is improved by ICP, as answers are, and compared with the answer. Some published motions are not
where the surfaces agree: ICP that begins there ends beyond what counts as right, and so does everything that ends with
it. Of the others, either the answer has the higher score, so that another motion was preferred, or nobody suggested the
right one.
"""

from __future__ import annotations

import csv
import functools
from collections import Counter
from pathlib import Path

import numpy as np
from common import argument_parser, in_processes, write_report
from registration import BENCHMARKS, GROUPS, PAIRS, VOXEL_SIZE, is_right, points, truths

import clipperplus as cp
from clipperplus.bench.tables import markdown_table
from clipperplus.registration.verification import compare, polish, refine

STEPS, POINTS = 10, 500
"""Steps of ICP, and points, before the last ones, which are those of an answer."""
NEAR = 30.0, 1.5
"""Degrees and metres: an answer that is so near the published motion ended at the same place as ICP from there."""
Row = dict[str, str]


def judge(row: Row, data: Path) -> str:
    """Return what became of the truth of a pair."""
    truth = truths(data, row["benchmark"], row["target"])[int(row["i"]), int(row["j"])]
    source, target = (
        cp.prepare(points(data, row[scene], int(row[number])), voxel_size=VOXEL_SIZE)
        for scene, number in (("source", "j"), ("target", "i"))
    )
    pose = cp.register(source, target)
    answer = pose.T_target_source
    if is_right(answer, truth):
        return "found this time"
    began = refine(source, target, truth[None], STEPS, POINTS, 1)[0]
    ended = polish(source, target, began, threads=1)
    if not is_right(ended, truth):
        near = answer is not None and (
            cp.rotation_error(answer, truth) < NEAR[0] and cp.translation_error(answer, truth) < NEAR[1]
        )
        return "moved away by ICP, as the answer" if near else "moved away by ICP"
    if answer is None:
        return "not suggested"
    nothing = np.empty((0, 3)), np.empty((0, 3))
    fits = compare(source, target, nothing, np.array([answer, ended]), free_space=True, threads=1).fit
    return "another fits better" if fits[0] >= fits[1] else "not suggested"


def main() -> None:
    """Judge all pairs that were missed, and write the report."""
    parser = argument_parser(__doc__ or "")
    parser.add_argument("--processes", type=int, default=2)
    options, _ = parser.parse_known_args()
    with PAIRS.open() as file:
        rows = [row for row in csv.DictReader(file) if row["benchmark"] in BENCHMARKS]
    missed = [row for row in rows if row["right"] == "0"]
    verdicts = in_processes(functools.partial(judge, data=options.data), missed, options.processes)
    names = sorted(set(verdicts))
    lines = []
    for benchmark in BENCHMARKS:
        for group in GROUPS:
            mine = [row for row in rows if (row["benchmark"], row["group"]) == (benchmark, group)]
            found = Counter(
                verdict
                for row, verdict in zip(missed, verdicts, strict=True)
                if (row["benchmark"], row["group"]) == (benchmark, group)
            )
            beyond = sum(count for name, count in found.items() if name.startswith("moved away"))
            reach = f"{1.0 - beyond / len(mine):.3f}"
            lines.append((benchmark, group, len(mine), sum(found.values()), *(found[name] for name in names), reach))
    titles = ("", "scenes", "pairs", "missed", *names, "recall within reach")
    body = f"""Pairs as they are. "Moved away by ICP": begun at the published motion, it ends more than 15° or 30 cm
from there; "as the answer": where the answer is, too. "Within reach" is the recall if all others were found.

{markdown_table(titles, lines)}"""
    write_report("missed", "Why pairs are missed", "python benchmarks/missed.py --data DIR", body)


if __name__ == "__main__":
    main()
