"""Loop closures of pose graphs, some of them wrong: which are kept, and where the robot is with those.

Ours beside GTSAM's graduated non-convexity, and beside believing everything. Each is optimised by GTSAM afterwards.
"""

from __future__ import annotations

import os

# Before numpy is imported: one thread each.
os.environ.update({"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"})

import math
import multiprocessing
import resource
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from common import argument_parser, write_report
from pose_graph_data import DRAWN, REAL, RIGHT_METRES, RIGHT_RADIANS, ROW, Problem, injected_problem, real_problem
from pose_graph_gtsam import chosen_by_gnc, factors_of, optimised, poses_of

import clipperplus as cp
from clipperplus.bench.tables import markdown_table

PUBLISHED = ("intel", "manhattan3500", "parking-garage", "sphere2500", "torus3D")
SHARES = (0.1, 0.3, 0.5)
LIMIT = 600
"""Seconds of a processor for a method."""
WIDEST = 5.0
"""Bound at which covariances are taken as they are."""
Choice = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Outcome:
    """What a method keeps, and how long it takes for that."""

    kept: Choice
    seconds: float
    bound: float | None = None


def edges_of(problem: Problem, kept: Choice) -> tuple[npt.NDArray[np.int64], Any, Any]:
    """Return the odometry and the loop closures that are kept: edges, measurements, covariances."""
    numbers = np.arange(len(problem.steps))
    return (
        np.concatenate((np.column_stack((numbers, numbers + 1)), problem.loops[kept])),
        np.concatenate((problem.steps, problem.measurements[kept])),
        np.concatenate((np.asarray(problem.odometry.covariances)[1:], problem.covariances[kept])),
    )


def by_gnc(problem: Problem, candidates: Choice, scale: float) -> Choice:
    """Return which candidates GNC keeps, odometry trusted; with covariances by a factor."""
    edges, measurements, covariances = edges_of(problem, candidates)
    start = np.asarray(problem.odometry.poses)
    factors, values = factors_of(problem.dimension, start, edges, measurements, scale * covariances)
    kept = np.zeros(len(problem.loops), dtype=np.bool_)
    kept[np.flatnonzero(candidates)] = chosen_by_gnc(factors, values, len(problem.steps) + 1)
    return kept


def everything(problem: Problem) -> Outcome:
    return Outcome(np.ones(len(problem.loops), dtype=np.bool_), 0.0)


def right_ones(problem: Problem) -> Outcome:
    return Outcome(problem.right, 0.0)


def gnc(problem: Problem) -> Outcome:
    start = time.process_time()
    kept = by_gnc(problem, np.ones(len(problem.loops), dtype=np.bool_), 1.0)
    return Outcome(kept, time.process_time() - start)


def ours(problem: Problem, deviations: float | None = None) -> Outcome:
    start = time.process_time()
    found = cp.consistent_loop_closures(
        problem.odometry,
        problem.odometry,
        problem.loops,
        problem.measurements,
        covariances=problem.covariances,
        deviations=deviations,
    )
    seconds = time.process_time() - start
    if not found.optimal or not cp.is_clique(found.graph, found.inliers):
        sys.exit(f"{problem.name}: the largest set was not found, or not proven")
    return Outcome(np.isin(np.arange(len(problem.loops)), found.inliers), seconds, found.deviations)


def ours_as_stated(problem: Problem) -> Outcome:
    return ours(problem, 4.1)


def ours_then_gnc(problem: Problem) -> Outcome:
    first = ours(problem)
    start = time.process_time()
    kept = by_gnc(problem, first.kept, ((first.bound or WIDEST) / WIDEST) ** 2)
    return Outcome(kept, first.seconds + time.process_time() - start, first.bound)


METHODS: dict[str, Callable[[Problem], Outcome]] = {
    "all of them": everything,
    "GNC": gnc,
    "ours, bound 4.1": ours_as_stated,
    "ours, bound found": ours,
    "ours, bound found, then GNC": ours_then_gnc,
    "the right ones": right_ones,
}


def error(problem: Problem, poses: npt.NDArray[np.float64]) -> float:
    """Return the distance from the truth, root mean square over all poses, after a rigid fit."""
    here, there = poses[:, :3, 3], problem.truth[:, :3, 3]
    moved = cp.apply_transform(cp.fit_transform(here, there), here)
    return math.sqrt(((moved - there) ** 2).sum(axis=1).mean())


