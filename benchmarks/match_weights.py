"""Whether registration gains from weights: the heaviest clique, where matches weigh by how alike their features are.

The clique of matches is replaced by the heaviest one for a while; everything else stays as it is. Nothing of this is in
the package: the table says why.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
from common import argument_parser, in_processes, write_report
from registration import BENCHMARKS, VOXEL_SIZE, Job, is_right, points, true_jobs, truths

import clipperplus as cp
from clipperplus.bench.tables import markdown_table
from clipperplus.registration import looks

POWERS = (0.0, 0.5, 1.0, 2.0)
"""Of how alike features are, relative to the median: what a match weighs. 0: all alike, as the package has it."""
GROUP = "two more scenes"
"""Nothing was tuned on them."""


class Outcome(NamedTuple):
    """What came of a pair."""

    right: bool
    trusted: bool
    degrees: float
    seconds: float


@contextmanager
def weighted_by_features(power: float) -> Iterator[None]:
    """Weigh matches by how alike their features are."""
    if power == 0.0:
        yield
        return
    of_matches = looks.look_at_matches
    weights: list[Any] = [None]

    def look(source: Any, target: Any, associations: Any, *others: Any, **options: Any) -> Any:
        gaps = np.linalg.norm(
            source.features[associations[:, 0]].astype(float) - target.features[associations[:, 1]], axis=1
        )
        usual = float(np.median(gaps)) if len(gaps) else 1.0
        weights[0] = (1.0 + gaps / (usual or 1.0)) ** -power
        return of_matches(source, target, associations, *others, **options)

    def find(graph: cp.Graph, **options: Any) -> cp.CliqueResult:
        return cp.find_clique(graph, vertex_weights=weights[0], **options)

    with mock.patch.object(looks, "look_at_matches", look), mock.patch.object(looks, "find_clique", find):
        yield


def measure(job: Job, data: Path, power: float) -> Outcome:
    """Register a pair."""
    truth = truths(data, job.benchmark, job.target)[job.i, job.j]
    clouds = points(data, job.source, job.j), points(data, job.target, job.i)
    with weighted_by_features(power):
        start = time.process_time()
        pose = cp.register(*clouds, voxel_size=VOXEL_SIZE)
        seconds = time.process_time() - start
    right = is_right(pose.T_target_source, truth)
    error = cp.rotation_error(pose.T_target_source, truth) if right and pose.T_target_source is not None else np.nan
    return Outcome(right, pose.status is cp.Status.OK, float(error), seconds)


def main() -> None:
    """Measure recall, trust, accuracy and time for each power, and write the report."""
    parser = argument_parser(__doc__ or "")
    parser.add_argument("--processes", type=int, default=2)
    options, _ = parser.parse_known_args()
    jobs = [job for job in true_jobs(options.data) if job.group == GROUP]
    rows = []
    for power in POWERS:
        work: Callable[[Job], Outcome] = functools.partial(measure, data=options.data, power=power)
        found = in_processes(work, jobs, options.processes)
        for benchmark in BENCHMARKS:
            mine = [outcome for job, outcome in zip(jobs, found, strict=True) if job.benchmark == benchmark]
            right, trusted, degrees, seconds = (np.array(column) for column in zip(*mine, strict=True))
            rows.append(
                [benchmark, f"{power:g}", len(mine), f"{right.mean():.3f}", f"{(trusted & right).mean():.3f}",
                 int((trusted & ~right).sum()), f"{np.nanmedian(degrees):.2f}", f"{1e3 * np.median(seconds):.0f}"]
            )  # fmt: skip
    titles = ["", "power", "pairs", "right", "right and OK", "wrong and OK", "degrees off, median", "ms, median"]
    body = f"""All pairs of {GROUP}. A match weighs as much as its features are alike, to a power; 0 is without weights.

{markdown_table(titles, sorted(rows, key=lambda row: str(row[0])))}"""
    write_report("match_weights", "Weights of matches", "python benchmarks/match_weights.py --data DIR", body)


if __name__ == "__main__":
    main()