def measure(problem: Problem, method: str) -> tuple[Outcome, float, float]:
    """Return what a method keeps, the seconds to optimise with that, and the error."""
    outcome = METHODS[method](problem)
    edges, measurements, covariances = edges_of(problem, outcome.kept)
    start = time.process_time()
    factors, values = factors_of(
        problem.dimension, np.asarray(problem.odometry.poses), edges, measurements, covariances
    )
    poses = poses_of(optimised(factors, values), problem.dimension)
    return outcome, time.process_time() - start, error(problem, poses)


def row_of(problem: Problem, method: str) -> tuple[str, ...]:
    """Measure in a process of its own, which the system ends: GTSAM knows no time limit."""
    receiver, sender = multiprocessing.Pipe(duplex=False)

    def work() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT))
        sender.send(measure(problem, method))

    process = multiprocessing.get_context("fork").Process(target=work)
    process.start()
    sender.close()
    try:
        outcome, seconds, metres = receiver.recv()
    except EOFError:
        process.join()
        if process.exitcode not in (-signal.SIGXCPU, -signal.SIGKILL):
            sys.exit(f"{problem.name}: {method} failed")
        return (method, "", "", "", f"> {LIMIT}", "", "")
    process.join()
    right, wrong = (int(outcome.kept[which].sum()) for which in (problem.right, ~problem.right))
    bound = "" if outcome.bound is None else f"{outcome.bound:.2g}"
    return (method, str(right), str(wrong), bound, f"{outcome.seconds:.1f}", f"{seconds:.1f}", f"{metres:.2f}")


COLUMNS = ("loop closures", "right", "wrong", "bound", "s to choose", "s to optimise", "error in m")


def section(title: str, problem: Problem) -> str:
    """Return the table of one problem."""
    odometry = error(problem, np.asarray(problem.odometry.poses))
    rows: list[tuple[str, ...]] = [("none", "0", "0", "", "", "", f"{odometry:.2f}")]
    for method in METHODS:
        rows.append(row_of(problem, method))
        print(title, *rows[-1], sep=" | ", file=sys.stderr)
    right = int(problem.right.sum())
    about = (
        f"{len(problem.truth)} poses; {len(problem.loops)} loop closures, {right} of them right, "
        f"whose typical error is {problem.typical_error:.2g} deviations."
    )
    return f"### {title}\n\n{about}\n\n{markdown_table(COLUMNS, rows)}\n"


INTRODUCTION = f"""Which loop closures are kept, and how far the poses are from the truth once GTSAM has optimised with
them: root mean square after a rigid fit. GNC trusts the odometry and keeps what is within 99 % (truncated least
squares). Ours is `consistent_loop_closures` with odometry and covariances of the file, once with the default bound and
once with `deviations=None`; GNC among those has covariances smaller by the square of that bound over {WIDEST:g}.
Seconds are those of a processor; what takes more than {LIMIT} is ended.

"""
ABOUT_REAL = f"""{REAL}: 760 m indoors and outdoors, loop closures from place recognition. The truth, from GPS, has no
times; it is matched by arc length and turns, from odometry alone, which costs some decimetres. What is within
{RIGHT_METRES:g} m and {RIGHT_RADIANS:g} rad of it is right.
"""
ABOUT_INJECTED = f"""{DRAWN} loop closures of each are drawn, and wrong ones injected: they say of two poses, taken at
random, what a right one says of others, with the errors of right ones. Half of them come in rows of {ROW} that agree
with each other. The truth is the optimum of the whole published graph. The typical error says how honest the
covariances of a file are: it should be 1.5 in two dimensions and 2.3 in three. Odometry of sphere2500 and torus3D is
vague: it hardly contradicts anything.
"""


def main() -> None:
    parser = argument_parser(__doc__ or "")
    options, _ = parser.parse_known_args()
    real = section(REAL, real_problem(options.data))
    injected = [
        section(f"{name}, {share:.0%} wrong", injected_problem(options.data, name, share, seed=1))
        for name in PUBLISHED
        for share in SHARES
    ]
    text = (
        INTRODUCTION
        + f"## A real run\n\n{ABOUT_REAL}\n{real}\n## Published graphs\n\n{ABOUT_INJECTED}\n"
        + "\n".join(injected)
    )
    write_report("pose_graphs", "Wrong loop closures in pose graphs", "python benchmarks/pose_graphs.py", text)


if __name__ == "__main__":
    main()
